// plugin/host/node-server.ts: the handlers and the built site on any Node host.
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { TwtxtError } from "../errors.js";
import { isPublicAddress } from "../http/public-address.js";
import type { Log } from "../http/respond.js";
import { ClientErrors } from "./client-errors.js";
import type { Endpoint } from "./endpoints.js";
import { addressOf, type RateLimit } from "./rate-limit.js";
import { RequestQueue } from "./request-queue.js";
import { pathOf, targetOf } from "./request-target.js";

/** Longer than a verification waits and takes, so that an open request is answered before the server ends. */
const GRACE_MS = 20_000;
/** In which nothing at all goes over a connection, before its end: longer than any work, and than the beats of a stream. */
const STALLED_MS = 120_000;
const LINGER_MS = 1_000;
/** A chunk costs some hundred bytes and a moment, even where it holds one byte: after so many they have to hold more. */
const FREE_CHUNKS = 1000;
const LEAST_CHUNK = 16;
/** How much of an answer is passed on at a time. */
const PASS_BYTES = 256 * 1024;
/** The same where nobody says how much it is: a few lines, as a rule. */
const UNSAID_BYTES = 16 * 1024;
/** What a body must bring in this time, or whoever sends it would hold a connection for as good as nothing. */
const PATIENCE_MS = 30_000;
const LEAST_BYTES = 30 * 1024;
/** What Node calls it when the other side has hung up. Nobody is left to answer then, and it is no news to the owner. */
const GONE = ["ECONNRESET", "EPIPE", "ERR_STREAM_PREMATURE_CLOSE", "ERR_STREAM_DESTROYED", "ERR_STREAM_UNABLE_TO_PIPE"];

/** A server that runs. */
export interface NodeServer {
  port: number;
  /** Takes no more requests, answers those under way, and ends. */
  close(): Promise<void>;
}

export interface NodeServerOptions {
  port: number;
  /** The address to listen on. */
  host: string;
  /** The site's origin: what `request.url` begins with, whatever `Host` says. */
  origin: string;
  /** @param path - as `URL.pathname` has it; `null` where the site's own files answer */
  endpointAt(path: string): Endpoint | null;
  /** Answers with a file of the site. */
  serveFile(request: IncomingMessage, response: ServerResponse): void | Promise<void>;
  rateLimit: RateLimit;
  /** How many proxies stand before us. */
  trustedProxies: number;
  /** In which time the next 30 KiB of a body, or its end, have to come, in milliseconds; default half a minute. */
  patienceMs?: number;
  log: Log;
}

/** Starts the server; the promise is fulfilled once it listens. */
export async function nodeServer(options: NodeServerOptions): Promise<NodeServer> {
  let isWarned = options.trustedProxies > 0;
  const queue = new RequestQueue();
  const clientErrors = new ClientErrors();
  const server = createServer((request, response) => {
    if (!isWarned && comesByProxy(request)) {
      isWarned = true;
      options.log(
        "Requests come through a proxy, so the rate limit counts all visitors as one. Start serve with --trust-proxy 1.",
      );
    }
    const answered = async () => {
      clientErrors.track(request.socket, response);
      await answer(request, response, options);
    };
    void queue.run(request.socket, response, answered).catch((error) => {
      if (!isGone(error)) options.log(`${request.method} ${pathOf(request)} failed: ${(error as Error).message}`);
      response.destroy();
    });
  });
  // A body that comes fast enough may take as long as it needs; the time for the headers is bounded on its own.
  server.requestTimeout = 0;
  server.on("clientError", (error, socket) => clientErrors.refuse(error, socket));
  server.listen(options.port, options.host);
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, close: () => close(server) };
}

/** A stranger's own peer address is a public one. */
function comesByProxy({ headers, socket }: IncomingMessage): boolean {
  return headers["x-forwarded-for"] !== undefined && !isPublicAddress(socket.remoteAddress ?? "");
}

async function answer(incoming: IncomingMessage, response: ServerResponse, options: NodeServerOptions): Promise<void> {
  response.once("finish", () => incoming.readableEnded || letGo(incoming));
  response.setTimeout(STALLED_MS, () => response.destroy());
  const endpoint = options.endpointAt(new URL(options.origin + targetOf(incoming)).pathname);
  if (!endpoint) return options.serveFile(incoming, response);
  const address = addressOf(incoming, options.trustedProxies);
  const refused = endpoint.rateLimit && options.rateLimit(endpoint.rateLimit, incoming.method, address);
  await send(refused ?? (await endpoint.answer(requestOf(incoming, options), address)), response);
}

/** What was not read of a body goes by for a moment, so that the sender gets to read the answer. */
function letGo(incoming: IncomingMessage): void {
  const timer = setTimeout(() => incoming.destroy(), LINGER_MS);
  incoming.on("close", () => clearTimeout(timer));
  // Who was to read it would hold it up.
  incoming.unpipe().resume();
}

