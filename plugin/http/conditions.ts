// plugin/http/conditions.ts: conditional requests, ranges and HTTP dates. RFC 9110, sections 5.6.7, 13 and 14
import { TwtxtError } from "../errors.js";
import type { Range } from "../store/store.js";
import { type ConditionalRequest, type HttpResponse, matchesEtag, problem } from "./respond.js";

/** The current format of a date, and that of RFC 850. */
const DATE_WITH_ZONE = /^[A-Z][a-z]{2,8}, \d\d[ -][A-Z][a-z]{2}[ -](?:\d\d){1,2} \d\d:\d\d:\d\d GMT$/;
/** The format of `asctime()`, which is in GMT, too. */
const DATE_WITHOUT_ZONE = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;
const ONE_RANGE = /^bytes=(\d*)-(\d*)$/i;

export interface Version {
  /** Strong, with quotation marks. */
  etag: string;
  modified: Date;
}

/** Whether a write has a condition for {@link checkConditions}. */
export function isConditional({ headers }: ConditionalRequest): boolean {
  return ["if-match", "if-none-match", "if-unmodified-since"].some((name) => headers.has(name));
}

/**
 * Checks `If-Match` or `If-Unmodified-Since` and, for writes, `If-None-Match`.
 *
 * @param version - `null` if the resource does not exist
 * @throws TwtxtError `precondition-failed`
 */
export function checkConditions(request: ConditionalRequest, version: Version | null): void {
  if (!meetsIfMatch(request, version)) {
    const why = version === null ? "It does not exist" : "It has changed since";
    throw new TwtxtError("precondition-failed", `${why}: the condition of the request is not met.`);
  }
  const isReading = request.method === "GET" || request.method === "HEAD";
  if (isReading || version === null || !matchesEtag(request, version.etag)) return;
  throw new TwtxtError("precondition-failed", "It already exists: the condition If-None-Match is not met.");
}

/** `If-Unmodified-Since` counts only without `If-Match`. */
function meetsIfMatch({ headers }: ConditionalRequest, version: Version | null): boolean {
  const wanted = headers.get("if-match");
  if (wanted !== null)
    return version !== null && wanted.split(",").some((tag) => ["*", version.etag].includes(tag.trim()));
  const latest = parseHttpDate(headers.get("if-unmodified-since"));
  return latest === null || version === null || toSeconds(version.modified) <= latest;
}

/** Whether the client already has this version. `If-Modified-Since` counts only without `If-None-Match`. */
export function isNotModified(request: ConditionalRequest, { etag, modified }: Version): boolean {
  if (request.headers.has("if-none-match")) return matchesEtag(request, etag);
  const since = parseHttpDate(request.headers.get("if-modified-since"));
  return since !== null && toSeconds(modified) <= since;
}

/**
 * Parses a `Range` header.
 *
 * @param size - size of the resource in bytes
 * @returns `null` for the whole resource: without a header, and for one that is not a single valid range of bytes, which a
 *   server may ignore; `"none"` for a range outside the resource
 * @see RFC 9110, 14.1.2 and 14.2
 */
export function parseRange(header: string | null, size: number): Range | "none" | null {
  const [, first = "", last = ""] = ONE_RANGE.exec(header ?? "") ?? [];
  const isInvalid = first === "" ? last === "" : last !== "" && Number(first) > Number(last);
  if (isInvalid) return null;
  const range =
    first === ""
      ? { first: Math.max(size - Number(last), 0), last: size - 1 }
      : { first: Number(first), last: Math.min(Number(last || size), size - 1) };
  return range.first <= range.last ? range : "none";
}

/**
 * Reads the range of a request, as {@link parseRange}. A range of a different version must not be combined with this one, and
 * dates are too coarse (RFC 9110, 13.1.5).
 */
export function readRange({ headers }: ConditionalRequest, etag: string, size: number): Range | "none" | null {
  const condition = headers.get("if-range");
  return condition === null || condition === etag ? parseRange(headers.get("range"), size) : null;
}

export function noSuchRange(size: number): HttpResponse {
  const error = new TwtxtError(
    "range-not-satisfiable",
    `Request one range within the ${size} bytes, such as bytes=0-99.`,
  );
  return problem(error, { "content-range": `bytes */${size}` });
}

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

/** HTTP dates have whole seconds. @returns milliseconds since 1970 */
function toSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000) * 1000;
}
