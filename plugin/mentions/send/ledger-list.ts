// plugin/mentions/send/ledger-list.ts: the ledger as its author sees it: what was sent, waits, failed or was withdrawn.
import { mapInParallel } from "../../concurrency.js";
import { TwtxtError } from "../../errors.js";
import { readJson } from "../../store/json.js";
import type { Store } from "../../store/store.js";
import {
  FinishedRecord,
  feedFolder,
  type LedgerCounts,
  type LedgerEntry,
  type LedgerName,
  type LedgerPage,
  parseLedgerKey,
  UnfinishedRecord,
} from "./ledger-records.js";

const READERS = 16;

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
      const { timestamp, nick, target, isLink, endpoint, status, why, attempts, next } = stored.value;
      const mention = { timestamp, nick, target, isLink, endpoint, status, why, attempts };
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
