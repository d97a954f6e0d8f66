// plugin/transport/http-client.ts: one HTTP/1.1 request, without redirects, whose response is a stream of any length.
//
// undici, and with it the platform's fetch up to Node.js 24, ends the process if a server closes the connection of a
// response while its reader is slow (nodejs/undici#5360). `node:http` pauses the socket instead of the parser.
import { Agent as HttpAgent, type IncomingMessage, request as sendHttp } from "node:http";
import { Agent as HttpsAgent, request as sendHttps } from "node:https";
import { addAbortSignal, pipeline } from "node:stream";
import { readPort } from "../url.js";
import type { ConnectionTarget } from "./transport.js";

/** Idle connections end before those of most servers, which keep them for 5 s or longer. */
const AGENT_OPTIONS = { keepAlive: true, timeout: 4000 };
const HTTP = { send: sendHttp, agent: new HttpAgent(AGENT_OPTIONS) };
const HTTPS = { send: sendHttps, agent: new HttpsAgent({ ...AGENT_OPTIONS, minVersion: "TLSv1.2" }) };

export interface HttpRequest {
  method: string;
  /** By lower-cased name. */
  headers: Record<string, string>;
  body?: string | Uint8Array | AsyncIterable<Uint8Array> | null;
  /** Aborts the request and its response. */
  signal?: AbortSignal | undefined;
  /** Where the connection goes; default: the host of the URL. */
  target?: Omit<ConnectionTarget, "protocol">;
  /** Timeout of the response's head, in milliseconds; default: none. */
  firstByteMs?: number;
}

/**
 * Sends a request over a connection that is kept for a few seconds.
 *
 * @param url - with the protocol `http:` or `https:`
 * @returns the response; errors of its body, an abort included, are thrown to its reader
 * @throws Error without a response
 */
export function sendRequest(url: URL, request: HttpRequest): Promise<IncomingMessage> {
  const { method, headers, body = null, signal, firstByteMs } = request;
  const { host, port, lookup } = request.target ?? {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: readPort(url),
  };
  return new Promise((resolve, reject) => {
    const { send, agent } = url.protocol === "https:" ? HTTPS : HTTP;
    const outgoing = send({
      ...{ agent, method, host, port, path: url.pathname + url.search, headers: { host: url.host, ...headers } },
      ...(lookup && { lookup }),
      ...(signal && { signal }),
    });
    const late = Object.assign(new Error(`no response within ${(firstByteMs ?? 0) / 1000} s`), { code: "ETIMEDOUT" });
    const timer = firstByteMs && setTimeout(() => outgoing.destroy(late), firstByteMs);
    outgoing.once("response", () => clearTimeout(timer)).once("close", () => clearTimeout(timer));
    outgoing.once("response", (incoming) => {
      // Without it, a reader could not tell an abort from a closed connection.
      if (signal) addAbortSignal(signal, incoming);
      // Node.js takes a body of unknown length for whole if its connection is reset.
      const { socket } = incoming;
      const fail = (error: Error) => incoming.destroy(error);
      socket.prependListener("error", fail);
      incoming.once("close", () => socket.off("error", fail));
      resolve(incoming.on("error", () => {}));
    });
    outgoing.on("error", (error) => {
      const isStale = outgoing.reusedSocket && isReset(error) && (method === "GET" || method === "HEAD");
      // The server closed an idle connection at the moment in which it was reused (RFC 9112, section 9.3.1).
      if (isStale && body === null) resolve(sendRequest(url, request));
      else reject(error);
    });
    // Some responses, such as 101, end without any other event.
    outgoing.once("close", () => reject(resetError()));
    const sendBody = () => {
      if (body === null || typeof body === "string" || body instanceof Uint8Array) outgoing.end(body ?? undefined);
      else pipeline(reportError(body, reject), outgoing, () => {});
    };
    outgoing.once("socket", (socket) => {
      // Errors of a handshake have their own codes only before anything is written.
      if (url.protocol === "https:" && !outgoing.reusedSocket) socket.once("secureConnect", sendBody);
      else sendBody();
    });
  });
}

async function* reportError(chunks: AsyncIterable<Uint8Array>, report: (error: unknown) => void) {
  try {
    yield* chunks;
  } catch (error) {
    report(error);
    throw error;
  }
}

/** Whether the other side closed a connection, by FIN or by RST. */
export function isReset(error: unknown): boolean {
  return ["ECONNRESET", "EPIPE", "ERR_STREAM_PREMATURE_CLOSE"].includes(Object(error).code);
}

/** The error for a connection that the other side has closed. */
export function resetError(): Error {
  return Object.assign(new Error("the connection was closed"), { code: "ECONNRESET" });
}
