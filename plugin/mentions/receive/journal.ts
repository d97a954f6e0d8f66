// plugin/mentions/receive/journal.ts: the journal of mentions: events that are regularly folded into a snapshot.
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../clock.js";
import type { Log } from "../../http/respond.js";
import { withLease } from "../../store/lease.js";
import { LostRace, winRace } from "../../store/retry.js";
import type { Store } from "../../store/store.js";
import { coalesce } from "../concurrency.js";
import type { StoredMention } from "../mention.js";
import { applyEvents, type MentionEvent, type Mentions, type NewMention, toMentionId } from "./event.js";
import { EventLog } from "./event-log.js";
import { type CurrentUrl, Relocation } from "./relocation.js";
import { type Snapshot, Snapshots } from "./snapshot.js";

/** Events folded by one run. */
const BATCH = 2_000;
/** This many events start a compaction before the hourly run: a new process needs a request for each. */
const COMPACTION_THRESHOLD = 300;
/** The pause after a failed compaction, such as on a full disk. */
const RETRY_DELAY = 60_000;
/** Attempts to read while other processes replace the snapshot. */
const TRIES = 5;
/** The lease of the process that compacts. */
const COMPACTION = "mentions/compaction";

interface JournalOptions {
  store: Store;
  now: Clock;
  /** See {@link applyEvents}. */
  shownPerHost: number;
  /** See {@link EventLog}. */
  log: Log;
  /** Moves mentions of earlier URLs of the site. Default: none. */
  currentUrl?: CurrentUrl;
}

/** A consistent view: a snapshot and the events after it. */
interface View {
  snapshot: Snapshot;
  base: ReadonlyMap<string, StoredMention>;
  events: Map<string, MentionEvent>;
}

/**
 * All mentions as a log of immutable events. Only the compaction rewrites a record, so concurrent mentions are never
 * lost.
 */
export class Journal {
  readonly #options: JournalOptions;
  readonly #events: EventLog;
  readonly #snapshots: Snapshots;
  readonly #relocation: Relocation;
  #mayFoldAt = Number.NEGATIVE_INFINITY;
  #latest: { etag: string | null; keys: string[]; mentions: ReadonlyMap<string, StoredMention> } | null = null;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#events = new EventLog(options.store, options.log);
    this.#snapshots = new Snapshots(options.store);
    this.#relocation = new Relocation(options.currentUrl ?? ((url) => url));
  }

  /** Stores an event, see {@link EventLog.add}. @returns its time */
  add(event: MentionEvent): Promise<string> {
    return this.#events.add(event);
  }

  /**
   * Reads all mentions. Costs two requests, plus one for each part and event that is not in memory yet. Calls during a
   * read share the next one.
   */
  readonly read = coalesce(() => this.#readAll());

  /**
   * Compacts once there are several hundred events, in one process at a time; free before that. After a failure it does
   * nothing for a minute.
   */
  readonly compactIfLong = coalesce(async () => {
    const { now } = this.#options;
    if (this.#events.count < COMPACTION_THRESHOLD || now() < this.#mayFoldAt) return;
    this.#mayFoldAt = now() + RETRY_DELAY;
    await withLease(COMPACTION, this.#options, () => this.compact());
    this.#mayFoldAt = now();
  });

  /** Whether storing this mention would change nothing. For a new mention, events of others are not read. */
  async holds(mention: NewMention): Promise<boolean> {
    const id = toMentionId(mention);
    const { base, events } = await this.#view((key) => key.includes(`-${id}-`));
    const before = base.get(id);
    const own = this.#applied(new Map(before && [[id, before]]), events.values());
    const known = own.get(id);
    if (!known) return false;
    const again: MentionEvent = { kind: "kept", at: known.received, mention };
    if (!isDeepStrictEqual(this.#applied(own, [again]).get(id), known)) return false;
    const all = await this.read();
    if (isDeepStrictEqual(all.get(id), known)) return true;
    // A duplicate is, or was, in its place.
    return isDeepStrictEqual(this.#applied(new Map(all), [again]).get(id), all.get(id));
  }

  /**
   * Folds events into the snapshot. Safe to run concurrently and to kill at any point.
   *
   * @returns the number of folded events
   */
  async compact(): Promise<number> {
    const { now } = this.#options;
    const snapshot = await this.#snapshots.read();
    await this.#events.delete([...snapshot.folded]);
    const keys = (await this.#events.keys()).slice(0, BATCH);
    const { events: found } = await this.#events.read(keys, snapshot.etag);
    if (found.size === 0 && snapshot.folded.size === 0) return 0;

    const mentions = this.#applied(new Map(await this.#base(snapshot)), found.values());
    const folded = [...found.keys()];
    if (!(await this.#snapshots.replace(snapshot, mentions, folded, now()))) return 0;
    await this.#events.delete(folded);
    await this.#snapshots.sweep(now());
    return found.size;
  }

  async #readAll(): Promise<ReadonlyMap<string, StoredMention>> {
    const { snapshot, base, events } = await this.#view(() => true);
    const keys = [...events.keys()];
    const latest = this.#latest;
    if (latest?.etag === snapshot.etag && isDeepStrictEqual(latest.keys, keys)) return latest.mentions;
    const mentions = this.#applied(new Map(base), events.values());
    this.#latest = { etag: snapshot.etag, keys, mentions };
    return mentions;
  }

  /** A part vanishes when its snapshot is replaced. */
  #view(isWanted: (key: string) => boolean): Promise<View> {
    return winRace(TRIES, () => this.#tryView(isWanted));
  }

  async #tryView(isWanted: (key: string) => boolean): Promise<View> {
    // The order matters: an event that is deleted after this listing is in the snapshot that is read next.
    const keys = (await this.#events.keys()).filter(isWanted);
    const snapshot = await this.#snapshots.read();
    const found = await this.#events.read(
      keys.filter((key) => !snapshot.folded.has(key)),
      snapshot.etag,
    );
    // A missing event may have been folded into a newer snapshot after this one was read.
    if (found.isAnyGone && (await this.#snapshots.read()).etag !== snapshot.etag) {
      throw new LostRace("The mentions change faster than they can be read.");
    }
    return { snapshot, base: await this.#base(snapshot), events: found.events };
  }

  async #base(snapshot: Snapshot): Promise<ReadonlyMap<string, StoredMention>> {
    return this.#relocation.moveAll(await this.#snapshots.mentions(snapshot));
  }

  #applied(mentions: Mentions, events: Iterable<MentionEvent>): Mentions {
    const moved = Array.from(events, (event) => this.#relocation.moveEvent(event));
    applyEvents(mentions, moved, this.#options.shownPerHost);
    return mentions;
  }
}
