// plugin/feed/author-pages.ts: the web pages that a feed names for its author and its twts.
import { parseUrl } from "../url.js";
import { webUrlOrNull } from "../web-url.js";
import type { FeedHeader } from "./feed.js";
import { isMentionUrl } from "./mention.js";

const MAX_URL_LENGTH = 2048;
/** Characters at the end of a twt that are searched for its page. */
const END_LENGTH = 8192;

/**
 * The author's page: the first `# link = <text> <url>` to the feed's own host. A link to another host is only a claim.
 *
 * @param feedUrl - the URL that answered
 * @returns `null` for none
 * @example findAuthorPage({ link: ["My blog https://bob.example/"] }, "https://bob.example/twtxt.txt") // "https://bob.example/"
 */
export function findAuthorPage({ link = [] }: FeedHeader, feedUrl: string): string | null {
  const pages = link.map((value) => pageOnHost(lastWord(value.slice(-END_LENGTH)), feedUrl));
  return pages.find((page) => page !== null && page !== feedUrl) ?? null;
}

/**
 * The page of a twt: the URL at its end, as in "Title: URL", on the feed's own host. Mentions may follow. The start page of a
 * site is not the page of a twt, nor is a URL in a sentence that ends after it.
 *
 * @returns `null` for none
 * @example findTwtPage("Hens: https://bob.example/hens/ @<alice https://alice.example/twtxt.txt>", "https://bob.example/twtxt.txt") // "https://bob.example/hens/"
 */
export function findTwtPage(text: string, feedUrl: string): string | null {
  let rest = text.slice(-END_LENGTH).trimEnd();
  while (rest.endsWith(">")) {
    const start = rest.lastIndexOf("<");
    if (rest[start - 1] !== "@") return null;
    rest = rest.slice(0, start - 1).trimEnd();
  }
  const page = /[.,;:!?]$/.test(rest) ? null : pageOnHost(lastWord(rest), feedUrl);
  return page === null || page === feedUrl || new URL(page).pathname === "/" ? null : page;
}

/**
 * The author's account on another network, as `# link = Mastodon https://mastodon.example/@bob` names it. It is only a claim.
 *
 * @param networks - names, the preferred one first
 * @returns `null` for none
 * @example findAccountPage({ link: ["Mastodon https://mastodon.example/@bob"] }, ["bluesky", "mastodon"]) // "https://mastodon.example/@bob"
 */
export function findAccountPage({ link = [] }: FeedHeader, networks: readonly string[]): string | null {
  const links = link.map((value) => value.slice(0, MAX_URL_LENGTH).trim().split(/\s+/));
  const find = (network: string) =>
    links.find(([name, url = ""]) => name?.toLowerCase() === network && /^https:/i.test(url) && isMentionUrl(url))?.[1];
  return networks.map(find).find((url) => url !== undefined) ?? null;
}

function lastWord(text: string): string {
  return text.split(/\s/).at(-1) ?? "";
}

/** @returns `null` for anything but the URL of a page on the feed's host, with or without a leading `www.` */
function pageOnHost(url: string, feedUrl: string): string | null {
  const page = isMentionUrl(url) ? webUrlOrNull(url) : null;
  return page !== null && bareHost(new URL(page).host) === bareHost(parseUrl(feedUrl).host) ? page : null;
}

function bareHost(host: string): string {
  return host.replace(/^www\./, "");
}
