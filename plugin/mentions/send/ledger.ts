// plugin/mentions/send/ledger.ts: which mentions were told, so that nobody is told twice.
import PQueue from "p-queue";
import * as v from "valibot";
import { TwtxtError } from "../../errors.js";
import { readJson, update, writeJson } from "../../store/json.js";
import type { Store } from "../../store/store.js";
import {
  type Baseline,
  type Change,
  type DoneMention,
  type Ending,
  GONE_TEXT,
  type Known,
  keysOf,
  type UnfinishedMention,
} from "./changes.js";
import { type LiveMention, shortHash } from "./live-mentions.js";

/** The last letter of a record's key. */
const LETTERS: Record<Ending, string> = { sent: "s", failed: "f", "not-asked": "r", "no-endpoint": "n" };
const DONE_KEY = /\/done\/(\d{4})(\d\d)(\d\d)t(\d\d)(\d\d)(\d\d)z-([0-9a-f]{32})-([0-9a-f]{16})-([sfrn])$/;
const READERS = 16;
/** A storage that does not answer is asked again after so many milliseconds: what was told must be written down. */
const PAUSES = [250, 1000, 3000];

const Details = v.object({
  timestamp: v.string(),
  nick: v.nullable(v.string()),
  target: v.string(),
  endpoint: v.nullable(v.string()),
  source: v.nullable(v.string()),
  status: v.nullable(v.number()),
  why: v.nullable(v.string()),
  /** Milliseconds since 1970. */
  at: v.number(),
});

const Unfinished = v.object({
  pair: v.string(),
  timestamp: v.string(),
  instant: v.string(),
  nick: v.nullable(v.string()),
  target: v.string(),
  text: v.string(),
  attempts: v.number(),
  first: v.number(),
  next: v.number(),
  source: v.nullable(v.string()),
  /** How the last attempt failed; records of earlier versions do not say. */
  endpoint: v.optional(v.nullable(v.string()), null),
  status: v.optional(v.nullable(v.number()), null),
  why: v.optional(v.nullable(v.string()), null),
});

const BaselineRecord = v.object({ pairs: v.array(v.string()), before: v.nullable(v.string()) });
const Backfilled = v.array(v.string());

/** What a record says of a mention that is done with. */
export type Details = v.InferOutput<typeof Details>;

/** A mention as the ledger knows it, for its author to read. Times are milliseconds since 1970. */
export interface NotedMention extends Pick<Details, "timestamp" | "nick" | "target" | "endpoint" | "status" | "why"> {
  outcome: Ending | "waiting";
  /** When it ended; `null` for one that waits. */
  at: number | null;
  /** How often it was tried, and when it is tried again; `null` for one that has ended. */
  attempts: number | null;
  next: number | null;
}

/** What an attempt came to that is followed by another one. */
export type Attempt = Pick<UnfinishedMention, "attempts" | "first" | "next"> &
  Pick<Details, "endpoint" | "status" | "why">;

/** Who is told of what, whether it still stands in a twt or not. */
export interface Told {
  mention: LiveMention;
  /** What was posted as its source the last time; `null` where nothing was. */
  source: string | null;
}

/** What was told, one immutable record for each mention and text, and one that changes for each that is unfinished. */
export interface Ledger {
  /** Costs one listing of keys, and one request for each mention that is unfinished. */
  read(): Promise<Omit<Known, "baseline"> & { baseline: Baseline | null }>;
  /** @returns the baseline that is in force, which may be that of an earlier run */
  writeBaseline(baseline: Baseline): Promise<Baseline>;
  /** All mentions, oldest twt first. Costs one request for each. */
  list(): Promise<NotedMention[]>;
  /** Takes twts out of the baseline, so that they stay to be told where this run does not get to them. */
  addBackfilled(timestamps: Iterable<string>): Promise<void>;
  /** Whom a change is about. Reads a record where the mention is gone. */
  told(change: Change): Promise<Told>;
  /** Notes how a mention has ended with this text; what was noted of earlier texts goes. */
  finish(change: Change, ending: Ending, details: Details): Promise<void>;
  /** Notes when to try again. */
  postpone(told: Told, change: Change, attempt: Attempt): Promise<void>;
  forget(keys: readonly string[]): Promise<void>;
}

/**
 * The ledger of one feed.
 *
 * Confirmed means written down: the record follows the receiver's answer, so that a run that is killed between the two
 * tells this one mention again. The other order would lose it, and receivers know a repeat.
 *
 * @param feedUrl - where the feed is read; another feed in the same store has another ledger
 * @returns functions that throw TwtxtError `store-failed`
 * @see PROTOCOL 2.3
 */
