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

  async add(source: string): Promise<void> {
    await this.#change((old) => (old.includes(source) ? null : [...old, source]));
  }

  async remove(source: string): Promise<void> {
    await this.#change((old) => (old.includes(source) ? old.filter((other) => other !== source) : null));
  }

  async #change(change: (old: readonly string[]) => string[] | null): Promise<void> {
    this.#set(await update(this.#store, KEY, SOURCES, (old) => change(old ?? [])));
  }

  #set(sources: readonly string[] | null = []): readonly string[] {
    this.#readAt = this.#now();
    this.#sources = sources ?? [];
    return this.#sources;
  }
}
