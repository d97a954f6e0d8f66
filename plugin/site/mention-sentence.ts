// plugin/site/mention-sentence.ts: what a mention says about a page, such as "replied to A wooden boat".
import type { Words } from "../options/words.js";
import { isFeedUrl } from "../url.js";
import type { MentionType, PublicMention } from "./mention-list.js";

/** A mention of the site, also of one that is not verified yet. */
interface Mentioning extends Pick<PublicMention, "target" | "under"> {
  /** Of the page that it is about, if known. */
  title?: string | null;
  /** `null` while the mention is not verified. */
  type: MentionType | null;
}

/** The words after an author's name: those before a page, the page, and those after it. */
export interface MentionSentence {
  before: string;
  /** `null` for a sentence without a page, such as "mentioned you"; its title is `null` if unknown. */
  page: { href: string; title: string | null } | null;
  after: string;
}

/** @param feedUrl - the site's own feed: a mention of it is one of its author */
export function describeMention(
  { type: knownType, target, under, title = null }: Mentioning,
  feedUrl: string,
  words: Words,
): MentionSentence {
  const type = knownType ?? "mention";
  const href = under ?? target;
  if (href === feedUrl && type === "mention") return { before: words.mentionYou, page: null, after: "" };
  if (href === feedUrl && type === "reply") return { before: words.replyYou, page: null, after: "" };
  if (href === feedUrl || !isFeedUrl(href)) return { before: words[type], page: null, after: "" };
  const [before = "", after = ""] = words[`${type}Of`].split("{page}");
  return { before, page: { href, title }, after };
}

export function pageLabel({ href, title }: NonNullable<MentionSentence["page"]>): string {
  if (title !== null) return title;
  const { pathname } = new URL(href);
  try {
    return decodeURI(pathname);
  } catch {
    return pathname;
  }
}

/** The sentence in one line of plain text, such as `replied to "A wooden boat"`; with the URL of a page without a title. */
export function formatSentence({ before, page, after }: MentionSentence): string {
  const name = page && (page.title === null ? page.href : `"${page.title}"`);
  return `${before}${name ?? ""}${after}`.replace(/\s+/g, " ");
}

/** The host of a normalized URL. A pattern, since the build asks for each item of each page. */
const HOST = /^https?:\/\/(?:www\.)?([^/?#]+)/i;

/**
 * The host of a mention's source, if the URL of its author is on another host: a page can claim any author, and services
 * such as Bridgy publish for others. A leading `www.` makes no difference.
 *
 * @returns `null` if both are on the same host, or the author has no URL
 * @example viaHost({ source: "https://brid.gy/like/1", author: { url: "https://bob.example/" } }) // "brid.gy"
 */
export function viaHost({ source, author }: { source: string; author: { url: string } }): string | null {
  const [host, authorHost] = [source, author.url].map((url) => HOST.exec(url)?.[1]?.toLowerCase());
  return host === undefined || authorHost === undefined || host === authorHost ? null : host;
}
