// plugin/mentions/send/endpoints.ts: what is remembered of endpoints from run to run.
import * as v from "valibot";
import { readJson, writeJson } from "../../store/json.js";
import type { Store } from "../../store/store.js";
import { type Discover, onceEach } from "./discover.js";
import { shortHash } from "./live-mentions.js";
import type { Form } from "./post-mention.js";

const Remembered = v.union([
  v.object({
    endpoint: v.string(),
    method: v.picklist(["feed field", "Link header", "HTML"]),
    freshUntil: v.number(),
  }),
  v.object({ endpoint: v.null(), why: v.string(), freshUntil: v.number() }),
]);

const FormRecord = v.object({ form: v.picklist(["reference", "page"]) });

export interface Endpoints {
  discover: Discover;
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
 * Remembers what a target's server lets us remember, and which form of a source an endpoint takes. The store is asked
 * once for each, however many twts mention it.
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
  const noted = new Map<string, Form>();
  const formOf = async (endpoint: string) => noted.get(endpoint) ?? (await storedForm(endpoint));

  return {
    formOf,

    discover: onceEach(async (target) => {
      const key = `sent/endpoints/${shortHash(target, 32)}`;
      const known = await readJson(store, key, Remembered);
      if (known && known.value.freshUntil > now()) return known.value;
      const found = await discover(target);
      if (found.freshUntil !== null) await writeJson(store, key, found);
      return found;
    }),

    async noteForm(endpoint, form) {
      if ((await formOf(endpoint)) === form) return;
      await writeJson(store, formKey(endpoint), { form });
      noted.set(endpoint, form);
    },
  };
}
