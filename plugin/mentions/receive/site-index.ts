// plugin/mentions/receive/site-index.ts: maps URLs to this site's feeds and pages.
import { isArchivePath } from "../../feed/archives.js";
import { comparableUrl } from "../../http/same-url.js";
import type { PublicMention } from "../../site/mention-list.js";
import type { SitePages } from "../../site/site.js";
import type { Target } from "../mention.js";

/**
 * The site's own URLs, from the list that its build wrote. URLs are compared, never requested.
 *
 * A page also matches without or with its last slash, with `index.html`, and with a query.
 *
 * @see PROTOCOL 2.4, "The request"
 */
export class SiteIndex {
  readonly #feed: Target;
  readonly #feedKeys: readonly string[];
  readonly #pages: ReadonlyMap<string, Target>;
  /** Pages by loose key. If two pages share one, such as "/a" and "/a/", the first counts. */
  readonly #loose: ReadonlyMap<string, Target>;
  readonly #titles: ReadonlyMap<string, string>;
  readonly #posts: ReadonlySet<string | null>;
  readonly #byTimestamp: ReadonlyMap<string, string | null>;
  readonly #byHash: ReadonlyMap<string, string | null>;
  /** {@link comparableUrl} without the last slash; `null` if it is not known. */
  readonly #root: string | null;
  readonly #aliases: readonly string[];
  /** {@link comparableUrl} of earlier origins, and of the present one. */
  readonly #originKeys: readonly string[];
  readonly #originKey: string;

  /**
   * @param pages - the feed's main URL is the first of `feeds`
   * @param root - the URL of the site, with its path prefix; needed for `isOwn`
   */
  constructor({ feeds, origins = [], pages, titles = {}, twts }: SitePages, root: string | null = null) {
    this.#root = root && toKey(root).replace(/\/$/, "");
    const [url = "", ...otherFeeds] = feeds;
    this.#aliases = [...otherFeeds, ...origins.map((origin) => `${origin}/`)];
    this.#originKeys = origins.map((origin) => toKey(`${origin}/`));
    this.#originKey = origins.length > 0 ? toKey(new URL("/", url).href) : "";
    this.#feed = { url, kind: "feed" };
    this.#feedKeys = feeds.map(toKey);
    this.#pages = new Map(pages.map((url) => [toKey(url), { url, kind: "page" }]));
    this.#loose = new Map(
      [...this.#pages]
        .filter(([key]) => !key.includes("?"))
        .reverse()
        .map(([key, target]) => [looseKey(key), target]),
    );
    this.#titles = new Map(Object.entries(titles));
    this.#posts = new Set(twts.map(({ page }) => page));
    this.#byTimestamp = new Map(twts.map(({ timestamp, page }) => [timestamp, page]));
    this.#byHash = new Map(twts.flatMap(({ hashes, page }) => hashes.map((hash) => [hash, page])));
  }

  /** @returns the target with the URL as the site writes it; `null` for another site's URL */
  target(url: string): Target | null {
    const key = this.#currentKey(url);
    if (key === null) return null;
    if (this.#feedKeys.some((name) => name === key || isArchivePath(name, key))) return this.#feed;
    return this.#pages.get(key) ?? this.#pages.get(removeQuery(key)) ?? this.#loose.get(looseKey(key)) ?? null;
  }

  /** Whether a URL belongs to this site: its feed, or any URL below its root, listed as a page or not. */
  isOwn(url: string): boolean {
    const path = removeQuery(this.#currentKey(url) ?? "");
    const isBelowRoot = this.#root !== null && `${path}/`.startsWith(`${this.#root}/`);
    return isBelowRoot || this.target(url) !== null;
  }

  /**
   * The present URL of a stored target, which an earlier build may have written with an alias.
   *
   * @returns the same URL if it is none, or its page no longer exists
   */
  currentUrl(url: string): string {
    return this.#aliases.some((alias) => url.startsWith(alias)) ? (this.target(url)?.url ?? url) : url;
  }

  /** {@link comparableUrl}, with the present origin for an earlier one. */
  #currentKey(url: string): string | null {
    const key = comparableUrl(url);
    const origin = key === null ? undefined : this.#originKeys.find((each) => key.startsWith(each));
    return key === null || origin === undefined ? key : `${this.#originKey}${key.slice(origin.length)}`;
  }

  get feedUrl(): string {
    return this.#feed.url;
  }

  /** Adds the title of the page that a mention is about, or the first words of a note, unless it is unknown. */
  addTitle<M extends Pick<PublicMention, "target" | "under">>(mention: M): M & { title?: string } {
    const title = this.#titles.get(mention.under ?? mention.target);
    return title === undefined ? mention : { ...mention, title };
  }

  /** Whether a page is a post. @param page - its URL as the site writes it */
  isPost(page: string): boolean {
    return this.#posts.has(page);
  }

  /** @returns the page of the site's twt with this timestamp; `null` for none */
  pageOfTwt(timestamp: string): string | null {
    return this.#byTimestamp.get(timestamp) ?? null;
  }

  /** @returns the page of the site's twt with this short or long hash; `null` for none */
  pageOfHash(hash: string): string | null {
    return this.#byHash.get(hash.toLowerCase()) ?? null;
  }
}

function toKey(url: string): string {
  return comparableUrl(url) ?? url;
}

/** A URL without query, `index.html` and the last slash. */
function looseKey(comparable: string): string {
  return removeQuery(comparable).replace(/\/(?:index\.html?)?$/, "");
}

function removeQuery(comparable: string): string {
  return comparable.replace(/\?.*$/s, "");
}
