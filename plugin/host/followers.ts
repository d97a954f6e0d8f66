// plugin/host/followers.ts: remembers who reads the feed of a site, by the User-Agent of their clients.
import * as v from "valibot";
import type { Clock } from "../clock.js";
import { FollowerList, type SeenFollower } from "../feed/followers.js";
import { formatTimestamp } from "../feed/timestamp.js";
import { readJson, update } from "../store/json.js";
import type { Store } from "../store/store.js";

const KEY = "followers";
const MAX_FOLLOWERS = 1000;
/** Milliseconds after which a new follower is stored. */
const PAUSE_MS = 60_000;

const FOLLOWER = v.object({
  nick: v.nullable(v.string()),
  url: v.string(),
  client: v.string(),
  /** Missing in what earlier versions stored. */
  firstSeen: v.optional(v.string()),
  lastSeen: v.string(),
});
const STORED = v.object({
  followers: v.array(
    v.pipe(
      FOLLOWER,
      v.transform(({ firstSeen, ...follower }) => ({ ...follower, firstSeen: firstSeen ?? follower.lastSeen })),
    ),
  ),
});

/** The followers of a site, the most recently seen first. @throws TwtxtError `store-failed` */
export async function readFollowers(store: Store): Promise<SeenFollower[]> {
  return (await readJson(store, KEY, STORED))?.value.followers ?? [];
}

/** Notes requests for the feed in memory, at most 1,000 followers, and stores them once a minute. No network addresses are kept. */
export class Followers {
  readonly #store: Store;
  readonly #now: Clock;
  #new = new FollowerList();
  #timer: NodeJS.Timeout | null = null;

  constructor(store: Store, now: Clock) {
    this.#store = store;
    this.#now = now;
  }

  /** @param userAgent - of a request for the feed */
  note(userAgent: string): void {
    if (this.#new.size >= MAX_FOLLOWERS) return;
    const isFollower = this.#new.add(userAgent, formatTimestamp(this.#now()));
    if (isFollower) this.#timer ??= setTimeout(() => void this.save().catch(() => {}), PAUSE_MS).unref();
  }

  /** Stores the followers that were noted. After an error, the next call tries again. */
  async save(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const added = this.#new.list(MAX_FOLLOWERS);
    if (added.length === 0) return;
    this.#new = new FollowerList();
    try {
      await update(this.#store, KEY, STORED, (old) => ({
        followers: new FollowerList([...(old?.followers ?? []), ...added]).list(MAX_FOLLOWERS),
      }));
    } catch (error) {
      this.#new = new FollowerList([...added, ...this.#new.list(MAX_FOLLOWERS)]);
      throw error;
    }
  }
}
