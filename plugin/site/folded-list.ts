// plugin/site/folded-list.ts: long lists of mentions: the newest are shown, and the others unfold.
import { firstWithin } from "../groups.js";
import type { Words } from "../options/words.js";
import { element, type MarkupElement } from "./html.js";

/** Items that a list shows, with those in the lists below them. */
const SHOWN = 20;
/** Names in a row. */
const SHOWN_NAMES = 6;

/** The place of a list in a page. Conversations start with the oldest item, other lists with the newest. */
export type ListForm = "conversation" | "mentions" | "names";

export interface Division<Item> {
  shown: readonly Item[];
  folded: readonly Item[];
}

/**
 * Divides a list: the newest 20 mentions or 6 names are shown.
 *
 * @param count - the number of mentions in an item: itself and the replies to it
 */
export function divideList<Item>(
  items: readonly Item[],
  form: ListForm,
  count: (item: Item) => number,
): Division<Item> {
  if (form === "names") return { shown: items.slice(0, SHOWN_NAMES), folded: items.slice(SHOWN_NAMES) };
  if (form === "mentions") {
    const shown = firstWithin(items, SHOWN, count);
    return { shown, folded: items.slice(shown.length) };
  }
  const shown = firstWithin(items.toReversed(), SHOWN, count).toReversed();
  return { shown, folded: items.slice(0, items.length - shown.length) };
}

/** The control that unfolds a list. It names the list's length. */
export function foldMarkup(count: number, words: Pick<Words, "moreItems">, list: MarkupElement): MarkupElement {
  return element("details", { class: "twtxt-fold" }, element("summary", {}, foldText(count, words)), "\n", list, "\n");
}

/** Such as "Show 116 more". */
export function foldText(count: number, { moreItems }: Pick<Words, "moreItems">): string {
  return moreItems.replace("{count}", String(count));
}
