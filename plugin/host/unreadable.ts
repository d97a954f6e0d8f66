// plugin/host/unreadable.ts: answers to what cannot be read as a request, in the form of all others.
import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { TwtxtError } from "../errors.js";
import { problem } from "../http/respond.js";

/** The trouble with what comes in on a connection. */
export interface Unreadable {
  /** Notes to which request an answer is made on a connection. */
  answering(socket: Duplex, response: ServerResponse): void;
  /** Answers what Node calls a `clientError`, and ends the connection. Nothing gets into an answer that is on its way. */
  refuse(error: NodeJS.ErrnoException, socket: Duplex): void;
}

export function unreadable(): Unreadable {
  const latest = new WeakMap<Duplex, ServerResponse>();
  return {
    answering: (socket, response) => void latest.set(socket, response),
    refuse(error, socket) {
      const response = latest.get(socket);
      const isUnderWay = response?.headersSent && !response.writableFinished;
      if (!socket.writable || isUnderWay || error.code === "ECONNRESET") socket.destroy();
      else void textOf(problem(errorOf(error))).then((text) => socket.end(text, () => socket.destroy()));
    },
  };
}

function errorOf({ code }: NodeJS.ErrnoException): TwtxtError {
  if (code === "HPE_HEADER_OVERFLOW") return new TwtxtError("headers-too-large", "The headers are larger than 16 KiB.");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return new TwtxtError("too-slow", "The headers come too slowly.");
  return new TwtxtError("bad-request", "This is no request of HTTP.");
}

async function textOf(answer: Response): Promise<string> {
  const body = await answer.text();
  const headers = [...answer.headers].map(([name, value]) => `${name}: ${value}`);
  const length = `content-length: ${Buffer.byteLength(body)}`;
  const lines = [`HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}`, ...headers, length, "connection: close"];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}
