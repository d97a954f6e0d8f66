// plugin/transport/http-client.ts: one HTTP/1.1 request, without redirects, whose response is a stream of any length.
//
// undici, and with it the platform's fetch up to Node.js 24, ends the process if a server closes the connection of a
// response while its reader is slow (nodejs/undici#5360). `node:http` pauses the socket instead of the parser.
import { Agent as HttpAgent, type IncomingMessage, request as sendHttp } from "node:http";
import { Agent as HttpsAgent, request as sendHttps } from "node:https";
import { addAbortSignal, pipeline } from "node:stream";
import { readPort } from "../url.js";
import { ReceivedBody } from "./received-body.js";
import type { ConnectionTarget, Route, TransportResponse } from "./transport.js";

/** Idle connections end before those of most servers, which keep them for 5 s or longer. */
const AGENT_OPTIONS = { keepAlive: true, timeout: 4000 };
const direct: Route = (target) => target;

export interface HttpRequest {
  method: string;
  /** By lower-cased name. */
  headers: Record<string, string>;
  body?: string | Uint8Array | AsyncIterable<Uint8Array> | null;
  /** Aborts the request and its response. */
  signal?: AbortSignal | undefined;
}

/**
 * Creates a function that sends requests, over connections that are kept for a few seconds, to URLs with the protocol `http:`
 * or `https:`. It returns the response; errors of its body, an abort included, are thrown to its reader. It throws an Error
 * without a response.
 *
 * @param firstByteMs - timeout of a response's head, in milliseconds; default: none
 */
export function createHttpClient(route = direct, firstByteMs?: number) {
  const plain = { send: sendHttp, agent: new HttpAgent(AGENT_OPTIONS) };
  const encrypted = { send: sendHttps, agent: new HttpsAgent({ ...AGENT_OPTIONS, minVersion: "TLSv1.2" }) };
  return (url: URL, request: HttpRequest): Promise<IncomingMessage> => {
    const { protocol } = url;
    const target = route({ protocol, host: url.hostname.replace(/^\[|\]$/g, ""), port: readPort(url) });
    return send(url, request, { target, firstByteMs, ...(target.protocol === "https:" ? encrypted : plain) });
  };
}

/** Sends a request to any host. */
export const sendRequest = createHttpClient();

/** As {@link createHttpClient}, for untrusted servers: a body is received up to its limit, whatever the speed of its reader. */
export function createBoundedClient(route: Route, firstByteMs: number) {
  const sendRequest = createHttpClient(route, firstByteMs);
  return async (url: URL, { maxBytes, ...request }: HttpRequest & { maxBytes: number }): Promise<TransportResponse> => {
    const incoming = await sendRequest(url, request);
    const body = new ReceivedBody(maxBytes, (reason) => incoming.destroy(reason));
    incoming.on("data", (chunk) => body.add(chunk)).once("end", () => body.end(null));
    incoming.on("error", (error) => body.end(error)).once("close", () => body.end(resetError()));
    const { statusCode, headersDistinct, socket } = incoming;
    // Node.js takes a body of unknown length for whole if its connection is reset.
    const fail = (error: Error) => body.end(error);
    socket.prependListener("error", fail);
    incoming.once("close", () => socket.off("error", fail));
    return Object.assign(body, { statusCode, headersDistinct });
  };
}

interface Connecting {
  target: ConnectionTarget;
  firstByteMs: number | undefined;
  send: typeof sendHttp;
  agent: HttpAgent;
}

function send(url: URL, request: HttpRequest, connecting: Connecting): Promise<IncomingMessage> {
  const { method, headers, body = null, signal } = request;
  const { target, firstByteMs, agent } = connecting;
  const { host, port, lookup } = target;
  return new Promise((resolve, reject) => {
    const outgoing = connecting.send({
      ...{ agent, method, host, port, ...(lookup && { lookup }) },
      path: url.pathname + url.search,
      headers: { host: url.host, ...headers },
      ...(signal && { signal }),
    });
    const late = Object.assign(new Error(`no response within ${(firstByteMs ?? 0) / 1000} s`), { code: "ETIMEDOUT" });
    const timer = firstByteMs && setTimeout(() => outgoing.destroy(late), firstByteMs);
    outgoing.once("response", () => clearTimeout(timer)).once("close", () => clearTimeout(timer));
    outgoing.once("response", (incoming) => {
      // Without it, a reader could not tell an abort from a closed connection.
      if (signal) addAbortSignal(signal, incoming);
      resolve(incoming.on("error", () => {}));
    });
    outgoing.on("error", (error) => {
      const isStale = outgoing.reusedSocket && isReset(error) && (method === "GET" || method === "HEAD");
      // The server closed an idle connection at the moment in which it was reused (RFC 9112, section 9.3.1).
      if (isStale && body === null) resolve(send(url, request, connecting));
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
      if (target.protocol === "https:" && !outgoing.reusedSocket) socket.once("secureConnect", sendBody);
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
