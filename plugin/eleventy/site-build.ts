// plugin/eleventy/site-build.ts: the steps of a build, called from Eleventy's events.
import { join } from "node:path";
import { authorError } from "../errors.js";
import { sendsLinks } from "../options/mentions.js";
import type { Settings } from "../options.js";
import { deletedTwt } from "../site/conversation.js";
import { type DeletedPage, hostSettings, type PublishedSite, SETTINGS_FILE } from "../site/site.js";
import { addMentionRule, isMarkdownIt, linkMentions } from "../text/markdown-mentions.js";
import type { HtmlReader } from "../text/text-from-post.js";
import type { BuildEnvironment } from "./build-environment.js";
import { BuildLog } from "./build-log.js";
import * as report from "./build-report.js";
import type { BuildEvent, Collections, ContentMap, EleventyConfig, TemplateContext, TemplateData } from "./eleventy.js";
import { Findings } from "./findings.js";
import { isReply, listOwnTwts, newestOwnTwts, type OwnTwt } from "./mentions/conversations.js";
import { removeKeep } from "./mentions/mention-html.js";
import { pageTitles } from "./mentions/page-titles.js";
import { SiteMentions } from "./mentions/site-mentions.js";
import { SiteTimeline } from "./mentions/site-timeline.js";
import { discoveryFiles } from "./output/discovery-files.js";
import { takeEndpointPage } from "./output/endpoint-page.js";
import { checkFeedFiles, feedFiles, removeStaleArchives } from "./output/feed-files.js";
import { deletedRules, headerRules, writeNetlifyConfig } from "./output/netlify-config.js";
import { functionConflicts, functionFiles, listFunctions, writeFunctions } from "./output/netlify-functions.js";
import {
  lastBuild,
  notePreviewFiles,
  refuseOtherSite,
  refuseServedFolder,
  removePreviewFiles,
} from "./output/previews.js";
import { publish, sitePages } from "./output/publish.js";
import { siteSettings } from "./output/site-settings.js";
import { OtherOutput, type SiteFile, writeFiles } from "./output/write-files.js";
import { HeadLinks } from "./pages/head-links.js";
import { usualLayout } from "./pages/layouts.js";
import { PageAssets } from "./pages/page-assets.js";
import { PageLanguages } from "./pages/page-languages.js";
import { SharedBlobs } from "./pages/shared-blobs.js";
import { SiteContact } from "./pages/site-contact.js";
import { DeletedPosts, deletedPageHtml } from "./posts/deleted-posts.js";
import { copyNotePictures } from "./posts/pictures.js";
import { toItems } from "./posts/posts.js";
import { type PostContents, type PostTwt, TwtsFromPosts } from "./posts/twts-from-posts.js";
import { SiteUrls } from "./site-urls.js";
import { unknownMentions } from "./unknown-mentions.js";

const OTHER_FEED_PATH = 'give the feed another path with the option "path"';
const OTHER_KEY = 'remove the options "key" and "endpoint"';

/** A site's builds, one after the other. The public methods are in the order of Eleventy's events. */
export class SiteBuild {
  readonly settings: Settings;
  readonly urls: SiteUrls;
  readonly languages: PageLanguages;
  readonly mentions: SiteMentions;
  readonly timeline: SiteTimeline;
  readonly contact: SiteContact;
  readonly assets: PageAssets;
  readonly blobs: SharedBlobs;
  readonly deleted = new DeletedPosts();
  /** Loads the HTML parser. */
  readonly htmlReader: () => HtmlReader;
  /** Texts that look like mentions but name no known feed. */
  readonly unknownMentions = new Findings();
  /** Notes about pages of the site at the URLs of the plugin's. */
  readonly ownPages = new Set<string>();
  /** The URLs of the plugin's pages without a layout. */
  plainPages: readonly string[] = [];
  readonly #config: EleventyConfig;
  readonly #log: BuildLog;
  readonly #environment: BuildEnvironment;
  readonly #head: HeadLinks;
  readonly #others = new OtherOutput();
  /** Contents of posts by permalink. */
  readonly #contents = new Map<string, PostContents | null>();
  #isMarkdownUsed = false;
  #isMarkdownExtended = false;
  #templateData: TemplateData[] = [];
  #collections: Collections = {};
  #discovery: SiteFile[] = [];
  #deletedPages: DeletedPage[] = [];
  #paths: string[] = [];
  #twts: TwtsFromPosts | null = null;
  /** The option `url` of the last real build on this machine, if there was one. */
  #lastUrl: unknown;

