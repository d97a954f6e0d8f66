// plugin/eleventy/site-build.ts: one build of a site after the other, from the first event of Eleventy's to the last.

import { join } from "node:path";
import type { Clock } from "../clock.js";
import { authorError } from "../errors.js";
import type { Settings } from "../options.js";
import { PATHS } from "../site/routes.js";
import { hostSettings, type PublishedSite, SETTINGS_FILE, type SiteSettings } from "../site/site.js";
import {
  noteOnBlobs,
  noteOnDevelopmentBuild,
  noteOnHost,
  noteOnInboxes,
  noteOnStaticHost,
  summaryOf,
  warningOnBlobs,
  warningOnBlobsElsewhere,
  warningOnHidden,
  warningOnMentions,
  warningOnPreviewFiles,
  warningsOf,
  warningsOnBlobLinks,
  warningsOnMissingBlobs,
} from "./build-report.js";
import type { HostChoice } from "./default-host.js";
import type { BuildEvent, Collections, ContentMap, EleventyConfig, TemplateContext, TemplateData } from "./eleventy.js";
import { HeadLinks } from "./head-links.js";
import { addMentionRule, isMarkdownIt, linkMentions } from "./markdown-mentions.js";
import { removeKeep } from "./mention-html.js";
import { functionConflicts } from "./netlify-conflicts.js";
import { functionFiles, functionsOf, writeFunctions } from "./netlify-functions.js";
import { headerRules, writeNetlifyHeaders } from "./netlify-output.js";
import { OtherOutput, writeFiles } from "./output.js";
import { itemsOf } from "./posts.js";
import { notePreviewFiles, removePreviewFiles } from "./preview-files.js";
import { publish } from "./publish.js";
import { refuseOtherSite, refuseServedFolder } from "./served-folder.js";
import { SharedBlobs } from "./shared-blobs.js";
import { discoveryFiles, feedFiles, type Inbox, inboxesOf, type SiteFile } from "./site-files.js";
import { SiteMentions } from "./site-mentions.js";
import { sitePages } from "./site-pages.js";
import { siteSettings } from "./site-settings.js";
import { SiteUrls } from "./site-urls.js";
import type { PostText } from "./text-from-post.js";
import { type PostTwt, TwtsFromPosts } from "./twts-from-posts.js";
import { UnknownMentions } from "./unknown-mentions.js";

const NAME = "eleventy-plugin-twtxt";
const OTHER_FEED_PATH = 'give the feed another place with the option "path"';
const OTHER_KEY = 'leave the options "key" and "endpoint" out';

/** Where a build happens. */
export interface BuildEnvironment {
  now: Clock;
  /** The project's root. */
  root: string;
  host: HostChoice;
  /** Reads a script for the pages of the site. */
  readScript(name: string): Promise<string>;
}

/** What the plugin does in the course of a build, in the order of the methods. */
export class SiteBuild {
  readonly settings: Settings;
  readonly urls: SiteUrls;
  readonly mentions: SiteMentions;
  readonly blobs: SharedBlobs;
  readonly unknownMentions = new UnknownMentions();
  /** Who can be written to, and where; known from the beginning of a build. */
  inboxes: readonly Inbox[] = [];
  readonly #config: EleventyConfig;
  readonly #place: BuildEnvironment;
  readonly #head: HeadLinks;
  readonly #others = new OtherOutput();
  readonly #remembered = new Map<string, PostText | null>();
  #isMarkdownUsed = false;
  #isMarkdownTaught = false;
  readonly #told = new Set<string>();
  #seen: TemplateData[] = [];
  #collections: Collections = {};
  #discovery: SiteFile[] = [];
  #paths: string[] = [];
  #twts: TwtsFromPosts | null = null;

