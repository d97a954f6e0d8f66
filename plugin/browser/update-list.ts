// plugin/browser/update-list.ts: changes a list of mentions in the page to what the site says now.
import type { PublicMention } from "../site/mention-markup.js";
import { keyOf, MENTION_TYPES, type NewestMentions } from "./newest-mentions.js";

/** The parts of an item that can change. Everything else in an item belongs to the page. */
const PARTS = [".p-author", ".twtxt-verb", ".u-url, .dt-published", ".twtxt-about", ".p-content"];

/** The items of a list by key, in order. */
export function itemsOf(list: Element | null): Map<string, HTMLElement> {
  const items = list?.querySelectorAll<HTMLElement>("li[data-source]") ?? [];
  return new Map([...items].map((item) => [keyOf(item.dataset), item]));
}

/**
 * Adds, changes and removes items. An item that is right is not touched, so that focus and selection stay.
 *
 * @param hasNextPage - whether mentions older than the last item may belong to another page
 */
export function updateList(
  list: Element,
  { mentions, isAll }: NewestMentions,
  hasNextPage: boolean,
  createItem: (mention: PublicMention) => HTMLElement,
): void {
  const items = itemsOf(list);
  const before = [...items.keys()];
  const lastInBoth = before.findLastIndex((key) => mentions.has(key));
  // Items further down may be older than all of the newest mentions.
  const covered = isAll ? before : before.slice(0, lastInBoth + 1);
  for (const key of covered) if (!mentions.has(key)) items.get(key)?.remove();

  const after = [...mentions];
  const end = !hasNextPage || lastInBoth < 0 ? after.length : after.findLastIndex(([key]) => items.has(key)) + 1;
  let previous: Element | null = null;
  for (const [key, mention] of after.slice(0, end)) {
    const item = items.get(key);
    const created = createItem(mention);
    if (item) updateItem(item, created);
    else if (previous) previous.after(created);
    else list.prepend(created);
    previous = item ?? created;
  }
}

/** Changes the parts of an item that differ from a new one. Pictures stay. */
function updateItem(item: Element, created: Element): void {
  for (const type of MENTION_TYPES) {
    const name = `twtxt-is-${type}`;
    item.classList.toggle(name, created.classList.contains(name));
  }
  for (const part of PARTS) {
    const old = item.querySelector(part);
    const next = created.querySelector(part);
    if (meaningOf(old) === meaningOf(next)) continue;
    if (old && next) next.prepend(...old.querySelectorAll("img"));
    if (!next) old?.remove();
    else if (old) old.replaceWith(next);
    else item.append(next);
  }
}

/** What a part says to a reader: an HTML minifier or a plugin may have changed its white space and attributes. */
function meaningOf(part: Element | null): string {
  if (!part) return "";
  const text = [...part.childNodes].map(({ nodeName, textContent }) =>
    nodeName === "BR" ? "\n" : textContent?.replace(/\s+/g, " ").trim(),
  );
  const time = part.querySelector("time") ?? part;
  const isReply = part.matches(".u-in-reply-to");
  return [part.getAttribute("href"), time.getAttribute("datetime"), isReply, text.join("")].join("\0");
}
