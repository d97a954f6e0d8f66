// plugin/author/network-accounts.ts: the author's accounts on other networks: signs in to create their secrets, and checks them.
import { ifTwtxtError, TwtxtError } from "../errors.js";
import { ACCOUNT_VARIABLES } from "../mentions/networks/account-variables.js";
import { openAccounts } from "../mentions/networks/accounts.js";
import { MASTODON_SCOPES } from "../mentions/networks/mastodon-posts.js";
import { type MastodonSignIn, signInToMastodon } from "../mentions/networks/mastodon-sign-in.js";
import { NetworkServer } from "../mentions/networks/network-json.js";
import type { PostingAccount } from "../mentions/networks/posting.js";
import { sleep } from "../store/retry.js";
import { type Finding, fix, ok } from "./doctor/check.js";
import { typed } from "./invocation.js";
import type { HostChoice, Machine } from "./machine.js";
import { createNetwork } from "./network.js";

/** The environment variables of an account, with their values. */
export type AccountSecrets = Readonly<Record<string, string>>;

/** Asks each server who the account is and what it may do. Posts nothing. */
export async function* checkAccounts(
  environment: Machine["environment"],
  choice: HostChoice,
  machine: Pick<Machine, "now">,
): AsyncGenerator<Finding> {
  const { ask } = createNetwork(choice);
  for (const account of openAccounts(environment, { ask, now: () => machine.now(), sleep })) {
    yield await account.check().then(
      (checked) => describeAccount(account, checked),
      ifTwtxtError(({ message }) => fix(`Copies cannot be posted at ${account.place} ${message}`, adviceFor(account))),
    );
  }
}

function describeAccount(account: PostingAccount, checked: Awaited<ReturnType<PostingAccount["check"]>>): Finding {
  const { account: page, permissions } = checked;
  const allowed = new Set(permissions?.split(" "));
  const isAllowed = (scope: string) => allowed.has(scope) || allowed.has(scope.split(":")[0] ?? "");
  const missing = permissions === null ? [] : MASTODON_SCOPES.split(" ").filter((scope) => !isAllowed(scope));
  if (missing.length === 0)
    return ok(`Copies are posted as ${page}${permissions ? `, which allows ${permissions}` : ""}.`);
  return fix(`The token of ${page} does not allow ${missing.join(" ")}.`, adviceFor(account));
}

function adviceFor({ network, place }: PostingAccount): string {
  const where = network === "mastodon" ? place : "HANDLE";
  const names = ACCOUNT_VARIABLES[network].join(" and ");
  return `Create new secrets, and set ${names} at your host: ${typed(`accounts add ${network} ${where}`)}`;
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
  const token = await signInToMastodon(server, signIn);
  const [urlName, tokenName] = ACCOUNT_VARIABLES.mastodon;
  return token === null ? null : { [urlName]: origin, [tokenName]: token };
}

/** The variables of an account on Bluesky. @throws TwtxtError `bad-usage` for anything but an app password */
export function blueskySecrets(handle: string, password: string): AccountSecrets {
  const [handleName, passwordName] = ACCOUNT_VARIABLES.bluesky;
  // The password of the account itself would give away the account.
  if (!/^[a-z0-9]{4}(?:-[a-z0-9]{4}){3}$/.test(password.trim())) {
    throw new TwtxtError(
      "bad-usage",
      'Expected an app password such as "abcd-efgh-ijkl-mnop", not the one of your account.',
    );
  }
  return { [handleName]: handle.replace(/^@/, ""), [passwordName]: password.trim() };
}

/** Where the author sets variables. @param host - of the site; `null` if it is not known */
export function describeSecretPlace(host: "netlify" | "node" | "static" | null): string {
  switch (host) {
    case "netlify":
      return "Add both at Netlify, under Project configuration → Environment variables, as secrets for the scope Functions. Then deploy the site.";
    case "node":
      return "Add both to the environment of serve, such as the EnvironmentFile of its systemd unit. Then restart it.";
    default:
      return `Add both to the secrets of the job that deploys your site, and run ${typed("send")} there after each deploy.`;
  }
}
