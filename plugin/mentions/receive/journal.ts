// plugin/mentions/receive/journal.ts: the journal of mentions: events that are regularly folded into a snapshot.
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../clock.js";
import { coalesce } from "../../concurrency.js";
import type { Log } from "../../http/respond.js";
import { later } from "../../later.js";
import type { TwtLike } from "../../site/conversation.js";
import { LostRace, winRace } from "../../store/retry.js";
import type { Store } from "../../store/store.js";
import { applyEvent, type MentionEvent, type NewMention, toMentionId } from "./event.js";
import { EventLog, readEventId } from "./event-log.js";
import { type Change, MentionView } from "./mention-view.js";
import { type CurrentUrl, Relocation } from "./relocation.js";
import { NO_SNAPSHOT, type Snapshot, Snapshots } from "./snapshot.js";

const leases = later(() => import("../../store/lease.js"));

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
  /** See {@link applyEvent}. */
  shownPerHost: number;
  /** See {@link EventLog}. */
  log: Log;
  /** The twts of the site, which mentions reply to. Default: none. */
  twts?: readonly TwtLike[];
  /** Moves mentions of earlier URLs of the site. Default: none. */
  currentUrl?: CurrentUrl;
}

interface AppliedEvent {
  key: string;
  event: MentionEvent;
  changes: readonly Change[];
}

/**
 * All mentions as a log of immutable events. Only the compaction rewrites a record, so concurrent mentions are never
 * lost. The view is that of the snapshot with the events after it, in the order of their keys: new events are applied to
 * it, and those that belong before others are applied again after them.
 */
