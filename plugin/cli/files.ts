// plugin/cli/files.ts: reading and writing an author's files without losing any.
import { randomBytes } from "node:crypto";
import { access, chmod, constants, mkdir, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { TwtxtError } from "../errors.js";

/**
 * Reads a text file such that writing the text back gives the same bytes.
 *
 * @returns the text with its byte order mark, if it has one; `null` for bytes that are no UTF-8
 * @throws TwtxtError `bad-file` where it cannot be read
 */
export async function readText(file: string): Promise<string | null> {
  const bytes = await readFile(file).catch((error) => {
    throw isMissing(error) ? new TwtxtError("bad-file", `There is no file ${file}.`, { cause: error }) : badFile(error);
  });
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/**
 * Replaces a file's content at one stroke, and keeps its mode; a symbolic link stays one.
 *
 * @throws TwtxtError `bad-file`; the file is then as it was
 */
export async function replaceText(file: string, text: string): Promise<void> {
  try {
    // A rename would also replace a file that its owner has protected.
    await access(file, constants.W_OK);
    const target = await realpath(file);
    const { mode } = await stat(target);
    await renameInto(target, text, mode);
  } catch (error) {
    throw badFile(error);
  }
}

async function renameInto(target: string, text: string, mode: number): Promise<void> {
  const temporary = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    await writeFile(temporary, text, { flag: "wx", mode, flush: true });
    await chmod(temporary, mode);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/**
 * Creates a file, and its folder.
 *
 * @returns `false` where there is a file of that name, which is left alone
 * @throws TwtxtError `bad-file` where it cannot be written
 */
export async function createText(file: string, text: string): Promise<boolean> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { flag: "wx" });
    return true;
  } catch (error) {
    if (Object(error).code === "EEXIST" && Object(error).syscall === "open") return false;
    throw badFile(error);
  }
}

/** Whether an error of the file system says that there is no such file. */
export function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(Object(error).code);
}

/** The machine's word for it is kept, as `EACCES: permission denied, open '/blog/a.md'`; what is no such error stays a mistake of ours. */
export function badFile(error: unknown): unknown {
  return error instanceof Error && "syscall" in error
    ? new TwtxtError("bad-file", `${error.message}.`, { cause: error })
    : error;
}