export function ledgerOf({ store, feedUrl, sleep }: LedgerOptions): Ledger {
  const folder = `sent/${shortHash(feedUrl, 16)}`;
  const steadily = <T>(write: () => Promise<T>) => insist(write, sleep);
  const forget = async (keys: readonly string[]) => {
    for (const key of keys) await steadily(() => store.delete(key));
  };

  return {
    async read() {
      const keys = await store.keys(`${folder}/`);
      return {
        done: keys.flatMap(doneOf),
        unfinished: await readUnfinished(store, keys),
        baseline: await readBaseline(store, `${folder}/baseline`),
        backfilled: new Set((await readJson(store, `${folder}/backfilled`, Backfilled))?.value ?? []),
      };
    },

    async writeBaseline({ pairs, before }) {
      const key = `${folder}/baseline`;
      await steadily(() => writeJson(store, key, { pairs: [...pairs], before }, { isNew: true }));
      const baseline = await readBaseline(store, key);
      if (baseline) return baseline;
      throw new TwtxtError("store-failed", `${key} was written, and is not there.`);
    },

    async list() {
      const keys = await store.keys(`${folder}/`);
      const [done, unfinished] = await Promise.all([readDone(store, keys), readUnfinished(store, keys)]);
      const waiting = unfinished.map(({ timestamp, nick, target, endpoint, status, why, attempts, next }) => {
        const mention = { timestamp, nick, target, endpoint, status, why, attempts, next };
        return { ...mention, outcome: "waiting" as const, at: null };
      });
      return [...done, ...waiting].sort((a, b) => (a.timestamp < b.timestamp ? -1 : 1));
    },

    async addBackfilled(timestamps) {
      await update(store, `${folder}/backfilled`, Backfilled, (old) => [...new Set([...(old ?? []), ...timestamps])]);
    },

    async told(change) {
      if (change.kind !== "gone") return { mention: change.mention, source: change.unfinished?.source ?? null };
      const sent = change.done.find(({ ending }) => ending === "sent");
      const details = sent ? await readJson(store, sent.key, Details) : null;
      const last = details?.value ?? change.unfinished;
      if (!last) throw new TwtxtError("store-failed", `${keysOf(change).join(", ")} vanished.`);
      const pair = sent?.pair ?? change.unfinished?.pair ?? "";
      const { timestamp, nick, target, source } = last;
      return { mention: { pair, timestamp, instant: change.instant, nick, target, text: GONE_TEXT }, source };
    },

    async finish(change, ending, details) {
      if (change.kind === "gone") return forget(keysOf(change));
      const { instant, pair, text } = change.mention;
      const key = `${folder}/done/${compact(instant)}-${pair}-${text}-${LETTERS[ending]}`;
      await steadily(() => writeJson(store, key, details, { isNew: true }));
      // An earlier text that was told stays noted until a later one is: its receiver still has it.
      const isOver = (record: DoneMention) => record.key !== key && (ending === "sent" || record.ending !== "sent");
      await forget(keysOf({ ...change, done: change.done.filter(isOver) }));
    },

    async postpone({ mention, source }, { unfinished }, attempt) {
      const key = `${folder}/retry/${mention.pair}`;
      const condition = unfinished ? { etag: unfinished.etag } : { isNew: true as const };
      // Where another run was here first, its note is as good as this one.
      await steadily(() => writeJson(store, key, { ...mention, source, ...attempt }, condition));
    },

    forget,
  };
}

export interface LedgerOptions {
  store: Store;
  feedUrl: string;
  sleep(milliseconds: number): Promise<void>;
}

async function insist<T>(write: () => Promise<T>, sleep: LedgerOptions["sleep"]): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await write();
    } catch (error) {
      const pause = PAUSES[tries];
      if (!(error instanceof TwtxtError) || error.code !== "store-failed" || pause === undefined) throw error;
      await sleep(pause);
    }
  }
}

function doneOf(key: string): DoneMention[] {
  const match = DONE_KEY.exec(key);
  if (!match) return [];
  const [, year, month, day, hour, minute, second, pair = "", text = "", letter] = match;
  const instant = `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
  const ending = (Object.keys(LETTERS) as Ending[]).find((name) => LETTERS[name] === letter);
  return ending ? [{ key, pair, instant, text, ending }] : [];
}

function compact(instant: string): string {
  return instant.replace(/[-:]/g, "").toLowerCase();
}

type UnfinishedRecord = UnfinishedMention & v.InferOutput<typeof Unfinished>;

function readUnfinished(store: Store, keys: readonly string[]): Promise<UnfinishedRecord[]> {
  const ofUnfinished = keys.filter((key) => key.includes("/retry/"));
  return readEach(ofUnfinished, async (key) => {
    const stored = await readJson(store, key, Unfinished);
    return stored ? [{ ...stored.value, key, etag: stored.etag }] : [];
  });
}

function readDone(store: Store, keys: readonly string[]): Promise<NotedMention[]> {
  return readEach(keys.flatMap(doneOf), async ({ key, ending }) => {
    const stored = await readJson(store, key, Details);
    if (!stored) return [];
    const { source, ...details } = stored.value;
    return [{ ...details, outcome: ending, attempts: null, next: null }];
  });
}

async function readEach<T, U>(items: readonly T[], read: (item: T) => Promise<U[]>): Promise<U[]> {
  const readers = new PQueue({ concurrency: READERS });
  const found = await readers.addAll(items.map((item) => () => read(item)));
  return found.flat();
}

async function readBaseline(store: Store, key: string): Promise<Baseline | null> {
  const stored = await readJson(store, key, BaselineRecord);
  return stored && { ...stored.value, pairs: new Set(stored.value.pairs) };
}
