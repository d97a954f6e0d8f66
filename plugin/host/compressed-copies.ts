// plugin/host/compressed-copies.ts: Brotli and gzip copies of a site's text files, made after each build.
import { hash } from "node:crypto";
import type { Dirent } from "node:fs";
import { mkdir, readdir, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { join, parse } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { serialize } from "../concurrency.js";
import type { StaticFile } from "./static-files.js";

const TEXT = /\.(?:atom|css|html?|ics|js|json|md|mjs|rss|svg|txt|webmanifest|xml)$/i;
/** Smaller files fit into a packet, and larger ones would take long. */
const MIN_BYTES = 1024;
const MAX_BYTES = 8 * 1024 * 1024;
/** A tenth of the time of the best quality, for copies that are a few percent larger. */
const QUALITY = 9;

const encodings = {
  br: (contents: Buffer) =>
    promisify(brotliCompress)(contents, { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY } }),
  gzip: (contents: Buffer) => promisify(gzip)(contents, { level: 9 }),
} as const;

export type Encoding = keyof typeof encodings;

/** Whether a file of this name may have copies, so that the response depends on `Accept-Encoding`. */
export function isCompressible(path: string): boolean {
  return TEXT.test(path);
}

/** The encodings that a client accepts, best first. @param header - `Accept-Encoding` */
export function readEncodings(header: string | string[] | undefined): Encoding[] {
  const accepted = String(header ?? "")
    .split(",")
    .map((item) => item.replaceAll(" ", "").toLowerCase());
  return (["br", "gzip"] as const).filter((name) =>
    accepted.some((item) => item === name || /^(.+);q=(?!0(?:\.0*)?$)/.exec(item)?.[1] === name),
  );
}

interface Copied {
  size: number;
  /** In milliseconds since 1970. */
  modified: number;
  /** The name of its copies, without the ending. */
  name: string;
}

/** The compressed copies of a site. They are named by the hash of the contents, so an unchanged file is not compressed again. */
export class CompressedCopies {
  /** By path. */
  #files = new Map<string, Copied>();
  readonly #inOrder = serialize();

  /** @param folder - of the copies; nothing else may be in it */
  constructor(private readonly folder: string) {}

  /** The place of a file's copy; `null` if it has changed since, or never had one. */
  find({ path, size, modified }: StaticFile, encoding: Encoding): { folder: string; name: string } | null {
    const known = this.#files.get(path);
    if (known?.size !== size || known.modified !== modified.getTime()) return null;
    return { folder: this.folder, name: `${known.name}.${encoding}` };
  }

  /**
   * Compresses the text files of these folders one after the other, and removes copies that no file has. Resolves when
   * that is done, after earlier calls.
   *
   * @param signal - ends the work after the current file
   * @throws Error of the file system
   */
  refresh(folders: readonly string[], signal: AbortSignal): Promise<void> {
    return this.#inOrder(() => this.#compressAll(folders, signal));
  }

  async #compressAll(folders: readonly string[], signal: AbortSignal): Promise<void> {
    const existing = new Set(await readdir(this.folder).catch(() => []));
    const files = new Map<string, Copied>();
    for (const folder of folders) {
      for await (const path of listTexts(await realpath(folder).catch(() => folder))) {
        if (signal.aborted) return;
        const found = await this.#compress(path, existing);
        if (found) files.set(path, found);
      }
    }
    this.#files = files;
    const names = new Set([...files.values()].map(({ name }) => name));
    for (const copy of existing) if (!names.has(parse(copy).name)) await rm(join(this.folder, copy), { force: true });
  }

  async #compress(path: string, existing: Set<string>): Promise<Copied | null> {
    const { size, mtime } = await stat(path);
    if (size < MIN_BYTES || size > MAX_BYTES) return null;
    const contents = await readFile(path);
    const name = hash("sha256", contents);
    for (const [encoding, compress] of Object.entries(encodings)) {
      const file = `${name}.${encoding}`;
      if (existing.has(file)) continue;
      await mkdir(this.folder, { recursive: true });
      await writeFile(join(this.folder, `${file}.new`), await compress(contents));
      await rename(join(this.folder, `${file}.new`), join(this.folder, file));
      existing.add(file);
    }
    return { size, modified: mtime.getTime(), name };
  }
}

async function* listTexts(folder: string): AsyncIterable<string> {
  const entries: Dirent[] = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* listTexts(path);
    else if (entry.isFile() && isCompressible(entry.name)) yield path;
  }
}
