// plugin/host/copy-chunks.ts: copies chunks into a response with two buffers.
import type { ServerResponse } from "node:http";

/** The largest useful size of a buffer. */
export const BUFFER_BYTES = 256 * 1024;

/**
 * Copies chunks into a response, and ends it. Two buffers are reused: a new one for each chunk would take most of the time and
 * 30 MiB of memory. While one is sent, the other is filled, so that a short response and its end are sent together.
 *
 * @param readInto - fills the buffer, which it may replace by another one of the same size; returns the part with data, `null` at the end
 * @param size - of a buffer, in bytes
 */
export async function copyChunks(
  readInto: (buffer: Uint8Array<ArrayBuffer>) => Promise<Uint8Array<ArrayBuffer> | null>,
  response: ServerResponse,
  size: number,
): Promise<void> {
  const length = Math.max(size, 1);
  let buffer = new ArrayBuffer(length);
  let spare: ArrayBuffer | null = null;
  let sent = Promise.resolve();
  for (;;) {
    const chunk = await readInto(new Uint8Array(buffer));
    if (chunk === null) break;
    await sent;
    sent = write(response, chunk);
    sent.catch(() => {});
    buffer = spare ?? new ArrayBuffer(length);
    spare = chunk.buffer;
  }
  // After a disconnect, the source ends before its length.
  if (!response.destroyed) response.end();
  await sent;
}

function write(response: ServerResponse, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    response.write(chunk, (error) => (error ? reject(error) : resolve()));
  });
}
