// plugin/blobs/serve/incoming.ts: contents of an upload, checked while they arrive.
import { TwtxtError } from "../../errors.js";
import type { HttpRequest } from "../../http/respond.js";
import { contentDigest } from "../../http/sign-request.js";
import { digestMismatch } from "../../http/signature.js";
import { ChunkMeter, type Chunks, checkSize, concatChunks, limitSize } from "../../store/chunks.js";

/** Limit of uploads without Content-Length, which are held in memory. */
const MAX_UNKNOWN_BYTES = 4 * 2 ** 20;

/**
 * @param digest - the signed digest of the contents, `sha-256=:...:`; `null` for no contents
 * @returns their size in bytes, the contents, which may be read once, and then their SHA-256 in hex
 * @throws TwtxtError `body-too-large`, `length-required`, `bad-request`; while the contents are read, `bad-request` if they
 *   end early or have another size, and `not-signed` if the digest differs
 */
export async function openUpload(
  request: HttpRequest,
  { digest, maxBytes }: { digest: string | null; maxBytes: number },
): Promise<{ size: number; chunks: AsyncIterable<Uint8Array>; sha256(): string }> {
  const { body, size } = await sizedBody(request, maxBytes);
  const meter = new ChunkMeter();
  const wrongSize = () =>
    new TwtxtError("bad-request", `The body does not have the ${size} bytes of "Content-Length".`);
  const chunks = async function* () {
    yield* checkSize(meter.pass(body), size, wrongSize);
    const received = contentDigest(Buffer.from(meter.sha256(), "hex"));
    if (digest === null ? size > 0 : digest !== received) throw digestMismatch();
  };
  return { size, chunks: chunks(), sha256: () => meter.sha256() };
}

/** A body without Content-Length is read into memory. */
async function sizedBody(request: HttpRequest, maxBytes: number) {
  const length = request.headers.get("content-length");
  const body = withRequestErrors(request.body ?? []);
  if (length !== null) {
    const size = /^\d{1,15}$/.test(length) ? Number(length) : Number.NaN;
    if (Number.isNaN(size)) throw new TwtxtError("bad-request", '"Content-Length" is not a number.');
    if (size > maxBytes) throw tooLarge(maxBytes);
    return { body, size };
  }
  const limited = limitSize(body, maxBytes, () => tooLarge(maxBytes));
  const lengthRequired = () => new TwtxtError("length-required", 'Send a "Content-Length".');
  const whole = await concatChunks(limitSize(limited, MAX_UNKNOWN_BYTES, lengthRequired));
  return { body: withRequestErrors([whole]), size: whole.length };
}

/** Reports a body that ends early as an error of the client, not of the storage. */
async function* withRequestErrors(chunks: Chunks): AsyncIterable<Uint8Array> {
  try {
    yield* chunks;
  } catch (cause) {
    throw cause instanceof TwtxtError ? cause : new TwtxtError("bad-request", "The request ended early.", { cause });
  }
}

function tooLarge(maxBytes: number): TwtxtError {
  return new TwtxtError("body-too-large", `A blob may have at most ${maxBytes} bytes.`);
}
