// plugin/store/key-folder.ts: the folder of a key, `a/b/c@`, and its versions; see file.ts.
import { createHash, randomUUID } from "node:crypto";
import { join } from "node:path";
import { ifExists, readdir, readFile, syncFolder, writeNew } from "./disk.js";
import { isKey, MAX_KEY } from "./store.js";

/** Prefix of the file that names the current version. */
export const HEAD = "head.";

const KEY_END = "@";
const CHECKED = /^\d+-[0-9a-f]{16}-(?<checksum>[0-9a-f]{8})$/;
/** Length of a random part, in hex digits. */
const RANDOM_LENGTH = 8;

/** The current version of a key, and all names in its folder. */
export interface CurrentVersion {
  version: string;
  names: string[];
}

export function folderOf(root: string, key: string): string {
  return join(root, `${key}${KEY_END}`);
}

/** @returns `null` if the key does not exist, `undefined` if its head was renamed during the read, or is missing */
export async function findCurrent(place: string): Promise<CurrentVersion | null | undefined> {
  const names = await ifExists(readdir(place));
  if (!names) return null;
  const heads = names.filter((name) => name.startsWith(HEAD)).map((name) => name.slice(HEAD.length));
  // A listing during the rename of the head may have both names.
  const [version] = heads.sort((a, b) => numberOf(b) - numberOf(a));
  return version === undefined ? undefined : { version, names };
}

/** Fills the new folder of a key with a version, in synced files. */
export async function writeVersion(
  place: string,
  version: string,
  value: Uint8Array | AsyncIterable<Uint8Array>,
): Promise<void> {
  await writeNew(join(place, version), value, { flush: true });
  await writeNew(join(place, HEAD + version), new Uint8Array(), { flush: true });
  await syncFolder(place);
}

/** The content of a head that contains a small first value, so that a key has one file instead of two. */
export function formatHead(version: string, bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${version}\n`), bytes]);
}

/** @returns `null` for a head without a complete value */
export function parseHead(content: Buffer): { version: string; bytes: Buffer } | null {
  const end = content.indexOf("\n");
  const version = content.toString("latin1", 0, Math.max(end, 0));
  const bytes = content.subarray(end + 1);
  return isChecked(version) && isIntact(version, bytes) ? { version, bytes } : null;
}

/** The value in a head. @returns `undefined` if it is gone or belongs to another version */
export async function valueInHead(place: string, version: string): Promise<Buffer | undefined> {
  const content = await ifExists(readFile(join(place, HEAD + version)));
  const value = content && parseHead(content);
  return value?.version === version ? value.bytes : undefined;
}

/** All keys that start with a prefix. */
export async function keysIn(root: string, prefix: string): Promise<string[]> {
  const above = prefix.slice(0, prefix.lastIndexOf("/") + 1);
  const entries = (await ifExists(readdir(join(root, above), { withFileTypes: true }))) ?? [];
  const found: string[] = [];
  for (const entry of entries) {
    if (!entry.isDirectory() || !entry.name.startsWith(prefix.slice(above.length))) continue;
    const isEnd = entry.name.endsWith(KEY_END);
    const segment = isEnd ? entry.name.slice(0, -KEY_END.length) : entry.name;
    // The folders above are checked already, and checking the whole key costs more than the listing.
    if (!isKey(segment) || above.length + segment.length > MAX_KEY) continue;
    if (isEnd) found.push(above + segment);
    else found.push(...(await keysIn(root, `${above}${segment}/`)));
  }
  return found;
}

/** @returns `NaN` for a name that is not a version; comparisons with it are false */
export function numberOf(name: string): number {
  return Number.parseInt(name, 10);
}

/** Whether a file in the folder of a key belongs to the store. */
export function isOwn(name: string): boolean {
  return name.startsWith(HEAD) || !Number.isNaN(numberOf(name));
}

/**
 * The random part of a version that stays the same from the creation of a key to its deletion.
 *
 * @example lifeOf("7-0123456789abcdef") // "01234567"
 */
export function lifeOf(version: string): string {
  return version.slice(version.indexOf("-") + 1).slice(0, RANDOM_LENGTH);
}

/** The first version of a key. */
export function firstVersion(unsynced: Uint8Array | null): string {
  return versionOf(1, randomText(), unsynced);
}

/** @param unsynced - the value, if its file is not synced first: a checksum in the version shows later whether it is intact */
export function versionAfter(version: string, unsynced: Uint8Array | null): string {
  return versionOf(numberOf(version) + 1, lifeOf(version), unsynced);
}

function versionOf(number: number, life: string, unsynced: Uint8Array | null): string {
  return `${number}-${life}${randomText()}${unsynced ? `-${checksumOf(unsynced)}` : ""}`;
}

function randomText(): string {
  // Node.js keeps random bytes for 128 UUIDs; each call of randomBytes asks the system.
  return randomUUID().slice(0, RANDOM_LENGTH);
}

/** Whether a version has a checksum; files of versions without one were synced. */
export function isChecked(version: string): boolean {
  return CHECKED.test(version);
}

/** Whether these are all bytes of a version. */
export function isIntact(version: string, bytes: Uint8Array): boolean {
  const checksum = CHECKED.exec(version)?.groups?.checksum;
  return checksum === undefined || checksum === checksumOf(bytes);
}

function checksumOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 8);
}
