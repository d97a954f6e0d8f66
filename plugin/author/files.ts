// plugin/author/files.ts: the author's files, data folder and temporary files; no content is lost if a write fails.
import { randomBytes } from "node:crypto";
import { createReadStream, createWriteStream, rmSync } from "node:fs";
import {
  access,
  constants,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type * as v from "valibot";
import { badFile, isMissing, orBadFile, TwtxtError, valueOrNull } from "../errors.js";
import { type IdentityPlaces, systemKeychain } from "../keys/places.js";
import { replaceFile } from "../store/disk.js";
import { parseJson } from "../store/json.js";
import { processOfName, uniqueName } from "../store/processes.js";
import { PROGRAM } from "./invocation.js";
import type { Machine } from "./machine.js";

const CHUNK_BYTES = 256 * 1024;

/**
 * Reads a text file. Writing the text back gives the same bytes.
 *
 * @returns the text with its byte order mark, if it has one; `null` for bytes that are not UTF-8
 * @throws TwtxtError `bad-file`
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
 * Replaces a file's content atomically, and keeps its mode; a symbolic link stays one.
 *
 * @throws TwtxtError `bad-file`; the file is unchanged then
 */
export async function replaceText(file: string, text: string): Promise<void> {
  try {
    // A rename would also replace a write-protected file.
    await access(file, constants.W_OK);
    const target = await realpath(file);
    const { mode } = await stat(target);
    await replaceFile(target, text, mode);
  } catch (error) {
    throw badFile(error);
  }
}

/**
 * Creates a file, and its folder.
 *
 * @returns `false` if the file exists; it is unchanged
 * @throws TwtxtError `bad-file` if it cannot be written
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

/**
 * Writes a new file, which by default only the author can read.
 *
 * @throws TwtxtError `bad-file`, also if it exists; the reason of the signal; errors of the chunks
 */
export async function writeChunks(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
  options: { mode?: number; flush?: boolean } = {},
): Promise<void> {
  try {
    await pipeline(chunks, createWriteStream(path, { flags: "wx", mode: 0o600, ...options }), { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw badFile(error);
  }
}

/** Reads a file in large chunks. @throws TwtxtError `bad-file` */
export async function* readChunks(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path, { highWaterMark: CHUNK_BYTES });
  } catch (error) {
    throw badFile(error);
  }
}

/** A file that gets its name once its contents are complete and verified. */
export type Draft = Awaited<ReturnType<typeof createTemporaryFile>>;

/**
 * Creates a file without its final name. All its methods throw TwtxtError `bad-file`.
 *
 * @param folder - the folder of the final name; `null` for a file without one
 * @param mode - the permissions of the file, such as 0o600; the process's umask applies
 */
export async function createTemporaryFile(folder: string | null, mode = 0o666) {
  const own = folder ?? (await mkdtemp(join(tmpdir(), "eleventy-twtxt-")));
  const path = join(own, `.eleventy-twtxt-${randomBytes(6).toString("hex")}.tmp`);
  const clear = () => rm(folder === null ? own : path, { recursive: true, force: true });
  return {
    write: (chunks: AsyncIterable<Uint8Array>, signal?: AbortSignal) =>
      writeChunks(path, chunks, signal, { mode, flush: true }),
    replace: (bytes: Uint8Array) => orBadFile(writeFile(path, bytes)),
    bytes: () => orBadFile(readFile(path)),
    chunks: () => readChunks(path),
    /** The contents. The file is deleted when they are read, or no longer wanted. */
    stream: () => ReadableStream.from(clearing(readChunks(path), clear)),
    /** Moves the file to its name. @param isForced - whether it may replace another file */
    moveTo: (file: string, isForced: boolean) => orBadFile(isForced ? rename(path, file) : moveToFree(path, file)),
    clear,
  };
}

async function* clearing(chunks: AsyncIterable<Uint8Array>, clear: () => Promise<void>): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } finally {
    await clear();
  }
}

/** @throws TwtxtError `bad-file` if the file exists */
export async function checkFree(file: string): Promise<void> {
  if (await orBadFile(ifThere(lstat(file)))) throw alreadyExists(file);
}

/** A hard link, unlike a rename, replaces nothing. Some file systems do not support it. */
async function moveToFree(path: string, file: string): Promise<void> {
  try {
    await link(path, file);
  } catch (error) {
    if (Object(error).code === "EEXIST") throw alreadyExists(file);
    await checkFree(file);
    return rename(path, file);
  }
  await rm(path);
}

function alreadyExists(file: string): TwtxtError {
  return new TwtxtError("bad-file", `${file} already exists. Replace it with --force, or choose another name.`);
}

/** @returns `null` if the file or folder does not exist */
export async function ifThere<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/**
 * The folder for this program's data: `$XDG_DATA_HOME` or `~/.local/share` on Linux, `~/Library/Application Support` on
 * macOS, `%APPDATA%` on Windows.
 *
 * @see PROTOCOL 7
 */
export function dataFolder({ environment }: Pick<Machine, "environment">, platform = process.platform): string {
  const home = environment.HOME || environment.USERPROFILE || homedir();
  if (platform === "win32") return join(environment.APPDATA || join(home, "AppData", "Roaming"), PROGRAM);
  if (platform === "darwin") return join(home, "Library", "Application Support", PROGRAM);
  const named = environment.XDG_DATA_HOME ?? "";
  return join(isAbsolute(named) ? named : join(home, ".local", "share"), PROGRAM);
}

/** A value that this machine remembers. @returns `null` for none, and for a damaged one @throws TwtxtError `bad-file` */
export async function readRemembered<T>(file: string, schema: v.GenericSchema<unknown, T>): Promise<T | null> {
  const text = await orBadFile(ifThere(readFile(file, "utf8")));
  return valueOrNull(() => parseJson(file, Buffer.from(text ?? ""), schema));
}

/** @throws TwtxtError `bad-file` */
export async function writeRemembered(file: string, value: unknown): Promise<void> {
  await orBadFile(mkdir(dirname(file), { recursive: true }));
  await orBadFile(writeFile(file, `${JSON.stringify(value)}\n`, { mode: 0o600 }));
}

export function identityPlaces(machine: Pick<Machine, "environment">): IdentityPlaces {
  return { keychain: systemKeychain(), folder: join(dataFolder(machine), "keys") };
}

const MODE = 0o700;

/** A folder of this process. It is created when it is first used. */
export class WorkFolder {
  readonly #all: string;
  readonly #own: string;

  /** @param ending - deletes the folder */
  constructor(machine: Pick<Machine, "environment">, ending: AbortSignal) {
    this.#all = join(dataFolder(machine), "work");
    this.#own = join(this.#all, uniqueName());
    ending.addEventListener("abort", () => rmSync(this.#own, { recursive: true, force: true }));
  }

  /** Its absolute path. @throws TwtxtError `bad-file` */
  async path(): Promise<string> {
    await orBadFile(mkdir(this.#own, { recursive: true, mode: MODE }));
    return this.#own;
  }

  /** Deletes the folders of processes that were killed. @throws TwtxtError `bad-file` */
  async clearOthers(): Promise<void> {
    const folders = await orBadFile(ifThere(readdir(this.#all)));
    const left = (folders ?? []).filter((name) => processOfName(name) === "ended");
    await orBadFile(Promise.all(left.map((name) => rm(join(this.#all, name), { recursive: true, force: true }))));
  }
}
