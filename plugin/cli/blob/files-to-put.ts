// plugin/cli/blob/files-to-put.ts: the files that `blob put` finds, their contents and media types.
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, readdir, realpath, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, relative, resolve, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileTypeFromBuffer } from "file-type";
import mime from "mime";
import type { Contents } from "../../blobs/client/client.js";
import { ANY_TYPE } from "../../blobs/metadata.js";
import { TwtxtError } from "../../errors.js";
import { badFile, isMissing } from "../files.js";
import type { Terminal } from "../terminal.js";

/** A file to put. */
export interface Source {
  /** Absolute. */
  file: string;
  /** Its name in messages. */
  shown: string;
  /** Empty for standard input. */
  filename: string;
  size: number;
}

/** A file or folder that cannot be read. */
export interface Unread {
  shown: string;
  /** A sentence. */
  error: string;
}

export interface Sources {
  sources: Source[];
  /** What was left out in folders, and why: a line each. */
  leftOut: string[];
  unread: Unread[];
  /** Deletes the temporary copy of standard input. */
  clear(): Promise<void>;
}

/** Stands for standard input. */
const INPUT = "-";

/**
 * Finds all files: named ones, those below folders, and standard input.
 *
 * @param maxBytes - a limit for standard input
 * @throws TwtxtError where it is interrupted
 */
export async function sourcesOf(
  words: readonly string[],
  { terminal, maxBytes, signal }: { terminal: Terminal; maxBytes: number; signal: AbortSignal },
): Promise<Sources> {
  const found: Found = { sources: [], leftOut: [], unread: [] };
  let folder: string | null = null;
  for (const word of words) {
    const file = resolve(terminal.folder, word);
    await readable(word, found, async () => {
      if (word === INPUT) {
        folder = await mkdtemp(join(tmpdir(), "eleventy-twtxt-"));
        found.sources.push(await written(folder, terminal.input(), maxBytes, signal));
      } else if ((await statOf(file)).isDirectory()) {
        await findBelow(await realpath(file), word, found);
      } else found.sources.push(await sourceAt(file, word));
    });
  }
  const clear = async () => void (folder !== null && (await rm(folder, { recursive: true, force: true })));
  return { ...found, clear };
}

type Found = Omit<Sources, "clear">;

/** Records a file that cannot be read, and goes on. */
async function readable(shown: string, { unread }: Found, look: () => Promise<void>): Promise<void> {
  try {
    await look();
  } catch (error) {
    const failure = badFile(error);
    if (!(failure instanceof TwtxtError) || failure.code !== "bad-file") throw failure;
    unread.push({ shown, error: failure.message });
  }
}

async function findBelow(root: string, word: string, found: Found, folder = root): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const file = join(folder, entry.name);
    const shown = join(word, relative(root, file));
    await readable(shown, found, async () => {
      if (entry.name.startsWith(".")) found.leftOut.push(`${shown}: left out: it is hidden.`);
      else if (entry.isDirectory()) await findBelow(root, word, found, file);
      else if (entry.isFile() || (entry.isSymbolicLink() && (await isFileWithin(root, file)))) {
        found.sources.push(await sourceAt(file, shown));
      } else found.leftOut.push(`${shown}: left out: it is not a file in this folder.`);
    });
  }
}

/** A symbolic link may lead to files that were not meant to be published. */
async function isFileWithin(root: string, link: string): Promise<boolean> {
  const target = await realpath(link).catch(() => undefined);
  if (!target?.startsWith(root + sep)) return false;
  const isHidden = relative(root, target)
    .split(sep)
    .some((name) => name.startsWith("."));
  return !isHidden && (await stat(target)).isFile();
}

async function sourceAt(file: string, shown: string): Promise<Source> {
  const found = await statOf(file);
  if (!found.isFile()) throw new TwtxtError("bad-file", `${shown} is not a file.`);
  return { file, shown, filename: basename(file), size: found.size };
}

async function statOf(file: string) {
  return stat(file).catch((error) => {
    if (!isMissing(error)) throw badFile(error);
    // Node replaces bytes that are not UTF-8 in a name, so the name leads to no file.
    const why = file.includes("\ufffd") ? "Its name has to be UTF-8." : `There is no file ${file}.`;
    throw new TwtxtError("bad-file", why, { cause: error });
  });
}

