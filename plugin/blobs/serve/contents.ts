// plugin/blobs/serve/contents.ts: the stored contents of blobs, each under a key of its own that is never written again.
//
// `blobs/contents/<owner>/<place>-<time>.<random>-<size>`: the key has all that limits and sweeps need.
import { createHash, hash, randomBytes, randomInt } from "node:crypto";
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import { RecentValues } from "../../groups.js";
import type { Log } from "../../http/respond.js";
import { byobReader, toPart } from "../../store/chunks.js";
import { type FolderSurvey, parseEntry, type Range, type StreamingStore } from "../../store/store.js";
import type { BlobInfo } from "../blob.js";

/** Longer than any request may take. */
const LEFTOVER_AGE_MS = 24 * 3600_000;
/** Larger contents are compared with their hash while they are sent, smaller ones before. */
const COMPARED_BYTES = 64 * 1024;
/** Size of a read in bytes. */
const READ_BYTES = 256 * 1024;
const INTACT_MS = 24 * 3600_000;
/** Large contents that are remembered as intact. */
const MAX_INTACT = 1000;
/** Contents checked in one sweep. Each costs a read. */
const SWEPT_AT_ONCE = 100;
const FOLDER = "blobs/contents/";

/** A blob with the key of its contents. */
export interface StoredBlob extends BlobInfo {
  contents: string;
}

/** Contents without a blob. */
export type NewContents = Pick<StoredBlob, "contents" | "size" | "sha256">;

/** Stored contents as described by their key. */
export interface ContentsName {
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

interface PlacesPage {
  places: string[];
  /** The cursor of the next page; `null` for the last one. */
  next: string | null;
  /** Of all blobs of the owner, where all were read. */
  count?: number;
  bytes?: number;
}

export interface ContentsOptions {
  store: StreamingStore;
  now: Clock;
  log: Log;
}

/** The contents of all owners. All methods throw TwtxtError `store-failed`. */
export class BlobContents {
  /** Until when large contents are not compared again, in milliseconds since 1970. */
  readonly #intactUntil = new RecentValues<string, number>(MAX_INTACT);

  constructor(private readonly options: ContentsOptions) {}

  /** @returns the bytes of a small blob, a stream of a large one; `null` if it was replaced or deleted since it was found */
  async read({ contents, size }: StoredBlob, range?: Range): Promise<Uint8Array | ReadableStream<Uint8Array> | null> {
    if (size > COMPARED_BYTES) return this.options.store.read(contents, range);
    const found = await this.options.store.get(contents);
    return found && toPart(found.bytes, range);
  }

  /**
   * As {@link read}, for readers who cannot check the owner's proof: contents are compared with their hash. Of a large blob,
   * only the whole contents are, and not again for a day, since that takes as long as sending them.
   *
   * @throws TwtxtError `blob-damaged`; the stream of a large blob throws it before its last bytes
   */
  async readIntact(blob: StoredBlob, range?: Range): Promise<Uint8Array | ReadableStream<Uint8Array> | null> {
    const { store } = this.options;
    if (blob.size > COMPARED_BYTES) return this.#readLarge(blob, range);
    const found = await store.get(blob.contents);
    if (!found) return null;
    if (hash("sha256", found.bytes) !== blob.sha256) throw damagedBlob(blob);
    return toPart(found.bytes, range);
  }

