// plugin/eleventy/posts/syndication.ts: the copies of posts on other networks, from their front matter. PROTOCOL 2.7
import { badFrontMatter } from "../../errors.js";
import { element, escapeHtml, toHtml } from "../../site/html.js";
import { canParseUrl } from "../../url.js";
import type { CollectionItem } from "../eleventy.js";

const BLUESKY = "bsky.app";

/**
 * The URLs of a post's copies.
 *
 * @throws TwtxtError `bad-front-matter` for anything but a URL or a list of URLs
 */
export function readSyndication(post: Pick<CollectionItem, "data" | "inputPath">): string[] {
  const { syndication } = post.data;
  const urls: unknown[] = [syndication ?? []].flat().filter((url) => url !== "" && url !== null);
  const wrong = urls.find((url) => typeof url !== "string" || !/^https?:/i.test(url) || !canParseUrl(url));
  if (wrong === undefined) return [...new Set(urls as string[])];
  const expected = 'a URL such as "https://mastodon.example/@alice/1", or a list of them';
  throw badFrontMatter(post, `syndication: ${expected}`, wrong);
}

/** Links to the copies, for readers and for programs that read microformats; empty without any. */
export function syndicationHtml(urls: readonly string[], alsoOn: string, lang: { lang?: string }): string {
  if (urls.length === 0) return "";
  const links = urls.flatMap((url, i) => {
    const { host } = new URL(url);
    const name = host === BLUESKY ? "Bluesky" : host;
    return [...(i === 0 ? [] : [", "]), element("a", { class: "u-syndication", rel: "syndication", href: url }, name)];
  });
  return toHtml(element("p", { class: "twtxt-syndication", ...lang }, `${alsoOn} `, element("span", {}, ...links)));
}

/** The same for the `<head>`, so that a post has them in any layout. */
export function syndicationLinks(urls: readonly string[]): string[] {
  return urls.map((url) => `<link rel="syndication" href="${escapeHtml(url)}">`);
}
