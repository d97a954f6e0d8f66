// plugin/cli/send.ts: `eleventy-twtxt send` tells everybody whom new twts mention.
import { resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { TwtxtError } from "../errors.js";
import { createGuard } from "../http/guard.js";
import { loopbackHostOf } from "../http/loopback.js";
import { SiteIndex } from "../mentions/receive/site-index.js";
import { MentionLedger } from "../mentions/send/ledger.js";
import { sendMentions } from "../mentions/send/send.js";
import type { PublishedSite } from "../site/site.js";
import { FileStore } from "../store/file.js";
import { memoryStore } from "../store/memory.js";
import type { Store } from "../store/store.js";
import { allowedHosts } from "./allowed-hosts.js";
import { misuse, readArguments } from "./command.js";
import { linesOf, progressOf, sumOf } from "./send-report.js";
import { printSentMentions } from "./sent-list.js";
import { publishedSite, type Site, siteAt } from "./site.js";
import { storeFolder } from "./site-store.js";
import type { Terminal } from "./terminal.js";
import { version } from "./version.js";

export const name = "send";
export const summary = "tells everybody whom your new twts mention";
export const help = `Usage: eleventy-twtxt send [options]

Reads your live feed, compares it with what was sent before, and sends what is new, changed or gone.
Run it after each deploy; what fails for now is tried again by a later run. On Netlify your site does
this by itself. The first run leaves alone what is older than a week.

  --dry-run              lists who would be told, and where, and sends nothing
  --now                  tries at once what waits for its next attempt, which stays as announced
  --list                 shows each mention as sent, waiting or failed, and why; sends nothing
  --feed URL             another feed than that of the site here
  --store DIR            where it remembers what was sent (default: the data folder, as serve)
  --backfill N           tells of the newest N twts too that the first run has left alone
  --json                 prints the result as JSON
  --settings FILE        the settings of the site (default .eleventy-twtxt/settings.json)
  --allow-private-host HOST:PORT
                         a host of your own network that may be asked all the same; can be repeated

Exit code 0 where all was sent or there was nothing to do, 1 where something failed for good.

Example:
  $ eleventy-twtxt send --dry-run
  2026-11-20T09:30:00Z  @bob   https://bob.example/twtxt.txt  would be told at https://bob.example/webmention (feed field)
  2026-11-20T09:30:00Z  @carol https://carol.example/tw.txt   nobody to tell: no endpoint in the feed, its headers or its site
  1 mention to send, 1 without an endpoint. Nothing was sent.`;

const OPTIONS = {
  "dry-run": { type: "boolean" },
  feed: { type: "string" },
  store: { type: "string" },
  backfill: { type: "string" },
  now: { type: "boolean" },
  list: { type: "boolean" },
  json: { type: "boolean" },
  "allow-private-host": { type: "string", multiple: true },
} as const;

/** A run that was killed keeps the others away for so long at the most. */
const PATIENCE_MS = 45_000;

export async function run(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments(name, args, OPTIONS);
  if (positionals.length > 0) throw misuse(`${name}: takes no arguments, got "${positionals[0]}".`, name);
  const backfill = backfillOf(values.backfill);
  const allowPrivateHosts = allowedHosts(values["allow-private-host"], name);
  const isDryRun = values["dry-run"] ?? false;
  // There the table follows on the same screen.
  const isSeenAnyway = terminal.isTerminal.stdout && terminal.isTerminal.stderr;
  const source = await sourceOf(values, terminal);
  if (values.list) return listSent(source, values, terminal);
  const userAgent = `eleventy-plugin-twtxt/${version()} (+${source.feedUrl}${source.nick ? `; @${source.nick}` : ""})`;

  let ended = 0;
  const report = await sendMentions({
    ask: createGuard({ userAgent, allowPrivateHosts: [...allowPrivateHosts, ...loopbackHostOf(source.feedUrl)] }),
    store: source.store,
    feedUrl: source.feedUrl,
    aliases: source.aliases,
    pageOf: source.pageOf,
    now: terminal.now,
    random: Math.random,
    sleep: (milliseconds, signal) => setTimeout(milliseconds, undefined, { signal }).catch(() => {}),
    patience: PATIENCE_MS,
    isDryRun,
    backfill,
    isNow: values.now ?? false,
    asksAgain: allowPrivateHosts.length > 0,
    onMention: (mention) => {
      ended += 1;
      if (values.json || isDryRun) return;
      if (!isSeenAnyway) terminal.say(progressOf(mention));
      else if (ended % 10 === 0) terminal.say(`${ended} so far.`);
    },
    onWaiting: () => terminal.say("Another run is sending, or was cut off: waiting for it to end."),
  });
  if (values.json) terminal.print(JSON.stringify(report, null, 2));
  else for (const line of linesOf(report)) terminal.print(line);
  for (const line of sumOf(report, isDryRun)) terminal.say(line);
  return report.troubles.length > 0 || report.mentions.some(({ outcome }) => outcome === "failed") ? 1 : 0;
}

async function listSent({ store, feedUrl }: Source, values: Values, terminal: Terminal): Promise<number> {
  if (values.now || values["dry-run"] || values.backfill !== undefined) {
    throw misuse(`${name}: --list sends nothing. Leave out --now, --dry-run and --backfill.`, name);
  }
  const mentions = await new MentionLedger({ store, feedUrl, sleep: setTimeout }).list();
  printSentMentions(mentions, values.json ?? false, terminal);
  return 0;
}

interface Source {
  feedUrl: string;
  nick: string | null;
  aliases: readonly string[];
  pageOf(timestamp: string): string | null;
  store: Store;
}

type Values = ReturnType<typeof readArguments<typeof OPTIONS>>["values"];

/** Which feed, and where it is remembered what was sent: those of the site here, or those that were given. */
async function sourceOf(
  { feed, store, settings, list, "dry-run": isDryRun }: Values,
  terminal: Terminal,
): Promise<Source> {
  if (feed !== undefined && (!/^https?:\/\//.test(feed) || !URL.canParse(feed))) {
    throw misuse(`${name}: --feed is a URL such as "https://alice.example/twtxt.txt", got "${feed}".`, name);
  }
  const site = await siteIfAny(terminal, settings, feed !== undefined);
  const files = site && (await filesOf(site, feed));
  const feedUrl = feed ?? files?.settings.feedUrl;
  if (feedUrl === undefined) throw misuse(`${name}: say which feed with --feed.`, name);
  if (site?.settings.host === "netlify" && store === undefined && !isDryRun) {
    if (list) {
      throw misuse(
        `${name}: your site sends at Netlify. What it has sent is in the logs of its functions twtxt-deploy-succeeded and twtxt-scheduled.`,
        name,
      );
    }
    throw misuse(
      `${name}: at Netlify your site sends by itself, and remembers there what it has sent. To send from here all the same, and all of it once more, name a folder with --store.`,
      name,
    );
  }
  const isReadOnly = isDryRun || list || false;
  const given = store === undefined ? null : resolve(terminal.folder, store);
  const place = given ?? (site && (await storeFolder(site, isReadOnly, terminal)));
  if (place === null && !isDryRun) {
    throw misuse(`${name}: say with --store where it is remembered what was sent.`, name);
  }
  const siteIndex = files && new SiteIndex(files.pages);
  return {
    feedUrl,
    nick: files?.settings.nick ?? null,
    aliases: files?.settings.mentions.aliases ?? [],
    pageOf: (timestamp) => siteIndex?.pageOfTwt(timestamp) ?? null,
    store: place === null ? memoryStore() : new FileStore(place),
  };
}

/** @param isNeedless - whether it can be done without a site */
async function siteIfAny(terminal: Terminal, settings: string | undefined, isNeedless: boolean): Promise<Site | null> {
  try {
    return await siteAt(terminal, settings);
  } catch (error) {
    if (isNeedless && settings === undefined && error instanceof TwtxtError && error.code === "no-settings")
      return null;
    throw error;
  }
}

/** Those of another feed's site are of no use. */
async function filesOf(site: Site, feed: string | undefined): Promise<PublishedSite | null> {
  try {
    const files = await publishedSite(site);
    return feed === undefined || feed === files.settings.feedUrl ? files : null;
  } catch (error) {
    if (feed !== undefined && error instanceof TwtxtError) return null;
    throw error;
  }
}

function backfillOf(text: string | undefined): number {
  if (text === undefined) return 0;
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw misuse(`${name}: --backfill is a number of twts, got "${text}".`, name);
}