  async #readLarge(blob: StoredBlob, range: Range | undefined): Promise<ReadableStream<Uint8Array> | null> {
    const { store, now, log } = this.options;
    const { contents } = blob;
    const stream = await store.read(contents, range);
    if (!stream || range || now() < (this.#intactUntil.get(contents) ?? 0)) return stream;
    return comparedStream(stream, blob, (damage) => {
      if (damage) log(damage.message);
      else this.#intactUntil.set(contents, now() + INTACT_MS);
    });
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
    const { store, now } = this.options;
    const start = now();
    const contents = `${FOLDER}${owner}/${toPlace(key)}-${start.toString(36)}.${randomBytes(8).toString("hex")}-${size}`;
    await store.write(contents, chunks, size);
    if (now() - start < LEFTOVER_AGE_MS / 2) return { contents, size, sha256: hash() };
    // The sweep would soon delete them.
    await this.discard({ contents });
    throw new TwtxtError("too-slow", "The upload took more than half a day.");
  }

  /** Deletes contents without a blob. */
  async discard({ contents }: Pick<NewContents, "contents">): Promise<void> {
    await this.options.store.delete(contents);
  }

  /** What an owner stores, in bytes, and the keys of a place. */
  survey(owner: string, place: string): Promise<FolderSurvey> {
    return this.options.store.survey(`${FOLDER}${owner}/`, place);
  }

  /** All contents of an owner, or of all owners. */
  async list(owner?: string): Promise<ContentsName[]> {
    const keys = await this.options.store.keys(owner === undefined ? FOLDER : `${FOLDER}${owner}/`);
    return keys.flatMap((key) => parseName(key) ?? []);
  }

  /** The places of an owner's blobs in order. @param after - the last one of the page before, or empty */
  async listPlaces(owner: string, after: string, limit: number): Promise<PlacesPage> {
    const folder = `${FOLDER}${owner}/`;
    // A dot sorts after the hyphen that follows a place.
    const start = after === "" ? undefined : `${folder}${after}.`;
    const keys = await this.options.store.list(folder, { after: start, limit: limit + 1 });
    // A blob that is being replaced briefly has two contents.
    const places = [...new Set(keys.slice(0, limit).flatMap((key) => parseName(key)?.place ?? []))];
    return { places, next: keys.length > limit ? (places.at(-1) ?? null) : null };
  }

  /**
   * The places of an owner's blobs, those with the newest contents first. Reads the keys of all contents.
   *
   * @param after - the cursor of the page before, or empty
   */
  async listNewestPlaces(owner: string, after: string, limit: number): Promise<PlacesPage> {
    const newest = new Map<string, { place: string; cursor: string; size: number }>();
    for (const { time, place, size } of await this.list(owner)) {
      const cursor = `${String(time).padStart(15, "0")}-${place}`;
      if (cursor > (newest.get(place)?.cursor ?? "")) newest.set(place, { place, cursor, size });
    }
    const all = [...newest.values()].sort((a, b) => (a.cursor < b.cursor ? 1 : -1));
    const rest = all.filter(({ cursor }) => after === "" || cursor < after);
    const page = rest.slice(0, limit);
    const bytes = all.reduce((sum, { size }) => sum + size, 0);
    const next = rest.length > limit ? (page.at(-1)?.cursor ?? null) : null;
    return { places: page.map(({ place }) => place), next, count: all.length, bytes };
  }

  /** Old contents to check: first those of places with several, since only one is in use, then others from a random start. */
  async listPossibleLeftovers(): Promise<ContentsName[]> {
    const { now } = this.options;
    const all = await this.list();
    const toId = ({ owner, place }: ContentsName) => `${owner}/${place}`;
    const counts = new Map<string, number>();
    for (const one of all) counts.set(toId(one), (counts.get(toId(one)) ?? 0) + 1);
    const isOfSeveral = (one: ContentsName) => (counts.get(toId(one)) ?? 0) > 1;

    const old = all.filter(({ time }) => time <= now() - LEFTOVER_AGE_MS);
    const start = old.length > 0 ? randomInt(old.length) : 0;
    const rotated = [...old.slice(start), ...old.slice(0, start)];
    const ordered = [...rotated.filter(isOfSeveral), ...rotated.filter((one) => !isOfSeveral(one))];
    return ordered.slice(0, SWEPT_AT_ONCE);
  }
}

function parseName(contents: string): ContentsName | null {
  const { id: place, number: size } = parseEntry(contents) ?? {};
  if (place === undefined || size === undefined) return null;
  const [, , owner = "", name = ""] = contents.split("/");
  return { contents, owner, place, size, time: Number.parseInt(name.split("-")[1] ?? "", 36) };
}

/** The place of a blob among those of its owner. Its key may be too long for a store key, and differ from another only in case. */
export function toPlace(key: string): string {
  return hash("sha256", key);
}

type Described = Pick<BlobInfo, "key" | "size" | "sha256">;

/** The error of damaged contents, for the owner's log and for readers. */
function damagedBlob({ key }: Described): TwtxtError {
  return new TwtxtError(
    "blob-damaged",
    `The stored contents of the blob ${key} are damaged: they do not have its SHA-256. Its owner can store the file again, with eleventy-twtxt blob put --again FILE, or restore a backup.`,
  );
}

/**
 * Contents that fail before their last bytes if they are damaged.
 *
 * @param contents - a byte stream; another stream is returned as it is
 * @param onCompared - called with the damage before the stream fails, or with `null` at its end
 */
function comparedStream(
  contents: ReadableStream<Uint8Array>,
  blob: Described,
  onCompared: (damage: TwtxtError | null) => void,
): ReadableStream<Uint8Array> {
  const reader = byobReader(contents);
  if (!reader) return contents;
  const digest = createHash("sha256");
  let left = blob.size;
  return new ReadableStream({
    type: "bytes",
    autoAllocateChunkSize: READ_BYTES,
    async pull(controller) {
      const request = controller.byobRequest as ReadableStreamBYOBRequest;
      const { value, done } = await reader.read(request.view as Uint8Array<ArrayBuffer>);
      if (value) digest.update(value);
      left -= value?.length ?? 0;
      if (done || left < 0 || (left === 0 && digest.digest("hex") !== blob.sha256)) {
        const damage = damagedBlob(blob);
        onCompared(damage);
        throw damage;
      }
      request.respondWithNewView(value as Uint8Array<ArrayBuffer>);
      if (left > 0) return;
      onCompared(null);
      controller.close();
      controller.byobRequest?.respond(0);
      await reader.cancel();
    },
    cancel: () => reader.cancel(),
  });
}
