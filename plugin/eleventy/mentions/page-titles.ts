// plugin/eleventy/mentions/page-titles.ts: the titles of the site's pages, for sentences about them.
import type { Collections } from "../eleventy.js";
import { requirePermalink } from "../posts/post-date.js";
import { toItems } from "../posts/posts.js";
import type { TwtsFromPosts } from "../posts/twts-from-posts.js";

/** Titles of pages by URL. A function returns `null` while the page is not rendered. */
export type PageTitles = ReadonlyMap<string, () => string | null>;

/** Longer texts of notes are cut at a word, in characters. */
const LENGTH = 50;

/** The titles of all pages. A note has its first words instead, once it is rendered. */
export function pageTitles(collections: Collections, twts: TwtsFromPosts): PageTitles {
  const { urls } = twts.site;
  const titles = new Map<string, () => string | null>();
  for (const { url, data } of toItems(collections.all)) {
    const { title } = data;
    if (url && typeof title === "string" && title !== "") titles.set(urls.absolute(url), () => title);
  }
  for (const { post } of twts.schedule.dated) {
    const page = post.url ? urls.absolute(post.url) : null;
    if (page !== null && !titles.has(page))
      titles.set(page, () => firstWords(ifRendered(() => twts.findTwt(requirePermalink(post)))?.text ?? ""));
  }
  return titles;
}

/** Reads what needs rendered posts. @returns `null` while they are not rendered */
export function ifRendered<Result>(read: () => Result): Result | null {
  try {
    return read();
  } catch (error) {
    if (Object(error).name === "TemplateContentPrematureUseError" || Object(error).code === "twt-too-early")
      return null;
    throw error;
  }
}

/** The first words of a twt, without its subject and whom it answers, links and marks; `null` for an empty one. */
function firstWords(text: string): string | null {
  const plain = text
    .replace(/^\(#[^()]*\) *(?:@<[^<>]*> *)?/, "")
    .replace(/@<(?:([^\s<>]+) +)?https?:\/\/([^\s<>/]+)[^\s<>]*>/gi, (_, nick, host) => `@${nick ?? host}`)
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[*`]|\s+/g, (mark) => (mark.trim() === "" ? " " : ""))
    .trim();
  const cut =
    plain.length > LENGTH
      ? `${plain
          .slice(0, LENGTH + 1)
          .replace(/\s+\S*$/, "")
          .slice(0, LENGTH)}\u00a0…`
      : plain;
  return cut || null;
}
