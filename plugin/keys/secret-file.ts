// plugin/keys/secret-file.ts: files that only the owner can read.
import { constants } from "node:fs";
import { mkdir, open, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { badFile, isMissing, TwtxtError } from "../errors.js";

/** An identity file has about 250 bytes. */
const MAX_BYTES = 8192;
const GROUP_AND_OTHERS = 0o077;
/** O_NONBLOCK, so that opening a pipe does not wait. Windows has no such flag. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * Reads a secret file.
 *
 * @returns `null` if the file does not exist
 * @throws TwtxtError `bad-identity` for a file that others can read or that is too large; `bad-file`
 */
export async function readSecret(file: string): Promise<string | null> {
  try {
    const handle = await open(file, OPEN_FLAGS);
    try {
      const stats = await handle.stat();
      if (!stats.isFile() || stats.size > MAX_BYTES)
        throw new TwtxtError("bad-identity", `${file} is not an identity file.`);
      // Windows protects home folders by other means than the mode.
      if (process.platform !== "win32" && (stats.mode & GROUP_AND_OTHERS) !== 0) {
        const why = `${file} can be read by others on this machine. Type: chmod 600 ${shellQuoted(file)}`;
        throw new TwtxtError("bad-identity", why);
      }
      return await handle.readFile("utf8");
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (isMissing(error)) return null;
    throw badFile(error);
  }
}

/**
 * Creates a secret file with mode 0600, and its folder. Existing files are never overwritten.
 *
 * @throws TwtxtError `bad-file`
 */
export async function createSecret(file: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(file, text, { flag: "wx", mode: 0o600, flush: true });
  } catch (error) {
    const { code, syscall } = Object(error);
    if (code === "EEXIST" && syscall === "open") throw new TwtxtError("bad-file", `${file} already exists.`);
    // An incomplete file is no backup.
    if (syscall === "write" || syscall === "fsync") await rm(file, { force: true });
    throw badFile(error);
  }
}

export function shellQuoted(word: string): string {
  return /^[\w./:@=+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
