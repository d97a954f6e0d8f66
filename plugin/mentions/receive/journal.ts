// plugin/mentions/receive/journal.ts: what has happened to mentions, as events that are folded into a snapshot.
import { isDeepStrictEqual } from "node:util";
import { TwtxtError } from "../../errors.js";
import type { Log } from "../../http/respond.js";
import type { Store } from "../../store/store.js";
import { coalesced } from "../coalesced.js";
import type { StoredMention } from "../mention.js";
import { apply, idOf, type MentionEvent, type Mentions, type NewMention } from "./event.js";
import { EventLog } from "./event-log.js";
import { runExclusively } from "./exclusive.js";
import { MissingPart, type Snapshot, Snapshots } from "./snapshot.js";

/** How many events one run folds in. */
const BATCH = 2_000;
/** So many events are folded in without waiting for the hourly run. A new process reads each of them by a request. */
const LONG = 300;
/** After a failure, such as that of a full disk, folding waits for so many milliseconds before the next try. */
const PAUSE = 60_000;
/** How often reading starts again because a snapshot was written meanwhile. */
const TRIES = 5;
const COMPACTION = "mentions/compaction";

/** What has happened to mentions, and what they are now. */
export interface Journal {
  /** Durable when it returns. */
  add(event: MentionEvent): Promise<void>;
  /**
   * All mentions as they are now. Costs two requests, and one for each part and event that is not in memory yet. Calls
   * during a reading share the next one.
   */
  read(): Promise<ReadonlyMap<string, StoredMention>>;
  /**
   * Whether a mention is there already, just as it is, so that keeping it again would change nothing. For a mention that is
   * new it reads no events about others.
   */
  holds(mention: NewMention): Promise<boolean>;
  /**
   * Folds events into the snapshot. Safe to run twice at once, and to be killed anywhere.
   *
   * @returns how many events were folded in
   */
  compact(): Promise<number>;
  /**
   * Folds where some hundred events have come together; of several processes, one does so. Costs nothing before. After a
   * failure it does nothing for a minute.
   */
  compactIfLong(): Promise<void>;
}

/** A snapshot and the events after it, as they were at one moment. */
interface View {
  snapshot: Snapshot;
  base: ReadonlyMap<string, StoredMention>;
  events: Map<string, MentionEvent>;
}

/**
 * Only the compaction reads a value, changes it and writes it back: two mentions at once lose nothing.
 *
 * @param shownPerHost - see {@link apply}
 * @param log - see {@link EventLog}
 */
export function journal({ store, now, shownPerHost, log }: JournalOptions): Journal {
  const events = new EventLog(store, log);
  const snapshots = new Snapshots(store);
  let mayFoldAt = Number.NEGATIVE_INFINITY;
  let latest: { etag: string | null; keys: string[]; mentions: ReadonlyMap<string, StoredMention> } | null = null;

  const tryView = async (isWanted: (key: string) => boolean): Promise<View | null> => {
    // In this order: an event that is deleted after it was listed is in the snapshot that is read next.
    const keys = (await events.keys()).filter(isWanted);
    const snapshot = await snapshots.read();
    const found = await events.read(
      keys.filter((key) => !snapshot.folded.has(key)),
      snapshot.etag,
    );
    // A missing event may have been folded into a newer snapshot after this one was read.
    if (found.isAnyGone && (await snapshots.read()).etag !== snapshot.etag) return null;
    return { snapshot, base: await snapshots.mentions(snapshot), events: found.events };
  };

  const view = async (isWanted: (key: string) => boolean): Promise<View> => {
    for (let tries = 1; ; tries += 1) {
      try {
        const found = await tryView(isWanted);
        if (found) return found;
        if (tries === TRIES) throw new TwtxtError("store-failed", "The mentions change faster than they can be read.");
      } catch (error) {
        // A part vanishes where a snapshot has just been replaced.
        if (!(error instanceof MissingPart) || tries === TRIES) throw error;
      }
    }
  };

  const readAll = async () => {
    const { snapshot, base, events } = await view(() => true);
    const keys = [...events.keys()];
    if (latest?.etag === snapshot.etag && isDeepStrictEqual(latest.keys, keys)) return latest.mentions;
    const mentions: Mentions = new Map(base);
    apply(mentions, [...events.values()], shownPerHost);
    latest = { etag: snapshot.etag, keys, mentions };
    return mentions;
  };

  const compact = async () => {
    const snapshot = await snapshots.read();
    await events.delete([...snapshot.folded]);
    const keys = (await events.keys()).slice(0, BATCH);
    const { events: found } = await events.read(keys, snapshot.etag);
    if (found.size === 0 && snapshot.folded.size === 0) return 0;

    const mentions: Mentions = new Map(await snapshots.mentions(snapshot));
    apply(mentions, [...found.values()], shownPerHost);
    const folded = [...found.keys()];
    if (!(await snapshots.replace(snapshot, mentions, folded, now()))) return 0;
    await events.delete(folded);
    await snapshots.sweep(now());
    return found.size;
  };

  const read = coalesced(readAll);
  return {
    add: (event) => events.add(event),
    read,

    async holds(mention) {
      const id = idOf(mention);
      const { base, events } = await view((key) => key.includes(`-${id}-`));
      const before = base.get(id);
      const own: Mentions = new Map(before && [[id, before]]);
      apply(own, [...events.values()], shownPerHost);
      const known = own.get(id);
      if (!known) return false;
      const again: MentionEvent = { kind: "kept", at: known.received, mention };
      apply(own, [again], shownPerHost);
      if (!isDeepStrictEqual(own.get(id), known)) return false;
      const all = await read();
      if (isDeepStrictEqual(all.get(id), known)) return true;
      // A twin stands in its place, or did so once and is gone.
      const next: Mentions = new Map(all);
      apply(next, [again], shownPerHost);
      return isDeepStrictEqual(next.get(id), all.get(id));
    },

    compact,
    compactIfLong: coalesced(async () => {
      if (events.count < LONG || now() < mayFoldAt) return;
      mayFoldAt = now() + PAUSE;
      await runExclusively({ store, key: COMPACTION, now }, compact);
      mayFoldAt = now();
    }),
  };
}

export interface JournalOptions {
  store: Store;
  /** Milliseconds since 1970. */
  now(): number;
  shownPerHost: number;
  log: Log;
}
