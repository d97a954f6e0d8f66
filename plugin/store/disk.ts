// plugin/store/disk.ts: file operations: durable writes, and reading as a stream.
import * as fs from "node:fs";
import { type FileHandle, mkdir, open, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { TwtxtError } from "../errors.js";
import type { Range } from "./store.js";

/** Size of a read in bytes. */
const READ_BYTES = 256 * 1024;

// Each takes half the processor time of its namesake in node:fs/promises.
export const readdir = promisify(fs.readdir);
export const readFile = promisify(fs.readFile);
export const rename = promisify(fs.rename);
const makeOneFolder = promisify(fs.mkdir);
const writeUnsynced = promisify(fs.writeFile);

/**
 * Makes a folder and its parents, readable only by the owner.
 *
 * @returns the topmost folder that was new, if any
 */
export async function makeFolder(path: string): Promise<string | undefined> {
  try {
    return await mkdir(path, { mode: 0o700, recursive: true });
  } catch (error) {
    // On a read-only file system Node.js reports ENOENT; without `recursive` it reports EROFS.
    const { code, path: refused } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && refused !== undefined) await mkdir(refused, { mode: 0o700 });
    throw error;
  }
}

/** Makes a folder that does not exist. It has no parent if it is the first one there. */
export async function makeNewFolder(path: string): Promise<void> {
  const made = await ifExists(makeOneFolder(path, { mode: 0o700 }).then(() => true));
  if (!made) await makeFolder(path);
}

/**
 * Writes a new file, readable only by the owner. A failed write leaves no file.
 *
 * @param bytes - ownership of a stream's chunks is transferred
 * @param flush - whether to sync the file
 */
export async function writeNew(
  path: string,
  bytes: Uint8Array | AsyncIterable<Uint8Array>,
  { flush }: { flush: boolean },
): Promise<void> {
  try {
    const options = { mode: 0o600, flag: "wx" };
    const isWhole = bytes instanceof Uint8Array;
    if (isWhole && !flush) await writeUnsynced(path, bytes, options);
    else await writeFile(path, isWhole ? bytes : freeAfterUse(bytes), { ...options, flush });
  } catch (error) {
    await remove(path);
    throw error;
  }
}

/** Frees each chunk after it is written: V8 collects such buffers only after 30 to 60 MiB of them. */
async function* freeAfterUse(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const port = disconnectedPort();
  for await (const chunk of chunks) {
    yield chunk;
    const { buffer, byteLength } = chunk;
    if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) port.postMessage(null, [buffer]);
  }
}

/** A port without a receiver: buffers transferred to it are freed at once. */
function disconnectedPort(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  port2.close();
  return port1;
}

/** Streams an open file or a range of it, then closes it. Readers may bring their own buffer. */
export async function streamFile(handle: FileHandle, range?: Range): Promise<ReadableStream<Uint8Array>> {
  const { first, last } = range ?? (await wholeRange(handle));
  let at = first;
  return new ReadableStream({
    type: "bytes",
    autoAllocateChunkSize: READ_BYTES,
    async pull(controller) {
      const request = controller.byobRequest as ReadableStreamBYOBRequest;
      const view = request.view as Uint8Array;
      const length = Math.min(view.byteLength, last + 1 - at);
      const bytesRead = await closeOnError(handle, readInto(handle, view, { position: at, length }));
      at += bytesRead;
      if (bytesRead > 0) request.respond(bytesRead);
      if (bytesRead > 0 && at <= last) return;
      controller.close();
      // Ends a read that is waiting with its own buffer.
      controller.byobRequest?.respond(0);
      await handle.close();
    },
    cancel: () => handle.close(),
  });
}

/** @returns the number of bytes read; 0 only if `length` is 0 */
async function readInto(handle: FileHandle, view: Uint8Array, place: { position: number; length: number }) {
  const { bytesRead } = await handle.read(view, place);
  if (bytesRead > 0 || place.length === 0) return bytesRead;
  throw new TwtxtError("store-failed", "The file of a value was truncated while it was being read.");
}

async function wholeRange(handle: FileHandle): Promise<Range> {
  const { size } = await closeOnError(handle, handle.stat());
  return { first: 0, last: size - 1 };
}

async function closeOnError<T>(handle: FileHandle, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Makes the entries of a folder durable. If it is new, its parents are synced too, up to the one above `firstNew`. */
export async function syncFolder(path: string, firstNew?: string): Promise<void> {
  // Windows cannot open folders.
  if (process.platform === "win32") return;
  await syncFile(path);
  if (firstNew !== undefined && path.startsWith(firstNew)) await syncFolder(dirname(path), firstNew);
}

/** Makes the content of a file durable. */
export async function syncFile(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Removes a file or folder that is no longer read; errors are ignored. */
export async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => {});
}

/** @returns `null` if the file or folder does not exist */
export async function ifExists<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

/** @returns `false` if the file or folder does not exist (any more) */
export async function isDone(work: Promise<void>): Promise<boolean> {
  return (await ifExists(work.then(() => true))) !== null;
}

/** Node's code of an error, such as `ENOENT`. */
export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}
