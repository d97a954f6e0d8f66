// plugin/cli/blob/contents.ts: the contents of a blob to be, read from the disk as often as they are needed.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import type { Contents } from "../../blobs/client/client.js";
import { TwtxtError } from "../../errors.js";
import { badFile } from "../files.js";

/** Contents, and what their type is told by. */
export interface FileContents extends Contents {
  /** The first bytes, some 4 KB. */
  start: Uint8Array;
  /** Whether all of it is UTF-8. */
  isUtf8: boolean;
}

const START_BYTES = 4100;
const READ_BYTES = 256 * 1024;

/**
 * Reads a file once, to know its size and hash.
 *
 * @param shown - how the file is called in messages
 * @throws TwtxtError `bad-file`
 */
export async function contentsOf(file: string, shown: string, signal: AbortSignal): Promise<FileContents> {
  const hash = createHash("sha256");
  const decodes = strictDecoder();
  let [size, start, isUtf8] = [0, Buffer.alloc(0), true];
  for await (const chunk of read(file, signal)) {
    size += chunk.length;
    hash.update(chunk);
    isUtf8 = isUtf8 && decodes(chunk);
    if (start.length < START_BYTES) start = Buffer.concat([start, chunk.subarray(0, START_BYTES - start.length)]);
  }
  const sha256 = hash.digest("hex");
  return {
    ...{ size, sha256, start, isUtf8: isUtf8 && decodes() },
    chunks: () => unchanged(read(file, signal), { size, sha256, shown }),
  };
}

/** Contents that are in memory. */
export function contentsOfBytes(bytes: Uint8Array): Contents {
  return {
    size: bytes.length,
    sha256: createHash("sha256").update(bytes).digest("hex"),
    async *chunks() {
      for (let at = 0; at < bytes.length; at += READ_BYTES) yield bytes.subarray(at, at + READ_BYTES);
    },
  };
}

async function* read(file: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of createReadStream(file, { highWaterMark: READ_BYTES })) {
      signal.throwIfAborted();
      yield chunk;
    }
  } catch (error) {
    throw badFile(error);
  }
}

/** The last chunk is held back until all is known to be as before: what is not sent whole is not kept. */
async function* unchanged(
  chunks: AsyncIterable<Uint8Array>,
  { size, sha256, shown }: { size: number; sha256: string; shown: string },
): AsyncGenerator<Uint8Array> {
  const changed = () => new TwtxtError("bad-file", `${shown} was changed while it was read. It was not put.`);
  const hash = createHash("sha256");
  let come = 0;
  let last: Uint8Array | undefined;
  for await (const chunk of chunks) {
    if (last) yield last;
    last = chunk;
    come += chunk.length;
    if (come > size) throw changed();
    hash.update(chunk);
  }
  if (hash.digest("hex") !== sha256) throw changed();
  if (last) yield last;
}

/** Says of each chunk, and at the end of none, whether all so far is UTF-8. */
function strictDecoder(): (chunk?: Uint8Array) => boolean {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  return (chunk) => {
    try {
      decoder.decode(chunk, { stream: chunk !== undefined });
      return true;
    } catch {
      return false;
    }
  };
}
