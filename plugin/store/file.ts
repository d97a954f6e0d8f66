// plugin/store/file.ts: a store in a folder, shared by processes of which each may be killed at any moment.
//
// A key is a folder `a/b/c@`. In it the file `<version>` holds a value, and the NAME of the empty file `head.<version>`
// tells which version counts. A version is `<number>-<random>` and never comes back.
//
// - A value is replaced by writing the next version's file and renaming `head.<old>` to `head.<new>`: of all who start
//   from one version, one alone still finds the old name. This is the only step that counts.
// - A key is made and removed by renaming its whole folder, from `.tmp` and to it. No folder replaces one that is not
//   empty, and whoever still knows a version of a removed key finds its head no more, even where the key is made again.
// - There are no locks, so none is left behind. What a killed process leaves is never read: a version that the head has
//   passed is removed by the next write, and what it has begun in `.tmp` by the first write of another process, or later.
import { randomBytes } from "node:crypto";
import { type FileHandle, open, readdir, readFile, rename } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { TwtxtError } from "../errors.js";
import { codeOf, ifThere, isDone, makeFolder, remove, syncFolder, writeNew } from "./disk.js";
import { clearAway, nameOfOwn } from "./leftovers.js";
import { checkKey, checkPrefix, holds, isKey, type Range, type StreamingStore } from "./store.js";

const HEAD = "head.";
const KEY_END = "@";

/** How often a step is tried again because somebody else was faster, who has then got on with theirs. */
const TRIES = 100;
/** Of what is not replaced, and its key not used again: it is found without a look at its folder. */
const ONLY_VERSION = "1-0000000000000000";
/** How much is read at a time. */
const READ_BYTES = 256 * 1024;
/** How often what killed processes have left is looked for, in milliseconds. */
const CLEARED_EVERY_MS = 3600_000;

/** The version of a key that counts, and all else that lies in its folder. */
interface Current {
  version: string;
  names: string[];
}

/** A store in a folder of its own on a local disk; the folder is made by the first write. */
export function fileStore(folder: string): StreamingStore {
  const root = resolve(folder);
  const tmp = join(root, ".tmp");
  const placeOf = (key: string) => join(root, `${key}${KEY_END}`);
  let sweeping: Promise<void> | null = null;

  const swept = () => {
    sweeping ??= clearAway(tmp).finally(() => {
      setTimeout(() => {
        sweeping = null;
      }, CLEARED_EVERY_MS).unref();
    });
    return sweeping;
  };

  /** Says what failed, whatever it was. */
  const reliably = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof TwtxtError) throw error;
      throw new TwtxtError("store-failed", `The store in ${root} failed: ${(error as Error).message}.`, {
        cause: error,
      });
    }
  };

  return {
    async get(key) {
      checkKey(key);
      const place = placeOf(key);
      return reliably(() =>
        untilSettled(key, async () => {
          const current = await look(place);
          if (!current) return current;
          const bytes = await ifThere(readFile(join(place, current.version)));
          return bytes ? { bytes, etag: current.version } : undefined;
        }),
      );
    },

    async put(key, bytes, condition) {
      checkKey(key);
      const place = placeOf(key);
      return reliably(() =>
        untilSettled(key, async () => {
          const current = await look(place);
          if (current === undefined) return undefined;
          if (!holds(condition, current?.version ?? null)) return null;
          if (current) return replace(place, current, bytes);
          await swept();
          return create(place, bytes, tmp);
        }),
      );
    },

    async write(key, chunks) {
      checkKey(key);
      await reliably(async () => {
        await swept();
        if ((await create(placeOf(key), chunks, tmp, ONLY_VERSION)) === undefined) {
          throw new TwtxtError("store-failed", `${key} is there already, and is not to be replaced.`);
        }
      });
    },

    async read(key, range) {
      checkKey(key);
      const place = placeOf(key);
      return reliably(() =>
        untilSettled(key, async () => {
          const handle = (await ifThere(open(join(place, ONLY_VERSION)))) ?? (await openCurrent(place));
          return handle && partOf(handle, range ?? (await wholeOf(handle)));
        }),
      );
    },

    async delete(key) {
      checkKey(key);
      const place = placeOf(key);
      await reliably(async () => {
        await makeFolder(tmp);
        if (await discard(place, tmp)) await syncFolder(dirname(place));
      });
    },

    async keys(prefix) {
      checkPrefix(prefix);
      const above = prefix.slice(0, prefix.lastIndexOf("/") + 1);
      return reliably(() => keysIn(root, above, prefix.slice(above.length)));
    },
  };
}

/** @returns `null` and `undefined` as {@link look} */
async function openCurrent(place: string): Promise<FileHandle | null | undefined> {
  const current = await look(place);
  return current && ((await ifThere(open(join(place, current.version)))) ?? undefined);
}

