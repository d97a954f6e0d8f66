// plugin/host/rate-limit.ts: limits the requests of one client address.

import type { IncomingMessage } from "node:http";
import type { Clock } from "../clock.js";
import { TwtxtError } from "../errors.js";
import { clientKey } from "../http/client-address.js";
import { problem } from "../http/respond.js";

/**
 * @param kind - what is counted together
 * @returns the refusal; `null` where the request may go on
 */
export type RateLimit = (kind: string, method: string | undefined, address: string) => Response | null;

const WINDOW_MS = 60_000;

/**
 * Counts POST and PUT: requests that only read cost almost nothing.
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

/**
 * The address that the limits count a request under.
 *
 * @param trustedProxies - the number of proxies in front of this server: the address is the Nth value of
 *   `X-Forwarded-For` from the right. With 0 it is the peer's own address, because any client can send that header.
 */
export function addressOf({ headersDistinct, socket }: IncomingMessage, trustedProxies: number): string {
  const forwarded = (headersDistinct["x-forwarded-for"] ?? []).join(",").split(",");
  const named = trustedProxies > 0 ? forwarded.at(-trustedProxies)?.trim() : undefined;
  return clientKey(named || (socket.remoteAddress ?? ""));
}
