// plugin/eleventy/page-heading.ts: the heading of the plugin's pages, alone and in the layout of a site.
import { escapeHtml } from "../site/html.js";

const CLASS = "twtxt-title";

/** Matches comments, scripts and styles as a whole, so that a heading inside them is skipped. */
const HEADING =
  /<!--[\s\S]*?-->|<(script|style|template)\b[\s\S]*?<\/\1\s*>|<h1\b(?<attributes>[^>]*)>(?<content>[\s\S]*?)<\/h1\s*>/gi;

/** The heading of a page of the plugin. */
export function pageHeading(title: string): string {
  return `<h1 class="${CLASS}">${escapeHtml(title)}</h1>\n`;
}

/**
 * Leaves one `<h1>` in a page that is complete. Many layouts have a heading with the page's title, which replaces the
 * plugin's; in others the name of the site is the `<h1>`, and the plugin's becomes an `<h2>`.
 */
export function withOneHeading(page: string): string {
  const headings = [...page.matchAll(HEADING)].filter(({ groups }) => groups?.content !== undefined);
  const own = headings.find(({ groups }) => groups?.attributes?.includes(CLASS));
  const others = headings.filter((heading) => heading !== own);
  if (!own || others.length === 0) return page;
  const { attributes = "", content = "" } = own.groups ?? {};
  const isTitled = others.some(({ groups }) => lettersOf(groups?.content).includes(lettersOf(content)));
  const replacement = isTitled ? "" : `<h2${attributes}>${content}</h2>`;
  return page.slice(0, own.index) + replacement + page.slice(own.index + own[0].length);
}

/** The letters and digits of a heading: layouts and minifiers write the rest in different ways. */
function lettersOf(html = ""): string {
  return html.replace(/<[^>]*>|&#?\w+;|[^\p{L}\p{N}]/gu, "").toLowerCase();
}
