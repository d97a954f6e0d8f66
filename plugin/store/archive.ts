// plugin/store/archive.ts: backup file of a store, a gzipped tar archive.
//
// `store/<key>` is a value. `SHA256SUMS`, the last entry, lists the valid values in the format of sha256sum(1). If a key
// occurs twice, because it was read again, the later value is valid.
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { createTarDecoder, createTarPacker } from "modern-tar";
import { TwtxtError } from "../errors.js";
import { ChunkMeter, concatChunks, hashChunks } from "./chunks.js";
import type { CopyTarget, Value } from "./copy.js";
import { isKey } from "./store.js";

const FOLDER = "store/";
const ABOUT = "about.json";
const SUMS = "SHA256SUMS";
const SUM = /^([0-9a-f]{64}) {2}store\/(.+)$/;
const MAX_ABOUT_BYTES = 64 * 1024;
/** Limits memory: the list of values is held in memory. */
const MAX_VALUES = 1_000_000;
const MAX_SUMS_BYTES = 256 * 2 ** 20;
const MODE = 0o600;

/** Metadata of an archive. */
export interface About {
  /** The URL of the site that the values belong to. */
  site: string;
  /** RFC 3339. */
  created: string;
}

interface ArchivedValue {
  /** The index of its entry in the archive. */
  entry: number;
  /** In bytes. */
  size: number;
  /** In hex. */
  sha256: string;
}

/** Metadata of an archive, and its values by key. */
export interface ArchiveContents {
  about: About;
  values: ReadonlyMap<string, ArchivedValue>;
}

export interface ArchiveSource {
  /** Its name in error messages. */
  name: string;
  /** Its bytes, from the start at each call. */
  chunks(): AsyncIterable<Uint8Array>;
}

/** Writes an archive as a stream while values are added. */
export class ArchiveWriter implements CopyTarget {
  readonly #packer = createTarPacker();
  /** The SHA-256 of each valid value in hex, by key. */
  readonly sums = new Map<string, string>();
  /** Total size of the added values in bytes. */
  bytes = 0;

  /** The bytes of the archive. @param addAll - adds all values; its errors end the stream */
  stream(about: About, addAll: () => Promise<void>): AsyncIterable<Uint8Array> {
    const { readable, controller } = this.#packer;
    const work = async () => {
      await this.#write(ABOUT, Buffer.from(`${JSON.stringify({ version: 1, ...about }, null, 2)}\n`));
      await addAll();
      const sums = [...this.sums].map(([key, sha256]) => `${sha256}  ${FOLDER}${key}\n`);
      await this.#write(SUMS, Buffer.from(sums.join("")));
      controller.finalize();
    };
    // Most of the bytes are blobs that are compressed already.
    const gzip = createGzip({ level: 1 });
    // An error of either is thrown by the stream that is returned.
    work().catch((error) => controller.error(error));
    pipeline(Readable.fromWeb(readable as Parameters<typeof Readable.fromWeb>[0]), gzip).catch(() => {});
    return gzip;
  }

  has(key: string): boolean {
    return this.sums.has(key);
  }

  async add(key: string, { size, open }: Value): Promise<boolean> {
    const chunks = await open();
    if (!chunks) return false;
    const meter = new ChunkMeter();
    const entry = this.#packer.controller.add({ name: FOLDER + key, size, mode: MODE }).getWriter();
    for await (const chunk of meter.pass(chunks)) await entry.write(chunk);
    await entry.close();
    this.sums.set(key, meter.sha256());
    this.bytes += size;
    return true;
  }

  drop(prefix: string): void {
    for (const key of [...this.sums.keys()]) if (key.startsWith(prefix)) this.sums.delete(key);
  }

  async #write(name: string, bytes: Uint8Array): Promise<void> {
    const entry = this.#packer.controller.add({ name, size: bytes.length, mode: MODE }).getWriter();
    await entry.write(bytes);
    await entry.close();
  }
}

/**
 * Reads a whole archive and compares each value with its hash.
 *
 * @param onBytes - called with the size of each chunk read from the file
 * @throws TwtxtError `bad-file` if it is damaged, cut off, or not a backup
 */
export async function checkArchive(file: ArchiveSource, onBytes: (bytes: number) => void): Promise<ArchiveContents> {
  const values = new Map<string, ArchivedValue>();
  let about: About | null = null;
  let sums: Map<string, string> | null = null;
  for await (const entry of readEntries(file, onBytes)) {
    const { number, name, size, body } = entry;
    if (sums) throw badArchive(file, `${name} follows its list of hashes`);
    if (number === 0 && name === ABOUT) about = parseAbout(await readText(file, entry, MAX_ABOUT_BYTES), file);
    else if (name === SUMS) sums = parseSums(await readText(file, entry, MAX_SUMS_BYTES), file);
    else values.set(parseKey(name, file), { entry: number, size, sha256: await hashChunks(body) });
    if (values.size > MAX_VALUES) throw badArchive(file, `it has more than ${MAX_VALUES} values`);
  }
  if (!about || !sums) throw badArchive(file, "it is cut off, or not a backup made by eleventy-twtxt");
  for (const [key, sha256] of sums) {
    if (values.get(key)?.sha256 !== sha256) throw badArchive(file, `${key} does not match its hash`);
  }
  for (const key of [...values.keys()]) if (!sums.has(key)) values.delete(key);
  return { about, values };
}

