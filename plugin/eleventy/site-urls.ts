// plugin/eleventy/site-urls.ts: where the site's pages are, seen from outside.
import { posix } from "node:path";
import { authorError } from "../errors.js";
import { isMentionUrl } from "../feed/mention.js";
import type { Post, Settings } from "../options.js";
import type { EleventyConfig } from "./eleventy.js";

/** The URLs of a site. Asked only once the configuration is read whole: until then the path prefix is not known. */
export class SiteUrls {
  readonly #config: EleventyConfig;
  readonly #settings: Pick<Settings, "url" | "path">;
  #pages: Record<string, string[]> = {};
  #input = "";
  #prefix = "";

  constructor(config: EleventyConfig, settings: Pick<Settings, "url" | "path">) {
    this.#config = config;
    this.#settings = settings;
  }

  /** @param pages - the URLs of each template, as Eleventy's `eleventy.contentMap` has them */
  notePages(pages: Record<string, string[]>): void {
    this.#pages = pages;
  }

  /** @param input - the folder of the site's sources, as `./src/` */
  noteInput(input: string): void {
    this.#input = input;
  }

  /** A path of the site, from its root, with the path prefix. Every post asks, and Eleventy's own filter takes its time. */
  href(path: string): string {
    this.#prefix ||= this.#config.getFilter("url")("/");
    return this.#prefix.replace(/\/$/, "") + path;
  }

  /** A path of the site as a URL. */
  absolute(path: string): string {
    return new URL(this.href(path), this.#settings.url).href;
  }

  /** The path of the feed. */
  feedHref(): string {
    return this.href(this.#settings.path);
  }

  /** The path of the feed as a template writes it: EleventyHtmlBasePlugin adds the path prefix to what it finds in pages. */
  feedHrefInTemplates(): string {
    return this.#hasHtmlBase() ? this.#settings.path : this.feedHref();
  }

  /** @throws TwtxtError `bad-option` for a path prefix that makes a URL which other readers take apart; PROTOCOL 1.1 */
  checkFeedUrl(): void {
    const url = this.feedUrl();
    if (isMentionUrl(url) && !/[&+%#?]/.test(url)) return;
    throw authorError(
      "bad-option",
      `pathPrefix: expected a path of letters, digits and . _ ~ - for the address of the feed, such as "/blog/", got "${this.href("/")}".`,
    );
  }

  feedUrl(): string {
    return `${this.#settings.url}${this.feedHref()}`;
  }

  /**
   * A link in the body of a post, made absolute.
   *
   * One that is so already stays byte for byte, since mentions are compared so. Two plugins of Eleventy's change the
   * links of a page after its body has been read, and a twt follows them: a link to a template leads to its page, and
   * EleventyHtmlBasePlugin adds the path prefix.
   */
  resolve(link: string, post: Post): string {
    const base = this.absolute(post.url || "/");
    if (URL.canParse(link) || !URL.canParse(link, base)) return link;
    const [, path = "", rest = ""] = /^([^?#]*)(.*)$/s.exec(link) ?? [];
    const page = this.#pageOf(path, post);
    if (page !== null) return this.absolute(page) + rest;
    return this.#isUnprefixed(link) ? this.absolute(link) : new URL(link, base).href;
  }

  #pageOf(path: string, post: Post): string | null {
    if (path === "" || path.startsWith("//")) return null;
    const source = path.startsWith("/")
      ? posix.join(this.#input, path)
      : posix.join(posix.dirname(post.inputPath), path);
    return this.#pages[`./${posix.normalize(decoded(source))}`]?.[0] || null;
  }

  #hasHtmlBase(): boolean {
    return this.#config.getFilter("htmlBaseUrl") !== undefined;
  }

  #isUnprefixed(link: string): boolean {
    const isOfRoot = link.startsWith("/") && !link.startsWith("//");
    return isOfRoot && !link.startsWith(this.href("/")) && this.#hasHtmlBase();
  }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
