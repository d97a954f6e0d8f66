// plugin/store/key-folder.ts: the folder of a key, `a/b/c@`, and the versions in it; see file.ts.
import { createHash, randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ifThere } from "./disk.js";
import { isKey, MAX_KEY } from "./store.js";

/** The name of a file, before the version that counts. */
export const HEAD = "head.";
/** The version of a streamed value. It is never replaced, so it is found without a look at its folder. */
export const ONLY_VERSION = "1-0000000000000000";

const KEY_END = "@";
const CHECKED = /^\d+-[0-9a-f]{16}-(?<checksum>[0-9a-f]{8})$/;
const RANDOM_BYTES = 4;

/** The version of a key that counts, and all names in its folder. */
export interface Current {
  version: string;
  names: string[];
}

export function folderOf(root: string, key: string): string {
  return join(root, `${key}${KEY_END}`);
}

/** @returns `null` where there is no such key, `undefined` where its head was renamed during the look, or is missing */
export async function look(place: string): Promise<Current | null | undefined> {
  const names = await ifThere(readdir(place));
  if (!names) return null;
  const heads = names.filter((name) => name.startsWith(HEAD)).map((name) => name.slice(HEAD.length));
  // A folder that is read while its head is renamed may show both names.
  const [version] = heads.sort((a, b) => numberOf(b) - numberOf(a));
  return version === undefined ? undefined : { version, names };
}

/** The content of a head that holds the first, small value of its key, so that there is one file instead of two. */
export function formatHead(version: string, bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${version}\n`), bytes]);
}

/** @returns `null` for a head that holds no value, or not all of it */
export function parseHead(content: Buffer): { version: string; bytes: Buffer } | null {
  const end = content.indexOf("\n");
  const version = content.toString("latin1", 0, Math.max(end, 0));
  const bytes = content.subarray(end + 1);
  return isChecked(version) && isWhole(version, bytes) ? { version, bytes } : null;
}

/** The value in a head. @returns `undefined` where it is gone, or not the value of this version */
export async function valueInHead(place: string, version: string): Promise<Buffer | undefined> {
  const content = await ifThere(readFile(join(place, HEAD + version)));
  const value = content && parseHead(content);
  return value?.version === version ? value.bytes : undefined;
}

/** All keys that start with a prefix. */
export async function keysIn(root: string, prefix: string): Promise<string[]> {
  const above = prefix.slice(0, prefix.lastIndexOf("/") + 1);
  const entries = (await ifThere(readdir(join(root, above), { withFileTypes: true }))) ?? [];
  const found: string[] = [];
  for (const entry of entries) {
    if (!entry.isDirectory() || !entry.name.startsWith(prefix.slice(above.length))) continue;
    const isEnd = entry.name.endsWith(KEY_END);
    const segment = isEnd ? entry.name.slice(0, -KEY_END.length) : entry.name;
    // What is above it was looked at before: to look at the whole key costs more than the listing.
    if (!isKey(segment) || above.length + segment.length > MAX_KEY) continue;
    if (isEnd) found.push(above + segment);
    else found.push(...(await keysIn(root, `${above}${segment}/`)));
  }
  return found;
}

/** @returns `NaN`, which is smaller than nothing, for what is no version's file */
export function numberOf(name: string): number {
  return Number.parseInt(name, 10);
}

/** Whether a file in the folder of a key belongs to the store. */
export function isOwn(name: string): boolean {
  return name.startsWith(HEAD) || !Number.isNaN(numberOf(name));
}

/**
 * The part of a version that stays the same from the making of a key to its deletion, at random.
 *
 * @example lifeOf("7-0123456789abcdef") // "01234567"
 */
export function lifeOf(version: string): string {
  return version.slice(version.indexOf("-") + 1).slice(0, 2 * RANDOM_BYTES);
}

/** The first version of a key. */
export function firstVersion(unsynced: Uint8Array | null): string {
  return versionOf(1, randomText(), unsynced);
}

/** @param unsynced - the value, where its file is not synced before it counts: a checksum tells later whether it is whole */
export function versionAfter(version: string, unsynced: Uint8Array | null): string {
  return versionOf(numberOf(version) + 1, lifeOf(version), unsynced);
}

function versionOf(number: number, life: string, unsynced: Uint8Array | null): string {
  return `${number}-${life}${randomText()}${unsynced ? `-${checksumOf(unsynced)}` : ""}`;
}

function randomText(): string {
  return randomBytes(RANDOM_BYTES).toString("hex");
}

/** Whether a version has a checksum; one without was synced before it counted. */
export function isChecked(version: string): boolean {
  return CHECKED.test(version);
}

/** Whether the file of a version is whole. */
export function isWhole(version: string, bytes: Uint8Array): boolean {
  const checksum = CHECKED.exec(version)?.groups?.checksum;
  return checksum === undefined || checksum === checksumOf(bytes);
}

function checksumOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 8);
}
