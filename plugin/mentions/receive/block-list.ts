// plugin/mentions/receive/block-list.ts: the sources that the author has blocked by a decision, besides those of the option `block`.
import * as v from "valibot";
import type { Clock } from "../../clock.js";
import { readJson, update } from "../../store/json.js";
import type { Store } from "../../store/store.js";

const KEY = "mentions/blocked";
const SOURCES = v.array(v.string());
/** How long a process may not know a decision of another one. */
const STALE_MS = 60_000;

/** Hosts and feeds, in the form of the option. Changes are durable when their methods return. */
export class BlockList {
  readonly #store: Store;
  readonly #now: Clock;
  #sources: readonly string[] = [];
  #readAt = Number.NEGATIVE_INFINITY;

  constructor({ store, now }: { store: Store; now: Clock }) {
    this.#store = store;
    this.#now = now;
  }

  /** As of the last {@link refresh}. */
  get sources(): readonly string[] {
    return this.#sources;
  }

  /** Reads the list, unless it was read within the last minute. */
  async refresh(): Promise<void> {
    if (Math.abs(this.#now() - this.#readAt) > STALE_MS) await this.read();
  }

  async read(): Promise<readonly string[]> {
    return this.#set((await readJson(this.#store, KEY, SOURCES))?.value);
  }

  /** @param isBlocked - `false` takes a decision back */
  async change(source: string, isBlocked: boolean): Promise<void> {
    const change = (old: readonly string[] | null) => {
      const others = (old ?? []).filter((other) => other !== source);
      return isBlocked ? [...others, source] : others;
    };
    this.#set(await update(this.#store, KEY, SOURCES, change));
  }

  #set(sources: readonly string[] | null = []): readonly string[] {
    this.#readAt = this.#now();
    this.#sources = sources ?? [];
    return this.#sources;
  }
}
