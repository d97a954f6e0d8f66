// plugin/eleventy/site-urls.ts: URLs of the site.
import { posix } from "node:path";
import { authorError } from "../errors.js";
import { isMentionUrl } from "../feed/mention.js";
import type { Author, Post, Settings } from "../options.js";
import { canParseUrl } from "../url.js";
import type { EleventyConfig } from "./eleventy.js";
import { authorsHere, inboxPath } from "./served-options.js";

/** The options that say where a site is, and what of it is served. */
type UrlOptions = Pick<
  Settings,
  "url" | "nick" | "path" | "webmention" | "mentions" | "functions" | "authors" | "inbox" | "blobs"
>;

/** The URLs of a site. Asked only once the configuration is read whole: until then the path prefix is not known. */
export class SiteUrls {
  readonly #config: EleventyConfig;
  readonly #settings: UrlOptions;
  readonly #host: NonNullable<Settings["host"]>;
  #pages: Record<string, string[]> = {};
  #input = "";
  #prefix = "";

  constructor(config: EleventyConfig, settings: UrlOptions, host: NonNullable<Settings["host"]>) {
    this.#config = config;
    this.#settings = settings;
    this.#host = host;
  }

  /** Where mentions are to be sent: somebody's service, or our own receiver; `null` for nowhere. */
  endpoint(): string | null {
    const { webmention, mentions } = this.#settings;
    return webmention ?? (mentions && this.hasReceiver() ? this.absolute(mentions.path) : null);
  }

  /** Whether the site receives its mentions itself. PROTOCOL 7 */
  hasReceiver(): boolean {
    const { mentions, webmention } = this.#settings;
    return mentions !== false && webmention === undefined && this.hasFunctions();
  }

  /** Whether there is an inbox of an author's here. PROTOCOL 7 */
  hasInbox(): boolean {
    return authorsHere(this.#settings).length > 0 && this.hasFunctions();
  }

  /** Whether the authors' files are kept here. PROTOCOL 7 */
  hasBlobs(): boolean {
    return this.#settings.blobs !== false && this.hasFunctions();
  }

  /** Where messages to an author go: at somebody's service, or here; `null` for nowhere. */
  inboxOf({ user, endpoint }: Author): string | null {
    if (endpoint !== undefined) return endpoint;
    return this.hasInbox() ? this.absolute(`${inboxPath(this.#settings)}/${user}`) : null;
  }

  /** Whether anything answers at this site beside its files. */
  hasFunctions(): boolean {
    return this.#host === "node" || (this.#host === "netlify" && this.#settings.functions);
  }

  /** The user agent of what a build asks the network. */
  userAgent(): string {
    return `eleventy-plugin-twtxt (+${this.feedUrl()}; @${this.#settings.nick})`;
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

  /** The path of the feed as a template writes it. */
  feedHrefInTemplates(): string {
    return this.hrefInTemplates(this.#settings.path);
  }

  /** A path of the site as a template writes it: EleventyHtmlBasePlugin adds the path prefix to what it finds in pages. */
  hrefInTemplates(path: string): string {
    return this.#hasHtmlBase() ? path : this.href(path);
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
    if (canParseUrl(link)) return link;
    const base = this.absolute(post.url || "/");
    if (!canParseUrl(link, base)) return link;
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
    return this.#pages[`./${posix.normalize(decodePath(source))}`]?.[0] || null;
  }

  #hasHtmlBase(): boolean {
    return this.#config.getFilter("htmlBaseUrl") !== undefined;
  }

  #isUnprefixed(link: string): boolean {
    const isOfRoot = link.startsWith("/") && !link.startsWith("//");
    return isOfRoot && !link.startsWith(this.href("/")) && this.#hasHtmlBase();
  }
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
