// plugin/browser/client-live.ts: keeps the parts of a page that are marked with `data-live` current: requests the page again,
// and replaces what has changed. Each part has an ID, and so do the items of a list in it. A part outside of `main` is replaced
// with the others; a page that has only such parts is not requested.
import { announce } from "./client-notice.js";

const EVERY_MS = 60_000;
/** The interval while a part has `data-busy`, because it shows work in progress. */
const BUSY_MS = 1500;
/** Scripts dispatch this event on `document` to have the page updated at once. */
export const NEWS = "twtxt:news";

let etag: string | null = null;
let isUpdating = false;

export function keepCurrent(): void {
  setInterval(() => void update(), EVERY_MS);
  setInterval(() => {
    if (document.querySelector("[data-busy]") !== null) void update();
  }, BUSY_MS);
  document.addEventListener("visibilitychange", () => void update());
  document.addEventListener(NEWS, () => void update());
}

async function update(): Promise<void> {
  if (isUpdating || document.hidden || document.querySelector("main [data-live]") === null) return;
  isUpdating = true;
  try {
    const response = await fetch(location.href, { headers: etag === null ? {} : { "if-none-match": etag } });
    showUnanswered(response.status === 403);
    if (response.status === 200) {
      replaceParts(new DOMParser().parseFromString(await response.text(), "text/html"));
      etag = response.headers.get("etag");
    }
  } catch {
    showUnanswered(true);
  } finally {
    isUpdating = false;
  }
}

/** Shows or hides the notice that the client has ended. */
function showUnanswered(isUnanswered: boolean): void {
  const notice = document.getElementById("unanswered");
  if (notice === null || notice.hidden !== isUnanswered) return;
  notice.hidden = !isUnanswered;
  if (isUnanswered) announce(notice.textContent ?? "");
}

/** What the author reads stays where it is on the screen. */
function replaceParts(page: Document): void {
  const items = [...document.querySelectorAll("main [data-item][id]")];
  const read = items.find((item) => item.getBoundingClientRect().top >= 0);
  const before = read?.getBoundingClientRect().top ?? 0;
  for (const part of document.querySelectorAll("[data-live]")) {
    const fresh = page.getElementById(part.id);
    if (fresh) current(part, fresh);
  }
  const after = (read && document.getElementById(read.id))?.getBoundingClientRect().top ?? before;
  scrollBy(0, after - before);
}

/** Replaces an element that has changed, unless the author is using it. @returns the one that is in the page now */
function current(old: Element, fresh: Element): Element {
  if (old.isEqualNode(fresh)) return old;
  if (hasItems(old) && hasItems(fresh)) {
    replaceItems(old, fresh);
    return old;
  }
  if (old.matches("pre:not(:has(*))") && fresh.matches("pre:not(:has(*))")) {
    // The author may be reading it: the focus and the place in it stay.
    old.textContent = fresh.textContent;
    return old;
  }
  if (!isInUse(old)) {
    old.replaceWith(fresh);
    return fresh;
  }
  // The parts with IDs of an item that stays are updated, such as the replies to it.
  for (const part of [...fresh.children].filter(({ id }) => id !== "")) {
    const known = [...old.children].find(({ id }) => id === part.id);
    if (known) current(known, part);
    else old.append(part);
  }
  return old;
}

/** Whether an element is a list of items with IDs. */
function hasItems({ children }: Element): boolean {
  return children.length > 0 && [...children].every(({ id }) => id !== "");
}

/** Items that the author is using stay, and the one with the focus is not moved: it would lose it. */
function replaceItems(old: Element, fresh: Element): void {
  const known = new Map([...old.children].map((child, index) => [child.id, { child, index }]));
  const items = [...fresh.children].map((child) => {
    const kept = known.get(child.id)?.child;
    known.delete(child.id);
    return kept === undefined ? child : current(kept, child);
  });
  for (const { child, index } of known.values()) {
    if (isInUse(child)) items.splice(index, 0, child);
    else child.remove();
  }
  const fixed = items.findIndex((item) => item.contains(document.activeElement));
  if (fixed === -1) old.replaceChildren(...items);
  else {
    items[fixed]?.before(...items.slice(0, fixed));
    items[fixed]?.after(...items.slice(fixed + 1));
  }
}

/** Whether an element has the focus, a form that was changed, or a part or picture that was opened. */
function isInUse(element: Element): boolean {
  if (element.contains(document.activeElement)) return true;
  if (element.matches("details[open]") || element.querySelector("details[open], [data-shown]") !== null) return true;
  return [...element.querySelectorAll("input, textarea, select")].some(isChanged);
}

function isChanged(field: Element): boolean {
  if (field instanceof HTMLTextAreaElement) return field.value !== field.defaultValue;
  if (field instanceof HTMLSelectElement) {
    return [...field.options].some(({ selected, defaultSelected }) => selected !== defaultSelected);
  }
  if (!(field instanceof HTMLInputElement) || field.type === "hidden") return false;
  return field.value !== field.defaultValue || field.checked !== field.defaultChecked;
}
