// plugin/mentions/networks/account-variables.ts: the environment variables of accounts on other networks.

/** The variables of an account. Both are needed. */
export const ACCOUNT_VARIABLES = {
  mastodon: ["TWTXT_MASTODON_URL", "TWTXT_MASTODON_TOKEN"],
  bluesky: ["TWTXT_BLUESKY_HANDLE", "TWTXT_BLUESKY_PASSWORD"],
} as const;
