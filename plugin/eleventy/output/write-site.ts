// plugin/eleventy/output/write-site.ts: writes the files of the plugin at the end of a build.
import { join } from "node:path";
import { sendsLinks } from "../../options/mentions.js";
import { hostSettings, type PublishedSite, SETTINGS_FILE } from "../../site/site.js";
import { warningsOnPreviewFiles } from "../build-report.js";
import { type BuiltSite, isReal } from "../built-site.js";
import type { BuildEvent } from "../eleventy.js";
import { copiesOfPosts } from "../posts/copies.js";
import { copyNotePictures } from "../posts/pictures.js";
import type { SiteParts } from "../site-parts.js";
import { checkFeedFiles, feedFiles, removeStaleArchives } from "./feed-files.js";
import { deletedRules, headerRules, writeNetlifyConfig } from "./netlify-config.js";
import { functionConflicts, functionFiles, listFunctions, writeFunctions } from "./netlify-functions.js";
import { notePreviewFiles, removePreviewFiles } from "./previews.js";
import { publish, sitePages, takeEndpointPage } from "./publish.js";
import { siteSettings } from "./site-settings.js";
import { OtherOutput, type SiteFile, writeFiles } from "./write-files.js";

export interface WrittenSite {
  feed: readonly SiteFile[];
  /** What the host of the site needs. */
  published: PublishedSite;
  /** About removed files, and about conflicts with the site's own functions. */
  warnings: readonly string[];
}

export class SiteWriter {
  readonly others = new OtherOutput();

  constructor(readonly site: SiteParts) {}

  /** @throws TwtxtError `output-conflict` for a page or copied file at the path of the feed or of a discovery document */
  checkPaths(files: readonly { path: string }[], discovery: BuiltSite["discovery"]): void {
    this.others.check(files, 'give the feed another path with the option "path"');
    this.others.check(discovery, 'remove the options "key" and "endpoint", or "fediverse"');
  }

  async writeAssets(output: string): Promise<void> {
    const assets = await this.site.assets.files();
    this.#checkAssets(assets);
    await writeFiles(output, assets);
  }

  /**
   * Writes the files into the output folder, and the data for the commands.
   *
   * @throws TwtxtError `output-conflict` for two writers of one path
   */
  async write(event: BuildEvent, built: BuiltSite): Promise<WrittenSite> {
    const { settings, urls, environment } = this.site;
    const { output } = event.directories;
    const twts = built.twts.all().map(({ twt }) => twt);
    const feed = feedFiles(twts, settings, urls);
    const notes = built.twts.schedule.dated.map(({ post }) => post);
    const pictures = await copyNotePictures(notes, { root: environment.root, output });
    const written = [...(await this.#writeFiles(output, feed, built)), ...pictures];
    const published = await this.#writeSettings(event, built);
    const leftovers = await this.#cleanUp(event, written);
    const conflicts = await this.#writeForNetlify(published, feed, built);
    return { feed, published, warnings: [...conflicts, ...leftovers] };
  }

  /** Publishes a real build to its host. @throws TwtxtError `output-conflict` for a feed that is gone again */
  async publish(event: BuildEvent, { discovery }: BuiltSite, { feed, published }: WrittenSite): Promise<void> {
    await checkFeedFiles(event.directories.output, feed);
    if (isReal(event)) await publish(this.site.environment.root, published, [...feed, ...discovery]);
  }

  /** @returns the paths of the files, from the project's root */
  async #writeFiles(output: string, feed: readonly SiteFile[], { discovery }: BuiltSite): Promise<string[]> {
    const { settings, urls, assets, mentions, timeline } = this.site;
    this.checkPaths(feed, discovery);
    const lists = [...(await assets.files()), ...mentions.files()];
    this.#checkAssets(lists);
    const files = [...feed, ...discovery, ...lists];
    await writeFiles(output, files);
    await removeStaleArchives(output, { path: settings.path, url: urls.feedUrl() }, feed);
    await Promise.all([mentions.saveCache(), timeline.saveCache()]);
    return files.map(({ path }) => join(output, path));
  }

  #checkAssets(files: readonly { path: string }[]): void {
    this.others.check(files, `give the option "${this.site.assets.home().option}" another path`);
  }

  /** Writes the settings for the commands. @returns the site for its host */
  async #writeSettings(event: BuildEvent, built: BuiltSite): Promise<PublishedSite> {
    const { host, root, followed } = this.site.environment;
    const { schedule } = built.twts;
    const build = { ...event.directories, host: host.name, isDevelopment: !isReal(event), followed, schedule };
    const settings = siteSettings(this.site.settings, this.site.urls, build);
    await writeFiles(root, [{ path: SETTINGS_FILE, content: `${JSON.stringify(settings, null, 2)}\n` }]);
    const pages = sitePages(built, {
      endpointPage: await takeEndpointPage(event.directories.output),
      // Netlify sends the headers of these pages by its own configuration.
      withoutHead: host.name === "node" ? this.site.head.pagesWithoutHead() : [],
      needsHashes: host.name !== "static",
      needsLinks: isReal(event) && sendsLinks(this.site.settings),
      copies: isReal(event) ? await copiesOfPosts(built.twts) : new Map(),
    });
    return { settings: hostSettings(settings), pages };
  }

  /** Keeps pages of previews out of the real site. @returns warnings about removed files */
  async #cleanUp(event: BuildEvent, written: readonly string[]): Promise<string[]> {
    const { root } = this.site.environment;
    const { directories, results = [] } = event;
    const pages = results.flatMap(({ outputPath }) => (typeof outputPath === "string" ? [outputPath] : []));
    const files = [...pages, ...written];
    if (isReal(event)) return warningsOnPreviewFiles(await removePreviewFiles(root, directories.output, files));
    await notePreviewFiles(root, files);
    return [];
  }

  /** @returns warnings about conflicts with the site's own functions */
  async #writeForNetlify(published: PublishedSite, feed: readonly SiteFile[], built: BuiltSite): Promise<string[]> {
    const { settings, urls, head, environment } = this.site;
    const { root, packageFolder } = environment;
    const isNetlify = environment.host.name === "netlify";
    const { endpoint } = published.settings;
    await writeNetlifyConfig(root, {
      headers: isNetlify ? headerRules(feed, built.discovery, endpoint, head.pagesWithoutHead()) : [],
      "redirects!": isNetlify ? deletedRules(built.deleted.map(({ page }) => page)) : [],
    });
    const functions = isNetlify && settings.functions ? listFunctions(published.settings, urls) : [];
    await writeFunctions(root, functionFiles(functions, published, { root, packageFolder }));
    return functions.length > 0 ? functionConflicts(root, functions) : [];
  }
}
