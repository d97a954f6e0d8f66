// plugin/mentions/send/send.ts: sends the mentions of the live feed.
import { TwtxtError } from "../../errors.js";
import type { Ask } from "../../http/guard.js";
import { isSameUrl } from "../../http/same-url.js";
import { later } from "../../later.js";
import { type LeaseOptions, withLease } from "../../store/lease.js";
import { memoryStore } from "../../store/memory.js";
import type { Sleep } from "../../store/retry.js";
import type { Store } from "../../store/store.js";
import type { CopiedPosts } from "../networks/post-copies.js";
import { backfillEntry, type Changes, changesSince, type FeedState, isInBaseline, oldestMissing } from "./changes.js";
import { createDiscover } from "./discover.js";
import { EndpointCache } from "./endpoint-cache.js";
import { MentionLedger } from "./ledger.js";
import type { Baseline, LedgerState, StoredLedger } from "./ledger-records.js";
import { type LiveFeed, type LiveMention, liveMentions, readArchives, readLiveFeed } from "./live-feed.js";
import { type FindTwt, MentionDelivery, type MentionReport, reportOfWaiting } from "./send-mention.js";
import { linksOfLivePages, liveLinks, type SiteLinks } from "./site-links.js";

const poster = later(() => import("../networks/post-copies.js"));

const LEASE = "sent/lease";
const WEEK = 7 * 24 * 3600_000;

export interface SendReport {
  /** Due mentions in the order in which they ended, then those that wait for another attempt. */
  mentions: MentionReport[];
  /** How many old mentions and links the first run skipped; `null` in later runs. */
  leftAlone: number | null;
  /** Problems that affected a part of the run, one sentence each. */
  troubles: string[];
}

export interface SendOptions extends LeaseOptions {
  sleep: Sleep;
  /** 0 up to, not including, 1. */
  random(): number;
  ask: Ask;
  /** The URL of the live feed. Only what it shows is sent. */
  feedUrl: string;
  aliases?: readonly string[];
  /** The URL of the folder with the feeds of readers who comment: they have no endpoint, and read answers on the page. */
  guestFeeds?: string | undefined;
  /** The links in the posts of the site, or `off` if it sends none. If missing, they are not known: none is sent. */
  links?: SiteLinks | "off" | undefined;
  /** The page of a twt, for endpoints that accept only pages; `null` for a twt without one. */
  findPage(timestamp: string): string | null;
  /** Finds the twts that mentions answer; by default none is known. */
  findTwt?: FindTwt | undefined;
  /** When true, nothing more is started and the rest is left to the next run. */
  isOver?(): boolean;
  /** Looks up endpoints, but sends and stores nothing. */
  isDryRun?: boolean;
  /** Sends the mentions of this many twts that the first run skipped, newest first. */
  backfill?: number;
  /** Whether to try mentions now that wait for their next attempt. */
  isNow?: boolean;
  /** The posts that get copies on other networks; absent for none. */
  copies?: CopiedPosts | null | undefined;
  /** The private hosts that the guard allows. If one is new, addresses that it refused before are tried again. */
  allowedHosts?: readonly string[] | undefined;
  onMention?(mention: MentionReport): void;
}

/** @returns when the next mention is due, in milliseconds since 1970; `null` if none waits */
export function nextDue({ mentions }: SendReport, now: number): number | null {
  const times = mentions.flatMap(({ outcome, next }) =>
    next !== null ? [Date.parse(next)] : outcome === "waiting" ? [now] : [],
  );
  return times.length === 0 ? null : Math.min(...times);
}

/**
 * Reads the live feed, compares it with the ledger, and sends what is new, changed or gone.
 *
 * Delivery is at least once: a mention is sent again if the process was killed before its answer was recorded.
 *
 * @throws TwtxtError `feed-not-live`, `already-sending`, `store-failed`
 * @see PROTOCOL 2.3
 */
export async function sendMentions(options: SendOptions): Promise<SendReport> {
  const { isOver = () => false } = options;
  if (options.isDryRun) return run({ ...options, store: dryRunStore(options.store) }, isOver);
  const report = await withLease(LEASE, options, (lease) => run(options, () => isOver() || !lease.isHeld()));
  if (report) return report;
  throw new TwtxtError("already-sending", "Another run is sending mentions. Nothing was sent; try again later.");
}

