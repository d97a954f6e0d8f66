// plugin/host/rate-limit.ts: limits the requests of one client address.
import type { Clock } from "../clock.js";
import { TwtxtError } from "../errors.js";
import { problem } from "../http/respond.js";

/**
 * @param kind - requests of one kind share a limit
 * @returns the response 429; `null` for a request that is allowed
 */
export type RateLimit = (kind: string, method: string | undefined, address: string) => Response | null;

const WINDOW_MS = 60_000;

/**
 * Limits POST and PUT. Requests that only read cost almost nothing.
 *
 * @param perMinute - 0 for no limit
 * @see PROTOCOL 6
 */
export function rateLimit({ perMinute, now }: RateLimitOptions): RateLimit {
  let windowStart = now();
  let counts = new Map<string, number>();

  return (kind, method, address) => {
    if (perMinute === 0 || (method !== "POST" && method !== "PUT")) return null;
    if (now() - windowStart >= WINDOW_MS) {
      windowStart = now();
      counts = new Map();
    }
    const counted = `${kind} ${address}`;
    const count = (counts.get(counted) ?? 0) + 1;
    counts.set(counted, count);
    if (count <= perMinute) return null;
    const seconds = Math.ceil((windowStart + WINDOW_MS - now()) / 1000);
    const error = new TwtxtError("too-many-requests", `At most ${perMinute} a minute. Try again in ${seconds} s.`);
    return problem(error, { "retry-after": String(seconds) });
  };
}

export interface RateLimitOptions {
  perMinute: number;
  now: Clock;
}
