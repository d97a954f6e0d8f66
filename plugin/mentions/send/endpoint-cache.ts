// plugin/mentions/send/endpoint-cache.ts: cache of discovered endpoints, shared by runs.
import * as v from "valibot";
import { type Clock, DAY } from "../../clock.js";
import { mapInParallel, memoize } from "../../concurrency.js";
import { Collection } from "../../store/collection.js";
import type { Store } from "../../store/store.js";
import { type Discover, FoundEndpoint, NoEndpoint } from "./discover.js";
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

const WRITERS = 16;

const FormRecord = v.object({
  form: v.picklist(["reference", "page"]),
  /** Whether a reference to a twt was refused as a target. */
  needsFeedTarget: v.boolean(),
});
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
  readonly #endpoints: Collection<v.InferOutput<typeof CachedEndpoint>>;
  readonly #acceptedForms: Collection<AcceptedForm>;
  readonly #provisional = new Map<string, FoundEndpoint>();
  readonly #untried = new Set<string>();
  readonly #forms = new Map<string, AcceptedForm>();

  constructor(private readonly options: EndpointOptions) {
    this.#endpoints = new Collection(options.store, "sent/endpoints/", CachedEndpoint);
    this.#acceptedForms = new Collection(options.store, "sent/forms/", FormRecord);
  }

  /** @throws also what `options.discover` throws */
  readonly discover: Discover = memoize(async (target) => {
    const { discover, now } = this.options;
    const id = toId(target);
    const known = await this.#endpoints.get(id);
    if (known?.endpoint && (known.untriedUntil ?? 0) > now()) {
      const { untriedUntil, ...found } = known;
      this.#provisional.set(id, found);
      return found;
    }
    if (known && this.#isFresh(known)) return known;
    const found = await discover(target);
    if (found.endpoint !== null) {
      this.#provisional.set(id, found);
      await this.#endpoints.write(id, { ...found, untriedUntil: now() + DAY });
    } else if (this.#isFresh(found)) {
      await this.#endpoints.write(id, found);
    }
    return found;
  });

  /** Keeps the endpoint of this target for the next run, since a mention of it was not tried. */
  noteUntried(target: string): void {
    this.#untried.add(toId(target));
  }

  /** Ends a run: removes stale endpoints without untried mentions. */
  async end(): Promise<void> {
    const tried = [...this.#provisional].filter(([id]) => !this.#untried.has(id));
    await mapInParallel(tried, WRITERS, async ([id, found]) => {
      if (this.#isFresh(found)) await this.#endpoints.write(id, found);
      else await this.#endpoints.delete(id);
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
    await this.#acceptedForms.write(shortHash(endpoint, 32), { form, needsFeedTarget });
    this.#forms.set(endpoint, { form, needsFeedTarget });
  }

  readonly #storedForm = memoize((endpoint) => this.#acceptedForms.get(shortHash(endpoint, 32)));

  #isFresh({ freshUntil }: { freshUntil: number | null }): boolean {
    return (freshUntil ?? 0) > this.options.now();
  }
}

function toId(target: string): string {
  return shortHash(target.replace(/#.*$/s, ""), 32);
}
