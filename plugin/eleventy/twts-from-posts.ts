// plugin/eleventy/twts-from-posts.ts: twts of a build.
import { authorError } from "../errors.js";
import { twtHash } from "../feed/hash.js";
import { findMentions, type Mention } from "../feed/mention.js";
import type { Twt } from "../feed/twt.js";
import type { Settings } from "../options.js";
import type { CollectionItem, Collections } from "./eleventy.js";
import type { Findings } from "./findings.js";
import { type Picture, picturesOfNotes } from "./pictures.js";
import { permalinkOf } from "./post-date.js";
import { choosePosts, type DatedPost, type Schedule, schedulePosts } from "./posts.js";
import type { SharedBlobs } from "./shared-blobs.js";
import type { SiteUrls } from "./site-urls.js";
import type { HtmlReader } from "./text-from-html.js";
import { mayNeedHtml, type PostSource, type PostText, textOfPost } from "./text-from-post.js";

/** A twt as templates see it. */
export interface PostTwt extends Twt {
  readonly hash: string;
  readonly mentions: Mention[];
}

/** The parts of a site that posts need. */
export interface SiteContext {
  settings: Settings;
  urls: SiteUrls;
  blobs: SharedBlobs;
  /** Replaces mentions and blob links in a rendered body. */
  linkHtml(html: string, file: string): string;
  /** Texts that look like mentions but name no known feed. */
  unknownMentions: Findings;
}

interface Prepared {
  schedule: Schedule;
  empty: readonly string[];
  /** `null` until it is needed. */
  html: HtmlReader | null;
  pictures: ReadonlyMap<CollectionItem, readonly Picture[]>;
}

/** A visible character. U+2800, the empty Braille pattern, is invisible. */
const VISIBLE = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** The twts of a build: dated when the collections are complete, with texts as soon as the posts are rendered. */
export class TwtsFromPosts {
  readonly #site: SiteContext;
  readonly schedule: Schedule;
  /** Collections in the options that are missing or empty. */
  readonly empty: readonly string[];
  #html: HtmlReader | null;
  readonly #pictures: ReadonlyMap<CollectionItem, readonly Picture[]>;
  readonly #entries: ReadonlyMap<string, DatedPost>;
  readonly #twts = new Map<string, PostTwt | null>();
  readonly #remembered: Map<string, PostText | null>;
  /** Posts with a shortened text. */
  readonly cut: CollectionItem[] = [];
  readonly repliesWithoutFeed: CollectionItem[] = [];
  /** Posts without a text. */
  readonly silent: CollectionItem[] = [];
  /** Posts with a text without visible characters. */
  readonly invisible: CollectionItem[] = [];

  private constructor(
    site: SiteContext,
    { schedule, empty, html, pictures }: Prepared,
    remembered: Map<string, PostText | null>,
  ) {
    this.#site = site;
    this.schedule = schedule;
    this.empty = empty;
    this.#html = html;
    this.#pictures = pictures;
    this.#entries = new Map(schedule.dated.map((entry) => [permalinkOf(entry.post), entry]));
    this.#remembered = remembered;
  }

  /**
   * Selects and dates the posts. The HTML parser is loaded only if a post may need it.
   *
   * @param now - milliseconds since 1970
   * @param remembered - texts by permalink from earlier builds, for posts that an incremental build does not render again
   */
  static async from(
    collections: Collections,
    site: SiteContext,
    now: number,
    remembered: Map<string, PostText | null>,
  ): Promise<TwtsFromPosts> {
    const { posts, empty } = choosePosts(collections, site.settings.collection);
    const schedule = schedulePosts(posts, site.settings, now);
    const needsHtml = posts.some((post) => mayNeedHtml(post, site.settings));
    const html = needsHtml ? await import("./text-from-html.js") : null;
    return new TwtsFromPosts(site, { schedule, empty, html, pictures: await picturesOfNotes(posts) }, remembered);
  }

