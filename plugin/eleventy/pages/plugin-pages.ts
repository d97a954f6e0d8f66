// plugin/eleventy/pages/plugin-pages.ts: pages that the plugin adds to a site: all mentions, the timeline, and how to contact the authors.
import { inboxOptions } from "../../options/inbox.js";
import { mentionsOptions } from "../../options/mentions.js";
import type { Settings } from "../../options.js";
import { element, escapeHtml, toHtml } from "../../site/html.js";
import { lines } from "../../site/write-form.js";
import { noteOnOwnPage } from "../build-report.js";
import type { EleventyConfig } from "../eleventy.js";
import { KEEP } from "../mentions/mention-html.js";
import { ENDPOINT_PAGE } from "../output/publish.js";
import { outputConflict } from "../output/write-files.js";
import type { SiteParts } from "../site-parts.js";
import { checkLayout } from "./layouts.js";
import { homeLink, pageHeading, pageHtml, withOneHeading } from "./page-html.js";
import type { RenderedPage, WritePart } from "./page-languages.js";

/**
 * The template language of these pages: plain JavaScript, so that text from mentions is never run as a template. Sites may
 * leave any of Eleventy's own languages out of `templateFormats`.
 */
const LANGUAGE = "twtxt-page";
const TEMPLATE = /\/eleventy-plugin-twtxt-\w+\.twtxt-page$/;

/** One page, or numbered pages: `/mentions/`, `/mentions/2/`. */
interface PluginPages {
  name: "mentions" | "timeline" | "contact" | "endpoint";
  /** Such as "contact page", for messages of the build. */
  noun: string;
  /** The template data or shortcode that shows its content on a page of the site. */
  tool: string;
  title: string;
  path: string;
  /** The option that sets the path. */
  option: string;
  /** A layout of the site, and the option that names it; without one, the page is complete HTML with its own style. */
  layout: string | undefined;
  layoutOption: string;
  /** Number of pages. Called after the site's data is read. */
  count(): number;
  /** Prepares the HTML of a page. @param number - page number from 0 */
  content(number: number): WritePart | Promise<WritePart>;
}

interface PageData {
  page: RenderedPage;
  pagination: { pageNumber: number; hrefs: string[] };
}

/** Adds the pages that the options turn on, unless the site has its own at that path. */
export function addPluginPages(config: EleventyConfig, site: SiteParts): void {
  const all = [...mentionPages(site), ...timelinePage(site), ...contactPage(site), ...endpointPage(site)];
  if (all.length === 0) return;
  const others = urlsOfPages(config);
  config.addTemplateFormats(LANGUAGE);
  config.addExtension(LANGUAGE, createLanguage(all, site));
  config.addTransform(LANGUAGE, function (content) {
    return TEMPLATE.test(this.page?.inputPath ?? "") ? withOneHeading(content) : content;
  });
  const listNumbers = (pages: PluginPages): number[] => {
    const numbers = Array.from({ length: pages.count() }, (_, i) => i);
    if (!others.has(firstUrl(pages))) return numbers;
    if (numbers.length > 0) site.ownPages.add(noteOnOwnPage(firstUrl(pages), pages));
    return [];
  };
  for (const pages of all) {
    config.addTemplate(toFileName(pages), "", { ...site.settings.data, ...createData(pages, listNumbers) });
  }
  config.on("eleventy.before", () => {
    for (const { layout, layoutOption } of all) if (layout !== undefined) checkLayout(layout, layoutOption, config);
  });
  config.on("eleventy.contentMap", ({ inputPathToUrl }) => {
    checkUrls(inputPathToUrl, all);
    site.plainPages = all
      .filter(({ layout }) => layout === undefined)
      .flatMap((pages) => Object.entries(inputPathToUrl).filter(([path]) => path.endsWith(toFileName(pages))))
      .flatMap(([, urls]) => urls.slice(0, 1));
  });
}

function chooseLayout(own: string | undefined, ownOption: string, { layout }: Settings) {
  if (own !== undefined) return { layout: own, layoutOption: ownOption };
  return { layout: layout || undefined, layoutOption: "layout" };
}

function createLanguage(all: readonly PluginPages[], site: SiteParts): Parameters<EleventyConfig["addExtension"]>[1] {
  const { urls, languages } = site;
  const { nick, lang = "en" } = site.settings;
  return {
    outputFileExtension: "html",
    // Eleventy 3.0.0 calls a `permalink` function only if the language defines this option.
    compileOptions: { permalink: (permalink) => permalink },
    compile: (_, file) => {
      const pages = all.find((each) => file.endsWith(toFileName(each)));
      return async ({ page, pagination: { pageNumber, hrefs } }: PageData) => {
        if (!pages) return "";
        const { title, layout } = pages;
        const write = await pages.content(pageNumber);
        const around = [hrefs[pageNumber - 1], hrefs[pageNumber + 1]] as const;
        const part: WritePart = (...form) => write(...form) + navigation(around, pages, site, form);
        const content = pageHeading(title) + languages.write(page, part);
        const home = homeLink(urls.hrefInTemplates("/"), nick);
        return layout === undefined ? pageHtml(content, { title, lang, home }) : content;
      };
    },
  };
}

