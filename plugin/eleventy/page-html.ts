// plugin/eleventy/page-html.ts: the HTML of pages without a layout of the site.
import { escapeHtml } from "../site/html.js";

interface PageParts {
  title: string;
  lang: string;
  home: string;
  /** Further elements of the head, in lines. */
  head?: string;
}

/** A complete page, for sites without a layout. */
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

/** The link to the home page. */
export function homeLink(href: string, nick: string): string {
  return `<a href="${escapeHtml(href)}" rel="home">${escapeHtml(nick)}</a>`;
}
