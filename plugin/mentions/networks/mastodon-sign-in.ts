// plugin/mentions/networks/mastodon-sign-in.ts: gets a token from a server with the API of Mastodon (OAuth 2).
import * as v from "valibot";
import { MASTODON_SCOPES } from "./mastodon-posts.js";
import type { NetworkServer } from "./network-json.js";

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
  server: NetworkServer,
  { askCode, site }: MastodonSignIn,
): Promise<string | null> {
  const { client_id, client_secret } = await server.send("POST", "/api/v1/apps", Registered, {
    client_name: "eleventy-plugin-twtxt",
    redirect_uris: OUT_OF_BAND,
    scopes: MASTODON_SCOPES,
    ...(site !== null && { website: site }),
  });
  const app = { client_id, redirect_uri: OUT_OF_BAND, scope: MASTODON_SCOPES };
  const query = new URLSearchParams({ response_type: "code", ...app });
  const code = (await askCode(`${server.api}/oauth/authorize?${query}`))?.trim() ?? "";
  if (code === "") return null;
  const secrets = { grant_type: "authorization_code", code, client_secret };
  return (await server.send("POST", "/oauth/token", Token, { ...app, ...secrets })).access_token;
}
