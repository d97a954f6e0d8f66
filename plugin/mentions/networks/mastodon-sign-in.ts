// plugin/mentions/networks/mastodon-sign-in.ts: gets a token from a server with the API of Mastodon (OAuth 2).
import * as v from "valibot";
import type { MastodonServer } from "./mastodon.js";
import { MASTODON_SCOPES } from "./mastodon-posts.js";

/** For programs without a page of their own: the server shows a code. */
const OUT_OF_BAND = "urn:ietf:wg:oauth:2.0:oob";

const Registered = v.object({ client_id: v.string(), client_secret: v.string() });
const Token = v.object({ access_token: v.string() });

export interface MastodonSignIn {
  /** Shows the page on which the author gets a code. @returns the code; `null` if the author gave up */
  askCode(page: string): Promise<string | null>;
  /** The URL of the author's site, which the server shows; `null` if it is not known. */
  site: string | null;
}

/** @returns a token, which the author has allowed in the browser; `null` if the author gave up. @throws NetworkError */
export async function signInToMastodon(
  server: MastodonServer,
  { askCode, site }: MastodonSignIn,
): Promise<string | null> {
  const send = async <T>(path: string, schema: v.GenericSchema<unknown, T>, body: object) => {
    const headers = { "content-type": "application/json" };
    const request = { method: "POST", headers, body: JSON.stringify(body), isHttpsNeeded: true } as const;
    return (await server.request(path, schema, request)).value;
  };
  const { client_id, client_secret } = await send("/api/v1/apps", Registered, {
    client_name: "eleventy-plugin-twtxt",
    redirect_uris: OUT_OF_BAND,
    scopes: MASTODON_SCOPES,
    ...(site !== null && { website: site }),
  });
  const app = { client_id, redirect_uri: OUT_OF_BAND, scope: MASTODON_SCOPES };
  const query = new URLSearchParams({ response_type: "code", ...app });
  const code = (await askCode(`${server.origin}/oauth/authorize?${query}`))?.trim() ?? "";
  if (code === "") return null;
  const { access_token } = await send("/oauth/token", Token, {
    ...app,
    ...{ grant_type: "authorization_code", code, client_secret },
  });
  return access_token;
}
