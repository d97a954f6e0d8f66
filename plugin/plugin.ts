// plugin/plugin.ts: registers the pieces of eleventy/ with the site's configuration.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { summaryOf, warningsOf } from "./eleventy/build-report.js";
import type { BuildEvent, Collections, EleventyConfig } from "./eleventy/eleventy.js";
import { HeadLinks } from "./eleventy/head-links.js";
import { addMentionRule, isMarkdownIt, linkMentions } from "./eleventy/markdown-mentions.js";
import { headerRules, writeNetlifyHeaders } from "./eleventy/netlify-output.js";
import { OtherOutput, writeFiles } from "./eleventy/output.js";
import { itemsOf } from "./eleventy/posts.js";
import { discoveryFiles, feedFiles, type SiteFile } from "./eleventy/site-files.js";
import { SETTINGS_FILE, siteSettings } from "./eleventy/site-settings.js";
import { addTemplateTools } from "./eleventy/templates.js";
import type { PostText } from "./eleventy/text-from-post.js";
import { TwtsFromPosts } from "./eleventy/twts-from-posts.js";
import { checkOptions, type TwtxtOptions } from "./options.js";

const NAME = "eleventy-plugin-twtxt";
const OTHER_FEED_PATH = 'give the feed another place with the option "path"';
const OTHER_KEY = 'leave the options "key" and "endpoint" out';

/** What the plugin asks of the machine that it runs on. */
export interface World {
  /** Milliseconds since 1970. */
  now(): number;
  /** The project's root. */
  root: string;
  /** Whether a build of Netlify's is under way. */
  isNetlify: boolean;
}

/**
 * The plugin, given the world it runs in.
 *
 * @example eleventyConfig.addPlugin(twtxt, { url: "https://alice.example", nick: "alice" })
 */
export function definePlugin(world: () => World) {
  return function twtxt(config: EleventyConfig, options: TwtxtOptions): void {
    config.versionCheck(">=3.0.0");
    const settings = checkOptions(options);
    const { now, root, isNetlify } = world();
    const host = settings.host ?? (isNetlify || existsSync(join(root, "netlify.toml")) ? "netlify" : "static");

    const href = (path: string) => config.getFilter("url")(path);
    const absolute = (path: string) => new URL(href(path), settings.url).href;
    // EleventyHtmlBasePlugin adds the path prefix to a page's links after its body has been read.
    const resolve = (link: string, page: string) => {
      if (URL.canParse(link) || !URL.canParse(link, page)) return link;
      const isUnprefixed =
        link.startsWith("/") && !link.startsWith("//") && !link.startsWith(href("/")) && hasHtmlBase(config);
      return isUnprefixed ? absolute(link) : new URL(link, page).href;
    };
    // Asked for by every post and page; the path prefix is known only once the configuration is read whole.
    const feedHref = once(() => href(settings.path));
    const feedUrl = once(() => absolute(settings.path));
    const say = (message: string, type?: "warn") =>
      config.logger.logWithOptions({ message, prefix: `[${NAME}]`, ...(type && { type, color: "yellow" }) });

    const others = new OtherOutput();
    const head = new HeadLinks(settings, feedHref);
    const remembered = new Map<string, PostText | null>();
    const markdown = { isUsed: false, isTaught: false };
    const hasRawMentions = () => markdown.isUsed && !markdown.isTaught;

    let collections: Collections = {};
    let discovery: SiteFile[] = [];
    let twts: TwtsFromPosts | null = null;

    config.amendLibrary("md", (library) => {
      if (!isMarkdownIt(library)) return;
      addMentionRule(library, settings.follow);
      markdown.isTaught = true;
    });

    // Every template passes here with its data, the collections among them: no template of our own is needed to see them.
    config.addPreprocessor(NAME, "*", (data) => {
      collections = data.collections ?? collections;
      markdown.isUsed ||= data.page?.inputPath?.endsWith(".md") ?? false;
    });

    config.on("eleventy.before", async () => {
      twts = null;
      discovery = await discoveryFiles(settings);
    });

    config.on("eleventy.contentMap", async ({ urlToInputPath }) => {
      others.notePages(urlToInputPath);
      others.check([{ path: settings.path, content: "" }], OTHER_FEED_PATH);
      others.check(discovery, OTHER_KEY);
      twts = await TwtsFromPosts.from(
        collections,
        { settings, feedUrl, absolute, resolve, hasRawMentions, now },
        remembered,
      );
    });

    config.on("eleventy.passthrough", ({ map }) => others.noteCopies(map));

    addTemplateTools(config, {
      settings,
      feedUrl,
      feedHref,
      headLinks: () => head.html(),
      twtOf: (permalink, asker) => twts?.twtOf(permalink, asker) ?? null,
    });

    config.addTransform(NAME, function (content) {
      if (!String(this.page?.outputPath).endsWith(".html")) return content;
      const page = hasRawMentions() ? linkMentions(content, settings.follow) : content;
      return settings.head ? head.addTo(page) : page;
    });

    config.on("eleventy.after", async (event: BuildEvent) => {
      // An incremental build for a copied file alone renders nothing, and the feed stays as it is.
      if (event.outputMode !== "fs" || !twts || isDryRun(collections)) return;
      await twts.renderMissing();
      const all = twts.all();
      const feed = feedFiles(all, settings, feedUrl());

      others.check(feed, OTHER_FEED_PATH);
      others.check(discovery, OTHER_KEY);
      const build = {
        feedUrl: feedUrl(),
        input: event.directories.input,
        output: event.directories.output,
        schedule: twts.schedule,
      };
      const site = siteSettings({ ...settings, host }, build);
      await writeFiles(event.directories.output, [...feed, ...discovery]);
      await writeFiles(root, [{ path: SETTINGS_FILE, content: `${JSON.stringify(site, null, 2)}\n` }]);
      if (host === "netlify") await writeNetlifyHeaders(root, headerRules(feed, discovery, settings));

      for (const warning of warningsOf(twts, collections)) say(warning, "warn");
      const warning = head.takeWarning();
      if (warning) say(warning, "warn");
      if (discovery.length > 0 && href("/") !== "/") {
        say(
          `The documents of your address must stand at the root of ${new URL(settings.url).host}, and this site is below it. Serve ${discovery.map(({ path }) => path).join(", ")} from there.`,
          "warn",
        );
      }
      say(summaryOf(twts, { path: feedHref(), twts: all.length, archives: feed.length - 1 }));
    });
  };
}

function once<T>(find: () => T): () => T {
  let found: { value: T } | undefined;
  return () => {
    found ??= { value: find() };
    return found.value;
  };
}

function hasHtmlBase(config: EleventyConfig): boolean {
  return config.getFilter("htmlBaseUrl") !== undefined;
}

/** Eleventy tells its templates alone that nothing is to be written. */
function isDryRun(collections: Collections): boolean {
  return itemsOf(collections.all).some(({ template }) => template?.isDryRun && !template.isIncremental);
}

/** The plugin: `eleventyConfig.addPlugin(twtxt, { url: "https://alice.example", nick: "alice" })`. */
export const twtxt = definePlugin(() => ({
  now: Date.now,
  root: process.cwd(),
  isNetlify: Boolean(process.env.NETLIFY),
}));
