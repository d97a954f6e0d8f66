// plugin/author/network-accounts.ts: checks the author's accounts on other networks, and the copies of posts there.
import { ifTwtxtError, type TwtxtError } from "../errors.js";
import { ACCOUNT_VARIABLES, listMissingVariables } from "../mentions/networks/account-variables.js";
import { openAccounts } from "../mentions/networks/accounts.js";
import { MASTODON_SCOPES } from "../mentions/networks/mastodon-posts.js";
import type { NetworkName, PostingAccount } from "../mentions/networks/network.js";
import { NETWORK_NAMES, NETWORKS } from "../options/syndicate.js";
import { sleep } from "../store/retry.js";
import { type Finding, fix, note, ok } from "./doctor/check.js";
import { typed } from "./invocation.js";
import type { HostChoice, Machine } from "./machine.js";
import { askSiteState } from "./mentions/sent-mentions.js";
import { createNetwork, privateHostAdvice, readPrivateHosts } from "./network.js";
import type { SiteApiChoice } from "./own-site.js";
import { loadSite, publishedSite } from "./site.js";

/** Asks each server who the account is and what it may do. Posts nothing. */
export async function* checkAccounts(
  environment: Machine["environment"],
  choice: HostChoice,
  machine: Pick<Machine, "now">,
): AsyncGenerator<Finding> {
  const { ask } = createNetwork(choice);
  for (const network of NETWORKS) {
    const missing = listMissingVariables(environment, network);
    const [given] = ACCOUNT_VARIABLES[network].filter((name) => !missing.includes(name));
    if (given && missing.length > 0) yield fix(`${given} is set, but not ${missing}.`, adviceFor(network));
  }
  for (const account of openAccounts(environment, { ask, now: () => machine.now(), sleep })) {
    yield await account.check().then(
      (checked) => describeAccount(account, checked),
      ifTwtxtError((error) => describeRefusal(account, error)),
    );
  }
}

function describeAccount(account: PostingAccount, checked: Awaited<ReturnType<PostingAccount["check"]>>): Finding {
  const { account: page, permissions } = checked;
  const allowed = new Set(permissions?.split(" "));
  const isAllowed = (scope: string) => allowed.has(scope) || allowed.has(scope.split(":")[0] ?? "");
  const missing = permissions === null ? [] : MASTODON_SCOPES.split(" ").filter((scope) => !isAllowed(scope));
  if (missing.length === 0)
    return ok(`Copies are posted as ${page}${permissions ? `, with a token for ${permissions}` : ""}.`);
  return fix(`The token of ${page} does not allow ${missing.join(" ")}.`, adviceFor(account.network, account.place));
}

function describeRefusal({ network, place }: PostingAccount, error: TwtxtError): Finding {
  const what = `No copies can be posted on ${NETWORK_NAMES[network]}: ${error.message}`;
  if (error.code === "source-refused") return fix(what, adviceFor(network, place));
  const hosts = readPrivateHosts(error);
  return fix(what, hosts.length > 0 ? privateHostAdvice(hosts) : `Try again later: ${typed("accounts check")}`);
}

function adviceFor(network: NetworkName, place = network === "mastodon" ? "URL" : "HANDLE"): string {
  const where = network === "mastodon" ? place : place.slice(place.lastIndexOf("/") + 1);
  return `Create new secrets, and set them at your host: ${typed(`accounts add ${network} ${where}`)}`;
}

/**
 * What the site itself tells about its copies, for a machine without the secrets of its accounts. Checks nothing if the site
 * has no copies, or cannot be asked.
 *
 * @throws TwtxtError `no-settings`
 */
export async function* checkToldCopies(choice: SiteApiChoice, machine: Machine): AsyncGenerator<Finding> {
  const { pages } = await publishedSite(await loadSite(machine, choice.settings));
  if (!pages.twts.some(({ copy, syndication }) => copy ?? syndication)) return;
  const told = await askSiteState(choice, machine, 1);
  if (told === null || !("state" in told)) return;
  const { refused = {}, unread = {} } = told.state;
  for (const network of NETWORKS) {
    const why = refused[network];
    if (why === undefined || listMissingVariables(machine.environment, network).length === 0) continue;
    yield fix(`No copies are posted on ${NETWORK_NAMES[network]}: ${why}.`, adviceFor(network));
  }
  for (const [url, why] of Object.entries(unread)) {
    const todo = "Nothing to do if it answers again later. A copy that is gone for good can be removed from the post.";
    yield note(`Answers to ${url} are not read. ${why}`, todo);
  }
}
