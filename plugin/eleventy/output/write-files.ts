// plugin/eleventy/output/write-files.ts: writes files of the plugin, without overwriting those of the site.
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { authorError, type TwtxtError } from "../../errors.js";

export interface SiteFile {
  /** From the site's root, such as `/twtxt.txt`. */
  path: string;
  content: string;
}

/** The site's other output: pages with their templates, and copied files with their sources. */
export class OtherOutput {
  pages: Record<string, { inputPath: string }> = {};
  #copies: Record<string, string> = {};

  /** @param map - sources by path in the site; in development builds, also whole folders */
  noteCopies(map: Record<string, string>): void {
    this.#copies = { ...this.#copies, ...map };
  }

  /**
   * Checks that no page or copied file of the site has the path of one of these files.
   *
   * @param alternative - what the author can do to keep the other file
   * @throws TwtxtError `output-conflict` naming the site's file
   */
  check(files: readonly { path: string }[], alternative: string): void {
    for (const { path } of files) {
      const page = this.pages[path] ?? this.pages[path.replace(/\/index\.html$/, "/")] ?? this.pages[`${path}/`];
      const source = page?.inputPath ?? this.#readCopy(path);
      if (source !== null) throw outputConflict(source, path, alternative);
    }
  }

  #readCopy(path: string): string | null {
    for (const [target, source] of Object.entries(this.#copies)) {
      const folder = `/${target}`.replace(/\/+/g, "/").replace(/\/$/, "");
      if (folder === path) return source;
      const inside = path.startsWith(`${folder}/`) ? join(source, path.slice(folder.length)) : null;
      if (inside && existsSync(inside)) return inside;
    }
    return null;
  }
}

export function outputConflict(source: string, path: string, alternative: string): TwtxtError {
  return authorError(
    "output-conflict",
    `${source} is already written to ${path}. Remove that file, or ${alternative}. Nothing was overwritten.`,
  );
}

export async function writeFiles(
  folder: string,
  files: readonly { path: string; content: string | Uint8Array }[],
): Promise<void> {
  await Promise.all(
    files.map(async ({ path, content }) => {
      const file = join(folder, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
    }),
  );
}
