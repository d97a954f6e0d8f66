// plugin/http/bounded-body.ts: the body of an answer, decompressed and never larger than asked for.
import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { TwtxtError } from "../errors.js";

const DECOMPRESSORS: Record<string, (() => NodeJS.ReadWriteStream) | undefined> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/**
 * Reads a body chunk by chunk, so that ten gigabytes of zeros cost no more than the first ones.
 *
 * @param encoding - the answer's `Content-Encoding`
 * @param maxBytes - counted after decompression
 * @throws TwtxtError `bad-compression` for an encoding that is not known, repeated or broken; `too-large`
 */
export async function* boundedBody(
  body: Readable,
  encoding: string | undefined,
  maxBytes: number,
): AsyncIterable<Uint8Array> {
  let size = 0;
  for await (const chunk of decompressed(body, encoding)) {
    size += chunk.length;
    if (size > maxBytes) {
      // What stands before the limit may be all that is wanted.
      yield chunk.subarray(0, chunk.length - (size - maxBytes));
      throw new TwtxtError("too-large", `The answer is larger than ${maxBytes} bytes.`);
    }
    yield chunk;
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
    const isOfZlib = /^(Z_|ERR_)/.test(String((error as NodeJS.ErrnoException).code)) && !body.errored;
    throw isOfZlib ? badCompression((error as Error).message) : error;
  } finally {
    body.destroy();
  }
}

function badCompression(why: string): TwtxtError {
  return new TwtxtError("bad-compression", `The answer cannot be decompressed: ${why}.`);
}
