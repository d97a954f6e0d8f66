// plugin/host/static-files.ts: finds files of a folder for visitors, and keeps small ones in memory.
import type { Stats } from "node:fs";
import { readFile, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { isBelow } from "../site/real-path.js";

/** The largest file that is kept in memory, and the size of all that are. */
const MAX_FILE_BYTES = 256 * 1024;
const MAX_BYTES = 32 * 1024 * 1024;

/** A file as it is on the disk now. */
export interface StaticFile {
  /** Absolute, with symbolic links to the folder resolved: a deploy may replace such a link at any time. */
  path: string;
  size: number;
  modified: Date;
  /** Strong, with quotation marks. */
  etag: string;
  /** `null` for a large file. */
  contents: Buffer | null;
}

/** Files of folders. A request for a file that has not changed costs one look at the file system. */
export class StaticFiles {
  /** By requested path, least recently used first. */
  readonly #files = new Map<string, StaticFile & { version: string }>();
  #bytes = 0;

  /**
   * @param root - the folder, absolute
   * @param path - a decoded path in it, such as `/posts/index.html`
   * @returns `"folder"` for a folder; `null` if nothing is there, or if a symbolic link leads out of the folder
   */
  async find(root: string, path: string): Promise<StaticFile | "folder" | null> {
    const name = join(root, path);
    try {
      const known = this.#files.get(name);
      if (known && known.version === toVersion(await stat(name))) return this.#keep(name, known);
      this.#drop(name);
      const file = await resolveInside(root, path);
      if (file === null) return null;
      const stats = await stat(file);
      if (stats.isDirectory()) return "folder";
      return stats.isFile() ? this.#keep(name, await read(file, stats)) : null;
    } catch {
      return null;
    }
  }

  /** Makes this file the most recently used one, and drops the least recently used ones beyond the limit. */
  #keep(name: string, file: StaticFile & { version: string }): StaticFile {
    this.#drop(name);
    if (file.contents === null) return file;
    this.#files.set(name, file);
    this.#bytes += file.contents.length;
    for (const oldest of this.#files.keys()) {
      if (this.#bytes <= MAX_BYTES) break;
      this.#drop(oldest);
    }
    return file;
  }

  #drop(name: string): void {
    this.#bytes -= this.#files.get(name)?.contents?.length ?? 0;
    this.#files.delete(name);
  }
}

async function read(path: string, stats: Stats): Promise<StaticFile & { version: string }> {
  const contents = stats.size <= MAX_FILE_BYTES ? await readFile(path) : null;
  const size = contents?.length ?? stats.size;
  const etag = `"${size.toString(36)}-${stats.mtimeMs.toString(36)}"`;
  return { path, size, modified: stats.mtime, etag, contents, version: toVersion(stats) };
}

function toVersion({ dev, ino, size, mtimeMs }: Stats): string {
  return `${dev} ${ino} ${size} ${mtimeMs}`;
}

/** @returns the path below the real folder; `null` if links lead out of it */
async function resolveInside(folder: string, path: string): Promise<string | null> {
  const root = await realpath(folder);
  const file = join(root, path);
  return isBelow(root, await realpath(file)) ? file : null;
}
