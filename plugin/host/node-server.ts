// plugin/host/node-server.ts: an HTTP server for the handlers and the built site.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { TwtxtError } from "../errors.js";
import { type HttpResponse, type Log, problem } from "../http/respond.js";
import { byobReader } from "../store/chunks.js";
import { prepareClose } from "./close-server.js";
import { compressResponse } from "./compress-response.js";
import { Connections } from "./connections.js";
import type { Endpoint } from "./endpoints.js";
import { findAddress, isFromProxy, toPath, toRequest, toTarget } from "./node-request.js";
import type { RateLimit } from "./rate-limit.js";
import { copyChunks, withTwoBuffers } from "./send-file.js";

const IDLE_MS = 120_000;
/**
 * How long a connection is kept for its next request. A proxy that keeps it longer can send a POST into a closed one, and
 * answers 502. Caddy keeps connections for 120 s, nginx for 60 s.
 */
const KEEP_ALIVE_MS = 150_000;
const MAX_IDLE_CONNECTIONS = 1_000;
/** How long an unread body is drained after the answer. */
const LINGER_MS = 1_000;
const PATIENCE_MS = 30_000;
/** How long connections of proxies stay open when the server closes. */
const PROXY_LINGER_MS = 1_000;
/** Discovery documents, which clients request at the root of the domain whatever the path prefix of the site is. PROTOCOL 3.1 */
const AT_ROOT = /^\/\.well-known\/(?:msg|salty)\//;
/** The chunks of a larger body are read into buffers that are used again. */
const SMALL_BYTES = 64 * 1024;

export interface NodeServer {
  port: number;
  /** Stops accepting requests, answers open ones, and closes. */
  close(): Promise<void>;
}

/** A response, for metrics. */
export interface Answered {
  /** The endpoint, `file`, or the kind of the rate limit that refused the request. */
  route: string;
  method: string | undefined;
  /** 0 if the client disconnected. */
  status: number;
  /** Until the response of an endpoint began; `null` for others. */
  seconds: number | null;
}

export interface NodeServerOptions {
  port: number;
  host: string;
  /** The file descriptor of a socket to listen on, instead of port and address. */
  socket?: number | undefined;
  /** The site's origin: what `request.url` begins with, whatever `Host` says. */
  origin: string;
  /** The path prefix of the site, such as `/blog`; default none. */
  prefix?: string;
  /** @param path - as `URL.pathname` has it; `null` where the site's own files answer */
  findEndpoint(path: string): Endpoint | null;
  /** Answers with a file of the site. @param otherwise - called instead if there is no such file */
  serveFile(request: IncomingMessage, response: ServerResponse, otherwise?: () => Promise<void>): void | Promise<void>;
  rateLimit: RateLimit;
  /** Number of trusted proxies in front of the server. */
  trustedProxies: number;
  /** Milliseconds in which the next 30 KiB of a body, or its end, must arrive; default 30,000. */
  patienceMs?: number;
  /** Idle timeout of a connection in milliseconds: longer than any work, and than the heartbeat of streams; default 120,000. */
  idleMs?: number;
  /** Maximum number of connections that are kept for their next request; default 1,000. */
  maxIdleConnections?: number;
  onAnswer?(answered: Answered): void;
  log: Log;
}

/** Starts the server. Resolves once it listens. */
export async function nodeServer(options: NodeServerOptions): Promise<NodeServer> {
  const { log } = options;
  let isWarned = options.trustedProxies > 0;
  const connections = new Connections(options.maxIdleConnections ?? MAX_IDLE_CONNECTIONS);
  // A missing Host gets a problem document below, not Node's empty answer.
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    if (!isWarned && isFromProxy(request)) {
      isWarned = true;
      log(
        "Requests come through a proxy, so the rate limit counts all visitors as one. Start serve with --trust-proxy 1.",
        { level: "warn" },
      );
    }
    const work = () => answer(request, response, options);
    void connections.run(request.socket, response, work).catch((error: Error) => {
      const { method = "" } = request;
      const about = { level: "error", request: { method, path: toPath(request) } } as const;
      // A client that disconnected is not logged.
      if (!request.socket.destroyed) log(`The response failed: ${error.message}`, about);
      response.destroy();
    });
  });
  // No limit on the total time: bodies have a minimum speed, and headers have their own timeout.
  server.requestTimeout = 0;
  server.timeout = options.idleMs ?? IDLE_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  // Node would refuse unknown expectations with an empty answer; ignoring them is allowed (RFC 9110, section 10.1.1).
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  server.on("clientError", (error, socket) => connections.refuse(error, socket));
  const close = prepareClose(server, options.trustedProxies > 0 ? PROXY_LINGER_MS : 0);
  if (options.socket === undefined) server.listen(options.port, options.host);
  else server.listen({ fd: options.socket });
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, close };
}

