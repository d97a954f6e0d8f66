// plugin/author/network-accounts.ts: the author's accounts on other networks: signs in to create their secrets, and checks them.
import { ifTwtxtError, TwtxtError } from "../errors.js";
import { ACCOUNT_VARIABLES } from "../mentions/networks/account-variables.js";
import { BLUESKY_URL, openAccounts } from "../mentions/networks/accounts.js";
import { MASTODON_SCOPES } from "../mentions/networks/mastodon-posts.js";
import { type MastodonSignIn, signInToMastodon } from "../mentions/networks/mastodon-sign-in.js";
import type { NetworkName } from "../mentions/networks/network.js";
import { NetworkServer } from "../mentions/networks/network-json.js";
import type { PostingAccount } from "../mentions/networks/posting.js";
import { NETWORK_NAMES, NETWORKS } from "../options/syndicate.js";
import { sleep } from "../store/retry.js";
import { type Finding, fix, note, ok } from "./doctor/check.js";
import { typed } from "./invocation.js";
import type { HostChoice, Machine } from "./machine.js";
import { askSiteState } from "./mentions/sent-mentions.js";
import { createNetwork, privateHostAdvice, readPrivateHosts } from "./network.js";
import type { SiteApiChoice } from "./own-site.js";
import { loadSite, publishedSite } from "./site.js";

/** The environment variables of an account, with their values. */
export type AccountSecrets = Readonly<Record<string, string>>;

/** Asks each server who the account is and what it may do. Posts nothing. */
export async function* checkAccounts(
  environment: Machine["environment"],
  choice: HostChoice,
  machine: Pick<Machine, "now">,
): AsyncGenerator<Finding> {
  const { ask } = createNetwork(choice);
  for (const network of NETWORKS) {
    const [[given], [missing]] = [true, false].map((isSet) =>
      ACCOUNT_VARIABLES[network].filter((name) => Boolean(environment[name]?.trim()) === isSet),
    ) as [string[], string[]];
    if (given && missing) yield fix(`${given} is set, but not ${missing}.`, adviceFor(network));
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
    const isChecked = ACCOUNT_VARIABLES[network].every((name) => machine.environment[name]?.trim());
    const why = isChecked ? undefined : refused[network];
    if (why !== undefined) yield fix(`No copies are posted on ${NETWORK_NAMES[network]}: ${why}.`, adviceFor(network));
  }
  for (const [url, why] of Object.entries(unread)) {
    const todo = "Nothing to do if it answers again later. A copy that is gone for good can be removed from the post.";
    yield note(`Answers to ${url} are not read. ${why}`, todo);
  }
}

/**
 * Signs in at a server with the API of Mastodon, which the author allows in the browser. Stores nothing.
 *
 * @param url - of the server, or of any page there
 * @returns `null` if the author gave up
 * @throws TwtxtError what the guard throws; NetworkError
 */
export async function createMastodonSecrets(
  url: string,
  signIn: MastodonSignIn,
  choice: HostChoice,
  machine: Pick<Machine, "now">,
): Promise<AccountSecrets | null> {
  const { origin } = new URL(url);
  const server = new NetworkServer(origin, { ask: createNetwork(choice).ask, now: () => machine.now() });
  let isAsked = false;
  const askCode = (page: string) => {
    isAsked = true;
    return signIn.askCode(page);
  };
  const token = await signInToMastodon(server, { ...signIn, askCode }).catch(
    ifTwtxtError(({ code, message }) => {
      const checked = isAsked ? "the code" : "the address of your server";
      throw new TwtxtError(code, `${message} Check ${checked}, and try again.`);
    }, "source-refused"),
  );
  const [urlName, tokenName] = ACCOUNT_VARIABLES.mastodon;
  return token === null ? null : { [urlName]: origin, [tokenName]: token };
}

/** Where authors create app passwords. */
export const APP_PASSWORDS = "https://bsky.app/settings/app-passwords";

/**
 * The variables of an account on Bluesky.
 *
 * @param environment - may name the server of an account that has its own
 * @throws TwtxtError `bad-usage` for anything but an app password
 */
export function blueskySecrets(
  handle: string,
  password: string,
  { [BLUESKY_URL]: url }: Machine["environment"],
): AccountSecrets {
  const [handleName, passwordName] = ACCOUNT_VARIABLES.bluesky;
  // The password of the account itself would give away the account.
  if (!/^[a-z0-9]{4}(?:-[a-z0-9]{4}){3}$/.test(password.trim())) {
    throw new TwtxtError(
      "bad-usage",
      `Expected an app password such as "abcd-efgh-ijkl-mnop", not the one of your account. Create one: ${APP_PASSWORDS}`,
    );
  }
  return {
    [handleName]: handle.replace(/^@/, ""),
    [passwordName]: password.trim(),
    ...(url?.trim() && { [BLUESKY_URL]: url.trim() }),
  };
}

/** Where the author sets variables. @param host - of the site; `null` if it is not known */
export function describeSecretPlace(host: "netlify" | "node" | "static" | null): string {
  switch (host) {
    case "netlify":
      return "Add them at Netlify, under Project configuration → Environment variables, as secrets for the scope Functions. Then deploy the site.";
    case "node":
      return "Add them to the environment of serve, such as the EnvironmentFile of its systemd unit. Then restart it.";
    default:
      return `Add them to the secrets of the job that deploys your site, and run ${typed("send")} there after each deploy.`;
  }
}
