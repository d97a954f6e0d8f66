// plugin/http/conditions.ts: conditional requests, and the refusal of a range. RFC 9110, sections 13 and 14
import { TwtxtError } from "../errors.js";
import { parseHttpDate } from "./headers.js";
import { matchesEtag, problem } from "./respond.js";

/** The validators of a resource. */
export interface Version {
  /** Strong, with quotation marks. */
  etag: string;
  /** Last modification. */
  modified: Date;
}

/**
 * Checks `If-Match` or `If-Unmodified-Since` and, for writes, `If-None-Match`.
 *
 * @param version - `null` if the resource does not exist
 * @throws TwtxtError `precondition-failed`
 */
export function checkConditions(request: Request, version: Version | null): void {
  if (!meetsIfMatch(request, version)) {
    const why = version === null ? "It does not exist" : "It has changed since";
    throw new TwtxtError("precondition-failed", `${why}: the condition of the request is not met.`);
  }
  const isReading = request.method === "GET" || request.method === "HEAD";
  if (isReading || version === null || !matchesEtag(request, version.etag)) return;
  throw new TwtxtError("precondition-failed", "It already exists: the condition If-None-Match is not met.");
}

/** `If-Unmodified-Since` counts only without `If-Match`. */
function meetsIfMatch({ headers }: Request, version: Version | null): boolean {
  const wanted = headers.get("if-match");
  if (wanted !== null) return version !== null && tagsIn(wanted).some((tag) => tag === version.etag || tag === "*");
  const latest = parseHttpDate(headers.get("if-unmodified-since"));
  return latest === null || version === null || secondsOf(version.modified) <= latest;
}

/** Whether the client already has this version. `If-Modified-Since` counts only without `If-None-Match`. */
export function isNotModified(request: Request, { etag, modified }: Version): boolean {
  if (request.headers.has("if-none-match")) return matchesEtag(request, etag);
  const since = parseHttpDate(request.headers.get("if-modified-since"));
  return since !== null && secondsOf(modified) <= since;
}

/** The response to a range outside the resource. */
export function noSuchRange(size: number): Response {
  const error = new TwtxtError(
    "range-not-satisfiable",
    `Request one range within the ${size} bytes, such as bytes=0-99.`,
  );
  return problem(error, { "content-range": `bytes */${size}` });
}

/** HTTP dates have whole seconds. @returns milliseconds since 1970 */
function secondsOf(date: Date): number {
  return Math.floor(date.getTime() / 1000) * 1000;
}

function tagsIn(header: string): string[] {
  return header.split(",").map((tag) => tag.trim());
}
