// plugin/eleventy/pages/layouts.ts: the layouts of a site: which exist, and which one its pages share.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { authorError } from "../../errors.js";
import { remember } from "../../groups.js";
import type { EleventyConfig, TemplateData } from "../eleventy.js";
import { listed } from "../findings.js";

const NAMED = 10;

const FRONT_MATTER = /^---[^\n]*\n([\s\S]*?)\n---/;
/** In YAML, JSON or JavaScript. */
const PARENT = /(?:^|[{,])\s*(?:const )?["']?layout["']? *[:=] *["']?([^\s"',;]+)/m;

/**
 * Checks that the site has a layout, before Eleventy fails with its own stack trace.
 *
 * @throws TwtxtError `bad-option` with the layouts that exist
 */
export function checkLayout(name: string, option: string, config: EleventyConfig): void {
  const layouts = new Layouts(config);
  if (layouts.findFile(name) !== null) return;
  const known = layouts.listNames();
  const which = known.length > 0 ? `Layouts there: ${listed(known, NAMED)}.` : "There are no layouts.";
  throw authorError("bad-option", `options.${option}: there is no layout "${name}" in ${layouts.folder}. ${which}`);
}

/**
 * The layout that most pages have in common, itself or as a parent of theirs: one of the pages that are no posts, because
 * layouts of posts show dates; one of posts if there are no others.
 *
 * @param posts - the input paths of posts
 * @returns `null` for a site without layouts
 */
export function usualLayout(
  templates: readonly TemplateData[],
  posts: ReadonlySet<string>,
  config: EleventyConfig,
): string | null {
  const layouts = new Layouts(config);
  const counts = new Map<string, number>();
  const chains = templates.flatMap(({ layout, page }) => {
    if (typeof layout !== "string") return [];
    const chain = layouts.findChain(layout);
    for (const name of chain) counts.set(name, (counts.get(name) ?? 0) + 1);
    return [{ chain, isPost: posts.has(page?.inputPath ?? "") }];
  });
  const others = chains.filter(({ isPost }) => !isPost);
  const names = new Set((others.length > 0 ? others : chains).flatMap(({ chain }) => chain));
  const [first] = [...names].sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0));
  return first ?? null;
}

/** The files of layouts, by the names that pages and other layouts use for them. */
class Layouts {
  readonly folder: string;
  readonly #aliases: Record<string, string>;
  readonly #files: readonly string[];
  readonly #virtual: readonly string[];
  readonly #chains = new Map<string, readonly string[]>();

  constructor({ directories: { input, includes, layouts }, layoutAliases, virtualTemplates }: EleventyConfig) {
    this.folder = layouts ?? includes;
    this.#aliases = layoutAliases;
    this.#files = existsSync(this.folder) ? readdirSync(this.folder, { recursive: true, encoding: "utf8" }) : [];
    this.#virtual = Object.keys(virtualTemplates).map((file) => join(input, file).slice(join(this.folder).length));
  }

  /** The file of a layout, from the folder of layouts; `null` if there is none. */
  findFile(name: string): string | null {
    const path = this.#aliases[name] ?? name;
    const isFile = (file: string) => file === path || file.startsWith(`${path}.`);
    return [...this.#files, ...this.#virtual].find(isFile) ?? null;
  }

  /** The aliases and files of layouts. Other files of the same folder are parts of pages, without a content. */
  listNames(): string[] {
    const files = this.#files.filter((file) => /\bcontent\b/.test(this.#read(file)));
    return [...Object.keys(this.#aliases), ...files.sort()];
  }

  /** A layout and its parents, by their files; empty if there is no file. */
  findChain(name: string): readonly string[] {
    return remember(this.#chains, name, () => {
      const chain: string[] = [];
      for (let next: string | undefined = name; next !== undefined; ) {
        const file = this.findFile(next);
        if (file === null || chain.includes(file)) break;
        chain.push(file);
        next = PARENT.exec(FRONT_MATTER.exec(this.#read(file))?.[1] ?? "")?.[1];
      }
      return chain;
    });
  }

  #read(file: string): string {
    try {
      return readFileSync(join(this.folder, file), "utf8");
    } catch {
      return "";
    }
  }
}
