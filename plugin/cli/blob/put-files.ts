// plugin/cli/blob/put-files.ts: the files that `blob put` stores: finds them, reads them and detects their media types.
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, readdir, realpath, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, relative, resolve, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileTypeFromBuffer } from "file-type";
import mime from "mime";
import { badFile, isMissing } from "../../author/files.js";
import type { Contents } from "../../blobs/client/client.js";
import { ANY_TYPE } from "../../blobs/metadata.js";
import { TwtxtError } from "../../errors.js";
import type { Terminal } from "../terminal.js";

/** A file to put. */
export interface SourceFile {
  /** Absolute. */
  path: string;
  /** Its name in messages. */
  shown: string;
  /** Empty for standard input. */
  filename: string;
  size: number;
}

interface FoundFiles {
  files: SourceFile[];
  /** What was left out of folders, and why: a line each. */
  leftOut: string[];
  /** Files and folders that cannot be read, and why, a sentence. */
  unread: { shown: string; error: string }[];
}

const STANDARD_INPUT = "-";

/**
 * Finds all files: named ones, those below folders, and standard input.
 *
 * @param maxBytes - a limit for standard input
 * @returns the files; `clear` deletes the temporary copy of standard input
 * @throws TwtxtError if it is interrupted
 */
export async function findFiles(
  words: readonly string[],
  { terminal, maxBytes, signal }: { terminal: Terminal; maxBytes: number; signal: AbortSignal },
): Promise<FoundFiles & { clear(): Promise<void> }> {
  const found: FoundFiles = { files: [], leftOut: [], unread: [] };
  let temporary: string | null = null;
  const clear = async () => {
    if (temporary !== null) await rm(temporary, { recursive: true, force: true });
  };
  const add = async (word: string) => {
    const path = resolve(terminal.folder, word);
    if (word === STANDARD_INPUT) {
      temporary = await mkdtemp(join(tmpdir(), "eleventy-twtxt-"));
      found.files.push(await copyInput(terminal.input(), join(temporary, "input"), maxBytes, signal));
    } else if ((await statOf(path)).isDirectory()) await addFolder(await realpath(path), word, found);
    else found.files.push(await fileAt(path, word));
  };
  try {
    for (const word of words) await unlessUnread(word, found, () => add(word));
    return { ...found, clear };
  } catch (error) {
    await clear();
    throw error;
  }
}

/** Records a file that cannot be read, and goes on. */
async function unlessUnread(shown: string, { unread }: FoundFiles, look: () => Promise<void>): Promise<void> {
  try {
    await look();
  } catch (error) {
    const failure = badFile(error);
    if (!(failure instanceof TwtxtError) || failure.code !== "bad-file") throw failure;
    unread.push({ shown, error: failure.message });
  }
}

async function addFolder(root: string, word: string, found: FoundFiles, folder = root): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    const shown = join(word, relative(root, path));
    await unlessUnread(shown, found, async () => {
      if (entry.name.startsWith(".")) found.leftOut.push(`${shown}: skipped, because it is hidden.`);
      else if (entry.isDirectory()) await addFolder(root, word, found, path);
      else if (entry.isFile() || (entry.isSymbolicLink() && (await isFileWithin(root, path)))) {
        found.files.push(await fileAt(path, shown));
      } else found.leftOut.push(`${shown}: skipped, because it is not a file in this folder.`);
    });
  }
}

/** A symbolic link may lead to files that were not meant to be published. */
async function isFileWithin(root: string, link: string): Promise<boolean> {
  const target = await realpath(link).catch(() => undefined);
  if (!target?.startsWith(root + sep)) return false;
  const names = relative(root, target).split(sep);
  return !names.some((name) => name.startsWith(".")) && (await stat(target)).isFile();
}

async function fileAt(path: string, shown: string): Promise<SourceFile> {
  const found = await statOf(path);
  if (!found.isFile()) throw new TwtxtError("bad-file", `${shown} is not a file.`);
  return { path, shown, filename: basename(path), size: found.size };
}

async function statOf(path: string) {
  return stat(path).catch((error) => {
    if (!isMissing(error)) throw badFile(error);
    // Node.js replaces bytes that are not UTF-8 in a name, and then finds no file of that name.
    const why = path.includes("\ufffd") ? "Its name must be UTF-8." : `There is no file ${path}.`;
    throw new TwtxtError("bad-file", why, { cause: error });
  });
}

/** Copies standard input into a file: size and hash must be known before it is sent. */
async function copyInput(
  input: AsyncIterable<Uint8Array>,
  path: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<SourceFile> {
  let size = 0;
  const limited = async function* () {
    for await (const chunk of input) {
      size += chunk.length;
      yield chunk;
      // The first chunk over the limit is enough to refuse it.
      if (size > maxBytes) return;
    }
  };
  const shown = "standard input";
  try {
    await pipeline(limited, createWriteStream(path, { mode: 0o600 }), { signal });
    return { path, shown, filename: "", size };
  } catch (cause) {
    signal.throwIfAborted();
    throw new TwtxtError("bad-file", `Standard input could not be read: ${(cause as Error).message}.`, { cause });
  }
}

/** Contents, and hints at their media type. */
export interface FileContents extends Contents {
  /** The first 4 KB. */
  start: Uint8Array;
  /** Whether all of them are UTF-8. */
  isUtf8: boolean;
}

const START_BYTES = 4100;
const CHUNK_BYTES = 256 * 1024;

/**
 * Reads a file once for its size and hash. Its chunks are read from the disk each time.
 *
 * @throws TwtxtError `bad-file`
 */
export async function contentsOf(file: SourceFile, signal: AbortSignal): Promise<FileContents> {
  const hash = createHash("sha256");
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let [size, start, isUtf8] = [0, Buffer.alloc(0), true];
  const decode = (chunk?: Uint8Array) => {
    try {
      if (isUtf8) decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      isUtf8 = false;
    }
  };
  for await (const chunk of chunksOf(file, signal)) {
    size += chunk.length;
    hash.update(chunk);
    decode(chunk);
    if (start.length < START_BYTES) start = Buffer.concat([start, chunk.subarray(0, START_BYTES - start.length)]);
  }
  decode();
  const sha256 = hash.digest("hex");
  return { size, sha256, start, isUtf8, chunks: () => unchanged(chunksOf(file, signal), sha256, { ...file, size }) };
}

/** Contents in memory. */
export function contentsOfBytes(bytes: Uint8Array): Contents {
  return {
    size: bytes.length,
    sha256: createHash("sha256").update(bytes).digest("hex"),
    async *chunks() {
      for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
    },
  };
}

async function* chunksOf({ path }: SourceFile, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
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
  sha256: string,
  { size, shown }: Pick<SourceFile, "size" | "shown">,
): AsyncGenerator<Uint8Array> {
  const changed = () => new TwtxtError("bad-file", `${shown} changed while it was read. It was not stored.`);
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
