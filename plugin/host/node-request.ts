// plugin/host/node-request.ts: reads requests of Node.js: target, client address, and the request for a handler.
import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { TwtxtError } from "../errors.js";
import { isPublicAddress } from "../http/public-address.js";
import type { HttpRequest } from "../http/respond.js";
import { clientKey } from "./client-key.js";

/** Every chunk has a fixed cost, so after this many chunks they must have a minimum average size. */
const FREE_CHUNKS = 1000;
const MIN_CHUNK_BYTES = 16;
/** The minimum progress of a body in each interval, because slow clients hold connections. */
const MIN_PROGRESS_BYTES = 30 * 1024;

/** The path and query of a request, whose target is a path or, as for proxies, a URL. */
export function toTarget({ url = "/" }: Pick<IncomingMessage, "url">): string {
  const target = url.replace(/^https?:\/\/[^/?]*/i, "");
  return target.startsWith("/") ? target : `/${target}`;
}

export function toPath(request: Pick<IncomingMessage, "url">): string {
  return toTarget(request).split("?")[0] ?? "/";
}

/**
 * The client of a request, as the rate limit counts it.
 *
 * @param trustedProxies - the number of proxies in front of this server: the address is the Nth value of
 *   `X-Forwarded-For` from the right. With 0 it is the peer's own address, because any client can send that header.
 */
export function findAddress({ headersDistinct, socket }: IncomingMessage, trustedProxies: number): string {
  const forwarded = (headersDistinct["x-forwarded-for"] ?? []).join(",").split(",");
  const named = trustedProxies > 0 ? forwarded.at(-trustedProxies)?.trim() : undefined;
  return clientKey(named || (socket.remoteAddress ?? ""));
}

/** Whether a proxy on this machine or in its network sent the request. Other clients have public addresses. */
export function isFromProxy({ headers, socket }: IncomingMessage): boolean {
  return headers["x-forwarded-for"] !== undefined && !isPublicAddress(socket.remoteAddress ?? "");
}

/**
 * The request for a handler. Its body fails with `bad-request` if it ends early and with `too-slow` if it stalls.
 *
 * @param url - absolute, normalized
 * @param patienceMs - the interval in which the next 30 KiB of the body, or its end, must arrive, in milliseconds
 */
export function toRequest(incoming: IncomingMessage, url: string, patienceMs: number): HttpRequest {
  const { method = "GET" } = incoming;
  const { headersDistinct } = incoming;
  const headers = {
    get: (name: string) => headersDistinct[name]?.join(", ") ?? null,
    has: (name: string) => headersDistinct[name] !== undefined,
  };
  const hasBody = method !== "GET" && method !== "HEAD";
  return { method, url, headers, body: hasBody ? toBody(incoming, patienceMs) : null };
}

/** A small body usually comes with its head, but is parsed after it. */
async function* toBody(incoming: IncomingMessage, patienceMs: number): AsyncGenerator<Uint8Array> {
  if (!incoming.complete) await setImmediate();
  if (incoming.destroyed) throw endedEarly();
  if (!incoming.complete) return yield* watchBody(incoming, patienceMs);
  const bytes: Buffer | null = incoming.read();
  if (bytes) yield bytes;
}

/** Through a second stream: otherwise a handler that stops reading would close the connection before its answer. */
function watchBody(incoming: IncomingMessage, patienceMs: number): PassThrough {
  const body = new PassThrough();
  // Handlers get the error when they read the body, but some do not read it.
  body.on("error", () => {});
  incoming.on("error", (cause) => body.destroy(endedEarly(cause)));
  limitPace(incoming, body, patienceMs);
  return incoming.pipe(body);
}

function endedEarly(cause?: Error): TwtxtError {
  return new TwtxtError("bad-request", "The request ended early.", { cause });
}

/**
 * Ends a body that arrives too slowly; an interval in which the handler did not read does not count. Closes the connection of
 * one in tiny chunks, because an answer would have to wait for all the others.
 */
function limitPace(incoming: IncomingMessage, body: PassThrough, patienceMs: number): void {
  let chunks = 0;
  let size = 0;
  let sizeBefore = 0;
  let wasPaused = false;
  incoming.on("data", (chunk: Buffer) => {
    chunks += 1;
    size += chunk.length;
    if (chunks > FREE_CHUNKS && size < chunks * MIN_CHUNK_BYTES) {
      incoming.destroy(new Error("The body's chunks are too small."));
    }
  });
  incoming.on("pause", () => {
    wasPaused = true;
  });
  const check = () => {
    const what = `less than ${MIN_PROGRESS_BYTES} bytes in ${patienceMs / 1000} s`;
    const isSlow = size - sizeBefore < MIN_PROGRESS_BYTES && !wasPaused;
    if (isSlow) body.destroy(new TwtxtError("too-slow", `The body arrives too slowly: ${what}.`));
    sizeBefore = size;
    wasPaused = incoming.isPaused();
  };
  // Data that arrived while this process was busy is read first.
  const timer = setInterval(() => void setImmediate().then(check), patienceMs);
  for (const stream of [incoming, body]) stream.on("close", () => clearInterval(timer));
}
