// plugin/mentions/send/ledger.ts: the ledger of sent mentions, which prevents sending one twice, and its list for the author.
import { mapInParallel } from "../../concurrency.js";
import { TwtxtError } from "../../errors.js";
import { ifUnchanged, readJson, update, writeJson } from "../../store/json.js";
import { retry, type Sleep } from "../../store/retry.js";
import type { Store } from "../../store/store.js";
import { type Change, listKeys } from "./changes.js";
import {
  AllowedHosts,
  Backfilled,
  type Baseline,
  BaselineRecord,
  doneKey,
  type FinalOutcome,
  FinishedRecord,
  feedFolder,
  GONE_TEXT,
  goneKey,
  type LedgerCounts,
  type LedgerEntry,
  type LedgerName,
  type LedgerPage,
  type LedgerState,
  parseLedgerKey,
  type UnfinishedMention,
  UnfinishedRecord,
} from "./ledger-records.js";
import type { LiveMention } from "./live-feed.js";

const READERS = 16;
/** Pauses before each retry of a failed write, in milliseconds: a sent mention must be recorded. */
const RETRY_DELAYS = [250, 1000, 3000];

type FailedAttempt = Pick<UnfinishedMention, "attempts" | "first" | "next" | "endpoint" | "status" | "why">;

/** A mention, in the feed or gone, with the source that its receiver knows. */
export interface MentionSource {
  mention: LiveMention;
  /** The source that was posted last; `null` for none. */
  source: string | null;
}

/** The ledger as stored. The baselines are `null` before the first run, and before the first run with links. */
export type StoredLedger = Omit<LedgerState, "baseline" | "linkBaseline"> &
  Record<"baseline" | "linkBaseline", Baseline | null> & {
    /** The private hosts that the guard allowed in the last run. Addresses that it refused then are of other hosts. */
    allowedHosts: readonly string[];
  };

