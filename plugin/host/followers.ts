// plugin/host/followers.ts: remembers who reads the feed of a site, by the User-Agent of their clients.
import * as v from "valibot";
import type { Clock } from "../clock.js";
import { FOLLOWER, FollowerList, parseFollower, type SeenFollower } from "../feed/followers.js";
import { formatTimestamp } from "../feed/timestamp.js";
import { listNetworks, SHARES } from "../http/client-networks.js";
import { isPublicHost } from "../http/public-address.js";
import { readJson, update } from "../store/json.js";
import type { Store } from "../store/store.js";

const KEY = "followers";
const MAX_FOLLOWERS = 1000;
/** Followers in memory: all known ones, and as many new ones. */
const MAX_NOTED = 2 * MAX_FOLLOWERS;
const MAX_NETWORKS = 10_000;
/** Milliseconds after which a new follower is stored. */
const PAUSE_MS = 60_000;

const STORED = v.object({ followers: v.array(FOLLOWER) });

/** The followers of a site, the most recently seen first. @throws TwtxtError `store-failed` */
export async function readFollowers(store: Store): Promise<SeenFollower[]> {
  return (await readJson(store, KEY, STORED))?.value.followers ?? [];
}

/**
 * Notes requests for the feed in memory, and stores their followers once a minute. No network addresses are stored. Anyone can
 * send any User-Agent, so each network adds at most a tenth of the list per day, see {@link listNetworks}.
 */
export class Followers {
  /** URLs of stored followers. */
  #known: ReadonlySet<string>;
  #noted = new FollowerList();
  /** Numbers of new followers by network, of one day. */
  readonly #added = new Map<string, number>();
  #day = "";
  #timer: NodeJS.Timeout | null = null;

  private constructor(
    private readonly store: Store,
    private readonly now: Clock,
    known: readonly SeenFollower[],
  ) {
    this.#known = toUrls(known);
  }

  static async open(store: Store, now: Clock): Promise<Followers> {
    return new Followers(store, now, await readFollowers(store).catch(() => []));
  }

  /**
   * @param userAgent - of a request for the feed
   * @param address - of its client, as `clientKey` of client-key.ts returns it
   */
  note(userAgent: string, address: string): void {
    const follower = parseFollower(userAgent);
    if (!follower || !isPublicHost(new URL(follower.url).hostname)) return;
    const time = formatTimestamp(this.now());
    const isKnown = this.#known.has(follower.url) || this.#noted.has(follower.url);
    if (!isKnown && !this.#admit(address, time.slice(0, 10))) return;
    this.#noted.add(follower, time);
    this.#timer ??= setTimeout(() => void this.save().catch(() => {}), PAUSE_MS).unref();
  }

  /** Stores the followers that were noted. After an error, the next call tries again. */
  async save(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const added = this.#noted.list(MAX_NOTED);
    if (added.length === 0) return;
    this.#noted = new FollowerList();
    try {
      const stored = await update(this.store, KEY, STORED, (old) => ({
        followers: new FollowerList([...(old?.followers ?? []), ...added]).list(MAX_FOLLOWERS),
      }));
      this.#known = toUrls(stored?.followers ?? []);
    } catch (error) {
      this.#noted = new FollowerList([...added, ...this.#noted.list(MAX_NOTED)]);
      throw error;
    }
  }

  /** Counts a new follower, unless a network of its client has added too many. */
  #admit(address: string, day: string): boolean {
    if (this.#noted.size >= MAX_NOTED) return false;
    if (day !== this.#day || this.#added.size > MAX_NETWORKS) this.#added.clear();
    this.#day = day;
    const networks = listNetworks(address);
    const count = (network: string) => this.#added.get(network) ?? 0;
    const most = MAX_FOLLOWERS / SHARES;
    if (networks.some(({ network, shares }) => count(network) >= most * shares)) return false;
    for (const { network } of networks) this.#added.set(network, count(network) + 1);
    return true;
  }
}

function toUrls(followers: readonly SeenFollower[]): ReadonlySet<string> {
  return new Set(followers.map(({ url }) => url));
}
