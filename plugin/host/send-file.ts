// plugin/host/send-file.ts: sends a file: conditional requests, ranges and compression.
import { open } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import mime from "mime";
import { TwtxtError } from "../errors.js";
import { checkConditions, isNotModified, readRange } from "../http/conditions.js";
import type { Range } from "../store/store.js";
import type { StaticFile } from "./static-files.js";

/** The largest useful size of a buffer. */
const BUFFER_BYTES = 256 * 1024;
/** Types that are sent with a charset, because they are text and do not name one themselves. */
const HAS_CHARSET = /^(?:text\/|application\/(?:json|manifest\+json)$)/;

export interface FileResponse {
  file: StaticFile;
  /** The encoding of the file's bytes, and the type of what is encoded; `null` for a plain file. */
  encoding: "br" | "gzip" | null;
  type: string;
  /** 200, or a status that is sent whatever the conditions of the request are. */
  status: number;
  headers: Record<string, string>;
}

/** The media type of a file by its name, with its charset. */
export function findType(path: string): string {
  const type = mime.getType(path) ?? "application/octet-stream";
  return HAS_CHARSET.test(type) ? `${type}; charset=utf-8` : type;
}

/**
 * Answers a GET or HEAD request with a file. Ranges of compressed files and of other statuses are not offered.
 *
 * @throws TwtxtError `precondition-failed`, `range-not-satisfiable` before anything is sent
 * @see RFC 9110, 13 and 14
 */
export async function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  answer: FileResponse,
): Promise<void> {
  const { file, encoding, type, status, headers } = answer;
  const conditional = toConditional(request);
  const hasRanges = encoding === null && status === 200;
  response.setHeaders(new Map(Object.entries(headers)));
  response.setHeader("cache-control", "public, max-age=0");
  response.setHeader("etag", file.etag);
  response.setHeader("last-modified", file.modified.toUTCString());
  if (status === 200) {
    checkConditions(conditional, file);
    if (isNotModified(conditional, file)) return void response.writeHead(304).end();
  }
  const range = hasRanges && request.method === "GET" ? readRange(conditional, file.etag, file.size) : null;
  if (range === "none") throw new TwtxtError("range-not-satisfiable", "The range is outside the file.");
  response.setHeader("content-type", headers["content-type"] ?? type);
  response.setHeader("content-length", range ? range.last - range.first + 1 : file.size);
  if (encoding) response.setHeader("content-encoding", encoding);
  if (hasRanges) response.setHeader("accept-ranges", "bytes");
  if (range) response.setHeader("content-range", `bytes ${range.first}-${range.last}/${file.size}`);
  response.writeHead(range ? 206 : status);
  if (request.method === "HEAD") response.end();
  else await sendContents(response, file, range ?? { first: 0, last: file.size - 1 });
}

async function sendContents(response: ServerResponse, { contents, path }: StaticFile, { first, last }: Range) {
  if (contents) return void response.end(contents.subarray(first, last + 1));
  // If the file shrinks meanwhile, the client notices that the response is cut off.
  response.strictContentLength = true;
  const file = await open(path);
  try {
    let position = first;
    const readInto = async (buffer: Uint8Array<ArrayBuffer>) => {
      const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, last + 1 - position), position);
      position += bytesRead;
      return { value: buffer.subarray(0, bytesRead), done: bytesRead === 0 };
    };
    await copyChunks(withTwoBuffers(readInto, last + 1 - first), response);
  } finally {
    await file.close();
  }
}

function toConditional({ method = "GET", headers }: IncomingMessage) {
  const get = (name: string) => headers[name]?.toString() ?? null;
  return { method, headers: { get, has: (name: string) => headers[name] !== undefined } };
}

/** Reads the next chunk; `null` at the end. */
type ReadChunk = () => Promise<Uint8Array | null>;

/**
 * Reads with two buffers by turns: a new one for each chunk would take most of the time and 30 MiB of memory.
 *
 * @param read - fills the buffer, which it may replace by another one of the same size; returns the part with data
 * @param size - of all chunks, in bytes
 */
export function withTwoBuffers(
  read: (buffer: Uint8Array<ArrayBuffer>) => Promise<{ value?: Uint8Array | undefined; done: boolean }>,
  size: number,
): ReadChunk {
  const length = Math.min(size, BUFFER_BYTES);
  // Not filled with zeros, which took a quarter of the processor time of a megabyte: only the part with data is sent.
  const allocate = () => Buffer.allocUnsafeSlow(length).buffer as ArrayBuffer;
  let [buffer, spare] = [allocate(), allocate()];
  return async () => {
    const { value, done } = await read(new Uint8Array(buffer));
    if (done || !value) return null;
    [buffer, spare] = [spare, value.buffer as ArrayBuffer];
    return value;
  };
}

/**
 * Copies chunks into a response, and ends it. While one is sent, the next one is read, so that a short response and its end
 * are sent together.
 */
export async function copyChunks(next: ReadChunk, response: ServerResponse): Promise<void> {
  let sent = Promise.resolve();
  for (let chunk = await next(); chunk; chunk = await next()) {
    await sent;
    sent = write(response, chunk);
    sent.catch(() => {});
  }
  // After a disconnect, the source ends before its length.
  if (!response.destroyed) response.end();
  await sent;
}

function write(response: ServerResponse, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    response.write(chunk, (error) => (error ? reject(error) : resolve()));
  });
}
