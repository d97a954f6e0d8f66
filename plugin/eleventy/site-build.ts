// plugin/eleventy/site-build.ts: the steps of a build, called from Eleventy's events: reads the site, then has it written and reported.
import { authorError } from "../errors.js";
import { isTooOld } from "../options/comments.js";
import { mentionsOptions } from "../options/mentions.js";
import type { Settings } from "../options.js";
import { deletedTwt } from "../site/conversation.js";
import type { BuildEnvironment } from "./build-environment.js";
import { BuildLog } from "./build-log.js";
import { type BuiltSite, isDryRun, isReal } from "./built-site.js";
import type { BuildEvent, Collections, ContentMap, EleventyConfig, TemplateData } from "./eleventy.js";
import { isReply, listOwnTwts, newestOwnTwts, type OwnTwt } from "./mentions/conversations.js";
import { pageTitles } from "./mentions/page-titles.js";
import { discoveryFiles, fediverseFiles } from "./output/feed-files.js";
import { lastBuild, refuseOtherSite, refuseServedFolder } from "./output/previews.js";
import type { SiteFile } from "./output/write-files.js";
import { SiteWriter } from "./output/write-site.js";
import { readSyndication } from "./posts/syndication.js";
import { type PostContents, type PostTwt, TwtsFromPosts } from "./posts/twts-from-posts.js";
import { SiteParts } from "./site-parts.js";

/** A site's builds, one after the other. The public methods are in the order of Eleventy's events. */
export class SiteBuild {
  readonly site: SiteParts;
  readonly #writer: SiteWriter;
  readonly #log: BuildLog;
  readonly #contents = new Map<string, PostContents | null>();
  #templates: TemplateData[] = [];
  #discovery: SiteFile[] = [];
  /** `null` until the collections are complete. */
  #built: BuiltSite | null = null;
  #collections: Collections = {};

  constructor(config: EleventyConfig, settings: Settings, environment: BuildEnvironment) {
    this.site = new SiteParts(config, settings, environment);
    this.#writer = new SiteWriter(this.site);
    this.#log = new BuildLog(config, this.site);
  }

  /**
   * Reads the mentions and the followed feeds.
   *
   * @throws TwtxtError `bad-option` for an invalid key or path prefix; `output-conflict` for a build that would disturb a
   *   running server. No file is written by then.
   */
  async begin(event: BuildEvent): Promise<void> {
    const { directories, outputMode } = event;
    const { settings, environment, urls, head, mentions, timeline } = this.site;
    const { root } = environment;
    if (outputMode === "fs") {
      await (isReal(event) ? refuseOtherSite(root, settings.url) : refuseServedFolder(root, directories.output));
    }
    this.#built = null;
    this.#templates = [];
    urls.input = directories.input;
    urls.checkFeedUrl();
    head.begin();
    this.#discovery = [...(await discoveryFiles(urls.inboxes())), ...fediverseFiles(settings, urls)];
    if (isReal(event)) this.#log.formerUrl = (await lastBuild(root)).url;
    await Promise.all([mentions.read(), timeline.read()]);
  }

  /**
   * Remembers the data of each template. Eleventy adds the collections to it: version 3 earlier, version 4 later.
   *
   * @returns the new content of a template whose post is deleted; `undefined` for others
   */
  addTemplateData(data: TemplateData): string | undefined {
    this.#templates.push(data);
    this.site.noteTemplate(data.page?.inputPath);
    return this.site.deleted.empty(data);
  }

