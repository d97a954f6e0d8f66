// plugin/store/paced-streams.ts: uploads and downloads with an idle timeout.
import type { IdleLimit } from "../transport/idle-limit.js";
import { checkSize } from "./chunks.js";

interface Upload {
  body: ReadableStream<Uint8Array>;
  /** Whether the whole body has been read by `fetch`. */
  isTaken(): boolean;
  /** The error that the chunks threw, or that their size was wrong. */
  fault(): { error: unknown } | null;
  /** Ends the chunks: `fetch` may leave its body open when it gives up. */
  end(): void;
}

/** @param size - the total size of the chunks in bytes */
export function startUpload(chunks: AsyncIterable<Uint8Array>, size: number, idle: IdleLimit): Upload {
  let fault: { error: unknown } | null = null;
  let isTaken = false;
  async function* pacedChunks() {
    idle.stop();
    try {
      for await (const chunk of delayByOne(checkSize(chunks, size))) {
        // Node's fetch keeps reading a body after it has stopped sending it.
        if (idle.signal.aborted) return;
        idle.start();
        yield chunk;
        idle.stop();
      }
    } catch (error) {
      fault = { error };
      throw error;
    }
    isTaken = true;
    idle.start();
  }
  const paced = pacedChunks();
  const end = () => void paced.return().catch(() => {});
  return { body: ReadableStream.from(paced), isTaken: () => isTaken, fault: () => fault, end };
}

/**
 * Yields each chunk when the next one has arrived. A server stores an upload as soon as it has all announced bytes, so the
 * last chunk is held back until the source has ended without an error.
 */
async function* delayByOne(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let previous: Uint8Array | null = null;
  for await (const chunk of chunks) {
    if (chunk.length === 0) continue;
    if (previous) yield previous;
    previous = chunk;
  }
  if (previous) yield previous;
}

/**
 * A stream that fails when a read waits longer than the idle limit.
 *
 * @param body - fails when the signal of the limit is aborted, as those of `fetchSafely` do
 * @param failed - makes the error to throw from its cause
 */
export function withIdleLimit(
  body: ReadableStream<Uint8Array>,
  idle: IdleLimit,
  failed: (cause: unknown) => Error,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream(
    {
      async pull(controller) {
        idle.start();
        try {
          const { value } = await reader.read();
          if (value) controller.enqueue(value);
          else controller.close();
        } catch (cause) {
          controller.error(failed(cause));
        } finally {
          idle.stop();
        }
      },
      async cancel() {
        idle.end();
        await reader.cancel().catch(() => {});
      },
    },
    { highWaterMark: 0 },
  );
}
