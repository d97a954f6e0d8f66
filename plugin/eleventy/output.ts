// plugin/eleventy/output.ts: writing beside what the site itself writes, and never over it.
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { authorError } from "../errors.js";
import type { BinaryFile, SiteFile } from "./site-files.js";

/** Who else writes to which path of the site: pages by their template, copied files by their source. */
export class OtherOutput {
  #pages: Record<string, { inputPath: string }> = {};
  #copies: Record<string, string> = {};

  notePages(urlToInputPath: Record<string, { inputPath: string }>): void {
    this.#pages = urlToInputPath;
  }

  /** @param map - source by path in the site; a folder where the development server passes it through whole */
  noteCopies(map: Record<string, string>): void {
    this.#copies = { ...this.#copies, ...map };
  }

  /** @throws TwtxtError `output-conflict` naming the site's file and the two ways out */
  check(files: readonly { path: string }[], way: string): void {
    for (const { path } of files) {
      const page = this.#pages[path] ?? this.#pages[path.replace(/\/index\.html$/, "/")] ?? this.#pages[`${path}/`];
      const source = page?.inputPath ?? this.#copyAt(path);
      if (source === null) continue;
      throw authorError(
        "output-conflict",
        `${source} is written to ${path} already. Remove that file, or ${way}. Nothing was overwritten.`,
      );
    }
  }

  #copyAt(path: string): string | null {
    for (const [target, source] of Object.entries(this.#copies)) {
      const folder = `/${target}`.replace(/\/+/g, "/").replace(/\/$/, "");
      if (folder === path) return source;
      const inside = path.startsWith(`${folder}/`) ? join(source, path.slice(folder.length)) : null;
      if (inside && existsSync(inside)) return inside;
    }
    return null;
  }
}

/** Writes files below a folder. */
export async function writeFiles(folder: string, files: readonly (SiteFile | BinaryFile)[]): Promise<void> {
  await Promise.all(
    files.map(async ({ path, content }) => {
      const file = join(folder, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
    }),
  );
}

/** Writes a file atomically: readers see the old content or the new one. */
export async function replaceFile(file: string, content: string): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  await mkdir(dirname(file), { recursive: true });
  try {
    await writeFile(temporary, content, { flush: true });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
