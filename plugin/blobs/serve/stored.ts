// plugin/blobs/serve/stored.ts: blobs in a store: a record says all of one, and names its contents, which never change.
//
// Contents are written first, under a name of their own; then the record is switched, in one step, which is the only one
// that counts; then the former contents go. A blob that is deleted leaves a record that says so, since no storage removes
// a key on the condition of its version. How many blobs an owner has, and how large they are, stands in the names of the
// contents, so that it takes a list and no reading.
import { createHash } from "node:crypto";
import * as v from "valibot";
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import type { Log } from "../../http/respond.js";
import { readJson, writeJson } from "../../store/json.js";
import type { Range, StreamingStore } from "../../store/store.js";
import { type BlobInfo, type Metadata, PROPERTIES } from "../blob.js";

/** How often it is tried while others write the same key. Each time that one loses, another has won. */
const TRIES = 100;
/** Longer than any request may take. */
const LEFTOVER_AGE_MS = 24 * 3600_000;
const RANDOM_BYTES = 8;
/** How many are looked at in a run, of which each costs a read. */
const SWEPT_AT_ONCE = 100;

/** A blob with the name of its contents. */
export interface StoredBlob extends BlobInfo {
  contents: string;
}

/** Contents that have been written, and belong to no blob yet. */
export type NewContents = Pick<StoredBlob, "contents" | "size" | "sha256">;

/** What a blob becomes; `null` for its end. */
export type Next = { contents: NewContents; metadata: Metadata } | null;

/** What a step makes of a blob. */
export type Step = (before: StoredBlob | null) => Promise<Next>;

/** What has come of a step. */
export interface Stepped {
  before: StoredBlob | null;
  after: StoredBlob | null;
}

const FOLDER = "blobs/contents/";
/** What the keys of all records start with. */
export const RECORDS = "blobs/records/";
const NAME = /^(?<place>[0-9a-f]{64})\.(?<size>\d+)\.(?<time>[0-9a-z]+)-[0-9a-f]+$/;

