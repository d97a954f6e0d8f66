// plugin/eleventy/pages/page-html.ts: the heading of the plugin's pages, and their HTML without a layout of the site.
import { escapeHtml } from "../../site/html.js";

interface PageParts {
  title: string;
  lang: string;
  home: string;
  /** Further elements of the head, in lines. */
  head?: string;
}

export function pageHtml(content: string, { title, lang, home, head = "" }: PageParts): string {
  return `<!doctype html>
<html lang="${escapeHtml(lang)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
${head}<style eleventy:ignore>
html { background: Canvas; color: CanvasText }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere }
pre { white-space: pre-wrap }
</style>
</head>
<body>
<header>
<p>${home}</p>
</header>
<main>
${content}</main>
</body>
</html>
`;
}

export function homeLink(href: string, nick: string): string {
  return `<a href="${escapeHtml(href)}" rel="home">${escapeHtml(nick)}</a>`;
}

const CLASS = "twtxt-title";

/** Matches comments, scripts and styles as a whole, so that a heading inside them is skipped. */
const HEADING =
  /<!--[\s\S]*?-->|<(script|style|template)\b[\s\S]*?<\/\1\s*>|<h1\b(?<attributes>[^>]*)>(?<content>[\s\S]*?)<\/h1\s*>/gi;

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
  const isTitled = others.some(({ groups }) => readLetters(groups?.content).includes(readLetters(content)));
  const replacement = isTitled ? "" : `<h2${attributes}>${content}</h2>`;
  return page.slice(0, own.index) + replacement + page.slice(own.index + own[0].length);
}

/** The letters and digits of a heading: layouts and minifiers write the rest in different ways. */
function readLetters(html = ""): string {
  return html.replace(/<[^>]*>|&#?\w+;|[^\p{L}\p{N}]/gu, "").toLowerCase();
}
