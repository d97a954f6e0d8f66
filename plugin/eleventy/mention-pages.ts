// plugin/eleventy/mention-pages.ts: pages that list all mentions.
import { authorError } from "../errors.js";
import type { Settings } from "../options.js";
import type { EleventyConfig } from "./eleventy.js";
import { escapeHtml } from "./html.js";
import type { SiteMentions } from "./site-mentions.js";
import type { SiteUrls } from "./site-urls.js";

/**
 * The language of the template that the pages are made of: JavaScript, in which nothing that strangers wrote is taken for
 * a template. It is our own, since a site may leave any of Eleventy's out of its `templateFormats`.
 */
const LANGUAGE = "twtxt-mentions";
const TEMPLATE = `eleventy-plugin-twtxt.${LANGUAGE}`;

/** The part of a page's data that is read here. */
interface PageData {
  pagination: { pageNumber: number; hrefs: string[] };
}

/** What the pages are made from. */
export interface MentionPagesParts {
  settings: Settings;
  urls: SiteUrls;
  mentions: SiteMentions;
}

/** Adds the pages to a site, unless it has one there itself. */
export function addMentionPages(config: EleventyConfig, { settings, urls, mentions }: MentionPagesParts): void {
  const { mentions: options, nick, lang = "en" } = settings;
  if (options === false || options.pages === false) return;
  const { layout, words } = options;
  const first = options.pages.replace(/\/?$/, "/");
  const others = urlsOfPages(config);
  config.on("eleventy.contentMap", ({ inputPathToUrl }) => checkUrls(inputPathToUrl));
  const link = (path: string | undefined, rel: string, text: string) =>
    path === undefined
      ? ""
      : `<a href="${escapeHtml(urls.hrefInTemplates(path))}" rel="${rel}">${escapeHtml(text)}</a>\n`;

  const contentOf = ({ pagination: { pageNumber, hrefs } }: PageData) => {
    const around = link(hrefs[pageNumber - 1], "prev", words.newer) + link(hrefs[pageNumber + 1], "next", words.older);
    const nav = around && `<nav class="twtxt-around" aria-label="${escapeHtml(words.title)}">\n${around}</nav>\n`;
    return `${mentions.listOfPage(pageNumber + 1)}\n${nav}`;
  };
  const wholePage = (content: string) => pageHtml(content, { title: words.title, lang, home: link("/", "home", nick) });

  config.addTemplateFormats(LANGUAGE);
  config.addExtension(LANGUAGE, {
    outputFileExtension: "html",
    compile: () => (data: PageData) => (layout === undefined ? wholePage(contentOf(data)) : contentOf(data)),
  });
  config.addTemplate(TEMPLATE, "", {
    title: words.title,
    layout: layout ?? false,
    eleventyExcludeFromCollections: true,
    pagination: {
      // Has its turn after all templates that use no collections, so that their URLs are known by then.
      data: "collections",
      size: 1,
      before: () => (others.has(first) ? [] : mentions.pageNumbers()),
    },
    permalink: ({ pagination: { pageNumber } }: PageData) => (pageNumber === 0 ? first : `${first}${pageNumber + 1}/`),
  });
}

/** Those of templates that use no collections: whether others have theirs before or after us is by chance. */
function urlsOfPages(config: EleventyConfig): ReadonlySet<string> {
  const urls = new Set<string>();
  let isLate = false;
  config.on("eleventy.before", () => urls.clear());
  // Each template passes here before it gets its URLs, one template after the other.
  config.addPreprocessor(LANGUAGE, "*", ({ pagination, eleventyImport }) => {
    isLate = eleventyImport !== undefined || /^collections\b/.test(String(pagination?.data));
  });
  config.addUrlTransform(({ url }) => {
    if (!isLate) urls.add(url);
  });
  return urls;
}

/** @throws TwtxtError `output-conflict` naming the site's file that has an URL of these pages */
function checkUrls(urlsByTemplate: Readonly<Record<string, readonly string[]>>): void {
  const templates = Object.entries(urlsByTemplate);
  const own = new Set(templates.flatMap(([path, urls]) => (path.endsWith(`/${TEMPLATE}`) ? urls : [])));
  for (const [path, urls] of templates) {
    const url = path.endsWith(`/${TEMPLATE}`) ? undefined : urls.find((each) => own.has(each));
    if (url === undefined) continue;
    throw authorError(
      "output-conflict",
      `${path} is written to ${url} already. Remove that file, or give the option "mentions.pages" another path, or false. Nothing was overwritten.`,
    );
  }
}

/** A page for sites that name no layout; a layout has the title to print itself. */
function pageHtml(content: string, { title, lang, home }: { title: string; lang: string; home: string }): string {
  return `<!doctype html>
<html lang="${escapeHtml(lang)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere }
.twtxt-mentions { list-style: none; padding: 0 }
.twtxt-mentions li { margin: 0 0 1.5rem }
.twtxt-mentions p { margin: 0 }
</style>
</head>
<body>
<p>${home.trimEnd()}</p>
<main>
<h1>${escapeHtml(title)}</h1>
${content}</main>
</body>
</html>
`;
}
