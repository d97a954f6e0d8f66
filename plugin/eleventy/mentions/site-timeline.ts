// plugin/eleventy/mentions/site-timeline.ts: the timeline of a site, for its page and for templates.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { formatTimestamp } from "../../feed/timestamp.js";
import type { FollowedFeed } from "../../http/followed-feeds.js";
import { parseJson } from "../../http/one-line.js";
import { type TimelineOptions, timelineOptions } from "../../options/timeline.js";
import { chooseWords } from "../../options/translations.js";
import { mentionEntry, newestThreads } from "../../site/conversation.js";
import { PATHS } from "../../site/routes.js";
import { type PlainTwt, selectTwts, type TimelineTwt, type UnreadFeed } from "../../site/timeline.js";
import { shownMention } from "../../site/timeline-markup.js";
import { replaceFile } from "../../store/disk.js";
import { listLoopbackHosts } from "../../url.js";
import type { BuildEnvironment } from "../build-environment.js";
import type { WritePart } from "../pages/page-languages.js";
import type { SiteUrls } from "../site-urls.js";
import { type MentionListOptions, timelineHtml, writeOnce } from "./mention-html.js";
import type { SiteMentions } from "./site-mentions.js";

/** In the cache folder of Eleventy's own plugins. */
const CACHE = ".cache/eleventy-plugin-twtxt-timeline.json";

/** The cache that one build writes for the next. Damaged parts of it are ignored. */
const CACHED = v.object({
  feeds: v.fallback(v.array(v.unknown()), []),
  /** The User-Agent, with the version of this package: another one may convert texts differently. */
  agent: v.fallback(v.string(), ""),
  /** HTML by text, because converting all texts takes longer than reading unchanged feeds. */
  html: v.fallback(v.array(v.tuple([v.string(), v.string()])), []),
});

interface ReadFeeds {
  feeds: readonly FollowedFeed[];
  twts: readonly PlainTwt[];
  newest: readonly TimelineTwt[];
  unread: UnreadFeed[];
  updated: string;
}

export class SiteTimeline {
  readonly options: TimelineOptions | null;
  #read: ReadFeeds | null = null;
  #own: () => readonly PlainTwt[] = () => [];
  #isCached = false;
  /** HTML by text, from the cache. */
  #knownHtml: ReadonlyMap<string, string> = new Map();
  /** HTML by text, of the twts that this build shows. */
  readonly #html = new Map<string, string>();

  constructor(
    readonly urls: SiteUrls,
    readonly mentions: SiteMentions,
    readonly environment: Pick<BuildEnvironment, "root" | "now">,
  ) {
    this.options = timelineOptions(urls.settings);
  }

  /** Reads the followed feeds, once per process. */
  async read(): Promise<void> {
    if (this.#read || !this.options) return;
    const { root, now } = this.environment;
    const [reader, json] = await Promise.all([
      import("../../http/build-network.js"),
      readFile(join(root, CACHE), "utf8").catch(() => ""),
    ]);
    const cached = v.safeParse(CACHED, parseJson(json));
    const { feeds: known, html, agent } = cached.success ? cached.output : { feeds: [], html: [], agent: "" };
    const userAgent = this.urls.userAgent();
    this.#knownHtml = new Map(agent === userAgent ? html : []);
    const follow = this.urls.feedsOfTimeline();
    const urls = follow.map(({ url }) => url);
    const allowPrivateHosts = listLoopbackHosts(this.urls.settings.url, urls);
    const feeds = await reader.readForBuild(follow, known, { userAgent, allowPrivateHosts, now });
    const twts = reader.twtsOfFeeds(feeds);
    const updated = formatTimestamp(now());
    const newest = await this.#convert(selectTwts(twts, [], updated));
    this.#read = { feeds, twts, newest, unread: reader.unreadFeeds(feeds), updated };
  }

  /** @param own - the newest twts of the site's own feed; throws while the posts are not rendered */
  begin(own: () => readonly PlainTwt[]): void {
    this.#own = own;
  }

  /** The newest twts of the followed feeds, newest first. */
  twts(): readonly TimelineTwt[] {
    return this.#read?.newest ?? [];
  }

  known(): readonly PlainTwt[] {
    return this.#read?.twts ?? [];
  }

  /** The number of pages, at most: own twts can join conversations. */
  pageCount(): number {
    const entries = this.twts().map((twt) => mentionEntry(shownMention(twt)));
    return Math.ceil(newestThreads(entries).length / (this.options?.perPage ?? 1)) || 1;
  }

  /** Prepares the HTML of a page. @param page - from 1 */
  async html(page: number): Promise<WritePart> {
    if (!this.#read) return () => "";
    const { twts: followed, unread, updated } = this.#read;
    const twts = await this.#convert(selectTwts(followed, this.#own(), updated));
    return (...form) => timelineHtml({ twts, unread, updated }, { ...this.#listOptions(...form), page });
  }

  /** The path of the page for templates; `null` for a site without a timeline. */
  pageHref(): string | null {
    return this.options && this.urls.hrefInTemplates(this.options.path);
  }

  /** A note about feeds that could not be read; `null` for none. */
  note(): string | null {
    const unread = this.#read?.unread ?? [];
    if (unread.length === 0) return null;
    const names = unread.map(({ nick, reason }) => `@${nick} ${chooseWords("en")[reason]}`).join(", ");
    const feeds = unread.length === 1 ? "one feed" : `${unread.length} feeds`;
    return `The timeline could not read ${feeds}, so it shows the twts from an earlier build: ${names}.`;
  }

  /** Caches the feeds on this machine for the next build. Once per process. */
  async saveCache(): Promise<void> {
    if (!this.#read || this.#isCached) return;
    const feeds = this.#read.feeds.flatMap((feed) => feed.kept ?? []);
    const cache: v.InferInput<typeof CACHED> = { feeds, agent: this.urls.userAgent(), html: [...this.#html] };
    await replaceFile(join(this.environment.root, CACHE), JSON.stringify(cache));
    this.#isCached = true;
  }

  /** Adds the HTML of each text. The converter is loaded if a text is new. */
  async #convert(twts: readonly PlainTwt[]): Promise<TimelineTwt[]> {
    const isNew = ({ text }: PlainTwt) => !this.#html.has(text) && !this.#knownHtml.has(text);
    const toHtml = twts.some(isNew) ? (await import("../../site/text-html.js")).textHtml : () => "";
    return twts.map((twt) => {
      const html = this.#html.get(twt.text) ?? this.#knownHtml.get(twt.text) ?? toHtml(twt.text, "twt");
      this.#html.set(twt.text, html);
      return { ...twt, html };
    });
  }

  #listOptions(...form: Parameters<WritePart>): MentionListOptions {
    return {
      ...this.mentions.listOptions(null, ...form),
      json: this.urls.has("timeline") ? this.urls.href(PATHS.timelineJson) : null,
      pictures: new Map(),
      ...(this.options && this.pageCount() > 1 && { perPage: this.options.perPage }),
      once: writeOnce(),
    };
  }
}