/** Copies standard input into a file: size and hash have to be known before it is sent. */
async function written(
  folder: string,
  input: AsyncIterable<Uint8Array>,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Source> {
  const file = join(folder, "input");
  const shown = "standard input";
  let size = 0;
  const bounded = async function* () {
    for await (const chunk of input) {
      size += chunk.length;
      yield chunk;
      // One byte too many is enough to refuse it.
      if (size > maxBytes) return;
    }
  };
  try {
    await pipeline(bounded, createWriteStream(file, { mode: 0o600 }), { signal });
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    signal.throwIfAborted();
    throw new TwtxtError("bad-file", `Standard input could not be read: ${(error as Error).message}.`, {
      cause: error,
    });
  }
  return { file, shown, filename: "", size };
}

/** Contents, and hints at their media type. */
export interface FileContents extends Contents {
  /** The first 4 KB. */
  start: Uint8Array;
  /** Whether all of them are UTF-8. */
  isUtf8: boolean;
}

const START_BYTES = 4100;
const READ_BYTES = 256 * 1024;

/**
 * Reads a file once for its size and hash. Its chunks are read from the disk each time.
 *
 * @param shown - its name in messages
 * @throws TwtxtError `bad-file`
 */
export async function contentsOf(file: string, shown: string, signal: AbortSignal): Promise<FileContents> {
  const hash = createHash("sha256");
  const decodes = strictDecoder();
  let [size, start, isUtf8] = [0, Buffer.alloc(0), true];
  for await (const chunk of read(file, signal)) {
    size += chunk.length;
    hash.update(chunk);
    isUtf8 = isUtf8 && decodes(chunk);
    if (start.length < START_BYTES) start = Buffer.concat([start, chunk.subarray(0, START_BYTES - start.length)]);
  }
  const sha256 = hash.digest("hex");
  return {
    ...{ size, sha256, start, isUtf8: isUtf8 && decodes() },
    chunks: () => unchanged(read(file, signal), { size, sha256, shown }),
  };
}

/** Contents in memory. */
export function contentsOfBytes(bytes: Uint8Array): Contents {
  return {
    size: bytes.length,
    sha256: createHash("sha256").update(bytes).digest("hex"),
    async *chunks() {
      for (let at = 0; at < bytes.length; at += READ_BYTES) yield bytes.subarray(at, at + READ_BYTES);
    },
  };
}

async function* read(file: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of createReadStream(file, { highWaterMark: READ_BYTES })) {
      signal.throwIfAborted();
      yield chunk;
    }
  } catch (error) {
    throw badFile(error);
  }
}

/** Holds the last chunk back until the hash matches: the site discards an incomplete body. */
async function* unchanged(
  chunks: AsyncIterable<Uint8Array>,
  { size, sha256, shown }: { size: number; sha256: string; shown: string },
): AsyncGenerator<Uint8Array> {
  const changed = () => new TwtxtError("bad-file", `${shown} changed while it was read. It was not put.`);
  const hash = createHash("sha256");
  let received = 0;
  let last: Uint8Array | undefined;
  for await (const chunk of chunks) {
    if (last) yield last;
    last = chunk;
    received += chunk.length;
    if (received > size) throw changed();
    hash.update(chunk);
  }
  if (hash.digest("hex") !== sha256) throw changed();
  if (last) yield last;
}

/** Takes chunks, and no chunk at the end. Returns whether all so far is UTF-8. */
function strictDecoder(): (chunk?: Uint8Array) => boolean {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  return (chunk) => {
    try {
      decoder.decode(chunk, { stream: chunk !== undefined });
      return true;
    } catch {
      return false;
    }
  };
}

/** Container formats: the file name is more specific. */
const CONTAINERS = ["application/zip", "application/gzip", "application/xml", "application/x-cfb", "application/ogg"];

/**
 * The media type of a file, from its first bytes, else from its name.
 *
 * @param filename - empty for none
 * @returns with `charset=utf-8` for UTF-8 text; `application/octet-stream` for an unknown type
 */
export async function mediaTypeOf(
  filename: string,
  { start, isUtf8 }: Pick<FileContents, "start" | "isUtf8">,
): Promise<string> {
  const byName = mime.getType(filename);
  const byBytes = (await fileTypeFromBuffer(start))?.mime;
  if (byBytes !== undefined && !(byName !== null && CONTAINERS.includes(byBytes))) return byBytes;
  const type = byName ?? ANY_TYPE;
  return type.startsWith("text/") && isUtf8 ? `${type}; charset=utf-8` : type;
}
