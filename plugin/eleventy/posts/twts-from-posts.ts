// plugin/eleventy/posts/twts-from-posts.ts: twts of a build.
import { authorError } from "../../errors.js";
import { hashAmong, type TwtHashes, twtHashes } from "../../feed/hash.js";
import { findMentions, type Mention } from "../../feed/mention.js";
import type { Twt } from "../../feed/twt.js";
import { remember } from "../../groups.js";
import { mentionsOptions } from "../../options/mentions.js";
import type { Settings } from "../../options.js";
import { readAliases } from "../../site/aliases.js";
import { type FindLinks, linkFinder } from "../../text/post-links.js";
import { type Picture, type PostText, textOfPost } from "../../text/text-from-post.js";
import type { BuildEnvironment } from "../build-environment.js";
import type { CollectionItem, Collections } from "../eleventy.js";
import type { Findings } from "../findings.js";
import type { SharedBlobs } from "../pages/shared-blobs.js";
import type { SiteUrls } from "../site-urls.js";
import { picturesOfNotes } from "./pictures.js";
import { requirePermalink } from "./post-date.js";
import { choosePosts, type DatedPost, type Schedule, schedulePosts } from "./posts.js";

export interface PostTwt extends Twt {
  readonly hash: string;
  readonly mentions: Mention[];
}

export interface PublishedPost {
  post: CollectionItem;
  twt: PostTwt;
}

/** The contents of a post that go into the feed, or that mentions are sent to. */
export interface PostContents extends PostText {
  /** The links to other sites in its body; empty if the site does not send them. */
  links: readonly string[];
}

export interface SiteContext {
  settings: Settings;
  urls: SiteUrls;
  blobs: SharedBlobs;
  /** Replaces mentions and blob links in a rendered body. */
  linkHtml(html: string, file: string): string;
  /** Texts that look like mentions but name no known feed. */
  unknownMentions: Findings;
  environment: Pick<BuildEnvironment, "htmlReader">;
}

/** The twts of a build: dated when the collections are complete, with texts as soon as the posts are rendered. */
export class TwtsFromPosts {
  readonly #posts: readonly CollectionItem[];
  readonly schedule: Schedule;
  /** Collections in the options that are missing or empty. */
  readonly empty: readonly string[];
  readonly #findLinks: FindLinks;
  readonly #entries: ReadonlyMap<string, DatedPost>;
  readonly #twts = new Map<string, PostTwt | null>();
  readonly #hashes = new WeakMap<PostTwt, TwtHashes>();
  #pictures: ReadonlyMap<CollectionItem, readonly Picture[]> = new Map();
  /** Properties of all twts. A literal with getters would take three times the memory, and Liquid reads no prototypes. */
  readonly #computed: PropertyDescriptorMap & ThisType<PostTwt>;

