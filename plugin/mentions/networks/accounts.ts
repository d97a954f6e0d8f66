// plugin/mentions/networks/accounts.ts: the author's accounts on other networks, from the environment of the site.
import { canParseUrl } from "../../url.js";
import { ACCOUNT_VARIABLES } from "./account-variables.js";
import { BlueskyPosts } from "./bluesky-posts.js";
import { MastodonPosts } from "./mastodon-posts.js";
import type { PostingAccount, PostingParts } from "./posting.js";

/** Where the account on Bluesky signs in, for an account with a server of its own. */
export const BLUESKY_URL = "TWTXT_BLUESKY_URL";

/** The accounts whose variables are set. */
export function openAccounts(
  environment: Readonly<Record<string, string | undefined>>,
  parts: PostingParts,
): PostingAccount[] {
  const read = (name: string) => environment[name]?.trim() || null;
  const [url, token] = ACCOUNT_VARIABLES.mastodon.map(read);
  const [handle, password] = ACCOUNT_VARIABLES.bluesky.map(read);
  const identifier = handle?.replace(/^@/, "") ?? "";
  const origin = read(BLUESKY_URL) ?? undefined;
  return [
    ...(url && token && canParseUrl(url) ? [new MastodonPosts(new URL(url).origin, token, parts)] : []),
    ...(identifier && password ? [new BlueskyPosts({ identifier, password }, parts, origin)] : []),
  ];
}
