// plugin/eleventy/built-site.ts: what a build knows of its site when the collections are complete.
import type { DeletedPage } from "../site/site.js";
import type { BuildEvent, Collections, TemplateData } from "./eleventy.js";
import type { PageTitles } from "./mentions/page-titles.js";
import type { SiteFile } from "./output/write-files.js";
import { toItems } from "./posts/posts.js";
import type { TwtsFromPosts } from "./posts/twts-from-posts.js";

export interface BuiltSite {
  templates: readonly TemplateData[];
  collections: Collections;
  twts: TwtsFromPosts;
  titles: PageTitles;
  /** The paths of all templates, as in Eleventy's `eleventy.contentMap`. */
  paths: readonly string[];
  deleted: readonly DeletedPage[];
  discovery: readonly SiteFile[];
}

/** Whether a build is for publication. Builds of `--serve` and `--watch` may contain drafts. */
export function isReal({ runMode }: Pick<BuildEvent, "runMode">): boolean {
  return runMode === "build";
}

/** Whether Eleventy runs with `--dryrun`, which only the templates know. */
export function isDryRun({ collections }: BuiltSite): boolean {
  return toItems(collections.all).some(({ template }) => template?.isDryRun && !template.isIncremental);
}
