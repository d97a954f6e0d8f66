// plugin/http/bounded-body.ts: decompression of a response body, with a size limit.
import { pipeline, type Readable } from "node:stream";
import { createGunzip, createInflate } from "node:zlib";
import { TwtxtError } from "../errors.js";
import { limitSize } from "../store/chunks.js";
import { TimeSlices } from "./time-slices.js";

/** Small enough that a reader needs at most about a millisecond for a piece. */
const PIECE_BYTES = 16_384;

/** How much larger than the decompressed limit a compressed body may be: its headers, and parts that are stored as they are. */
export const OVERHEAD_BYTES = 65_536;

/** No Brotli: a few bytes of input can make its decoder allocate 16 MiB before it returns the first byte. */
const DECOMPRESSORS: Record<string, (() => NodeJS.ReadWriteStream) | undefined> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
};

/**
 * Decompresses a body in pieces, up to a limit. The event loop runs between the pieces, because eight kilobytes of gzip
 * can expand to eight megabytes.
 *
 * @param encoding - the `Content-Encoding` of the response
 * @param maxBytes - limit after decompression; the compressed body may be 64 KiB larger, since an empty one can be endless
 * @param signal - aborts the body
 * @throws TwtxtError `bad-compression` for an unknown, repeated or damaged encoding; `too-large`
 */
export async function* boundedBody(
  body: Readable,
  encoding: string | undefined,
  maxBytes: number,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  let left = maxBytes;
  const slices = new TimeSlices(signal);
  for await (const chunk of decompress(body, encoding, maxBytes)) {
    // The bytes before the limit may be all that the caller needs.
    for (let start = 0; start < Math.min(chunk.length, left); start += PIECE_BYTES) {
      if (slices.isOver) await slices.next();
      yield chunk.subarray(start, Math.min(start + PIECE_BYTES, left));
    }
    left -= chunk.length;
    if (left < 0) throw tooLarge(maxBytes);
  }
}

async function* decompress(body: Readable, encoding = "identity", maxBytes: number): AsyncIterable<Uint8Array> {
  const name = encoding.trim().toLowerCase() || "identity";
  if (name === "identity") return yield* body as AsyncIterable<Uint8Array>;
  const decompressor = Object.hasOwn(DECOMPRESSORS, name) ? DECOMPRESSORS[name]?.() : undefined;
  if (!decompressor) throw badCompression(`"${encoding.slice(0, 80)}" is not supported`);

  // Errors of either stream are thrown by the second one.
  pipeline(
    limitSize(body, maxBytes + OVERHEAD_BYTES, () => tooLarge(maxBytes)),
    decompressor,
    () => {},
  );
  try {
    yield* decompressor as unknown as AsyncIterable<Uint8Array>;
  } catch (error) {
    const isZlibError = String((error as NodeJS.ErrnoException).code).startsWith("Z_");
    throw isZlibError ? badCompression((error as Error).message) : error;
  } finally {
    body.destroy();
  }
}

function tooLarge(maxBytes: number): TwtxtError {
  return new TwtxtError("too-large", `The answer is larger than ${maxBytes} bytes.`);
}

function badCompression(why: string): TwtxtError {
  return new TwtxtError("bad-compression", `The answer cannot be decompressed: ${why}.`);
}
