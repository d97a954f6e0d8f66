// plugin/host/copied-posts.ts: the posts that get copies on other networks, and the accounts that post them. PROTOCOL 2.7
import type { Ask } from "../http/guard.js";
import { later } from "../later.js";
import { listMissingVariables } from "../mentions/networks/account-variables.js";
import type { CopiedPosts } from "../mentions/networks/post-copies.js";
import { NETWORKS } from "../options/syndicate.js";
import { sleep } from "../store/retry.js";
import type { ServiceOptions } from "./service-options.js";

const accountOpener = later(() => import("../mentions/networks/accounts.js"));

/** The networks on which posts get copies, and whose secrets are missing. */
export function listMissingAccounts({ pages, environment }: Pick<ServiceOptions, "pages" | "environment">) {
  const networks = NETWORKS.filter((network) => pages.twts.some(({ copy }) => copy?.networks.includes(network)));
  return networks.flatMap((network) => {
    const missing = listMissingVariables(environment, network);
    const why = `${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} not set at the host`;
    return missing.length === 0 ? [] : [{ network, why }];
  });
}

/** @returns `null` without an account or a post that gets copies: then nothing of it is loaded */
export async function copiedPosts(
  { environment, pages, now }: Pick<ServiceOptions, "environment" | "pages" | "now">,
  ask: Ask,
): Promise<CopiedPosts | null> {
  const { twts, deleted = [] } = pages;
  const hasAccount = NETWORKS.some((network) => listMissingVariables(environment, network).length === 0);
  if (!hasAccount || (deleted.length === 0 && !twts.some(({ copy }) => copy))) return null;
  const { openAccounts } = await accountOpener();
  return { twts, deleted, accounts: openAccounts(environment, { ask, now, sleep }) };
}