  constructor(config: EleventyConfig, settings: Settings, place: BuildEnvironment) {
    this.#config = config;
    this.settings = settings;
    this.#place = place;
    this.urls = new SiteUrls(config, settings, place.host.name);
    this.mentions = new SiteMentions(settings, this.urls, place);
    this.blobs = new SharedBlobs(settings, this.urls);
    this.#head = new HeadLinks(settings, this.urls, () => this.inboxes);
  }

  /** A build that would disturb the running server, a key or a path prefix that cannot be stops the build here, before anything is read or written. */
  async begin(event: BuildEvent): Promise<void> {
    const { directories, outputMode } = event;
    const { root } = this.#place;
    if (outputMode === "fs") {
      await (isReal(event) ? refuseOtherSite(root, this.settings.url) : refuseServedFolder(root, directories.output));
    }
    this.#twts = null;
    this.#seen = [];
    this.urls.noteInput(directories.input);
    this.urls.checkFeedUrl();
    this.inboxes = inboxesOf(this.settings, this.urls);
    this.#discovery = await discoveryFiles(this.inboxes);
    await this.mentions.read();
  }

  /** Teaches mentions and blobs to the site's Markdown library, if it is one that can learn. */
  extendMarkdown(library: unknown): void {
    if (!isMarkdownIt(library)) return;
    addMentionRule(library, this.settings.follow, (mention, file) => this.unknownMentions.note(mention, file));
    this.blobs.teach(library);
    this.#isMarkdownTaught = true;
  }

  /**
   * Every template passes here with its data, where Eleventy puts the collections sooner (in version 3) or later (in
   * version 4): no template of ours is needed to see them.
   */
  see(data: TemplateData): void {
    this.#seen.push(data);
    this.#isMarkdownUsed ||= data.page?.inputPath?.endsWith(".md") ?? false;
  }

  /** The collections are complete and nothing is rendered: posts are chosen and dated. */
  async plan({ urlToInputPath, inputPathToUrl }: ContentMap): Promise<void> {
    this.#collections = this.#collectionsSeen();
    this.urls.notePages(inputPathToUrl);
    this.#others.notePages(urlToInputPath);
    this.#paths = Object.keys(urlToInputPath);
    this.#others.check([{ path: this.settings.path }], OTHER_FEED_PATH);
    this.#others.check(this.#discovery, OTHER_KEY);
    this.#twts = await TwtsFromPosts.from(this.#collections, this, this.#remembered);
  }

  noteCopies(map: Record<string, string>): void {
    this.#others.noteCopies(map);
  }

  /** @see TwtsFromPosts.twtOf */
  twtOf(permalink: string, asker: string | undefined): PostTwt | null {
    return this.#twts?.twtOf(permalink, asker) ?? null;
  }

  now(): number {
    return this.#place.now();
  }

  /** HTML with mentions as links and blobs by their URLs, also where no Markdown library of ours has seen to it. */
  linked(html: string, file: string | undefined): string {
    const hasRawMentions = this.#isMarkdownUsed && !this.#isMarkdownTaught;
    return this.blobs.linkInHtml(hasRawMentions ? linkMentions(html, this.settings.follow) : html, file);
  }

  headLinks(): string {
    return this.#head.html();
  }

  /** A page as it is written. */
  page(content: string, { outputPath, url, inputPath }: NonNullable<TemplateContext["page"]>): string {
    if (typeof outputPath !== "string" || !outputPath.endsWith(".html")) return content;
    const page = removeKeep(this.linked(content, inputPath));
    return this.settings.head ? this.#head.addTo(page, () => this.urls.absolute(url || "/")) : page;
  }

