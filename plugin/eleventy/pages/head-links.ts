// plugin/eleventy/pages/head-links.ts: `<link>`s to the feed, the endpoint and the inboxes.
import { remember } from "../../groups.js";
import { chooseHeadWords } from "../../options/head-words.js";
import { mentionsOptions } from "../../options/mentions.js";
import { chooseWords } from "../../options/translations.js";
import { fediverseAuthor } from "../../site/fediverse.js";
import { escapeHtml } from "../../site/html.js";
import { PATHS } from "../../site/routes.js";
import { canParseUrl } from "../../url.js";
import { listed } from "../findings.js";
import type { SiteUrls } from "../site-urls.js";

/** Matches comments, scripts and tags as a whole, so that a `</head>` inside them is skipped. */
const END_OF_HEAD =
  /<!--[\s\S]*?-->|<(script|style|template|noscript|title)\b[\s\S]*?<\/\1\s*>|<[a-z](?:"[^"]*"|'[^']*'|[^'"<>])*>|(?<end><\/head\s*>)/gi;
const CREATOR = "fediverse:creator";
const COMMENT = /<!--[\s\S]*?-->/g;
const WEBMENTION =
  /<(?:link|a)\b(?=[^>]*(?<![\w-])rel\s*=\s*(?:"[^"]*\bwebmention\b|'[^']*\bwebmention\b|webmention\b))[^>]*>/i;
/** The list of mentions in a page. A timeline has the same element, with the time of its last update. */
const LIST = /<twtxt-mentions\s(?![^>]*\sdata-updated=)/;
const HREF = /(?<![\w-])href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/i;

/** Adds the links to pages, and remembers the pages that name another endpoint or cannot have a link. */
export class HeadLinks {
  readonly #otherEndpoints = new Map<string, number>();
  readonly #linked = new Set<string>();
  /** Includes posts that the filter `renderTransforms` transforms for an RSS feed, without their layout. */
  readonly #withoutHead = new Set<string>();
  /** The links to the feed, the inboxes and the account, by the language of their titles. */
  readonly #links = new Map<string, readonly string[]>();

  constructor(readonly urls: SiteUrls) {}

  begin(): void {
    this.#otherEndpoints.clear();
    this.#linked.clear();
    this.#withoutHead.clear();
    this.#links.clear();
  }

