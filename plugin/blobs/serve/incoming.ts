// plugin/blobs/serve/incoming.ts: the contents of an upload, checked while they stream in.
import { createHash } from "node:crypto";
import { TwtxtError } from "../../errors.js";
import { contentDigest, digestMismatch } from "../../http/signature.js";

/** Limit for uploads without Content-Length. */
const UNSAID_BYTES = 4 * 2 ** 20;

/** Contents under way. */
export interface Incoming {
  /** In bytes, from Content-Length. */
  size: number;
  /**
   * The contents, once.
   *
   * @throws TwtxtError `bad-request` if they break off or have another size; `not-signed` if the digest differs
   */
  chunks(): AsyncIterable<Uint8Array>;
  /** SHA-256 of the received contents, in hex. */
  sha256(): string;
}

/**
 * @param digest - what is signed of them, `sha-256=:...:`; `null` for no contents
 * @throws TwtxtError `body-too-large`, `length-required`, `bad-request`
 */
export async function incoming(
  request: Request,
  { digest, maxBytes }: { digest: string | null; maxBytes: number },
): Promise<Incoming> {
  const { body, size } = await sized(request, maxBytes);
  const hash = createHash("sha256");
  return {
    size,
    async *chunks() {
      let come = 0;
      for await (const chunk of body) {
        come += chunk.length;
        if (come > size) throw otherSize(size);
        hash.update(chunk);
        yield chunk;
      }
      if (come < size) throw otherSize(size);
      if (digest === null ? size > 0 : digest !== contentDigest(hash.copy().digest())) throw digestMismatch();
    },
    sha256: () => hash.copy().digest("hex"),
  };
}

async function sized(request: Request, maxBytes: number): Promise<{ body: AsyncIterable<Uint8Array>; size: number }> {
  const said = request.headers.get("content-length");
  const body = unbroken(request.body ?? []);
  if (said !== null) {
    const size = /^\d{1,15}$/.test(said) ? Number(said) : Number.NaN;
    if (Number.isNaN(size)) throw new TwtxtError("bad-request", '"Content-Length" is not a number.');
    if (size > maxBytes) throw tooLarge(maxBytes);
    return { body, size };
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    if (size > UNSAID_BYTES) throw new TwtxtError("length-required", 'Send a "Content-Length".');
    chunks.push(chunk);
  }
  return { body: unbroken(chunks), size };
}

/** That a body breaks off is not the storage's fault. */
async function* unbroken(chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    yield* chunks;
  } catch (cause) {
    if (cause instanceof TwtxtError) throw cause;
    throw new TwtxtError("bad-request", "The request ended early.", { cause });
  }
}

function tooLarge(maxBytes: number): TwtxtError {
  return new TwtxtError("body-too-large", `A blob may have at most ${maxBytes} bytes.`);
}

function otherSize(size: number): TwtxtError {
  return new TwtxtError("bad-request", `The body does not have the ${size} bytes of "Content-Length".`);
}
