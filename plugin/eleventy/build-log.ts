// plugin/eleventy/build-log.ts: log messages of builds, in Eleventy's own log.
import type { EleventyConfig } from "./eleventy.js";

const NAME = "eleventy-plugin-twtxt";

/** The log of the builds of one process. */
export class BuildLog {
  readonly #logged = new Set<string>();

  constructor(readonly config: Pick<EleventyConfig, "logger">) {}

  /** Warnings are logged even with `--quiet`, which most builds on servers use. */
  log(message: string, type?: "warn"): void {
    this.config.logger.logWithOptions({
      message,
      prefix: `[${NAME}]`,
      ...(type && { type, color: "yellow", force: true }),
    });
  }

  /** Logs a message unless an earlier build of this process has logged it. */
  logOnce(message: string, type?: "warn"): void {
    if (this.#logged.has(message)) return;
    this.#logged.add(message);
    this.log(message, type);
  }
}
