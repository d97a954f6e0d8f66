// plugin/eleventy/site-parts.ts: the parts of the plugin that templates and pages use, for all builds of a process.
import type { Settings } from "../options.js";
import { addMentionRule, isMarkdownIt, linkMentions } from "../text/markdown-mentions.js";
import type { BuildEnvironment } from "./build-environment.js";
import type { EleventyConfig, TemplateContext } from "./eleventy.js";
import { Findings } from "./findings.js";
import { joinWithoutKeep } from "./mentions/mention-html.js";
import { SiteMentions } from "./mentions/site-mentions.js";
import { SiteTimeline } from "./mentions/site-timeline.js";
import { HeadLinks } from "./pages/head-links.js";
import { PageAssets } from "./pages/page-assets.js";
import { PageLanguages } from "./pages/page-languages.js";
import { SharedBlobs } from "./pages/shared-blobs.js";
import { SiteContact } from "./pages/site-contact.js";
import { DeletedPosts, deletedPageHtml } from "./posts/deleted-posts.js";
import { syndicationLinks } from "./posts/syndication.js";
import { SiteUrls } from "./site-urls.js";

export class SiteParts {
  readonly urls: SiteUrls;
  readonly languages: PageLanguages;
  readonly mentions: SiteMentions;
  readonly timeline: SiteTimeline;
  readonly contact: SiteContact;
  readonly assets: PageAssets;
  readonly blobs: SharedBlobs;
  readonly head: HeadLinks;
  readonly deleted = new DeletedPosts();
  /** The URLs of the copies of posts on other networks, by path. */
  copies: ReadonlyMap<string, readonly string[]> = new Map();
  /** Texts that look like mentions but name no known feed. */
  readonly unknownMentions = new Findings();
  /** Notes about pages of the site at the URLs of the plugin's. */
  readonly ownPages = new Set<string>();
  plainPages: readonly string[] = [];
  #isMarkdownUsed = false;
  #isMarkdownExtended = false;

  constructor(
    config: EleventyConfig,
    readonly settings: Settings,
    readonly environment: BuildEnvironment,
  ) {
    this.urls = new SiteUrls(config, settings, environment);
    this.assets = new PageAssets(this.urls, environment.readAsset);
    this.languages = new PageLanguages(settings.lang);
    this.mentions = new SiteMentions(this.urls, this.assets, this.languages, environment);
    this.timeline = new SiteTimeline(this.urls, this.mentions, environment);
    this.contact = new SiteContact(this.urls, this.assets);
    this.blobs = new SharedBlobs(this.urls);
    this.head = new HeadLinks(this.urls);
  }

  /** Adds the rules for mentions and blobs to the site's Markdown library, if it is markdown-it. */
  extendMarkdown(library: unknown): void {
    if (!isMarkdownIt(library)) return;
    addMentionRule(library, this.settings.follow, (mention, file) => this.unknownMentions.note(mention, file));
    this.blobs.extendMarkdown(library);
    this.#isMarkdownExtended = true;
  }

  noteTemplate(file: string | undefined): void {
    this.#isMarkdownUsed ||= file?.endsWith(".md") ?? false;
  }

  /** Replaces mentions by links and `blob:KEY` by URLs, if the Markdown library has not done so. */
  linkHtml(html: string, file: string | undefined): string {
    const hasRawMentions = this.#isMarkdownUsed && !this.#isMarkdownExtended;
    return this.blobs.linkInHtml(hasRawMentions ? linkMentions(html, this.settings.follow) : html, file);
  }

  transformPage(content: string, page: NonNullable<TemplateContext["page"]>): string {
    const { outputPath, url, inputPath } = page;
    const isHtml = typeof outputPath === "string" && outputPath.endsWith(".html");
    const isDeleted = this.deleted.has(inputPath);
    if (!isHtml) return isDeleted ? "" : content;
    if (isDeleted) return joinWithoutKeep([this.#deletedPage(page)]);
    const html = this.linkHtml(this.languages.correct(content, url || "/"), inputPath);
    const lang = this.languages.read(page, html);
    const own = syndicationLinks(this.copies.get(url || "") ?? []);
    return joinWithoutKeep(
      this.settings.head ? this.head.addTo(html, url || "/", { lang, own }) : [this.head.translate(html, lang)],
    );
  }

  #deletedPage({ lang, inputPath = "" }: NonNullable<TemplateContext["page"]>): string {
    const ofPost = typeof lang === "string" ? lang : this.deleted.readLanguage(inputPath);
    const shown = this.mentions.chooseLanguage(ofPost ?? this.settings.lang ?? "en");
    const words = this.mentions.chooseWords(shown);
    return deletedPageHtml(this.urls.href("/"), { nick: this.settings.nick, lang: shown, words });
  }
}
