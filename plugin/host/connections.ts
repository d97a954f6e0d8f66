// plugin/host/connections.ts: the connections of a server: requests in order, and those that cannot be parsed.
import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { TwtxtError } from "../errors.js";
import { remember } from "../groups.js";
import { type HttpResponse, problem } from "../http/respond.js";

/** Maximum number of requests that wait on a connection. No browser pipelines even two. */
const MAX_WAITING = 100;

interface Connection {
  /** The response to the current request. */
  current: ServerResponse | null;
  /** Fulfilled when the latest request is answered. */
  latestClosed: Promise<void>;
  /** Requests that wait or are being handled. */
  waiting: number;
  /** Requests whose response is not closed. */
  open: number;
}

export class Connections {
  readonly #connections = new WeakMap<Duplex, Connection>();
  /** Connections between two requests, the longest idle first. */
  readonly #idle = new Set<Duplex>();

  /** @param maxIdle - beyond it, the connection that has been idle longest is closed */
  constructor(private readonly maxIdle: number) {}

  /**
   * Runs the work for a request when the requests before it on the same connection are answered (HTTP/1.1 pipelining).
   * Without this, a client that sends a thousand requests in one packet would make the server open a thousand files.
   */
  async run(socket: Duplex, response: ServerResponse, work: () => Promise<void>): Promise<void> {
    const connection = remember(this.#connections, socket, (): Connection => {
      socket.once("close", () => this.#idle.delete(socket));
      return { current: null, latestClosed: Promise.resolve(), waiting: 0, open: 0 };
    });
    this.#idle.delete(socket);
    const previousClosed = connection.latestClosed;
    connection.latestClosed = new Promise((resolve) => response.once("close", resolve));
    connection.waiting += 1;
    connection.open += 1;
    response.once("close", () => {
      connection.open -= 1;
      if (connection.open === 0) this.#keepIdle(socket);
    });
    if (connection.waiting > MAX_WAITING) socket.destroy();
    await previousClosed;
    connection.current = response;
    if (!socket.destroyed) await work();
    connection.waiting -= 1;
  }

  #keepIdle(socket: Duplex): void {
    if (socket.destroyed) return;
    this.#idle.add(socket);
    const [oldest] = this.#idle;
    if (this.#idle.size > this.maxIdle) oldest?.destroy();
  }

  /**
   * Answers a `clientError` event of Node.js like all other errors, and closes the connection. There is no
   * answer while a response is being sent.
   */
  refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
    const response = this.#connections.get(socket)?.current;
    const isSending = response?.headersSent && !response.writableFinished;
    if (!socket.writable || isSending || error.code === "ECONNRESET") socket.destroy();
    else socket.end(httpText(problem(toError(error))), () => socket.destroy());
  }
}

function toError({ code }: NodeJS.ErrnoException): TwtxtError {
  if (code === "HPE_HEADER_OVERFLOW") return new TwtxtError("headers-too-large", "The headers are larger than 16 KiB.");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return new TwtxtError("too-slow", "The headers arrived too slowly.");
  return new TwtxtError("bad-request", "This is not an HTTP request.");
}

/** A whole response as it is sent. */
function httpText({ status, headers, body }: HttpResponse): string {
  const fields = { ...headers, "content-length": Buffer.byteLength(String(body)), connection: "close" };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  return `${[`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines].join("\r\n")}\r\n\r\n${body}`;
}