function mentionPages({ settings, urls, mentions }: SiteParts): PluginPages[] {
  const { mentions: options } = settings;
  if (options === false || options.pages === false || !urls.has("mentions")) return [];
  const { pages: path } = options;
  const layout = chooseLayout(options.layout, "mentions.layout", settings);
  const content =
    (number: number): WritePart =>
    (...form) =>
      `${mentions.listOfPage(number + 1, ...form)}\n`;
  const count = () => mentions.pageCount();
  const named = { name: "mentions", noun: "list of all mentions", tool: "twtxt.mentions" } as const;
  return [{ ...named, title: mentions.words.title, path, option: "mentions.pages", ...layout, count, content }];
}

/** Links to the pages before and after one of several; empty for a single page. */
function navigation(
  [before, after]: readonly [before: string | undefined, after: string | undefined],
  { name }: PluginPages,
  { urls, mentions }: SiteParts,
  [lang, isComplete]: Parameters<WritePart>,
): string {
  const words = mentions.chooseWords(lang);
  const toPath = (href: string) => (isComplete ? urls.href(href) : urls.hrefInTemplates(href));
  const link = (href: string | undefined, rel: string, text: string) =>
    href === undefined ? [] : [element("a", { href: toPath(href), rel }, text)];
  const links = [...link(before, "prev", words.newer), ...link(after, "next", words.older)];
  if (links.length === 0) return "";
  const attributes = {
    class: "twtxt-around",
    ...mentions.toLangAttribute(lang),
    "aria-label": words[name === "timeline" ? name : "title"],
  };
  return `${toHtml(element("nav", attributes, ...lines(links)))}\n`;
}

function timelinePage({ settings, timeline, mentions }: SiteParts): PluginPages[] {
  if (timeline.options === null) return [];
  const { path } = timeline.options;
  const layout = chooseLayout(timeline.options.layout, "timeline.layout", settings);
  const title = mentions.words.timeline;
  const content = async (number: number): Promise<WritePart> => {
    const write = await timeline.html(number + 1);
    return (...form) => `${write(...form)}\n`;
  };
  const count = () => timeline.pageCount();
  const named = { name: "timeline", noun: "timeline", tool: "twtxt.timeline" } as const;
  return [{ ...named, title, path, option: "timeline.path", ...layout, count, content }];
}

function contactPage({ settings, contact }: SiteParts): PluginPages[] {
  const options = inboxOptions(settings);
  const { page: path } = options;
  const layout = chooseLayout(options.layout, "inbox.layout", settings);
  if (settings.inbox === false || path === false) return [];
  const count = () => (contact.hasContent() ? 1 : 0);
  const content = (): WritePart => (lang) => contact.html(lang);
  const named = { name: "contact", noun: "contact page", tool: "{% twtxtContact %}" } as const;
  return [{ ...named, title: contact.words.title, path, option: "inbox.page", ...layout, count, content }];
}

/** The page in the site's layout in which the endpoint answers people. The build takes it out of the site. */
function endpointPage({ settings, urls, mentions, assets }: SiteParts): PluginPages[] {
  const layout = chooseLayout(mentionsOptions(settings).layout, "mentions.layout", settings);
  if (!urls.has("mentions") || layout.layout === undefined) return [];
  const content = (): WritePart => () => {
    const style = assets.style();
    const link = style === null ? "" : `<link rel="stylesheet" href="${escapeHtml(style)}" ${KEEP}>\n`;
    return `${link}<div class="twtxt-answer"></div>\n`;
  };
  const named = { name: "endpoint", noun: "page of the endpoint", tool: "twtxt.mentions" } as const;
  const { title } = mentions.words;
  return [{ ...named, title, path: ENDPOINT_PAGE, option: "mentions.path", ...layout, count: () => 1, content }];
}

/** @param listNumbers - the numbers of the pages to build, from 0 */
function createData(pages: PluginPages, listNumbers: (pages: PluginPages) => number[]): object {
  const { title, layout } = pages;
  const first = firstUrl(pages);
  return {
    title,
    layout: layout ?? false,
    eleventyExcludeFromCollections: true,
    pagination: {
      // Processed after all templates that use no collections, so their URLs are known by then.
      data: "collections",
      size: 1,
      before: () => listNumbers(pages),
    },
    permalink: ({ pagination: { pageNumber } }: PageData) => (pageNumber === 0 ? first : `${first}${pageNumber + 1}/`),
  };
}

function firstUrl({ path }: PluginPages): string {
  return path.replace(/\/?$/, "/");
}

function toFileName({ name }: PluginPages): string {
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
function checkUrls(urlsByTemplate: Readonly<Record<string, readonly string[]>>, all: readonly PluginPages[]): void {
  const templates = Object.entries(urlsByTemplate);
  const own = new Map(
    templates.flatMap(([path, urls]) => {
      const pages = all.find((each) => path.endsWith(toFileName(each)));
      return pages ? urls.map((url) => [url, pages.option] as const) : [];
    }),
  );
  for (const [path, urls] of templates) {
    const url = TEMPLATE.test(path) ? undefined : urls.find((each) => own.has(each));
    if (url === undefined) continue;
    throw outputConflict(path, url, `set the option "${own.get(url)}" to another path`);
  }
}
