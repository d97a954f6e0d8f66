// plugin/cli/send.ts: `eleventy-twtxt send` sends the mentions and links of new posts.
import { resolve } from "node:path";
import { counted } from "../author/amounts.js";
import { misuse, typed, userAgent } from "../author/invocation.js";
import {
  askSiteState,
  describeOutcome,
  type ReportedMention,
  readSentMentions,
  type SentMentions,
  sumOutcomes,
} from "../author/mentions/sent-mentions.js";
import { privateHostAdvice } from "../author/network.js";
import { ifBuilt, loadSite, publishedSite, type Site } from "../author/site.js";
import { siteStore } from "../author/site-store.js";
import { ifTwtxtError, TwtxtError } from "../errors.js";
import { groupBy } from "../groups.js";
import { copiedPosts } from "../host/copied-posts.js";
import { createGuard } from "../http/guard.js";
import { SiteIndex } from "../mentions/receive/site-index.js";
import { type SendReport, sendMentions } from "../mentions/send/send.js";
import type { MentionReport } from "../mentions/send/send-mention.js";
import { siteLinks } from "../mentions/send/site-links.js";
import { readAliases } from "../site/aliases.js";
import type { PublishedSite } from "../site/site.js";
import { memoryStore } from "../store/memory.js";
import { sleep } from "../store/retry.js";
import { SqliteStore } from "../store/sqlite.js";
import { hostAndPort } from "../url.js";
import { command } from "./command.js";
import { FOLDER, flag, HOSTS_OPTION, number, option, SITE_API_OPTIONS, url, type ValuesOf } from "./options.js";
import { formatTable, printData, type Terminal } from "./terminal.js";

const NAME = "send";
/** The number of mentions that are listed without `--all`. */
const NEWEST = 50;

const OPTIONS = {
  "dry-run": flag("lists what would be sent where, and sends nothing"),
  now: flag("also tries mentions that wait for their next attempt; that attempt stays scheduled"),
  list: flag("asks your site, and lists each mention as sent, waiting, failed or withdrawn, and why; sends nothing"),
  all: flag(`with --list: lists all of them, not only the newest ${NEWEST}`),
  feed: option(url("https://alice.example/twtxt.txt"), "another feed than that of the site here"),
  store: option(FOLDER, "the folder that records what was sent (default: the data folder, like serve)"),
  backfill: option(number(0, 999_999), "also sends the newest N twts that the first run skipped"),
  ...HOSTS_OPTION,
  ...SITE_API_OPTIONS,
};

type Values = ValuesOf<typeof OPTIONS>;

/** How long to wait for another run. A run that was killed blocks the next one for a shorter time. */
const PATIENCE_MS = 45_000;

export const send = command({
  name: NAME,
  summary: "sends the mentions and links of new posts",
  usage: "[options]",
  about:
    "Reads your live feed, compares it with what was sent before, and sends what is new, changed or deleted: mentions in twts, and links in posts to pages that receive Webmentions. Run it after each deploy; a later run retries what fails temporarily. On Netlify your site does this itself. The first run skips twts that are older than a week.",
  options: OPTIONS,
  notes: "Exit code 0 if all was sent or there was nothing to send, 1 if a mention failed permanently.",
  example: `$ eleventy-twtxt send --dry-run
2026-11-20T09:30:00Z  @bob  https://b.test/t  would be sent to https://b.test/ (named in the page)
1 to send. Nothing was sent.`,
  async run(values, _, terminal) {
    if (values.list) return listSent(values, terminal);
    if (values.all) throw misuse(NAME, "--all lists, so it needs --list.");
    const source = await findSource(values, terminal);
    const options = sendOptions(source, values, terminal);
    const { environment, now } = terminal;
    const copies = source.pages && (await copiedPosts({ environment, pages: source.pages, now }, options.ask));
    const report = await sendMentions({ ...source, ...options, copies });
    printData(report, formatMentions(report.mentions), values, terminal);
    for (const line of reportSum(report, values["dry-run"])) terminal.say(line);
    return report.troubles.length > 0 || report.mentions.some(({ outcome }) => outcome === "failed") ? 1 : 0;
  },
});

/** `pages` is `null` for the feed of another site. */
type Source = Awaited<ReturnType<typeof findSource>>;

async function findSource(values: Values, terminal: Terminal) {
  const { feed, settings } = values;
  const here = loadSite(terminal, settings);
  const site = feed === undefined ? await here : await ifBuilt(settings, here);
  const published = site && (await publishedIfOwn(site, feed));
  const feedUrl = feed ?? published?.settings.feedUrl;
  if (feedUrl === undefined) throw misuse(NAME, "choose a feed with --feed.");
  if (site) checkHost(site, values);
  const siteIndex = published && new SiteIndex(published.pages);
  return {
    feedUrl,
    nick: published?.settings.nick ?? null,
    aliases: published ? readAliases(published.settings.mentions.aliases, feedUrl).feeds : [],
    guestFeeds: published?.settings.urls.guestFeeds,
    links: published ? siteLinks(published) : undefined,
    findPage: (timestamp: string) => siteIndex?.pageOfTwt(timestamp) ?? null,
    pages: published?.pages ?? null,
    store: await openSendStore(site, values, terminal),
  };
}

/** @returns `null` for the feed of another site */
async function publishedIfOwn(site: Site, feed: string | undefined): Promise<PublishedSite | null> {
  if (feed === undefined) return publishedSite(site);
  const published = await publishedSite(site).catch(ifTwtxtError(() => null));
  return feed === published?.settings.feedUrl ? published : null;
}