/**
 * The valid values of an archive.
 *
 * @param contents - the result of {@link checkArchive}
 * @throws TwtxtError `bad-file` at the end of a value if the file was changed since
 */
export async function* readValues(
  file: ArchiveSource,
  { values }: ArchiveContents,
  onBytes: (bytes: number) => void,
): AsyncGenerator<{ key: string; value: ArchivedValue; chunks: AsyncIterable<Uint8Array> }> {
  let found = 0;
  const changed = badArchive(file, "it was changed while it was read");
  for await (const { number, name, body } of readEntries(file, onBytes)) {
    const key = name.startsWith(FOLDER) ? name.slice(FOLDER.length) : "";
    const value = values.get(key);
    if (value?.entry === number) {
      found += 1;
      const meter = new ChunkMeter();
      const chunks = async function* () {
        yield* meter.pass(body);
        if (meter.sha256() !== value.sha256) throw changed;
      };
      yield { key, value, chunks: chunks() };
    }
    await hashChunks(body);
  }
  if (found < values.size) throw changed;
}

interface Entry {
  number: number;
  name: string;
  size: number;
  /** Also throws the errors of the archive. */
  body: AsyncIterable<Uint8Array>;
}

/** @throws TwtxtError `bad-file` */
async function* readEntries(file: ArchiveSource, onBytes: (bytes: number) => void): AsyncGenerator<Entry> {
  const gunzip = createGunzip();
  const counted = async function* (chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      onBytes(chunk.length);
      yield chunk;
    }
  };
  // Its errors are thrown by gunzip too.
  const read = pipeline(file.chunks(), counted, gunzip).catch(() => {});
  let number = 0;
  try {
    const unzipped = Readable.toWeb(gunzip) as ReadableStream<Uint8Array>;
    const entries = unzipped.pipeThrough(createTarDecoder({ strict: true }));
    for await (const { header, body } of entries) {
      if (header.type !== "file") throw badArchive(file, `${JSON.stringify(header.name)} is not a file`);
      yield { number, name: header.name, size: header.size, body: withArchiveErrors(body, file) };
      number += 1;
    }
  } catch (error) {
    throw archiveError(error, file);
  } finally {
    gunzip.destroy();
    await read;
  }
}

async function* withArchiveErrors(body: ReadableStream<Uint8Array>, file: ArchiveSource): AsyncGenerator<Uint8Array> {
  try {
    // If this were cancelled, the decoder would wait forever.
    yield* body.values({ preventCancel: true });
  } catch (error) {
    throw archiveError(error, file);
  }
}

function archiveError(error: unknown, file: ArchiveSource): TwtxtError {
  return error instanceof TwtxtError ? error : badArchive(file, (error as Error).message, { cause: error });
}

async function readText(file: ArchiveSource, { name, size, body }: Entry, maxBytes: number): Promise<string> {
  if (size > maxBytes) throw badArchive(file, `${name} has ${size} bytes`);
  return String(await concatChunks(body));
}

/** @throws TwtxtError `bad-file` for a name without a valid key, such as `store/../.env` */
function parseKey(name: string, file: ArchiveSource): string {
  const key = name.slice(FOLDER.length);
  if (name.startsWith(FOLDER) && isKey(key)) return key;
  throw badArchive(file, `it contains ${JSON.stringify(name)}, which is not part of a backup`);
}

function parseSums(text: string, file: ArchiveSource): Map<string, string> {
  const lines = text.split("\n").filter((line) => line !== "");
  return new Map(
    lines.map((line) => {
      const [, sha256 = "", key] = SUM.exec(line) ?? [];
      if (key === undefined) throw badArchive(file, `${SUMS} is damaged`);
      return [key, sha256];
    }),
  );
}

function parseAbout(text: string, file: ArchiveSource): About {
  try {
    const { version, site, created } = Object(JSON.parse(text));
    if (version === 1 && typeof site === "string" && typeof created === "string") return { site, created };
  } catch {}
  throw badArchive(file, "it was made by a newer version, or is not a backup made by eleventy-twtxt");
}

function badArchive({ name }: ArchiveSource, why: string, options?: ErrorOptions): TwtxtError {
  return new TwtxtError("bad-file", `${name} is not a complete backup: ${why}.`, options);
}
