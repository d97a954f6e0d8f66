// plugin/mentions/receive/event-log.ts: events in the store, one immutable record each.
import { randomBytes } from "node:crypto";
import type { Log } from "../../http/respond.js";
import type { Store } from "../../store/store.js";
import { mapInParallel } from "../concurrency.js";
import { idOf, type MentionEvent, parseEvent } from "./event.js";

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
  #count = 0;

  /** @param log - gets one line for each damaged event; it stays in the store and is skipped */
  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  /** The number of events at the last listing, plus those added since. */
  get count(): number {
    return this.#count;
  }

  /** Durable when it returns. */
  async add(event: MentionEvent): Promise<void> {
    const id = event.kind === "kept" ? idOf(event.mention) : event.id;
    const key = `${EVENTS}${event.at.replace(/[^0-9]/g, "")}-${id}-${randomBytes(8).toString("hex")}`;
    await this.#store.put(key, Buffer.from(JSON.stringify(event)), { isNew: true });
    this.#count += 1;
  }

  /** The keys of all events, oldest first. */
  async keys(): Promise<string[]> {
    const keys = (await this.#store.keys(EVENTS)).sort();
    this.#count = keys.length;
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
      this.#log(`A stored mention is damaged and was skipped: ${key}`);
    }
    return event;
  }
}
