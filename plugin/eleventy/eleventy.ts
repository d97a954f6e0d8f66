// plugin/eleventy/eleventy.ts: the part of Eleventy's configuration that the plugin uses. Eleventy ships no types.
import type { Post } from "../options.js";

/** `collections` in templates: every collection by name. */
export type Collections = Record<string, unknown>;

export interface BuildEvent {
  directories: { input: string; output: string };
  runMode: "build" | "serve" | "watch";
  outputMode: "fs" | "json" | "ndjson";
  /** The pages that were written, from the project's root; `false` for one without a file. In `eleventy.after` only. */
  results?: { outputPath: string | false }[];
}

export interface ContentMap {
  urlToInputPath: Record<string, { inputPath: string }>;
  inputPathToUrl: Record<string, string[]>;
}

export interface TemplateData extends TemplateContext {
  collections?: Collections;
  pagination?: { data?: unknown };
  eleventyImport?: unknown;
  eleventyExcludeFromCollections?: unknown;
  layout?: unknown;
  twt?: unknown;
  replyTo?: unknown;
  lang?: unknown;
}

/** `this` of filters, shortcodes and transforms. */
export interface TemplateContext {
  /** `lang` is set by Eleventy's i18n plugin. */
  page?: { url?: string | false; inputPath?: string; outputPath?: string | false; lang?: unknown };
}

export interface EleventyConfig {
  versionCheck(range: string): void;
  /** Folders from the project's root, such as `./_data/`. Layouts are among the includes, unless they have a folder. */
  directories: { input: string; data: string; includes: string; layouts?: string };
  layoutAliases: Record<string, string>;
  /** The templates that the configuration adds, by path from the input folder. */
  virtualTemplates: Record<string, unknown>;
  /** @param options - `resetConfig` loads the configuration again after a change */
  addWatchTarget(target: string, options: { resetConfig: boolean }): void;
  watchIgnores: Set<string>;
  ignores: Set<string>;
  on(event: "eleventy.before" | "eleventy.after" | "afterBuild", listener: (event: BuildEvent) => unknown): void;
  on(event: "eleventy.contentMap", listener: (event: ContentMap) => unknown): void;
  on(event: "eleventy.passthrough", listener: (event: { map: Record<string, string> }) => unknown): void;
  /** Whether the handlers of an event run side by side or one after the other. */
  setEventEmitterMode(mode: "parallel" | "sequential"): void;
  /** The callback may return new content of the template. */
  addPreprocessor(name: string, fileExtensions: string, callback: (data: TemplateData) => unknown): void;
  addFilter(name: string, callback: (this: TemplateContext, ...values: never[]) => unknown): void;
  addShortcode(name: string, callback: (this: TemplateContext, ...values: never[]) => string): void;
  /** Adds a virtual template in the input folder. */
  addTemplate(path: string, content: string, data: object): void;
  addTemplateFormats(format: string): void;
  /** Adds a template language: `compile` returns the function that renders a page from its data. */
  addExtension(
    extension: string,
    language: {
      outputFileExtension: string;
      /** Compiles the `permalink` of a page's data. */
      compileOptions: { permalink(permalink: unknown): unknown };
      compile(content: string, file: string): (data: never) => Promise<string>;
    },
  ): void;
  /** The callback gets the URL of every page as soon as it is known. */
  addUrlTransform(callback: (page: { url: string }) => void): void;
  addGlobalData(name: string, value: () => unknown): void;
  addTransform(name: string, callback: (this: TemplateContext, content: string, outputPath: string) => string): void;
  amendLibrary(name: "md", callback: (library: unknown) => void): void;
  getCollections(): Record<string, unknown>;
  getFilter(name: "url"): (url: string) => string;
  getFilter(name: "htmlBaseUrl" | "twt" | "mentions"): unknown;
  logger: {
    logWithOptions(options: { message: string; prefix: string; type?: string; color?: string; force?: boolean }): void;
  };
}

/** A collection item with an undocumented part of Eleventy that is widely used. */
export interface CollectionItem extends Post {
  /** `lang` is set by Eleventy's i18n plugin. */
  page?: NonNullable<Post["page"]> & { lang?: unknown };
  template?: {
    isRenderable(): boolean;
    /** The front matter of the template, without the data cascade. */
    getFrontMatterData(): Promise<{ data: Record<string, unknown> }>;
    renderPageEntryWithoutLayout(item: CollectionItem): Promise<string>;
    isDryRun?: boolean;
    isIncremental?: boolean;
  };
}
