// plugin/store/s3-streams.ts: values on their way to a bucket and from it, ended where the bucket lets them stand still.
import { TwtxtError } from "../errors.js";
import { chunksUntil } from "./chunks.js";

/** A time within which the other side must move. */
export interface IdleLimit {
  /** Aborts what has stood still for too long. */
  signal: AbortSignal;
  /** It is the other side's turn. */
  start(): void;
  /** It is ours. */
  stop(): void;
  /** Gives up what is still under way. */
  end(): void;
}

/** A value on its way to a bucket. */
export interface Upload {
  body: ReadableStream<Uint8Array>;
  /** Whether all of it has been taken. */
  isTaken(): boolean;
  /** What the chunks have thrown, or that they are not of the size that was said. */
  fault(): { error: unknown } | null;
}

/** @param idleMs - in milliseconds */
export function idleLimit(idleMs: number): IdleLimit {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => clearTimeout(timer);
  return {
    signal: controller.signal,
    start() {
      stop();
      timer = setTimeout(() => controller.abort(new Error(`nothing has moved for ${idleMs} ms`)), idleMs);
    },
    stop,
    end() {
      stop();
      controller.abort();
    },
  };
}

/** @param size - of all chunks, in bytes */
export function uploadOf(chunks: AsyncIterable<Uint8Array>, size: number, idle: IdleLimit): Upload {
  let fault: { error: unknown } | null = null;
  let isTaken = false;
  async function* paced() {
    idle.stop();
    try {
      for await (const chunk of keptBack(chunks, size)) {
        // Node's fetch goes on to take all of a body that it has stopped to send.
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
  return { body: ReadableStream.from(paced()), isTaken: () => isTaken, fault: () => fault };
}

/**
 * The same chunks, each of them once the next one is there: a server that has as many bytes as were announced keeps them,
 * so the last ones are sent when nothing can go wrong with the chunks any more.
 */
async function* keptBack(chunks: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  let left = size;
  let kept: Uint8Array | null = null;
  for await (const chunk of chunks) {
    if (chunk.length === 0) continue;
    left -= chunk.length;
    if (left < 0) break;
    if (kept) yield kept;
    kept = chunk;
  }
  if (left !== 0) throw new TwtxtError("store-failed", `A value does not have the ${size} bytes that were announced.`);
  if (kept) yield kept;
}

/**
 * A stream that fails where nothing comes for too long while somebody waits for it.
 *
 * @param failed - makes the error that is thrown of the one that has happened
 */
export function watched(
  body: ReadableStream<Uint8Array>,
  idle: IdleLimit,
  failed: (cause: unknown) => Error,
): ReadableStream<Uint8Array> {
  const chunks = chunksUntil(body, idle.signal);
  return new ReadableStream(
    {
      async pull(controller) {
        idle.start();
        try {
          const { value } = await chunks.next();
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
        await chunks.return(undefined).catch(() => {});
        // What was not begun has let go of nothing.
        if (!body.locked) await body.cancel().catch(() => {});
      },
    },
    { highWaterMark: 0 },
  );
}
