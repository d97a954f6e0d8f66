// plugin/mentions/send/changes.ts: what is to be told: the live feed, compared with what was told before.
import { toInstant } from "../../feed/timestamp.js";
import type { LiveMention } from "./live-mentions.js";

/** How a mention ended, for one text of its twt. `not-asked`: our own guard refused the address. */
export type Ending = "sent" | "failed" | "not-asked" | "no-endpoint";

/** A mention that is done with, for one text of its twt. */
export interface DoneMention {
  /** Of its record. */
  key: string;
  pair: string;
  instant: string;
  text: string;
  ending: Ending;
}

/** A mention that did not get through yet. */
export interface UnfinishedMention extends LiveMention {
  /** Of its record. */
  key: string;
  etag: string;
  attempts: number;
  /** When it failed first, and before when it is not tried again, in milliseconds since 1970. */
  first: number;
  next: number;
  /** What was posted as its source; `null` where nothing was, so that nobody can have it. */
  source: string | null;
}

/** What the first run has left alone. */
export interface Baseline {
  pairs: ReadonlySet<string>;
  /** All before this instant stood in archives then, which the first run does not read; `null` where there were none. */
  before: string | null;
}

/** All that the ledger knows. */
export interface Known {
  done: readonly DoneMention[];
  unfinished: readonly UnfinishedMention[];
  baseline: Baseline;
  /** Timestamps of twts that a backfill has taken out of the baseline. */
  backfilled: ReadonlySet<string>;
}

/** What was read of the feed and its archives. */
export interface Live {
  /** Of the feed itself. */
  mentions: readonly LiveMention[];
  /** Of its archives, as far as they were read. */
  archived: readonly LiveMention[];
  /** Of every twt that was read, with mentions or without. */
  instants: ReadonlySet<string>;
  /** Whether archives were read as far back as anything is known. Only then is something gone that was not found. */
  isWhole: boolean;
}

/** What the ledger has of one mention. */
export interface History {
  done: readonly DoneMention[];
  unfinished: UnfinishedMention | null;
}

/** A mention that stands in its twt, and was not told with this text. */
interface Standing extends History {
  kind: "new" | "changed";
  instant: string;
  mention: LiveMention;
}

/** A mention that was told, or may have been, and stands in no twt any more. */
interface Gone extends History {
  kind: "gone";
  instant: string;
}

export type Change = Standing | Gone;
export type Waiting = Change & { unfinished: UnfinishedMention };

export interface Changes {
  /** Oldest first. */
  due: Change[];
  /** Those that wait for their next attempt. */
  later: Waiting[];
  /** Keys of records that mean nothing any more. */
  stale: string[];
}

/** In the place of a text, where the receiver is to learn that there is none any more. */
export const GONE_TEXT = "gone";

const NO_HISTORY: History = { done: [], unfinished: null };

/**
 * Finds what is to be told: what is new, changed or gone, and what did not get through yet.
 *
 * A twt in an archive counts where the ledger knows it. Others are not new, only moved.
 *
 * @param now - milliseconds since 1970
 * @param asksAgain - whether addresses that the guard refused once are tried again
 * @see PROTOCOL 2.3
 */
export function changesSince(known: Known, live: Live, now: number, asksAgain = false): Changes {
  const histories = historiesOf(known);
  const standing = standingMentions(known, live);
  const findings = [
    ...[...standing.values()].map((mention) =>
      judgeStanding(mention, histories.get(mention.pair) ?? NO_HISTORY, known, asksAgain),
    ),
    ...[...histories].filter(([pair]) => !standing.has(pair)).map(([, history]) => judgeGone(history, live)),
  ];
  const changes = findings
    .flatMap((finding) => ("kind" in finding ? [finding] : []))
    .sort((a, b) => (a.instant < b.instant ? -1 : a.instant > b.instant ? 1 : 0));
  const waits = (change: Change): change is Waiting => change.unfinished !== null && change.unfinished.next > now;
  return {
    due: changes.filter((change) => !waits(change)),
    later: changes.filter(waits),
    stale: findings.flatMap((finding) => ("stale" in finding ? finding.stale : [])),
  };
}

