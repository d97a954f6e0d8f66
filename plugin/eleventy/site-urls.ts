// plugin/eleventy/site-urls.ts: URLs of the site.
import { posix } from "node:path";
import { authorError } from "../errors.js";
import { isMentionUrl } from "../feed/mention.js";
import { inboxOptions } from "../options/inbox.js";
import { mentionsOptions } from "../options/mentions.js";
import { timelineOptions } from "../options/timeline.js";
import type { Post, Settings } from "../options.js";
import { type Bases, type Capability, completeBases, listCapabilities, type RoutedSite } from "../site/routes.js";
import type { SiteSettings } from "../site/site.js";
import { canParseUrl, decodePercent } from "../url.js";
import type { BuildEnvironment } from "./build-environment.js";
import type { EleventyConfig } from "./eleventy.js";

/** Paths that the URL parser leaves as they are, such as those of most pages. Parsing takes ten times as long. */
const PLAIN_PATH = /^\/(?:[\w~-][\w.~-]*\/)*(?:[\w~-][\w.~-]*)?$/;

export type Inbox = SiteSettings["authors"][number];

/** The URLs of a site. The path prefix is known when Eleventy has read the whole configuration, so call no method before that. */
export class SiteUrls {
  /** The base paths of the endpoints, without the path prefix. */
  readonly bases: Bases;
  readonly #origin: string;
  #inboxes: readonly Inbox[] | null = null;
  #capabilities: readonly Capability[] | null = null;
  /** The URLs of each template, as in Eleventy's `eleventy.contentMap`. */
  pages: Record<string, string[]> = {};
  /** The folder of the site's sources, such as `./src/`. */
  input = "";
  #prefix = "";

  constructor(
    readonly config: Pick<EleventyConfig, "getFilter">,
    readonly settings: Settings,
    readonly environment: Pick<BuildEnvironment, "host" | "client">,
  ) {
    this.#origin = new URL(settings.url).origin;
    const { path: webmention } = mentionsOptions(settings);
    this.bases = completeBases({ webmention, inbox: inboxOptions(settings).path.replace(/\/$/, "") });
  }

  /** The endpoint for mentions, of this site or of another service; `null` for none. */
  endpoint(): string | null {
    return this.settings.webmention ?? (this.has("mentions") ? this.absolute(this.bases.webmention) : null);
  }

  /** Whether a capability of the site is on, and its host runs it. PROTOCOL 7 */
  has(capability: Capability): boolean {
    this.#capabilities ??= this.hasFunctions() ? listCapabilities(toRoutedSite(this.settings)) : [];
    return this.#capabilities.includes(capability);
  }

  /** The feeds of the timeline: those that the site follows, without its own, whose twts are known. */
  feedsOfTimeline(): Settings["follow"] {
    return this.settings.follow.filter(({ url }) => url !== this.feedUrl());
  }

  /** The authors with their addresses and inboxes, which may be at another site. */
  inboxes(): readonly Inbox[] {
    const { authors, url } = this.settings;
    const { host } = new URL(url);
    this.#inboxes ??= authors.map(({ user, key, endpoint }) => ({
      user,
      address: `${user}@${host}`,
      key,
      endpoint: endpoint ?? (this.has("inbox") ? this.absolute(`${this.bases.inbox}/${user}`) : null),
    }));
    return this.#inboxes;
  }

  hasFunctions(): boolean {
    const { name } = this.environment.host;
    return name === "node" || (name === "netlify" && this.settings.functions);
  }

  /** The `User-Agent` of requests by the build. */
  userAgent(): string {
    return `${this.environment.client} (+${this.feedUrl()}; @${this.settings.nick})`;
  }

  /** A path of the site, with the path prefix. Called for every post, so it does not use Eleventy's slower filter. */
  href(path: string): string {
    this.#prefix ||= this.config.getFilter("url")("/");
    return this.#prefix.replace(/\/$/, "") + path;
  }

  absolute(path: string): string {
    const href = this.href(path);
    return PLAIN_PATH.test(href) ? this.#origin + href : new URL(href, this.settings.url).href;
  }

  feedHref(): string {
    return this.href(this.settings.path);
  }

  /** A path of the site for templates: without the path prefix if EleventyHtmlBasePlugin adds it to all links in pages. */
  hrefInTemplates(path: string): string {
    return this.#hasHtmlBase() ? path : this.href(path);
  }

  /** @throws TwtxtError `bad-option` if the path prefix makes a feed URL that some clients cannot parse; PROTOCOL 1.1 */
  checkFeedUrl(): void {
    const url = this.feedUrl();
    if (isMentionUrl(url) && !/[&+%#?]/.test(url)) return;
    throw authorError(
      "bad-option",
      `pathPrefix: expected a path of letters, digits and . _ ~ -, such as "/blog/", because it is part of the feed's URL, got "${this.href("/")}".`,
    );
  }

  feedUrl(): string {
    return `${this.settings.url}${this.feedHref()}`;
  }

  /**
   * The absolute URL of a link in the body of a post. An absolute link stays the same byte for byte, because mentions are
   * compared byte for byte.
   *
   * Does what two plugins of Eleventy do later in pages: replaces the path of a template by that of its page, and adds the
   * path prefix.
   */
  resolve(link: string, post: Post): string {
    if (canParseUrl(link)) return link;
    const base = this.absolute(post.url || "/");
    if (!canParseUrl(link, base)) return link;
    const [, path = "", rest = ""] = /^([^?#]*)(.*)$/s.exec(link) ?? [];
    const page = this.#findPage(path, post);
    if (page !== null) return this.absolute(page) + rest;
    return this.#isUnprefixed(link) ? this.absolute(link) : new URL(link, base).href;
  }

  #findPage(path: string, post: Post): string | null {
    if (path === "" || path.startsWith("//")) return null;
    const source = path.startsWith("/")
      ? posix.join(this.input, path)
      : posix.join(posix.dirname(post.inputPath), path);
    return this.pages[`./${posix.normalize(decodePercent(source) ?? source)}`]?.[0] || null;
  }

  #hasHtmlBase(): boolean {
    return this.config.getFilter("htmlBaseUrl") !== undefined;
  }

  #isUnprefixed(link: string): boolean {
    const isPath = link.startsWith("/") && !link.startsWith("//");
    return isPath && !link.startsWith(this.href("/")) && this.#hasHtmlBase();
  }
}

/** The authors with an inbox at this site, if the host runs it. */
export function authorsHere({ authors, inbox }: Pick<Settings, "authors" | "inbox">): Settings["authors"] {
  return inbox === false ? [] : authors.filter(({ endpoint }) => endpoint === undefined);
}

function toRoutedSite(settings: Settings): Omit<RoutedSite, "urls"> {
  const { authors, blobs, fediverse } = settings;
  return {
    ...{ authors, blobs: blobs || null, ...(fediverse !== undefined && { fediverse }) },
    isReceiver: settings.mentions !== false && settings.webmention === undefined,
    timeline: timelineOptions(settings),
    mentions: mentionsOptions(settings),
    inbox: authorsHere(settings).length > 0 ? { guests: inboxOptions(settings).guests || null } : null,
  };
}
