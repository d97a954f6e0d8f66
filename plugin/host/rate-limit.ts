// plugin/host/rate-limit.ts: how often one address may ask.
import type { IncomingMessage } from "node:http";
import { TwtxtError } from "../errors.js";
import { countedAs } from "../http/client-address.js";
import { type Client, problem } from "../http/respond.js";

/**
 * @param kind - what is counted together
 * @returns the refusal; `null` where the request may go on
 */
export type RateLimit = (kind: string, method: string | undefined, client: Client) => Response | null;

const WINDOW_MS = 60_000;

/**
 * Counts requests that ask for work: those that read cost nothing worth counting.
 *
 * @param perMinute - 0 for no limit
 * @see PROTOCOL 6
 */
export function rateLimit({ perMinute, now }: RateLimitOptions): RateLimit {
  let windowStart = now();
  let counts = new Map<string, number>();

  return (kind, method, { address }) => {
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
  /** Milliseconds since 1970. */
  now(): number;
}

/**
 * Who has sent a request.
 *
 * @param trustedProxies - how many proxies stand before us: the address is the so-manieth last of `X-Forwarded-For`, and
 *   the peer's own with 0, since anybody may send that header
 */
export function clientOf({ headersDistinct, socket }: IncomingMessage, trustedProxies: number): Client {
  const forwarded = (headersDistinct["x-forwarded-for"] ?? []).join(",").split(",");
  const named = trustedProxies > 0 ? forwarded.at(-trustedProxies)?.trim() : undefined;
  return { address: countedAs(named || (socket.remoteAddress ?? "")) };
}