/** On Netlify the site itself sends, and records what it sent. */
function checkHost({ settings: { host } }: Site, { store, "dry-run": isDryRun }: Values): void {
  if (host !== "netlify" || store !== undefined || isDryRun) return;
  throw misuse(
    NAME,
    "on Netlify your site sends its mentions itself, and records them there. To send all of them again from here, name a folder with --store.",
  );
}

async function openSendStore(site: Site | null, { store, "dry-run": isDryRun }: Values, terminal: Terminal) {
  // Where `serve` records it, so that nothing is sent twice.
  if (site) return (await siteStore(site, { command: NAME, store }, terminal)).store;
  if (store !== undefined) return new SqliteStore(resolve(terminal.folder, store));
  if (isDryRun) return memoryStore();
  throw misuse(NAME, "name a folder with --store, to record what was sent.");
}

function sendOptions({ feedUrl, nick }: Source, values: Values, terminal: Terminal) {
  const allowedHosts = values["allow-private-host"];
  return {
    ask: createGuard({
      userAgent: `${userAgent()} (+${feedUrl}${nick ? `; @${nick}` : ""})`,
      allowPrivateHosts: allowedHosts,
      ownUrl: feedUrl,
    }),
    allowedHosts,
    now: terminal.now,
    random: Math.random,
    sleep,
    patience: PATIENCE_MS,
    isDryRun: values["dry-run"],
    backfill: values.backfill ?? 0,
    isNow: values.now,
    onMention: createSendProgress(values, terminal),
    onWaiting: () => terminal.say("Waiting for another run to end. It is sending, or was killed."),
  };
}

function createSendProgress({ json, "dry-run": isDryRun }: Values, { isTerminal, say }: Terminal) {
  let done = 0;
  return (mention: MentionReport) => {
    done += 1;
    if (json || isDryRun) return;
    // On a terminal, the table that follows has the same lines.
    if (!isTerminal.stdout || !isTerminal.stderr) say(formatCells(mention).join("  "));
    else if (done % 10 === 0) say(`${done} so far.`);
  };
}

/** Asks the site, unless another feed or a folder is named, and shows what this machine knows if it does not answer. */
async function listSent(values: Values, terminal: Terminal): Promise<number> {
  if (values.now || values["dry-run"] || values.backfill !== undefined) {
    throw misuse(NAME, "--list sends nothing. Leave out --now, --dry-run and --backfill.");
  }
  const most = values.all ? Number.POSITIVE_INFINITY : NEWEST;
  const isOfSite = values.feed === undefined && values.store === undefined;
  const told = isOfSite ? await askSiteState(values, terminal, most) : null;
  if (told !== null && "sent" in told) return showSent(told.sent, "site", values, terminal);
  const isHere = told === null || (await loadSite(terminal, values.settings)).settings.host !== "netlify";
  if (!isHere)
    throw new TwtxtError(
      "unreachable",
      `Only your site knows what it has sent, and it could not be asked. ${told.message}`,
    );
  const { store, feedUrl } = await findSource(values, terminal);
  if (told?.code === "no-identity" && values.identity === undefined) {
    terminal.say("This is what this machine knows, since your site answers only to your key:");
  } else if (told !== null) {
    terminal.say(
      `Your site could not be asked. ${told.message}\nThis is what this machine knows, not what your site knows:`,
    );
  }
  return showSent(await readSentMentions(store, feedUrl, most), "machine", values, terminal);
}

function showSent({ mentions, counts }: SentMentions, from: "site" | "machine", values: Values, terminal: Terminal) {
  printData({ from, mentions }, formatTable(mentions.map(formatCells)), values, terminal);
  const sum = sumOutcomes(counts);
  const hint = counts.waiting && from === "machine" ? ` To try what waits at once: ${typed("send --now")}` : "";
  const total = Object.values(counts).reduce((one, other) => one + other, 0);
  const more =
    mentions.length < total ? `, the newest ${mentions.length} listed. All: ${typed("send --list --all")}` : "";
  terminal.say(sum === "" ? "No mentions were sent yet." : `${sum}${more}.${hint}`);
  return 0;
}

function reportSum({ mentions, leftAlone, troubles }: SendReport, isDryRun: boolean): string[] {
  const refused = mentions.flatMap(({ outcome, endpoint, target }) =>
    outcome === "not-asked" ? hostAndPort(new URL(endpoint ?? target)) : [],
  );
  const byOutcome = groupBy(mentions, ({ outcome }) => outcome);
  const sum = sumOutcomes(Object.fromEntries([...byOutcome].map(([outcome, { length }]) => [outcome, length])));
  return [
    ...troubles,
    ...(refused.length > 0 ? [privateHostAdvice([...new Set(refused)])] : []),
    ...(leftAlone ? [`${counted(leftAlone, "older mention")} skipped: --backfill N sends the newest N twts.`] : []),
    sum === "" ? "Nothing to send." : `${sum}.${isDryRun ? " Nothing was sent." : ""}`,
  ];
}

/** A line for each mention, oldest first. */
function formatMentions(mentions: readonly ReportedMention[]): string[] {
  const place = ({ timestamp, target }: ReportedMention) => `${timestamp} ${target}`;
  return formatTable(mentions.toSorted((a, b) => (place(a) < place(b) ? -1 : 1)).map(formatCells));
}

function formatCells(mention: ReportedMention): string[] {
  const { timestamp, nick, target, isLink, network } = mention;
  const who = network ? "copy" : isLink ? "link" : nick === null ? "" : `@${nick}`;
  return [timestamp, who, target, describeOutcome(mention)];
}
