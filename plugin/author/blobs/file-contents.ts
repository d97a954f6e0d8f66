// plugin/author/blobs/file-contents.ts: files to store as blobs: contents, media type, pictures without metadata, and sealing.
import { hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile, stat, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { buffer } from "node:stream/consumers";
import { isContentAddress } from "../../blobs/blob.js";
import type { Contents } from "../../blobs/client/client.js";
import type { MetadataChange } from "../../blobs/client/own-blobs.js";
import { formatSealedFile, MAX_SEALED_BYTES, SEALED_TYPE, type SealedFile } from "../../blobs/client/sealed-file.js";
import { ANY_TYPE, checkFilename } from "../../blobs/metadata.js";
import { badFile, isMissing, orBadFile, TwtxtError } from "../../errors.js";
import { parseKey } from "../../keys/key.js";
import { later } from "../../later.js";
import { Contacts } from "../../messages/lookup/contacts.js";
import { resolveRecipients } from "../../messages/lookup/recipients.js";
import { seal } from "../../messages/sealing.js";
import { CLEANED_TYPES, removeMetadata } from "../../pictures/remove-metadata.js";
import { ChunkMeter } from "../../store/chunks.js";
import { sizeText } from "../amounts.js";
import { type Author, ownKeys } from "../author.js";
import { readChunks } from "../files.js";
import { typed } from "../invocation.js";
import { type HostChoice, type Machine, untilAborted } from "../machine.js";
import { createNetwork } from "../network.js";
import type { BlobSite } from "./blob-site.js";

const fileTypes = later(() => import("file-type"));
const mediaTypes = later(() => import("mime"));

export interface SourceFile {
  shown: string;
  /** Empty if it has none. */
  filename: string;
  size: number;
  chunks(): AsyncIterable<Uint8Array>;
}

/** A file of the author's. @param path - absolute @throws TwtxtError `bad-file` */
export async function findFile(path: string, shown: string): Promise<SourceFile> {
  const found = await readStat(path);
  if (!found.isFile()) throw new TwtxtError("bad-file", `${shown} is not a file.`);
  return { shown, filename: basename(path), size: found.size, chunks: () => readChunks(path) };
}

/** @throws TwtxtError `bad-file` */
export async function readStat(path: string) {
  return stat(path).catch((error) => {
    if (!isMissing(error)) throw badFile(error);
    // Node.js replaces bytes that are not UTF-8 in a name, and then finds no file of that name.
    const why = path.includes("\ufffd") ? "Its name must be UTF-8." : `There is no file ${path}.`;
    throw new TwtxtError("bad-file", why, { cause: error });
  });
}

interface FileContents extends Contents {
  /** The first 4 KB. */
  start: Uint8Array;
  /** Whether all of them are UTF-8. */
  isUtf8: boolean;
}

const START_BYTES = 4100;
const CHUNK_BYTES = 256 * 1024;

/**
 * Reads a file once for its size and hash. Its chunks are read again each time.
 *
 * @throws TwtxtError `bad-file`
 */
export async function readContents(file: SourceFile, signal: AbortSignal): Promise<FileContents> {
  const meter = new ChunkMeter();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let [start, isUtf8] = [Buffer.alloc(0), true];
  const decode = (chunk?: Uint8Array) => {
    try {
      if (isUtf8) decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      isUtf8 = false;
    }
  };
  for await (const chunk of meter.pass(untilAborted(file.chunks(), signal))) {
    decode(chunk);
    if (start.length < START_BYTES) start = Buffer.concat([start, chunk.subarray(0, START_BYTES - start.length)]);
  }
  decode();
  const [size, sha256] = [meter.size, meter.sha256()];
  const chunks = () => unchanged(untilAborted(file.chunks(), signal), sha256, { ...file, size });
  return { size, sha256, start, isUtf8, chunks };
}

export function contentsOfBytes(bytes: Uint8Array): Contents {
  return {
    size: bytes.length,
    sha256: hash("sha256", bytes),
    async *chunks() {
      for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
    },
  };
}

/** Holds the last chunk back until the hash matches: the site discards an incomplete body. */
async function* unchanged(
  chunks: AsyncIterable<Uint8Array>,
  sha256: string,
  { size, shown }: Pick<SourceFile, "size" | "shown">,
): AsyncGenerator<Uint8Array> {
  const changed = () => new TwtxtError("bad-file", `${shown} changed while it was read. It was not stored.`);
  const meter = new ChunkMeter();
  let last: Uint8Array | undefined;
  for await (const chunk of meter.pass(chunks)) {
    if (last) yield last;
    last = chunk;
    if (meter.size > size) throw changed();
  }
  if (meter.sha256() !== sha256) throw changed();
  if (last) yield last;
}

/** Container formats: the file name is more specific. */
const CONTAINERS = ["application/zip", "application/gzip", "application/xml", "application/x-cfb", "application/ogg"];

/**
 * The media type of a file, from its first bytes, else from its name.
 *
 * @param filename - empty for none
 * @returns with `charset=utf-8` for UTF-8 text; `application/octet-stream` for an unknown type
 */
export async function detectMediaType(
  filename: string,
  { start, isUtf8 }: Pick<FileContents, "start" | "isUtf8">,
): Promise<string> {
  const byName = (await mediaTypes()).default.getType(filename);
  const byBytes = (await (await fileTypes()).fileTypeFromBuffer(start))?.mime;
  if (byBytes !== undefined && !(byName !== null && CONTAINERS.includes(byBytes))) return byBytes;
  const type = byName ?? ANY_TYPE;
  return type.startsWith("text/") && isUtf8 ? `${type}; charset=utf-8` : type;
}

/**
 * Replaces a picture by one without location data and other metadata. Other files are not changed.
 *
 * @param name - of the file, for messages
 * @returns a sentence for a picture whose metadata cannot be removed; `null` for all others
 * @throws TwtxtError `bad-file`
 */
export async function cleanPictureFile(path: string, name: string): Promise<string | null> {
  const { fileTypeFromBuffer } = await fileTypes();
  const start = await orBadFile(buffer(createReadStream(path, { end: START_BYTES - 1 })));
  const type = (await fileTypeFromBuffer(start))?.mime ?? "";
  if (!CLEANED_TYPES.includes(type)) {
    return type.startsWith("image/") ? `Location data cannot be removed from pictures of the type ${type}.` : null;
  }
  const { bytes } = removeMetadata(await orBadFile(readFile(path)), name);
  await orBadFile(writeFile(path, bytes));
  return null;
}

export type SealFile = (file: SealedFile) => Uint8Array;

interface Preparation {
  site: Pick<BlobSite, "maxBytes" | "host" | "signal">;
  change: MetadataChange;
  /** `undefined` for the SHA-256 of the contents. */
  key?: string | undefined;
  /** `null` for no encryption. */
  sealFile: SealFile | null;
}

/**
 * Looks recipients up. Keys that are seen for the first time are pinned.
 *
 * @param to - the addresses of recipients besides the author
 * @throws TwtxtError as `resolveRecipients`
 */
export async function fileSealer(
  to: readonly string[],
  author: Author,
  choice: HostChoice,
  machine: Machine,
): Promise<SealFile> {
  const [sender] = await ownKeys(author, machine);
  const contacts = new Contacts(author.store, machine.now);
  const { lookup } = createNetwork(choice);
  const resolved = to.length === 0 ? [] : await resolveRecipients(to, { lookup, contacts });
  for (const { found } of resolved) if (found) await contacts.pin(found);
  const recipients = [...resolved.map(({ key }) => parseKey(key)), sender.publicKey];
  return (file) => seal(formatSealedFile(file), { sender, recipients });
}

/**
 * Reads a file once, and seals it if asked to.
 *
 * @returns what `OwnBlobs.put` needs to store it
 * @throws TwtxtError `too-large`; `bad-metadata` for its name; `bad-usage` for the key; `bad-file`
 */
export async function prepareBlob(file: SourceFile, preparation: Preparation) {
  const isSealed = preparation.sealFile !== null;
  checkFileSize(file.size, preparation.site, isSealed);
  const { contents, ...options } = await contentsToPut(file, preparation);
  // Sealing adds some bytes.
  checkFileSize(contents.size, preparation.site, isSealed);
  const { sha256 } = contents;
  const { key = sha256 } = preparation;
  if (isContentAddress(key) && key !== sha256) {
    throw new TwtxtError("bad-usage", `A key of 64 hex characters must be the SHA-256 of the file, here ${sha256}.`);
  }
  return { key, contents, ...options };
}

async function contentsToPut(file: SourceFile, { change, sealFile, site }: Preparation) {
  const { filename } = file;
  if (change.filename === undefined) checkFilename(filename);
  const contents = await readContents(file, site.signal);
  const type = change.type ?? (await detectMediaType(filename, contents));
  if (!sealFile) return { contents, change, file: { type, ...(filename !== "" && { filename }) } };
  const sealed = sealFile({ filename: change.filename ?? filename, type, bytes: await buffer(contents.chunks()) });
  return { contents: contentsOfBytes(sealed), change: { ...change, type: SEALED_TYPE, filename: "" }, file: {} };
}

/** Checks that the site accepts a file of this size. @throws TwtxtError `too-large` */
export function checkFileSize(size: number, { maxBytes, host }: Preparation["site"], isSealed: boolean): void {
  if (isSealed) checkSealedSize(size);
  if (size <= maxBytes) return;
  const needed = Math.ceil(size / 2 ** 20) + (isSealed ? 1 : 0);
  const more = `accepts it with the option blobs: { maxMegabytes: ${needed} } or more`;
  const advice =
    host === "netlify"
      ? `Netlify accepts no larger body; \`${typed("serve")}\` on your own host ${more}.`
      : `The site ${more}, once it is built and deployed.`;
  throw new TwtxtError("too-large", `It is larger than the ${sizeText(maxBytes)} that the site accepts. ${advice}`);
}

/** @throws TwtxtError `too-large` */
export function checkSealedSize(size: number): void {
  if (size <= MAX_SEALED_BYTES) return;
  throw new TwtxtError("too-large", `A file to seal must be at most ${sizeText(MAX_SEALED_BYTES)}.`);
}
