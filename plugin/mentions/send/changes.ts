// plugin/mentions/send/changes.ts: compares the live feed with the ledger to find the mentions to send.
import { toInstant } from "../../feed/timestamp.js";
import { compareTexts, groupBy } from "../../groups.js";
import { isAttemptAhead } from "../../http/retry.js";
import type { LedgerName, LedgerState, UnfinishedMention } from "./ledger-records.js";
import type { LiveMention } from "./live-feed.js";

/** The mentions in the feed and in its archives, as far as they were read. */
export interface FeedState {
  mentions: readonly LiveMention[];
  archived: readonly LiveMention[];
  /** Instants of all twts, with mentions or without. */
  instants: ReadonlySet<string>;
  /** Instants of the twts whose links the build knows. */
  linkedInstants: ReadonlySet<string>;
  /** Whether archives were read back to the oldest twt of the ledger. Only then does missing mean deleted. */
  isWhole: boolean;
}

interface MentionHistory {
  done: readonly LedgerName[];
  unfinished: UnfinishedMention | null;
}

/** A mention to send. `gone`: it was sent, or may have been, and is no longer in any twt. */
export type Change = MentionHistory & { instant: string } & (
    | { kind: "new" | "changed"; mention: LiveMention }
    | { kind: "gone" }
  );
export type WaitingChange = Change & { unfinished: UnfinishedMention };

export interface Changes {
  /** Oldest first. */
  due: Change[];
  /** Mentions that wait for their next attempt. */
  later: WaitingChange[];
  stale: string[];
}

const NO_HISTORY: MentionHistory = { done: [], unfinished: null };

/**
 * Finds mentions that are new, changed, gone, or not delivered yet.
 *
 * A twt in an archive counts only if the ledger knows it; others were moved there and are not new.
 *
 * @param now - milliseconds since 1970
 * @param asksAgain - whether to try addresses again that the guard refused before
 * @see PROTOCOL 2.3
 */
export function changesSince(known: LedgerState, live: FeedState, now: number, asksAgain = false): Changes {
  const histories = toHistories(known);
  const present = presentMentions(known, live);
  const findings = [
    ...[...present.values()].map((mention) =>
      changeOfPresent(mention, histories.get(mention.pair) ?? NO_HISTORY, known, asksAgain),
    ),
    ...[...histories].filter(([pair]) => !present.has(pair)).map(([, history]) => changeOfMissing(history, live)),
  ];
  const changes = findings
    .flatMap((finding) => ("kind" in finding ? [finding] : []))
    .sort((a, b) => compareTexts(a.instant, b.instant));
  const waits = (change: Change): change is WaitingChange =>
    change.unfinished !== null && isAttemptAhead(change.unfinished.next, now);
  return {
    due: changes.filter((change) => !waits(change)),
    later: changes.filter(waits),
    stale: findings.flatMap((finding) => ("stale" in finding ? finding.stale : [])),
  };
}

/** Whether the first run skipped this mention and no backfill included it. */
export function isInBaseline(mention: LiveMention, { baseline, linkBaseline, backfilled }: LedgerState): boolean {
  const { pair, instant, isLink } = mention;
  const { pairs, before } = isLink ? linkBaseline : baseline;
  const isOld = pairs.has(pair) || (before !== null && instant < before);
  return isOld && !backfilled.has(backfillEntry(mention));
}

const LINKS_OF = "links ";

/** The entry of a backfill for a twt's mentions, its timestamp, or for the links in its post. */
export function backfillEntry({ timestamp, isLink }: Pick<LiveMention, "timestamp" | "isLink">): string {
  return isLink ? LINKS_OF + timestamp : timestamp;
}

/** Nothing to send; these records are obsolete. */
type NoChange = Pick<Changes, "stale">;

function changeOfPresent(
  mention: LiveMention,
  history: MentionHistory,
  known: LedgerState,
  asksAgain: boolean,
): Change | NoChange {
  const { done, unfinished } = history;
  // The answer to an earlier text was lost, so the receiver may have that one.
  const mayHaveAnother = unfinished !== null && unfinished.text !== mention.text && unfinished.source !== null;
  const isOfThisText = ({ text, ending }: LedgerName) =>
    text === mention.text && !(asksAgain && ending === "not-asked");
  const current = done.filter(isOfThisText);
  if (current.length > 0 && !mayHaveAnother) {
    const isSent = current.some(({ ending }) => ending === "sent");
    const older = isSent ? done.filter(({ text }) => text !== mention.text) : [];
    return { stale: listKeys({ done: older, unfinished }) };
  }
  if (done.length === 0 && unfinished === null && isInBaseline(mention, known)) return { stale: [] };
  const kind = mayHaveAnother || done.some(({ ending }) => ending === "sent") ? "changed" : "new";
  return { kind, instant: mention.instant, mention, ...history };
}

function changeOfMissing(history: MentionHistory, live: FeedState): Change | NoChange {
  const { done, unfinished } = history;
  const instant = unfinished?.instant ?? done[0]?.instant ?? "";
  // It is gone if its twt is there without it, or if everything was read and its twt is missing.
  const isTwtLive = live.instants.has(instant);
  if (!isTwtLive && !live.isWhole) return { stale: [] };
  const isOfLink = history.unfinished?.isLink || history.done.some(({ isLink }) => isLink);
  if (isTwtLive && isOfLink && !live.linkedInstants.has(instant)) return { stale: [] };
  const wasPosted = done.some(({ ending }) => ending === "sent") || (unfinished?.source ?? null) !== null;
  return wasPosted ? { kind: "gone", instant, ...history } : { stale: listKeys(history) };
}

export function listKeys({ done, unfinished }: MentionHistory): string[] {
  return [...done.map(({ key }) => key), ...(unfinished ? [unfinished.key] : [])];
}

function toHistories({ done, unfinished }: LedgerState): Map<string, MentionHistory> {
  const finished = [...groupBy(done, ({ pair }) => pair)];
  const histories = new Map<string, MentionHistory>(finished.map(([pair, done]) => [pair, { done, unfinished: null }]));
  for (const record of unfinished) {
    histories.set(record.pair, { done: histories.get(record.pair)?.done ?? [], unfinished: record });
  }
  return histories;
}

function presentMentions(known: LedgerState, { mentions, archived }: FeedState): Map<string, LiveMention> {
  const instants = knownInstants(known);
  const isKnown = ({ instant }: LiveMention) => instants.has(instant);
  return new Map([...archived.filter(isKnown), ...mentions].map((mention) => [mention.pair, mention]));
}

/**
 * Finds the oldest twt of the ledger that is not among these: it is in an archive, or gone.
 *
 * @returns an instant; `null` if none is missing
 */
export function oldestMissing(known: LedgerState, twts: readonly { instant: string }[]): string | null {
  const present = new Set(twts.map(({ instant }) => instant));
  return [...knownInstants(known)].filter((instant) => !present.has(instant)).sort()[0] ?? null;
}

/** The instants of twts that the ledger knows or a backfill added. */
function knownInstants({ done, unfinished, backfilled }: LedgerState): Set<string> {
  const asked = [...backfilled].flatMap((entry) => toInstant(entry.replace(LINKS_OF, "")) ?? []);
  return new Set([...[...done, ...unfinished].map(({ instant }) => instant), ...asked]);
}
