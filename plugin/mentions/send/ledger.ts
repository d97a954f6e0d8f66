// plugin/mentions/send/ledger.ts: the mentions that were sent, so that none is sent twice.
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
/** Milliseconds before a store that does not answer is asked again: what was sent must be recorded. */
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

/** The record of a finished mention. */
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

/** A mention, whether its twt is still there or not. */
export interface KnownMention {
  mention: LiveMention;
  /** The source that was posted last time; `null` if none was. */
  source: string | null;
}

export interface LedgerOptions {
  store: Store;
  /** Where the feed is read; another feed in the same store has another ledger. */
  feedUrl: string;
  sleep(milliseconds: number): Promise<void>;
}

/**
 * The mentions that one feed has sent: one immutable record for each mention and text, and one that changes for each
 * unfinished mention. All methods throw TwtxtError `store-failed`.
 *
 * A record follows the receiver's answer, so a run that is killed between the two sends this mention again. The other
 * order would lose it, and receivers know a repeat.
 *
 * @see PROTOCOL 2.3
 */
export class MentionLedger {
  readonly #store: Store;
  readonly #folder: string;
  readonly #sleep: LedgerOptions["sleep"];

  constructor({ store, feedUrl, sleep }: LedgerOptions) {
    this.#store = store;
    this.#folder = `sent/${shortHash(feedUrl, 16)}`;
    this.#sleep = sleep;
  }

  /** Costs one list of keys, and one request for each unfinished mention. */
  async read(): Promise<Omit<Known, "baseline"> & { baseline: Baseline | null }> {
    const keys = await this.#store.keys(`${this.#folder}/`);
    return {
      done: keys.flatMap(doneOf),
      unfinished: await readUnfinished(this.#store, keys),
      baseline: await readBaseline(this.#store, `${this.#folder}/baseline`),
      backfilled: new Set((await readJson(this.#store, `${this.#folder}/backfilled`, Backfilled))?.value ?? []),
    };
  }

  /** @returns the baseline in force, which may be that of an earlier run */
  async writeBaseline({ pairs, before }: Baseline): Promise<Baseline> {
    const key = `${this.#folder}/baseline`;
    await this.#insist(() => writeJson(this.#store, key, { pairs: [...pairs], before }, { isNew: true }));
    const baseline = await readBaseline(this.#store, key);
    if (baseline) return baseline;
    throw new TwtxtError("store-failed", `${key} was written, and is not there.`);
  }

  /** All mentions, oldest twt first. Costs one request for each. */
  async list(): Promise<NotedMention[]> {
    const keys = await this.#store.keys(`${this.#folder}/`);
    const [done, unfinished] = await Promise.all([readDone(this.#store, keys), readUnfinished(this.#store, keys)]);
    const waiting = unfinished.map(({ timestamp, nick, target, endpoint, status, why, attempts, next }) => {
      const mention = { timestamp, nick, target, endpoint, status, why, attempts, next };
      return { ...mention, outcome: "waiting" as const, at: null };
    });
    return [...done, ...waiting].sort((a, b) => (a.timestamp < b.timestamp ? -1 : 1));
  }

  /** Takes twts out of the baseline, so that their mentions are sent by a later run if this one does not get to them. */
  async addBackfilled(timestamps: Iterable<string>): Promise<void> {
    const key = `${this.#folder}/backfilled`;
    await update(this.#store, key, Backfilled, (old) => [...new Set([...(old ?? []), ...timestamps])]);
  }

  /** The mention that a change is about. Reads a record if the mention is gone. */
  async mentionOf(change: Change): Promise<KnownMention> {
    if (change.kind !== "gone") return { mention: change.mention, source: change.unfinished?.source ?? null };
    const sent = change.done.find(({ ending }) => ending === "sent");
    const details = sent ? await readJson(this.#store, sent.key, Details) : null;
    const last = details?.value ?? change.unfinished;
    if (!last) throw new TwtxtError("store-failed", `${keysOf(change).join(", ")} vanished.`);
    const pair = sent?.pair ?? change.unfinished?.pair ?? "";
    const { timestamp, nick, target, source } = last;
    return { mention: { pair, timestamp, instant: change.instant, nick, target, text: GONE_TEXT }, source };
  }

  /** Records how a mention has ended with this text, and removes the records of earlier texts. */
  async finish(change: Change, ending: Ending, details: Details): Promise<void> {
    if (change.kind === "gone") return this.forget(keysOf(change));
    const { instant, pair, text } = change.mention;
    const key = `${this.#folder}/done/${compact(instant)}-${pair}-${text}-${LETTERS[ending]}`;
    await this.#insist(() => writeJson(this.#store, key, details, { isNew: true }));
    // The record of an earlier text that was sent stays until a later one is sent: its receiver still has it.
    const isOver = (record: DoneMention) => record.key !== key && (ending === "sent" || record.ending !== "sent");
    await this.forget(keysOf({ ...change, done: change.done.filter(isOver) }));
  }

  /** Records when to try again. */
  async postpone({ mention, source }: KnownMention, { unfinished }: Change, attempt: Attempt): Promise<void> {
    const key = `${this.#folder}/retry/${mention.pair}`;
    const condition = unfinished ? { etag: unfinished.etag } : { isNew: true as const };
    // If another run was here first, its record is as good as this one.
    await this.#insist(() => writeJson(this.#store, key, { ...mention, source, ...attempt }, condition));
  }

  async forget(keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.#insist(() => this.#store.delete(key));
  }

  /** A store that does not answer is asked again after a pause. */
  async #insist<T>(write: () => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await write();
      } catch (error) {
        const pause = PAUSES[tries];
        if (!(error instanceof TwtxtError) || error.code !== "store-failed" || pause === undefined) throw error;
        await this.#sleep(pause);
      }
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
