// plugin/eleventy/after-others.ts: runs the end of a build after the handlers of the site and of other plugins.
import type { BuildEvent, EleventyConfig } from "./eleventy.js";

/**
 * Calls a handler of `eleventy.after` after all others, because some empty the output folder: Vite's plugin builds it anew
 * and keeps only what pages refer to. Handlers of all events then run one after the other, as in Eleventy 4.
 */
export function onAfterOthers(config: EleventyConfig, handler: (event: BuildEvent) => unknown): void {
  let isAdded = false;
  // When the first build begins, the site and its plugins have added their handlers.
  config.on("eleventy.before", () => {
    if (isAdded) return;
    isAdded = true;
    config.setEventEmitterMode("sequential");
    config.on("eleventy.after", handler);
  });
}
