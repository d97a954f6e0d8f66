// plugin/transport/small-web.ts: reads files over gemini and gopher, as responses like those of HTTP. PROTOCOL 2.8
import { connect, type Socket } from "node:net";
import { PassThrough, pipeline } from "node:stream";
import { connect as connectTls, type TLSSocket } from "node:tls";
import type { ConnectionTarget, TransportResponse } from "./transport.js";

/** The certificate of a gemini server. */
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
  signal: AbortSignal;
  /** Timeout of the first byte, in milliseconds. */
  firstByteMs: number;
  /** Decides whether to go on. Throws to refuse. */
  checkCertificate(certificate: ServerCertificate): Promise<void>;
}

/** A header of gemini: status, space, up to 1,024 bytes, CR LF. */
const HEADER_BYTES = 1029;
/** The statuses of HTTP for those of gemini; others by their first digit. */
const STATUSES: Record<string, number> = { 44: 429, 51: 404, 52: 410, 1: 400, 2: 200, 3: 302, 4: 503, 5: 400, 6: 403 };

/**
 * Requests a URL.
 *
 * @param url - with the protocol `gemini:` or `gopher:`
 * @throws Error without a response; errors of `checkCertificate`
 */
export async function readSmallWeb(url: URL, request: SmallWebRequest): Promise<TransportResponse> {
  const { signal, firstByteMs } = request;
  signal.throwIfAborted();
  const isGemini = url.protocol === "gemini:";
  const { host, port, lookup } = request.target;
  const options = { host, port, ...(lookup && { lookup }) };
  // The certificate is checked by its fingerprint, because most gemini servers sign their own.
  const tls = { ...options, servername: servername(host), rejectUnauthorized: false, minVersion: "TLSv1.2" } as const;
  const socket = isGemini ? connectTls(tls) : connect(options);
  const late = Object.assign(new Error(`no response within ${firstByteMs / 1000} s`), { code: "ETIMEDOUT" });
  const timer = setTimeout(() => socket.destroy(late), firstByteMs);
  const abort = () => socket.destroy(signal.reason);
  signal.addEventListener("abort", abort);
  socket.once("close", () => signal.removeEventListener("abort", abort));
  try {
    await opened(socket, isGemini ? "secureConnect" : "connect");
    if (isGemini) await request.checkCertificate(readCertificate(socket as TLSSocket));
    socket.write(isGemini ? `${url.href}\r\n` : `${selector(url)}\r\n`);
    return await (isGemini ? readGemini(socket) : readGopher(socket));
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
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
    socket.once("close", () => reject(Object.assign(new Error("the connection was closed"), { code: "ECONNRESET" })));
  });
}

function readCertificate(socket: TLSSocket): ServerCertificate {
  const { fingerprint256: fingerprint, valid_to } = socket.getPeerCertificate();
  return { fingerprint, expires: Date.parse(valid_to), isAuthorized: socket.authorized };
}

async function readGemini(socket: Socket): Promise<TransportResponse> {
  const { head, rest } = await readHead(socket, (bytes) => bytes.includes("\r\n") || bytes.length > HEADER_BYTES);
  const [, status = "", meta = ""] = /^([1-6]\d)(?: ([^\r\n]*))?\r\n/.exec(head) ?? [];
  if (status === "") throw new Error("the server does not speak gemini");
  const statusCode = STATUSES[status] ?? STATUSES[status.charAt(0)] ?? 400;
  const headers = statusCode === 302 ? { location: [meta] } : { "content-type": [meta || "text/gemini"] };
  return asResponse(socket, rest.subarray(rest.indexOf("\r\n") + 2), statusCode, statusCode < 400 ? headers : {});
}

/** Gopher has no status: a missing file is a menu with an item of type 3, the error. */
async function readGopher(socket: Socket): Promise<TransportResponse> {
  const { head, rest } = await readHead(socket, (bytes) => bytes.length > 0);
  const isError = /^3[^\t\n]*\t[^\t\n]*\t[^\t\n]*\t\d+\r?\n/.test(head);
  return asResponse(socket, rest, isError ? 404 : 200, isError ? {} : { "content-type": ["text/plain"] });
}

/** Reads until the head is complete or the stream ends. @throws errors of the socket, and for no bytes */
async function readHead(
  socket: Socket,
  isComplete: (bytes: Buffer) => boolean,
): Promise<{ head: string; rest: Buffer }> {
  let rest = Buffer.alloc(0);
  await new Promise<void>((resolve, reject) => {
    const take = () => {
      for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) rest = Buffer.concat([rest, chunk]);
      if (isComplete(rest)) resolve();
    };
    socket.on("readable", take).once("end", resolve).once("error", reject).once("close", resolve);
    take();
  });
  socket.removeAllListeners("readable");
  if (rest.length === 0) throw Object.assign(new Error("the connection was closed"), { code: "ECONNRESET" });
  return { head: rest.toString("latin1", 0, HEADER_BYTES), rest };
}

function asResponse(
  socket: Socket,
  begun: Buffer,
  statusCode: number,
  headersDistinct: Record<string, string[]>,
): TransportResponse {
  const body = new PassThrough();
  body.on("error", () => {});
  if (begun.length > 0) body.write(begun);
  pipeline(socket, body, () => {});
  return Object.assign(body, { statusCode, headersDistinct });
}
