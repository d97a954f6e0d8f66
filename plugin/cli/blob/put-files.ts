// plugin/cli/blob/put-files.ts: finds the files that `blob put` stores.
import { createWriteStream } from "node:fs";
import { mkdtemp, readdir, realpath, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, relative, resolve, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import type { SourceFile } from "../../author/blobs/file-contents.js";
import { badFile, isMissing } from "../../author/files.js";
import { TwtxtError } from "../../errors.js";
import type { Terminal } from "../terminal.js";

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
