// plugin/store/leftovers.ts: what processes write before it has a name that counts, and what of it the killed ones have left.
import { createHash, randomBytes } from "node:crypto";
import { readlinkSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { ifThere, makeFolder, remove } from "./disk.js";

/**
 * Of another machine's processes, or those of a container that has ended, nothing is known here: none of them still works on
 * what has not changed for so long.
 */
const FOREIGN_AGE_MS = 3600_000;

/** This machine, or this container: the numbers of processes are its own. */
const MACHINE = createHash("sha256")
  .update(hostname() + processSpace())
  .digest("hex")
  .slice(0, 8);
/** The number of a process is given to another one later. */
const LIFE = randomBytes(4).toString("hex");

const NAME = /^(?<machine>[0-9a-f]{8})\.(?<pid>\d+)\.(?<life>[0-9a-f]{8})\.[0-9a-f]{16}$/;

/** On Linux, containers may share a name and not the numbers of their processes. */
function processSpace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

/** A name that nobody else has, and by which others can tell whether this process still works on it. */
export function nameOfOwn(): string {
  return `${MACHINE}.${process.pid}.${LIFE}.${randomBytes(8).toString("hex")}`;
}

/**
 * The process that a name was made by.
 *
 * @returns its id where it is another process of this machine that still runs; `null` where that cannot be told, or where it is this one
 */
export function processOf(name: string): number | "ended" | null {
  const { machine, pid, life } = NAME.exec(name)?.groups ?? {};
  if (machine !== MACHINE || pid === undefined || life === LIFE) return null;
  return isAlive(Number(pid)) ? Number(pid) : "ended";
}

/** Clears away what no process works on any more. It is in nobody's way, so nothing fails where it stays. */
export async function clearAway(folder: string): Promise<void> {
  try {
    const names = (await ifThere(readdir(folder))) ?? [];
    const now = names.length > 0 ? await timeOn(folder) : 0;
    for (const name of names) if (await isLeft(folder, name, now)) await remove(join(folder, name));
  } catch {}
}

async function isLeft(folder: string, name: string, now: number): Promise<boolean> {
  if (processOf(name) === "ended") return true;
  const changed = await changedAt(join(folder, name));
  return changed !== null && now - changed > FOREIGN_AGE_MS;
}

/** @returns when anything in it was changed last; `null` where it is gone */
async function changedAt(path: string): Promise<number | null> {
  const names = await readdir(path).catch(() => []);
  const found = await Promise.all([path, ...names.map((name) => join(path, name))].map((one) => ifThere(stat(one))));
  const times = found.flatMap((there) => (there ? [there.mtimeMs] : []));
  return times.length > 0 ? Math.max(...times) : null;
}

/** By our own number another process is meant, which had it before. */
function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** The time of the disk, by which the ages are told too. */
async function timeOn(folder: string): Promise<number> {
  const probe = join(folder, nameOfOwn());
  await makeFolder(probe);
  const { mtimeMs } = await stat(probe);
  await remove(probe);
  return mtimeMs;
}
