// plugin/host/refresh-timeline.ts: reads the followed feeds of a site and stores its timeline.
import * as v from "valibot";
import { formatTimestamp } from "../feed/timestamp.js";
import { type KeptFeed, parseKeptFeeds, readFollowedFeeds, twtsOfFeeds, unreadFeeds } from "../http/followed-feeds.js";
import { TimeSlices } from "../http/time-slices.js";
import { textHtml } from "../site/text-html.js";
import { type PlainTwt, selectTwts, type Timeline, type TimelineTwt } from "../site/timeline.js";
import { readJson, writeJson } from "../store/json.js";
import type { Store } from "../store/store.js";
import type { ServiceOptions } from "./service-options.js";
import { siteGuard } from "./site-guard.js";
import { purgeTag } from "./work.js";

const FEEDS_KEY = "timeline/feeds";
/** Timeout of all requests. The scheduled run ends after 30 s on Netlify, and starts nothing after 20 s. */
const TOTAL_MS = 8_000;
/** Minimum time between two rounds: several timers and processes may start one. */
const PAUSE_MS = 10 * 60_000;

const FEEDS = v.array(v.unknown());
/** The part of the stored timeline that is read here. */
const TIMELINE = v.object({ updated: v.string() });

/**
 * Reads the feeds and stores the timeline, unless it was stored in the last ten minutes or no feed was ever read.
 *
 * @param names - the key of the timeline in the store, and the tag of its copies in the CDN
 */
export async function refreshTimeline(options: ServiceOptions, names: { list: string; tag: string }): Promise<void> {
  const { settings, pages, store, now, ending } = options;
  if (!settings.timeline) return;
  const last = await readJson(store, names.list, TIMELINE, replaceDamaged);
  const age = last ? now() - Date.parse(last.value.updated) : Number.NaN;
  if (age >= 0 && age < PAUSE_MS) return;

  const signal = AbortSignal.any([AbortSignal.timeout(TOTAL_MS), ...(ending ? [ending] : [])]);
  const known = await readKeptFeeds(store);
  const feeds = await readFollowedFeeds(settings.timeline.follow, known, { ask: siteGuard(options), now, signal });
  // An empty list would replace the twts that the build has read.
  if (ending?.aborted || feeds.every(({ kept }) => kept === null)) return;

  const updated = formatTimestamp(now());
  const twts = selectTwts(twtsOfFeeds(feeds), pages.own ?? [], updated);
  const timeline: Timeline = {
    updated,
    twts: await withHtml(twts),
    unread: unreadFeeds(feeds),
  };
  await writeJson(
    store,
    FEEDS_KEY,
    feeds.flatMap(({ kept }) => kept ?? []),
  );
  await writeJson(store, names.list, timeline);
  await purgeTag(options, names.tag, "the old timeline");
}

/** The followed feeds as they were last read. @throws TwtxtError `store-failed` */
export async function readKeptFeeds(store: Store): Promise<KeptFeed[]> {
  return parseKeptFeeds((await readJson(store, FEEDS_KEY, FEEDS, replaceDamaged))?.value ?? []);
}

/** Adds the HTML of each text. Other requests are answered in between. */
export function withHtml(twts: readonly PlainTwt[]): Promise<TimelineTwt[]> {
  return new TimeSlices().map(twts, (twt) => ({ ...twt, html: textHtml(twt.text, "twt") }));
}

/** A damaged value counts as none, and is replaced. */
function replaceDamaged(): void {}
