// plugin/mentions/networks/account-variables.ts: the environment variables of accounts on other networks.
import { canParseUrl } from "../../url.js";
import type { NetworkName } from "./network.js";

export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables of an account. Both are needed. */
export const ACCOUNT_VARIABLES = {
  mastodon: ["TWTXT_MASTODON_URL", "TWTXT_MASTODON_TOKEN"],
  bluesky: ["TWTXT_BLUESKY_HANDLE", "TWTXT_BLUESKY_PASSWORD"],
} as const;

/** The variables of an account that are not set, or empty. */
export function listMissingVariables(environment: Environment, network: NetworkName): string[] {
  return ACCOUNT_VARIABLES[network].filter((name) => !environment[name]?.trim());
}

/** The origin of the server of the account on Mastodon, and its token; `null` without one. */
export function readMastodonAccount(environment: Environment): { server: string; token: string } | null {
  const [url, token] = ACCOUNT_VARIABLES.mastodon.map((name) => environment[name]?.trim());
  return url && token && canParseUrl(url) ? { server: new URL(url).origin, token } : null;
}
