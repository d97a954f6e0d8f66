// plugin/mentions/send/ledger.ts: the ledger of sent mentions, which prevents sending one twice, and its list for the author.
import * as v from "valibot";
import { mapInParallel } from "../../concurrency.js";
import { TwtxtError } from "../../errors.js";
import { compareTexts } from "../../groups.js";
import { ifUnchanged, parseJson, readJson, updateValue, writeJson } from "../../store/json.js";
import { retry, type Sleep } from "../../store/retry.js";
import type { Store } from "../../store/store.js";
import { type Change, listKeys } from "./changes.js";
import {
  type FinalOutcome,
  FinishedRecord,
  feedFolder,
  GONE_TEXT,
  type LedgerCounts,
  type LedgerEntry,
  type LedgerName,
  LedgerNotes,
  type LedgerPage,
  parseLedgerKey,
  type StoredLedger,
  toLedgerKey,
  type UnfinishedMention,
  UnfinishedRecord,
} from "./ledger-records.js";
import { LiveMention } from "./live-feed.js";

const READERS = 16;
/** Pauses before each retry of a failed write, in milliseconds: a sent mention must be recorded. */
const RETRY_DELAYS = [250, 1000, 3000];
const NO_NOTES: LedgerNotes = { baseline: null, linkBaseline: null, backfilled: new Set(), allowedHosts: [] };

/** A mention, in the feed or gone, with the source that its receiver knows. */
export interface MentionSource {
  mention: LiveMention;
  /** The source that was posted last; `null` for none. */
  source: string | null;
}

export interface LedgerOptions {
  store: Store;
  feedUrl: string;
  /** The network whose copies it records; default: mentions. */
  part?: string | undefined;
  sleep: Sleep;
}

/**
 * The mentions that one feed has sent: an immutable record for each mention and text, and a mutable one for each
 * unfinished mention. All methods throw TwtxtError `store-failed`.
 *
 * A record is written after the receiver's answer, so a run that is killed in between sends the mention again. The
 * opposite order would lose it, and receivers ignore repeats.
 *
 * @see PROTOCOL 2.3
 */
export class MentionLedger {
  readonly #folder: string;

  constructor(private readonly options: LedgerOptions) {
    const { feedUrl, part } = options;
    this.#folder = feedFolder(feedUrl) + (part === undefined ? "" : `/${part}`);
  }

  /** Costs one listing, one request for the notes, and one for each unfinished mention. */
  async read(): Promise<StoredLedger> {
    const { store } = this.options;
    const all = (await store.keys(`${this.#folder}/`)).flatMap(parseLedgerKey);
    // Without those of networks, which are below the folder of mentions.
    const names = all.filter(({ key, name }) => key === `${this.#folder}/${name}`);
    return {
      ...((await readJson(store, this.#notesKey, LedgerNotes))?.value ?? NO_NOTES),
      done: names.filter(({ kind, ending }) => kind === "done" && ending !== null),
      unfinished: await this.#readUnfinished(names.filter(({ kind }) => kind === "retry")),
    };
  }

  async note(notes: Partial<LedgerNotes>): Promise<void> {
    const key = this.#notesKey;
    const format = {
      decode: (bytes: Uint8Array) => parseJson(key, bytes, LedgerNotes),
      encode: (value: LedgerNotes) =>
        Buffer.from(JSON.stringify(value, (_, each) => (each instanceof Set ? [...each] : each))),
    };
    const change = (old: LedgerNotes | null) => ({ ...NO_NOTES, ...old, ...notes });
    await this.#writeWithRetry(() => updateValue(this.options.store, key, format, change));
  }

  /** Finds the mention of a change. Reads a record if the mention is gone. */
  async readMention(change: Change): Promise<MentionSource> {
    if (change.kind !== "gone") return { mention: change.mention, source: change.unfinished?.source ?? null };
    const sent = change.done.find(({ ending }) => ending === "sent");
    const details = sent && (await readJson(this.options.store, sent.key, FinishedRecord));
    const last = details?.value ?? change.unfinished;
    if (!last) throw new TwtxtError("store-failed", `${listKeys(change).join(", ")} is missing.`);
    const mention = v.parse(LiveMention, { ...last, text: GONE_TEXT, subject: null });
    return { mention, source: last.source };
  }

  /** Records the outcome of a mention with this text, and removes the records of earlier texts. */
  async finish(change: Change, ending: FinalOutcome, record: FinishedRecord): Promise<void> {
    const key = `${this.#folder}/${toLedgerKey(record, ending)}`;
    const isGone = change.kind === "gone";
    const condition = isGone ? undefined : ({ isNew: true } as const);
    await this.#writeWithRetry(() => writeJson(this.options.store, key, record, condition));
    // The record of an earlier text that was sent stays until a later one is sent, since its receiver still has it.
    const isOver = (other: LedgerName) =>
      isGone || (other.key !== key && (ending === "sent" || other.ending !== "sent"));
    await this.forget(listKeys({ ...change, done: change.done.filter(isOver) }));
  }

  async postpone(record: UnfinishedRecord, { unfinished }: Change): Promise<void> {
    const key = `${this.#folder}/retry/${record.pair}`;
    // If another run wrote a record first, that one is as good.
    await this.#writeWithRetry(() => writeJson(this.options.store, key, record, ifUnchanged(unfinished)));
  }

  async forget(keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.#writeWithRetry(() => this.options.store.delete(key));
  }

  get #notesKey(): string {
    return `${this.#folder}/notes`;
  }

  async #readUnfinished(names: readonly LedgerName[]): Promise<UnfinishedMention[]> {
    const found = await mapInParallel(names, READERS, async ({ key }) => {
      const stored = await readJson(this.options.store, key, UnfinishedRecord);
      return stored ? [{ ...stored.value, key, etag: stored.etag }] : [];
    });
    return found.flat();
  }

  #writeWithRetry<T>(write: () => Promise<T>): Promise<T> {
    const mayRepeat = (error: unknown) => error instanceof TwtxtError && error.code === "store-failed";
    return retry(write, { pauses: RETRY_DELAYS, mayRepeat, sleep: this.options.sleep });
  }
}

