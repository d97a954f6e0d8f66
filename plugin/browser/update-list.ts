// plugin/browser/update-list.ts: updates the mentions in a page.
import type { Words } from "../options/words.js";
import { mentionKey } from "../site/conversation.js";
import { divideList, foldMarkup, foldText, type ListForm } from "../site/folded-list.js";
import type { MarkupElement } from "../site/html.js";
import { replyList } from "../site/mention-markup.js";
import { toDom } from "./to-dom.js";

export interface Item {
  key: string;
  /** As it should look; `null` to keep it as the page has it. */
  created: HTMLElement | null;
  /** Whether it is the empty place of a reply. */
  isRemoved: boolean;
  replies: readonly Item[];
}

/** All items of a page by their keys. They may be in several lists. */
export type KnownItems = ReadonlyMap<string, HTMLElement>;

const ITEM = "li[data-source]";
const LIST = ":is(.twtxt-mentions, .twtxt-names, .twtxt-thread)";

/** The parts of an item that are updated. The page may have added others. */
const PARTS = [".p-author", ".twtxt-via", ".twtxt-waits", ".twtxt-verb", ".u-url", ".dt-published", ".p-content"];

export function findItems(parent: Element): Map<string, HTMLElement> {
  const items = parent.querySelectorAll<HTMLElement>(ITEM);
  return new Map([...items].map((item) => [mentionKey(item.dataset), item]));
}

/** Gives a list these items, in order, with their replies. Unchanged items are not replaced, so they keep focus and selection. */
export function updateList(list: Element, items: readonly Item[], known: KnownItems, words: Words): void {
  let previous: Element | null = null;
  for (const { key, created, replies } of items) {
    const item = updatedItem(known.get(key), created);
    if (!item) continue;
    const next: Element | null = previous ? following(previous) : list.querySelector(`:scope > ${ITEM}`);
    if (next !== item) previous ? previous.after(item) : list.prepend(item);
    if (replies.length > 0 || item.querySelector(`:scope > ${LIST}`)) {
      updateLists(item, replies, known, { form: "conversation", words, create: () => replyList([]) });
    }
    previous = item;
  }
}

/**
 * Updates the list in a part of a page, and the control that unfolds its older items. An empty list is removed.
 *
 * @param create - creates the empty list
 */
export function updateLists(
  parent: Element,
  items: readonly Item[],
  known: KnownItems,
  { form, words, create }: { form: ListForm; words: Words; create(): MarkupElement },
): void {
  const { shown, folded } = divideList(items, form, (item) => countMentions([item]));
  const list = parent.querySelector(`:scope > ${LIST}`) ?? toDom(create());
  if (!list.isConnected && items.length > 0) parent.append(list);
  const old = parent.querySelector(":scope > .twtxt-fold");
  const fold = old ?? toDom(foldMarkup(0, words, create()));
  updateList(list, shown, known, words);
  const rest = fold.querySelector(`:scope > ${LIST}`);
  if (rest) updateList(rest, folded, known, words);
  const summary = fold.querySelector(":scope > summary");
  if (summary) summary.textContent = foldText(countMentions(folded), words);
  if (folded.length === 0) old?.remove();
  else if (!old) form === "conversation" ? list.before(fold, "\n") : list.after("\n", fold);
  if (list.childElementCount === 0) list.remove();
}

function countMentions(items: readonly Item[]): number {
  return items.reduce((count, { replies, isRemoved }) => count + Number(!isRemoved) + countMentions(replies), 0);
}

function following(item: Element): Element | null {
  let next = item.nextElementSibling;
  while (next && !next.matches(ITEM)) next = next.nextElementSibling;
  return next;
}

/** Replaces the parts of an item that differ from those of a new one. Pictures stay. */
function updatedItem(item: HTMLElement | undefined, created: HTMLElement | null): HTMLElement | null {
  if (!item || !created) return item ?? created;
  const isReaction = (each: Element) => each.querySelector(":scope > .twtxt-by") === null;
  if (isReaction(item) !== isReaction(created)) {
    item.replaceWith(created);
    return created;
  }
  for (const { name, value } of created.attributes) {
    if (item.getAttribute(name) !== value) item.setAttribute(name, value);
  }
  for (const part of PARTS) {
    const own = `:scope > ${part}, :scope > .twtxt-by > ${part}`;
    const old = item.querySelector(own);
    const next = created.querySelector(own);
    if (readContent(old) === readContent(next)) continue;
    if (old && next) next.prepend(...old.querySelectorAll("img"));
    if (!next) old?.remove();
    else if (old) old.replaceWith(next);
    else if (part === ".twtxt-via") item.querySelector(":scope > .twtxt-by > .p-author")?.after(next);
    else if (part === ".p-content") item.querySelector(":scope > .twtxt-by")?.after("\n", next);
    else item.querySelector(":scope > .twtxt-by")?.append(" ", next);
  }
  return item;
}

/** The content of a part for comparison, without white space and attributes that a minifier or a plugin may have changed. */
function readContent(part: Node | null): string {
  if (!part) return "";
  if (!(part instanceof Element)) return part.textContent?.replace(/\s+/g, " ") ?? "";
  if (part.localName === "img") return "";
  const time = part.getAttribute("datetime");
  if (time !== null) return time;
  const isReply = part.matches(".u-in-reply-to");
  const children = [...part.childNodes].map(readContent).join("").trim();
  return `<${part.localName} ${part.getAttribute("href")} ${isReply}>${children}`;
}
