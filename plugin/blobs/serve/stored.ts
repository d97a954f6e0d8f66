// plugin/blobs/serve/stored.ts: storage of blobs. A record has everything about a blob and names its contents.
//
// Contents are written first, under a key of their own, and never change. Then the record is replaced in one conditional
// write, which commits the change. Then the former contents are deleted. A deleted blob leaves a record that marks the
// deletion, since no storage deletes a key on the condition of its version. The keys of the contents have place and size, so
// that quotas need a listing of keys and no reads.
import { createHash } from "node:crypto";
import * as v from "valibot";
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import { isExpired, isNonceSpent, type Nonce, spendNonce } from "../../http/nonces.js";
import type { Log } from "../../http/respond.js";
import { nonceUsed } from "../../http/signature.js";
import { toStream } from "../../store/chunks.js";
import { readJson, writeJson } from "../../store/json.js";
import { type CountedKey, createListings, type KeyListing } from "../../store/key-listing.js";
import { LostRace, winRace } from "../../store/retry.js";
import type { Range, StreamingStore } from "../../store/store.js";
import { type BlobInfo, type Metadata, PROPERTIES } from "../blob.js";
import { comparedStream, damagedBlob } from "./damaged-contents.js";

/** Retries after losing a race with another writer. */
const TRIES = 100;
/** Longer than any request may take. */
const LEFTOVER_AGE_MS = 24 * 3600_000;
const RANDOM_BYTES = 8;
/** Larger contents are compared with their hash while they are sent, smaller ones before. */
const COMPARED_BYTES = 64 * 1024;
const INTACT_MS = 24 * 3600_000;
/** Large contents that are remembered as intact. */
const MAX_INTACT = 1000;
/** Contents checked in one sweep. Each costs a read. */
const SWEPT_AT_ONCE = 100;

/** A blob with the key of its contents. */
export interface StoredBlob extends BlobInfo {
  contents: string;
}

/** The record of a blob. */
export interface StoredRecord {
  /** `null` if it never existed or was deleted. */
  blob: StoredBlob | null;
  /** `undefined` if there is no record. */
  etag: string | undefined;
  /** The nonces of the latest writes, each with its expiry in seconds since 1970. */
  nonces: Record<string, number>;
}

/** The record of a blob that never existed. */
const NO_RECORD: StoredRecord = { blob: null, etag: undefined, nonces: {} };

/** Contents without a blob. */
type NewContents = Pick<StoredBlob, "contents" | "size" | "sha256">;

/** The next version of a blob; `null` deletes it. */
export type NextVersion = { contents: NewContents; metadata: Metadata } | null;

/** A blob before and after a change; `null` if there is none. */
export interface BlobChange {
  before: StoredBlob | null;
  after: StoredBlob | null;
}

/** Stored contents as described by their key. */
interface ContentsName {
  /** The key in the store. */
  contents: string;
  owner: string;
  /** See {@link toPlace}. */
  place: string;
  /** In bytes. */
  size: number;
  /** When the upload began, in milliseconds since 1970. */
  time: number;
}

const FOLDER = "blobs/contents/";
/** The prefix of all records. */
export const RECORDS = "blobs/records/";
const NAME = /^(?<place>[0-9a-f]{64})\.(?<size>\d+)\.(?<time>[0-9a-z]+)-[0-9a-f]+$/;

const text = v.string();
/** Earlier versions had no nonces in records. */
const nonces = v.optional(v.record(text, v.number()), {});
const RECORD = v.union([
  v.object({ isDeleted: v.literal(true), nonces }),
  v.object({
    nonces,
    owner: text,
    key: text,
    size: v.pipe(v.number(), v.safeInteger()),
    sha256: text,
    type: text,
    filename: text,
    isPublic: v.boolean(),
    properties: PROPERTIES,
    created: text,
    modified: text,
    contents: text,
  }),
]);

interface StoredBlobsOptions {
  store: StreamingStore;
  now: Clock;
  /** Random bytes. */
  random(length: number): Uint8Array;
  log: Log;
}

/** The blobs of all owners. All methods throw TwtxtError `store-failed`. */
export class StoredBlobs {
  readonly #options: StoredBlobsOptions;
  readonly #listingOf: (owner: string) => KeyListing;
  /** Until when large contents are not compared again, in milliseconds since 1970. */
  readonly #intactUntil = new Map<string, number>();

  constructor(options: StoredBlobsOptions) {
    this.#options = options;
    const { store, now } = options;
    this.#listingOf = createListings((owner) => ({ store, now, prefix: `${FOLDER}${owner}/`, parse: countedContents }));
  }

  async find(owner: string, key: string): Promise<StoredBlob | null> {
    return (await this.record(owner, key)).blob;
  }

