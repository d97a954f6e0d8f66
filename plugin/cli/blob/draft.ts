// plugin/cli/blob/draft.ts: a file under way: it gets its name once all of it is known to be right.
import { randomBytes } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { link, lstat, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { TwtxtError } from "../../errors.js";
import { badFile, isMissing } from "../files.js";

/** All functions throw TwtxtError `bad-file`, and what the chunks throw. */
export interface Draft {
  write(chunks: AsyncIterable<Uint8Array>): Promise<void>;
  /** Writes other contents in the place of those. */
  replace(bytes: Uint8Array): Promise<void>;
  bytes(): Promise<Uint8Array>;
  chunks(): AsyncIterable<Uint8Array>;
  /** Gives it its name. @param isForced - whether it may replace another file */
  moveTo(file: string, isForced: boolean): Promise<void>;
  /** Removes what has not got a name. */
  clear(): Promise<void>;
}

/**
 * Begins a file that nobody else reads meanwhile.
 *
 * @param folder - that it is to be in; `null` for one that gets no name
 * @param mode - the permissions of the file, such as 0o600; the process's umask applies
 */
export async function draftIn(folder: string | null, mode = 0o666): Promise<Draft> {
  const own = folder ?? (await mkdtemp(join(tmpdir(), "eleventy-twtxt-")));
  const path = join(own, `.eleventy-twtxt-${randomBytes(6).toString("hex")}.tmp`);
  return {
    write: (chunks) => told(pipeline(chunks, createWriteStream(path, { flags: "wx", mode, flush: true }))),
    replace: (bytes) => told(writeFile(path, bytes)),
    bytes: () => told(readFile(path)),
    chunks: () => createReadStream(path),
    moveTo: (file, isForced) => told(isForced ? rename(path, file) : moveBeside(path, file)),
    clear: () => rm(folder === null ? own : path, { recursive: true, force: true }),
  };
}

/** @throws TwtxtError `bad-file` where there is such a file */
export async function checkFree(file: string): Promise<void> {
  const isThere = await lstat(file).then(
    () => true,
    (error) => !isMissing(error),
  );
  if (isThere) throw taken(file);
}

/** A link, unlike a rename, replaces nothing. Some disks have none. */
async function moveBeside(path: string, file: string): Promise<void> {
  try {
    await link(path, file);
  } catch (error) {
    if (Object(error).code === "EEXIST") throw taken(file);
    await checkFree(file);
    return rename(path, file);
  }
  await rm(path);
}

function taken(file: string): TwtxtError {
  return new TwtxtError("bad-file", `${file} is there already. Give --force to replace it, or another name.`);
}

async function told<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw badFile(error);
  }
}