  /** Selects and dates the posts, when the collections are complete and nothing is rendered yet. */
  async schedulePosts({ urlToInputPath, inputPathToUrl }: ContentMap): Promise<void> {
    const { settings, urls, deleted, mentions, timeline, environment } = this.site;
    this.#collections = this.#findCollections();
    urls.pages = inputPathToUrl;
    this.#writer.others.pages = urlToInputPath;
    const twts = new TwtsFromPosts(this.#collections, this.site, environment.now(), this.#contents);
    const built: BuiltSite = {
      templates: this.#templates,
      collections: this.#collections,
      paths: Object.keys(urlToInputPath),
      discovery: this.#discovery,
      deleted: deleted.pagesAmong(inputPathToUrl),
      titles: pageTitles(this.#collections, twts),
      twts,
    };
    this.#writer.checkPaths([{ path: settings.path }], this.#discovery);
    await twts.load();
    this.site.copies = new Map(
      twts.schedule.dated.flatMap(({ post }) =>
        post.url
          ? [[post.url, [...new Set([...readSyndication(post), ...mentions.listCopies(post.url)])]] as const]
          : [],
      ),
    );
    this.#built = built;
    const ownTwts = await this.#readOwnTwts(built);
    mentions.begin(ownTwts, built.titles, timeline.known(), this.#readCommentedPosts(twts));
    timeline.begin(() => newestOwnTwts(twts));
  }

  /** The collections; those of the last build if no template was read, for example after a change of a copied file. */
  #findCollections(): Collections {
    const found = this.#templates.find(({ collections }) => collections)?.collections;
    if (found || this.#templates.length === 0) return found ?? this.#collections;
    throw authorError(
      "no-collections",
      "This version of Eleventy does not give plugins its collections, so no feed can be written. Use Eleventy 3 or 4.",
    );
  }

  /** The posts that can have comments, by path; none for a site without comments. */
  #readCommentedPosts({ schedule }: TwtsFromPosts): ReadonlyMap<string, "open" | "closed"> {
    const { settings, urls, environment } = this.site;
    const { comments } = mentionsOptions(settings);
    if (!comments || !urls.has("comments")) return new Map();
    return new Map(
      schedule.dated.flatMap(({ post, timestamp }) => {
        const isOld = isTooOld(Date.parse(timestamp), environment.now(), comments);
        const isClosed = isOld || post.data.comments === false;
        return post.url ? [[post.url, isClosed ? "closed" : "open"] as const] : [];
      }),
    );
  }

  /** The twts of a build for conversations; `null` if no post is a reply. */
  async #readOwnTwts({ twts, deleted }: BuiltSite): Promise<(() => readonly OwnTwt[]) | null> {
    const gone = deleted
      .map(({ page, replyTo }) => ({ ...deletedTwt({ page: this.site.urls.absolute(page), replyTo }), reply: null }))
      .filter(({ replyTo }) => replyTo !== null);
    if (gone.length === 0 && !twts.schedule.dated.some(({ post }) => isReply(post))) return null;
    const { textHtml } = await import("../site/text-html.js");
    return () => [...listOwnTwts(twts, (text) => textHtml(text, "twt")), ...gone];
  }

  /** @param map - the source of each copied file or folder, by its path in the site */
  noteCopies(map: Record<string, string>): void {
    this.#writer.others.noteCopies(map);
  }

  /** @see TwtsFromPosts.findTwt */
  findTwt(permalink: string, asker: string | undefined): PostTwt | null {
    return this.#built?.twts.findTwt(permalink, asker) ?? null;
  }

  /** Writes the scripts and the stylesheet that pages load, which Vite then looks for. */
  async writeAssets(event: BuildEvent): Promise<void> {
    if (this.#findBuilt(event)) await this.#writer.writeAssets(event.directories.output);
  }

  /**
   * Writes the plugin's files after Eleventy and other plugins have written the site.
   *
   * @throws TwtxtError `output-conflict` for two writers of one path, and for a feed that is gone again
   */
  async finish(event: BuildEvent): Promise<void> {
    const built = this.#findBuilt(event);
    if (!built) return;
    await built.twts.renderSkipped();
    const written = await this.#writer.write(event, built);
    await this.#log.report(event, built, written);
    await this.#writer.publish(event, built, written);
    this.#log.logSummary(built, written);
  }

  /** @returns `null` for a build that writes no files */
  #findBuilt({ outputMode }: BuildEvent): BuiltSite | null {
    return this.#built && outputMode === "fs" && !isDryRun(this.#built) ? this.#built : null;
  }
}
