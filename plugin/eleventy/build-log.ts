// plugin/eleventy/build-log.ts: reports a build in Eleventy's own log.
import * as report from "./build-report.js";
import { type BuiltSite, isReal } from "./built-site.js";
import type { BuildEvent, EleventyConfig } from "./eleventy.js";
import type { WrittenSite } from "./output/write-site.js";
import { usualLayout } from "./pages/layouts.js";
import type { SiteParts } from "./site-parts.js";
import { unknownMentions } from "./unknown-mentions.js";

const NAME = "eleventy-plugin-twtxt";

export class BuildLog {
  /** The option `url` of the last real build on this machine, if there was one. */
  formerUrl: unknown;
  readonly #logged = new Set<string>();

  constructor(
    readonly config: EleventyConfig,
    readonly site: SiteParts,
  ) {}

  async report(event: BuildEvent, built: BuiltSite, written: WrittenSite): Promise<void> {
    const blobs = await this.site.blobs.check();
    const warnings = [...this.#listWarnings(built), ...blobs.warnings, ...written.warnings];
    for (const warning of warnings) this.#log(warning, "warn");
    this.#logNotesOnce(event, built);
    const { head, timeline } = this.site;
    const notes = [...report.notesOnOptions(this.site), ...head.notes(), ...blobs.notes];
    for (const note of [...notes, timeline.note()]) if (note !== null) this.#log(note);
  }

  logSummary({ twts }: BuiltSite, { feed }: WrittenSite): void {
    const counts = { twts: twts.all().length, archives: feed.length - 1 };
    this.#log(report.formatSummary(twts, { path: this.site.urls.feedHref(), ...counts }));
  }

  #listWarnings({ twts, collections, discovery }: BuiltSite): string[] {
    const { settings, environment, urls, head, mentions } = this.site;
    const configured = new Set(Object.keys(this.config.getCollections()));
    const unknown = unknownMentions(this.site.unknownMentions.take(), twts.schedule, environment.now());
    const moved = report.warningOnMove(settings, [this.formerUrl, ...mentions.targetOrigins()]);
    return [
      ...report.warningsOnPosts(twts, collections, configured),
      ...report.warningsOnMentions(unknown),
      ...head.warnings(),
      ...[mentions.warning(), moved].filter((warning) => warning !== null),
      ...report.warningsOnDocuments(discovery, urls),
      ...(urls.has("blobs") ? report.warningsOnHiddenPages(collections) : []),
    ];
  }

  #logNotesOnce(event: BuildEvent, { templates, twts }: BuiltSite): void {
    const { settings, environment, ownPages, plainPages } = this.site;
    const { name, reason } = environment.host;
    // A warning if `serve` shows the folder, because many starters run their preview with `--quiet`.
    const type = name === "node" ? "warn" : undefined;
    if (!isReal(event)) this.#logOnce(report.noteOnDevelopmentBuild(event.directories.output), type);
    if (reason !== null) this.#logOnce(report.noteOnHost(name, reason));
    if (settings.layout !== false && plainPages.length > 0) {
      const posts = new Set(twts.schedule.dated.map(({ post }) => post.inputPath));
      const note = report.noteOnPlainPages(plainPages, usualLayout(templates, posts, this.config));
      if (note !== null) this.#logOnce(note);
    }
    for (const note of ownPages) this.#logOnce(note);
  }

  /** Warnings are logged even with `--quiet`, which most builds on servers use. */
  #log(message: string, type?: "warn"): void {
    this.config.logger.logWithOptions({
      message,
      prefix: `[${NAME}]`,
      ...(type && { type, color: "yellow", force: true }),
    });
  }

  #logOnce(message: string, type?: "warn"): void {
    if (this.#logged.has(message)) return;
    this.#logged.add(message);
    this.#log(message, type);
  }
}
