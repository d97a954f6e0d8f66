// plugin/mentions/receive/sorted-lists.ts: lists that are sorted by the time of their items, and pages of them.
import { randomInt } from "node:crypto";
import { TwtxtError } from "../../errors.js";
import { firstWithin } from "../../groups.js";

/** The sort key: `received` is `YYYY-MM-DDThh:mm:ss.sssZ`, `id` 32 hex digits. */
export interface ListItem {
  received: string;
  id: string;
}

const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)_([0-9a-f]{32})$/;

/** Lists by name. An item can be in any number of them. */
export class SortedLists<T extends ListItem> {
  /** Oldest first, since most additions are the newest. Most lists have one item, which needs no array. */
  readonly #lists = new Map<number, T | T[]>();
  /** Random, so that no sender can choose names with the same key. */
  readonly #seeds = [randomInt(2 ** 32), randomInt(2 ** 32)] as const;

  /** Oldest first; empty if there is no list of this name. */
  get(name: string): readonly T[] {
    const list = this.#lists.get(this.#toKey(name)) ?? [];
    return Array.isArray(list) ? list : [list];
  }

  add(name: string, item: T): void {
    const key = this.#toKey(name);
    const list = this.#lists.get(key);
    if (Array.isArray(list)) list.splice(findIndex(list, item), 0, item);
    else this.#lists.set(key, list ? [list, item].sort((a, b) => newestFirst(b, a)) : item);
  }

  remove(name: string, item: T): void {
    const key = this.#toKey(name);
    const list = this.#lists.get(key);
    const index = Array.isArray(list) ? findIndex(list, item) : 0;
    if (list === item) this.#lists.delete(key);
    else if (Array.isArray(list) && list[index] === item) list.splice(index, 1);
  }

  /** A hash of 53 bits: the names of 100,000 mentions, mostly URLs, would take more memory than all the rest of their lists. */
  #toKey(name: string): number {
    let [low, high] = this.#seeds;
    for (let at = 0; at < name.length; at += 1) {
      const unit = name.charCodeAt(at);
      low = Math.imul(((low << 13) | (low >>> 19)) ^ unit, 0x9e3779b1);
      high = Math.imul(((high << 7) | (high >>> 25)) ^ unit, 0x85ebca6b);
    }
    return ((high ^ (high >>> 15)) >>> 11) * 2 ** 32 + ((low ^ (low >>> 16)) >>> 0);
  }

  /** @param after - the items older than this one; default: all */
  *newestFirst(name: string, after?: ListItem): Generator<T> {
    const list = this.get(name);
    for (let i = (after ? findIndex(list, after) : list.length) - 1; i >= 0; i -= 1) yield list[i] as T;
  }
}

/** The number of items that are older. */
function findIndex(list: readonly ListItem[], item: ListItem): number {
  let [low, high] = [0, list.length];
  const last = list.at(-1);
  if (last && newestFirst(item, last) < 0) return high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (newestFirst(list[middle] as ListItem, item) > 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function newestFirst(a: ListItem, b: ListItem): number {
  const [x, y] = a.received === b.received ? [a.id, b.id] : [a.received, b.received];
  return x < y ? 1 : x > y ? -1 : 0;
}

/** Takes one page from the items after the previous page. @returns `next`: the cursor for the next page; `null` on the last page */
export function takePage<T extends ListItem>(items: Iterable<T>, limit: number): { items: T[]; next: string | null } {
  const page: T[] = [];
  for (const item of items) {
    if (page.length === limit) return { items: page, next: toCursor(page.at(-1)) };
    page.push(item);
  }
  return { items: page, next: null };
}

/** Cuts a page off where its items are larger than a limit together. */
export function shortenPage<T extends ListItem>(
  page: { items: T[]; next: string | null },
  bytes: number,
  sizeOf: (item: T) => number,
): { items: T[]; next: string | null } {
  const items = firstWithin(page.items, bytes, sizeOf);
  return items.length === page.items.length ? page : { items, next: toCursor(items.at(-1)) };
}

function toCursor(item: ListItem | undefined): string | null {
  return item ? `${item.received}_${item.id}` : null;
}

/** @throws TwtxtError `bad-request` */
export function parseCursor(text: string): ListItem {
  const [, received, id] = CURSOR.exec(text) ?? [];
  if (received === undefined || id === undefined) throw noCursor();
  return { received, id };
}

export function noCursor(): TwtxtError {
  return new TwtxtError("bad-request", 'The parameter "after" is not a cursor that this list has returned.');
}
