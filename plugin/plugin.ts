// plugin/plugin.ts: the Eleventy plugin: registers its event handlers, filters and shortcodes.
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { onAfterOthers } from "./eleventy/after-others.js";
import { type BuildEnvironment, guessHost } from "./eleventy/build-environment.js";
import type { EleventyConfig } from "./eleventy/eleventy.js";
import { addFollowFile } from "./eleventy/follow-file.js";
import { addPluginPages } from "./eleventy/pages/plugin-pages.js";
import { SiteBuild } from "./eleventy/site-build.js";
import { addTemplateTools } from "./eleventy/templates.js";
import { authorError } from "./errors.js";
import { checkOptions, type TwtxtOptions } from "./options.js";
import { PREVIEW_FOLDER } from "./site/site.js";

const NAME = "eleventy-plugin-twtxt";

/** The machine that the plugin runs on, and its environment variables. */
export interface PluginEnvironment extends Omit<BuildEnvironment, "host" | "client" | "followed"> {
  /** Environment variables, from which the host is guessed. */
  environment: Readonly<Record<string, string | undefined>>;
  /** The version of this package. */
  version: string;
}

/** Defines the plugin for a machine. @param readEnvironment - called when a site adds the plugin */
export function definePlugin(readEnvironment: () => PluginEnvironment) {
  return function eleventyPluginTwtxt(config: EleventyConfig, options: TwtxtOptions): void {
    config.versionCheck(">=3.0.0");
    const checked = checkOptions(options);
    const { environment, version, ...own } = readEnvironment();
    const { feeds, file } = addFollowFile(checked.follow, own.root, config.directories.data);
    const settings = { ...checked, follow: feeds };
    const host = settings.host ? { name: settings.host, reason: null } : guessHost(own.root, environment);
    if (config.getFilter("twt")) {
      throw authorError(
        "bad-option",
        `The plugin is added twice, or your configuration has its own filter "twt". Keep one addPlugin(twtxt, ...), or rename your filter.`,
      );
    }
    const followed = { file, option: checked.follow };
    const build = new SiteBuild(config, settings, { ...own, host, client: `${NAME}/${version}`, followed });

    // Each build writes these folders, so watching them would start builds in an endless loop.
    for (const folder of [".eleventy-twtxt", ".netlify", ".cache"]) config.watchIgnores.add(`${folder}/**`);
    config.addWatchTarget(file, { resetConfig: true });
    // A preview may contain drafts, which the next build must not read as templates.
    config.ignores.add(`${PREVIEW_FOLDER}/**`);
    config.on("eleventy.before", (event) => build.begin(event));
    config.amendLibrary("md", (library) => build.site.extendMarkdown(library));
    config.addPreprocessor(NAME, "*", (data) => build.addTemplateData(data));
    config.on("eleventy.contentMap", (pages) => build.schedulePosts(pages));
    config.on("eleventy.passthrough", ({ map }) => build.noteCopies(map));
    addTemplateTools(config, build);
    addPluginPages(config, build.site);
    config.addTransform(NAME, function (content) {
      return build.site.transformPage(content, this.page ?? {});
    });
    // The older name of `eleventy.after`, whose handlers Eleventy calls before those of the newer one.
    config.on("afterBuild", (event) => build.writeAssets(event));
    onAfterOthers(config, (event) => build.finish(event));
  };
}

const require = createRequire(import.meta.url);

/**
 * The plugin.
 *
 * @param config - Eleventy's configuration
 * @param options - `url` and `nick`, and other options in the README
 * @throws TwtxtError `bad-option`, naming the option, what was expected and what was received
 * @example eleventyConfig.addPlugin(twtxt, { url: "https://alice.example", nick: "alice" })
 */
export const twtxt = definePlugin(() => ({
  now: Date.now,
  root: process.cwd(),
  environment: process.env,
  packageFolder: fileURLToPath(new URL("../", import.meta.url)),
  htmlReader: () => require("./text/text-from-html.js"),
  readAsset: (file) => readFile(new URL(`./browser/${file}`, import.meta.url), "utf8"),
  version: JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version,
}));