  constructor(config: EleventyConfig, settings: Settings, environment: BuildEnvironment) {
    this.#config = config;
    this.#log = new BuildLog(config);
    this.settings = settings;
    this.htmlReader = environment.htmlReader;
    this.#environment = environment;
    this.urls = new SiteUrls(config, settings, environment);
    this.assets = new PageAssets(settings, this.urls, environment.readAsset);
    this.languages = new PageLanguages(settings.lang);
    this.mentions = new SiteMentions(settings, this.urls, this.assets, this.languages, environment);
    this.timeline = new SiteTimeline(settings, this.urls, this.mentions, environment);
    this.contact = new SiteContact(settings, this.urls, this.assets);
    this.blobs = new SharedBlobs(settings, this.urls);
    this.#head = new HeadLinks(settings, this.urls);
  }

  /**
   * Reads the mentions and the followed feeds.
   *
   * @throws TwtxtError `bad-option` for an invalid key or path prefix; `output-conflict` for a build that would disturb a
   *   running server. No file is written by then.
   */
  async begin(event: BuildEvent): Promise<void> {
    const { directories, outputMode } = event;
    const { root } = this.#environment;
    if (outputMode === "fs") {
      await (isReal(event) ? refuseOtherSite(root, this.settings.url) : refuseServedFolder(root, directories.output));
    }
    this.#twts = null;
    this.#templateData = [];
    this.#head.begin();
    this.urls.noteInput(directories.input);
    this.urls.checkFeedUrl();
    this.#discovery = await discoveryFiles(this.urls.inboxes());
    if (isReal(event)) this.#lastUrl = (await lastBuild(root)).url;
    await Promise.all([this.mentions.read(), this.timeline.read()]);
  }

  /** Adds the rules for mentions and blobs to the site's Markdown library, if it is markdown-it. */
  extendMarkdown(library: unknown): void {
    if (!isMarkdownIt(library)) return;
    addMentionRule(library, this.settings.follow, (mention, file) => this.unknownMentions.note(mention, file));
    this.blobs.extendMarkdown(library);
    this.#isMarkdownExtended = true;
  }

  /**
   * Remembers the data of each template. Eleventy adds the collections to it: version 3 earlier, version 4 later.
   *
   * @returns the new content of a template whose post is deleted; `undefined` for others
   */
  addTemplateData(data: TemplateData): string | undefined {
    this.#templateData.push(data);
    this.#isMarkdownUsed ||= data.page?.inputPath?.endsWith(".md") ?? false;
    return this.deleted.empty(data);
  }

