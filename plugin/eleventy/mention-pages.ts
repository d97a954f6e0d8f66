// plugin/eleventy/mention-pages.ts: pages that list all mentions.
import type { Settings } from "../options.js";
import { escapeHtml } from "../site/html.js";
import type { OwnPages } from "./own-pages.js";
import type { SiteMentions } from "./site-mentions.js";
import type { SiteUrls } from "./site-urls.js";

/** What the pages are made from. */
export interface MentionPagesParts {
  settings: Pick<Settings, "mentions">;
  urls: Pick<SiteUrls, "hrefInTemplates" | "hasReceiver">;
  mentions: Pick<SiteMentions, "pageNumbers" | "listOfPage">;
}

/** The pages; none if the site receives no mentions or turns the pages off. */
export function mentionPages({ settings: { mentions: options }, urls, mentions }: MentionPagesParts): OwnPages[] {
  if (options === false || options.pages === false || !urls.hasReceiver()) return [];
  const { pages: path, layout, words } = options;
  const link = (href: string | undefined, rel: string, text: string) =>
    href === undefined
      ? ""
      : `<a href="${escapeHtml(urls.hrefInTemplates(href))}" rel="${rel}">${escapeHtml(text)}</a>\n`;

  const content = (number: number, hrefs: readonly string[]) => {
    const around = link(hrefs[number - 1], "prev", words.newer) + link(hrefs[number + 1], "next", words.older);
    const nav = around && `<nav class="twtxt-around" aria-label="${escapeHtml(words.title)}">\n${around}</nav>\n`;
    return `${mentions.listOfPage(number + 1)}\n${nav}`;
  };
  const count = () => mentions.pageNumbers().length;
  return [{ name: "mentions", title: words.title, path, option: "mentions.pages", layout, count, content }];
}
