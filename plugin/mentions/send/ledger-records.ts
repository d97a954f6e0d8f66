// plugin/mentions/send/ledger-records.ts: the records of the ledger, and their keys, which have all that a comparison with the feed needs.
import * as v from "valibot";
import { LiveMention, shortHash } from "./live-feed.js";

const ENDINGS = ["sent", "failed", "not-asked", "no-endpoint"] as const;

/** `not-asked`: the guard refused the address. */
export type FinalOutcome = (typeof ENDINGS)[number];

const orNull = v.nullable(v.string());

/** How the last attempt ended. */
const attempt = {
  /** The source that was posted; `null` if nothing was, so that no receiver can have it. */
  source: orNull,
  endpoint: orNull,
  status: v.nullable(v.number()),
  why: orNull,
};

/** The record of a mention that needs no further attempt with this text of its twt. `at`: milliseconds since 1970. */
export const FinishedRecord = v.object({ ...LiveMention.entries, ...attempt, at: v.number() });
export type FinishedRecord = v.InferOutput<typeof FinishedRecord>;

/** The record of a mention that was not delivered yet. Times are milliseconds since 1970. */
export const UnfinishedRecord = v.object({
  ...LiveMention.entries,
  ...attempt,
  attempts: v.number(),
  /** The first failure. */
  first: v.number(),
  /** The next attempt. */
  next: v.number(),
});
export type UnfinishedRecord = v.InferOutput<typeof UnfinishedRecord>;

/** A mention that was not delivered yet, with the key and the etag of its record. */
export type UnfinishedMention = UnfinishedRecord & { key: string; etag: string };

const Names = v.pipe(
  v.array(v.string()),
  v.transform((names): ReadonlySet<string> => new Set(names)),
);

const Baseline = v.object({
  pairs: Names,
  /** Mentions before this instant were in archives, which the first run does not read; `null` without archives. */
  before: orNull,
});
export type Baseline = v.InferOutput<typeof Baseline>;

/** What earlier runs have decided, in one record. */
export const LedgerNotes = v.object({
  /** The old mentions that the first run skipped; `null` before it. */
  baseline: v.nullable(Baseline),
  /** The old links that the first run with links skipped. */
  linkBaseline: v.nullable(Baseline),
  /** The twts and links that a backfill took out of the baselines, see `backfillEntry`. */
  backfilled: Names,
  /** The private hosts that the guard allowed in the last run, `host:port`. Addresses that it refused then are of other hosts. */
  allowedHosts: v.array(v.string()),
});
export type LedgerNotes = v.InferOutput<typeof LedgerNotes>;

export interface StoredLedger extends LedgerNotes {
  done: readonly LedgerName[];
  unfinished: readonly UnfinishedMention[];
}

export interface LedgerState extends Omit<StoredLedger, "allowedHosts"> {
  baseline: Baseline;
  linkBaseline: Baseline;
}

/** Stands for the text of a mention that is gone. */
export const GONE_TEXT = "gone";

/** Stands for the text of a link, because a link is not sent again when its post changes. */
export const LINK_TEXT = "0".repeat(16);

/** How a mention ended, for its author. `withdrawn`: it is gone, and its receiver was told. */
export const OUTCOMES = [...ENDINGS, "waiting", "withdrawn"] as const;

const { timestamp, nick, target, isLink, network, endpoint, status, why } = FinishedRecord.entries;
const time = v.nullable(v.pipe(v.string(), v.isoTimestamp()));

/** An entry of the ledger for its author. Times are `YYYY-MM-DDThh:mm:ss.sssZ`. */
export const LedgerEntry = v.object({
  ...{ timestamp, nick, target, isLink, network, endpoint, status, why },
  /** `gone` for a mention that was removed, whether or not its receiver could be told. */
  kind: v.optional(v.literal("gone")),
  outcome: v.picklist(OUTCOMES),
  /** When it was finished; `null` while it waits. */
  at: time,
  /** Number of attempts and time of the next; `null` once finished. */
  attempts: v.nullable(v.number()),
  next: time,
});
export type LedgerEntry = v.InferOutput<typeof LedgerEntry>;

export const LedgerPage = v.object({
  mentions: v.array(LedgerEntry),
  /** The `after` of the next page; `null` on the last one. */
  next: v.nullable(v.string()),
});
export type LedgerPage = v.InferOutput<typeof LedgerPage>;

export const LedgerCounts = v.record(v.picklist(OUTCOMES), v.number());
export type LedgerCounts = v.InferOutput<typeof LedgerCounts>;

/** The last letter of a record's key. */
const LETTERS: Record<FinalOutcome, string> = { sent: "s", failed: "f", "not-asked": "r", "no-endpoint": "n" };
const RECORD =
  /\/(?<name>(?<kind>retry|done|gone)\/(?:(?<time>\d{8}t\d{6}z)-)?(?<pair>[0-9a-f]{32})(?:-(?<text>[0-9a-f]{16}))?(?:-(?<letter>[sfrn]))?)$/;

export interface LedgerName {
  key: string;
  /** The key without the folder of the feed. */
  name: string;
  kind: "retry" | "done" | "gone";
  pair: string;
  /** Of its twt; empty for a mention that waits. */
  instant: string;
  /** See {@link LiveMention}; empty for a mention that waits or is gone. */
  text: string;
  isLink: boolean;
  /** `null` for a mention that waits. */
  ending: FinalOutcome | null;
}

export function feedFolder(feedUrl: string): string {
  return `sent/${shortHash(feedUrl, 16)}`;
}

/** The key, without the folder, of a mention that needs no further attempt with its text, or is gone. */
export function toLedgerKey({ instant, pair, text }: LiveMention, ending: FinalOutcome): string {
  const time = instant.replace(/[-:]/g, "").toLowerCase();
  const [kind, version] = text === GONE_TEXT ? ["gone", ""] : ["done", `-${text}`];
  return `${kind}/${time}-${pair}${version}-${LETTERS[ending]}`;
}

/** Parses the key of any record of a mention. @returns none for another key */
export function parseLedgerKey(key: string): LedgerName[] {
  const { name, kind, time = "", pair, text = "", letter } = RECORD.exec(key)?.groups ?? {};
  if (name === undefined || pair === undefined) return [];
  const instant = time.replace(/^(....)(..)(..)t(..)(..)(..)z$/, "$1-$2-$3T$4:$5:$6Z");
  const ending = (Object.keys(LETTERS) as FinalOutcome[]).find((name) => LETTERS[name] === letter) ?? null;
  return [{ key, name, kind: kind as LedgerName["kind"], pair, instant, text, isLink: text === LINK_TEXT, ending }];
}
