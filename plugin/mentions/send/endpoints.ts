// plugin/mentions/send/endpoints.ts: what is remembered of endpoints from run to run.
import PQueue from "p-queue";
import * as v from "valibot";
import { readJson, writeJson } from "../../store/json.js";
import type { Store } from "../../store/store.js";
import { type Discover, type FoundEndpoint, onceEach } from "./discover.js";
import { shortHash } from "./live-mentions.js";
import type { Form } from "./post-mention.js";

const Remembered = v.union([
  v.object({
    endpoint: v.string(),
    method: v.picklist(["feed field", "Link header", "HTML"]),
    freshUntil: v.nullable(v.number()),
    /** Until then it serves the mentions that it was looked up for, which were not tried yet. */
    untriedUntil: v.optional(v.number()),
  }),
  v.object({ endpoint: v.null(), why: v.string(), freshUntil: v.nullable(v.number()) }),
]);

const DAY = 24 * 3600_000;
/** Requests to the store at once. */
const WRITERS = 16;

const FormRecord = v.object({ form: v.picklist(["reference", "page"]) });

export interface Endpoints {
  discover: Discover;
  /** Notes that a mention of this target was not tried: the next run need not look for its endpoint again. */
  noteUntried(target: string): void;
  /** Ends a run: what is not fresh any more is kept for the untried mentions alone. */
  end(): Promise<void>;
  /** Which form an endpoint has taken the last time; `null` where it is not known. */
  formOf(endpoint: string): Promise<Form | null>;
  /** Notes which form it has taken. */
  noteForm(endpoint: string, form: Form): Promise<void>;
}

export interface EndpointOptions {
  store: Store;
  discover: Discover;
  /** Milliseconds since 1970. */
  now(): number;
}

/**
 * Remembers endpoints as long as their servers allow, and which form of a source an endpoint takes. The store is asked
 * once for each, however many twts mention it.
 *
 * Until its mentions were tried, an endpoint is stored for a day whatever its server says: a run that ends early, or is
 * killed, does not leave the same requests to the next one.
 *
 * @returns functions that throw TwtxtError `store-failed`, and what `discover` throws
 * @see PROTOCOL 2.2 and 2.3
 */
export function endpointsOf({ store, discover, now }: EndpointOptions): Endpoints {
  const formKey = (endpoint: string) => `sent/forms/${shortHash(endpoint, 32)}`;
  const storedForm = onceEach(async (endpoint) => {
    const stored = await readJson(store, formKey(endpoint), FormRecord);
    return stored?.value.form ?? null;
  });
  const endpointKey = (target: string) => `sent/endpoints/${shortHash(target, 32)}`;
  const provisional = new Map<string, FoundEndpoint>();
  const untried = new Set<string>();
  const noted = new Map<string, Form>();
  const isFresh = ({ freshUntil }: { freshUntil: number | null }) => (freshUntil ?? 0) > now();
  const formOf = async (endpoint: string) => noted.get(endpoint) ?? (await storedForm(endpoint));

  return {
    formOf,

    discover: onceEach(async (target) => {
      const key = endpointKey(target);
      const known = (await readJson(store, key, Remembered))?.value;
      if (known?.endpoint && (known.untriedUntil ?? 0) > now()) {
        const { untriedUntil, ...found } = known;
        provisional.set(key, found);
        return found;
      }
      if (known && isFresh(known)) return known;
      const found = await discover(target);
      if (found.endpoint !== null) {
        provisional.set(key, found);
        await writeJson(store, key, { ...found, untriedUntil: now() + DAY });
      } else if (isFresh(found)) {
        await writeJson(store, key, found);
      }
      return found;
    }),

    noteUntried(target) {
      untried.add(endpointKey(target));
    },

    async end() {
      const writers = new PQueue({ concurrency: WRITERS });
      const tried = [...provisional].filter(([key]) => !untried.has(key));
      await writers.addAll(
        tried.map(([key, found]) => async () => {
          if (isFresh(found)) await writeJson(store, key, found);
          else await store.delete(key);
        }),
      );
    },

    async noteForm(endpoint, form) {
      if ((await formOf(endpoint)) === form) return;
      await writeJson(store, formKey(endpoint), { form });
      noted.set(endpoint, form);
    },
  };
}
