// plugin/store/processes.ts: processes that share the folder of a store, by the names of their temporary files and marks.
import { hash, randomBytes, randomUUID } from "node:crypto";
import { readlinkSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { TwtxtError } from "../errors.js";
import { ifExists, makeFolder, remove } from "./disk.js";

export const MARKS = ".in-use";

/** The longest pause of {@link workAlone} between two tries, in milliseconds, and the number of tries: some ten seconds. */
const PAUSE_MS = 50;
const TRIES = 400;

/** This machine or container, within which process IDs are unique. */
const MACHINE = hash("sha256", hostname() + processSpace()).slice(0, 8);
/** Tells this process from an earlier one with the same ID. */
const LIFE = randomBytes(4).toString("hex");

const NAME = /^(?<machine>[0-9a-f]{8})\.(?<pid>\d+)\.(?<life>[0-9a-f]{8})\.[0-9a-f]{16}$/;

/** On Linux, containers may share a host name but not their process IDs. */
function processSpace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

/** A unique file name that tells other processes whether its maker still runs. */
export function uniqueName(): string {
  return `${MACHINE}.${process.pid}.${LIFE}.${randomUUID().replaceAll("-", "").slice(-16)}`;
}

/**
 * The process that made a {@link uniqueName}.
 *
 * @returns the ID of another running process on this machine; `null` if unknown, or if it is this process
 */
export function processOfName(name: string): number | "ended" | null {
  const { machine, pid, life } = NAME.exec(name)?.groups ?? {};
  if (machine !== MACHINE || pid === undefined || life === LIFE) return null;
  return isAlive(Number(pid)) ? Number(pid) : "ended";
}

/** The caller has excluded this process, so its own ID belonged to an earlier one. */
function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * Marks a store as used by this process, and removes the marks of processes that have ended.
 *
 * @returns removes the mark
 */
export async function markInUse(store: string): Promise<() => Promise<void>> {
  const folder = join(store, MARKS);
  await makeFolder(folder);
  for (const name of await readdir(folder)) if (processOfName(name) === "ended") await remove(join(folder, name));
  const mark = join(folder, uniqueName());
  await writeFile(mark, "", { flag: "wx", mode: 0o600 });
  return () => remove(mark);
}

/** The IDs of the other processes that use a store. Processes on other machines and in other containers are not detected. */
export async function processesUsing(store: string): Promise<number[]> {
  const names = (await ifExists(readdir(join(store, MARKS)))) ?? [];
  const ids = names.map(processOfName).filter((id) => typeof id === "number");
  return [...new Set(ids)];
}

/**
 * Does work that no other process on this machine does at the same time.
 *
 * @param folder - the same one in all processes that do such work
 * @throws TwtxtError `store-failed` if another process does not end its work
 */
export async function workAlone<T>(folder: string, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const release = await markInUse(folder);
    try {
      const [other] = await processesUsing(folder);
      if (other === undefined) return await work();
      const advice = `Try again when it is done. If it is another program, remove the folder ${join(folder, MARKS)}.`;
      if (tries === TRIES) throw new TwtxtError("store-failed", `Process ${other} is making another change. ${advice}`);
    } finally {
      await release();
    }
    // Of two processes that see each other's mark, both try again.
    await setTimeout(Math.random() * PAUSE_MS);
  }
}
