// plugin/eleventy/site-build.ts: the steps of a build, called from Eleventy's events.

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
const OTHER_FEED_PATH = 'give the feed another path with the option "path"';
const OTHER_KEY = 'remove the options "key" and "endpoint"';

/** What a build needs from the machine. */
export interface BuildEnvironment {
  now: Clock;
  /** The project's root. */
  root: string;
  host: HostChoice;
  /** Reads a script for pages, bundled. */
  readScript(name: string): Promise<string>;
}

/** A site's builds, one after the other. The public methods are in the order of Eleventy's events. */
export class SiteBuild {
  readonly settings: Settings;
  readonly urls: SiteUrls;
  readonly mentions: SiteMentions;
  readonly blobs: SharedBlobs;
  readonly unknownMentions = new UnknownMentions();
  /** The authors with an address. Set at the start of a build. */
  inboxes: readonly Inbox[] = [];
  readonly #config: EleventyConfig;
  readonly #place: BuildEnvironment;
  readonly #head: HeadLinks;
  readonly #others = new OtherOutput();
  readonly #remembered = new Map<string, PostText | null>();
  #isMarkdownUsed = false;
  #isMarkdownExtended = false;
  readonly #loggedNotes = new Set<string>();
  #templateData: TemplateData[] = [];
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

  /** Stops a build with an invalid key or path prefix, or one that would disturb a running server, before it writes files. */
  async begin(event: BuildEvent): Promise<void> {
    const { directories, outputMode } = event;
    const { root } = this.#place;
    if (outputMode === "fs") {
      await (isReal(event) ? refuseOtherSite(root, this.settings.url) : refuseServedFolder(root, directories.output));
    }
    this.#twts = null;
    this.#templateData = [];
    this.urls.noteInput(directories.input);
    this.urls.checkFeedUrl();
    this.inboxes = inboxesOf(this.settings, this.urls);
    this.#discovery = await discoveryFiles(this.inboxes);
    await this.mentions.read();
  }

  /** Adds the rules for mentions and blobs to the site's Markdown library, if it is markdown-it. */
  extendMarkdown(library: unknown): void {
    if (!isMarkdownIt(library)) return;
    addMentionRule(library, this.settings.follow, (mention, file) => this.unknownMentions.note(mention, file));
    this.blobs.extendMarkdown(library);
    this.#isMarkdownExtended = true;
  }

  /** Remembers the data of each template. Eleventy adds the collections to it: version 3 earlier, version 4 later. */
  addTemplateData(data: TemplateData): void {
    this.#templateData.push(data);
    this.#isMarkdownUsed ||= data.page?.inputPath?.endsWith(".md") ?? false;
  }

  /** Selects and dates the posts, when the collections are complete and nothing is rendered yet. */
  async schedulePosts({ urlToInputPath, inputPathToUrl }: ContentMap): Promise<void> {
    this.#collections = this.#findCollections();
    this.urls.notePages(inputPathToUrl);
    this.#others.notePages(urlToInputPath);
    this.#paths = Object.keys(urlToInputPath);
    this.#others.check([{ path: this.settings.path }], OTHER_FEED_PATH);
    this.#others.check(this.#discovery, OTHER_KEY);
    this.#twts = await TwtsFromPosts.from(this.#collections, this, this.#remembered);
  }