/** Reads the ledger of one feed for its author. All methods throw TwtxtError `store-failed`. */
export class LedgerList {
  constructor(
    private readonly store: Store,
    private readonly feedUrl: string,
  ) {}

  /** The number of mentions by outcome. Costs one listing. */
  async count(): Promise<LedgerCounts> {
    const counts: LedgerCounts = {};
    for (const name of await this.#names()) counts[toOutcome(name)] = (counts[toOutcome(name)] ?? 0) + 1;
    return counts;
  }

  /**
   * A page of the mentions: first those that wait, then the others, the newest twt first. Costs one listing, and one request
   * for each mention.
   *
   * @param after - the `next` of the page before; `null` for the first page
   * @throws TwtxtError also `bad-request` for another `after`
   */
  async page({ after, limit }: { after: string | null; limit: number }): Promise<LedgerPage> {
    const [start] = after === null ? [] : parseLedgerKey(`/${after}`);
    if (after !== null && !start) throw new TwtxtError("bad-request", '"after" must be the "next" of a page.');
    const rest = (await this.#names()).filter((name) => !start || compareNames(start, name) < 0).sort(compareNames);
    const page = rest.slice(0, limit);
    const mentions = await mapInParallel(page, READERS, (name) => this.#read(name));
    return { mentions: mentions.flat(), next: rest.length > limit ? (page.at(-1)?.name ?? null) : null };
  }

  /** A mention that was withdrawn and then told again is listed once, as it is now. */
  async #names(): Promise<LedgerName[]> {
    const names = (await this.store.keys(`${feedFolder(this.feedUrl)}/`)).flatMap(parseLedgerKey);
    const present = new Set(names.flatMap(({ kind, pair }) => (kind === "gone" ? [] : [pair])));
    return names.filter(({ kind, pair }) => kind !== "gone" || !present.has(pair));
  }

  /** @returns nothing if the record was deleted meanwhile */
  async #read(name: LedgerName): Promise<LedgerEntry[]> {
    const stored = await readJson(this.store, name.key, v.union([UnfinishedRecord, FinishedRecord]));
    if (!stored) return [];
    const { timestamp, nick, target, isLink, network, endpoint, status, why, ...times } = stored.value;
    const [at, attempts, next] = "at" in times ? [times.at, null, null] : [null, times.attempts, times.next];
    return [
      {
        ...{ timestamp, nick, target, isLink, network, endpoint, status, why, attempts },
        ...(name.kind === "gone" && { kind: name.kind }),
        outcome: toOutcome(name),
        at: toTime(at),
        next: toTime(next),
      },
    ];
  }
}

function toTime(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}

function toOutcome({ kind, ending }: LedgerName): LedgerEntry["outcome"] {
  return kind === "gone" && ending === "sent" ? "withdrawn" : (ending ?? "waiting");
}

/** Those that wait first, by their pair; the others by the time of the twt, the newest first. */
function compareNames(a: LedgerName, b: LedgerName): number {
  const isWaiting = (name: LedgerName) => Number(name.kind === "retry");
  const sorted = ({ name }: LedgerName) => name.slice(name.indexOf("/"));
  return isWaiting(b) - isWaiting(a) || compareTexts(sorted(b), sorted(a));
}
