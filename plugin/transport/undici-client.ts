// plugin/transport/undici-client.ts: one HTTP/1.1 request to an untrusted server, without redirects, by undici.
//
// undici 7 ends the process if a server closes a connection while undici's parser is paused (nodejs/undici#5360), and it
// pauses the parser when a reader is slower than the network. Here it never is: chunks are kept until they are read, and
// the connection is closed at the limit of the response.
import { Socket } from "node:net";
import { Readable } from "node:stream";
import { Agent, buildConnector, Client } from "undici";
import { later } from "../later.js";
import { resetError } from "./http-client.js";
import type { Route, TransportResponse } from "./transport.js";

export interface UndiciRequest {
  method: string;
  /** By lower-cased name. */
  headers: Record<string, string>;
  body: string | null;
  /** The size of the response's body as it is sent, in bytes. What arrives beyond it is dropped. */
  maxBytes: number;
  /** Aborts the request and its response. */
  signal: AbortSignal;
}

type Handler = Parameters<Agent["dispatch"]>[1];
type Controller = Parameters<NonNullable<Handler["onRequestStart"]>>[0];
type Headers = Parameters<NonNullable<Handler["onResponseStart"]>>[2];

later(loadParser);

/** Sends requests over connections that are kept for a few seconds. */
export class UndiciClient {
  readonly #agent: Agent;
  readonly #firstByteMs: number;

  /** @param firstByteMs - timeout of a connection, and of the response's head, in milliseconds */
  constructor(route: Route, firstByteMs: number) {
    this.#agent = new Agent({ connect: createConnector(route, firstByteMs), pipelining: 1 });
    this.#firstByteMs = firstByteMs;
  }

  /**
   * @param url - with the protocol `http:` or `https:`
   * @returns the response; errors of its body are thrown to its reader after the bytes before them
   * @throws Error without a response
   */
  send({ origin, pathname, search }: URL, request: UndiciRequest): Promise<TransportResponse> {
    const { method, headers, body, maxBytes, signal } = request;
    return new Promise((resolve, reject) => {
      let controller: Controller | undefined;
      const response = new ReceivedBody(maxBytes, (reason) => controller?.abort(reason));
      const end = (error: Error | null) => {
        signal.removeEventListener("abort", abort);
        response.end(error);
        if (error) reject(error);
      };
      const abort = () => {
        controller?.abort(signal.reason);
        end(signal.reason);
      };
      signal.addEventListener("abort", abort);
      const options = { origin, path: pathname + search, method: method as "GET", headers, body };
      this.#agent.dispatch(
        { ...options, headersTimeout: this.#firstByteMs },
        {
          onRequestStart(started) {
            controller = started;
            if (signal.aborted) abort();
          },
          onResponseStart(_, statusCode, headers) {
            const head = { statusCode, headersDistinct: toDistinct(headers) };
            if (statusCode >= 200) resolve(Object.assign(response, head));
          },
          onResponseData: (_, chunk) => response.add(chunk),
          onResponseEnd: () => end(null),
          onResponseError: (_, error) => end(toSystemError(error)),
        },
      );
    });
  }
}

/** A body that takes all chunks when they arrive, up to its limit, and gives them to a reader of any speed. */
class ReceivedBody extends Readable {
  readonly #maxBytes: number;
  readonly #abort: (reason: Error) => void;
  /** The bytes that wait for the reader, `#waiting` of them. A chunk for each byte would take a hundred times the memory. */
  #buffer = Buffer.alloc(0);
  #waiting = 0;
  #size = 0;
  #isWanted = false;
  #isEnded = false;
  #error: Error | null = null;

  constructor(maxBytes: number, abort: (reason: Error) => void) {
    super({ highWaterMark: 0 });
    this.#maxBytes = maxBytes;
    this.#abort = abort;
    // A reader gets it, but the body of a redirect has none.
    this.on("error", () => {});
  }

  add(chunk: Uint8Array): void {
    if (this.#isEnded) return;
    this.#keep(chunk);
    this.#size += chunk.length;
    if (this.#size > this.#maxBytes) this.#abort(new Error(`The response is larger than ${this.#maxBytes} bytes.`));
    else this.#pass();
  }

  end(error: Error | null): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#error = error;
    this.#pass();
  }

  override _read(): void {
    this.#isWanted = true;
    this.#pass();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    if (!this.#isEnded) this.#abort(error ?? new Error("The response is not needed."));
    callback(error);
  }

  /** Copies a chunk, since it may be one byte of a large buffer. */
  #keep(chunk: Uint8Array): void {
    const length = this.#waiting + chunk.length;
    if (length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.#buffer.length));
      this.#buffer.copy(larger, 0, 0, this.#waiting);
      this.#buffer = larger;
    }
    this.#buffer.set(chunk, this.#waiting);
    this.#waiting = length;
  }

  /** One push for each call of `_read`: an error drops bytes that were pushed and not read yet. */
  #pass(): void {
    if (!this.#isWanted || (this.#waiting === 0 && !this.#isEnded)) return;
    const bytes = this.#buffer.subarray(0, this.#waiting);
    this.#isWanted = false;
    this.#buffer = Buffer.alloc(0);
    this.#waiting = 0;
    if (bytes.length > 0) this.push(bytes);
    else if (this.#error) this.destroy(this.#error);
    else this.push(null);
  }
}

/** The system's error for a connection that the other side has closed. */
function toSystemError(error: Error): Error {
  const isClosed = (error as NodeJS.ErrnoException).code === "UND_ERR_SOCKET";
  return isClosed ? resetError() : error;
}

function toDistinct(headers: Headers): Record<string, string[]> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value ?? ""].flat()]));
}

function createConnector(route: Route, timeout: number): buildConnector.connector {
  return ({ hostname, port, protocol, ...options }, callback) => {
    try {
      const host = hostname.replace(/^\[|\]$/g, "");
      const target = route({ protocol, host, port: Number(port || (protocol === "https:" ? 443 : 80)) });
      const connect = buildConnector({ timeout, minVersion: "TLSv1.2", lookup: target.lookup } as object);
      connect({ ...options, hostname: target.host, port: String(target.port), protocol: target.protocol }, callback);
    } catch (error) {
      callback(error as Error, null);
    }
  };
}

/** Loads undici's parser of responses, which it loads at the first connection otherwise. Connects to nothing. */
async function loadParser(): Promise<void> {
  const reason = new Error("This socket only makes undici load its parser.");
  const socket = new Socket().on("error", () => {}).destroy(reason);
  const client = new Client("http://localhost", { connect: (_, callback) => callback(null, socket) });
  await client.request({ path: "/", method: "GET" }).catch(() => {});
  await client.destroy();
}
