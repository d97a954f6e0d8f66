// plugin/mentions/networks/mastodon-sign-in.ts: gets a token from a server with the API of Mastodon (OAuth 2).
import * as v from "valibot";
import { MASTODON_SCOPES } from "./mastodon-posts.js";
import type { NetworkServer } from "./network-json.js";

/** For programs without a page of their own: the server shows a code. */
const OUT_OF_BAND = "urn:ietf:wg:oauth:2.0:oob";

const Registered = v.object({ client_id: v.string(), client_secret: v.string() });
const Token = v.object({ access_token: v.string() });

/**
 * Asks a server to let the author sign in. Both steps throw NetworkError.
 *
 * @param site - the URL of the author's site, which the server shows; absent if it is not known
 * @returns the page on which the author allows it and gets a code, and what gets a token for that code
 */
export async function signInToMastodon(server: NetworkServer, site: string | undefined) {
  const { client_id, client_secret } = await server.send("POST", "/api/v1/apps", Registered, {
    client_name: "eleventy-plugin-twtxt",
    redirect_uris: OUT_OF_BAND,
    scopes: MASTODON_SCOPES,
    website: site,
  });
  const app = { client_id, redirect_uri: OUT_OF_BAND, scope: MASTODON_SCOPES };
  return {
    page: `${server.api}/oauth/authorize?${new URLSearchParams({ response_type: "code", ...app })}`,
    async requestToken(code: string): Promise<string> {
      const secrets = { grant_type: "authorization_code", code, client_secret };
      return (await server.send("POST", "/oauth/token", Token, { ...app, ...secrets })).access_token;
    },
  };
}
