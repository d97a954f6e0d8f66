// plugin/host/rate-limit.ts: how often one address may ask.
import type { IncomingMessage } from "node:http";
import ipaddr from "ipaddr.js";
import { TwtxtError } from "../errors.js";
import { problem } from "../http/respond.js";

/** @returns the refusal; `null` where the request may go on */
export type RateLimit = (request: IncomingMessage) => Response | null;

const WINDOW_MS = 60_000;

/**
 * Counts requests that ask for work: those that read cost nothing worth counting.
 *
 * @param perMinute - 0 for no limit
 * @param trustedProxies - how many proxies stand before us: the address is the so-manieth last of `X-Forwarded-For`, and
 *   the peer's own with 0, since anybody may send that header
 * @see PROTOCOL 6
 */
export function rateLimit({ perMinute, trustedProxies, now }: RateLimitOptions): RateLimit {
  let windowStart = now();
  let counts = new Map<string, number>();

  return (request) => {
    if (perMinute === 0 || request.method !== "POST") return null;
    if (now() - windowStart >= WINDOW_MS) {
      windowStart = now();
      counts = new Map();
    }
    const address = countedAs(addressOf(request, trustedProxies));
    const count = (counts.get(address) ?? 0) + 1;
    counts.set(address, count);
    if (count <= perMinute) return null;
    const seconds = Math.ceil((windowStart + WINDOW_MS - now()) / 1000);
    const error = new TwtxtError("too-many-requests", `At most ${perMinute} a minute. Try again in ${seconds} s.`);
    return problem(error, { "retry-after": String(seconds) });
  };
}

export interface RateLimitOptions {
  perMinute: number;
  trustedProxies: number;
  /** Milliseconds since 1970. */
  now(): number;
}

function addressOf({ headersDistinct, socket }: IncomingMessage, trustedProxies: number): string {
  const forwarded = (headersDistinct["x-forwarded-for"] ?? []).join(",").split(",");
  const named = trustedProxies > 0 ? forwarded.at(-trustedProxies)?.trim() : undefined;
  return named ? withoutPort(named) : (socket.remoteAddress ?? "");
}

/** Some proxies name the port too: `192.0.2.1:1234`, `[2001:db8::1]:1234`. */
function withoutPort(address: string): string {
  return address.replace(/^\[(.*)\](:\d+)?$/, "$1").replace(/^(\d+(?:\.\d+){3}):\d+$/, "$1");
}

/** Whoever has one IPv6 address has the 2^64 beside it. */
function countedAs(address: string): string {
  if (!ipaddr.isValid(address)) return "unknown";
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  return parsed.parts.slice(0, 4).join(":");
}
