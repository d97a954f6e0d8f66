// plugin/mentions/receive/snapshot.ts: the snapshot of all mentions up to the last compaction.
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import * as v from "valibot";
import { TwtxtError } from "../../errors.js";
import { parseJson } from "../../store/json.js";
import { LostRace } from "../../store/retry.js";
import type { Store } from "../../store/store.js";
import { StoredMention } from "../mention.js";
import type { Mentions } from "./event.js";

const PARTS = "mentions/parts/";
export const SNAPSHOT = "mentions/snapshot";

/** Mentions per part: a hundred thousand mentions take ten requests. */
const PART_SIZE = 10_000;
/** Unreferenced parts are kept this long, since a snapshot may be about to name them. */
const ORPHAN_AGE = 24 * 3600_000;

export interface Snapshot {
  /** `null` before the first one. */
  etag: string | null;
  /** Keys of the parts, oldest first. */
  parts: readonly string[];
  /** Keys of events that the parts include and that may not be deleted yet. */
  folded: ReadonlySet<string>;
}

const StoredIndex = v.object({ version: v.literal(1), parts: v.array(v.string()), folded: v.array(v.string()) });
const StoredPart = v.array(StoredMention);

const ADVICE = `Restore the site's data from a backup, or delete ${SNAPSHOT}, which loses all mentions in it.`;

const EMPTY: Snapshot = { etag: null, parts: [], folded: new Set() };

/** Reads and replaces the snapshot, with the current one cached in memory. */
export class Snapshots {
  readonly #store: Store;
  #index: Snapshot = EMPTY;
  /** Parts are immutable, so each is read once. */
  readonly #parts = new Map<string, StoredMention[]>();
  #mentions: { etag: string | null; all: Mentions } = { etag: null, all: new Map() };

  constructor(store: Store) {
    this.#store = store;
  }

  /** Costs one request. */
  async read(): Promise<Snapshot> {
    const stored = await this.#store.get(SNAPSHOT);
    if (!stored) return EMPTY;
    if (stored.etag === this.#index.etag) return this.#index;
    const { parts, folded } = await intact(SNAPSHOT, () => parseJson(SNAPSHOT, stored.bytes, StoredIndex));
    this.#index = { etag: stored.etag, parts, folded: new Set(folded) };
    return this.#index;
  }

  /**
   * The mentions of a snapshot by id. Do not change them.
   *
   * @throws LostRace if the snapshot was replaced meanwhile
   */
  async mentions(snapshot: Snapshot): Promise<ReadonlyMap<string, StoredMention>> {
    if (snapshot.etag === this.#mentions.etag) return this.#mentions.all;
    const parts = await this.#readParts(snapshot.parts);
    const all = new Map(parts.flat().map((mention) => [mention.id, mention]));
    this.#mentions = { etag: snapshot.etag, all };
    return all;
  }

  /**
   * Replaces the snapshot. Mentions stay in their parts and new ones are appended, so only changed parts are written.
   *
   * @param folded - keys of the events applied since the old snapshot
   * @returns `false` if another process replaced it meanwhile; nothing has changed then
   */
  async replace(old: Snapshot, mentions: Mentions, folded: readonly string[], time: number): Promise<boolean> {
    const plan = layOut(await this.#readParts(old.parts), old.parts, mentions);
    const parts: string[] = [];
    for (const { key, mentions } of plan) parts.push(key ?? (await this.#writePart(mentions, time)));
    const next: v.InferOutput<typeof StoredIndex> = { version: 1, parts, folded: [...folded] };
    const condition = old.etag === null ? ({ isNew: true } as const) : { etag: old.etag };
    return (await this.#store.put(SNAPSHOT, Buffer.from(JSON.stringify(next)), condition)) !== null;
  }

  /** Deletes old parts that the current snapshot does not name. */
  async sweep(time: number): Promise<void> {
    const { parts } = await this.read();
    const isOld = (key: string) => Number.parseInt(key.slice(PARTS.length), 10) < time - ORPHAN_AGE;
    for (const key of await this.#store.keys(PARTS)) {
      if (!parts.includes(key) && isOld(key)) await this.#store.delete(key);
    }
  }

  #readParts(keys: readonly string[]): Promise<StoredMention[][]> {
    for (const key of this.#parts.keys()) if (!keys.includes(key)) this.#parts.delete(key);
    return Promise.all(keys.map((key) => this.#readPart(key)));
  }

  async #readPart(key: string): Promise<StoredMention[]> {
    const known = this.#parts.get(key);
    if (known) return known;
    const stored = await this.#store.get(key);
    if (!stored) throw new LostRace(`${key} is missing. ${ADVICE}`);
    const mentions = await intact(key, async () => parseJson(key, await promisify(gunzip)(stored.bytes), StoredPart));
    this.#parts.set(key, mentions);
    return mentions;
  }

  async #writePart(mentions: StoredMention[], time: number): Promise<string> {
    const bytes = await promisify(gzip)(JSON.stringify(mentions));
    const key = `${PARTS}${time}-${createHash("sha256").update(bytes).digest("hex").slice(0, 32)}`;
    await this.#store.put(key, bytes);
    this.#parts.set(key, mentions);
    return key;
  }
}

/** The keys of the parts that a stored snapshot names; none for a damaged one. */
export function listNamedParts(snapshot: Uint8Array): string[] {
  try {
    return parseJson(SNAPSHOT, snapshot, StoredIndex).parts;
  } catch {
    return [];
  }
}

/** Reads a value of the snapshot. @throws TwtxtError `store-failed`, with what to do if the value is damaged */
async function intact<T>(key: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const why = error instanceof TwtxtError ? error.message : `The value of ${key} cannot be decompressed.`;
    throw new TwtxtError("store-failed", `${why} ${ADVICE}`, { cause: error });
  }
}

/** The contents of a part; `key` is `null` if they are not stored yet. */
interface PlannedPart {
  key: string | null;
  mentions: StoredMention[];
}

function layOut(loaded: readonly StoredMention[][], keys: readonly string[], mentions: Mentions): PlannedPart[] {
  const left = new Map(mentions);
  const plan = loaded.map((part, i): PlannedPart => {
    const now = part.flatMap(({ id }) => left.get(id) ?? []);
    for (const { id } of part) left.delete(id);
    const isSame = now.length === part.length && now.every((mention, j) => mention === part[j]);
    return { key: isSame ? (keys[i] ?? null) : null, mentions: now };
  });
  for (const mention of left.values()) {
    const last = plan.at(-1);
    if (last && last.mentions.length < PART_SIZE) {
      last.mentions.push(mention);
      last.key = null;
    } else plan.push({ key: null, mentions: [mention] });
  }
  return plan.filter(({ mentions }) => mentions.length > 0);
}
