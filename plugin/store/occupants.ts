// plugin/store/occupants.ts: which processes use the store in a folder, as far as this machine can tell.
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ifThere, makeFolder, remove } from "./disk.js";
import { nameOfOwn, processOf } from "./leftovers.js";

/** One empty file for each process. No key of a store starts with a dot. */
const FOLDER = ".in-use";
/** A process that is writing just now has a name here too, see file.ts. */
const FOLDERS = [FOLDER, ".tmp"];

/**
 * Notes that this process uses a store, and clears away the notes of processes that have ended.
 *
 * @returns takes the note back
 */
export async function occupy(store: string): Promise<() => Promise<void>> {
  const folder = join(store, FOLDER);
  await makeFolder(folder);
  for (const name of await readdir(folder)) if (processOf(name) === "ended") await remove(join(folder, name));
  const note = join(folder, nameOfOwn());
  await writeFile(note, "", { flag: "wx", mode: 0o600 });
  return () => remove(note);
}

/** The other processes that use a store, by their ids. Processes of other machines and containers are not seen. */
export async function occupantsOf(store: string): Promise<number[]> {
  const names = await Promise.all(FOLDERS.map((folder) => ifThere(readdir(join(store, folder)))));
  const ids = names.flatMap((found) => (found ?? []).map(processOf)).filter((id) => typeof id === "number");
  return [...new Set(ids)];
}
