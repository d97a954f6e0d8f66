// plugin/store/move-store.ts: crash-safe move of a file store to another folder.
import { randomBytes } from "node:crypto";
import { readdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { TwtxtError } from "../errors.js";
import { hashOf, readValue, writeValue } from "./copy.js";
import { codeOf, ifExists, isDone, makeFolder, remove, syncFolder } from "./disk.js";
import { FileStore } from "./file.js";
import { markInUse, processesUsing } from "./processes.js";
import type { StreamingStore } from "./store.js";

/** Suffix of a copy in progress on another file system. */
const COPY = ".copy";
/** Suffix of the original once its copy is complete and verified. */
const COPIED = ".copied";

/** Whether a folder contains at least one value of a store. */
export async function hasValues(store: string): Promise<boolean> {
  const entries = (await ifExists(readdir(store, { withFileTypes: true }))) ?? [];
  for (const entry of entries) {
    if (!entry.isDirectory() || entry.name.startsWith(".")) continue;
    if (entry.name.endsWith("@") || (await hasValues(join(store, entry.name)))) return true;
  }
  return false;
}

/**
 * Moves a store by renaming its folder. To another file system it is copied and verified, then the original is removed.
 * An interrupted move has changed nothing, or {@link finishMove} completes it.
 *
 * @param from - must not be in use, see {@link processesUsing}
 * @param to - a folder without values
 * @throws TwtxtError `store-failed`, also if another process is moving the store
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

/** Finishes a move that was interrupted after the copy was verified. */
export async function finishMove(from: string, to: string): Promise<void> {
  const old = from + COPIED;
  if ((await ifExists(readdir(old))) === null) return;
  if (!(await hasValues(to))) await clearEmpty(to);
  await isDone(rename(to + COPY, to));
  await syncFolder(dirname(to));
  await remove(old);
}

async function moveByCopy(from: string, to: string): Promise<void> {
  const copy = to + COPY;
  const release = await markInUse(copy);
  const [other] = await processesUsing(copy);
  if (other !== undefined) {
    await release();
    throw new TwtxtError("store-failed", `Process ${other} is moving ${from} to ${to}. Try again when it is done.`);
  }
  await copyValues(new FileStore(from), new FileStore(copy));
  await release();
  // From here on, an interrupted move is finished at the next start.
  await rename(from, from + COPIED);
  await syncFolder(dirname(from));
  await finishMove(from, to);
}

/** Copies missing and different values, and compares the hashes of all. */
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
    throw new TwtxtError("store-failed", `The copy of ${key} differs from the original. Check the disk and try again.`);
  }
}

/** Removes a folder that has no values but may have empty folders. */
async function clearEmpty(folder: string): Promise<void> {
  const away = `${folder}.${randomBytes(4).toString("hex")}`;
  if (await isDone(rename(folder, away))) await remove(away);
}
