// plugin/client/list-pages.tsx: the pages of a long list, newest items first.
import type { FC } from "hono/jsx";
import type { ClientRequest } from "./client-request.js";

/** Links to other pages of a list; `null` for none. */
export interface OtherPages {
  newer: string | null;
  older: string | null;
}

/**
 * The items of the page that `?page=` asks for.
 *
 * @param all - newest first
 * @param perPage - how many a page has
 */
export function selectPage<T>(
  c: ClientRequest,
  all: readonly T[],
  perPage: number,
): { items: readonly T[]; pages: OtherPages } {
  const last = Math.max(1, Math.ceil(all.length / perPage));
  const number = Math.min(last, Math.max(1, Math.trunc(Number(c.req.query("page"))) || 1));
  const items = all.slice((number - 1) * perPage, number * perPage);
  const newer = number > 1 ? pagePath(c, number - 1) : null;
  const older = number < last ? pagePath(c, number + 1) : null;
  return { items, pages: { newer, older } };
}

function pagePath(c: ClientRequest, number: number): string {
  const { pathname, searchParams } = new URL(c.req.url);
  searchParams.delete("notice");
  if (number === 1) searchParams.delete("page");
  else searchParams.set("page", String(number));
  return searchParams.size === 0 ? pathname : `${pathname}?${searchParams}`;
}

/** @param of - the items in the plural, such as "mentions" */
export const PageLinks: FC<{ pages: OtherPages; of: string }> = ({ pages: { newer, older }, of }) =>
  (newer ?? older) !== null && (
    <p class="pages">
      {newer && <a href={newer}>Newer {of}</a>}
      {older && <a href={older}>Older {of}</a>}
    </p>
  );
