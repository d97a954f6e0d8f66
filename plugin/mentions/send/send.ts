// plugin/mentions/send/send.ts: tells everybody whom our twts mention.
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import type { Ask } from "../../http/guard.js";
import { isSameUrl } from "../../http/same-url.js";
import { memoryStore } from "../../store/memory.js";
import type { Store } from "../../store/store.js";
import { politeQueue } from "../polite-queue.js";
import { type Baseline, changesSince, isLeftAlone, type Known, type Live, oldestMissing } from "./changes.js";
import { discovery } from "./discover.js";
import { EndpointCache } from "./endpoints.js";
import { withLease } from "./lease.js";
import { MentionLedger } from "./ledger.js";
import { type LiveFeed, readArchives, readLiveFeed } from "./live-feed.js";
import { type LiveMention, liveMentions } from "./live-mentions.js";
import { type MentionReport, reportOfWaiting, teller } from "./tell.js";

const WEEK = 7 * 24 * 3600_000;

/** What a run has done. */
export interface SendReport {
  /** Those that were due, in the order in which they ended, and then those that wait for another attempt. */
  mentions: MentionReport[];
  /** How many mentions of the past the first run has left alone; `null` in later runs. */
  leftAlone: number | null;
  /** What stood in the way of a part of it, a sentence each. */
  troubles: string[];
}

export interface SendOptions {
  ask: Ask;
  store: Store;
  /** Where the feed is read: what it does not show is not told. */
  feedUrl: string;
  /** Other URLs of the feed. */
  aliases?: readonly string[];
  /** The page of a twt, for endpoints that take nothing else; `null` for a twt without one. */
  pageOf(timestamp: string): string | null;
  now: Clock;
  /** 0 up to, not including, 1. */
  random(): number;
  /** Ends early, and without an error, where the signal says so. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** Nothing is started any more once this holds; the rest is left to the next run. */
  isOver?(): boolean;
  /** How long to wait for another run, in milliseconds; default not at all. */
  patience?: number;
  /** Finds out and sends nothing, writes nothing. */
  isDryRun?: boolean;
  /** How many twts of the past to tell of, newest first, although the first run has left them alone. */
  backfill?: number;
  /** Whether mentions that wait for their next attempt are tried now. */
  isNow?: boolean;
  /** Whether addresses that the guard has refused once are tried again. */
  asksAgain?: boolean;
  /** Called with each mention that has ended. */
  onMention?(mention: MentionReport): void;
  onWaiting?(): void;
}

/**
 * When a mention is due again.
 *
 * @returns milliseconds since 1970, `now` for one that this run did not get to; `null` where none waits
 */
export function nextDue({ mentions }: SendReport, now: number): number | null {
  const times = mentions.flatMap(({ outcome, next }) =>
    next !== null ? [Date.parse(next)] : outcome === "waiting" ? [now] : [],
  );
  return times.length === 0 ? null : Math.min(...times);
}

/**
 * Reads the live feed, compares it with what was told before, and tells what is new, changed or gone.
 *
 * Each mention is told at least once: one whose answer could not be written down, because the process was killed just
 * then, is told again.
 *
 * @throws TwtxtError `feed-not-live`, `already-sending`, `store-failed`
 * @see PROTOCOL 2.3
 */
export async function sendMentions(options: SendOptions): Promise<SendReport> {
  const { patience = 0, onWaiting, isOver = () => false, isDryRun = false } = options;
  if (isDryRun) return run({ ...options, store: draftOf(options.store) }, isOver);
  const sleep = (milliseconds: number, signal?: AbortSignal) => options.sleep(milliseconds, signal);
  const lease = { ...options, sleep, patience, ...(onWaiting && { onWaiting }) };
  return withLease(lease, (held) => run(options, () => isOver() || !held.isHeld()));
}

async function run(options: SendOptions, isOver: () => boolean): Promise<SendReport> {
  const { ask, store, feedUrl, now } = options;
  const ledger = new MentionLedger({ store, feedUrl, sleep: (milliseconds) => options.sleep(milliseconds) });
  const feed = await readLiveFeed(ask, feedUrl);
  const { isFirst, ...recorded } = await readLedger(ledger, feed, mentionsOf(feed.twts, feed, options), now());
  const { live, trouble } = await readAll(feed, recorded, options);
  const known = await backfilled(recorded, live, ledger, options.backfill ?? 0);

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
  const endpoints = new EndpointCache({ store, discover: discovery({ ask, now }), now });
  const tell = teller({ ...options, ledger, endpoints, identity: feed.identity, queue: politeQueue(), isOver });
  const outcomes = await Promise.allSettled(due.map(async (change) => end(await tell(change))));
  for (const change of later) end(reportOfWaiting(change));
  // An endpoint that cannot be forgotten now is used once more, within a day.
  await endpoints.end().catch(() => {});

  const leftAlone = live.mentions.filter((mention) => isLeftAlone(mention, known)).length;
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

/** What is recorded, and on the first run that the past is to be left alone. */
async function readLedger(
  ledger: MentionLedger,
  feed: LiveFeed,
  mentions: readonly LiveMention[],
  now: number,
): Promise<Known & { isFirst: boolean }> {
  const { baseline, ...record } = await ledger.read();
  if (baseline !== null) return { ...record, baseline, isFirst: false };
  // A site that is only being set up: the posts that it will have are no news either.
  if (feed.twts.length === 0) return { ...record, baseline: { pairs: new Set(), before: null }, isFirst: true };
  return { ...record, baseline: await ledger.writeBaseline(baselineOf(feed, mentions, now)), isFirst: true };
}

/** What is older than a week is of the past, and so is what stands in archives. */
function baselineOf({ twts, archive }: LiveFeed, mentions: readonly LiveMention[], now: number): Baseline {
  const old = mentions.filter(({ instant }) => Date.parse(instant) < now - WEEK);
  const [oldest = null] = twts.map(({ instant }) => instant).sort();
  return { pairs: new Set(old.map(({ pair }) => pair)), before: archive === null ? null : oldest };
}

/** The feed, with its archives as far back as they are needed: to look for what it does not hold any more. */
async function readAll(
  feed: LiveFeed,
  known: Known,
  options: SendOptions,
): Promise<{ live: Live; trouble: string | null }> {
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

/** Takes the newest of those out of the baseline that were left alone. */
async function backfilled(known: Known, live: Live, ledger: MentionLedger, count: number): Promise<Known> {
  const left = [...live.archived, ...live.mentions]
    .filter((mention) => isLeftAlone(mention, known))
    .sort((a, b) => (a.instant < b.instant ? 1 : -1));
  const chosen = [...new Set(left.map(({ timestamp }) => timestamp))].slice(0, count);
  if (chosen.length > 0) await ledger.addBackfilled(chosen);
  return { ...known, backfilled: new Set([...known.backfilled, ...chosen]) };
}

/** What is no verdict on anybody: our own storage, or a mistake of ours. */
function troublesOf(outcomes: readonly PromiseSettledResult<void>[]): string[] {
  const reasons = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  const unknown = reasons.find((reason) => !(reason instanceof TwtxtError));
  if (unknown) throw unknown;
  return [...new Set(reasons.map(({ message }: TwtxtError) => message))];
}

/** A store that keeps to itself what is written, and leaves the other one as it is. */
function draftOf(store: Store): Store {
  const draft = memoryStore();
  return {
    get: async (key) => (await draft.get(key)) ?? store.get(key),
    put: (key, bytes) => draft.put(key, bytes),
    delete: async () => {},
    keys: (prefix) => store.keys(prefix),
  };
}
