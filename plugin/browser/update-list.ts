// plugin/browser/update-list.ts: updates a list of mentions in the page.
import type { PublicMention } from "../site/mention-markup.js";
import { keyOf, MENTION_TYPES, type NewestMentions } from "./newest-mentions.js";

/** The parts of an item that are updated. The page may have added others. */
const PARTS = [".p-author", ".twtxt-verb", ".u-url, .dt-published", ".twtxt-about", ".p-content"];

/** The items of a list by key, in order. */
export function itemsOf(list: Element | null): Map<string, HTMLElement> {
  const items = list?.querySelectorAll<HTMLElement>("li[data-source]") ?? [];
  return new Map([...items].map((item) => [keyOf(item.dataset), item]));
}

/**
 * Adds, changes and removes items. Unchanged items are not replaced, so they keep focus and selection.
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
  // Items further down may be older than the received mentions.
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

/** Replaces the parts of an item that differ from those of a new one. Pictures stay. */
function updateItem(item: Element, created: Element): void {
  for (const type of MENTION_TYPES) {
    const name = `twtxt-is-${type}`;
    item.classList.toggle(name, created.classList.contains(name));
  }
  for (const part of PARTS) {
    const old = item.querySelector(part);
    const next = created.querySelector(part);
    if (contentOf(old) === contentOf(next)) continue;
    if (old && next) next.prepend(...old.querySelectorAll("img"));
    if (!next) old?.remove();
    else if (old) old.replaceWith(next);
    else item.append(next);
  }
}

/** The content of a part for comparison, without white space and attributes that a minifier or a plugin may have changed. */
function contentOf(part: Element | null): string {
  if (!part) return "";
  const text = [...part.childNodes].map(({ nodeName, textContent }) =>
    nodeName === "BR" ? "\n" : textContent?.replace(/\s+/g, " ").trim(),
  );
  const time = part.querySelector("time") ?? part;
  const isReply = part.matches(".u-in-reply-to");
  return [part.getAttribute("href"), time.getAttribute("datetime"), isReply, text.join("")].join("\0");
}