  /** Selects and dates the posts, when the collections are complete and nothing is rendered yet. */
  async schedulePosts({ urlToInputPath, inputPathToUrl }: ContentMap): Promise<void> {
    this.#collections = this.#findCollections();
    this.urls.notePages(inputPathToUrl);
    this.#deletedPages = this.deleted.pagesAmong(inputPathToUrl);
    this.#others.notePages(urlToInputPath);
    this.#paths = Object.keys(urlToInputPath);
    this.#others.check([{ path: this.settings.path }], OTHER_FEED_PATH);
    this.#others.check(this.#discovery, OTHER_KEY);
    const twts = new TwtsFromPosts(this.#collections, this, this.#environment.now(), this.#contents);
    await twts.load();
    this.#twts = twts;
    await this.mentions.begin(
      await this.#readOwnTwts(twts),
      pageTitles(this.#collections, twts),
      this.timeline.known(),
    );
    this.timeline.begin(() => newestOwnTwts(twts));
  }

  /** The twts of a build for conversations; `null` if no post is a reply. */
  async #readOwnTwts(twts: TwtsFromPosts): Promise<(() => readonly OwnTwt[]) | null> {
    const deleted = this.#deletedPages
      .map(({ page, replyTo }) => ({ ...deletedTwt({ page: this.urls.absolute(page), replyTo }), reply: null }))
      .filter(({ replyTo }) => replyTo !== null);
    if (deleted.length === 0 && !twts.schedule.dated.some(({ post }) => isReply(post))) return null;
    const { textHtml } = await import("../site/text-html.js");
    return () => [...listOwnTwts(twts, (text) => textHtml(text, "twt")), ...deleted];
  }

  /** @param map - the source of each copied file or folder, by its path in the site */
  noteCopies(map: Record<string, string>): void {
    this.#others.noteCopies(map);
  }

  /** @see TwtsFromPosts.findTwt */
  findTwt(permalink: string, asker: string | undefined): PostTwt | null {
    return this.#twts?.findTwt(permalink, asker) ?? null;
  }

  /** Replaces mentions by links and `blob:KEY` by URLs, if the Markdown library has not done so. */
  linkHtml(html: string, file: string | undefined): string {
    const hasRawMentions = this.#isMarkdownUsed && !this.#isMarkdownExtended;
    return this.blobs.linkInHtml(hasRawMentions ? linkMentions(html, this.settings.follow) : html, file);
  }

  headLinks(): string {
    return this.#head.html();
  }

  /** Adds links and head links to a page. */
  transformPage(content: string, { outputPath, url, inputPath }: NonNullable<TemplateContext["page"]>): string {
    const isHtml = typeof outputPath === "string" && outputPath.endsWith(".html");
    if (this.deleted.has(inputPath)) return isHtml ? removeKeep(this.#deletedPage()) : "";
    if (!isHtml) return content;
    const page = removeKeep(this.linkHtml(this.languages.correct(content, url || "/"), inputPath));
    return this.settings.head ? this.#head.addTo(page, url || "/") : page;
  }

  #deletedPage(): string {
    const { nick, lang = "en" } = this.settings;
    return deletedPageHtml(this.urls.href("/"), { nick, lang, words: this.mentions.words });
  }

  /** Writes the scripts and the stylesheet that pages load, which Vite then looks for. */
  async writeAssets(event: BuildEvent): Promise<void> {
    if (!this.#twtsToWrite(event)) return;
    const assets = await this.assets.files();
    this.#checkAssets(assets);
    await writeFiles(event.directories.output, assets);
  }

  /**
   * Writes the plugin's files after Eleventy and other plugins have written the site.
   *
   * @throws TwtxtError `output-conflict` for two writers of one path, and for a feed that is gone again
   */
  async finish(event: BuildEvent): Promise<void> {
    const twts = this.#twtsToWrite(event);
    if (!twts) return;
    const { root } = this.#environment;
    await twts.renderSkipped();
    const all = twts.all().map(({ twt }) => twt);
    const feed = feedFiles(all, this.settings, this.urls);
    const notes = twts.schedule.dated.map(({ post }) => post);
    const pictures = await copyNotePictures(notes, { root, output: event.directories.output });
    const written = [...(await this.#writeSite(event, feed)), ...pictures];
    const site = await this.#writeSettings(event, twts);
    const leftovers = await this.#cleanUp(event, written);
    const conflicts = await this.#writeForNetlify(site, feed);
    await this.#report(event, twts, [...conflicts, ...leftovers]);
    await checkFeedFiles(event.directories.output, feed);
    if (isReal(event)) await publish(root, site, [...feed, ...this.#discovery]);
    this.#log.log(
      report.formatSummary(twts, { path: this.urls.feedHref(), twts: all.length, archives: feed.length - 1 }),
    );
  }

  /** @returns `null` for a build that writes no files */
  #twtsToWrite({ outputMode }: BuildEvent): TwtsFromPosts | null {
    return outputMode !== "fs" || this.#isDryRun() ? null : this.#twts;
  }

  /** The collections; those of the last build if no template was read, for example after a change of a copied file. */
  #findCollections(): Collections {
    const found = this.#templateData.find(({ collections }) => collections)?.collections;
    if (found || this.#templateData.length === 0) return found ?? this.#collections;
    throw authorError(
      "no-collections",
      "This version of Eleventy does not give plugins its collections, so no feed can be written. Use Eleventy 3 or 4.",
    );
  }

  /** Writes the plugin's files of the site. @returns their paths, from the project's root */
  async #writeSite({ directories: { output } }: BuildEvent, feed: SiteFile[]): Promise<string[]> {
    this.#others.check(feed, OTHER_FEED_PATH);
    this.#others.check(this.#discovery, OTHER_KEY);
    const lists = [...(await this.assets.files()), ...this.mentions.files()];
    this.#checkAssets(lists);
    const files = [...feed, ...this.#discovery, ...lists];
    await writeFiles(output, files);
    await removeStaleArchives(output, { path: this.settings.path, url: this.urls.feedUrl() }, feed);
    await Promise.all([this.mentions.saveCache(), this.timeline.saveCache()]);
    return files.map(({ path }) => join(output, path));
  }

  #checkAssets(files: readonly { path: string }[]): void {
    this.#others.check(files, `give the option "${this.assets.home().option}" another path`);
  }

  /** Writes the settings for the commands. @returns the site for its host */
  async #writeSettings(event: BuildEvent, twts: TwtsFromPosts): Promise<PublishedSite> {
    const { host, root, followed } = this.#environment;
    const isDevelopment = !isReal(event);
    const build = { ...event.directories, host: host.name, isDevelopment, followed, schedule: twts.schedule };
    const settings = siteSettings(this.settings, this.urls, build);
    await writeFiles(root, [{ path: SETTINGS_FILE, content: `${JSON.stringify(settings, null, 2)}\n` }]);
    const needsHashes = host.name !== "static";
    const needsLinks = isReal(event) && sendsLinks(this.settings);
    // Netlify sends the headers of these pages by its own configuration.
    const withoutHead = host.name === "node" ? this.#head.pagesWithoutHead() : [];
    const endpointPage = await takeEndpointPage(event.directories.output);
    const pages = sitePages({
      ...{ endpointPage, twts, paths: this.#paths, deleted: this.#deletedPages, withoutHead },
      ...{ needsHashes, needsLinks, titles: pageTitles(this.#collections, twts) },
    });
    return { settings: hostSettings(settings), pages };
  }

  /**
   * Keeps pages of previews out of the real site.
   *
   * @param written - the files of the plugin
   * @returns warnings about removed files
   */
  async #cleanUp({ directories, results = [], runMode }: BuildEvent, written: readonly string[]): Promise<string[]> {
    const { root } = this.#environment;
    const pages = results.flatMap(({ outputPath }) => (typeof outputPath === "string" ? [outputPath] : []));
    const files = [...pages, ...written];
    if (isReal({ runMode })) {
      return report.warningsOnPreviewFiles(await removePreviewFiles(root, directories.output, files));
    }
    await notePreviewFiles(root, files);
    return [];
  }

  /** @returns warnings about conflicts with the site's own functions */
  async #writeForNetlify(site: PublishedSite, feed: SiteFile[]): Promise<string[]> {
    const { root, host, packageFolder } = this.#environment;
    const isNetlify = host.name === "netlify";
    const deleted = this.#deletedPages.map(({ page }) => page);
    await writeNetlifyConfig(root, {
      headers: isNetlify
        ? headerRules(feed, this.#discovery, site.settings.endpoint, this.#head.pagesWithoutHead())
        : [],
      "redirects!": isNetlify ? deletedRules(deleted) : [],
    });
    const functions = isNetlify && this.settings.functions ? listFunctions(this.settings, this.urls) : [];
    await writeFunctions(root, functionFiles(functions, site, { root, packageFolder }));
    return functions.length > 0 ? functionConflicts(root, functions) : [];
  }

  /** Logs warnings and notes. @param warnings - those about the written files */
  async #report(event: BuildEvent, twts: TwtsFromPosts, warnings: readonly string[]): Promise<void> {
    const { host } = this.#environment;
    const configured = new Set(Object.keys(this.#config.getCollections()));
    const blobs = await this.blobs.check();
    const { root, now } = this.#environment;
    const unknown = await unknownMentions(this.unknownMentions.take(), twts.schedule, { root, now: now() });
    const all = [
      ...report.warningsOnPosts(twts, this.#collections, configured),
      ...report.warningsOnMentions(unknown),
      ...this.#warningsOnSite(),
      ...blobs.warnings,
      ...warnings,
    ];
    for (const warning of all) this.#log.log(warning, "warn");
    // A warning if `serve` shows the folder, because many starters run their preview with `--quiet`.
    const type = host.name === "node" ? "warn" : undefined;
    if (!isReal(event)) this.#log.logOnce(report.noteOnDevelopmentBuild(event.directories.output), type);
    if (host.reason !== null) this.#log.logOnce(report.noteOnHost(host.name, host.reason));
    const hasPlainPages = this.settings.layout !== false && this.plainPages.length > 0;
    const plain = hasPlainPages ? report.noteOnPlainPages(this.plainPages, this.#usualLayout(twts)) : null;
    if (plain !== null) this.#log.logOnce(plain);
    for (const note of this.ownPages) this.#log.logOnce(note);
    const notes = [
      ...report.notesOnOptions(this, host.name),
      ...this.#head.notes(),
      ...blobs.notes,
      this.timeline.note(),
    ];
    for (const note of notes) if (note !== null) this.#log.log(note);
  }

  #usualLayout({ schedule }: TwtsFromPosts): string | null {
    const posts = new Set(schedule.dated.map(({ post }) => post.inputPath));
    return usualLayout(this.#templateData, posts, this.#config);
  }

  #warningsOnSite(): string[] {
    const moved = report.warningOnMove(this.settings, [this.#lastUrl, ...this.mentions.targetOrigins()]);
    const warnings = [...this.#head.warnings(), this.mentions.warning(), moved];
    return [
      ...warnings.filter((warning) => warning !== null),
      ...report.warningsOnDocuments(this.#discovery, this.urls),
      ...(this.urls.hasBlobs() ? report.warningsOnHiddenPages(this.#collections) : []),
    ];
  }

  /** Only the templates know that Eleventy runs with `--dryrun`. */
  #isDryRun(): boolean {
    const pages = toItems(this.#collections.all);
    return pages.some(({ template }) => template?.isDryRun && !template.isIncremental);
  }
}

/** Whether a build is for publication. Builds of `--serve` and `--watch` may contain drafts. */
function isReal({ runMode }: Pick<BuildEvent, "runMode">): boolean {
  return runMode === "build";
}
