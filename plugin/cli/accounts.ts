// plugin/cli/accounts.ts: `eleventy-twtxt accounts` signs in to accounts on other networks, and checks them.
import type { Finding } from "../author/doctor/check.js";
import { misuse, typed } from "../author/invocation.js";
import {
  type AccountSecrets,
  APP_PASSWORDS,
  blueskySecrets,
  checkAccounts,
  createMastodonSecrets,
  describeSecretPlace,
} from "../author/network-accounts.js";
import { ifBuilt, loadSite } from "../author/site.js";
import { canParseUrl } from "../url.js";
import { actionsWith, toCommand } from "./command.js";
import { choice, HOSTS_OPTION, oneAndOptional, SETTINGS_OPTION, text, type ValuesOf } from "./options.js";
import type { Terminal } from "./terminal.js";

const NAME = "accounts";
const OPTIONS = { ...HOSTS_OPTION, ...SETTINGS_OPTION };
type Values = ValuesOf<typeof OPTIONS>;

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
      words: oneAndOptional(choice("NETWORK", ["mastodon", "bluesky"]), text("ACCOUNT", "a server or a handle")),
      run: (values, [network, account], terminal) => add(network, account, values, terminal),
    }),
    check: action({
      help: "says who the accounts in the environment are and what their secrets allow, and posts nothing. On Netlify: netlify dev:exec npx eleventy-twtxt accounts check",
      run: check,
    }),
  },
  shared: OPTIONS,
  example: `$ eleventy-twtxt accounts add mastodon https://mastodon.example
Open this page, allow it, and paste the code here: https://mastodon.example/oauth/authorize?…
Code: …
TWTXT_MASTODON_URL=https://mastodon.example
TWTXT_MASTODON_TOKEN=…`,
});

async function add(
  network: "mastodon" | "bluesky",
  account: string | null,
  values: Values,
  terminal: Terminal,
): Promise<number> {
  if (account === null) throw misuse(`${NAME} add`, `name ${network === "mastodon" ? "your server" : "your handle"}.`);
  const site = await ifBuilt(values.settings, loadSite(terminal, values.settings));
  const secrets =
    network === "bluesky"
      ? await askBluesky(account, terminal)
      : await askMastodon(account, site?.settings.url ?? null, values, terminal);
  if (secrets === null) {
    terminal.say("Nothing was changed.");
    return 1;
  }
  const isAccepted = await report(checkAccounts(secrets, values, terminal), terminal);
  if (!isAccepted) return 1;
  for (const [name, value] of Object.entries(secrets)) terminal.print(`${name}=${value}`);
  terminal.say(describeSecretPlace(site?.settings.host ?? null));
  return 0;
}

function askMastodon(
  server: string,
  site: string | null,
  values: Values,
  terminal: Terminal,
): Promise<AccountSecrets | null> {
  const url = /^https?:/.test(server) ? server : `https://${server}`;
  if (!canParseUrl(url))
    throw misuse(`${NAME} add`, "expected the URL of your server, such as https://mastodon.example.");
  const askCode = (page: string) => {
    terminal.say(`Open this page, allow it, and paste the code here: ${page}`);
    return terminal.ask("Code: ");
  };
  return createMastodonSecrets(url, { askCode, site }, values, terminal);
}

async function askBluesky(handle: string, terminal: Terminal): Promise<AccountSecrets | null> {
  terminal.say(`Create an app password on this page, and paste it here: ${APP_PASSWORDS}`);
  const password = await terminal.readSecret((typed) => (typed === "" ? "App password: " : null));
  return password === null ? null : blueskySecrets(handle, password, terminal.environment);
}

async function check(values: Values, _: null, terminal: Terminal): Promise<number> {
  let count = 0;
  const counted = async function* (findings: AsyncIterable<Finding>) {
    for await (const finding of findings) {
      count += 1;
      yield finding;
    }
  };
  const isAccepted = await report(counted(checkAccounts(terminal.environment, values, terminal)), terminal);
  if (count === 0) {
    terminal.say(
      `No account: the environment of this command has no secrets of one. Run it where your host has them, or create them: ${typed("accounts --help")}`,
    );
  }
  return isAccepted ? 0 : 1;
}

/** @returns whether there is nothing to fix */
async function report(findings: AsyncIterable<Finding>, terminal: Terminal): Promise<boolean> {
  let isAccepted = true;
  for await (const { level, what, todo } of findings) {
    terminal.say([`${level.padEnd(4)}  ${what}`, ...(todo === undefined ? [] : [`      ${todo}`])].join("\n"));
    isAccepted &&= level !== "fix";
  }
  return isAccepted;
}
