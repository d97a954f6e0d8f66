// plugin/http/range.ts: which part of something a request wants. RFC 9110, section 14
import { TwtxtError } from "../errors.js";
import type { Range } from "../store/store.js";
import { problem } from "./respond.js";

const ONE = /^bytes=(?<first>\d*)-(?<last>\d*)$/i;
const SEVERAL = /^bytes=[ \t]*(?:\d+-\d*|-\d+)(?:[ \t]*,[ \t]*(?:\d+-\d*|-\d+)){1,15}$/i;

/**
 * The part that a `Range` header names.
 *
 * @param header - `null` for none; a unit that nobody knows counts as none
 * @param size - of it all, in bytes
 * @returns `null` for all of it, also for several parts, up to 16, which are not sent one by one; `"none"` for a part that is
 *   not there, and for what cannot be read
 */
export function parseRange(header: string | null, size: number): Range | "none" | null {
  if (header === null || !/^bytes=/i.test(header) || SEVERAL.test(header)) return null;
  const { first = "", last = "" } = ONE.exec(header)?.groups ?? {};
  if (first === "" && last === "") return "none";
  const range =
    first === ""
      ? { first: Math.max(size - Number(last), 0), last: size - 1 }
      : { first: Number(first), last: Math.min(Number(last || size), size - 1) };
  return range.first <= range.last ? range : "none";
}

/** The answer to a part that cannot be had. */
export function noSuchRange(size: number): Response {
  const error = new TwtxtError("range-not-satisfiable", `Ask for one part of the ${size} bytes, such as bytes=0-99.`);
  return problem(error, { "content-range": `bytes */${size}` });
}