  /** The paths of the pages that have no `</head>`, and so no link to the endpoint. Without the path prefix. */
  pagesWithoutHead(): readonly string[] {
    return [...this.#withoutHead].filter((path) => !this.#linked.has(path)).sort();
  }

  /** The links, one per line. */
  html(lang: string): string {
    const [, ...others] = this.#listLinks(lang);
    const feed = this.#feedLink(this.urls.hrefInTemplates(this.urls.settings.path), lang);
    return [feed, this.#endpointLink(), ...others].filter(Boolean).join("\n");
  }

  /** Translates links that were written before the language of their page was certain. */
  translate(page: string, lang: string): string {
    const links = this.#listLinks(lang);
    const others = [...this.#links.values()].filter((others) => others !== links);
    return others.flat().reduce((html, other, i) => html.replace(other, () => links[i % links.length] ?? ""), page);
  }

  /**
   * Inserts the missing links before the first `</head>`.
   *
   * @param path - of the page, without the path prefix
   * @param lang - of the page
   * @param own - further links of this page alone
   * @returns the parts of the page
   */
  addTo(written: string, path: string, { lang, own = [] }: { lang: string; own?: readonly string[] }): string[] {
    const page = this.translate(written, lang);
    const end = endOfHead(page);
    const url = () => this.urls.absolute(path);
    if (end === null) {
      if (this.urls.endpoint() === null) return [page];
      (this.#isEndpointWanted(page, url) ? this.#withoutHead : this.#linked).add(path);
      return [page];
    }
    this.#linked.add(path);
    const head = page.slice(0, end).replace(COMMENT, "");
    const [feedLink = "", ...inboxLinks] = this.#listLinks(lang);
    const endpointLink = this.#isEndpointWanted(page, url) ? this.#endpointLink() : "";
    const links = [feedLink, this.#mentionsLink(page, url, lang), endpointLink, ...inboxLinks, ...own];
    const isMissing = (link: string) => !(head.includes(link) || (link.includes(CREATOR) && head.includes(CREATOR)));
    const missing = links.filter((link) => link !== "" && isMissing(link)).map((link) => `${link}\n`);
    return [page.slice(0, end), ...missing, page.slice(end)];
  }

  /** Warnings about pages with another endpoint, and about pages without any, if the host sends no headers. */
  warnings(): string[] {
    return [...this.#warningsOnOtherEndpoints(), ...(this.#hasHeaders() ? [] : this.#sentencesOnHeads())];
  }

  /** A note about pages whose host names the endpoint in a header. */
  notes(): string[] {
    return this.#hasHeaders() ? this.#sentencesOnHeads() : [];
  }

  #warningsOnOtherEndpoints(): string[] {
    const entries = [...this.#otherEndpoints];
    if (entries.length === 0) return [];
    const pages = entries.reduce((sum, [, count]) => sum + count, 0);
    const endpoints = entries.map(([endpoint]) => endpoint).join(", ");
    const subject = pages === 1 ? "1 page names" : `${pages} pages name`;
    return [
      `${subject} another webmention endpoint, ${endpoints}, which takes precedence. Remove that link from the layout to receive mentions at ${this.urls.endpoint()}, or set the option "webmention" to it.`,
    ];
  }

  #sentencesOnHeads(): string[] {
    const paths = this.pagesWithoutHead();
    if (paths.length === 0) return [];
    const pages = paths.length === 1 ? "1 page has" : `${paths.length} pages have`;
    const result = this.#hasHeaders()
      ? "so the host names your endpoint for mentions in a Link header"
      : "so other sites cannot find your endpoint for mentions there";
    return [
      `${pages} no </head>, ${result}: ${listed(paths)}. To add the plugin's links to the page, write </head> in the layout, or {% twtxtHead %} below the title.`,
    ];
  }

  #hasHeaders(): boolean {
    return this.urls.environment.host.name !== "static";
  }

  /** The link to the feed comes first. */
  #listLinks(lang: string): readonly string[] {
    return remember(this.#links, lang, () => [
      this.#feedLink(this.urls.feedHref(), lang),
      ...this.#inboxLinks(lang),
      ...this.#accountLinks(),
    ]);
  }

  #feedLink(href: string, lang: string): string {
    const title = escapeHtml(chooseHeadWords(lang).feed.replace("{nick}", () => this.urls.settings.nick));
    return `<link rel="alternate" type="text/plain" title="${title}" href="${escapeHtml(href)}">`;
  }

  /** The Atom feed of the mentions that a page shows: those of the page itself, or all; empty for a page without any. */
  #mentionsLink(page: string, url: () => string, lang: string): string {
    if (!LIST.test(page)) return "";
    const isOfPage = page.includes(` target="${escapeHtml(url())}"`);
    const query = isOfPage ? `?target=${encodeURIComponent(url())}` : "";
    const href = escapeHtml(this.urls.href(PATHS.mentionsAtom) + query);
    const { words } = mentionsOptions(this.urls.settings);
    const title = escapeHtml(chooseWords(lang, { words, lang: this.urls.settings.lang }).title);
    return `<link rel="alternate" type="application/atom+xml" title="${title}" href="${href}">`;
  }

  #endpointLink(): string {
    const webmention = this.urls.endpoint();
    return webmention ? `<link rel="webmention" href="${escapeHtml(webmention)}">` : "";
  }

  /** Links to the discovery documents of the authors. Absolute, because these are at the root of the domain. */
  #inboxLinks(lang: string): string[] {
    return this.urls.inboxes().flatMap(({ user, address, endpoint }) => {
      if (endpoint === null) return [];
      const href = new URL(`/.well-known/msg/${user}.json`, this.urls.settings.url);
      const title = escapeHtml(chooseHeadWords(lang).inbox.replace("{address}", () => address));
      return [`<link rel="describedby" type="application/json" title="${title}" href="${escapeHtml(href.href)}">`];
    });
  }

  /** The account in the fediverse, which previews name as the author of the page. */
  #accountLinks(): string[] {
    const { fediverse, url } = this.urls.settings;
    if (fediverse === undefined) return [];
    const { profile, creator } = fediverseAuthor(fediverse, url);
    return [
      `<link rel="me" href="${escapeHtml(profile)}">`,
      `<meta name="${CREATOR}" content="${escapeHtml(creator)}">`,
    ];
  }

  /** @param url - returns the URL of the page, to resolve relative links */
  #isEndpointWanted(page: string, url: () => string): boolean {
    const webmention = this.urls.endpoint();
    const existing = webmention && page.includes("webmention") ? WEBMENTION.exec(page.replace(COMMENT, "")) : null;
    if (!existing) return true;
    const [, double, single, bare] = HREF.exec(existing[0]) ?? [];
    const href = (double ?? single ?? bare ?? "").replaceAll("&amp;", "&");
    const endpoint = canParseUrl(href, url()) ? new URL(href, url()).href : href;
    if (endpoint !== webmention) this.#otherEndpoints.set(endpoint, (this.#otherEndpoints.get(endpoint) ?? 0) + 1);
    return false;
  }
}

function endOfHead(page: string): number | null {
  for (const { index, groups } of page.matchAll(END_OF_HEAD)) if (groups?.end) return index;
  return null;
}
