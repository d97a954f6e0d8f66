// plugin/transport/undici-client.ts: one HTTP/1.1 request to an untrusted server, without redirects, by undici.
//
// undici 7 ends the process if a server closes a connection while undici's parser is paused (nodejs/undici#5360), and it
// pauses the parser when a reader is slower than the network. Here it never is: chunks are kept until they are read, and
// the connection is closed at the limit of the response.
import { Socket } from "node:net";
import { Agent, buildConnector, Client } from "undici";
import { later } from "../later.js";
import { resetError } from "./http-client.js";
import { ReceivedBody } from "./received-body.js";
import type { Route, TransportResponse } from "./transport.js";

export interface UndiciRequest {
  method: string;
  /** By lower-cased name. */
  headers: Record<string, string>;
  body: string | Uint8Array | null;
  /** The size of the response's body as it is sent, in bytes. What arrives beyond it is dropped. */
  maxBytes: number;
  signal: AbortSignal;
}

type Handler = Parameters<Agent["dispatch"]>[1];
type Controller = Parameters<NonNullable<Handler["onRequestStart"]>>[0];

/** undici's code for a connection that the other side has closed. */
const CLOSED = "UND_ERR_SOCKET";

later(loadParser);

/**
 * Creates a function that sends requests, over connections that are kept for a few seconds, to URLs with the protocol `http:`
 * or `https:`. Errors of a response's body are thrown to its reader after the bytes before them. It throws an Error without a
 * response.
 *
 * @param firstByteMs - timeout of a connection, and of the response's head, in milliseconds
 */
export function createUndiciClient(route: Route, firstByteMs: number) {
  const agent = new Agent({ connect: createConnector(route, firstByteMs), pipelining: 1 });
  return ({ origin, pathname, search }: URL, request: UndiciRequest): Promise<TransportResponse> => {
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
      agent.dispatch(
        { ...options, headersTimeout: firstByteMs },
        {
          onRequestStart(started) {
            controller = started;
            if (signal.aborted) abort();
          },
          onResponseStart(_, statusCode, headers) {
            if (statusCode < 200) return;
            const fields = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value ?? ""].flat()]);
            resolve(Object.assign(response, { statusCode, headersDistinct: Object.fromEntries(fields) }));
          },
          onResponseData: (_, chunk) => response.add(chunk),
          onResponseEnd: () => end(null),
          // The system's error for a connection that the other side has closed.
          onResponseError: (_, error) => end((error as NodeJS.ErrnoException).code === CLOSED ? resetError() : error),
        },
      );
    });
  };
}

function createConnector(route: Route, timeout: number): buildConnector.connector {
  return ({ hostname, port, protocol, ...options }, callback) => {
    try {
      const host = hostname.replace(/^\[|\]$/g, "");
      const target = route({ protocol, host, port: Number(port || (protocol === "https:" ? 443 : 80)) });
      const connect = buildConnector({ timeout, minVersion: "TLSv1.2", lookup: target.lookup } as object);
      const to = { ...options, hostname: target.host, port: String(target.port), protocol: target.protocol };
      connect(to, (...[error, socket]: Parameters<buildConnector.Callback>) => {
        // undici takes a body of unknown length for whole if the connection is reset. macOS alone resets after a whole one.
        socket?.prependListener("error", (fault: NodeJS.ErrnoException) => {
          if (fault.code === "ECONNRESET") fault.code = CLOSED;
        });
        error ? callback(error, null) : callback(null, socket);
      });
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
