// plugin/store/archive.ts: the values of a store in one file, a gzipped tar archive.
//
// `store/<key>` holds a value, and `SHA256SUMS`, the last entry, lists the values that count, as sha256sum(1) reads it. A value
// may be there twice, because it was read again: the later one counts.
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { createTarDecoder, createTarPacker } from "modern-tar";
import { TwtxtError } from "../errors.js";
import { joined } from "./chunks.js";
import type { CopyTarget } from "./consistent-copy.js";
import { isKey } from "./store.js";
import type { Value } from "./value.js";

const FOLDER = "store/";
const ABOUT = "about.json";
const SUMS = "SHA256SUMS";
const SUM = /^([0-9a-f]{64}) {2}store\/(.+)$/;
const MAX_ABOUT_BYTES = 64 * 1024;
/** More than any store has: what is known of each is held in memory. */
const MAX_VALUES = 1_000_000;
const MAX_SUMS_BYTES = 256 * 2 ** 20;
const MODE = 0o600;

/** What an archive says of itself. */
export interface About {
  /** The site that the values are of. */
  site: string;
  /** RFC 3339. */
  created: string;
}

/** A value in an archive. */
export interface ArchivedValue {
  /** Which entry of the archive it is. */
  entry: number;
  /** In bytes. */
  size: number;
  /** In hex. */
  sha256: string;
}

/** The values of an archive by their keys. */
export interface ArchiveContents {
  about: About;
  values: ReadonlyMap<string, ArchivedValue>;
}

/** An archive to be read. */
export interface ArchiveSource {
  /** For messages. */
  name: string;
  /** Its bytes, from the start at each call. */
  chunks(): AsyncIterable<Uint8Array>;
}

/** Writes an archive, whose bytes come as the values are added. */
export class ArchiveWriter implements CopyTarget {
  readonly #packer = createTarPacker();
  readonly #sums = new Map<string, string>();
  #bytes = 0;

  /** Of all values that were added, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The SHA-256 of each value that counts, in hex, by its key. */
  get sums(): ReadonlyMap<string, string> {
    return this.#sums;
  }

  /**
   * The bytes of the archive.
   *
   * @param addAll - adds all values; what it throws breaks the archive off
   */
  stream(about: About, addAll: () => Promise<void>): AsyncIterable<Uint8Array> {
    const { readable, controller } = this.#packer;
    const work = async () => {
      await this.#write(ABOUT, Buffer.from(`${JSON.stringify({ version: 1, ...about }, null, 2)}\n`));
      await addAll();
      await this.#write(SUMS, Buffer.from(sumsText(this.#sums)));
      controller.finalize();
    };
    // Most bytes are of blobs that are compressed already.
    const gzip = createGzip({ level: 1 });
    // What one of them throws, the other one's end throws too.
    work().catch((error) => controller.error(error));
    pipeline(Readable.fromWeb(readable as Parameters<typeof Readable.fromWeb>[0]), gzip).catch(() => {});
    return gzip;
  }

  has(key: string): boolean {
    return this.#sums.has(key);
  }

  async add(key: string, { size, open }: Value): Promise<boolean> {
    const chunks = await open();
    if (!chunks) return false;
    const hash = createHash("sha256");
    const entry = this.#packer.controller.add({ name: FOLDER + key, size, mode: MODE }).getWriter();
    for await (const chunk of chunks) {
      hash.update(chunk);
      await entry.write(chunk);
    }
    await entry.close();
    this.#sums.set(key, hash.digest("hex"));
    this.#bytes += size;
    return true;
  }