  /**
   * The twt of a post.
   *
   * @param permalink - the post's path, or its file if it has no page
   * @param asker - the page that uses the twt
   * @returns `null` if the post has no twt
   * @throws TwtxtError `twt-too-early` in the post's own body, from which the twt is made
   */
  twtOf(permalink: string, asker?: string): PostTwt | null {
    const known = this.#twts.get(permalink);
    if (known !== undefined) return known;
    const entry = this.#entries.get(permalink);
    if (!entry) return null;

    const made = this.#textOf(entry.post, asker);
    const twt = made?.text ? this.#twt(entry.timestamp, made.text) : null;
    this.#twts.set(permalink, twt);
    if (made?.text === "") this.silent.push(entry.post);
    if (twt && !VISIBLE.test(twt.text)) this.invisible.push(entry.post);
    if (made?.isCut) this.cut.push(entry.post);
    if (made?.isReplyWithoutFeed) this.repliesWithoutFeed.push(entry.post);
    return twt;
  }

  /**
   * Prepares the texts of all posts: renders those that an incremental build has skipped, and loads the HTML parser if only
   * a rendered body shows that it is needed.
   */
  async prepareAll(): Promise<void> {
    for (const { post } of this.schedule.dated) {
      const isRendered = post.template?.isRenderable() ?? true;
      if (isRendered || this.#remembered.has(permalinkOf(post))) continue;
      post.templateContent = (await post.template?.renderPageEntryWithoutLayout(post)) ?? "";
    }
    const isMentionRendered = ({ post }: { post: CollectionItem }) =>
      post.template?.isRenderable() !== false && String(post.templateContent ?? "").includes("u-mention");
    if (!this.#html && this.schedule.dated.some(isMentionRendered)) this.#html = await import("./text-from-html.js");
  }

  /** All twts of the feed, oldest first. Call it after the posts are rendered. */
  all(): PostTwt[] {
    return [...this.#entries.keys()].map((permalink) => this.twtOf(permalink)).filter((twt) => twt !== null);
  }

  #twt(timestamp: string, text: string): PostTwt {
    const feedUrl = this.#site.urls.feedUrl();
    return {
      timestamp,
      text,
      get hash() {
        return twtHash(feedUrl, { timestamp, text });
      },
      get mentions() {
        return findMentions(text);
      },
    };
  }

  #textOf(post: CollectionItem, asker: string | undefined): PostText | null {
    const permalink = permalinkOf(post);
    const isSkipped = post.template?.isRenderable() === false;
    if (isSkipped && this.#remembered.has(permalink)) return this.#remembered.get(permalink) ?? null;

    const text = this.#makeText(post, {
      settings: this.#site.settings,
      feedUrl: this.#site.urls.feedUrl(),
      permalink: post.url ? this.#site.urls.absolute(post.url) : null,
      body: () => this.#bodyOf(post, asker),
      html: () => this.#html ?? missingParser(post),
      resolve: (link) => this.#site.urls.resolve(link, post),
      onUnknownMention: (mention) => this.#site.unknownMentions.note(mention, post.inputPath),
      linkBlobs: (text) => this.#site.blobs.linkInText(text, post.inputPath),
      pictures: this.#pictures.get(post) ?? [],
    });
    this.#remembered.set(permalink, text);
    return text;
  }

  #makeText(post: CollectionItem, source: PostSource): PostText | null {
    try {
      return textOfPost(post, source);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw authorError("bad-post", `${post.inputPath}: its HTML is nested too deeply.`, { cause: error });
    }
  }

  #bodyOf(post: CollectionItem, asker: string | undefined): string {
    try {
      return this.#site.linkHtml(String(post.templateContent ?? ""), post.inputPath);
    } catch (cause) {
      // Eleventy renders any other page again when the post is ready.
      if (asker !== permalinkOf(post)) throw cause;
      throw authorError(
        "twt-too-early",
        `${post.inputPath}: a post cannot show its twt in its own body, because the twt is made from the body. Use it in a layout or on another page.`,
      );
    }
  }
}

function missingParser(post: CollectionItem): never {
  throw authorError("twt-too-early", `${post.inputPath}: its twt cannot be used before all posts are rendered.`);
}
