// plugin/http/range.ts: the header `Range`. RFC 9110, section 14
import { TwtxtError } from "../errors.js";
import type { Range } from "../store/store.js";
import { problem } from "./respond.js";

const ONE = /^bytes=(?<first>\d*)-(?<last>\d*)$/i;
const SEVERAL = /^bytes=[ \t]*(?:\d+-\d*|-\d+)(?:[ \t]*,[ \t]*(?:\d+-\d*|-\d+)){1,15}$/i;

/**
 * Parses a `Range` header.
 *
 * @param header - `null` for none; unknown units are ignored
 * @param size - size of the resource in bytes
 * @returns `null` for the whole resource, also for 2 to 16 ranges, which are not supported; `"none"` for a range outside
 *   the resource or an invalid header
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

/** The response to a range outside the resource. */
export function noSuchRange(size: number): Response {
  const error = new TwtxtError(
    "range-not-satisfiable",
    `Request one range within the ${size} bytes, such as bytes=0-99.`,
  );
  return problem(error, { "content-range": `bytes */${size}` });
}