const text = v.string();
const RECORD = v.union([
  v.object({ isDeleted: v.literal(true) }),
  v.object({
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

export interface StoredBlobsOptions {
  store: StreamingStore;
  now: Clock;
  /** Random bytes. */
  random(length: number): Uint8Array;
  log: Log;
}

/** The blobs of all owners. All methods throw TwtxtError `store-failed`. */
export class StoredBlobs {
  readonly #options: StoredBlobsOptions;

  constructor(options: StoredBlobsOptions) {
    this.#options = options;
  }

  async find(owner: string, key: string): Promise<StoredBlob | null> {
    return (await this.#record(owner, placeOf(key))).blob;
  }

  /** @returns `null` if it was replaced or deleted since it was found */
  read({ contents }: StoredBlob, range?: Range): Promise<ReadableStream<Uint8Array> | null> {
    return this.#options.store.read(contents, range);
  }

  /**
   * Writes contents that belong to no blob yet.
   *
   * @param chunks - if they throw a TwtxtError, nothing is left and it is thrown
   */
  async write(
    { owner, key, size }: Pick<BlobInfo, "owner" | "key" | "size">,
    chunks: AsyncIterable<Uint8Array>,
    hash: () => string,
  ): Promise<NewContents> {
    const { store, now } = this.#options;
    const start = now();
    const name = `${placeOf(key)}.${size}.${start.toString(36)}-${this.#unique()}`;
    const contents = `${FOLDER}${owner}/${name}`;
    await store.write(contents, chunks, size);
    if (now() - start < LEFTOVER_AGE_MS / 2) return { contents, size, sha256: hash() };
    // The sweep would soon take them for leftovers.
    await store.delete(contents);
    throw new TwtxtError("too-slow", "The body has taken more than half a day.");
  }

  /** Removes contents that no longer belong to a blob. */
  async discard({ contents }: Pick<NewContents, "contents">): Promise<void> {
    await this.#options.store.delete(contents);
  }

  /**
   * Replaces, changes or ends a blob. Its former contents are left to {@link discard}.
   *
   * @param step - called with what is there, and again after each lost race; what it throws is thrown
   */
  async step(owner: string, key: string, step: Step): Promise<Stepped> {
    const { store, now } = this.#options;
    const place = placeOf(key);
    for (let tries = 0; tries < TRIES; tries += 1) {
      const { blob: before, etag } = await this.#record(owner, place);
      const next = await step(before);
      const after = next && stepped({ owner, key }, before, next, now());
      // Of two writers one must lose, so no two write the same bytes.
      const value = { ...(after ?? { isDeleted: true }), write: this.#unique() };
      const condition = etag === undefined ? { isNew: true as const } : { etag };
      if ((await writeJson(store, recordKey(owner, place), value, condition)) !== null) return { before, after };
    }
    throw new TwtxtError("store-failed", `The record of ${key} was changed by others ${TRIES} times in a row.`);
  }

  /** What an owner has, in the order of `place`, an opaque text. */
  async places(owner: string): Promise<{ place: string; size: number }[]> {
    const found = await this.#names(`${owner}/`);
    return found.sort((a, b) => (a.place < b.place ? -1 : 1));
  }

  /** @returns `null` if nothing is at this place any more, or nothing that can be read, which is logged */
  async at(owner: string, place: string): Promise<StoredBlob | null> {
    return (await this.#legible(owner, place)).blob;
  }

  /** Removes contents that no record names, some of them in each run. @param isOver - nothing is started once this holds */
  async sweep(isOver: () => boolean): Promise<void> {
    const { store, now, random } = this.#options;
    const latest = now() - LEFTOVER_AGE_MS;
    for (const { contents, owner, place } of suspects(await this.#names(""), latest, random)) {
      if (isOver()) return;
      const { blob, isDamaged } = await this.#legible(owner, place);
      if (!isDamaged && blob?.contents !== contents) await store.delete(contents);
    }
  }

  #unique(): string {
    return Buffer.from(this.#options.random(RANDOM_BYTES)).toString("hex");
  }

  async #record(owner: string, place: string) {
    const found = await readJson(this.#options.store, recordKey(owner, place), RECORD);
    return { blob: found && !("isDeleted" in found.value) ? found.value : null, etag: found?.etag };
  }

  /** A damaged record does not keep the others from being read; a store that gives no answer does. */
  async #legible(owner: string, place: string) {
    const { store, log } = this.#options;
    const key = recordKey(owner, place);
    const found = await store.get(key);
    const value = found && recordIn(found.bytes);
    if (found && !value) log(`A stored blob cannot be read: ${key}`);
    return { blob: value && !("isDeleted" in value) ? value : null, isDamaged: found !== null && value === null };
  }

  async #names(prefix: string) {
    const keys = await this.#options.store.keys(FOLDER + prefix);
    return keys.flatMap((contents) => {
      const [, , owner = "", name = ""] = contents.split("/");
      const { place, size, time } = NAME.exec(name)?.groups ?? {};
      if (place === undefined) return [];
      return [{ contents, owner, place, size: Number(size), time: Number.parseInt(time ?? "", 36) }];
    });
  }
}

function recordKey(owner: string, place: string): string {
  return `${RECORDS}${owner}/${place}`;
}

/** The keys of the contents that a record names. */
export function contentsNamedIn(record: Uint8Array): string[] {
  const value = recordIn(record);
  return value && !("isDeleted" in value) ? [value.contents] : [];
}

/** @returns `null` for what is no record */
function recordIn(bytes: Uint8Array): v.InferOutput<typeof RECORD> | null {
  try {
    return v.parse(RECORD, JSON.parse(Buffer.from(bytes).toString()));
  } catch {
    return null;
  }
}

function stepped(
  id: Pick<BlobInfo, "owner" | "key">,
  before: StoredBlob | null,
  { contents, metadata }: NonNullable<Next>,
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

interface Named {
  contents: string;
  owner: string;
  place: string;
  time: number;
}

/** Where two contents are in one place, one is left over. Of all others there are some each time, and in time all. */
function suspects(all: readonly Named[], latest: number, random: (length: number) => Uint8Array): Named[] {
  const idOf = ({ owner, place }: Named) => `${owner}/${place}`;
  const counts = new Map<string, number>();
  for (const one of all) counts.set(idOf(one), (counts.get(idOf(one)) ?? 0) + 1);
  const isOfSeveral = (one: Named) => (counts.get(idOf(one)) ?? 0) > 1;

  const old = all.filter(({ time }) => time <= latest);
  const start = old.length > 0 ? Buffer.from(random(4)).readUInt32BE() % old.length : 0;
  const turned = [...old.slice(start), ...old.slice(0, start)];
  const ordered = [...turned.filter(isOfSeveral), ...turned.filter((one) => !isOfSeveral(one))];
  return ordered.slice(0, SWEPT_AT_ONCE);
}

/** A key may be longer than a name in the store, and differ from another one in case alone. */
export function placeOf(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}
