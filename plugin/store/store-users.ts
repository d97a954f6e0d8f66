// plugin/store/store-users.ts: the processes that use a store's folder, as far as this machine can tell.
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ifExists, makeFolder, remove } from "./disk.js";
import { processOfName, uniqueName } from "./leftovers.js";

/** One empty file for each process. No store key starts with a dot. */
const FOLDER = ".in-use";
/** A process that is writing also has files in `.tmp`, see file.ts. */
const FOLDERS = [FOLDER, ".tmp"];

/**
 * Marks a store as used by this process, and removes the marks of processes that have ended.
 *
 * @returns removes the mark
 */
export async function markInUse(store: string): Promise<() => Promise<void>> {
  const folder = join(store, FOLDER);
  await makeFolder(folder);
  for (const name of await readdir(folder)) if (processOfName(name) === "ended") await remove(join(folder, name));
  const mark = join(folder, uniqueName());
  await writeFile(mark, "", { flag: "wx", mode: 0o600 });
  return () => remove(mark);
}

/** The IDs of the other processes that use a store. Processes on other machines and in other containers are not detected. */
export async function processesUsing(store: string): Promise<number[]> {
  const names = await Promise.all(FOLDERS.map((folder) => ifExists(readdir(join(store, folder)))));
  const ids = names.flatMap((found) => (found ?? []).map(processOfName)).filter((id) => typeof id === "number");
  return [...new Set(ids)];
}
