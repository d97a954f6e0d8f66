// plugin/http/retry.ts: when to ask another site again: retry schedule, `Retry-After`, and how long a response is fresh.
import { DAY, isAhead, MINUTE } from "../clock.js";
import { parseHttpDate } from "./conditions.js";

/** Maximum number of attempts, and the period in which they are made. PROTOCOL 2.3 */
const ATTEMPTS = 8;
const PERIOD = 3 * DAY;

/** The first pause and the factor of the following ones: seven pauses take 68 hours. */
const FIRST_PAUSE = 10 * MINUTE;
const GROWTH = 2.5;

/** Failed attempts so far. */
export interface Attempts {
  attempts: number;
  /** Time of the first failure, in milliseconds since 1970. */
  first: number;
}

/**
 * The time of the next attempt: exponential backoff with 20 % random jitter, so that failures at the same time are not
 * retried at the same time.
 *
 * @param notBefore - the time from `Retry-After`, in milliseconds since 1970; `null` for none
 * @param random - returns a number from 0 up to, not including, 1
 * @returns milliseconds since 1970; `null` to give up: after 8 attempts, after 3 days, or if `notBefore` is later
 * @see PROTOCOL 2.3
 */
export function nextAttempt(
  { attempts, first }: Attempts,
  notBefore: number | null,
  now: number,
  random: () => number,
): number | null {
  const end = first + PERIOD;
  if (attempts >= ATTEMPTS || now >= end || (notBefore ?? 0) > end) return null;
  const pause = FIRST_PAUSE * GROWTH ** Math.max(0, attempts - 1) * (0.8 + 0.4 * random());
  return Math.max(Math.min(Math.round(now + pause), end), notBefore ?? 0);
}

/** Whether the time of a stored attempt is still ahead. */
export function isAttemptAhead(next: number, now: number): boolean {
  return isAhead(next, now, PERIOD);
}

/**
 * Parses `Retry-After`: seconds or an HTTP date.
 *
 * @returns milliseconds since 1970; `null` for a missing or invalid header
 * @see RFC 9110, 10.2.3
 */
export function parseRetryAfter(value: string | undefined, now: number): number | null {
  const text = value?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return now + Number(text) * 1000;
  return parseHttpDate(text);
}

/**
 * The time until which a response may be reused. `s-maxage` is ignored: it is for shared caches.
 *
 * @param headers - by lower-cased name
 * @returns milliseconds since 1970, at most a day ahead; `null` if the response must not be reused or does not say
 * @see PROTOCOL 2.2, RFC 9111, 4.2
 */
export function freshUntil(headers: Record<string, string>, now: number): number | null {
  const directives = parseDirectives(headers["cache-control"] ?? "");
  if (directives.has("no-store") || directives.has("no-cache")) return null;

  const maxAge = directives.get("max-age");
  // Measured by the server's own clock if it sends `Date`.
  const untilExpiry = Date.parse(headers.expires ?? "") - (Date.parse(headers.date ?? "") || now);
  const lifetime = maxAge === undefined ? untilExpiry || 0 : parseSeconds(maxAge);
  const left = lifetime - parseSeconds(headers.age ?? "");
  return left > 0 ? now + Math.min(left, DAY) : null;
}

/** The first directive of each name counts. */
function parseDirectives(cacheControl: string): Map<string, string> {
  const directives = cacheControl.split(",").map((directive): [string, string] => {
    const [name = "", value = ""] = directive.split("=", 2);
    return [name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, "$1")];
  });
  return new Map(directives.reverse());
}

/** @returns milliseconds; 0 for anything but a number of seconds */
function parseSeconds(text: string): number {
  return /^\d+$/.test(text) ? Number(text) * 1000 : 0;
}