  /** @param map - the source of each copied file or folder, by its path in the site */
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
    if (typeof outputPath !== "string" || !outputPath.endsWith(".html")) return content;
    const page = removeKeep(this.linkHtml(content, inputPath));
    return this.settings.head ? this.#head.addTo(page, () => this.urls.absolute(url || "/")) : page;
  }

  /** Writes the plugin's files after Eleventy has written the site. */
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
    await this.mentions.saveCache();
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
    for (const warning of warnings) this.#log(warning, "warn");
    const preview = isReal(event) ? [] : [noteOnDevelopmentBuild(directories.output)];
    // A warning if `serve` shows the folder, because many starters run their preview with `--quiet`.
    for (const note of this.#newNotes(preview)) this.#log(note, this.#place.host.name === "node" ? "warn" : undefined);
    for (const note of [...this.#newNotes(this.#hostNotes()), ...this.#notes(), ...blobs.notes]) this.#log(note);
    this.#log(summaryOf(twts, { path: this.urls.feedHref(), twts: all.length, archives: feed.length - 1 }));
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

  /** @returns warnings about conflicts with the site's own functions */
  async #writeForNetlify(site: PublishedSite, feed: SiteFile[]): Promise<string[]> {
    const { root } = this.#place;
    const isNetlify = this.#place.host.name === "netlify";
    const headers = isNetlify ? headerRules(feed, this.#discovery, site.settings.endpoint) : [];
    await writeNetlifyHeaders(root, headers);
    const functions = isNetlify && this.settings.functions ? functionsOf(this.settings, this.urls) : [];
    await writeFunctions(root, functionFiles(functions, site, root));
    return functions.length > 0 ? functionConflicts(root, functions) : [];
  }

  /** The notes that no earlier build of this process has logged. */
  #newNotes(notes: readonly string[]): string[] {
    const fresh = notes.filter((note) => !this.#loggedNotes.has(note));
    for (const note of fresh) this.#loggedNotes.add(note);
    return fresh;
  }

  #hostNotes(): string[] {
    const { host } = this.#place;
    return host.reason === null ? [] : [noteOnHost(host.name, host.reason)];
  }

  /** Notes about options that have no effect on this host. */
  #notes(): string[] {
    const features =
      this.#place.host.name === "static" && !this.settings.webmention ? this.mentions.featuresInUse() : [];
    const unreachable = this.settings.inbox === false ? [] : this.inboxes.filter(({ endpoint }) => endpoint === null);
    return [
      ...(features.length > 0 ? [noteOnStaticHost(features)] : []),
      ...(unreachable.length > 0 ? [noteOnInboxes(unreachable.map(({ address }) => address))] : []),
      ...(this.settings.blobs !== false && !this.urls.hasBlobs() ? [noteOnBlobs()] : []),
    ];
  }

  #ownWarnings(): string[] {
    const head = this.#head.takeWarning();
    const isBelowRoot = this.#discovery.length > 0 && this.urls.href("/") !== "/";
    const paths = this.#discovery.map(({ path }) => path).join(", ");
    const below = `The documents of your address must be at the root of ${new URL(this.settings.url).host}, but this site has a path prefix. Serve ${paths} from the root.`;
    const unread = this.mentions.warning();
    const blobs = [...warningOnBlobs(this.blobs.takeDisabledFiles()), ...warningOnHidden(this.#hidden())];
    return [...(head ? [head] : []), ...(isBelowRoot ? [below] : []), ...(unread ? [unread] : []), ...blobs];
  }

  /** Checks the links to blobs. */
  async #checkBlobs(): Promise<{ warnings: string[]; notes: string[] }> {
    const { links, withoutKey } = this.blobs.links.take();
    const wrong = warningsOnBlobLinks(withoutKey);
    if (!this.urls.hasBlobs()) {
      const files = [...new Set(links.flatMap((link) => [...link.files]))];
      return { warnings: [...wrong, ...warningOnBlobsElsewhere(files)], notes: [] };
    }
    const { missing, fault } = await this.blobs.links.check(links, this.urls.userAgent());
    const unknown = `The links to blobs could not be checked: ${fault}`;
    return { warnings: [...wrong, ...warningsOnMissingBlobs(missing)], notes: fault === null ? [] : [unknown] };
  }

  /** Pages at the paths of public blobs. */
  #hidden(): { inputPath: string }[] {
    if (!this.urls.hasBlobs()) return [];
    return itemsOf(this.#collections.all).filter(
      ({ url }) => typeof url === "string" && url.startsWith(`${PATHS.shared}/`),
    );
  }

  /** Only the templates know that Eleventy runs with `--dryrun`. */
  #isDryRun(): boolean {
    const pages = itemsOf(this.#collections.all);
    return pages.some(({ template }) => template?.isDryRun && !template.isIncremental);
  }

  /** Warnings are logged even with `--quiet`, which most builds on servers use. */
  #log(message: string, type?: "warn"): void {
    this.#config.logger.logWithOptions({
      message,
      prefix: `[${NAME}]`,
      ...(type && { type, color: "yellow", force: true }),
    });
  }
}

/** Whether a build is for publication. Builds of `--serve` and `--watch` may contain drafts. */
function isReal({ runMode }: Pick<BuildEvent, "runMode">): boolean {
  return runMode === "build";
}