/** Whether the first run has left this one alone, and no backfill has asked for it. */
export function isLeftAlone({ pair, instant, timestamp }: LiveMention, { baseline, backfilled }: Known): boolean {
  const isOld = baseline.pairs.has(pair) || (baseline.before !== null && instant < baseline.before);
  return isOld && !backfilled.has(timestamp);
}

/** Nothing is to be told, and these records can go. */
interface Settled {
  stale: string[];
}

function judgeStanding(mention: LiveMention, history: History, known: Known, asksAgain: boolean): Standing | Settled {
  const { done, unfinished } = history;
  // Its answer was lost, so the receiver may have another text than the one that stands here.
  const mayHaveAnother = unfinished !== null && unfinished.text !== mention.text && unfinished.source !== null;
  const isOfThisText = ({ text, ending }: DoneMention) =>
    text === mention.text && !(asksAgain && ending === "not-asked");
  const current = done.filter(isOfThisText);
  if (current.length > 0 && !mayHaveAnother) {
    const isSent = current.some(({ ending }) => ending === "sent");
    const older = isSent ? done.filter(({ text }) => text !== mention.text) : [];
    return { stale: keysOf({ done: older, unfinished }) };
  }
  if (done.length === 0 && unfinished === null && isLeftAlone(mention, known)) return { stale: [] };
  const kind = mayHaveAnother || done.some(({ ending }) => ending === "sent") ? "changed" : "new";
  return { kind, instant: mention.instant, mention, ...history };
}

function judgeGone(history: History, live: Live): Gone | Settled {
  const { done, unfinished } = history;
  const instant = unfinished?.instant ?? done[0]?.instant ?? "";
  // Its twt is still there and mentions somebody else now, or all was read and it is nowhere.
  if (!live.instants.has(instant) && !live.isWhole) return { stale: [] };
  const wasTold = done.some(({ ending }) => ending === "sent") || (unfinished?.source ?? null) !== null;
  return wasTold ? { kind: "gone", instant, ...history } : { stale: keysOf(history) };
}

/** The records of a mention. */
export function keysOf({ done, unfinished }: History): string[] {
  return [...done.map(({ key }) => key), ...(unfinished ? [unfinished.key] : [])];
}

function historiesOf({ done, unfinished }: Known): Map<string, History> {
  const histories = new Map<string, { done: DoneMention[]; unfinished: UnfinishedMention | null }>();
  for (const record of done) {
    const history = histories.get(record.pair);
    if (history) history.done.push(record);
    else histories.set(record.pair, { done: [record], unfinished: null });
  }
  for (const record of unfinished) {
    histories.set(record.pair, { done: histories.get(record.pair)?.done ?? [], unfinished: record });
  }
  return histories;
}

function standingMentions(known: Known, { mentions, archived }: Live): Map<string, LiveMention> {
  const instants = knownInstants(known);
  const isKnown = ({ instant }: LiveMention) => instants.has(instant);
  return new Map([...archived.filter(isKnown), ...mentions].map((mention) => [mention.pair, mention]));
}

/**
 * The oldest twt that the ledger knows and these are without: it is in an archive, or gone.
 *
 * @returns an instant; `null` where all are there
 */
export function oldestMissing(known: Known, twts: readonly { instant: string }[]): string | null {
  const there = new Set(twts.map(({ instant }) => instant));
  return [...knownInstants(known)].filter((instant) => !there.has(instant)).sort()[0] ?? null;
}

/** When the twts were written that were told, or are to be. */
function knownInstants({ done, unfinished, backfilled }: Known): Set<string> {
  const asked = [...backfilled].flatMap((timestamp) => toInstant(timestamp) ?? []);
  return new Set([...[...done, ...unfinished].map(({ instant }) => instant), ...asked]);
}