async function run(options: SendOptions, isOver: () => boolean): Promise<SendReport> {
  const { ask, feedUrl, now, isNow, allowedHosts = [] } = options;
  const ledger = new MentionLedger(options);
  const feed = await readLiveFeed(ask, feedUrl);
  const { isFirst, allowedHosts: earlier, ...recorded } = await readLedger(ledger, feed, options);
  const { live, trouble } = await readAll(feed, recorded, options);
  const known = await addBackfill(recorded, live, ledger, options.backfill ?? 0);

  const asksAgain = allowedHosts.some((host) => !earlier.includes(host));
  const changes = changesSince(known, live, isNow ? Number.POSITIVE_INFINITY : now(), asksAgain);
  await ledger.forget(changes.stale);
  const copied = await copyPosts(feed, { ...options, isOver });
  const { mentions, troubles, isComplete } = await deliver(changes, ledger, feed, { ...options, isOver });
  const isSame = !asksAgain && earlier.length === allowedHosts.length;
  if (isComplete && !isSame) await ledger.note({ allowedHosts: [...allowedHosts] });

  const leftAlone = live.mentions.filter((mention) => isInBaseline(mention, known)).length;
  return {
    mentions: [...copied.mentions, ...mentions],
    leftAlone: isFirst ? leftAlone : null,
    troubles: [...(trouble === null ? [] : [trouble]), ...copied.troubles, ...troubles],
  };
}

/** Failures of this site's own store must not delay mentions. */
async function copyPosts(
  feed: LiveFeed,
  options: SendOptions & { isOver(): boolean },
): Promise<Pick<SendReport, "mentions" | "troubles">> {
  if (!options.copies) return { mentions: [], troubles: [] };
  const { postCopies } = await poster();
  const [result] = await Promise.allSettled([postCopies(feed, options.copies, options)]);
  if (result.status === "fulfilled") return { mentions: result.value, troubles: [] };
  return { mentions: [], troubles: listErrors([result]) };
}

async function deliver(
  { due, later }: Changes,
  ledger: MentionLedger,
  { identity }: LiveFeed,
  options: SendOptions & { isOver(): boolean },
): Promise<Pick<SendReport, "mentions" | "troubles"> & { isComplete: boolean }> {
  const { ask, store, now } = options;
  const mentions: MentionReport[] = [];
  const end = (report: MentionReport) => {
    mentions.push(report);
    options.onMention?.(report);
  };
  const endpoints = new EndpointCache({ store, discover: createDiscover({ ask, now }), now });
  const [siteLinks, linksOfPage] = [createLinks(options), linksOfLivePages(ask)];
  const delivery = new MentionDelivery({ ...options, ledger, endpoints, identity, linksOfPage, siteLinks });
  const outcomes = await Promise.allSettled(due.map(async (change) => end(await delivery.send(change))));
  const isComplete = mentions.length === due.length && mentions.every(({ outcome }) => outcome !== "waiting");
  for (const change of later) end(reportOfWaiting(change));
  // If this fails, a stale endpoint is reused within a day at most.
  await endpoints.end().catch(() => {});
  return { mentions, troubles: listErrors(outcomes), isComplete };
}

/** The mentions in these twts, and the links in their posts. A mention of a page counts before a link to it. */
function listMentions(twts: LiveFeed["twts"], { names }: LiveFeed, options: SendOptions): LiveMention[] {
  const own = [options.feedUrl, ...names, ...(options.aliases ?? [])];
  const { guestFeeds } = options;
  const isGuests = (url: string) => guestFeeds !== undefined && url.startsWith(`${guestFeeds}/`);
  const mentions = liveMentions(twts, (url) => isGuests(url) || own.some((one) => isSameUrl(one, url)));
  const links = createLinks(options);
  if (links === null) return mentions;
  const found = [...liveLinks(twts, links), ...mentions];
  return [...new Map(found.map((mention) => [mention.pair, mention])).values()];
}

function createLinks({ links }: Pick<SendOptions, "links">): SiteLinks | null {
  return links === undefined || links === "off" ? null : links;
}

const NOTHING_OLD: Baseline = { pairs: new Set(), before: null };

/** The first run also writes the baselines: old mentions and links are not sent. */
async function readLedger(
  ledger: MentionLedger,
  feed: LiveFeed,
  options: SendOptions,
): Promise<LedgerState & Pick<StoredLedger, "allowedHosts"> & { isFirst: boolean }> {
  const stored = await ledger.read();
  const hasLinks = createLinks(options) !== null;
  // If links are turned on again, those of the time in between are not new.
  if (options.links === "off" && stored.linkBaseline !== null) await ledger.note({ linkBaseline: null });
  // Without links, the ledger knows nothing of them, so that none counts as removed.
  const isKnown = ({ isLink }: { isLink: boolean }) => hasLinks || !isLink;
  const known = { ...stored, done: stored.done.filter(isKnown), unfinished: stored.unfinished.filter(isKnown) };
  const isFirst = known.baseline === null || (hasLinks && known.linkBaseline === null);
  const baselines = { baseline: known.baseline ?? NOTHING_OLD, linkBaseline: known.linkBaseline ?? NOTHING_OLD };
  // A site without twts is still being set up. It gets no baseline yet, so that posts imported later also count as old.
  const created = isFirst && feed.twts.length > 0 ? createBaselines(known, feed, options) : null;
  if (created) await ledger.note(created);
  return { ...known, ...baselines, ...created, isFirst };
}

