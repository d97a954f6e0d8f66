// plugin/transport/small-web.ts: reads files over gemini and gopher, as responses like those of HTTP. PROTOCOL 2.8
import { connect, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { connect as connectTls, TLSSocket } from "node:tls";
import { resetError } from "./http-client.js";
import { ReceivedBody } from "./received-body.js";
import type { ConnectionTarget, TransportResponse } from "./transport.js";

export interface ServerCertificate {
  /** SHA-256, as Node.js writes it. */
  fingerprint: string;
  /** Milliseconds since 1970. */
  expires: number;
  /** Whether a known authority has signed it for this host. */
  isAuthorized: boolean;
}

export interface SmallWebRequest {
  target: ConnectionTarget;
  /** The size of the response's body, in bytes. */
  maxBytes: number;
  signal: AbortSignal;
  /** Timeout of the first byte, in milliseconds. */
  firstByteMs: number;
  /** Decides whether to go on. Throws to refuse. */
  checkCertificate(certificate: ServerCertificate): Promise<void>;
}

const LF = 0x0a;
/** A header of gemini: status, space, up to 1,024 bytes, CR LF. */
const HEADER_BYTES = 1029;
/** The statuses of HTTP for those of gemini; others by their first digit. */
const STATUSES: Record<string, number> = { 44: 429, 51: 404, 52: 410, 1: 400, 2: 200, 3: 302, 4: 503, 5: 400, 6: 403 };

/**
 * Requests a URL. The body of a response that may be cut off fails: its end is marked by TLS, or it ends with a line feed.
 *
 * @param url - with the protocol `gemini:` or `gopher:`
 * @throws Error without a response; errors of `checkCertificate`
 */
export async function readSmallWeb(url: URL, request: SmallWebRequest): Promise<TransportResponse> {
  const { signal, firstByteMs, maxBytes } = request;
  signal.throwIfAborted();
  const isGemini = url.protocol === "gemini:";
  const { host, port, lookup } = request.target;
  const tcp = connect({ host, port, ...(lookup && { lookup }) });
  const socket = isGemini ? openTls(tcp, host) : tcp;
  const late = Object.assign(new Error(`no response within ${firstByteMs / 1000} s`), { code: "ETIMEDOUT" });
  const timer = setTimeout(() => socket.destroy(late), firstByteMs);
  const abort = () => socket.destroy(signal.reason);
  signal.addEventListener("abort", abort);
  socket.once("close", () => signal.removeEventListener("abort", abort));
  try {
    await opened(socket, isGemini ? "secureConnect" : "connect");
    if (socket instanceof TLSSocket) {
      const { fingerprint256: fingerprint, valid_to } = socket.getPeerCertificate();
      const expires = Date.parse(valid_to);
      await request.checkCertificate({ fingerprint, expires, isAuthorized: socket.authorized });
    }
    socket.write(isGemini ? `${url.href}\r\n` : `${selector(url)}\r\n`);
    return await receive(socket, isGemini ? readGeminiHead : readGopherHead, maxBytes);
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Opens TLS over a connection. It ends when the server says so, not when the connection does, which an attacker on the way
 * can end: it is closed then. Its reader must not be slow.
 */
function openTls(tcp: Socket, host: string): TLSSocket {
  const carrier = new Duplex({
    read: () => {},
    write: (chunk, _, callback) => void tcp.write(chunk, callback),
    final: (callback) => void tcp.end(callback),
    destroy: (error, callback) => {
      tcp.destroy();
      callback(error);
    },
  });
  // The certificate is checked by its fingerprint, because most gemini servers sign their own.
  const options = { servername: servername(host), rejectUnauthorized: false, minVersion: "TLSv1.2" } as const;
  const socket = connectTls({ socket: carrier, ...options });
  tcp.on("data", (chunk) => carrier.push(chunk));
  tcp.once("error", (error) => socket.destroy(error));
  // After the end that TLS may have read from the last bytes.
  tcp.once("end", () => setImmediate(() => socket.destroy()));
  return socket;
}

/** An IP address is no server name (RFC 6066, section 3). */
function servername(host: string): string {
  return /^[\d.]+$|:/.test(host) ? "" : host;
}

/** The selector without the type of the item: `/0/twtxt.txt` is `/twtxt.txt`. @see RFC 4266 */
function selector({ pathname, search }: URL): string {
  const text = decodeURIComponent(pathname.replace(/^\/[^/]?/, "")) + search;
  // A second line could be a command of another protocol.
  if (/[\x00-\x1f\x7f]/.test(text)) throw new Error("the path contains control characters");
  return text;
}

function opened(socket: Socket, event: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(event, resolve);
    socket.on("error", reject);
    socket.once("close", () => reject(resetError()));
  });
}

type Head = Pick<TransportResponse, "statusCode" | "headersDistinct">;

/** @returns the head and the start of the body; `null` if more bytes are needed. Throws for another protocol */
type ReadHead = (bytes: Buffer) => [head: Head, rest: Buffer] | null;

const readGeminiHead: ReadHead = (bytes) => {
  const end = bytes.indexOf("\r\n");
  if (end < 0 && bytes.length <= HEADER_BYTES) return null;
  const [, status = "", meta = ""] =
    /^([1-6]\d)(?: ([^\r\n]*))?\r\n/.exec(bytes.toString("latin1", 0, HEADER_BYTES)) ?? [];
  if (status === "") throw new Error("the server does not speak gemini");
  const statusCode = STATUSES[status] ?? STATUSES[status.charAt(0)] ?? 400;
  const headers = statusCode === 302 ? { location: [meta] } : { "content-type": [meta || "text/gemini"] };
  return [{ statusCode, headersDistinct: statusCode < 400 ? headers : {} }, bytes.subarray(end + 2)];
};

/** Gopher has no status: a missing file is a menu with an item of type 3, the error. */
const readGopherHead: ReadHead = (bytes) => {
  const isError = /^3[^\t\n]*\t[^\t\n]*\t[^\t\n]*\t\d+\r?\n/.test(bytes.toString("latin1", 0, HEADER_BYTES));
  const headersDistinct = isError ? {} : { "content-type": ["text/plain"] };
  return [{ statusCode: isError ? 404 : 200, headersDistinct }, bytes];
};

function receive(socket: Socket, readHead: ReadHead, maxBytes: number): Promise<TransportResponse> {
  return new Promise((resolve, reject) => {
    const body = new ReceivedBody(maxBytes, (reason) => socket.destroy(reason));
    let begun: Buffer | null = Buffer.alloc(0);
    let last: number | undefined;
    const end = (error: Error | null) => {
      body.end(error);
      reject(error ?? resetError());
    };
    const take = (chunk: Buffer) => {
      last = chunk.at(-1);
      if (begun === null) return body.add(chunk);
      begun = Buffer.concat([begun, chunk]);
      const [head, rest] = readHead(begun) ?? [];
      if (!head || !rest) return;
      begun = null;
      body.add(rest);
      resolve(Object.assign(body, head));
    };
    socket.on("data", (chunk) => {
      try {
        take(chunk);
      } catch (error) {
        socket.destroy(error as Error);
      }
    });
    const finish = (isWhole: boolean) => end(isWhole || last === LF ? null : resetError());
    socket
      .on("error", end)
      .once("end", () => finish(socket instanceof TLSSocket))
      .once("close", () => finish(false));
    if (socket.destroyed) end(resetError());
  });
}
