// plugin/eleventy/pages/layouts.ts: the layouts of a site: which exist, and which most of its pages use.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { authorError } from "../../errors.js";
import type { EleventyConfig, TemplateData } from "../eleventy.js";
import { listed } from "../findings.js";

/** How many layouts a message names. */
const NAMED = 10;

/**
 * Checks that the site has a layout, before Eleventy fails with its own stack trace.
 *
 * @param option - the option that names the layout
 * @throws TwtxtError `bad-option` with the layouts that exist
 */
export function checkLayout(name: string, option: string, config: EleventyConfig): void {
  const { input, includes, layouts } = config.directories;
  const folder = layouts ?? includes;
  const path = config.layoutAliases[name] ?? name;
  const files = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : [];
  const virtual = Object.keys(config.virtualTemplates).map((file) => join(input, file));
  const isLayoutFile = (file: string) => file === path || file.startsWith(`${path}.`);
  if (files.some(isLayoutFile) || virtual.some((file) => isLayoutFile(file.slice(join(folder).length)))) return;
  const known = [...Object.keys(config.layoutAliases), ...files.filter((file) => isLayout(join(folder, file))).sort()];
  const which = known.length > 0 ? `Layouts there: ${listed(known, NAMED)}.` : "There are no layouts.";
  throw authorError("bad-option", `options.${option}: there is no layout "${name}" in ${folder}. ${which}`);
}

/** Layouts show a content; other files of the same folder are parts of pages. */
function isLayout(file: string): boolean {
  try {
    return /\bcontent\b/.test(readFileSync(file, "utf8"));
  } catch {
    return false;
  }
}

/**
 * The layout that most pages use, but for posts, whose layouts show dates; that of most posts if there are no others.
 *
 * @param posts - the input paths of posts
 * @returns `null` for a site without layouts
 */
export function usualLayout(templates: readonly TemplateData[], posts: ReadonlySet<string>): string | null {
  const isPost = ({ page }: TemplateData) => posts.has(page?.inputPath ?? "");
  return mostUsed(templates.filter((data) => !isPost(data))) ?? mostUsed(templates.filter(isPost));
}

function mostUsed(templates: readonly TemplateData[]): string | null {
  const counts = new Map<string, number>();
  for (const { layout } of templates) {
    if (typeof layout === "string") counts.set(layout, (counts.get(layout) ?? 0) + 1);
  }
  const [first] = [...counts].sort(([, a], [, b]) => b - a);
  return first?.[0] ?? null;
}
