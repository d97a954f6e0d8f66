// plugin/mentions/networks/accounts.ts: the author's accounts on other networks, from the environment of the site.
import { ACCOUNT_VARIABLES, type Environment, readMastodonAccount } from "./account-variables.js";
import { BlueskyPosts } from "./bluesky-posts.js";
import { MastodonPosts } from "./mastodon-posts.js";
import type { PostingAccount, PostingParts } from "./network.js";
import { NetworkServer } from "./network-json.js";

/** Where the account on Bluesky signs in, for an account with a server of its own. */
export const BLUESKY_URL = "TWTXT_BLUESKY_URL";

/** The accounts whose variables are set. */
export function openAccounts(environment: Environment, parts: PostingParts): PostingAccount[] {
  const mastodon = readMastodonAccount(environment);
  const variables = [...ACCOUNT_VARIABLES.bluesky, BLUESKY_URL];
  const [handle, password, origin] = variables.map((name) => environment[name]?.trim() || undefined);
  const identifier = handle?.replace(/^@/, "");
  return [
    ...(mastodon ? [new MastodonPosts(new NetworkServer(mastodon.server, parts, mastodon.token), parts)] : []),
    ...(identifier && password ? [new BlueskyPosts({ identifier, password }, parts, origin)] : []),
  ];
}
