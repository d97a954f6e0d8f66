// plugin/store/move-store.ts: moves the store in one folder to another folder, where nothing is lost if the process ends.
import { randomBytes } from "node:crypto";
import { readdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { TwtxtError } from "../errors.js";
import { codeOf, ifThere, isDone, makeFolder, remove, syncFolder } from "./disk.js";
import { fileStore } from "./file.js";
import { occupantsOf, occupy } from "./occupants.js";
import type { StreamingStore } from "./store.js";
import { hashOf, readValue, writeValue } from "./value.js";

/** Of a store that is being copied to another file system. */
const COPY = ".copy";
/** Of a store whose copy is whole, and was compared with it. */
const COPIED = ".copied";

/** Whether a folder holds at least one value of a store. */
export async function hasValues(store: string): Promise<boolean> {
  const entries = (await ifThere(readdir(store, { withFileTypes: true }))) ?? [];
  for (const entry of entries) {
    if (!entry.isDirectory() || entry.name.startsWith(".")) continue;
    if (entry.name.endsWith("@") || (await hasValues(join(store, entry.name)))) return true;
  }
  return false;
}

/**
 * Moves a store: by renaming its folder, or on another file system by copying it, comparing the copy, and removing the old
 * one. A process that ends in between has changed nothing, or the next call finishes it.
 *
 * @param from - no process may use it, see {@link occupantsOf}
 * @param to - a folder without values
 * @throws TwtxtError `store-failed` also where another process is moving it
 */
export async function moveStore(from: string, to: string): Promise<void> {
  await makeFolder(dirname(to));
  await clearEmpty(to);
  try {
    await rename(from, to);
    await Promise.all([syncFolder(dirname(from)), syncFolder(dirname(to))]);
  } catch (error) {
    if (codeOf(error) !== "EXDEV") throw error;
    await moveByCopy(from, to);
  }
}

/** Finishes a move that was cut off after the copy was compared. */
export async function finishMove(from: string, to: string): Promise<void> {
  const old = from + COPIED;
  if ((await ifThere(readdir(old))) === null) return;
  if (!(await hasValues(to))) await clearEmpty(to);
  await isDone(rename(to + COPY, to));
  await syncFolder(dirname(to));
  await remove(old);
}

async function moveByCopy(from: string, to: string): Promise<void> {
  const copy = to + COPY;
  const release = await occupy(copy);
  const [other] = await occupantsOf(copy);
  if (other !== undefined) {
    await release();
    throw new TwtxtError("store-failed", `Process ${other} is moving ${from} to ${to}. Try again when it is done.`);
  }
  await copyValues(fileStore(from), fileStore(copy));
  await release();
  // Its name says that the copy is whole: what is not renamed after this is renamed at the next start.
  await rename(from, from + COPIED);
  await syncFolder(dirname(from));
  await finishMove(from, to);
}

/** Copies what is not there yet, and compares all of it. */
async function copyValues(from: StreamingStore, to: StreamingStore): Promise<void> {
  const keys = await from.keys("");
  const wanted = new Set(keys);
  for (const key of await to.keys("")) if (!wanted.has(key)) await to.delete(key);
  for (const key of keys) {
    const sha256 = await hashOf(from, key);
    if ((await hashOf(to, key)) === sha256) continue;
    const value = await readValue(from, key);
    const chunks = await value?.open();
    if (value && chunks) await writeValue(to, key, { size: value.size, chunks });
    if ((await hashOf(to, key)) === sha256) continue;
    throw new TwtxtError("store-failed", `The copy of ${key} is not the same as the original.`);
  }
}

/** Takes a folder without values away, in which a process may have made empty folders. */
async function clearEmpty(folder: string): Promise<void> {
  const away = `${folder}.${randomBytes(4).toString("hex")}`;
  if (await isDone(rename(folder, away))) await remove(away);
}
