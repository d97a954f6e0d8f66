// plugin/http/bounded-body.ts: the body of an answer, decompressed and never larger than asked for.
import { pipeline, type Readable } from "node:stream";
import { createGunzip, createInflate } from "node:zlib";
import { TwtxtError } from "../errors.js";
import { TimeSlices } from "./time-slices.js";

/** A reader's work on a piece takes about a millisecond at most. */
const PIECE_BYTES = 16_384;

/** Not Brotli: before its decoder returns the first byte, it can fill a window of 16 MiB from some bytes of input. */
const DECOMPRESSORS: Record<string, (() => NodeJS.ReadWriteStream) | undefined> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
};

/**
 * Reads a body piece by piece, so that ten gigabytes of zeros cost no more than the first ones. The event loop runs between the
 * pieces, also where all of them are there already: eight kilobytes of gzip are eight megabytes.
 *
 * @param encoding - the answer's `Content-Encoding`
 * @param maxBytes - counted after decompression
 * @param signal - ends the body, whatever has arrived of it
 * @throws TwtxtError `bad-compression` for an encoding that is not known, repeated or broken; `too-large`
 */
export async function* boundedBody(
  body: Readable,
  encoding: string | undefined,
  maxBytes: number,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  let size = 0;
  for await (const chunk of piecesOf(decompressed(body, encoding), signal)) {
    size += chunk.length;
    if (size > maxBytes) {
      // What stands before the limit may be all that is wanted.
      yield chunk.subarray(0, chunk.length - (size - maxBytes));
      throw new TwtxtError("too-large", `The answer is larger than ${maxBytes} bytes.`);
    }
    yield chunk;
  }
}

async function* piecesOf(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncIterable<Uint8Array> {
  const slices = new TimeSlices(signal);
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += PIECE_BYTES) {
      if (slices.isOver) await slices.next();
      yield chunk.subarray(start, start + PIECE_BYTES);
    }
  }
}

async function* decompressed(body: Readable, encoding = "identity"): AsyncIterable<Uint8Array> {
  const name = encoding.trim().toLowerCase() || "identity";
  if (name === "identity") return yield* body as AsyncIterable<Uint8Array>;
  const decompressor = Object.hasOwn(DECOMPRESSORS, name) ? DECOMPRESSORS[name]?.() : undefined;
  if (!decompressor) throw badCompression(`"${encoding.slice(0, 80)}" is not asked for`);

  // Errors of either stream reach whoever reads the second one.
  pipeline(body, decompressor, () => {});
  try {
    yield* decompressor as unknown as AsyncIterable<Uint8Array>;
  } catch (error) {
    const isOfZlib = String((error as NodeJS.ErrnoException).code).startsWith("Z_");
    throw isOfZlib ? badCompression((error as Error).message) : error;
  } finally {
    body.destroy();
  }
}

function badCompression(why: string): TwtxtError {
  return new TwtxtError("bad-compression", `The answer cannot be decompressed: ${why}.`);
}
