// plugin/host/client-errors.ts: answers requests that Node.js could not parse.
import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { TwtxtError } from "../errors.js";
import { problem } from "../http/respond.js";

/** Answers `clientError` events of Node.js in the format of all other errors. */
export class ClientErrors {
  readonly #latest = new WeakMap<Duplex, ServerResponse>();

  /** Records the current response of a connection. */
  track(socket: Duplex, response: ServerResponse): void {
    this.#latest.set(socket, response);
  }

  /** Answers and closes the connection. If a response is under way, the connection is closed without an answer. */
  refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
    const response = this.#latest.get(socket);
    const isUnderWay = response?.headersSent && !response.writableFinished;
    if (!socket.writable || isUnderWay || error.code === "ECONNRESET") socket.destroy();
    else void textOf(problem(errorOf(error))).then((text) => socket.end(text, () => socket.destroy()));
  }
}

function errorOf({ code }: NodeJS.ErrnoException): TwtxtError {
  if (code === "HPE_HEADER_OVERFLOW") return new TwtxtError("headers-too-large", "The headers are larger than 16 KiB.");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return new TwtxtError("too-slow", "The headers arrived too slowly.");
  return new TwtxtError("bad-request", "This is not an HTTP request.");
}

async function textOf(answer: Response): Promise<string> {
  const body = await answer.text();
  const headers = [...answer.headers].map(([name, value]) => `${name}: ${value}`);
  const length = `content-length: ${Buffer.byteLength(body)}`;
  const lines = [`HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}`, ...headers, length, "connection: close"];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}