type BaselineName = "baseline" | "links";

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
  readonly #store: Store;
  readonly #folder: string;
  readonly #sleep: Sleep;

  constructor({ store, feedUrl, part, sleep }: LedgerOptions) {
    this.#store = store;
    this.#folder = feedFolder(feedUrl) + (part === undefined ? "" : `/${part}`);
    this.#sleep = sleep;
  }

  /** Costs one listing and one request for each unfinished mention. */
  async read(): Promise<StoredLedger> {
    const keys = await this.#store.keys(`${this.#folder}/`);
    const hasAllowed = keys.includes(this.#allowedKey);
    return {
      done: this.#parseOwn(keys).filter(({ kind, ending }) => kind === "done" && ending !== null),
      unfinished: await this.#readUnfinished(keys),
      baseline: await this.#readBaseline("baseline"),
      linkBaseline: keys.includes(`${this.#folder}/links`) ? await this.#readBaseline("links") : null,
      allowedHosts: hasAllowed ? ((await readJson(this.#store, this.#allowedKey, AllowedHosts))?.value ?? []) : [],
      backfilled: new Set((await readJson(this.#store, `${this.#folder}/backfilled`, Backfilled))?.value ?? []),
    };
  }

  /**
   * Stores a baseline, unless an earlier run has stored one.
   *
   * @param name - `baseline` for mentions, `links` for links
   * @returns the stored baseline
   */
  async writeBaseline(name: BaselineName, { pairs, before }: Baseline): Promise<Baseline> {
    const record = { pairs: [...pairs], before };
    await this.#writeWithRetry(() => writeJson(this.#store, `${this.#folder}/${name}`, record, { isNew: true }));
    const baseline = await this.#readBaseline(name);
    if (baseline) return baseline;
    throw new TwtxtError("store-failed", `${this.#folder}/${name} is missing although it was just written.`);
  }

  /** Makes the next run with links skip all links that exist by then. */
  async forgetLinkBaseline(): Promise<void> {
    await this.forget([`${this.#folder}/links`]);
  }

  async noteAllowedHosts(hosts: readonly string[]): Promise<void> {
    await this.#writeWithRetry(() => writeJson(this.#store, this.#allowedKey, [...hosts]));
  }

  /** Takes twts or links out of the baselines, so that this run or a later one sends them. @see backfillEntry */
  async addBackfilled(entries: Iterable<string>): Promise<void> {
    const key = `${this.#folder}/backfilled`;
    await update(this.#store, key, Backfilled, (old) => [...new Set([...(old ?? []), ...entries])]);
  }

  /** Finds the mention of a change. Reads a record if the mention is gone. */
  async readMention(change: Change): Promise<MentionSource> {
    if (change.kind !== "gone") return { mention: change.mention, source: change.unfinished?.source ?? null };
    const sent = change.done.find(({ ending }) => ending === "sent");
    const details = sent ? await readJson(this.#store, sent.key, FinishedRecord) : null;
    const last = details?.value ?? change.unfinished;
    if (!last) throw new TwtxtError("store-failed", `${listKeys(change).join(", ")} is missing.`);
    const pair = sent?.pair ?? change.unfinished?.pair ?? "";
    const { timestamp, nick, target, isLink, network, source } = last;
    const mention = {
      pair,
      timestamp,
      instant: change.instant,
      nick,
      target,
      text: GONE_TEXT,
      subject: null,
      isLink,
      network,
    };
    return { mention, source };
  }

  /** Records the outcome of a mention with this text, and removes the records of earlier texts. */
  async finish(change: Change, ending: FinalOutcome, details: FinishedRecord): Promise<void> {
    if (change.kind === "gone") return this.#finishGone(change, ending, details);
    const key = doneKey(this.#folder, change.mention, ending);
    await this.#writeWithRetry(() => writeJson(this.#store, key, details, { isNew: true }));
    // The record of an earlier text that was sent stays until a later one is sent, since its receiver still has it.
    const isOver = (record: LedgerName) => record.key !== key && (ending === "sent" || record.ending !== "sent");
    await this.forget(listKeys({ ...change, done: change.done.filter(isOver) }));
  }

  /** Keeps a record for the author, which no comparison with the feed reads. */
  async #finishGone(change: Change, ending: FinalOutcome, details: FinishedRecord): Promise<void> {
    const pair = change.done[0]?.pair ?? change.unfinished?.pair ?? "";
    const key = goneKey(this.#folder, { instant: change.instant, pair }, ending);
    await this.#writeWithRetry(() => writeJson(this.#store, key, details));
    await this.forget(listKeys(change));
  }

  async postpone({ mention, source }: MentionSource, { unfinished }: Change, attempt: FailedAttempt): Promise<void> {
    const key = `${this.#folder}/retry/${mention.pair}`;
    const condition = ifUnchanged(unfinished);
    // If another run wrote a record first, that one is as good.
    await this.#writeWithRetry(() => writeJson(this.#store, key, { ...mention, source, ...attempt }, condition));
  }

  async forget(keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.#writeWithRetry(() => this.#store.delete(key));
  }

  /** Without those of networks, which are below the folder of mentions. */
  #parseOwn(keys: readonly string[]): LedgerName[] {
    return keys.flatMap(parseLedgerKey).filter(({ key, name }) => key === `${this.#folder}/${name}`);
  }

  get #allowedKey(): string {
    return `${this.#folder}/allowed`;
  }

  async #readUnfinished(keys: readonly string[]): Promise<UnfinishedMention[]> {
    const ofUnfinished = this.#parseOwn(keys).filter(({ kind }) => kind === "retry");
    const found = await mapInParallel(ofUnfinished, READERS, async ({ key }) => {
      const stored = await readJson(this.#store, key, UnfinishedRecord);
      return stored ? [{ ...stored.value, key, etag: stored.etag }] : [];
    });
    return found.flat();
  }

  async #readBaseline(name: BaselineName): Promise<Baseline | null> {
    const stored = await readJson(this.#store, `${this.#folder}/${name}`, BaselineRecord);
    return stored && { ...stored.value, pairs: new Set(stored.value.pairs) };
  }

  #writeWithRetry<T>(write: () => Promise<T>): Promise<T> {
    const mayRepeat = (error: unknown) => error instanceof TwtxtError && error.code === "store-failed";
    return retry(write, { pauses: RETRY_DELAYS, mayRepeat, sleep: this.#sleep });
  }
}

/** Reads the ledger of one feed for its author. All methods throw TwtxtError `store-failed`. */
export class LedgerList {
  readonly #store: Store;
  readonly #folder: string;

  constructor(store: Store, feedUrl: string) {
    this.#store = store;
    this.#folder = feedFolder(feedUrl);
  }

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
    const names = (await this.#store.keys(`${this.#folder}/`)).flatMap(parseLedgerKey);
    const present = new Set(names.flatMap(({ kind, pair }) => (kind === "gone" ? [] : [pair])));
    return names.filter(({ kind, pair }) => kind !== "gone" || !present.has(pair));
  }

  /** @returns nothing if the record was deleted meanwhile */
  async #read(name: LedgerName): Promise<LedgerEntry[]> {
    const outcome = toOutcome(name);
    if (name.kind === "retry") {
      const stored = await readJson(this.#store, name.key, UnfinishedRecord);
      if (!stored) return [];
      const { timestamp, nick, target, isLink, network, endpoint, status, why, attempts, next } = stored.value;
      const mention = { timestamp, nick, target, isLink, network, endpoint, status, why, attempts };
      return [{ ...mention, outcome: "waiting", at: null, next: new Date(next).toISOString() }];
    }
    const stored = await readJson(this.#store, name.key, FinishedRecord);
    if (!stored) return [];
    const { source, at, ...details } = stored.value;
    const finished = { ...details, outcome, at: new Date(at).toISOString(), attempts: null, next: null };
    return [name.kind === "gone" ? { ...finished, kind: "gone" } : finished];
  }
}

function toOutcome({ kind, ending }: LedgerName): LedgerEntry["outcome"] {
  return kind === "gone" && ending === "sent" ? "withdrawn" : (ending ?? "waiting");
}

/** Those that wait first, by their pair; the others by the time of the twt, the newest first. */
function compareNames(a: LedgerName, b: LedgerName): number {
  const isWaiting = (name: LedgerName) => Number(name.kind === "retry");
  const sorted = ({ name }: LedgerName) => name.slice(name.indexOf("/"));
  return isWaiting(b) - isWaiting(a) || (sorted(a) > sorted(b) ? -1 : sorted(a) < sorted(b) ? 1 : 0);
}
