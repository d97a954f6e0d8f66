// plugin/store/disk.ts: file operations: durable writes, and reading as a stream.
import { randomBytes } from "node:crypto";
import { existsSync, statfsSync } from "node:fs";
import { chmod, type FileHandle, mkdir, open, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { MessageChannel } from "node:worker_threads";
import { TwtxtError } from "../errors.js";
import type { Range } from "./store.js";

/** Size of a read in bytes. */
const READ_BYTES = 256 * 1024;

/** Makes a folder and its parents, readable only by the owner. @returns the topmost folder that was new, if any */
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

/**
 * Writes and syncs a new file, readable only by the owner. A failed write leaves no file.
 *
 * @param bytes - ownership of a stream's chunks is transferred
 */
export async function writeNew(path: string, bytes: Uint8Array | AsyncIterable<Uint8Array>): Promise<void> {
  try {
    const data = bytes instanceof Uint8Array ? bytes : freeAfterUse(bytes);
    await writeFile(path, data, { mode: 0o600, flag: "wx", flush: true });
  } catch (error) {
    await remove(path);
    throw error;
  }
}

/**
 * Writes a file atomically: readers see the old content or the new one. Its folder is created.
 *
 * @param mode - its permissions; default: those of a new file
 */
export async function replaceFile(path: string, content: string, mode?: number): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
  await mkdir(dirname(path), { recursive: true });
  try {
    await writeFile(temporary, content, { flag: "wx", mode, flush: true });
    if (mode !== undefined) await chmod(temporary, mode);
    await rename(temporary, path);
  } catch (error) {
    await remove(temporary);
    throw error;
  }
}

/** Frees each chunk after it is written: V8 collects such buffers only after 30 to 60 MiB of them. */
async function* freeAfterUse(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  // Buffers that are transferred to a port without a receiver are freed at once.
  const { port1: port, port2: receiver } = new MessageChannel();
  receiver.close();
  for await (const chunk of chunks) {
    yield chunk;
    const { buffer, byteLength } = chunk;
    if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) port.postMessage(null, [buffer]);
  }
}

/** Streams a range of an open file, then closes it. Readers may bring their own buffer. */
export function streamFile(handle: FileHandle, { first, last }: Range): ReadableStream<Uint8Array> {
  let at = first;
  const fail = async (error: unknown): Promise<never> => {
    await handle.close();
    throw error;
  };
  return new ReadableStream({
    type: "bytes",
    autoAllocateChunkSize: READ_BYTES,
    async pull(controller) {
      const request = controller.byobRequest as ReadableStreamBYOBRequest;
      const view = request.view as Uint8Array;
      const length = Math.min(view.byteLength, last + 1 - at);
      const { bytesRead } = await handle.read(view, { position: at, length }).catch(fail);
      if (bytesRead === 0 && length > 0) {
        await fail(new TwtxtError("store-failed", "The file of a value was truncated while it was being read."));
      }
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

/** Makes the entries of a folder durable. If it is new, its parents are synced too, up to the one above `firstNew`. */
export async function syncFolder(path: string, firstNew?: string): Promise<void> {
  // Windows cannot open folders.
  if (process.platform === "win32") return;
  await syncFile(path);
  if (firstNew !== undefined && path.startsWith(firstNew)) await syncFolder(dirname(path), firstNew);
}

/** Makes the content of a file durable. */
async function syncFile(path: string): Promise<void> {
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
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
}

/** Why the disk of a folder accepts no more data: an inode is needed for each file. Some file systems do not count them. */
export function describeFullDisk(folder: string): string {
  if (!existsSync(folder)) return describeFullDisk(dirname(folder));
  const { files, ffree } = statfsSync(folder);
  return files > 0 && ffree === 0 ? "the disk has no free inodes" : "the disk is full";
}

/** Node's code of an error, such as `ENOENT`. */
export function errorCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}
