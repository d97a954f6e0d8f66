// plugin/http/conditions.ts: what a request wants of the version that is there. RFC 9110, section 13
import { TwtxtError } from "../errors.js";
import { hasCopy } from "./respond.js";

/**
 * Whether a request may act on what is there: `If-Match` and, for one that writes, `If-None-Match`.
 *
 * @param etag - strong, with its quotation marks; `null` where there is nothing
 * @throws TwtxtError `precondition-failed`
 */
export function checkConditions(request: Request, etag: string | null): void {
  const wanted = request.headers.get("if-match");
  const isRight = wanted === null || (etag !== null && tagsIn(wanted).some((tag) => tag === etag || tag === "*"));
  const isReading = request.method === "GET" || request.method === "HEAD";
  if (isRight && (isReading || etag === null || !hasCopy(request, etag))) return;
  throw new TwtxtError("precondition-failed", "It is not as the request wants it: somebody has changed it.");
}

/**
 * Whether who reads has this version already.
 *
 * @param modified - when it was changed; only looked at where no `If-None-Match` is sent
 */
export function isCopy(request: Request, etag: string, modified?: Date): boolean {
  if (request.headers.has("if-none-match")) return hasCopy(request, etag);
  const since = Date.parse(request.headers.get("if-modified-since") ?? "");
  return modified !== undefined && Math.floor(modified.getTime() / 1000) * 1000 <= since;
}

function tagsIn(header: string): string[] {
  return header.split(",").map((tag) => tag.trim());
}