function createBaselines(
  { baseline, linkBaseline }: StoredLedger,
  feed: LiveFeed,
  options: SendOptions,
): Partial<Pick<LedgerState, "baseline" | "linkBaseline">> {
  const mentions = listMentions(feed.twts, feed, options);
  // A clock that is behind the newest twt is wrong: by that clock, all posts of the site would be new.
  const [newest = ""] = feed.twts.map(({ instant }) => instant).sort((a, b) => (a < b ? 1 : -1));
  const weekAgo = Math.max(options.now(), Date.parse(newest)) - WEEK;
  const links = mentions.filter(({ isLink }) => isLink);
  const others = mentions.filter(({ isLink }) => !isLink);
  // The site has turned on links since its first run: none of those that are there is sent.
  const linkTime = baseline === null ? weekAgo : Number.POSITIVE_INFINITY;
  const hasNewLinks = createLinks(options) !== null && linkBaseline === null;
  return {
    ...(hasNewLinks && { linkBaseline: createBaseline(feed, links, linkTime) }),
    ...(baseline === null && { baseline: createBaseline(feed, others, weekAgo) }),
  };
}

/** Mentions older than this time, and everything in archives, belong to the baseline. */
function createBaseline({ twts, archive }: LiveFeed, mentions: readonly LiveMention[], time: number): Baseline {
  const old = mentions.filter(({ instant }) => Date.parse(instant) < time);
  const [oldest = null] = twts.map(({ instant }) => instant).sort();
  return { pairs: new Set(old.map(({ pair }) => pair)), before: archive === null ? null : oldest };
}

/** Reads archives as far back as needed to find twts that the ledger knows and the feed no longer has. */
async function readAll(
  feed: LiveFeed,
  known: LedgerState,
  options: SendOptions,
): Promise<{ live: FeedState; trouble: string | null }> {
  const wanted = options.backfill ? "" : oldestMissing(known, feed.twts);
  const none = { twts: [], trouble: null };
  const { twts: archived, trouble } = wanted === null ? none : await readArchives(options.ask, feed, wanted);
  const twts = [...feed.twts, ...archived];
  const isLinked = ({ timestamp }: { timestamp: string }) => (createLinks(options)?.of(timestamp) ?? null) !== null;
  const live = {
    mentions: listMentions(feed.twts, feed, options),
    archived: listMentions(archived, feed, options),
    instants: new Set(twts.map(({ instant }) => instant)),
    linkedInstants: new Set(twts.filter(isLinked).map(({ instant }) => instant)),
    isWhole: trouble === null,
  };
  return { live, trouble };
}

/** Takes the newest skipped twts out of the baseline. */
async function addBackfill(
  known: LedgerState,
  live: FeedState,
  ledger: MentionLedger,
  count: number,
): Promise<LedgerState> {
  const left = [...live.archived, ...live.mentions]
    .filter((mention) => isInBaseline(mention, known))
    .sort((a, b) => (a.instant < b.instant ? 1 : -1));
  const chosen = new Set([...new Set(left.map(({ timestamp }) => timestamp))].slice(0, count));
  const entries = left.filter(({ timestamp }) => chosen.has(timestamp)).map(backfillEntry);
  const backfilled = new Set([...known.backfilled, ...entries]);
  if (entries.length > 0) await ledger.note({ backfilled });
  return { ...known, backfilled };
}

/** Failures of this site's own store. @throws unexpected errors */
function listErrors(outcomes: readonly PromiseSettledResult<unknown>[]): string[] {
  const reasons = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  const unknown = reasons.find((reason) => !(reason instanceof TwtxtError));
  if (unknown) throw unknown;
  return [...new Set(reasons.map(({ message }: TwtxtError) => message))];
}

/** A store for dry runs: writes go to memory, reads fall through to the real store. */
function dryRunStore(store: Store): Store {
  const written = memoryStore();
  return {
    get: async (key) => (await written.get(key)) ?? store.get(key),
    put: (key, bytes) => written.put(key, bytes),
    delete: async () => {},
    keys: (prefix) => store.keys(prefix),
    list: (prefix, range) => store.list(prefix, range),
    survey: (folder, id) => store.survey(folder, id),
  };
}
