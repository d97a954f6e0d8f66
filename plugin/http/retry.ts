// plugin/http/retry.ts: retry schedule, and the header `Retry-After`.
import { parseHttpDate } from "./http-date.js";

const MINUTE = 60_000;

/** Maximum number of attempts, and the period in which they are made. PROTOCOL 2.3 */
const ATTEMPTS = 8;
const PERIOD = 3 * 24 * 60 * MINUTE;

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
