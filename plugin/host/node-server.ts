// plugin/host/node-server.ts: an HTTP server for the handlers and the built site.
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

/** Longer than a verification, so that open requests are answered before shutdown. */
const GRACE_MS = 20_000;
/** Idle timeout of a connection: longer than any work, and than the heartbeat of streams. */
const STALLED_MS = 120_000;
const LINGER_MS = 1_000;
/** Each chunk has a fixed cost, so after this many chunks they must have a minimum size. */
const FREE_CHUNKS = 1000;
const LEAST_CHUNK = 16;
/** Buffer size for response bodies. */
const PASS_BYTES = 256 * 1024;
/** The same for a body of unknown length, usually a few lines. */
const UNSAID_BYTES = 16 * 1024;
/** Minimum progress of a request body per interval, against slow clients that hold connections. */
const PATIENCE_MS = 30_000;
const LEAST_BYTES = 30 * 1024;
/** Node's code for a client that disconnected. Not logged. */
const GONE = ["ECONNRESET", "EPIPE", "ERR_STREAM_PREMATURE_CLOSE", "ERR_STREAM_DESTROYED", "ERR_STREAM_UNABLE_TO_PIPE"];

/** A running server. */
export interface NodeServer {
  port: number;
  /** Stops accepting requests, answers open ones, and closes. */
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
  /** Number of trusted proxies in front of the server. */
  trustedProxies: number;
  /** Milliseconds in which the next 30 KiB of a body, or its end, must arrive; default 30,000. */
  patienceMs?: number;
  log: Log;
}

/** Starts the server. Resolves once it listens. */
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
  // No limit on the total time: bodies have a minimum speed, and headers a limit of their own.
  server.requestTimeout = 0;
  server.on("clientError", (error, socket) => clientErrors.refuse(error, socket));
  server.listen(options.port, options.host);
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, close: () => close(server) };
}

/** Clients without a proxy have a public peer address. */
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

/** Drains an unread body for a moment, so that the client can read the answer. */
function letGo(incoming: IncomingMessage): void {
  const timer = setTimeout(() => incoming.destroy(), LINGER_MS);
  incoming.on("close", () => clearTimeout(timer));
  // Who was to read it would hold it up.
  incoming.unpipe().resume();
}

/** `Request` does not support TRACE. Handlers refuse unknown methods with `Allow`. */
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

/** Goes through another stream: otherwise a handler that stops reading would close the connection before its answer. */
function bodyOf(incoming: IncomingMessage, patienceMs: number): ReadableStream {
  const body = new PassThrough();
  // Whoever reads it is told; a handler may not read it at all.
  body.on("error", () => {});
  // As a fault of the sender's: those are answered, and not logged.
  incoming.on("error", (cause) => body.destroy(new TwtxtError("bad-request", "The request ended early.", { cause })));
  let chunks = 0;
  let size = 0;
  incoming.on("data", (chunk: Buffer) => {
    chunks += 1;
    size += chunk.length;
    // Without an answer: until it is sent, all the other chunks would come in.
    if (chunks > FREE_CHUNKS && size < chunks * LEAST_CHUNK)
      incoming.destroy(new Error("The body's chunks are too small."));
  });

  hurry(incoming, body, patienceMs);
  // Node's own conversion would copy each chunk.
  return ReadableStream.from(incoming.pipe(body));
}

/** Ends a body that arrives too slowly. */
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
  // Data that arrived while this process was busy is read first.
  const timer = setInterval(() => setImmediate(look), patienceMs);
  for (const stream of [incoming, body]) stream.on("close", () => clearInterval(timer));
}

function tooSlow(patienceMs: number): TwtxtError {
  return new TwtxtError(
    "too-slow",
    `The body arrives too slowly: less than ${LEAST_BYTES} bytes in ${patienceMs / 1000} s.`,
  );
}

function isGone(error: Error): boolean {
  const { code = "" } = (error.cause ?? error) as NodeJS.ErrnoException;
  return GONE.includes(code);
}

async function send(answer: Response, response: ServerResponse): Promise<void> {
  response.statusCode = answer.status;
  // After a short answer, the client would read the next one as its rest.
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

/** Reuses one buffer. New ones for each chunk would take most of the time and 30 MiB of memory. */
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
