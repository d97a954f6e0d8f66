// plugin/groups.ts: groups, order and first ones of items, and remembered values. Node.js has Map.groupBy from version 21 on.

/** Groups items by a key, in the order of their first items. */
export function groupBy<K, T>(items: Iterable<T>, toKey: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) remember(groups, toKey(item), () => []).push(item);
  return groups;
}

/** The value of a key, created when it is first needed. */
export function remember<Key, Value>(
  values: { get(key: Key): Value | undefined; set(key: Key, value: Value): unknown },
  key: Key,
  create: () => Value,
): Value {
  const known = values.get(key);
  if (known !== undefined) return known;
  const value = create();
  values.set(key, value);
  return value;
}

/** Remembers values by key: those that were used last. */
export class RecentValues<Key, Value> {
  /** The least recently used first. */
  readonly #values = new Map<Key, Value>();

  /** @param max - how many values are remembered */
  constructor(private readonly max: number) {}

  get(key: Key): Value | undefined {
    return this.#values.get(key);
  }

  set(key: Key, value: Value): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size <= this.max) return;
    const [oldest = key] = this.#values.keys();
    this.#values.delete(oldest);
  }

  /** The value of a key, created if it is not remembered. */
  use(key: Key, create: () => Value): Value {
    const value = this.#values.get(key) ?? create();
    this.set(key, value);
    return value;
  }
}

/** The first items whose sizes add up to at most the limit; at least one item. */
export function firstWithin<T>(items: readonly T[], limit: number, sizeOf: (item: T) => number): T[] {
  let size = 0;
  const isBeyond = (item: T, i: number) => {
    size += sizeOf(item);
    return size > limit && i > 0;
  };
  const end = items.findIndex(isBeyond);
  return items.slice(0, end < 0 ? items.length : end);
}

/** The order of two texts by their UTF-16 units, for `sort`. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
