// plugin/mentions/receive/event-log.ts: events in the store, one immutable record each.
import { randomBytes } from "node:crypto";
import { isAhead } from "../../clock.js";
import type { Log } from "../../http/respond.js";
import type { Store } from "../../store/store.js";
import { mapInParallel } from "../concurrency.js";
import { type MentionEvent, parseEvent, toMentionId } from "./event.js";

/** The keys of all events start with this. */
export const EVENTS = "mentions/events/";
const CONCURRENCY = 32;

interface FoundEvents {
  /** In the order of their keys. */
  events: Map<string, MentionEvent>;
  /** Whether an event was deleted between listing and reading. */
  isAnyGone: boolean;
}

export class EventLog {
  readonly #store: Store;
  readonly #log: Log;
  /** Keys of damaged events that were logged. */
  readonly #logged = new Set<string>();
  /** Etag of the snapshot to which `#known` belongs. */
  #snapshot: string | null = null;
  /** Events by key; `null` for a damaged one. */
  #known = new Map<string, MentionEvent | null>();
  /** The last listing, and the keys added since. */
  #keys: string[] = [];
  /** The time of the last event that this process added, in milliseconds. */
  #last = Number.NEGATIVE_INFINITY;

  /** @param log - gets one line for each damaged event; it stays in the store and is skipped */
  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  /** The number of events at the last listing, plus those added since. */
  get count(): number {
    return this.#keys.length;
  }

  /**
   * Stores an event, after all known events of its mention: the clock of the machine that stored those may be ahead. Durable
   * when it returns.
   *
   * @param event - its time is the earliest that it gets
   * @returns its time
   */
  async add(event: MentionEvent): Promise<string> {
    const id = event.kind === "kept" ? toMentionId(event.mention) : event.id;
    const time = this.#timeAfterKnown(Date.parse(event.at), id);
    this.#last = time;
    const at = new Date(time).toISOString();
    const key = `${EVENTS}${at.replace(/[^0-9]/g, "")}-${id}-${randomBytes(8).toString("hex")}`;
    await this.#store.put(key, Buffer.from(JSON.stringify({ ...event, at })), { isNew: true });
    this.#keys.push(key);
    return at;
  }

  /** @returns `time`, or the next millisecond after the events of this mention and the last event of this process */
  #timeAfterKnown(time: number, id: string): number {
    // A last event far ahead was stored before the clock was set back, and must not move all later ones.
    const earliest = isAhead(this.#last + 1, time, 0) ? this.#last + 1 : time;
    const ofMention = this.#keys.filter((key) => key.includes(`-${id}-`)).map(readTime);
    return Math.max(earliest, ...ofMention.map((known) => known + 1));
  }

  /** The keys of all events, oldest first. */
  async keys(): Promise<string[]> {
    const keys = (await this.#store.keys(EVENTS)).sort();
    this.#keys = [...keys];
    return keys;
  }

  /**
   * Reads events, each from the store once per snapshot.
   *
   * An event is deleted only after a snapshot that includes it was written, so an event in memory stays valid until the
   * snapshot changes. A listing may lag behind and name events that were folded long ago. After each new snapshot all
   * events are therefore read again, and missing ones do not count.
   *
   * @param keys - oldest first
   * @param snapshot - etag of the snapshot that was read before
   * @throws TwtxtError `store-failed`: an unread event is never skipped
   */
  async read(keys: readonly string[], snapshot: string | null): Promise<FoundEvents> {
    if (snapshot !== this.#snapshot) {
      this.#snapshot = snapshot;
      this.#known = new Map();
    }
    const known = this.#known;
    const missing = keys.filter((key) => !known.has(key));
    await mapInParallel(missing, CONCURRENCY, async (key) => {
      const event = await this.#readOne(key);
      if (event !== undefined) known.set(key, event);
    });
    const events = keys.flatMap((key) => {
      const event = known.get(key);
      return event ? [[key, event] as const] : [];
    });
    return { events: new Map(events), isAnyGone: missing.some((key) => !known.has(key)) };
  }

  async delete(keys: readonly string[]): Promise<void> {
    await mapInParallel(keys, CONCURRENCY, (key) => this.#store.delete(key));
  }

  /** @returns `null` for a damaged event, `undefined` for a missing one */
  async #readOne(key: string): Promise<MentionEvent | null | undefined> {
    const stored = await this.#store.get(key);
    if (!stored) return undefined;
    const event = parseEvent(key, stored.bytes);
    if (!event && !this.#logged.has(key)) {
      this.#logged.add(key);
      this.#log(`A stored mention is damaged and was skipped: ${key}`, { level: "error" });
    }
    return event;
  }
}

/** The time in the key of an event, in milliseconds since 1970; 0 for a key without one. */
function readTime(key: string): number {
  const digits = key.slice(EVENTS.length);
  const iso = digits.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d{3})-.*$/s, "$1-$2-$3T$4:$5:$6.$7Z");
  return Date.parse(iso) || 0;
}
