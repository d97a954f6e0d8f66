// plugin/eleventy/post-date.ts: when a post was written, from its data or its file's name and from nothing else.
import { blake2b } from "@noble/hashes/blake2.js";
import { isDateOnly } from "../feed/timestamp.js";
import type { Post } from "../options.js";

const DAY = 86_400_000;
const HOUR_IN_SECONDS = 3600;

/** A timestamp has four digits for the year; what lies outside is no date of a post. */
const FIRST = Date.parse("0000-01-03T00:00:00Z");
const LAST = Date.parse("9999-12-29T00:00:00Z");

/** Dates that Eleventy takes from the file system or from git: they change with every fresh clone. */
const UNSTABLE = /^(git )?(last modified|created)$/i;

/** The date in a file's name that Eleventy falls back to. */
const DATE_IN_NAME = /\d{4}-\d{2}-\d{2}/;

/**
 * How the moments of posts are told, in milliseconds since 1970, whole seconds.
 *
 * A date at midnight UTC counts as one without a time. It is resolved at midnight of the time zone plus up to an
 * hour that depends on the post's own permalink, so that another post of that day renumbers nothing.
 *
 * @param timeZone - IANA name
 * @returns a function that gives `null` for a post whose date would change by itself
 * @see PROTOCOL 1.2
 */
export function postClock(timeZone: string): (post: Post) => number | null {
  const startOfDay = timeZone === "UTC" ? (midnight: number) => midnight : dayStartIn(timeZone);
  return (post) => {
    const time = stableTime(post);
    if (time === null) return null;
    if (!isDateOnly(time)) return Math.floor(time / 1000) * 1000;
    return startOfDay(time) + secondsFrom(permalinkOf(post)) * 1000;
  };
}

/** What orders posts of one second, and spreads those of one day: the page's URL, else the file and its page. */
export function permalinkOf(post: Pick<Post, "url" | "inputPath" | "pageNumber">): string {
  return post.url || `${post.inputPath}${post.pageNumber ? `#${post.pageNumber}` : ""}`;
}

function stableTime(post: Post): number | null {
  const { date } = post.data;
  const isComputed = "date" in Object(post.data.eleventyComputed);
  const moment = isComputed ? date : post.date;
  if (!(moment instanceof Date) || !(moment.getTime() >= FIRST && moment.getTime() <= LAST)) return null;

  // Eleventy passes over whatever is falsy.
  if (!date) return DATE_IN_NAME.test(post.inputPath) ? moment.getTime() : null;
  return typeof date === "string" && UNSTABLE.test(date.trim()) ? null : moment.getTime();
}

function secondsFrom(permalink: string): number {
  const digest = blake2b(new TextEncoder().encode(permalink), { dkLen: 4 });
  return new DataView(digest.buffer, digest.byteOffset).getUint32(0) % HOUR_IN_SECONDS;
}

/** The first moment of a day, also where the clock jumps over midnight. */
function dayStartIn(timeZone: string): (midnightUtc: number) => number {
  const aheadAt = clockIn(timeZone);
  return (midnightUtc) => {
    const candidates = [midnightUtc - aheadAt(midnightUtc + DAY / 2), midnightUtc - aheadAt(midnightUtc - DAY / 2)];
    const isOnThatDay = (time: number) => time + aheadAt(time) >= midnightUtc;
    return candidates.sort((a, b) => a - b).find(isOnThatDay) ?? midnightUtc;
  };
}

/** How far the zone's clock is ahead of UTC at a moment, in milliseconds. */
function clockIn(timeZone: string): (time: number) => number {
  const format = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset", year: "numeric" });
  return (time) => {
    const [, sign, hours = 0, minutes = 0, seconds = 0] =
      /GMT(?:([+-])(\d+):(\d+)(?::(\d+))?)?$/.exec(format.format(time)) ?? [];
    const ahead = (Number(hours) * HOUR_IN_SECONDS + Number(minutes) * 60 + Number(seconds)) * 1000;
    return sign === "-" ? -ahead : ahead;
  };
}