async function answer(incoming: IncomingMessage, response: ServerResponse, options: NodeServerOptions): Promise<void> {
  const { origin, prefix = "", trustedProxies, rateLimit, patienceMs = PATIENCE_MS } = options;
  if (!hasOneHost(incoming)) {
    return send(problem(new TwtxtError("bad-request", "The request needs one Host header.")), response);
  }
  const target = toTarget(incoming);
  incoming.url = AT_ROOT.test(target) ? prefix + target : target;
  response.once("finish", () => {
    // Node.js itself drops a request that nothing has begun to read, once it is complete.
    const isUntouched = incoming.complete && incoming.readableFlowing === null;
    if (!incoming.readableEnded && !isUntouched) drain(incoming);
  });
  const { method } = incoming;
  let isFile = true;
  response.once("close", () => {
    const status = response.writableFinished ? response.statusCode : 0;
    if (isFile) options.onAnswer?.({ route: "file", method, status, seconds: null });
  });
  const { pathname, href: url } = new URL(origin + incoming.url);
  const endpoint = options.findEndpoint(pathname);
  if (!endpoint) return options.serveFile(incoming, response);
  const ask = async () => {
    isFile = false;
    const start = performance.now();
    const address = findAddress(incoming, trustedProxies);
    const { name, rateLimit: kind } = endpoint;
    const refusal = kind && rateLimit(kind, method, address);
    const found = refusal ?? (await endpoint.answer(toRequest(incoming, url, patienceMs), address));
    const counted = refusal
      ? { route: kind, seconds: null }
      : { route: name, seconds: (performance.now() - start) / 1000 };
    options.onAnswer?.({ ...counted, method, status: found.status });
    await send(await compressResponse(found, incoming.headers["accept-encoding"]), response);
  };
  return endpoint.isStaticFirst ? options.serveFile(incoming, response, ask) : ask();
}

/** RFC 9112, section 3.2: HTTP/1.1 needs exactly one Host. */
function hasOneHost({ headersDistinct, httpVersion }: IncomingMessage): boolean {
  const { length = 0 } = headersDistinct.host ?? [];
  return length === 1 || (length === 0 && httpVersion === "1.0");
}

/** Reads an unread body for a moment, so that the client can read the answer. */
function drain(incoming: IncomingMessage): void {
  const timer = setTimeout(() => incoming.destroy(), LINGER_MS);
  incoming.on("close", () => clearTimeout(timer));
  // The stream that it is piped into no longer reads.
  incoming.unpipe().resume();
}

async function send({ status, headers, body }: HttpResponse, response: ServerResponse): Promise<void> {
  response.statusCode = status;
  // Otherwise the client would read the next answer as the rest of one that is too short.
  response.strictContentLength = true;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (body instanceof ReadableStream) await copyBody(body, Number(headers["content-length"]), response);
  else response.end(body);
}

/** @param size - in bytes; 0 if unknown */
async function copyBody(body: ReadableStream<Uint8Array>, size: number, response: ServerResponse): Promise<void> {
  const reader = (size > SMALL_BYTES && byobReader(body)) || body.getReader();
  const next =
    reader instanceof ReadableStreamBYOBReader
      ? withTwoBuffers((buffer) => reader.read(buffer), size)
      : async () => (await reader.read()).value ?? null;
  // A stream without an end would go on after the client has disconnected.
  response.once("close", () => void reader.cancel().catch(() => {}));
  try {
    await copyChunks(next, response);
  } catch (error) {
    await reader.cancel(error).catch(() => {});
    throw error;
  }
}
