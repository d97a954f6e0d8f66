// plugin/eleventy/own-pages.ts: pages that the plugin adds to a site, unless it has one there itself.
import { authorError } from "../errors.js";
import type { Settings } from "../options.js";
import { escapeHtml } from "../site/html.js";
import type { EleventyConfig } from "./eleventy.js";
import type { SiteUrls } from "./site-urls.js";

/**
 * The language of the templates that the pages are made of: JavaScript, in which nothing that strangers wrote is taken for
 * a template. It is our own, since a site may leave any of Eleventy's out of its `templateFormats`.
 */
const LANGUAGE = "twtxt-page";
const TEMPLATE = /\/eleventy-plugin-twtxt-\w+\.twtxt-page$/;

/** The part of a page's data that is read here. */
interface PageData {
  pagination: { pageNumber: number; hrefs: string[] };
}

/** One page, or several that continue each other: `/mentions/`, `/mentions/2/`. */
export interface OwnPages {
  name: "mentions" | "contact";
  title: string;
  /** Where the first one is. */
  path: string;
  /** The option that gives it another path. */
  option: string;
  /** A layout of the site; without one they are plain pages of their own. */
  layout: string | undefined;
  /** How many there are, once the site's data is read. */
  count(): number;
  /**
   * What is in the page, in HTML.
   *
   * @param number - from 0
   * @param hrefs - the paths of them all
   */
  content(number: number, hrefs: readonly string[]): string;
}

interface Site {
  settings: Pick<Settings, "nick" | "lang">;
  urls: Pick<SiteUrls, "hrefInTemplates">;
}

/** Adds pages to a site. */
export function addOwnPages(config: EleventyConfig, { settings, urls }: Site, all: readonly OwnPages[]): void {
  if (all.length === 0) return;
  const { nick, lang = "en" } = settings;
  const home = () => `<a href="${escapeHtml(urls.hrefInTemplates("/"))}" rel="home">${escapeHtml(nick)}</a>`;
  const others = urlsOfPages(config);
  config.on("eleventy.contentMap", ({ inputPathToUrl }) => checkUrls(inputPathToUrl, all));
  config.addTemplateFormats(LANGUAGE);
  config.addExtension(LANGUAGE, {
    outputFileExtension: "html",
    // Eleventy 3.0.0 calls the function in `permalink` only where the language says what to do with it.
    compileOptions: { permalink: (permalink) => permalink },
    compile: (_, file) => {
      const pages = all.find((each) => file.endsWith(fileOf(each)));
      return ({ pagination: { pageNumber, hrefs } }: PageData) => {
        const content = pages?.content(pageNumber, hrefs) ?? "";
        return pages?.layout === undefined
          ? pageHtml(content, { title: pages?.title ?? "", lang, home: home() })
          : content;
      };
    },
  });
  for (const pages of all) config.addTemplate(fileOf(pages), "", dataOf(pages, others));
}

function dataOf({ title, layout, path, count }: OwnPages, others: ReadonlySet<string>): object {
  const first = path.replace(/\/?$/, "/");
  return {
    title,
    layout: layout ?? false,
    eleventyExcludeFromCollections: true,
    pagination: {
      // Has its turn after all templates that use no collections, so that their URLs are known by then.
      data: "collections",
      size: 1,
      before: () => (others.has(first) ? [] : Array.from({ length: count() }, (_, i) => i)),
    },
    permalink: ({ pagination: { pageNumber } }: PageData) => (pageNumber === 0 ? first : `${first}${pageNumber + 1}/`),
  };
}

function fileOf({ name }: OwnPages): string {
  return `eleventy-plugin-twtxt-${name}.${LANGUAGE}`;
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
function checkUrls(urlsByTemplate: Readonly<Record<string, readonly string[]>>, all: readonly OwnPages[]): void {
  const templates = Object.entries(urlsByTemplate);
  const own = new Map(
    templates.flatMap(([path, urls]) => {
      const pages = all.find((each) => path.endsWith(fileOf(each)));
      return pages ? urls.map((url) => [url, pages.option] as const) : [];
    }),
  );
  for (const [path, urls] of templates) {
    const url = TEMPLATE.test(path) ? undefined : urls.find((each) => own.has(each));
    if (url === undefined) continue;
    throw authorError(
      "output-conflict",
      `${path} is written to ${url} already. Remove that file, or give the option "${own.get(url)}" another path, or false. Nothing was overwritten.`,
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
<style eleventy:ignore>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere }
pre { white-space: pre-wrap }
.twtxt-mentions { list-style: none; padding: 0 }
.twtxt-mentions li { margin: 0 0 1.5rem }
.twtxt-mentions p { margin: 0 }
</style>
</head>
<body>
<p>${home}</p>
<main>
<h1>${escapeHtml(title)}</h1>
${content}</main>
</body>
</html>
`;
}
