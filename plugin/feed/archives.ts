// plugin/feed/archives.ts: the names of archives, and the field `prev`. PROTOCOL 1.4
import type { FeedHeader } from "./feed.js";

/** The path of the archive of a period, such as `2019` or `2019-03`. */
export function archivePath(feedPath: string, period: string): string {
  const dot = feedPath.lastIndexOf(".");
  return dot > feedPath.lastIndexOf("/")
    ? `${feedPath.slice(0, dot)}-${period}${feedPath.slice(dot)}`
    : `${feedPath}-${period}`;
}

/**
 * Parses the field `prev`: the hash of the last twt of the previous part, and its file name.
 *
 * @returns `null` for a missing or invalid field
 * @example readPrevious({ prev: ["abcdefg twtxt-2024.txt"] }) // { hash: "abcdefg", file: "twtxt-2024.txt" }
 */
export function readPrevious({ prev: [value = ""] = [] }: FeedHeader): { hash: string; file: string } | null {
  const [, hash = "", file = ""] = /^(\S+)[ \t]+(\S+)$/.exec(value) ?? [];
  return file === "" ? null : { hash, file };
}

/**
 * Whether a path or URL has the name of an archive of this feed.
 *
 * @example isArchivePath("/twtxt.txt", "/twtxt-2024-03.txt") // true
 */
export function isArchivePath(feedPath: string, path: string): boolean {
  const [, period] = /-(\d{4}(?:-\d\d)?)(?:\.[^./]*)?$/.exec(path) ?? [];
  return period !== undefined && path === archivePath(feedPath, period);
}
