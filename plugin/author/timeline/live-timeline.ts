// plugin/author/timeline/live-timeline.ts: the timeline: followed feeds, received mentions and the author's own feed, read again while a process runs.
import PQueue from "p-queue";
import * as v from "valibot";
import { ifTwtxtError, TwtxtError } from "../../errors.js";
import { formatTimestamp } from "../../feed/timestamp.js";
import {
  type FollowedFeed,
  type KeptFeed,
  parseKeptFeeds,
  readFollowedFeeds,
  twtsOfFeeds,
  unreadFeeds,
} from "../../http/followed-feeds.js";
import { isSameUrl } from "../../http/same-url.js";
import { ENGLISH } from "../../options/words.js";
import { type Entry, mentionEntry, newestThreads, type Thread } from "../../site/conversation.js";
import { type Author, type MentionType, type PublicMention, parseMentionList } from "../../site/mention-list.js";
import { describeMention, type MentionSentence } from "../../site/mention-sentence.js";
import { oncePerTwt } from "../../site/repeated-mentions.js";
import type { PlainTwt, UnreadFeed } from "../../site/timeline.js";
import { readJson, writeJson } from "../../store/json.js";
import type { Store } from "../../store/store.js";
import type { Machine, OwnSiteChoice } from "../machine.js";
import { shownMentions } from "../mentions/site-mentions.js";
import { addLoopbackHosts, createNetwork } from "../network.js";
import { RefreshInterval } from "../refresh-interval.js";
import { publishedSite, type Site } from "../site.js";
import { openSiteData } from "../site-store.js";
import { Visits } from "../visits.js";
import { followedFeeds } from "./followed-feeds.js";

const FEEDS_KEY = "feeds";
const MENTIONS_KEY = "mentions";
const SEEN_KEY = "seen";
const EVERY_MS = 5 * 60_000;
const ROUND_MS = 20_000;

const FeedsRecord = v.array(v.unknown());
const MentionsRecord = v.unknown();

interface LiveTimelineParts {
  site: Site;
  choice: Pick<OwnSiteChoice, "url" | "allow-private-host">;
  /** Stores the feeds as they were read, and which items the author has seen. */
  store: Store;
  machine: Pick<Machine, "now">;
  ending: AbortSignal;
  /** Describes the error of a round in the background, in sentences. */
  faultText(error: unknown): string;
}

export function openTimelineStore({ settings }: Site, machine: Pick<Machine, "environment">): Store {
  return openSiteData("timelines", settings.url, machine);
}

/** The mentions of the site as a timeline has read them last, newest first. */
export async function readKnownMentions(store: Store): Promise<readonly PublicMention[]> {
  return parseMentionList((await readJson(store, MENTIONS_KEY, MentionsRecord))?.value)?.mentions ?? [];
}

/** The timeline of one process. All methods throw TwtxtError `store-failed`, and `bad-file` for a damaged list. */
export class LiveTimeline {
  readonly #interval: RefreshInterval;
  /** The conversations, the one with the newest item first. */
  threads: readonly TimelineThread[] = [];
  /** The times since when the items of others are there, newest first. */
  #times: readonly string[] = [];
  #kept: KeptFeed[] = [];
  #mentions: readonly PublicMention[] = [];
  /** When the last round ended, `YYYY-MM-DDThh:mm:ssZ`; `null` before the first one of this process. */
  updated: string | null = null;
  /** The feeds that could not be read in the last round. */
  unread: readonly UnreadFeed[] = [];
  /** Whether the last round could read none of the feeds. */
  isOffline = false;
  /** Why the last round could not read the mentions, a sentence; `null` if it could. Earlier ones stay. */
  mentionsFault: string | null = null;
  /** Why the last round in the background ended early, in sentences; `null` if it did not. */
  fault: string | null = null;
  /** The rounds that are under way or wait for another one. */
  readonly #rounds = new PQueue({ concurrency: 1 });

  private constructor(
    private readonly parts: LiveTimelineParts,
    readonly visits: Visits,
  ) {
    this.#interval = new RefreshInterval(EVERY_MS, parts.machine.now);
  }

