// plugin/mentions/send/endpoint-cache.ts: cache of discovered endpoints, shared by runs.
import * as v from "valibot";
import type { Clock } from "../../clock.js";
import { readJson, writeJson } from "../../store/json.js";
import type { Store } from "../../store/store.js";
import { mapInParallel } from "../concurrency.js";
import { type Discover, FoundEndpoint, memoize, NoEndpoint } from "./discover.js";
import { shortHash } from "./live-feed.js";
import type { Form } from "./post-mention.js";

const CachedEndpoint = v.union([
  v.object({
    ...FoundEndpoint.entries,
    /** Until then usable, fresh or not, for the untried mentions that it was looked up for. */
    untriedUntil: v.optional(v.number()),
  }),
  NoEndpoint,
]);

const DAY = 24 * 3600_000;
const WRITERS = 16;

const FormRecord = v.object({
  /** The form of the source. */
  form: v.picklist(["reference", "page"]),
  /** Whether a reference to a twt was refused as a target; missing in records of earlier versions. */
  needsFeedTarget: v.optional(v.boolean(), false),
});
/** What an endpoint accepted last time. */
type AcceptedForm = v.InferOutput<typeof FormRecord>;

interface EndpointOptions {
  store: Store;
  discover: Discover;
  now: Clock;
}

/**
 * Caches endpoints as long as their servers allow, and which form of a source each endpoint accepts. The store is asked
 * once for each target. All methods throw TwtxtError `store-failed`.
 *
 * An endpoint whose mentions were not tried yet is kept for a day regardless of its freshness, so that a run that ended
 * early does not cost the same requests again.
 *
 * @see PROTOCOL 2.2 and 2.3
 */
export class EndpointCache {
  readonly #options: EndpointOptions;
  readonly #provisional = new Map<string, FoundEndpoint>();
  readonly #untried = new Set<string>();
  readonly #forms = new Map<string, AcceptedForm>();

  constructor(options: EndpointOptions) {
    this.#options = options;
  }

  /** @throws also what `options.discover` throws */
  readonly discover: Discover = memoize(async (target) => {
    const { store, discover, now } = this.#options;
    const key = endpointKey(target);
    const known = (await readJson(store, key, CachedEndpoint))?.value;
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

  /** Keeps the endpoint of this target for the next run, since a mention of it was not tried. */
  noteUntried(target: string): void {
    this.#untried.add(endpointKey(target));
  }

  /** Ends a run: removes stale endpoints without untried mentions. */
  async end(): Promise<void> {
    const { store } = this.#options;
    const tried = [...this.#provisional].filter(([key]) => !this.#untried.has(key));
    await mapInParallel(tried, WRITERS, async ([key, found]) => {
      if (this.#isFresh(found)) await writeJson(store, key, found);
      else await store.delete(key);
    });
  }

  /** @returns what an endpoint accepted last time; `null` if unknown */
  async readForm(endpoint: string): Promise<AcceptedForm | null> {
    return this.#forms.get(endpoint) ?? (await this.#storedForm(endpoint));
  }

  /** @param isReferenceRefused - whether a reference to a twt was refused as the target */
  async noteForm(endpoint: string, form: Form, isReferenceRefused = false): Promise<void> {
    const known = await this.readForm(endpoint);
    const needsFeedTarget = isReferenceRefused || (known?.needsFeedTarget ?? false);
    if (known?.form === form && known.needsFeedTarget === needsFeedTarget) return;
    await writeJson(this.#options.store, formKey(endpoint), { form, needsFeedTarget });
    this.#forms.set(endpoint, { form, needsFeedTarget });
  }

  readonly #storedForm = memoize(async (endpoint) => {
    return (await readJson(this.#options.store, formKey(endpoint), FormRecord))?.value ?? null;
  });

  #isFresh({ freshUntil }: { freshUntil: number | null }): boolean {
    return (freshUntil ?? 0) > this.#options.now();
  }
}

function formKey(endpoint: string): string {
  return `sent/forms/${shortHash(endpoint, 32)}`;
}

function endpointKey(target: string): string {
  return `sent/endpoints/${shortHash(target.replace(/#.*$/s, ""), 32)}`;
}
