// plugin/store/disk.ts: steps on a disk that outlast their process, and that say where something is not there.
import { mkdir, open, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { MessageChannel, type MessagePort } from "node:worker_threads";

/**
 * Makes a folder for its owner alone, and those above it.
 *
 * @returns the first one that was new, if any
 */
export async function makeFolder(path: string): Promise<string | undefined> {
  try {
    return await mkdir(path, { mode: 0o700, recursive: true });
  } catch (error) {
    // What Node.js says where the file system is read-only. Without `recursive` it says EROFS.
    const { code, path: refused } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && refused !== undefined) await mkdir(refused, { mode: 0o700 });
    throw error;
  }
}

/**
 * Writes a new file for its owner alone: whole, or not at all.
 *
 * @param bytes - ownership of a stream's chunks is transferred
 * @param flush - whether the file is on the disk when this returns
 */
export async function writeNew(
  path: string,
  bytes: Uint8Array | AsyncIterable<Uint8Array>,
  { flush }: { flush: boolean },
): Promise<void> {
  try {
    const chunks = bytes instanceof Uint8Array ? bytes : letGo(bytes);
    await writeFile(path, chunks, { mode: 0o600, flag: "wx", flush });
  } catch (error) {
    await remove(path);
    throw error;
  }
}

/** Gives the memory of each chunk back once it is written: V8 looks for dead ones only when there are 30 to 60 MiB of them. */
async function* letGo(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const nowhere = portToNowhere();
  for await (const chunk of chunks) {
    yield chunk;
    const { buffer, byteLength } = chunk;
    if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) nowhere.postMessage(null, [buffer]);
  }
}

/** What is transferred to it is freed at once, since nobody is there to get it. */
function portToNowhere(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  port2.close();
  return port1;
}

/** Makes the names in a folder durable; its own too where it is new, and so on upwards. */
export async function syncFolder(path: string, firstNew?: string): Promise<void> {
  // Windows opens no folders.
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

/** Removes what nobody reads any more; where that fails, it lies there a little longer. */
export async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => {});
}

/** @returns `null` where there is no such file or folder */
export async function ifThere<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

/** @returns `false` where the file or folder that is needed is not there, or no more */
export async function isDone(work: Promise<void>): Promise<boolean> {
  return (await ifThere(work.then(() => true))) !== null;
}

/** Node's code of an error, such as `ENOENT`. */
export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}
