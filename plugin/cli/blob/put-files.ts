// plugin/cli/blob/put-files.ts: finds the files that `blob put` stores.
import { readdir, realpath, stat } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { findFile, readStat, type SourceFile } from "../../author/blobs/file-contents.js";
import { badFile, createTemporaryFile, type Draft } from "../../author/files.js";
import { TwtxtError } from "../../errors.js";
import type { Terminal } from "../terminal.js";

interface FoundFiles {
  files: SourceFile[];
  /** A line for each entry of a folder that was left out, with the reason. */
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
  let draft: Draft | null = null;
  const clear = async () => draft?.clear();
  const add = async (word: string) => {
    const path = resolve(terminal.folder, word);
    if (word === STANDARD_INPUT) {
      draft = await createTemporaryFile(null, 0o600);
      found.files.push(await copyInput(terminal.input(), draft, { maxBytes, signal }));
    } else if ((await readStat(path)).isDirectory()) await addFolder(await realpath(path), word, found);
    else found.files.push(await findFile(path, word));
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
        found.files.push(await findFile(path, shown));
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

/** Copies standard input into a file: size and hash must be known before it is sent. */
async function copyInput(
  input: AsyncIterable<Uint8Array>,
  draft: Draft,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
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
  try {
    await draft.write(limited(), signal);
    return { shown: "standard input", filename: "", size, chunks: draft.chunks };
  } catch (cause) {
    signal.throwIfAborted();
    throw new TwtxtError("bad-file", `Standard input could not be read: ${(cause as Error).message}`, { cause });
  }
}
