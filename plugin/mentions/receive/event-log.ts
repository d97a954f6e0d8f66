// plugin/mentions/receive/event-log.ts: events in the store, one immutable record each.
//
// Beside them is a mark, which each compaction replaces, so that a listing shows whether the snapshot was replaced.
import { randomUUID } from "node:crypto";
import { isAhead } from "../../clock.js";
import { mapInParallel } from "../../concurrency.js";
import type { Log } from "../../http/respond.js";
import type { Store } from "../../store/store.js";
import { type MentionEvent, parseEvent, toMentionId } from "./event.js";

export const EVENTS = "mentions/events/";
/** Sorts after the events, so that the pages of a listing end with it. */
const MARK = `${EVENTS}snapshot-`;
const CONCURRENCY = 32;

interface FoundEvents {
  /** By key. */
  events: Map<string, MentionEvent>;
  /** Whether an event was deleted between listing and reading. */
  isAnyGone: boolean;
}

export class EventLog {
  readonly #logged = new Set<string>();
  /** Events since the snapshot by key; `null` for a damaged or missing one. */
  #known = new Map<string, MentionEvent | null>();
  /** The last listing of events and marks, and the events added since. */
  #keys = new Set<string>();
  #marks = "";
  /** Whether the snapshot may have been replaced since it was read. */
  #mayBeReplaced = true;
  /** The events added since the last listing began. */
  #added = new Set<string>();
  /** The time of the last event that this process added, in milliseconds. */
  #last = Number.NEGATIVE_INFINITY;

  /** @param log - gets one line for each damaged event; it stays in the store and is skipped */
  constructor(
    private readonly store: Store,
    private readonly log: Log,
  ) {}

  /** The number of events at the last listing, plus those added since. */
  get count(): number {
    return this.#keys.size;
  }

  /**
   * Stores an event, after all known events of its mention: the clock of the machine that stored those may be ahead. Durable
   * when it returns.
   *
   * @param given - its time is the earliest that it gets
   * @returns the event with its time
   */
  async add(given: MentionEvent): Promise<{ key: string; event: MentionEvent }> {
    const id = given.kind === "kept" ? toMentionId(given.mention) : given.id;
    const time = this.#timeAfterKnown(Date.parse(given.at), id);
    this.#last = time;
    const event = { ...given, at: new Date(time).toISOString() };
    const key = `${EVENTS}${event.at.replace(/[^0-9]/g, "")}-${id}-${randomUUID().slice(-12)}`;
    await this.store.put(key, Buffer.from(JSON.stringify(event)), { isNew: true });
    this.#keys.add(key);
    this.#added.add(key);
    this.#known.set(key, event);
    return { key, event };
  }

  /** @returns `time`, or the next millisecond after the events of this mention and the last event of this process */
  #timeAfterKnown(time: number, id: string): number {
    // A last event far ahead was stored before the clock was set back, and must not move all later ones.
    const earliest = isAhead(this.#last + 1, time, 0) ? this.#last + 1 : time;
    const ofMention = [...this.#keys].filter((key) => key.includes(id)).map(readTime);
    return Math.max(earliest, ...ofMention.map((known) => known + 1));
  }

  /** Lists all events. @returns whether the snapshot may have been replaced since {@link confirmSnapshot} */
  async list(): Promise<boolean> {
    const before = this.#keys;
    this.#added = new Set();
    const listed = await this.store.keys(EVENTS);
    const marks = listed.filter(isMark).sort().join();
    const keys = new Set([...listed.filter((key) => !isMark(key)), ...this.#added]);
    const isAnyGone = [...before].some((key) => !keys.has(key));
    if (isAnyGone || marks !== this.#marks) this.#mayBeReplaced = true;
    this.#marks = marks;
    this.#keys = keys;
    return this.#mayBeReplaced;
  }

  /** Call it when the snapshot of the last listing was read. */
  confirmSnapshot(): void {
    this.#mayBeReplaced = false;
  }

  /** Call it before a read that must have the latest snapshot. */
  expectSnapshot(): void {
    this.#mayBeReplaced = true;
  }

  /** Call it when the snapshot was replaced, before its events are deleted. */
  async markSnapshot(): Promise<void> {
    const former = (await this.store.keys(MARK)).filter(isMark);
    await this.store.put(MARK + randomUUID().slice(-12), new Uint8Array());
    await this.delete(former);
  }

  /**
   * Reads events of the last listing, each from the store once per snapshot.
   *
   * An event is deleted only after a snapshot that includes it was written, so an event in memory stays valid until the
   * snapshot changes. A listing may lag behind and name events that were folded long ago. After each new snapshot the known
   * events are therefore read again, and missing ones do not count.
   *
   * @param isWanted - whether to read the event of a key
   * @returns the events that were not known; of a new snapshot, all that were known, too
   * @throws TwtxtError `store-failed`: an unread event is never skipped
   */
  async read(
    isWanted: (key: string) => boolean,
    { folded, isNew }: { folded: ReadonlySet<string>; isNew: boolean },
  ): Promise<FoundEvents> {
    const before = this.#known;
    const found = new Map<string, MentionEvent | null>();
    const isMissing = (key: string) => (isNew || !before.has(key)) && !folded.has(key) && !found.has(key);
    let isAnyGone = false;
    for (;;) {
      const missing = [...this.#keys].filter((key) => isMissing(key) && (isWanted(key) || before.has(key)));
      if (missing.length === 0) break;
      await mapInParallel(missing, CONCURRENCY, async (key) => {
        const event = await this.#readOne(key);
        if (event === undefined) isAnyGone = true;
        found.set(key, event ?? null);
      });
    }
    for (const key of folded) this.#keys.delete(key);
    if (isNew) this.#known = found;
    else for (const [key, event] of found) before.set(key, event);
    return {
      events: new Map([...found].filter((item): item is [string, MentionEvent] => item[1] !== null)),
      isAnyGone,
    };
  }

  async delete(keys: Iterable<string>): Promise<void> {
    await mapInParallel([...keys], CONCURRENCY, (key) => this.store.delete(key));
  }

  /** @returns `null` for a damaged event, `undefined` for a missing one */
  async #readOne(key: string): Promise<MentionEvent | null | undefined> {
    const stored = await this.store.get(key);
    if (!stored) return undefined;
    const event = parseEvent(key, stored.bytes);
    if (!event && !this.#logged.has(key)) {
      this.#logged.add(key);
      this.log(`A stored mention is damaged and was skipped: ${key}`, { level: "error" });
    }
    return event;
  }
}

function isMark(key: string): boolean {
  return key.startsWith(MARK);
}

export function readEventId(key: string): string {
  return key.split("-", 2)[1] ?? "";
}

/** The time in the key of an event, in milliseconds since 1970; 0 for a key without one. */
function readTime(key: string): number {
  const digits = key.slice(EVENTS.length);
  const iso = digits.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d{3})-.*$/s, "$1-$2-$3T$4:$5:$6.$7Z");
  return Date.parse(iso) || 0;
}
