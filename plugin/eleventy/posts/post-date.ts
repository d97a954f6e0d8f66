// plugin/eleventy/posts/post-date.ts: time of a post, from its data or its file name.
import { blake2b } from "@noble/hashes/blake2.js";
import { isDateOnly } from "../../feed/timestamp.js";
import type { Post } from "../../options.js";

const DAY = 86_400_000;
const HOUR_IN_SECONDS = 3600;

/** Other dates are ignored, because the years of timestamps have four digits. */
const FIRST = Date.parse("0000-01-03T00:00:00Z");
const LAST = Date.parse("9999-12-29T00:00:00Z");

/** Values of `date` for which Eleventy asks the file system or git. These dates change with every clone. */
const UNSTABLE = /^(git )?(last modified|created)$/i;

/** The date in a file name, which Eleventy uses if the data has none. */
const DATE_IN_NAME = /\d{4}-\d{2}-\d{2}/;

/**
 * Creates the function that computes the time of a post in milliseconds since 1970, whole seconds.
 *
 * A date at midnight UTC counts as a date without a time. It becomes midnight in the time zone plus up to an hour, which
 * depends on the post's permalink, so that another post on that day changes nothing.
 *
 * @param timeZone - IANA name
 * @returns a function that returns `null` for a post without a stable date
 * @see PROTOCOL 1.2
 */
export function postClock(timeZone: string): (post: Post) => number | null {
  const startOfDay = timeZone === "UTC" ? (midnight: number) => midnight : createDayStart(timeZone);
  return (post) => {
    const time = stableTime(post);
    if (time === null) return null;
    if (!isDateOnly(time)) return Math.floor(time / 1000) * 1000;
    return startOfDay(time) + secondsFrom(requirePermalink(post)) * 1000;
  };
}

/** The identity of a post: the page's URL, or else its file and page number. */
export function requirePermalink(post: Pick<Post, "url" | "inputPath" | "pageNumber">): string {
  return post.url || `${post.inputPath}${post.pageNumber ? `#${post.pageNumber}` : ""}`;
}

function stableTime(post: Post): number | null {
  const { date } = post.data;
  const isComputed = "date" in Object(post.data.eleventyComputed);
  const moment = isComputed ? date : post.date;
  if (!(moment instanceof Date) || !(moment.getTime() >= FIRST && moment.getTime() <= LAST)) return null;

  // Eleventy ignores a falsy date.
  if (!date) return DATE_IN_NAME.test(post.inputPath) ? moment.getTime() : null;
  return typeof date === "string" && UNSTABLE.test(date.trim()) ? null : moment.getTime();
}

function secondsFrom(permalink: string): number {
  const digest = blake2b(new TextEncoder().encode(permalink), { dkLen: 4 });
  return new DataView(digest.buffer, digest.byteOffset).getUint32(0) % HOUR_IN_SECONDS;
}

function createDayStart(timeZone: string): (midnightUtc: number) => number {
  const aheadAt = createClock(timeZone);
  return (midnightUtc) => {
    const candidates = [midnightUtc - aheadAt(midnightUtc + DAY / 2), midnightUtc - aheadAt(midnightUtc - DAY / 2)];
    const isOnThatDay = (time: number) => time + aheadAt(time) >= midnightUtc;
    return candidates.sort((a, b) => a - b).find(isOnThatDay) ?? midnightUtc;
  };
}

/** The UTC offset of the zone at a time, in milliseconds. */
function createClock(timeZone: string): (time: number) => number {
  const format = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset", year: "numeric" });
  return (time) => {
    const [, sign, hours = 0, minutes = 0, seconds = 0] =
      /GMT(?:([+-])(\d+):(\d+)(?::(\d+))?)?$/.exec(format.format(time)) ?? [];
    const ahead = (Number(hours) * HOUR_IN_SECONDS + Number(minutes) * 60 + Number(seconds)) * 1000;
    return sign === "-" ? -ahead : ahead;
  };
}
