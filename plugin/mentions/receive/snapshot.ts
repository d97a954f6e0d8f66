// plugin/mentions/receive/snapshot.ts: the snapshot of all mentions up to the last compaction.
//
// Its parts are blocks of the JSON of mentions, as the view has them. A part is named by its hash: what is read is what was
// written, and needs no other check.
import { hash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import * as v from "valibot";
import { TwtxtError } from "../../errors.js";
import { parseJson } from "../../store/json.js";
import { LostRace } from "../../store/retry.js";
import type { Store } from "../../store/store.js";
import { sweep } from "../../store/sweep.js";
import type { StoredMention } from "../mention.js";
import { BLOCK, type JsonText, packBlock, readId, toJson } from "./json-texts.js";
import { type Entry, type MentionView, toEntry } from "./mention-view.js";
import type { Relocation } from "./relocation.js";

const PARTS = "mentions/parts/";
export const SNAPSHOT = "mentions/snapshot";

/** Mentions per part: a hundred thousand mentions take about ten requests. */
const PART_SIZE = 10_000;
/** Unreferenced parts are kept this long, since a snapshot may be about to name them. */
const ORPHAN_AGE = 24 * 3600_000;

export interface Snapshot {
  /** `null` before the first one. */
  etag: string | null;
  parts: readonly string[];
  /** Keys of events that the parts include and that may not be deleted yet. */
  folded: ReadonlySet<string>;
}

interface LoadedPart {
  key: string;
  readonly entries: Entry[];
  /** Whether the view has its mentions as they are stored. */
  isCurrent: boolean;
}

/** A part to write, or one that is stored; its key is `null` if it is not. */
interface PlannedPart {
  key: string | null;
  entries: readonly Entry[];
}

const StoredIndex = v.object({ version: v.literal(1), parts: v.array(v.string()), folded: v.array(v.string()) });

const ADVICE = `Restore the site's data from a backup, or delete ${SNAPSHOT}, which loses all mentions in it.`;

export const NO_SNAPSHOT: Snapshot = { etag: null, parts: [], folded: new Set() };

export class Snapshots {
  #loaded: readonly LoadedPart[] = [];

  constructor(
    private readonly store: Store,
    private readonly relocation: Relocation,
  ) {}

  get hasMoved(): boolean {
    return this.#loaded.some(({ isCurrent }) => !isCurrent);
  }

  /** Costs one request. */
  async read(): Promise<Snapshot> {
    const stored = await this.store.get(SNAPSHOT);
    if (!stored) return NO_SNAPSHOT;
    const { parts, folded } = readIndex(stored.bytes);
    return { etag: stored.etag, parts, folded: new Set(folded) };
  }

  /**
   * Reads the parts that the view does not have.
   *
   * @param isFirst - whether nothing reads the view yet: each part is added as soon as it is read, so that other work has
   *   turns
   * @returns changes the view, without the events after the former snapshot, to the mentions of this one
   * @throws LostRace if the snapshot was replaced meanwhile
   */
  async load({ parts }: Snapshot, view: MentionView, isFirst: boolean): Promise<() => void> {
    const known = new Map(this.#loaded.map((part) => [part.key, part]));
    const later: [key: string, lines: JsonText[]][] = [];
    const add = (key: string, lines: readonly JsonText[]) => {
      const part = known.get(key) ?? { key, entries: [], isCurrent: true };
      known.set(key, part);
      for (const json of lines) part.entries.push(this.#addLine(part, view, json));
    };
    for (const key of parts.filter((each) => !known.has(each))) {
      for await (const lines of this.#readPart(key, view)) {
        if (isFirst) add(key, lines);
        else later.push([key, lines]);
      }
    }
    return () => {
      for (const [key, lines] of later) add(key, lines);
      const loaded = parts.flatMap((key) => known.get(key) ?? []);
      // Not a set of all that are current: with 100,000 mentions, each compaction would leave some 10 MB of garbage.
      const gone = this.#loaded.filter(({ key }) => !parts.includes(key));
      const outdated = new Set(gone.flatMap(({ entries }) => entries));
      for (const { entries } of gone.length > 0 ? loaded : []) for (const entry of entries) outdated.delete(entry);
      for (const entry of outdated) if (view.entry(entry.id) === entry) view.delete(entry.id);
      this.#loaded = loaded;
    };
  }

  /** Forgets the parts, for an empty view. */
  reset(): void {
    this.#loaded = [];
  }

  /**
   * Replaces the snapshot by the mentions of the view. Mentions stay in their parts and new ones are appended, so only
   * changed parts are written.
   *
   * @param old - the snapshot that the view was loaded from
   * @param folded - keys of the events applied since
   * @returns `false` if another process replaced it meanwhile; nothing has changed then
   */
  async replace(old: Snapshot, view: MentionView, folded: readonly string[], time: number): Promise<boolean> {
    const parts: string[] = [];
    for (const { key, entries } of planParts(this.#loaded, view)) {
      parts.push(key ?? (await this.#writePart(entries, view, time)));
    }
    const next: v.InferOutput<typeof StoredIndex> = { version: 1, parts, folded: [...folded] };
    const condition = old.etag === null ? ({ isNew: true } as const) : { etag: old.etag };
    return (await this.store.put(SNAPSHOT, Buffer.from(JSON.stringify(next)), condition)) !== null;
  }

  /** Deletes old parts that the current snapshot does not name. */
  async sweep(time: number): Promise<void> {
    const { parts } = await this.read();
    const isOld = (key: string) => Number.parseInt(key.slice(PARTS.length), 10) < time - ORPHAN_AGE;
    const keys = await this.store.keys(PARTS);
    await sweep(
      this.store,
      keys.filter((key) => !parts.includes(key) && isOld(key)),
    );
  }

  /** @returns its mentions, a block at a time. They are valid unless they are in the view already */
  async *#readPart(key: string, view: MentionView): AsyncGenerator<JsonText[]> {
    const stored = await this.store.get(key);
    if (!stored) throw new LostRace(`${key} is missing. ${ADVICE}`);
    if (!key.endsWith(hashPart(stored.bytes))) throw new TwtxtError("store-failed", `${key} is damaged. ${ADVICE}`);
    for (const texts of view.texts.readBlocks(stored.bytes)) {
      // Other work has its turn: a block takes half a millisecond.
      await setImmediate();
      yield texts;
    }
  }

  #addLine(part: LoadedPart, view: MentionView, json: JsonText): Entry {
    const text = view.texts.read(json);
    const known = view.entry(readId(text));
    if (known && view.texts.read(known.json).equals(text)) {
      known.json = json;
      return known;
    }
    const stored: StoredMention = JSON.parse(text.toString());
    const mention = this.relocation.move(stored);
    const entry = toEntry(mention, mention === stored ? json : toJson(mention));
    if (mention !== stored) part.isCurrent = false;
    const other = mention === stored ? undefined : view.entry(mention.id);
    // A mention of both URLs: what the author rejected stays rejected.
    if (!other || (other.state !== "rejected" && mention.state !== "removed")) view.put(entry, mention);
    return entry;
  }

  async #writePart(entries: readonly Entry[], { texts }: MentionView, time: number): Promise<string> {
    const blocks: Buffer[] = [];
    for (let at = 0; at < entries.length; at += BLOCK) {
      await setImmediate();
      blocks.push(packBlock(entries.slice(at, at + BLOCK).map(({ json }) => texts.read(json))));
    }
    const bytes = Buffer.concat(blocks);
    const key = `${PARTS}${time}${hashPart(bytes)}`;
    await this.store.put(key, bytes);
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

/** @throws TwtxtError `store-failed`, with what to do if the value is damaged */
function readIndex(bytes: Uint8Array): v.InferOutput<typeof StoredIndex> {
  try {
    return parseJson(SNAPSHOT, bytes, StoredIndex);
  } catch (error) {
    throw new TwtxtError("store-failed", `${(error as Error).message} ${ADVICE}`, { cause: error });
  }
}

/** The end of the key of a part. */
function hashPart(bytes: Uint8Array): string {
  return `-${hash("sha256", bytes).slice(0, 32)}`;
}

/** Plans have numbers, so that each mention notes the last one that has placed it. A set of 100,000 takes 5 MB each time. */
let nextPlan = 1;

/**
 * Lays out the mentions of the view. A part is merged with the one before while that is less than twice as long: few parts
 * remain, and each mention is written a few times.
 */
function planParts(loaded: readonly LoadedPart[], view: MentionView): PlannedPart[] {
  const number = nextPlan++;
  const place = (entry: Entry | undefined): entry is Entry => {
    if (!entry || entry.plan === number) return false;
    entry.plan = number;
    return true;
  };
  const plan = loaded.map(({ key, entries, isCurrent }): PlannedPart => {
    const now = entries.map(({ id }) => view.entry(id)).filter(place);
    const isSame = isCurrent && now.length === entries.length && now.every((entry, i) => entry === entries[i]);
    return { key: isSame ? key : null, entries: now };
  });
  const fresh: Entry[] = [];
  for (const entry of view.entries()) if (place(entry)) fresh.push(entry);
  while (fresh.length > 0) plan.push({ key: null, entries: fresh.splice(0, PART_SIZE) });
  const parts = plan.filter(({ entries }) => entries.length > 0);
  for (;;) {
    const [before, last] = parts.slice(-2);
    const sum = (before?.entries.length ?? 0) + (last?.entries.length ?? 0);
    if (!before || !last || before.entries.length >= 2 * last.entries.length || sum > PART_SIZE) return parts;
    parts.splice(-2, 2, { key: null, entries: [...before.entries, ...last.entries] });
  }
}
