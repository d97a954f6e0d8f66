// plugin/store/log-entry.ts: binary format of the write log.
//
// An entry is the length of its content (4 bytes, little endian), the first 8 bytes of the content's SHA-256, and the
// content: a line of JSON, then the bytes of the value.
import { createHash } from "node:crypto";
import { lifeOf, numberOf, ONLY_VERSION } from "./key-folder.js";

const CHECKSUM_BYTES = 8;
const HEADER_BYTES = 4 + CHECKSUM_BYTES;
const NEWLINE = 10;

/** A change of a key. */
export interface LogEntry {
  key: string;
  /** The version that was written or deleted. */
  version: string;
  /** Time just before the change, see `logTime`. */
  at: number;
  /** A time at which the change was made already. */
  until: number;
  /** `value`: `bytes` is the value. `synced`: the value is in its own, synced file. `deleted`: the key was deleted. */
  change: "value" | "synced" | "deleted";
  bytes: Uint8Array;
}

export function formatEntry({ bytes, ...line }: LogEntry): Buffer {
  const content = Buffer.concat([Buffer.from(`${JSON.stringify(line)}\n`), bytes]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(content.length);
  return Buffer.concat([length, checksumOf(content), content]);
}

/** The entries of a log up to the first incomplete one. */
export function parseEntries(log: Buffer): LogEntry[] {
  const entries: LogEntry[] = [];
  let at = 0;
  while (at + HEADER_BYTES <= log.length) {
    const end = at + HEADER_BYTES + log.readUInt32LE(at);
    const checksum = log.subarray(at + 4, at + HEADER_BYTES);
    const content = log.subarray(at + HEADER_BYTES, end);
    if (end > log.length || !checksumOf(content).equals(checksum)) break;
    const line = content.indexOf(NEWLINE);
    entries.push({ ...JSON.parse(content.toString("utf8", 0, line)), bytes: content.subarray(line + 1) });
    at = end;
  }
  return entries;
}

/**
 * The last change of a key, of its entries in the logs of all processes.
 *
 * Within the life of a key, versions are in the order of their numbers. A deletion ends a life, whenever its entry was
 * written. So does a change of a later life, since the deletion between them may be of a process that was killed before it
 * wrote its entry. The clock decides between two lives of a key if no log says when the first one ended.
 */
export function lastChange(entries: readonly LogEntry[]): LogEntry | undefined {
  const deletions = entries.filter(({ change }) => change === "deleted");
  const isDeleted = ({ version, at }: LogEntry) =>
    deletions.some((deletion) =>
      // All streamed values have the same version.
      version === ONLY_VERSION
        ? deletion.version === version && deletion.at >= at
        : lifeOf(deletion.version) === lifeOf(version),
    );
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

function checksumOf(content: Uint8Array): Buffer {
  return createHash("sha256").update(content).digest().subarray(0, CHECKSUM_BYTES);
}
