// plugin/eleventy/own-pages.ts: pages that the plugin adds to the site, unless the site has its own at that path.
import { authorError } from "../errors.js";
import type { Settings } from "../options.js";
import { escapeHtml } from "../site/html.js";
import type { EleventyConfig } from "./eleventy.js";
import type { SiteUrls } from "./site-urls.js";

/**
 * The template language of these pages: plain JavaScript, so that text from mentions is never run as a template. Sites may
 * leave any of Eleventy's own languages out of `templateFormats`.
 */
const LANGUAGE = "twtxt-page";
const TEMPLATE = /\/eleventy-plugin-twtxt-\w+\.twtxt-page$/;

/** The part of a page's data that is used here. */
interface PageData {
  pagination: { pageNumber: number; hrefs: string[] };
}

/** One page, or numbered pages: `/mentions/`, `/mentions/2/`. */
export interface OwnPages {
  name: "mentions" | "contact";
  title: string;
  /** The path of the first page. */
  path: string;
  /** The option that sets the path. */
  option: string;
  /** A layout of the site; without one, the page is complete HTML with its own style. */
  layout: string | undefined;
  /** Number of pages. Called after the site's data is read. */
  count(): number;
  /**
   * The HTML of a page.
   *
   * @param number - page number from 0
   * @param hrefs - the paths of all pages
   */
  content(number: number, hrefs: readonly string[]): string;
}

interface Site {
  settings: Pick<Settings, "nick" | "lang">;
  urls: Pick<SiteUrls, "hrefInTemplates">;
}

/** Adds the pages to a site. */
export function addOwnPages(config: EleventyConfig, { settings, urls }: Site, all: readonly OwnPages[]): void {
  if (all.length === 0) return;
  const { nick, lang = "en" } = settings;
  const home = () => `<a href="${escapeHtml(urls.hrefInTemplates("/"))}" rel="home">${escapeHtml(nick)}</a>`;
  const others = urlsOfPages(config);
  config.on("eleventy.contentMap", ({ inputPathToUrl }) => checkUrls(inputPathToUrl, all));
  config.addTemplateFormats(LANGUAGE);
  config.addExtension(LANGUAGE, {
    outputFileExtension: "html",
    // Eleventy 3.0.0 calls a `permalink` function only if the language defines this option.
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
      // Processed after all templates that use no collections, so their URLs are known by then.
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

/** The URLs of templates that use no collections. Those of other templates may not be known in time. */
function urlsOfPages(config: EleventyConfig): ReadonlySet<string> {
  const urls = new Set<string>();
  let isLate = false;
  config.on("eleventy.before", () => urls.clear());
  // Called for each template before its URLs are computed, one template after the other.
  config.addPreprocessor(LANGUAGE, "*", ({ pagination, eleventyImport }) => {
    isLate = eleventyImport !== undefined || /^collections\b/.test(String(pagination?.data));
  });
  config.addUrlTransform(({ url }) => {
    if (!isLate) urls.add(url);
  });
  return urls;
}

/** @throws TwtxtError `output-conflict` naming the site's file with the URL of one of these pages */
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

/** A complete page, for sites without a layout. */
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
