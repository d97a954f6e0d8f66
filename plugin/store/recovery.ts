// plugin/store/recovery.ts: recovery of a file store after a power failure.
//
// Files that were not synced may be missing, empty or cut off, in any combination. Every acknowledged change is in the
// logs of that boot. Any other incomplete version was never acknowledged, so the version before it becomes current again.
// Recovery can be interrupted and repeated at any point: its last step removes the logs.
import { existsSync } from "node:fs";
import { readdir, readFile, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { TwtxtError } from "../errors.js";
import { ifExists, isDone, makeFolder, syncFolder, writeNew } from "./disk.js";
import {
  findCurrent,
  folderOf,
  HEAD,
  isChecked,
  isIntact,
  isOwn,
  keysIn,
  lifeOf,
  numberOf,
  parseHead,
  writeVersion,
} from "./key-folder.js";
import { processOfName, uniqueName } from "./processes.js";
import { discardFolder, entriesIn, LOGS, type LogEntry, logTime, syncKeys } from "./write-log.js";

/** The logs that a process has taken to repair a store: `.log.<boot>.<name of the process>`. */
const CLAIM = `${LOGS}.`;
/** The logs of one boot. Other names in the folder are ignored. */
const BOOT = /^[0-9a-f-]{36}(?:\.\d+)?$/;
/** Pause between two checks whether another process has finished the recovery, in milliseconds. */
const PAUSE_MS = 20;
/** Longest wait for a process in another container, which may have ended, in nanoseconds. */
const MAX_WAIT_NS = 60e9;

/**
 * Applies and removes the logs of earlier boots. One process does this, all others wait.
 *
 * @param boot - the current boot ID; `null` on systems without one
 */
export async function recover(root: string, boot: string | null): Promise<void> {
  const deadline = logTime() + MAX_WAIT_NS;
  let isRestored = false;
  for (;;) {
    const left = await unrecovered(root, boot, logTime() > deadline);
    if (left === null) return;
    if (isRestored && left === join(root, LOGS)) throw usedElsewhere(root);
    const own = join(root, `${CLAIM}${boot}.${uniqueName()}`);
    if (left === "claimed" || !(await isDone(rename(left, own)))) await sleep(PAUSE_MS);
    else {
      await restore(root, own);
      isRestored = true;
    }
  }
}

/** After the recovery, new logs of another boot are those of a running process. */
function usedElsewhere(root: string): TwtxtError {
  return new TwtxtError(
    "store-failed",
    `Another machine is writing to the store in ${root}. A store can be used by one machine at a time: stop the other one.`,
  );
}

/** The logs of earlier boots; `claimed` if another process recovers them, `null` if there are none. */
async function unrecovered(root: string, boot: string | null, isLate: boolean): Promise<string | "claimed" | null> {
  // Read before the claims: logs that have gone by then were claimed or recovered.
  const boots = await bootsIn(join(root, LOGS));
  if (boots.some((name) => boot === null || !name.startsWith(boot))) return join(root, LOGS);
  const names = (await ifExists(readdir(root))) ?? [];
  const claims = names.filter((name) => name.startsWith(CLAIM));
  const abandoned = claims.find((name) => {
    const [claimBoot = "", ...rest] = name.slice(CLAIM.length).split(".");
    const claimant = processOfName(rest.join("."));
    // After a restart, another process may have the same number.
    return claimBoot !== String(boot) || claimant === "ended" || (claimant === null && isLate);
  });
  if (abandoned !== undefined) return join(root, abandoned);
  return claims.length > 0 ? "claimed" : null;
}

async function bootsIn(logs: string): Promise<string[]> {
  return ((await ifExists(readdir(logs))) ?? []).filter((name) => BOOT.test(name));
}

async function restore(root: string, logs: string): Promise<void> {
  try {
    const logged = new Map<string, LogEntry[]>();
    for (const boot of await bootsIn(logs)) {
      for (const entry of await entriesIn(join(logs, boot))) {
        const others = logged.get(entry.key);
        if (others) others.push(entry);
        else logged.set(entry.key, [entry]);
      }
    }
    for (const key of new Set([...(await keysIn(root, "")), ...logged.keys()])) {
      if (!existsSync(logs)) return;
      await recoverKey(root, key, logged.get(key) ?? []);
    }
    await discardFolder(root, logs);
  } catch (error) {
    await isDone(rename(logs, join(root, LOGS)));
    throw error;
  }
}

/** @param logged - the key's log entries */
async function recoverKey(root: string, key: string, logged: readonly LogEntry[]): Promise<void> {
  const place = folderOf(root, key);
  const found = await newestIntact(place);
  const last = lastChange(logged);
  if (!last) {
    if (found === null || found.isHead) return;
    return found.version === null ? discardFolder(root, place) : makeCurrent(place, found.version);
  }
  if (found?.isHead && !isBefore(found.version ?? "", last, logged)) return syncKeys(root, [key]);
  if (last.change === "deleted") return discardFolder(root, place);
  if (last.change === "value") return replaceFolder(root, place, last.version, last.bytes);
  if (existsSync(join(place, last.version))) await makeCurrent(place, last.version);
}

/**
 * The last change of a key, from its entries in the logs of all processes.
 *
 * Within the life of a key, versions are in the order of their numbers. A deletion ends a life, whenever its entry was
 * written. So does a change of a later life, since the deletion between them may be of a process that was killed before it
 * wrote its entry. The clock decides between two lives of a key if no log says when the first one ended.
 */
function lastChange(entries: readonly LogEntry[]): LogEntry | undefined {
  const deletions = entries.filter(({ change }) => change === "deleted");
  const isDeleted = ({ version }: LogEntry) =>
    deletions.some((deletion) => lifeOf(deletion.version) === lifeOf(version));
  const isFollowed = ({ version, until }: LogEntry) =>
    entries.some((other) => lifeOf(other.version) !== lifeOf(version) && other.at > until);
  const values = entries.filter((entry) => entry.change !== "deleted" && !isDeleted(entry) && !isFollowed(entry));
  return newest(values) ?? newest(deletions);
}

function newest(entries: readonly LogEntry[]): LogEntry | undefined {
  return entries.toSorted(inOrder).at(-1);
}

function inOrder(a: LogEntry, b: LogEntry): number {
  return lifeOf(a.version) === lifeOf(b.version) && a.version !== b.version
    ? numberOf(a.version) - numberOf(b.version)
    : a.at - b.at;
}

/** Whether an intact version is older than the last change in the logs. */
function isBefore(version: string, last: LogEntry, logged: readonly LogEntry[]): boolean {
  if (version === last.version) return last.change === "deleted";
  if (logged.some((entry) => entry.version === version)) return true;
  // The key was created again, and a checkpoint has removed the log of that.
  if (lifeOf(version) !== lifeOf(last.version)) return last.change !== "deleted";
  return numberOf(version) < numberOf(last.version);
}

interface IntactVersion {
  /** `null` if no version is intact. */
  version: string | null;
  /** Whether it is the current version. For `null`: whether the folder has other files, so that it must stay. */
  isHead: boolean;
}

/** The newest intact version up to the current one. @returns `null` if the key does not exist */
async function newestIntact(place: string): Promise<IntactVersion | null> {
  const current = await findCurrent(place);
  if (current === null) return null;
  const names = current?.names ?? (await readdir(place));
  const head = current?.version;
  const inHead = head === undefined ? null : parseHead(await readFile(join(place, HEAD + head)));
  if (inHead && inHead.version === head) return { version: head, isHead: true };
  if (head !== undefined && !isChecked(head)) return { version: head, isHead: true };
  const top = head === undefined ? Number.POSITIVE_INFINITY : numberOf(head);
  const versions = names.filter((name) => name === head || numberOf(name) < top);
  for (const version of versions.sort((a, b) => numberOf(b) - numberOf(a))) {
    // An error is thrown, since the file may be intact.
    const bytes = await ifExists(readFile(join(place, version)));
    if (bytes && isIntact(version, bytes)) return { version, isHead: version === head };
  }
  // The head was renamed for a version that is incomplete, and still contains the previous one.
  if (inHead) return { version: inHead.version, isHead: false };
  return { version: null, isHead: !names.every(isOwn) };
}

/** Makes a version in the folder of its key current. The folder always has it, because the logs may not have it. */
async function makeCurrent(place: string, version: string): Promise<void> {
  const own = join(place, HEAD + version);
  const heads = (await readdir(place)).filter((name) => name.startsWith(HEAD));
  if (heads.length === 0) await writeNew(own, new Uint8Array(), { flush: true });
  for (const name of heads) await rename(join(place, name), own);
  await syncFolder(place);
}

/** Replaces the folder of a key by a new one with only a version from the logs. */
async function replaceFolder(root: string, place: string, version: string, bytes: Uint8Array): Promise<void> {
  const made = join(root, ".tmp", uniqueName());
  await makeFolder(made);
  await writeVersion(made, version, bytes);
  await discardFolder(root, place);
  const firstNew = await makeFolder(dirname(place));
  await rename(made, place);
  await syncFolder(dirname(place), firstNew ?? root);
}