export class Journal {
  readonly #events: EventLog;
  readonly #relocation: Relocation;
  readonly #snapshots: Snapshots;
  #view: MentionView;
  /** The snapshot that the view has; `null` before the first read. */
  #snapshot: Snapshot | null = null;
  /** The events after it that the view has, oldest first. */
  #applied: AppliedEvent[] = [];
  /** Ids of the mentions whose events the next read applies at least; `null` for all. */
  #wanted: Set<string> | null = new Set();
  #mayFoldAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: JournalOptions) {
    this.#events = new EventLog(options.store, options.log);
    this.#relocation = new Relocation(options.currentUrl ?? ((url) => url));
    this.#snapshots = new Snapshots(options.store, this.#relocation);
    this.#view = new MentionView(options.twts ?? []);
  }

  /**
   * Stores an event, see {@link EventLog.add}.
   *
   * @returns its time, and the view with it, which need not have the latest events of other processes
   */
  async add(event: MentionEvent): Promise<{ at: string; view: MentionView }> {
    const { key, event: stored } = await this.#events.add(event);
    if (this.#snapshot) this.#apply([[key, stored]]);
    return { at: stored.at, view: this.#view };
  }

  /**
   * Reads all mentions: a request, plus one for each event and part that is not in memory yet. Calls during a read share
   * the next one.
   *
   * @returns the view. Later reads change it, so use it before anything is awaited
   * @throws TwtxtError `store-failed`
   */
  async read(): Promise<MentionView> {
    this.#wanted = null;
    await this.#update();
    return this.#view;
  }

  /**
   * Compacts once there are several hundred events, in one process at a time; free before that. After a failure it does
   * nothing for a minute.
   */
  readonly compactIfLong = coalesce(async () => {
    const { now } = this.options;
    if (this.#events.count < COMPACTION_THRESHOLD || now() < this.#mayFoldAt) return;
    this.#mayFoldAt = now() + RETRY_DELAY;
    const { withLease } = await leases();
    await withLease(COMPACTION, this.options, () => this.compact());
    this.#mayFoldAt = now();
  });

  /** Whether storing this mention would change nothing. For a new mention, events of others are not read. */
  async holds(mention: NewMention): Promise<boolean> {
    this.#wanted?.add(toMentionId(mention));
    await this.#update();
    if (!this.#changesNothing(mention)) return false;
    await this.read();
    return this.#changesNothing(mention);
  }

  /** Of these mentions, those that storing them would add or change. */
  async selectChanged(mentions: readonly NewMention[]): Promise<NewMention[]> {
    await this.read();
    return mentions.filter((mention) => !this.#changesNothing(mention));
  }

  /**
   * Folds events into the snapshot. Safe to run concurrently and to kill at any point.
   *
   * @returns the number of folded events
   */
  async compact(): Promise<number> {
    const { now } = this.options;
    await this.#events.list();
    // After the first run of a process, an hour without mentions costs this listing alone.
    if (this.#snapshot && this.#events.count === 0 && !this.#snapshots.hasMoved) return 0;
    this.#events.expectSnapshot();
    await this.read();
    const snapshot = this.#snapshot ?? NO_SNAPSHOT;
    // The next snapshot does not name them, so they would count again.
    await this.#events.delete(snapshot.folded);
    const folded = this.#applied.map(({ key }) => key);
    const isOutdated = folded.length > 0 || snapshot.folded.size > 0 || this.#snapshots.hasMoved;
    const isCurrent = snapshot.etag === this.#snapshot?.etag;
    if (!isCurrent || !isOutdated || !(await this.#snapshots.replace(snapshot, this.#view, folded, now()))) return 0;
    await this.#events.markSnapshot();
    await this.#events.delete(folded);
    await this.#snapshots.sweep(now());
    return folded.length;
  }

  readonly #update = coalesce(async () => {
    const wanted = this.#wanted;
    this.#wanted = new Set();
    const isWanted = (key: string) => wanted === null || wanted.has(readEventId(key));
    // A part vanishes when its snapshot is replaced.
    await winRace(TRIES, () => this.#tryUpdate(isWanted));
  });

  async #tryUpdate(isWanted: (key: string) => boolean): Promise<void> {
    const former = this.#snapshot;
    if (!former) {
      // A view that could not be loaded as a whole is dropped.
      this.#snapshots.reset();
      this.#view = new MentionView(this.options.twts ?? []);
    }
    // The order matters: an event that is deleted after this listing is in the snapshot that is read next.
    const mayBeReplaced = await this.#events.list();
    const snapshot = former && !mayBeReplaced ? former : await this.#snapshots.read();
    const isNew = former === null || snapshot.etag !== former.etag;
    const load = isNew ? await this.#snapshots.load(snapshot, this.#view, former === null) : null;
    const readEvents = () => this.#events.read(isWanted, { folded: snapshot.folded, isNew });
    let { events, isAnyGone } = await readEvents();
    if (isAnyGone) {
      // A missing event may have been folded into a newer snapshot after this one was read.
      if ((await this.#snapshots.read()).etag !== snapshot.etag) {
        throw new LostRace("The mentions change faster than they can be read.");
      }
      // With those that this process has added meanwhile.
      ({ events } = await readEvents());
    }
    if (load) {
      for (const { changes } of this.#applied.toReversed()) this.#view.undo(changes);
      this.#applied = [];
      this.#snapshot = null;
      load();
      this.#snapshot = snapshot;
    }
    this.#apply(events);
    this.#events.confirmSnapshot();
  }

  /** Applies events in their order: later ones are undone first, and applied again. */
  #apply(found: Iterable<readonly [key: string, event: MentionEvent]>): void {
    const view = this.#view;
    const ahead = [...found];
    const first = ahead.map(([key]) => key).sort()[0];
    if (first === undefined) return;
    for (let last = this.#applied.at(-1); last && last.key > first; last = this.#applied.at(-1)) {
      this.#applied.pop();
      view.undo(last.changes);
      ahead.push([last.key, last.event]);
    }
    for (const [key, event] of ahead.sort(([a], [b]) => (a < b ? -1 : 1))) {
      const moved = this.#relocation.moveEvent(event);
      const changes = view.record(() => applyEvent(view, moved, this.options.shownPerHost));
      this.#applied.push({ key, event, changes });
    }
  }

  #changesNothing(mention: NewMention): boolean {
    const view = this.#view;
    const id = toMentionId(mention);
    if (!view.entry(id) && view.findDuplicates(mention, id).length === 0) return false;
    const event: MentionEvent = { kind: "kept", at: new Date(this.options.now()).toISOString(), mention };
    const changes = view.record(() => applyEvent(view, event, this.options.shownPerHost));
    const isSame = changes.every(({ id, before }) => isDeepStrictEqual(before && view.read(before), view.get(id)));
    view.undo(changes);
    return isSame;
  }
}
