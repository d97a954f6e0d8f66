// plugin/blobs/client/newest.ts: the newest state of each blob that this machine knows of, by which an older one is noticed.
import { createHash } from "node:crypto";
import * as v from "valibot";
import { TwtxtError } from "../../errors.js";
import { toInstant } from "../../feed/timestamp.js";
import { readJson, update } from "../../store/json.js";
import type { Store } from "../../store/store.js";

const RECORD = v.object({
  key: v.string(),
  created: v.string(),
  sha256: v.string(),
  isDeleted: v.boolean(),
});

/**
 * A state of a blob: `created` is the time of the owner's proof, or that of its end; `sha256` is of its contents, in hex,
 * or empty.
 */
export type BlobState = v.InferOutput<typeof RECORD>;

/** All that is kept. */
export interface KnownStates {
  /** In no order. */
  states: BlobState[];
  /** What cannot be read any more: a sentence each, which names the place. */
  damaged: string[];
}

/** All functions throw TwtxtError `store-failed`. */
export interface NewestStates {
  /** @returns `null` for a blob that this machine has never seen */
  get(key: string): Promise<BlobState | null>;
  /** What is damaged does not hide the others. */
  list(): Promise<KnownStates>;
  /** Keeps a state, unless a later one is kept. */
  remember(state: BlobState): Promise<void>;
}

/**
 * The newest states of an owner's blobs at a site.
 *
 * @param store - of the author's own
 * @param origin - where the site was asked
 * @see PROTOCOL 4, "Owner's proof"
 */
export function newestStates(store: Store, { origin, owner }: { origin: string; owner: string }): NewestStates {
  const folder = `newest/${hashOf(origin)}/${owner}/`;
  const placeOf = (key: string) => folder + hashOf(key);
  return {
    async get(key) {
      return (await readJson(store, placeOf(key), RECORD))?.value ?? null;
    },

    async list() {
      const known: KnownStates = { states: [], damaged: [] };
      for (const place of await store.keys(folder)) {
        try {
          const found = await readJson(store, place, RECORD);
          if (found) known.states.push(found.value);
        } catch (error) {
          if (!(error instanceof TwtxtError)) throw error;
          known.damaged.push(error.message);
        }
      }
      return known;
    },

    async remember(state) {
      await update(store, placeOf(state.key), RECORD, (old) => {
        return old === null || isLater(state.created, old.created) ? state : null;
      });
    },
  };
}

/** Whether the first of two times of RFC 3339 is later. They may have any offset and any number of decimals. */
export function isLater(a: string, b: string): boolean {
  return sortable(a) > sortable(b);
}

/** A time for a new state: now, but later than all that are known, whatever the clock says. */
export function laterThan(known: readonly string[], now: number): string {
  const times = known.map((time) => Date.parse(time.toUpperCase()) + 1);
  return new Date(Math.max(now, ...times)).toISOString();
}

function sortable(time: string): string {
  const decimals = /\.(\d*[1-9])/.exec(time)?.[1] ?? "";
  return `${toInstant(time)}.${decimals}`;
}

/** Neither a URL nor each key of a blob is a key of a store. */
function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
