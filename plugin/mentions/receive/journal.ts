// plugin/mentions/receive/journal.ts: events as they are stored, one immutable record each, and folded into a snapshot.
import { createHash, randomBytes } from "node:crypto";
import { isDeepStrictEqual, promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import PQueue from "p-queue";
import { TwtxtError } from "../../errors.js";
import type { Log } from "../../http/respond.js";
import type { Store } from "../../store/store.js";
import type { StoredMention } from "../mention.js";
import { apply, idOf, type MentionEvent, type Mentions, type NewMention } from "./event.js";
import { parseEvent } from "./read-event.js";

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
   * Whether a mention is there already, just as it is, so that keeping it again would change nothing. Costs one request
   * per part, and of the events one for each that is about this mention: whoever sends many has none read.
   */
  holds(mention: NewMention): Promise<boolean>;
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
 * @param log - told once of each event that cannot be read; it is left where it is, and the others count
 */
export function journal({ store, now, shownPerHost, log }: JournalOptions): Journal {
  const parts = partReader(store);
  const events = eventReader(store, log);

  const state = async (found: Map<string, MentionEvent>, { parts: keys, folded }: Snapshot) => {
    const loaded = await parts.readAll(keys);
    const mentions: Mentions = new Map(loaded.flat().map((mention) => [mention.id, mention]));
    const isFolded = new Set(folded);
    const left = [...found].filter(([key]) => !isFolded.has(key)).map(([, event]) => event);
    apply(mentions, left, shownPerHost);
    return { loaded, mentions };
  };

  const readNow = async (isWanted: (key: string) => boolean): Promise<Mentions> => {
    for (let tries = 0; ; tries += 1) {
      // In this order: an event that is deleted meanwhile is in the snapshot that is read after it.
      const found = await events.read((await store.keys(EVENTS)).filter(isWanted).sort());
      try {
        return (await state(found, (await readSnapshot(store)).snapshot)).mentions;
      } catch (error) {
        // A part vanishes where a snapshot has just been replaced.
        if (!(error instanceof MissingPart) || tries === 3) throw error;
      }
    }
  };

  return {
    async add(event) {
      const id = event.kind === "kept" ? idOf(event.mention) : event.id;
      const key = `${EVENTS}${event.at.replace(/[^0-9]/g, "")}-${id}-${randomBytes(8).toString("hex")}`;
      await store.put(key, Buffer.from(JSON.stringify(event)), { isNew: true });
    },

    read: () => readNow(() => true),

    async holds(mention) {
      const id = idOf(mention);
      const known = (await readNow((key) => key.includes(`-${id}-`))).get(id);
      if (!known) return false;
      const again: Mentions = new Map([[id, known]]);
      apply(again, [{ kind: "kept", at: known.received, mention }], shownPerHost);
      return isDeepStrictEqual(again.get(id), known);
    },

    async compact() {
      const { snapshot, etag } = await readSnapshot(store);
      await inBatches(snapshot.folded, (key) => store.delete(key));
      const keys = (await store.keys(EVENTS)).sort().slice(0, BATCH);
      const found = await events.read(keys);
      if (found.size === 0 && snapshot.folded.length === 0) return 0;

      const { loaded, mentions } = await state(found, { ...snapshot, folded: [] });
      const written = await parts.write(layOut(loaded, snapshot.parts, mentions), now());
      const next: Snapshot = { version: 1, parts: written, folded: [...found.keys()] };
      const isOurs = await store.put(
        SNAPSHOT,
        Buffer.from(JSON.stringify(next)),
        etag === null ? { isNew: true } : { etag },
      );
      if (isOurs === null) return 0;
      await inBatches(next.folded, (key) => store.delete(key));
      await sweep(store, next.parts, now());
      return found.size;
    },
  };
}

export interface JournalOptions {
  store: Store;
  /** Milliseconds since 1970. */
  now(): number;
  shownPerHost: number;
  log: Log;
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

/** A store that is down fails here: what could not be asked for is never left out. */
function eventReader(store: Store, log: Log) {
  const told = new Set<string>();
  const read = async (key: string): Promise<[string, MentionEvent][]> => {
    const stored = await store.get(key);
    if (!stored) return [];
    const event = parseEvent(stored.bytes);
    if (event) return [[key, event]];
    if (!told.has(key)) log(`A stored mention cannot be read and is left out; the others are not affected: ${key}`);
    told.add(key);
    return [];
  };
  return {
    async read(keys: readonly string[]): Promise<Map<string, MentionEvent>> {
      return new Map((await inBatches(keys, read)).flat());
    },
  };
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
