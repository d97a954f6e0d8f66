// plugin/author/live-timeline.ts: the followed feeds and the author's own feed, read again while a process runs.
import { setTimeout } from "node:timers/promises";
import * as v from "valibot";
import { formatTimestamp } from "../feed/timestamp.js";
import {
  type FollowedFeed,
  parseKeptFeeds,
  readFollowedFeeds,
  twtsOfFeeds,
  unreadFeeds,
} from "../http/followed-feeds.js";
import { isSameUrl } from "../http/same-url.js";
import { type Entry, mentionEntry, newestThreads, type Thread } from "../site/conversation.js";
import { type PlainTwt, saidOf, type UnreadFeed } from "../site/timeline.js";
import { readJson, update, writeJson } from "../store/json.js";
import type { Store } from "../store/store.js";
import type { HostChoice } from "./choice.js";
import { followedFeeds } from "./followed-feeds.js";
import type { Machine } from "./machine.js";
import { networkOf, trialHosts } from "./network.js";
import type { Site } from "./site.js";

const FEEDS_KEY = "feeds";
const SEEN_KEY = "seen";
const EVERY_MS = 5 * 60_000;
/** An author who returns after a longer time visits the timeline again. */
const VISIT_MS = 10 * 60_000;
/** Timeout of all requests of one round. */
const ROUND_MS = 20_000;

const FeedsRecord = v.array(v.unknown());
const SeenRecord = v.object({ upTo: v.string() });

/** A twt in its conversation. */
export type TimelineThread = Thread<Entry & { twt: PlainTwt }>;

interface LiveTimelineParts {
  site: Site;
  choice: HostChoice;
  /** Keeps what was read, and what the author has seen. */
  store: Store;
  machine: Pick<Machine, "now">;
  /** Ends it. */
  ending: AbortSignal;
}

/** Reads all feeds every five minutes. All methods throw TwtxtError `store-failed`, and `bad-file` for a damaged list. */
export class LiveTimeline {
  readonly #parts: LiveTimelineParts;
  #threads: readonly TimelineThread[] = [];
  #unread: readonly UnreadFeed[] = [];
  #isOffline = false;
  #updated: string | null = null;
  #reading: Promise<void> = Promise.resolve();
  /** `at` is the time of its last page. */
  #visit: { before: string; at: number } | null = null;

  private constructor(parts: LiveTimelineParts) {
    this.#parts = parts;
  }

  /** Shows what was read last time, and starts to read. */
  static async open(parts: LiveTimelineParts): Promise<LiveTimeline> {
    const timeline = new LiveTimeline(parts);
    const known = await timeline.#known();
    const follow = await timeline.#followed();
    timeline.#show(
      follow.map((feed) => ({ ...feed, kept: known.find(({ url }) => url === feed.url) ?? null, reason: null })),
    );
    void timeline.#keepReading();
    return timeline;
  }

  /** The conversations, the one with the newest twt first. */
  get threads(): readonly TimelineThread[] {
    return this.#threads;
  }

  /** The feeds that could not be read in the last round. */
  get unread(): readonly UnreadFeed[] {
    return this.#unread;
  }

  /** Whether the last round could read none of the feeds. */
  get isOffline(): boolean {
    return this.#isOffline;
  }

  /** When the last round ended, `YYYY-MM-DDThh:mm:ssZ`; `null` before the first one of this process. */
  get updated(): string | null {
    return this.#updated;
  }

  /** Reads all feeds, after the round that is under way. */
  refresh(): Promise<void> {
    const round = this.#reading.then(() => this.#read());
    this.#reading = round.catch(() => {});
    return round;
  }

  /**
   * Remembers that the author has seen all that is there. During one visit, the answer stays the same.
   *
   * @returns the time of the newest twt of the visit before; later twts are new
   */
  async markSeen(): Promise<string> {
    const { store, machine } = this.#parts;
    const now = machine.now();
    const newest = this.#threads.flatMap(timesIn).reduce((one, other) => (one > other ? one : other), "");
    if (newest === "") return newest;
    if (this.#visit === null || now - this.#visit.at > VISIT_MS) {
      const before = (await readJson(store, SEEN_KEY, SeenRecord))?.value.upTo ?? newest;
      this.#visit = { before, at: now };
    }
    this.#visit.at = now;
    await update(store, SEEN_KEY, SeenRecord, (old) => (old && old.upTo >= newest ? null : { upTo: newest }));
    return this.#visit.before;
  }

  async #keepReading(): Promise<void> {
    const { ending } = this.#parts;
    while (!ending.aborted) {
      // The page shows what was read before; the next round may work.
      await this.refresh().catch(() => {});
      await setTimeout(EVERY_MS, undefined, { signal: ending }).catch(() => {});
    }
  }

  async #read(): Promise<void> {
    const { site, choice, store, machine, ending } = this.#parts;
    const follow = await this.#followed();
    const trial = follow.flatMap(({ url }) => trialHosts(site, url));
    const { ask } = networkOf({ "allow-private-host": [...choice["allow-private-host"], ...trial] });
    const signal = AbortSignal.any([ending, AbortSignal.timeout(ROUND_MS)]);
    const feeds = await readFollowedFeeds(follow, await this.#known(), { ask, now: machine.now, signal });
    if (ending.aborted) return;
    this.#show(feeds);
    this.#updated = formatTimestamp(machine.now());
    await writeJson(
      store,
      FEEDS_KEY,
      feeds.flatMap(({ kept }) => kept ?? []),
    );
  }

  #show(feeds: readonly FollowedFeed[]): void {
    const { feedUrl } = this.#parts.site.settings;
    const now = formatTimestamp(this.#parts.machine.now());
    const twts = twtsOfFeeds(feeds)
      .filter(({ published }) => published <= now)
      .map((twt) => ({ ...twt, isOwn: isSameUrl(twt.author.url, feedUrl) }));
    this.#threads = newestThreads(twts.map((twt) => ({ ...mentionEntry(saidOf(twt)), twt })));
    this.#unread = unreadFeeds(feeds);
    this.#isOffline = this.#unread.length === feeds.length;
  }

  /** The followed feeds and the own one. */
  async #followed() {
    const { site } = this.#parts;
    const { feedUrl, nick } = site.settings;
    return [...(await followedFeeds(site)), { nick: nick ?? new URL(feedUrl).host, url: feedUrl }];
  }

  async #known() {
    return parseKeptFeeds((await readJson(this.#parts.store, FEEDS_KEY, FeedsRecord))?.value ?? []);
  }
}

function timesIn({ entry, replies }: TimelineThread): string[] {
  return [entry.at, ...replies.flatMap(timesIn)];
}
