// plugin/http/build-network.ts: what a build needs to read other sites and its own. Published as one file, because each
// module costs a build up to 2 ms of CPU.
import type { Clock } from "../clock.js";
import type { FollowedFeed as Followed } from "../options/follow.js";
import { type FollowedFeed, parseKeptFeeds, readFollowedFeeds } from "./followed-feeds.js";
import { createGuard, type GuardOptions } from "./guard.js";

export { twtsOfFeeds, unreadFeeds } from "./followed-feeds.js";
export { createGuard };

/** Timeout of all requests of a build. */
const TOTAL_MS = 10_000;

/** Reads the feeds. @param known - from the cache of an earlier build, not checked yet */
export function readForBuild(
  follow: readonly Followed[],
  known: readonly unknown[],
  { now, ...options }: GuardOptions & { now: Clock },
): Promise<FollowedFeed[]> {
  const parts = { ask: createGuard(options), now, signal: AbortSignal.timeout(TOTAL_MS) };
  return readFollowedFeeds(follow, parseKeptFeeds(known), parts);
}
