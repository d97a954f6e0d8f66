// plugin/cli/blob/sources.ts: the files that `blob put` is to put, of those that were named.
import { createWriteStream } from "node:fs";
import { mkdtemp, readdir, realpath, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, relative, resolve, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { TwtxtError } from "../../errors.js";
import { badFile, isMissing } from "../files.js";
import type { Terminal } from "../terminal.js";

/** A file to be put. */
export interface Source {
  /** Absolute. */
  file: string;
  /** How it is called in messages. */
  shown: string;
  /** Empty for standard input. */
  filename: string;
  size: number;
}

/** What was named, or is in a folder, and cannot be read. */
export interface Unread {
  shown: string;
  /** A sentence. */
  error: string;
}

export interface Sources {
  sources: Source[];
  /** What was passed over in folders, and why: a line each. */
  leftOut: string[];
  /** What cannot be read, and why. */
  unread: Unread[];
  /** Removes what was written down to be read more than once. */
  clear(): Promise<void>;
}

/** Standard input, in the place of a file. */
const INPUT = "-";

/**
 * Finds all files: those named, those below a folder, and standard input.
 *
 * @param maxBytes - how much of standard input is read
 * @throws TwtxtError where it is broken off
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

/** What cannot be read is noted, and does not stop the rest. */
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
      if (entry.name.startsWith(".")) found.leftOut.push(`${shown}: left out, since it is hidden.`);
      else if (entry.isDirectory()) await findBelow(root, word, found, file);
      else if (entry.isFile() || (entry.isSymbolicLink() && (await isFileWithin(root, file)))) {
        found.sources.push(await sourceAt(file, shown));
      } else found.leftOut.push(`${shown}: left out, since it is no file of this folder.`);
    });
  }
}

/** A link may lead anywhere, also to what nobody meant to put. */
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
  if (!found.isFile()) throw new TwtxtError("bad-file", `${shown} is no file.`);
  return { file, shown, filename: basename(file), size: found.size };
}

async function statOf(file: string) {
  return stat(file).catch((error) => {
    if (!isMissing(error)) throw badFile(error);
    // What stands there for bytes that are no UTF-8 leads to no file.
    const why = file.includes("\ufffd") ? "It has to have a name in UTF-8." : `There is no file ${file}.`;
    throw new TwtxtError("bad-file", why, { cause: error });
  });
}

/** Its size and hash have to be known before it is sent. */
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
      // One byte more than fits is enough to say so.
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
