// plugin/plugin.ts: registers the pieces of eleventy/ with the site's configuration.

import { readFile } from "node:fs/promises";
import type { Clock } from "./clock.js";
import { contactPage } from "./eleventy/contact.js";
import { guessHost } from "./eleventy/default-host.js";
import type { EleventyConfig } from "./eleventy/eleventy.js";
import { mentionPages } from "./eleventy/mention-pages.js";
import { addOwnPages } from "./eleventy/own-pages.js";
import { SiteBuild } from "./eleventy/site-build.js";
import { addTemplateTools } from "./eleventy/templates.js";
import { authorError } from "./errors.js";
import { checkOptions, type TwtxtOptions } from "./options.js";
import { PREVIEW_FOLDER } from "./site/site.js";

const NAME = "eleventy-plugin-twtxt";

/** What the plugin asks of the machine that it runs on. */
export interface World {
  now: Clock;
  /** The project's root. */
  root: string;
  /** Environment variables, for the question which host builds the site. */
  environment: Readonly<Record<string, string | undefined>>;
  /** Reads a script for the pages of the site, such as `twtxt-mentions`, bundled and ready to serve. */
  readScript(name: string): Promise<string>;
}

/** The plugin, given the world it runs in. */
export function definePlugin(world: () => World) {
  return function twtxt(config: EleventyConfig, options: TwtxtOptions): void {
    config.versionCheck(">=3.0.0");
    const settings = checkOptions(options);
    const { now, root, environment, readScript } = world();
    const host = settings.host ? { name: settings.host, reason: null } : guessHost(root, environment);
    if (config.getFilter("twt")) {
      throw authorError(
        "bad-option",
        `The plugin is added twice, or the configuration has a filter "twt" of its own. Keep one addPlugin(twtxt, ...), and give your filter another name.`,
      );
    }
    const build = new SiteBuild(config, settings, { now, root, host, readScript });

    // What a build leaves for others is no reason for another build, which would leave it again.
    for (const folder of [".eleventy-twtxt", ".netlify"]) config.watchIgnores.add(`${folder}/**`);
    // A preview of its own folder may hold drafts, which the next real build must not read as pages.
    config.ignores.add(`${PREVIEW_FOLDER}/**`);
    config.on("eleventy.before", (event) => build.begin(event));
    config.amendLibrary("md", (library) => build.extendMarkdown(library));
    config.addPreprocessor(NAME, "*", (data) => build.see(data));
    config.on("eleventy.contentMap", (pages) => build.plan(pages));
    config.on("eleventy.passthrough", ({ map }) => build.noteCopies(map));
    addTemplateTools(config, build);
    addOwnPages(config, build, [...mentionPages(build), ...contactPage(settings, () => build.inboxes)]);
    config.addTransform(NAME, function (content) {
      return build.page(content, this.page ?? {});
    });
    config.on("eleventy.after", (event) => build.finish(event));
  };
}

/**
 * The plugin.
 *
 * @param config - Eleventy's configuration
 * @param options - `url` and `nick`, and what the README lists
 * @throws TwtxtError `bad-option`, naming the option, what was expected and what was received
 * @example eleventyConfig.addPlugin(twtxt, { url: "https://alice.example", nick: "alice" })
 */
export const twtxt = definePlugin(() => ({
  now: Date.now,
  root: process.cwd(),
  environment: process.env,
  readScript: (name) => readFile(new URL(`./browser/${name}.js`, import.meta.url), "utf8"),
}));
