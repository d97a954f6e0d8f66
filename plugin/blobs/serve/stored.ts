// plugin/blobs/serve/stored.ts: storage of blobs. A record has everything about a blob and names its contents.
//
// Contents are written first, under a key of their own, and never change. Then the record is replaced in one conditional
// write, which commits the change. Then the former contents are deleted. A deleted blob leaves a record that marks the
// deletion, since no storage deletes a key on the condition of its version.
import { randomUUID } from "node:crypto";
import * as v from "valibot";
import { isExpired, isNonceSpent, type Nonce, spendNonce } from "../../http/nonces.js";
import { nonceUsed } from "../../http/signature.js";
import { readJson, writeJson } from "../../store/json.js";
import { LostRace, winRace } from "../../store/retry.js";
import { BLOB, type Metadata } from "../blob.js";
import { BlobContents, type ContentsOptions, type NewContents, type StoredBlob, toPlace } from "./contents.js";

/** Retries after losing a race with another writer. */
const TRIES = 100;

export interface StoredRecord {
  /** `null` if it never existed or was deleted. */
  blob: StoredBlob | null;
  /** `undefined` if there is no record. */
  etag: string | undefined;
  /** The nonces of the latest writes, each with its expiry in seconds since 1970. */
  nonces: [nonce: string, expires: number][];
}

/** The record of a blob that was never stored. */
export const NO_RECORD: StoredRecord = { blob: null, etag: undefined, nonces: [] };

/** The next version of a blob; `null` deletes it. */
export type NextVersion = { contents: NewContents; metadata: Metadata } | null;

/** A blob before and after a change; `null` if there is none. */
export interface BlobChange {
  before: StoredBlob | null;
  after: StoredBlob | null;
}

export const RECORDS = "blobs/records/";

const nonces = v.array(v.tuple([v.string(), v.number()]));
const RECORD = v.union([
  v.object({ ...BLOB.entries, nonces, contents: v.string() }),
  v.object({ isDeleted: v.literal(true), nonces }),
]);

/** The blobs of all owners. All methods throw TwtxtError `store-failed`. */
export class StoredBlobs {
  readonly contents: BlobContents;

  constructor(private readonly options: ContentsOptions) {
    this.contents = new BlobContents(options);
  }

  async find(owner: string, key: string): Promise<StoredBlob | null> {
    return (await this.record(owner, key)).blob;
  }

  async record(owner: string, key: string): Promise<StoredRecord> {
    const found = await readJson(this.options.store, recordKey(owner, toPlace(key)), RECORD);
    return { blob: toBlob(found), etag: found?.etag, nonces: found?.value.nonces ?? [] };
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
    const { store, now } = this.options;
    const owner = nonce.keyid;
    let known = first;
    return winRace(TRIES, async () => {
      const found = await Promise.all([known ?? this.record(owner, key), mayBeRefused && isNonceSpent(store, nonce)]);
      known = undefined;
      const [{ blob: before, etag, nonces }, isSpent] = found;
      if (isSpent || nonces.some(([used]) => used === nonce.nonce)) throw nonceUsed();
      // A refused request changes no record, so its nonce needs its own key.
      const next = await change(before).catch(async (refusal) => {
        await spendNonce(store, nonce);
        throw refusal;
      });
      const modified = new Date(now()).toISOString();
      const created = before?.created ?? modified;
      const after = next && { ...next.contents, ...next.metadata, owner, key, created, modified };
      const valid = nonces.filter(([, expires]) => !isExpired(expires, now()));
      // Random, because writers that compete must write different bytes.
      const used = [...valid, [nonce.nonce, nonce.expires]];
      const record = { ...(after ?? { isDeleted: true }), nonces: used, write: randomUUID() };
      const condition = etag === undefined ? { isNew: true as const } : { etag };
      if ((await writeJson(store, recordKey(owner, toPlace(key)), record, condition)) !== null)
        return { before, after };
      throw new LostRace(`The record of ${key} was changed by other processes ${TRIES} times in a row.`);
    });
  }

  /** @returns `null` for a deleted blob, and for a damaged record, which is logged */
  async findByPlace(owner: string, place: string): Promise<StoredBlob | null> {
    return (await this.#readableRecord(owner, place)).blob;
  }

  /** Deletes contents that no record names, some of them in each run. @param isOver - when true, nothing more is started */
  async sweep(isOver: () => boolean): Promise<void> {
    for (const { contents, owner, place } of await this.contents.listPossibleLeftovers()) {
      if (isOver()) return;
      const { blob, isDamaged } = await this.#readableRecord(owner, place);
      if (!isDamaged && blob?.contents !== contents) await this.contents.discard({ contents });
    }
  }

  /** Logs a damaged record instead of throwing, so that the others can be read. */
  async #readableRecord(owner: string, place: string) {
    const { store, log } = this.options;
    const key = recordKey(owner, place);
    let isDamaged = false;
    const found = await readJson(store, key, RECORD, () => {
      isDamaged = true;
      log(`A stored blob cannot be read: ${key}`, { level: "error" });
    });
    return { blob: toBlob(found), isDamaged };
  }
}

function toBlob(found: { value: v.InferOutput<typeof RECORD> } | null): StoredBlob | null {
  return found && !("isDeleted" in found.value) ? found.value : null;
}

function recordKey(owner: string, place: string): string {
  return `${RECORDS}${owner}/${place}`;
}

/** The keys of the contents that a record names; none for a damaged one. */
export function listNamedContents(record: Uint8Array): string[] {
  const found = v.safeParse(v.pipe(v.string(), v.parseJson(), RECORD), Buffer.from(record).toString());
  return found.success && !("isDeleted" in found.output) ? [found.output.contents] : [];
}