  /** Shows what was read last time. */
  static async open(parts: LiveTimelineParts): Promise<LiveTimeline> {
    const timeline = new LiveTimeline(parts, await Visits.open(parts.store, SEEN_KEY, parts.machine.now));
    timeline.#kept = parseKeptFeeds((await readJson(parts.store, FEEDS_KEY, FeedsRecord))?.value ?? []);
    timeline.#mentions = await readKnownMentions(parts.store);
    const known = new Map(timeline.#kept.map((feed) => [feed.url, feed]));
    const follow = await timeline.#followed();
    await timeline.#show(follow.map((feed) => ({ ...feed, kept: known.get(feed.url) ?? null, reason: null })));
    return timeline;
  }

  get isReading(): boolean {
    return this.#rounds.size + this.#rounds.pending > 0;
  }

  /** How many items of others are newer than those that the author has seen. */
  get newCount(): number {
    const { seen } = this.visits;
    return seen === null ? 0 : this.#times.filter((time) => time > seen).length;
  }

  /** Reads everything in the background, at most every five minutes. If that fails, {@link fault} says why. */
  refreshIfDue(): void {
    const { ending, faultText } = this.parts;
    if (ending.aborted || !this.#interval.claim()) return;
    void this.refresh().catch((error: unknown) => {
      this.fault = faultText(error);
    });
  }

  /** Reads everything, after the round that is under way. */
  refresh(): Promise<void> {
    this.#interval.restart();
    return this.#rounds.add(() => this.#read());
  }

  async markSeen(): Promise<void> {
    const [newest] = this.#times;
    if (newest !== undefined) await this.visits.markSeen(newest);
  }

  async #read(): Promise<void> {
    const { store, machine, ending } = this.parts;
    const signal = AbortSignal.any([ending, AbortSignal.timeout(ROUND_MS)]);
    const [feeds] = await Promise.all([this.#readFeeds(signal), this.#readMentions(signal)]);
    if (ending.aborted) return;
    this.#kept = feeds.flatMap(({ kept }) => kept ?? []);
    await this.#show(feeds);
    this.updated = formatTimestamp(machine.now());
    await writeJson(store, FEEDS_KEY, this.#kept);
    await writeJson(store, MENTIONS_KEY, { mentions: this.#mentions, next: null });
    this.fault = null;
  }

  async #readFeeds(signal: AbortSignal): Promise<FollowedFeed[]> {
    const { site, choice, machine } = this.parts;
    const follow = await this.#followed();
    const urls = follow.map(({ url }) => url);
    const { ask } = createNetwork(addLoopbackHosts(site, choice, urls));
    return readFollowedFeeds(follow, this.#kept, { ask, now: machine.now, signal });
  }

  /** If the site does not answer, the mentions that were read before stay. */
  async #readMentions(signal: AbortSignal): Promise<void> {
    const { site, choice } = this.parts;
    const settings = (await this.#published())?.settings ?? site.settings;
    const read = await shownMentions(settings, choice, signal).catch(ifTwtxtError((error) => error));
    this.mentionsFault = read instanceof TwtxtError ? read.message : null;
    if (!(read instanceof TwtxtError)) this.#mentions = read;
  }

  async #show(feeds: readonly FollowedFeed[]): Promise<void> {
    const { site, machine } = this.parts;
    const twts = (await this.#published())?.pages.twts ?? [];
    const entries = timelineEntries(feeds, this.#mentions, {
      ownPages: new Map(twts.flatMap(({ hashes, page }) => (page === null ? [] : hashes.map((hash) => [hash, page])))),
      feedUrl: site.settings.feedUrl,
      now: formatTimestamp(machine.now()),
    });
    this.threads = newestThreads(entries);
    const others = entries.filter(({ item }) => !item.isOwn);
    this.#times = others
      .map(({ item }) => item.since)
      .sort()
      .reverse();
    this.unread = unreadFeeds(feeds);
    this.isOffline = this.unread.length === feeds.length;
  }

  /** What the last real build published; `null` before the first one. */
  async #published() {
    return publishedSite(this.parts.site).catch(ifTwtxtError(() => null));
  }

  async #followed() {
    const { site } = this.parts;
    const { feedUrl, nick } = site.settings;
    return [...(await followedFeeds(site)), { nick: nick ?? new URL(feedUrl).host, url: feedUrl }];
  }
}

/** A twt of a feed, or a received mention that no feed has. */
export interface TimelineItem {
  id: string;
  source: string;
  /** The URL to link to instead of the source; absent for the source itself. */
  url?: string;
  /** The hash of a twt; `null` for a page. */
  hash: string | null;
  author: Author;
  isOwn: boolean;
  text: string;
  /** The text of a mention as HTML, as the site shows it; `null` for a twt of a feed. */
  html: string | null;
  /** `YYYY-MM-DDThh:mm:ssZ` */
  published: string;
  /** When the author could see it for the first time, in the same form. */
  since: string;
  /** `twt` for a twt of a feed that is not a reply. */
  type: MentionType | "twt";
  /** What it says about a page of the site, or that it replies; `null` for another twt of a feed. */
  sentence: MentionSentence | null;
}

const REPLIED: MentionSentence = { before: ENGLISH.reply, page: null, after: "" };

type ItemEntry = Entry & { item: TimelineItem };

export type TimelineThread = Thread<ItemEntry>;

/**
 * Twts and mentions as entries of conversations. A mention that is a twt of a feed counts once.
 *
 * @param ownPages - the pages of the site's own twts, by hash: mentions name the page
 * @param now - later twts are left out, `YYYY-MM-DDThh:mm:ssZ`
 */
function timelineEntries(
  feeds: readonly FollowedFeed[],
  mentions: readonly PublicMention[],
  { feedUrl, ownPages, now }: { feedUrl: string; ownPages: ReadonlyMap<string, string>; now: string },
): ItemEntry[] {
  const twts = feeds.flatMap((feed) => {
    const isOwn = isSameUrl(feed.url, feedUrl);
    const due = twtsOfFeeds([feed]).filter(({ published }) => published <= now);
    return due.map((twt) => twtEntry({ ...twt, isOwn }, ownPages));
  });
  const names = new Set(twts.flatMap((twt) => twt.names));
  const isKnown = (name: string | null) => name !== null && names.has(name);
  const others = oncePerTwt(mentions).filter(({ hash, hashV1 }) => !isKnown(hash) && !isKnown(hashV1));
  return [...twts, ...others.map((mention) => receivedEntry(mention, feedUrl))];
}

/** The items of conversations, each before its replies. */
export function listItems(threads: readonly TimelineThread[]): TimelineItem[] {
  return threads.flatMap(({ entry, replies }) => [entry.item, ...listItems(replies)]);
}

function twtEntry(twt: PlainTwt, ownPages: ReadonlyMap<string, string>): ItemEntry {
  const { source, author, isOwn, text, published, hash, replyTo } = twt;
  const url = (isOwn ? ownPages.get(hash) : undefined) ?? twt.url;
  const place = url === undefined ? {} : { url };
  return {
    ...mentionEntry({ ...twt, ...place, target: "", under: null, received: null }),
    item: {
      ...{ id: hash, source, hash, author, isOwn, text, html: null, published, since: published, ...place },
      ...(replyTo === null ? { type: "twt", sentence: null } : { type: "reply", sentence: REPLIED }),
    },
  };
}

function receivedEntry(mention: PublicMention, feedUrl: string): ItemEntry {
  const { source, url, author, text, html, received, type, hash } = mention;
  const entry = mentionEntry(mention);
  const since = `${received.slice(0, "2026-01-01T00:00:00".length)}Z`;
  return {
    ...entry,
    item: {
      ...{ id: hash ?? encodeURIComponent(entry.key), source, hash, author, text, html, since },
      ...(url !== undefined && { url }),
      ...{ isOwn: isSameUrl(author.url, feedUrl), published: entry.at },
      ...{ type, sentence: describeMention(mention, feedUrl, ENGLISH) },
    },
  };
}
