// plugin/http/headers.ts: dates and ranges in header fields.
import type { Range } from "../store/store.js";

/** The current format of a date, and that of RFC 850. */
const DATE_WITH_ZONE = /^[A-Z][a-z]{2,8}, \d\d[ -][A-Z][a-z]{2}[ -](?:\d\d){1,2} \d\d:\d\d:\d\d GMT$/;
/** The format of `asctime()`, which is in GMT, too. */
const DATE_WITHOUT_ZONE = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;
const ONE_RANGE = /^bytes=(?<first>\d*)-(?<last>\d*)$/i;
const SEVERAL_RANGES = /^bytes=[ \t]*(?:\d+-\d*|-\d+)(?:[ \t]*,[ \t]*(?:\d+-\d*|-\d+)){1,15}$/i;

/**
 * Parses an HTTP date in any of its three formats.
 *
 * @returns milliseconds since 1970; `null` for anything else
 * @see RFC 9110, 5.6.7
 */
export function parseHttpDate(text: string | null): number | null {
  if (text === null || !(DATE_WITH_ZONE.test(text) || DATE_WITHOUT_ZONE.test(text))) return null;
  const date = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(date) ? null : date;
}

/**
 * Parses a `Range` header.
 *
 * @param header - `null` for none; unknown units are ignored
 * @param size - size of the resource in bytes
 * @returns `null` for the whole resource, also for 2 to 16 ranges, which are not supported; `"none"` for a range outside
 *   the resource or an invalid header
 * @see RFC 9110, 14
 */
export function parseRange(header: string | null, size: number): Range | "none" | null {
  if (header === null || !/^bytes=/i.test(header) || SEVERAL_RANGES.test(header)) return null;
  const { first = "", last = "" } = ONE_RANGE.exec(header)?.groups ?? {};
  if (first === "" && last === "") return "none";
  const range =
    first === ""
      ? { first: Math.max(size - Number(last), 0), last: size - 1 }
      : { first: Number(first), last: Math.min(Number(last || size), size - 1) };
  return range.first <= range.last ? range : "none";
}
