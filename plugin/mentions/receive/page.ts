// plugin/mentions/receive/page.ts: pages of a list of mentions, newest first.
import { TwtxtError } from "../../errors.js";

/** The fields that order a list: `received` is `YYYY-MM-DDThh:mm:ss.sssZ`, `id` 32 hex digits. */
export interface Listed {
  received: string;
  id: string;
}

const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)_([0-9a-f]{32})$/;

/**
 * One page of a list.
 *
 * @param mentions - newest first
 * @param after - the cursor of the page before
 * @returns `next`: the cursor for the next page; `null` on the last one
 * @throws TwtxtError `bad-request` for an `after` that is no cursor
 */
export function pageOf<T extends Listed>(
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
 * Refuses a cursor that names no mention. Each forged one would otherwise take a place in the CDN's cache.
 *
 * @param find - the mention of an id
 * @throws TwtxtError `bad-request`
 * @see PROTOCOL 2.4, "The answer"
 */
export function checkCursor(after: string, find: (id: string) => Listed | undefined): void {
  const { received, id } = parseCursor(after);
  if (find(id)?.received !== received) throw noCursor();
}

/** Compares two mentions for a sort. */
export function newestFirst(a: Listed, b: Listed): number {
  const [x, y] = a.received === b.received ? [a.id, b.id] : [a.received, b.received];
  return x < y ? 1 : x > y ? -1 : 0;
}

function cursorOf(mention: Listed | undefined): string | null {
  return mention ? `${mention.received}_${mention.id}` : null;
}

function parseCursor(text: string): Listed {
  const [, received, id] = CURSOR.exec(text) ?? [];
  if (received === undefined || id === undefined) throw noCursor();
  return { received, id };
}

function noCursor(): TwtxtError {
  return new TwtxtError("bad-request", 'The parameter "after" is not a cursor that this list has returned.');
}