  async record(owner: string, key: string): Promise<StoredRecord> {
    const found = await readJson(this.#options.store, recordKey(owner, toPlace(key)), RECORD);
    const blob = found && !("isDeleted" in found.value) ? found.value : null;
    return { blob, etag: found?.etag, nonces: found?.value.nonces ?? {} };
  }

  /**
   * The record as {@link update} may expect it: without contents there is none, unless the blob was deleted or another
   * process has just created it. So a new blob costs no read.
   */
  async expectedRecord(owner: string, key: string): Promise<StoredRecord> {
    const listing = await this.listRecentContents(owner);
    return listing.has(toPlace(key)) ? this.record(owner, key) : NO_RECORD;
  }

  /** @returns `null` if it was replaced or deleted since it was found */
  read({ contents }: StoredBlob, range?: Range): Promise<ReadableStream<Uint8Array> | null> {
    return this.#options.store.read(contents, range);
  }

  /**
   * As {@link read}, for readers who cannot check the owner's proof: contents are compared with their hash. Of a large blob,
   * only the whole contents are, and not again for a day, since that takes as long as sending them.
   *
   * @throws TwtxtError `blob-damaged`; the stream of a large blob throws it before its last bytes
   */
  async readIntact(blob: StoredBlob, range?: Range): Promise<ReadableStream<Uint8Array> | null> {
    const { store } = this.#options;
    if (blob.size > COMPARED_BYTES) return this.#readLarge(blob, range);
    const found = await store.get(blob.contents);
    if (!found) return null;
    if (createHash("sha256").update(found.bytes).digest("hex") !== blob.sha256) throw damagedBlob(blob);
    return toStream(found.bytes, range);
  }

  async #readLarge(blob: StoredBlob, range: Range | undefined): Promise<ReadableStream<Uint8Array> | null> {
    const { store, now, log } = this.#options;
    const { contents } = blob;
    const stream = await store.read(contents, range);
    if (!stream || range || now() < (this.#intactUntil.get(contents) ?? 0)) return stream;
    return comparedStream(stream, blob, (damage) => {
      if (damage) log(damage.message);
      else this.#noteIntact(contents);
    });
  }

  #noteIntact(contents: string): void {
    this.#intactUntil.delete(contents);
    this.#intactUntil.set(contents, this.#options.now() + INTACT_MS);
    const [oldest = contents] = this.#intactUntil.keys();
    if (this.#intactUntil.size > MAX_INTACT) this.#intactUntil.delete(oldest);
  }

  /**
   * Writes contents without a blob.
   *
   * @param chunks - a TwtxtError that they throw is passed on, and nothing is stored
   * @param hash - called after the last chunk; their SHA-256 in hex
   * @throws TwtxtError `too-slow`
   */
  async write(
    { owner, key, size }: Pick<BlobInfo, "owner" | "key" | "size">,
    chunks: AsyncIterable<Uint8Array>,
    hash: () => string,
  ): Promise<NewContents> {
    const { store, now } = this.#options;
    const start = now();
    const name = `${toPlace(key)}.${size}.${start.toString(36)}-${this.#randomHex()}`;
    const contents = `${FOLDER}${owner}/${name}`;
    await store.write(contents, chunks, size);
    this.#listingOf(owner).add(contents);
    if (now() - start < LEFTOVER_AGE_MS / 2) return { contents, size, sha256: hash() };
    // The sweep would soon delete them.
    await this.discard({ contents });
    throw new TwtxtError("too-slow", "The upload took more than half a day.");
  }

  /** Deletes contents without a blob. */
  async discard({ contents }: Pick<NewContents, "contents">): Promise<void> {
    await this.#options.store.delete(contents);
    this.#listingOf(contents.slice(FOLDER.length).split("/")[0] ?? "").delete(contents);
  }

  /**
   * Creates, changes or deletes a blob. The caller discards its former contents.
   *
   * @param nonce - of the signed request. The record stores it, so that a replay of a write to this blob finds it
   * @param change - makes the next version; called again after each lost race, and its errors are thrown
   * @param mayBeRefused - whether the request could have been refused before, so that its nonce was stored without a change
   * @param first - the record as it was read before or is expected to be; if it is another, it is read again
   * @throws TwtxtError `not-signed` for a nonce that was used before
   */
  async update(
    key: string,
    nonce: Nonce,
    change: (before: StoredBlob | null) => Promise<NextVersion>,
    { mayBeRefused, first }: { mayBeRefused: boolean; first?: StoredRecord | undefined },
  ): Promise<BlobChange> {
    const { store, now } = this.#options;
    const owner = nonce.keyid;
    let known = first;
    return winRace(TRIES, async () => {
      const found = await Promise.all([known ?? this.record(owner, key), mayBeRefused && isNonceSpent(store, nonce)]);
      known = undefined;
      const [{ blob: before, etag, nonces }, isSpent] = found;
      if (isSpent || Object.hasOwn(nonces, nonce.nonce)) throw nonceUsed();
      // A refused request changes no record, so its nonce needs its own key.
      const next = await change(before).catch(async (refusal) => {
        await spendNonce(store, nonce);
        throw refusal;
      });
      const after = next && storedBlob({ owner, key }, before, next, now());
      const valid = Object.entries(nonces).filter(([, expires]) => !isExpired(expires, now()));
      // Random, because writers that compete must write different bytes.
      const write = this.#randomHex();
      const used = { ...Object.fromEntries(valid), [nonce.nonce]: nonce.expires };
      const record = { ...(after ?? { isDeleted: true }), nonces: used, write };
      const condition = etag === undefined ? { isNew: true as const } : { etag };
      if ((await writeJson(store, recordKey(owner, toPlace(key)), record, condition)) !== null)
        return { before, after };
      throw new LostRace(`The record of ${key} was changed by other processes ${TRIES} times in a row.`);
    });
  }

  /** The stored contents of an owner. */
  async listContents(owner: string): Promise<ContentsName[]> {
    return this.#contentsUnder(`${FOLDER}${owner}/`);
  }

  /** The stored contents of an owner, in groups by place. Changes by other processes may be missing for two seconds. */
  async listRecentContents(owner: string): Promise<KeyListing> {
    const listing = this.#listingOf(owner);
    await listing.refresh();
    return listing;
  }

  /** @returns `null` for a deleted blob, and for a damaged record, which is logged */
  async findByPlace(owner: string, place: string): Promise<StoredBlob | null> {
    return (await this.#readableRecord(owner, place)).blob;
  }

  /** Deletes contents that no record names, some of them in each run. @param isOver - when true, nothing more is started */
  async sweep(isOver: () => boolean): Promise<void> {
    const { now, random } = this.#options;
    const all = await this.#contentsUnder(FOLDER);
    for (const { contents, owner, place } of possibleLeftovers(all, now() - LEFTOVER_AGE_MS, random)) {
      if (isOver()) return;
      const { blob, isDamaged } = await this.#readableRecord(owner, place);
      if (!isDamaged && blob?.contents !== contents) await this.discard({ contents });
    }
  }

  #randomHex(): string {
    return Buffer.from(this.#options.random(RANDOM_BYTES)).toString("hex");
  }

  /** Logs a damaged record instead of throwing, so that the others can be read. */
  async #readableRecord(owner: string, place: string) {
    const { store, log } = this.#options;
    const key = recordKey(owner, place);
    const found = await store.get(key);
    const value = found && decodeRecord(found.bytes);
    if (found && !value) log(`A stored blob cannot be read: ${key}`, { level: "error" });
    return { blob: value && !("isDeleted" in value) ? value : null, isDamaged: found !== null && value === null };
  }

  async #contentsUnder(prefix: string): Promise<ContentsName[]> {
    return (await this.#options.store.keys(prefix)).flatMap((key) => parseContents(key) ?? []);
  }
}

function recordKey(owner: string, place: string): string {
  return `${RECORDS}${owner}/${place}`;
}

function parseContents(contents: string): ContentsName | null {
  const [, , owner = "", name = ""] = contents.split("/");
  const { place, size, time } = NAME.exec(name)?.groups ?? {};
  if (place === undefined) return null;
  return { contents, owner, place, size: Number(size), time: Number.parseInt(time ?? "", 36) };
}

/** What limits count of the key of contents. @returns `null` for another key */
export function countedContents(contents: string): CountedKey | null {
  const name = parseContents(contents);
  return name && { group: name.place, size: name.size };
}

/** The keys of the contents that a record names. */
export function listNamedContents(record: Uint8Array): string[] {
  const value = decodeRecord(record);
  return value && !("isDeleted" in value) ? [value.contents] : [];
}

/** @returns `null` for a damaged record */
function decodeRecord(bytes: Uint8Array): v.InferOutput<typeof RECORD> | null {
  try {
    return v.parse(RECORD, JSON.parse(Buffer.from(bytes).toString()));
  } catch {
    return null;
  }
}

function storedBlob(
  id: Pick<BlobInfo, "owner" | "key">,
  before: StoredBlob | null,
  { contents, metadata }: NonNullable<NextVersion>,
  now: number,
): StoredBlob {
  const modified = new Date(now).toISOString();
  const { type, filename, isPublic, properties } = metadata;
  const { contents: name, size, sha256 } = contents;
  return {
    ...id,
    size,
    sha256,
    type,
    filename,
    isPublic,
    properties: { ...properties },
    created: before?.created ?? modified,
    modified,
    contents: name,
  };
}

/** Old contents to check: first those of places with several, since only one is in use, then others from a random start. */
function possibleLeftovers(
  all: readonly ContentsName[],
  latest: number,
  random: (length: number) => Uint8Array,
): ContentsName[] {
  const toId = ({ owner, place }: ContentsName) => `${owner}/${place}`;
  const counts = new Map<string, number>();
  for (const one of all) counts.set(toId(one), (counts.get(toId(one)) ?? 0) + 1);
  const isOfSeveral = (one: ContentsName) => (counts.get(toId(one)) ?? 0) > 1;

  const old = all.filter(({ time }) => time <= latest);
  const start = old.length > 0 ? Buffer.from(random(4)).readUInt32BE() % old.length : 0;
  const rotated = [...old.slice(start), ...old.slice(0, start)];
  const ordered = [...rotated.filter(isOfSeveral), ...rotated.filter((one) => !isOfSeveral(one))];
  return ordered.slice(0, SWEPT_AT_ONCE);
}

/** The place of a blob among those of its owner. Its key may be too long for a store key, and differ from another only in case. */
export function toPlace(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}
