// plugin/store/chunks.ts: values as streams, as a whole, and until somebody ends them.
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

/**
 * The chunks of a body, until the signal is aborted. Its `fetch` had the same signal: that of Node 20 at times does not end a
 * body by it that has begun to come.
 *
 * @throws the reason of the signal; what the body throws
 */
export async function* chunksUntil(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, undefined> {
  const reader = body.getReader();
  const cancel = () => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener("abort", cancel);
  try {
    for (;;) {
      signal.throwIfAborted();
      const { value, done } = await reader.read();
      signal.throwIfAborted();
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}
