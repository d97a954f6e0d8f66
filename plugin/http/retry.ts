// plugin/http/retry.ts: when something that did not work out is tried again.
import { parseHttpDate } from "./http-date.js";

const MINUTE = 60_000;

/** At most so many attempts, over so long. PROTOCOL 2.3 */
const ATTEMPTS = 8;
const PERIOD = 3 * 24 * 60 * MINUTE;

/** The first pause and how the next ones grow: the seven of them take 68 hours. */
const FIRST_PAUSE = 10 * MINUTE;
const GROWTH = 2.5;

/** What has been tried so far. */
export interface Attempts {
  /** How often, the last failure included. */
  attempts: number;
  /** When it failed first, in milliseconds since 1970. */
  first: number;
}

/**
 * When to try again: pauses grow, and are stretched or shortened by a fifth at random, so that what failed together does
 * not come back together.
 *
 * @param notBefore - what the other side has asked for with `Retry-After`, in milliseconds since 1970; `null` for nothing
 * @param random - 0 up to, not including, 1
 * @returns milliseconds since 1970; `null` where it is given up: after 8 attempts, after 3 days, and where the other side
 *   wants a longer pause than is left of them
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
 * Reads a `Retry-After`: seconds, or a date of HTTP.
 *
 * @returns milliseconds since 1970; `null` for a header that is not there or says neither
 * @see RFC 9110, 10.2.3
 */
export function parseRetryAfter(value: string | undefined, now: number): number | null {
  const text = value?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return now + Number(text) * 1000;
  return parseHttpDate(text);
}
