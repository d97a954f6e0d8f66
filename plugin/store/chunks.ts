// plugin/store/chunks.ts: values as streams, for storages that have them as a whole.
import type { Range } from "./store.js";

/** All chunks in one. */
export async function joined(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

/** A value, or a part of it, as a stream. */
export function streamOf(bytes: Uint8Array, range?: Range): ReadableStream<Uint8Array> {
  const part = range ? bytes.subarray(range.first, range.last + 1) : bytes;
  return new ReadableStream({
    start(controller) {
      if (part.length > 0) controller.enqueue(part);
      controller.close();
    },
  });
}
