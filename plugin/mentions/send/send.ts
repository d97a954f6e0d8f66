// plugin/mentions/send/send.ts: sends the mentions of the live feed.
import { TwtxtError } from "../../errors.js";
import type { Ask } from "../../http/guard.js";
import { isSameUrl } from "../../http/same-url.js";
import { memoryStore } from "../../store/memory.js";
import type { Store } from "../../store/store.js";
import {
  type Baseline,
  changesSince,
  type FeedState,
  isInBaseline,
  type LedgerState,
  oldestMissing,
} from "./changes.js";
import { createDiscover } from "./discover.js";
import { EndpointCache } from "./endpoint-cache.js";
import { type LeaseOptions, withLease } from "./lease.js";
import { MentionLedger } from "./ledger.js";
import { type LiveFeed, type LiveMention, liveMentions, readArchives, readLiveFeed } from "./live-feed.js";
import { MentionDelivery, type MentionReport, reportOfWaiting } from "./send-mention.js";

const WEEK = 7 * 24 * 3600_000;

export interface SendReport {
  /** Due mentions in the order in which they ended, then those that wait for another attempt. */
  mentions: MentionReport[];
  /** How many old mentions the first run skipped; `null` in later runs. */
  leftAlone: number | null;
  /** Problems that affected a part of the run, one sentence each. */
  troubles: string[];
}

export interface SendOptions extends LeaseOptions {
  ask: Ask;
  /** The URL of the live feed. Only what it shows is sent. */
  feedUrl: string;
  /** Other URLs of the feed. */
  aliases?: readonly string[];
  /** The page of a twt, for endpoints that accept only pages; `null` for a twt without one. */
  pageOf(timestamp: string): string | null;
  /** When true, nothing more is started and the rest is left to the next run. */
  isOver?(): boolean;
  /** Looks up endpoints, but sends and stores nothing. */
  isDryRun?: boolean;
  /** How many old twts, newest first, to send mentions of although the first run skipped them. */
  backfill?: number;
  /** Whether to try mentions now that wait for their next attempt. */
  isNow?: boolean;
  /** Whether to try addresses again that the guard refused before. */
  asksAgain?: boolean;
  /** Called with each finished mention. */
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
  if (options.isDryRun) return run({ ...options, store: draftOf(options.store) }, isOver);
  return withLease(options, (lease) => run(options, () => isOver() || !lease.isHeld()));
}

async function run(options: SendOptions, isOver: () => boolean): Promise<SendReport> {
  const { ask, store, feedUrl, now } = options;
  const ledger = new MentionLedger(options);
  const feed = await readLiveFeed(ask, feedUrl);
  const { isFirst, ...recorded } = await readLedger(ledger, feed, mentionsOf(feed.twts, feed, options), now());
  const { live, trouble } = await readAll(feed, recorded, options);
  const known = await addBackfill(recorded, live, ledger, options.backfill ?? 0);

  const { due, later, stale } = changesSince(
    known,
    live,
    options.isNow ? Number.POSITIVE_INFINITY : now(),
    options.asksAgain,
  );
  await ledger.forget(stale);

  const mentions: MentionReport[] = [];
  const end = (report: MentionReport) => {
    mentions.push(report);
    options.onMention?.(report);
  };
  const endpoints = new EndpointCache({ store, discover: createDiscover({ ask, now }), now });
  const { identity } = feed;
  const delivery = new MentionDelivery({ ...options, ledger, endpoints, identity, isOver });
  const outcomes = await Promise.allSettled(due.map(async (change) => end(await delivery.send(change))));
  for (const change of later) end(reportOfWaiting(change));
  // If this fails, a stale endpoint is reused within a day at most.
  await endpoints.end().catch(() => {});

  const leftAlone = live.mentions.filter((mention) => isInBaseline(mention, known)).length;
  return {
    mentions,
    leftAlone: isFirst ? leftAlone : null,
    troubles: [...(trouble === null ? [] : [trouble]), ...troublesOf(outcomes)],
  };
}

function mentionsOf(twts: LiveFeed["twts"], { names }: LiveFeed, { feedUrl, aliases = [] }: SendOptions) {
  const own = [feedUrl, ...names, ...aliases];
  return liveMentions(twts, (url) => own.some((one) => isSameUrl(one, url)));
}

/** The first run also writes the baseline: old mentions are not sent. */
async function readLedger(
  ledger: MentionLedger,
  feed: LiveFeed,
  mentions: readonly LiveMention[],
  now: number,
): Promise<LedgerState & { isFirst: boolean }> {
  const { baseline, ...record } = await ledger.read();
  if (baseline !== null) return { ...record, baseline, isFirst: false };
  // A site that is being set up. No baseline yet: posts imported later are not new either.
  if (feed.twts.length === 0) return { ...record, baseline: { pairs: new Set(), before: null }, isFirst: true };
  return { ...record, baseline: await ledger.writeBaseline(baselineOf(feed, mentions, now)), isFirst: true };
}

/** Mentions older than a week, and everything in archives, belong to the baseline. */
function baselineOf({ twts, archive }: LiveFeed, mentions: readonly LiveMention[], now: number): Baseline {
  const old = mentions.filter(({ instant }) => Date.parse(instant) < now - WEEK);
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
  const live = {
    mentions: mentionsOf(feed.twts, feed, options),
    archived: mentionsOf(archived, feed, options),
    instants: new Set([...feed.twts, ...archived].map(({ instant }) => instant)),
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
  const chosen = [...new Set(left.map(({ timestamp }) => timestamp))].slice(0, count);
  if (chosen.length > 0) await ledger.addBackfilled(chosen);
  return { ...known, backfilled: new Set([...known.backfilled, ...chosen]) };
}

/** Failures of this site's own store. @throws unexpected errors */
function troublesOf(outcomes: readonly PromiseSettledResult<void>[]): string[] {
  const reasons = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  const unknown = reasons.find((reason) => !(reason instanceof TwtxtError));
  if (unknown) throw unknown;
  return [...new Set(reasons.map(({ message }: TwtxtError) => message))];
}

/** A store for dry runs: writes go to memory, reads fall through to the real store. */
function draftOf(store: Store): Store {
  const draft = memoryStore();
  return {
    get: async (key) => (await draft.get(key)) ?? store.get(key),
    put: (key, bytes) => draft.put(key, bytes),
    delete: async () => {},
    keys: (prefix) => store.keys(prefix),
  };
}
