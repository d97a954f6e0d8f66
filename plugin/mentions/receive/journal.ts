// plugin/mentions/receive/journal.ts: events as they are stored, one immutable record each, and folded into a snapshot.
import { createHash, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import PQueue from "p-queue";
import { TwtxtError } from "../../errors.js";
import type { Store } from "../../store/store.js";
import type { StoredMention } from "../mention.js";
import { apply, type MentionEvent, type Mentions } from "./event.js";

const EVENTS = "mentions/events/";
const PARTS = "mentions/parts/";
const SNAPSHOT = "mentions/snapshot";

/** How many mentions one part of the snapshot holds: a hundred thousand are ten requests. */
const PART_SIZE = 10_000;
/** How many events one run folds in. */
const BATCH = 2_000;
const AT_ONCE = 32;
/** A part that no snapshot names may be one that is being written right now. */
const ORPHAN_AGE = 24 * 3600_000;

interface Snapshot {
  version: 1;
  /** Keys of the parts, oldest first. */
  parts: string[];
  /** Keys of events that are in the parts already, and perhaps not deleted yet. */
  folded: string[];
}

/** What has happened to mentions, and what they are now. */
export interface Journal {
  /** Durable when it returns. */
  add(event: MentionEvent): Promise<void>;
  /** All mentions as they are now. Costs one request per part and per event since the last {@link compact}. */
  read(): Promise<Mentions>;
  /**
   * Folds events into the snapshot. Safe to run twice at once, and to be killed anywhere.
   *
   * @returns how many events were folded in
   */
  compact(): Promise<number>;
}

/**
 * Nobody reads a value, changes it and writes it back, but the one who compacts: two mentions at once lose nothing.
 *
 * @param shownPerHost - see {@link apply}
 */
export function journal({ store, now, shownPerHost }: JournalOptions): Journal {
  const parts = partReader(store);

  const state = async (events: Map<string, MentionEvent>, { parts: keys, folded }: Snapshot) => {
    const loaded = await parts.readAll(keys);
    const mentions: Mentions = new Map(loaded.flat().map((mention) => [mention.id, mention]));
    const isFolded = new Set(folded);
    const left = [...events].filter(([key]) => !isFolded.has(key)).map(([, event]) => event);
    apply(mentions, left, shownPerHost);
    return { loaded, mentions };
  };

  return {
    async add(event) {
      const key = `${EVENTS}${event.at.replace(/[^0-9]/g, "")}-${randomBytes(8).toString("hex")}`;
      await store.put(key, Buffer.from(JSON.stringify(event)), { isNew: true });
    },

    async read() {
      for (let tries = 0; ; tries += 1) {
        // In this order: an event that is deleted meanwhile is in the snapshot that is read after it.
        const events = await readEvents(store, (await store.keys(EVENTS)).sort());
        try {
          return (await state(events, (await readSnapshot(store)).snapshot)).mentions;
        } catch (error) {
          // A part vanishes where a snapshot has just been replaced.
          if (!(error instanceof MissingPart) || tries === 3) throw error;
        }
      }
    },

    async compact() {
      const { snapshot, etag } = await readSnapshot(store);
      await inBatches(snapshot.folded, (key) => store.delete(key));
      const keys = (await store.keys(EVENTS)).sort().slice(0, BATCH);
      const events = await readEvents(store, keys);
      if (events.size === 0 && snapshot.folded.length === 0) return 0;

      const { loaded, mentions } = await state(events, { ...snapshot, folded: [] });
      const written = await parts.write(layOut(loaded, snapshot.parts, mentions), now());
      const next: Snapshot = { version: 1, parts: written, folded: [...events.keys()] };
      const isOurs = await store.put(
        SNAPSHOT,
        Buffer.from(JSON.stringify(next)),
        etag === null ? { isNew: true } : { etag },
      );
      if (isOurs === null) return 0;
      await inBatches(next.folded, (key) => store.delete(key));
      await sweep(store, next.parts, now());
      return events.size;
    },
  };
}

export interface JournalOptions {
  store: Store;
  /** Milliseconds since 1970. */
  now(): number;
  shownPerHost: number;
}

class MissingPart extends TwtxtError {
  constructor(key: string) {
    super("store-failed", `${key} is not there.`);
  }
}

async function readSnapshot(store: Store): Promise<{ snapshot: Snapshot; etag: string | null }> {
  const stored = await store.get(SNAPSHOT);
  if (!stored) return { snapshot: { version: 1, parts: [], folded: [] }, etag: null };
  return { snapshot: JSON.parse(Buffer.from(stored.bytes).toString()), etag: stored.etag };
}

async function readEvents(store: Store, keys: readonly string[]): Promise<Map<string, MentionEvent>> {
  const found = await inBatches(keys, async (key) => [key, await store.get(key)] as const);
  return new Map(
    found.flatMap(([key, stored]) =>
      stored ? [[key, JSON.parse(Buffer.from(stored.bytes).toString()) as MentionEvent]] : [],
    ),
  );
}

/** What a part should hold, and under which key it is stored already; `null` where it is not. */
interface PlannedPart {
  key: string | null;
  mentions: StoredMention[];
}

/** Each mention stays in its part, so that only those parts are written that have changed; new ones go behind. */
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

/** Parts are immutable, so one that was read is never asked for again. */
function partReader(store: Store) {
  const seen = new Map<string, StoredMention[]>();
  const read = async (key: string): Promise<StoredMention[]> => {
    const known = seen.get(key);
    if (known) return known;
    const stored = await store.get(key);
    if (!stored) throw new MissingPart(key);
    const mentions = JSON.parse((await promisify(gunzip)(stored.bytes)).toString()) as StoredMention[];
    seen.set(key, mentions);
    return mentions;
  };
  return {
    readAll(keys: readonly string[]): Promise<StoredMention[][]> {
      for (const key of seen.keys()) if (!keys.includes(key)) seen.delete(key);
      return Promise.all(keys.map(read));
    },

    async write(plan: readonly PlannedPart[], time: number): Promise<string[]> {
      const keys: string[] = [];
      for (const { key, mentions } of plan) keys.push(key ?? (await put(store, mentions, time)));
      return keys;
    },
  };
}

async function put(store: Store, mentions: readonly StoredMention[], time: number): Promise<string> {
  const bytes = await promisify(gzip)(JSON.stringify(mentions));
  const key = `${PARTS}${time}-${createHash("sha256").update(bytes).digest("hex").slice(0, 32)}`;
  await store.put(key, bytes);
  return key;
}

async function sweep(store: Store, named: readonly string[], time: number): Promise<void> {
  const keys = await store.keys(PARTS);
  const isOld = (key: string) => Number.parseInt(key.slice(PARTS.length), 10) < time - ORPHAN_AGE;
  await inBatches(
    keys.filter((key) => !named.includes(key) && isOld(key)),
    (key) => store.delete(key),
  );
}

async function inBatches<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  return new PQueue({ concurrency: AT_ONCE }).addAll(items.map((item) => () => work(item)));
}
