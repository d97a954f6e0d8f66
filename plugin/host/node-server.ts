// plugin/host/node-server.ts: the handlers and the built site on any Node host.
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { TwtxtError } from "../errors.js";
import { isPublicAddress } from "../http/public-address.js";
import { type Handler, type Log, problem } from "../http/respond.js";
import { clientOf, type RateLimit } from "./rate-limit.js";
import { pathOf, targetOf } from "./request-target.js";

/** Longer than a verification takes, so that a request that is under way at the end is answered. */
const GRACE_MS = 15_000;
const LINGER_MS = 1_000;
/** A chunk costs some hundred bytes and a moment, even where it holds one byte: after so many they have to hold more. */
const FREE_CHUNKS = 1000;
const LEAST_CHUNK = 16;
/** What Node calls it when the other side has hung up. Nobody is left to answer then, and it is no news to the owner. */
const GONE = ["ECONNRESET", "EPIPE", "ERR_STREAM_PREMATURE_CLOSE", "ERR_STREAM_UNABLE_TO_PIPE"];

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
  /** @returns the handler of a path; `null` where the site's own files answer */
  route(path: string): Handler | null;
  /** @returns with what the rate limit counts requests to this path; `null` where it does not */
  limitOf(path: string): string | null;
  /** Answers with a file of the site. */
  serveFile(request: IncomingMessage, response: ServerResponse): void;
  rateLimit: RateLimit;
  /** How many proxies stand before us. */
  trustedProxies: number;
  log: Log;
}

/** Starts the server; the promise is fulfilled once it listens. */
export async function nodeServer(options: NodeServerOptions): Promise<NodeServer> {
  let isWarned = options.trustedProxies > 0;
  const server = createServer((request, response) => {
    if (!isWarned && comesByProxy(request)) {
      isWarned = true;
      options.log("A web server stands before this one, and all senders count as one address. Give --trust-proxy 1.");
    }
    void answer(request, response, options).catch((error) => {
      if (!isGone(error)) options.log(`${request.method} ${pathOf(request)}: ${(error as Error).message}`);
      response.destroy();
    });
  });
  server.listen(options.port, options.host);
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, close: () => close(server) };
}

/** A stranger's own peer address is a public one. */
function comesByProxy({ headers, socket }: IncomingMessage): boolean {
  return headers["x-forwarded-for"] !== undefined && !isPublicAddress(socket.remoteAddress ?? "");
}

async function answer(incoming: IncomingMessage, response: ServerResponse, options: NodeServerOptions): Promise<void> {
  const handler = options.route(pathOf(incoming));
  if (!handler) return options.serveFile(incoming, response);
  // There is no Request with this method.
  if (incoming.method === "TRACE") return send(problem(new TwtxtError("method-not-allowed", "No TRACE.")), response);
  const client = clientOf(incoming, options.trustedProxies);
  const kind = options.limitOf(pathOf(incoming));
  const refused = kind === null ? null : options.rateLimit(kind, incoming.method, client);
  await send(refused ?? (await handler(requestOf(incoming, options.origin), client)), response);
  if (!incoming.complete) letGo(incoming);
}

/** What was not read of a body goes by for a moment, so that the sender gets to read the answer. */
function letGo(incoming: IncomingMessage): void {
  const timer = setTimeout(() => incoming.destroy(), LINGER_MS);
  incoming.on("close", () => clearTimeout(timer)).resume();
}

function requestOf(incoming: IncomingMessage, origin: string): Request {
  const { method = "GET" } = incoming;
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(incoming.headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(origin + targetOf(incoming), {
    method,
    headers,
    ...(hasBody && { body: bodyOf(incoming), duplex: "half" }),
  });
}

/** By way of another stream: a handler that stops reading would end the connection, and its own answer with it. */
function bodyOf(incoming: IncomingMessage): ReadableStream {
  const body = new PassThrough();
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
  return Readable.toWeb(incoming.pipe(body)) as ReadableStream;
}

function isGone(error: Error): boolean {
  const { code = "" } = (error.cause ?? error) as NodeJS.ErrnoException;
  return GONE.includes(code);
}

async function send(answer: Response, response: ServerResponse): Promise<void> {
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers) response.appendHeader(name, value);
  if (answer.body === null) response.end();
  else await pipeline(Readable.fromWeb(answer.body as never), response);
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
