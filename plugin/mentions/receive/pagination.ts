// plugin/mentions/receive/pagination.ts: pages and cursors of lists of mentions, newest first.
import { TwtxtError } from "../../errors.js";

/** The sort key: `received` is `YYYY-MM-DDThh:mm:ss.sssZ`, `id` 32 hex digits. */
export interface ListItem {
  received: string;
  id: string;
}

const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)_([0-9a-f]{32})$/;

/**
 * Takes one page from a list.
 *
 * @param mentions - newest first
 * @param after - the cursor from the previous page
 * @returns `next`: the cursor for the next page; `null` on the last page
 * @throws TwtxtError `bad-request` for an invalid cursor
 */
export function pageOf<T extends ListItem>(
  mentions: Iterable<T>,
  {
    isWanted = () => true,
    after,
    limit,
  }: { isWanted?(mention: T): boolean; after?: string | undefined; limit: number },
): { mentions: T[]; next: string | null } {
  const start = after === undefined ? null : parseCursor(after);
  const page: T[] = [];
  for (const mention of mentions) {
    if ((start && newestFirst(start, mention) >= 0) || !isWanted(mention)) continue;
    if (page.length === limit) return { mentions: page, next: cursorOf(page.at(-1)) };
    page.push(mention);
  }
  return { mentions: page, next: null };
}

/**
 * Rejects a cursor that names no mention, since forged ones would fill the CDN's cache.
 *
 * @param find - looks up a mention by id
 * @throws TwtxtError `bad-request`
 * @see PROTOCOL 2.4, "The answer"
 */
export function checkCursor(after: string, find: (id: string) => ListItem | undefined): void {
  const { received, id } = parseCursor(after);
  if (find(id)?.received !== received) throw noCursor();
}

/** Compares two items for sorting. */
export function newestFirst(a: ListItem, b: ListItem): number {
  const [x, y] = a.received === b.received ? [a.id, b.id] : [a.received, b.received];
  return x < y ? 1 : x > y ? -1 : 0;
}

function cursorOf(mention: ListItem | undefined): string | null {
  return mention ? `${mention.received}_${mention.id}` : null;
}

function parseCursor(text: string): ListItem {
  const [, received, id] = CURSOR.exec(text) ?? [];
  if (received === undefined || id === undefined) throw noCursor();
  return { received, id };
}

function noCursor(): TwtxtError {
  return new TwtxtError("bad-request", 'The parameter "after" is not a cursor that this list has returned.');
}
