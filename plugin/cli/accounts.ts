// plugin/cli/accounts.ts: `eleventy-twtxt accounts` signs in to accounts on other networks, and checks them.
import { type Finding, formatFinding } from "../author/doctor/check.js";
import { misuse, typed } from "../author/invocation.js";
import { createNetwork } from "../author/network.js";
import { checkAccounts } from "../author/network-accounts.js";
import { ifBuilt, loadSite } from "../author/site.js";
import { reworded, TwtxtError } from "../errors.js";
import { ACCOUNT_VARIABLES } from "../mentions/networks/account-variables.js";
import { BLUESKY_URL } from "../mentions/networks/accounts.js";
import { signInToMastodon } from "../mentions/networks/mastodon-posts.js";
import { NetworkServer } from "../mentions/networks/network-json.js";
import { NETWORKS } from "../options/syndicate.js";
import { canParseUrl } from "../url.js";
import { actionsWith, toCommand } from "./command.js";
import { choice, HOSTS_OPTION, oneAndOptional, SETTINGS_OPTION, text, type ValuesOf } from "./options.js";
import type { Terminal } from "./terminal.js";

const NAME = "accounts";
const OPTIONS = { ...HOSTS_OPTION, ...SETTINGS_OPTION };
type Values = ValuesOf<typeof OPTIONS>;

const APP_PASSWORDS = "https://bsky.app/settings/app-passwords";
/** Where the author sets variables, by the host of the site. */
const SECRET_PLACES = {
  netlify:
    "Add them at Netlify, under Project configuration → Environment variables, as secrets for the scope Functions. Then deploy the site.",
  node: "Add them to the environment of serve, such as the EnvironmentFile of its systemd unit. Then restart it.",
  static: `Add them to the secrets of the job that deploys your site, and run ${typed("send")} there after each deploy.`,
};

const action = actionsWith(OPTIONS);

export const accounts = toCommand({
  name: NAME,
  summary: "signs in to Mastodon and Bluesky, and checks these accounts",
  about:
    "The secrets with which your site posts copies of your posts. Nothing is stored on this machine: set them as environment variables of your host.",
  actions: {
    add: action({
      usage: ["mastodon URL", "bluesky HANDLE"],
      help: "asks the server for secrets, and prints them as variables. On Mastodon you allow it in the browser, and paste the code that the server shows. On Bluesky you create an app password in the settings, and paste it",
      words: oneAndOptional(choice("NETWORK", NETWORKS), text("ACCOUNT", "a server or a handle")),
      run: (values, [network, account], terminal) => add(network, account, values, terminal),
    }),
    check: action({
      help: "says who the accounts in the environment are and what their secrets allow, and posts nothing. On Netlify: netlify dev:exec npx eleventy-twtxt accounts check",
      async run(values, _, terminal) {
        const levels = await show(checkAccounts(terminal.environment, values, terminal), terminal);
        if (levels.length === 0) {
          terminal.say(
            `No account: the environment of this command has no secrets of one. Run it where your host has them, or create them: ${typed("accounts --help")}`,
          );
        }
        return levels.includes("fix") ? 1 : 0;
      },
    }),
  },
  shared: OPTIONS,
  example: `$ eleventy-twtxt accounts add mastodon https://mastodon.example
Open this page, allow it, and paste the code here: https://mastodon.example/oauth/authorize?…
Code: …
TWTXT_MASTODON_URL=https://mastodon.example
TWTXT_MASTODON_TOKEN=…`,
});

async function add(network: (typeof NETWORKS)[number], account: string | null, values: Values, terminal: Terminal) {
  if (account === null) throw misuse(`${NAME} add`, `name ${network === "mastodon" ? "your server" : "your handle"}.`);
  const settings = (await ifBuilt(values.settings, loadSite(terminal, values.settings)))?.settings;
  const secrets =
    network === "bluesky"
      ? await askBluesky(account, terminal)
      : await askMastodon(account, settings?.url, values, terminal);
  if (secrets === null) {
    terminal.say("Nothing was changed.");
    return 1;
  }
  const levels = await show(checkAccounts(secrets, values, terminal), terminal);
  if (levels.includes("fix")) return 1;
  for (const [name, value] of Object.entries(secrets)) terminal.print(`${name}=${value}`);
  terminal.say(SECRET_PLACES[settings?.host ?? "static"]);
  return 0;
}

/**
 * @param given - the URL or the host of a server, or a page there
 * @returns the environment variables with their values; `null` if the author gave up
 */
async function askMastodon(given: string, site: string | undefined, values: Values, terminal: Terminal) {
  const url = /^https?:/.test(given) ? given : `https://${given}`;
  if (!canParseUrl(url))
    throw misuse(`${NAME} add`, "expected the URL of your server, such as https://mastodon.example.");
  const advise = (checked: string) =>
    reworded(({ message }) => `${message} Check ${checked}, and try again.`, "source-refused");
  const { origin } = new URL(url);
  const server = new NetworkServer(origin, { ask: createNetwork(values).ask, now: terminal.now });
  const { page, requestToken } = await signInToMastodon(server, site).catch(advise("the address of your server"));
  terminal.say(`Open this page, allow it, and paste the code here: ${page}`);
  const code = (await terminal.ask("Code: "))?.trim();
  if (!code) return null;
  const [urlName, tokenName] = ACCOUNT_VARIABLES.mastodon;
  return { [urlName]: origin, [tokenName]: await requestToken(code).catch(advise("the code")) };
}

/** As {@link askMastodon}. @throws TwtxtError `bad-usage` for anything but an app password */
async function askBluesky(handle: string, terminal: Terminal): Promise<Record<string, string> | null> {
  terminal.say(`Create an app password on this page, and paste it here: ${APP_PASSWORDS}`);
  const pasted = await terminal.readSecret((typed) => (typed === "" ? "App password: " : null));
  if (pasted === null) return null;
  const password = pasted.trim();
  // The password of the account itself would give away the account.
  if (!/^[a-z0-9]{4}(?:-[a-z0-9]{4}){3}$/.test(password)) {
    throw new TwtxtError(
      "bad-usage",
      `Expected an app password such as "abcd-efgh-ijkl-mnop", not the one of your account. Create one: ${APP_PASSWORDS}`,
    );
  }
  const [handleName, passwordName] = ACCOUNT_VARIABLES.bluesky;
  const url = terminal.environment[BLUESKY_URL]?.trim();
  return { [handleName]: handle.replace(/^@/, ""), [passwordName]: password, ...(url && { [BLUESKY_URL]: url }) };
}

/** @returns the level of each finding */
async function show(findings: AsyncIterable<Finding>, terminal: Terminal): Promise<Finding["level"][]> {
  const levels: Finding["level"][] = [];
  for await (const finding of findings) {
    levels.push(finding.level);
    terminal.say(formatFinding(finding));
  }
  return levels;
}
