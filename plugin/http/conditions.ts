// plugin/http/conditions.ts: what a request wants of the version that is there. RFC 9110, section 13
import { TwtxtError } from "../errors.js";
import { parseHttpDate } from "./http-date.js";
import { matchesEtag } from "./respond.js";

/** What a condition may be about. */
export interface Version {
  /** Strong, with its quotation marks. */
  etag: string;
  /** When it was changed last. */
  modified: Date;
}

/**
 * Whether a request may act on what is there: `If-Match` or `If-Unmodified-Since` and, for one that writes, `If-None-Match`.
 *
 * @param version - `null` where there is nothing
 * @throws TwtxtError `precondition-failed`
 */
export function checkConditions(request: Request, version: Version | null): void {
  if (!isWanted(request, version)) {
    const why = version === null ? "There is none to replace or change" : "It was changed since";
    throw new TwtxtError("precondition-failed", `${why}: the condition of the request does not hold.`);
  }
  const isReading = request.method === "GET" || request.method === "HEAD";
  if (isReading || version === null || !matchesEtag(request, version.etag)) return;
  throw new TwtxtError("precondition-failed", "It is there already, and If-None-Match asks that it is not.");
}

/** A date only counts where no version is named. */
function isWanted({ headers }: Request, version: Version | null): boolean {
  const wanted = headers.get("if-match");
  if (wanted !== null) return version !== null && tagsIn(wanted).some((tag) => tag === version.etag || tag === "*");
  const latest = parseHttpDate(headers.get("if-unmodified-since"));
  return latest === null || version === null || secondsOf(version.modified) <= latest;
}

/** Whether who reads has this version already. A date only counts where no version is named. */
export function isNotModified(request: Request, { etag, modified }: Version): boolean {
  if (request.headers.has("if-none-match")) return matchesEtag(request, etag);
  const since = parseHttpDate(request.headers.get("if-modified-since"));
  return since !== null && secondsOf(modified) <= since;
}

/** A date of HTTP has no parts of a second. @returns milliseconds since 1970 */
function secondsOf(date: Date): number {
  return Math.floor(date.getTime() / 1000) * 1000;
}

function tagsIn(header: string): string[] {
  return header.split(",").map((tag) => tag.trim());
}
