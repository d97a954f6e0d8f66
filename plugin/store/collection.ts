// plugin/store/collection.ts: JSON values of one kind, each under a key of its own in a folder.
import type * as v from "valibot";
import { type DamagedValue, readJson, update, writeJson } from "./json.js";
import type { Condition, Store } from "./store.js";

/** The values of a folder by their ids. All methods throw TwtxtError `store-failed`, also for a damaged value. */
export class Collection<T> {
  /**
   * @param folder - the start of all keys, with a slash at its end; an id is the rest
   * @param toId - the id of what the methods are given, such as an address; default: the id itself
   */
  constructor(
    private readonly store: Store,
    private readonly folder: string,
    private readonly schema: v.GenericSchema<unknown, T>,
    private readonly toId = (id: string) => id,
  ) {}

  /** @returns `null` if there is none */
  async get(id: string): Promise<T | null> {
    return (await readJson(this.store, this.#toKey(id), this.schema))?.value ?? null;
  }

  /** The ids of all values, in no order. */
  async ids(): Promise<string[]> {
    return (await this.store.keys(this.folder)).map((key) => key.slice(this.folder.length));
  }

  /**
   * All values, in no order.
   *
   * @param onDamaged - called with each damaged value, which is left out; default: it is thrown
   */
  async list(onDamaged?: (error: DamagedValue) => void): Promise<T[]> {
    return this.getAll(await this.ids(), onDamaged);
  }

  /** Those of these values that exist. @param onDamaged - as for {@link list} */
  async getAll(ids: readonly string[], onDamaged?: (error: DamagedValue) => void): Promise<T[]> {
    const reading = ids.map((id) => readJson(this.store, this.folder + id, this.schema, onDamaged));
    return (await Promise.all(reading)).flatMap((stored) => (stored ? [stored.value] : []));
  }

  /** As {@link writeJson}. */
  write(id: string, value: T, condition?: Condition): Promise<string | null> {
    return writeJson(this.store, this.#toKey(id), value, condition);
  }

  /** As {@link update}. */
  update(id: string, change: (old: T | null) => T | null): Promise<T | null> {
    return update(this.store, this.#toKey(id), this.schema, change);
  }

  async delete(id: string): Promise<void> {
    await this.store.delete(this.#toKey(id));
  }

  /** As {@link delete}. @returns whether it was there */
  async forget(id: string): Promise<boolean> {
    const isThere = (await this.store.get(this.#toKey(id))) !== null;
    await this.delete(id);
    return isThere;
  }

  #toKey(id: string): string {
    return this.folder + this.toId(id);
  }
}