  /** The site is rendered: the plugin's own files are written beside it. */
  async finish(event: BuildEvent): Promise<void> {
    const { outputMode, directories } = event;
    const twts = this.#twts;
    if (outputMode !== "fs" || !twts || this.#isDryRun()) return;
    await twts.prepareAll();
    const all = twts.all();
    const feed = feedFiles(all, this.settings, this.urls);
    this.#others.check(feed, OTHER_FEED_PATH);
    this.#others.check(this.#discovery, OTHER_KEY);

    const lists = await this.mentions.files();
    this.#others.check(lists, 'give the option "mentions.pages" another path');
    await writeFiles(directories.output, [...feed, ...this.#discovery, ...lists]);
    await this.mentions.keep();
    const settings = this.#settingsOf(event, twts);
    const content = `${JSON.stringify(settings, null, 2)}\n`;
    await writeFiles(this.#place.root, [{ path: SETTINGS_FILE, content }]);
    const leftovers = await this.#cleanUp(event, [...feed, ...this.#discovery, ...lists]);
    const site = this.#published(settings, twts);
    if (isReal(event)) await publish(this.#place.root, site, [...feed, ...this.#discovery]);
    const conflicts = await this.#writeForNetlify(site, feed);
    const posts = new Set(twts.schedule.dated.map(({ post }) => post.inputPath));
    const configured = new Set(Object.keys(this.#config.getCollections()));
    const blobs = await this.#checkBlobs();
    const warnings = [
      ...warningsOf(twts, this.#collections, configured),
      ...warningOnMentions(this.unknownMentions.take(posts)),
      ...this.#ownWarnings(),
      ...blobs.warnings,
      ...conflicts,
      ...leftovers,
    ];
    for (const warning of warnings) this.#say(warning, "warn");
    const preview = isReal(event) ? [] : [noteOnDevelopmentBuild(directories.output)];
    // Where `serve` shows it, also with `--quiet`, as many starters run their preview.
    for (const note of this.#newNotes(preview)) this.#say(note, this.#place.host.name === "node" ? "warn" : undefined);
    for (const note of [...this.#newNotes(this.#hostNotes()), ...this.#notes(), ...blobs.notes]) this.#say(note);
    this.#say(summaryOf(twts, { path: this.urls.feedHref(), twts: all.length, archives: feed.length - 1 }));
  }

  /** Without templates, as when a copied file alone has changed, those of the build before. */
  #collectionsSeen(): Collections {
    const found = this.#seen.find(({ collections }) => collections)?.collections;
    if (found || this.#seen.length === 0) return found ?? this.#collections;
    throw authorError(
      "no-collections",
      "This version of Eleventy keeps its collections from plugins, so that no feed can be written.",
    );
  }

  #settingsOf(event: BuildEvent, { schedule }: TwtsFromPosts): SiteSettings {
    const host = this.#place.host.name;
    return siteSettings(this.settings, this.urls, {
      ...event.directories,
      host,
      isDevelopment: !isReal(event),
      schedule,
    });
  }

  #published(settings: SiteSettings, twts: TwtsFromPosts): PublishedSite {
    const site = { settings: this.settings, urls: this.urls, paths: this.#paths, host: settings.host };
    return { settings: hostSettings(settings), pages: sitePages(site, twts) };
  }

  /**
   * Keeps pages of previews out of the real site.
   *
   * @returns warnings about what was removed
   */
  async #cleanUp(
    { directories: { output }, results, ...event }: BuildEvent,
    own: { path: string }[],
  ): Promise<string[]> {
    const { root } = this.#place;
    const pages = (results ?? []).flatMap(({ outputPath }) => (typeof outputPath === "string" ? [outputPath] : []));
    const files = [...pages, ...own.map(({ path }) => join(output, path))];
    if (isReal(event)) return warningOnPreviewFiles(await removePreviewFiles(root, output, files));
    await notePreviewFiles(root, files);
    return [];
  }

  /** @returns what of the site is in the way of its functions, a sentence each */
  async #writeForNetlify(site: PublishedSite, feed: SiteFile[]): Promise<string[]> {
    const { root } = this.#place;
    const isNetlify = this.#place.host.name === "netlify";
    const headers = isNetlify ? headerRules(feed, this.#discovery, site.settings.endpoint) : [];
    await writeNetlifyHeaders(root, headers);
    const functions = isNetlify && this.settings.functions ? functionsOf(this.settings, this.urls) : [];
    await writeFunctions(root, functionFiles(functions, site, root));
    return functions.length > 0 ? functionConflicts(root, functions) : [];
  }

  /** @returns those that no build of this process has told yet */
  #newNotes(notes: readonly string[]): string[] {
    const untold = notes.filter((note) => !this.#told.has(note));
    for (const note of untold) this.#told.add(note);
    return untold;
  }

  #hostNotes(): string[] {
    const { host } = this.#place;
    return host.reason === null ? [] : [noteOnHost(host.name, host.reason)];
  }

  /** What comes of nothing on this host. */
  #notes(): string[] {
    const featuresInUse =
      this.#place.host.name === "static" && !this.settings.webmention ? this.mentions.featuresInUse() : [];
    const nowhere = this.settings.inbox === false ? [] : this.inboxes.filter(({ endpoint }) => endpoint === null);
    return [
      ...(featuresInUse.length > 0 ? [noteOnStaticHost(featuresInUse)] : []),
      ...(nowhere.length > 0 ? [noteOnInboxes(nowhere.map(({ address }) => address))] : []),
      ...(this.settings.blobs !== false && !this.urls.hasBlobs() ? [noteOnBlobs()] : []),
    ];
  }

  #ownWarnings(): string[] {
    const head = this.#head.takeWarning();
    const isBelowRoot = this.#discovery.length > 0 && this.urls.href("/") !== "/";
    const paths = this.#discovery.map(({ path }) => path).join(", ");
    const below = `The documents of your address must stand at the root of ${new URL(this.settings.url).host}, and this site is below it. Serve ${paths} from there.`;
    const unread = this.mentions.warning();
    const blobs = [...warningOnBlobs(this.blobs.takeDisabledFiles()), ...warningOnHidden(this.#hidden())];
    return [...(head ? [head] : []), ...(isBelowRoot ? [below] : []), ...(unread ? [unread] : []), ...blobs];
  }

  /** Links to blobs that lead nowhere. */
  async #checkBlobs(): Promise<{ warnings: string[]; notes: string[] }> {
    const { links, withoutKey } = this.blobs.links.take();
    const wrong = warningsOnBlobLinks(withoutKey);
    if (!this.urls.hasBlobs()) {
      const files = [...new Set(links.flatMap((link) => [...link.files]))];
      return { warnings: [...wrong, ...warningOnBlobsElsewhere(files)], notes: [] };
    }
    const { missing, fault } = await this.blobs.links.check(links, this.urls.userAgent());
    const unknown = `Whether the blobs in your pages are there is not known: ${fault}`;
    return { warnings: [...wrong, ...warningsOnMissingBlobs(missing)], notes: fault === null ? [] : [unknown] };
  }

  /** Pages of the site in the place of its shared blobs. */
  #hidden(): { inputPath: string }[] {
    if (!this.urls.hasBlobs()) return [];
    return itemsOf(this.#collections.all).filter(
      ({ url }) => typeof url === "string" && url.startsWith(`${PATHS.shared}/`),
    );
  }

  /** Eleventy tells its templates alone that nothing is to be written. */
  #isDryRun(): boolean {
    const pages = itemsOf(this.#collections.all);
    return pages.some(({ template }) => template?.isDryRun && !template.isIncremental);
  }

  /** Warnings are told with `--quiet` too, which is how most builds on a server run. */
  #say(message: string, type?: "warn"): void {
    this.#config.logger.logWithOptions({
      message,
      prefix: `[${NAME}]`,
      ...(type && { type, color: "yellow", force: true }),
    });
  }
}

/** Whether a build is to be published. One of `--serve` or `--watch` may show drafts. */
function isReal({ runMode }: Pick<BuildEvent, "runMode">): boolean {
  return runMode === "build";
}