/** A part of an open file, which is closed at the end. Who reads it by a buffer of their own needs no other. */
function partOf(handle: FileHandle, { first, last }: Range): ReadableStream<Uint8Array> {
  let at = first;
  return new ReadableStream({
    type: "bytes",
    autoAllocateChunkSize: READ_BYTES,
    async pull(controller) {
      const request = controller.byobRequest as ReadableStreamBYOBRequest;
      const view = request.view as Uint8Array;
      const length = Math.min(view.byteLength, last + 1 - at);
      const bytesRead = await orClose(handle, someOf(handle, view, { position: at, length }));
      at += bytesRead;
      if (bytesRead > 0) request.respond(bytesRead);
      if (bytesRead > 0 && at <= last) return;
      controller.close();
      // Who waits for a part is told that there is none.
      controller.byobRequest?.respond(0);
      await handle.close();
    },
    cancel: () => handle.close(),
  });
}

/** @returns how many bytes; 0 where none are wanted */
async function someOf(handle: FileHandle, view: Uint8Array, place: { position: number; length: number }) {
  const { bytesRead } = await handle.read(view, place);
  if (bytesRead > 0 || place.length === 0) return bytesRead;
  throw new TwtxtError("store-failed", "A value is shorter than it was.");
}

async function wholeOf(handle: FileHandle): Promise<Range> {
  const { size } = await orClose(handle, handle.stat());
  return { first: 0, last: size - 1 };
}

async function orClose<T>(handle: FileHandle, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** @param attempt - its answer, or `undefined` where somebody else was faster */
async function untilSettled<T>(key: string, attempt: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const answer = await attempt();
    if (answer !== undefined) return answer;
  }
  throw new TwtxtError(
    "store-failed",
    `${key} was changed by others ${TRIES} times in a row, or its folder is damaged.`,
  );
}

/** @returns `null` where there is no such key, `undefined` where its head was renamed while we looked */
async function look(place: string): Promise<Current | null | undefined> {
  const names = await ifThere(readdir(place));
  if (!names) return null;
  const heads = names.filter((name) => name.startsWith(HEAD)).map((name) => name.slice(HEAD.length));
  // A folder that is read while its head is renamed may show both names.
  const [version] = heads.sort((a, b) => numberOf(b) - numberOf(a));
  return version === undefined ? undefined : { version, names };
}

/** @returns `undefined` where somebody else has replaced or removed it, and nothing was written */
async function replace(place: string, { version: old, names }: Current, bytes: Uint8Array) {
  const version = versionAfter(numberOf(old));
  const file = join(place, version);
  if (!(await isDone(writeNew(file, bytes)))) return undefined;
  if (!(await isDone(rename(join(place, HEAD + old), join(place, HEAD + version))))) {
    await remove(file);
    return undefined;
  }
  await isDone(syncFolder(place));
  // The heads that these were to follow are history: whoever still writes one of them has lost.
  const passed = names.filter((name) => numberOf(name) <= numberOf(version));
  await Promise.all(passed.map((name) => remove(join(place, name))));
  return version;
}

/** @returns `undefined` where somebody else has made the key meanwhile, and nothing was written */
async function create(
  place: string,
  bytes: Uint8Array | AsyncIterable<Uint8Array>,
  tmp: string,
  version = versionAfter(0),
) {
  const made = join(tmp, nameOfOwn());
  try {
    await makeFolder(made);
    await writeNew(join(made, version), bytes);
    await writeNew(join(made, HEAD + version), new Uint8Array());
    await syncFolder(made);
    const firstNew = await makeFolder(dirname(place));
    if (!(await isPlaced(made, place))) return undefined;
    await syncFolder(dirname(place), firstNew);
    return version;
  } finally {
    await remove(made);
  }
}

/** @returns `false` where there is a folder already */
async function isPlaced(made: string, place: string): Promise<boolean> {
  try {
    await rename(made, place);
    return true;
  } catch (error) {
    if (["ENOTEMPTY", "EEXIST"].includes(codeOf(error))) return false;
    throw error;
  }
}

/** Takes a folder away at once and then apart, so that nobody ever finds half of it. */
async function discard(path: string, tmp: string): Promise<boolean> {
  const away = join(tmp, nameOfOwn());
  const wasThere = await isDone(rename(path, away));
  await remove(away);
  return wasThere;
}

async function keysIn(root: string, above: string, start: string): Promise<string[]> {
  const entries = (await ifThere(readdir(join(root, above), { withFileTypes: true }))) ?? [];
  const found: string[][] = [];
  for (const entry of entries) {
    if (!entry.isDirectory() || !entry.name.startsWith(start)) continue;
    const isEnd = entry.name.endsWith(KEY_END);
    const key = above + (isEnd ? entry.name.slice(0, -KEY_END.length) : entry.name);
    if (isKey(key)) found.push(isEnd ? [key] : await keysIn(root, `${key}/`, ""));
  }
  return found.flat();
}

function versionAfter(number: number): string {
  return `${number + 1}-${randomName()}`;
}

/** @returns `NaN`, which is smaller than nothing, for what is no version's file */
function numberOf(name: string): number {
  return Number.parseInt(name, 10);
}

function randomName(): string {
  return randomBytes(8).toString("hex");
}
