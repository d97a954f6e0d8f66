// plugin/mentions/send/endpoints.ts: what one run of sending remembers of endpoints for the next.
import PQueue from "p-queue";
import * as v from "valibot";
import type { Clock } from "../../clock.js";
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

export interface EndpointOptions {
  store: Store;
  discover: Discover;
  now: Clock;
}

/**
 * Remembers endpoints as long as their servers allow, and which form of a source an endpoint accepts. The store is asked
 * once for each, however many twts mention it. All methods throw TwtxtError `store-failed`.
 *
 * Until its mentions were tried, an endpoint is stored for a day whatever its server says: a run that ends early, or is
 * killed, does not leave the same requests to the next one.
 *
 * @see PROTOCOL 2.2 and 2.3
 */
export class EndpointCache {
  readonly #options: EndpointOptions;
  readonly #provisional = new Map<string, FoundEndpoint>();
  readonly #untried = new Set<string>();
  readonly #forms = new Map<string, Form>();

  constructor(options: EndpointOptions) {
    this.#options = options;
  }

  /** @throws TwtxtError also what the given `discover` throws */
  readonly discover: Discover = onceEach(async (target) => {
    const { store, discover, now } = this.#options;
    const key = endpointKey(target);
    const known = (await readJson(store, key, Remembered))?.value;
    if (known?.endpoint && (known.untriedUntil ?? 0) > now()) {
      const { untriedUntil, ...found } = known;
      this.#provisional.set(key, found);
      return found;
    }
    if (known && this.#isFresh(known)) return known;
    const found = await discover(target);
    if (found.endpoint !== null) {
      this.#provisional.set(key, found);
      await writeJson(store, key, { ...found, untriedUntil: now() + DAY });
    } else if (this.#isFresh(found)) {
      await writeJson(store, key, found);
    }
    return found;
  });

  /** Records that a mention of this target was not tried: the next run need not look for its endpoint again. */
  noteUntried(target: string): void {
    this.#untried.add(endpointKey(target));
  }

  /** Ends a run: what is no longer fresh is kept for the untried mentions alone. */
  async end(): Promise<void> {
    const writers = new PQueue({ concurrency: WRITERS });
    const tried = [...this.#provisional].filter(([key]) => !this.#untried.has(key));
    await writers.addAll(
      tried.map(([key, found]) => async () => {
        if (this.#isFresh(found)) await writeJson(this.#options.store, key, found);
        else await this.#options.store.delete(key);
      }),
    );
  }

  /** The form that an endpoint accepted last time; `null` if it is not known. */
  async formOf(endpoint: string): Promise<Form | null> {
    return this.#forms.get(endpoint) ?? (await this.#storedForm(endpoint));
  }

  /** Records the form that an endpoint has accepted. */
  async noteForm(endpoint: string, form: Form): Promise<void> {
    if ((await this.formOf(endpoint)) === form) return;
    await writeJson(this.#options.store, formKey(endpoint), { form });
    this.#forms.set(endpoint, form);
  }

  readonly #storedForm = onceEach(async (endpoint) => {
    const stored = await readJson(this.#options.store, formKey(endpoint), FormRecord);
    return stored?.value.form ?? null;
  });

  #isFresh({ freshUntil }: { freshUntil: number | null }): boolean {
    return (freshUntil ?? 0) > this.#options.now();
  }
}

function formKey(endpoint: string): string {
  return `sent/forms/${shortHash(endpoint, 32)}`;
}

function endpointKey(target: string): string {
  return `sent/endpoints/${shortHash(target, 32)}`;
}