/** There is no Request with the method TRACE. A handler refuses it like any other that it does not know, with `Allow`. */
function methodOf({ method = "GET" }: IncomingMessage): string {
  return method === "TRACE" ? "UNKNOWN" : method;
}

function requestOf(incoming: IncomingMessage, { origin, patienceMs = PATIENCE_MS }: NodeServerOptions): Request {
  const method = methodOf(incoming);
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(incoming.headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(origin + targetOf(incoming), {
    method,
    headers,
    ...(hasBody && { body: bodyOf(incoming, patienceMs), duplex: "half" }),
  });
}

/** By way of another stream: a handler that stops reading would end the connection, and its own answer with it. */
function bodyOf(incoming: IncomingMessage, patienceMs: number): ReadableStream {
  const body = new PassThrough();
  // Whoever reads it is told; a handler may not read it at all.
  body.on("error", () => {});
  // As a fault of the sender's: those are answered, and not logged.
  incoming.on("error", (cause) => body.destroy(new TwtxtError("bad-request", "The request breaks off.", { cause })));
  let chunks = 0;
  let size = 0;
  incoming.on("data", (chunk: Buffer) => {
    chunks += 1;
    size += chunk.length;
    // Without an answer: until it is sent, all the other chunks would come in.
    if (chunks > FREE_CHUNKS && size < chunks * LEAST_CHUNK) incoming.destroy(new Error("The body comes in crumbs."));
  });

  hurry(incoming, body, patienceMs);
  // Not by Node's own conversion, which copies each chunk.
  return ReadableStream.from(incoming.pipe(body));
}

/** Ends a body that comes too slowly, though nothing of it had to wait for us. */
function hurry(incoming: IncomingMessage, body: PassThrough, patienceMs: number): void {
  let size = 0;
  let hasWaited = false;
  incoming.on("data", (chunk: Buffer) => {
    size += chunk.length;
  });
  incoming.on("pause", () => {
    hasWaited = true;
  });
  const look = () => {
    if (size < LEAST_BYTES && !hasWaited) body.destroy(tooSlow(patienceMs));
    size = 0;
    hasWaited = incoming.isPaused();
  };
  // What has come while this process was busy is read first.
  const timer = setInterval(() => setImmediate(look), patienceMs);
  for (const stream of [incoming, body]) stream.on("close", () => clearInterval(timer));
}

function tooSlow(patienceMs: number): TwtxtError {
  return new TwtxtError(
    "too-slow",
    `The body comes too slowly: less than ${LEAST_BYTES} bytes in ${patienceMs / 1000} s.`,
  );
}

function isGone(error: Error): boolean {
  const { code = "" } = (error.cause ?? error) as NodeJS.ErrnoException;
  return GONE.includes(code);
}

async function send(answer: Response, response: ServerResponse): Promise<void> {
  response.statusCode = answer.status;
  // Too short an answer would let the next one on this connection pass for its rest.
  response.strictContentLength = true;
  for (const [name, value] of answer.headers) response.appendHeader(name, value);
  const reader = answer.body && readerOf(answer.body);
  if (answer.body === null) response.end();
  else if (reader) await pass(reader, response, Number(answer.headers.get("content-length") ?? UNSAID_BYTES));
  // As a stream of Node's: the web's own would wait for its next chunk, although nobody is there any more.
  else await pipeline(Readable.fromWeb(answer.body as never), response);
}

/** @returns `null` where a stream has its chunks in buffers of its own */
function readerOf(body: ReadableStream): ReadableStreamBYOBReader | null {
  try {
    return body.getReader({ mode: "byob" });
  } catch {
    return null;
  }
}

/** By one buffer for it all: new ones for each chunk would be most of the work, and 30 MiB of memory. */
async function pass(reader: ReadableStreamBYOBReader, response: ServerResponse, size: number): Promise<void> {
  response.once("close", () => void reader.cancel().catch(() => {}));
  try {
    let buffer = new ArrayBuffer(Math.max(Math.min(size, PASS_BYTES), 1));
    for (;;) {
      const { value, done } = await reader.read(new Uint8Array(buffer));
      if (done) break;
      await written(response, value);
      buffer = value.buffer as ArrayBuffer;
    }
    // A reader who has left has let go of the stream, which is then over before its length.
    if (!response.destroyed) response.end();
  } catch (error) {
    await reader.cancel(error).catch(() => {});
    throw error;
  }
}

/** Once it is, the buffer is free again. */
function written(response: ServerResponse, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    response.write(chunk, (error) => (error ? reject(error) : resolve()));
  });
}

async function close(server: Server): Promise<void> {
  const closed = once(server, "close");
  // What is idle from now on is closed as soon as it is.
  server.keepAliveTimeout = 1;
  server.close();
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), GRACE_MS);
  await closed;
  clearTimeout(timer);
}