  drop(prefix: string): void {
    for (const key of [...this.#sums.keys()]) if (key.startsWith(prefix)) this.#sums.delete(key);
  }

  async #write(name: string, bytes: Uint8Array): Promise<void> {
    const entry = this.#packer.controller.add({ name, size: bytes.length, mode: MODE }).getWriter();
    await entry.write(bytes);
    await entry.close();
  }
}

/**
 * Reads all of an archive, and compares each value with its hash.
 *
 * @param onBytes - told how many bytes of the file were read
 * @throws TwtxtError `bad-file` where it is damaged, cut, or anything but such an archive
 */
export async function checkArchive(file: ArchiveSource, onBytes: (bytes: number) => void): Promise<ArchiveContents> {
  const values = new Map<string, ArchivedValue>();
  let about: About | null = null;
  let sums: Map<string, string> | null = null;
  for await (const { number, name, size, body } of entriesOf(file, onBytes)) {
    if (sums) throw badArchive(file, `${name} follows its list of hashes`);
    if (number === 0 && name === ABOUT)
      about = parseAbout(await textOf(file, { name, size, body }, MAX_ABOUT_BYTES), file);
    else if (name === SUMS) sums = parseSums(await textOf(file, { name, size, body }, MAX_SUMS_BYTES), file);
    else values.set(keyIn(name, file), { entry: number, size, sha256: await hashed(body) });
    if (values.size > MAX_VALUES) throw badArchive(file, `it has more than ${MAX_VALUES} values`);
  }
  if (!about || !sums) throw badArchive(file, "it is cut, or no backup of eleventy-twtxt");
  for (const [key, sha256] of sums) {
    if (values.get(key)?.sha256 !== sha256) throw badArchive(file, `${key} is not as it was written`);
  }
  for (const key of [...values.keys()]) if (!sums.has(key)) values.delete(key);
  return { about, values };
}

/**
 * The values of an archive that count.
 *
 * @param contents - as {@link checkArchive} has found it
 * @throws TwtxtError `bad-file` where the file was changed since, once a value's chunks end
 */
export async function* valuesOf(
  file: ArchiveSource,
  { values }: ArchiveContents,
  onBytes: (bytes: number) => void,
): AsyncGenerator<{ key: string; value: ArchivedValue; chunks: AsyncIterable<Uint8Array> }> {
  let found = 0;
  for await (const { number, name, body } of entriesOf(file, onBytes)) {
    const key = name.startsWith(FOLDER) ? name.slice(FOLDER.length) : "";
    const value = values.get(key);
    if (value?.entry === number) {
      found += 1;
      yield { key, value, chunks: checked(body, value, () => badArchive(file, "it was changed while it was read")) };
    }
    await hashed(body);
  }
  if (found < values.size) throw badArchive(file, "it was changed while it was read");
}

interface Entry {
  number: number;
  name: string;
  size: number;
  /** What is wrong with the archive shows here too. */
  body: AsyncIterable<Uint8Array>;
}

/** @throws TwtxtError `bad-file` */
async function* entriesOf(file: ArchiveSource, onBytes: (bytes: number) => void): AsyncGenerator<Entry> {
  const gunzip = createGunzip();
  const counted = async function* (chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      onBytes(chunk.length);
      yield chunk;
    }
  };
  // Its error is that of gunzip too.
  const read = pipeline(file.chunks(), counted, gunzip).catch(() => {});
  let number = 0;
  try {
    const unzipped = Readable.toWeb(gunzip) as ReadableStream<Uint8Array>;
    const entries = unzipped.pipeThrough(createTarDecoder({ strict: true }));
    for await (const { header, body } of entries) {
      if (header.type !== "file") throw badArchive(file, `${JSON.stringify(header.name)} is no file`);
      yield { number, name: header.name, size: header.size, body: sound(body, file) };
      number += 1;
    }
  } catch (error) {
    throw unsound(error, file);
  } finally {
    gunzip.destroy();
    await read;
  }
}

async function* sound(body: ReadableStream<Uint8Array>, file: ArchiveSource): AsyncGenerator<Uint8Array> {
  try {
    // Not cancelled where it is left: the decoder would stand still.
    yield* body.values({ preventCancel: true });
  } catch (error) {
    throw unsound(error, file);
  }
}

function unsound(error: unknown, file: ArchiveSource): TwtxtError {
  return error instanceof TwtxtError ? error : badArchive(file, (error as Error).message, { cause: error });
}

async function textOf(
  file: ArchiveSource,
  { name, size, body }: Omit<Entry, "number">,
  maxBytes: number,
): Promise<string> {
  if (size > maxBytes) throw badArchive(file, `${name} has ${size} bytes`);
  return Buffer.from(await joined(body)).toString();
}

async function hashed(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of chunks) hash.update(chunk);
  return hash.digest("hex");
}

async function* checked(
  chunks: AsyncIterable<Uint8Array>,
  { sha256 }: ArchivedValue,
  fault: () => TwtxtError,
): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
  if (hash.digest("hex") !== sha256) throw fault();
}

/** @throws TwtxtError `bad-file` for a name that is no key of a store, such as `store/../.env` */
function keyIn(name: string, file: ArchiveSource): string {
  const key = name.slice(FOLDER.length);
  if (name.startsWith(FOLDER) && isKey(key)) return key;
  throw badArchive(file, `it holds ${JSON.stringify(name)}, which belongs in no backup`);
}

function sumsText(sums: ReadonlyMap<string, string>): string {
  return [...sums].map(([key, sha256]) => `${sha256}  ${FOLDER}${key}\n`).join("");
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
  throw badArchive(file, "it is no backup of this version");
}

function badArchive({ name }: ArchiveSource, why: string, options?: ErrorOptions): TwtxtError {
  return new TwtxtError("bad-file", `${name} is not a complete backup: ${why}.`, options);
}
