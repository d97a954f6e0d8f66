// plugin/host/rate-limit.ts: limits the requests of one client address.
import type { Clock } from "../clock.js";
import { TwtxtError } from "../errors.js";
import { listNetworks } from "../http/client-networks.js";
import { type HttpResponse, problem } from "../http/respond.js";

export type RateLimit = ReturnType<typeof rateLimit>;

const WINDOW_MS = 60_000;

/**
 * Limits POST and PUT. Requests that only read cost almost nothing.
 *
 * @param perMinute - 0 for no limit
 * @returns a function that counts a request under its `kind` and networks; `null` if it is allowed, else the response 429
 * @see PROTOCOL 6
 */
export function rateLimit({ perMinute, now }: { perMinute: number; now: Clock }) {
  let windowStart = now();
  let counts = new Map<string, number>();

  return (kind: string, method: string | undefined, address: string): HttpResponse | null => {
    if (perMinute === 0 || (method !== "POST" && method !== "PUT")) return null;
    // Negative if the clock was set back.
    const age = now() - windowStart;
    if (age < 0 || age >= WINDOW_MS) {
      windowStart = now();
      counts = new Map();
    }
    const isRefused = listNetworks(address).some(({ network, shares }) => {
      const counted = `${kind} ${network}`;
      const count = (counts.get(counted) ?? 0) + 1;
      counts.set(counted, count);
      return count > perMinute * shares;
    });
    if (!isRefused) return null;
    const seconds = Math.ceil((windowStart + WINDOW_MS - now()) / 1000);
    const error = new TwtxtError("too-many-requests", `At most ${perMinute} a minute. Try again in ${seconds} s.`);
    return problem(error, { "retry-after": String(seconds) });
  };
}