  /**
   * Selects and dates the posts. Call `load` next.
   *
   * @param now - milliseconds since 1970
   * @param contents - by permalink, from earlier builds, for posts that an incremental build does not render again
   */
  constructor(
    collections: Collections,
    readonly site: SiteContext,
    now: number,
    private readonly contents: Map<string, PostContents | null>,
  ) {
    const { posts, empty } = choosePosts(collections, site.settings.collection);
    this.#posts = posts;
    this.empty = empty;
    this.schedule = schedulePosts(posts, site.settings, now);
    this.#entries = new Map(this.schedule.dated.map((entry) => [requirePermalink(entry.post), entry]));
    this.#findLinks = linkFinder(site.settings);
    const toHashes = (twt: PostTwt) => this.toHashes(twt);
    this.#computed = {
      hash: {
        enumerable: true,
        get() {
          return hashAmong(toHashes(this), this.timestamp);
        },
      },
      mentions: {
        enumerable: true,
        get() {
          return findMentions(this.text);
        },
      },
    };
  }

  async load(): Promise<void> {
    this.#pictures = await picturesOfNotes(this.#posts);
  }

  /**
   * The twt of a post.
   *
   * @param permalink - the post's path, or its file if it has no page
   * @param asker - the page that uses the twt
   * @returns `null` if the post has no twt
   * @throws TwtxtError `twt-too-early` in the post's own body, from which the twt is made
   */
  findTwt(permalink: string, asker?: string): PostTwt | null {
    const known = this.#twts.get(permalink);
    if (known !== undefined) return known;
    const entry = this.#entries.get(permalink);
    if (!entry) return null;
    const text = this.#readContents(entry.post, asker)?.text;
    const twt: PostTwt | null = text
      ? Object.defineProperties({ timestamp: entry.timestamp, text } as PostTwt, this.#computed)
      : null;
    this.#twts.set(permalink, twt);
    return twt;
  }

  /** Renders the posts that an incremental build has skipped and whose texts are not known. */
  async renderSkipped(): Promise<void> {
    for (const { post } of this.schedule.dated) {
      const isRendered = post.template?.isRenderable() ?? true;
      if (isRendered || this.contents.has(requirePermalink(post))) continue;
      post.templateContent = (await post.template?.renderPageEntryWithoutLayout(post)) ?? "";
    }
  }

  /** The twts of the feed with their posts, oldest first. Call it after the posts are rendered. */
  all(): PublishedPost[] {
    return this.#selectPublished(this.schedule.dated);
  }

  /** The newest twts of the feed, oldest first. Their posts must be rendered. */
  newest(count: number): PublishedPost[] {
    return this.#selectPublished(this.schedule.dated.slice(-count));
  }

  #selectPublished(posts: readonly DatedPost[]): PublishedPost[] {
    return posts.flatMap(({ post }) => {
      const twt = this.findTwt(requirePermalink(post));
      return twt ? [{ post, twt }] : [];
    });
  }

  /** The posts of the feed whose contents match. Call it after `all`. */
  postsWhere(matches: (contents: PostContents) => boolean): CollectionItem[] {
    return this.schedule.dated.flatMap(({ post }) => {
      const contents = this.contents.get(requirePermalink(post));
      return contents && matches(contents) ? [post] : [];
    });
  }

  /** The links to other sites in the body of a post. Call it after `all`. */
  listLinks(post: CollectionItem): readonly string[] {
    return this.contents.get(requirePermalink(post))?.links ?? [];
  }

  toHashes(twt: PostTwt): TwtHashes {
    return remember(this.#hashes, twt, () => twtHashes(this.site.urls.feedUrl(), twt));
  }

  /** The hashes of a twt under the other URLs of the feed, also with the links that its text had at an earlier domain. */
  aliasHashes({ timestamp, text }: PostTwt): string[] {
    const { settings, urls } = this.site;
    const { feeds } = readAliases(mentionsOptions(settings).aliases, urls.feedUrl());
    const hashes = feeds.flatMap((feed) => {
      const formerText = text.replaceAll(`${settings.url}/`, `${new URL(feed).origin}/`);
      return [...new Set([text, formerText])].flatMap((each) =>
        Object.values(twtHashes(feed, { timestamp, text: each })),
      );
    });
    return [...new Set(hashes)];
  }

  #readContents(post: CollectionItem, asker: string | undefined): PostContents | null {
    const permalink = requirePermalink(post);
    const isSkipped = post.template?.isRenderable() === false;
    if (isSkipped && this.contents.has(permalink)) return this.contents.get(permalink) ?? null;
    const text = this.#makeText(post, asker);
    const contents = text && { ...text, links: this.#findLinks(this.#readBody(post, asker)) };
    this.contents.set(permalink, contents);
    return contents;
  }

  #makeText(post: CollectionItem, asker: string | undefined): PostText | null {
    const { settings, urls, blobs, unknownMentions, environment } = this.site;
    try {
      return textOfPost(post, {
        settings,
        feedUrl: urls.feedUrl(),
        permalink: post.url ? urls.absolute(post.url) : null,
        body: () => this.#readBody(post, asker),
        html: environment.htmlReader,
        resolve: (link) => urls.resolve(link, post),
        onUnknownMention: (mention) => unknownMentions.note(mention, post.inputPath),
        linkBlobs: (text) => blobs.linkInText(text, post.inputPath),
        pictures: this.#pictures.get(post) ?? [],
      });
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw authorError(
        "bad-post",
        `${post.inputPath}: its HTML is nested too deeply to be read. Nest fewer elements, or leave the post out of the feed with "twt: false" in its front matter.`,
        { cause: error },
      );
    }
  }

  #readBody(post: CollectionItem, asker: string | undefined): string {
    try {
      return this.site.linkHtml(String(post.templateContent ?? ""), post.inputPath);
    } catch (cause) {
      // Eleventy renders any other page again when the post is ready.
      if (asker !== requirePermalink(post)) throw cause;
      throw authorError(
        "twt-too-early",
        `${post.inputPath}: a post cannot show its twt in its own body, because the twt is made from the body. Use it in a layout or on another page.`,
      );
    }
  }
}
