// plugin/browser/client-live.ts: keeps the parts of a page that are marked with `data-live` current: requests the page again,
// and replaces what has changed. Each part has an ID, and so do the items of a list in it. A part outside of `main` is replaced
// with the others; a page that has only such parts is not requested.

const EVERY_MS = 60_000;
/** While a part with `data-busy` shows work that is under way. */
const BUSY_MS = 1500;
/** Dispatched on `document` by scripts that know of news. */
export const NEWS = "twtxt:news";

let etag: string | null = null;
let isUnderWay = false;

export function keepCurrent(): void {
  setInterval(() => void update(), EVERY_MS);
  setInterval(() => {
    if (document.querySelector("[data-busy]") !== null) void update();
  }, BUSY_MS);
  document.addEventListener("visibilitychange", () => void update());
  document.addEventListener(NEWS, () => void update());
}

async function update(): Promise<void> {
  if (isUnderWay || document.hidden || document.querySelector("main [data-live]") === null) return;
  isUnderWay = true;
  try {
    const response = await fetch(location.href, { headers: etag === null ? {} : { "if-none-match": etag } });
    if (response.status === 200) {
      replaceParts(new DOMParser().parseFromString(await response.text(), "text/html"));
      etag = response.headers.get("etag");
    }
  } catch {
    // The client was ended, or is busy; the next time may work.
  } finally {
    isUnderWay = false;
  }
}

function replaceParts(page: Document): void {
  for (const part of document.querySelectorAll("[data-live]")) {
    const fresh = page.getElementById(part.id);
    if (fresh) replace(part, fresh);
  }
}

function replace(old: Element, fresh: Element): void {
  if (old.isEqualNode(fresh)) return;
  if (!isInUse(old)) old.replaceWith(fresh);
  else if ([...fresh.children].some(({ id }) => id !== "")) replaceItems(old, fresh);
}

/** Items that the author is using stay. */
function replaceItems(old: Element, fresh: Element): void {
  const known = new Map([...old.children].map((child) => [child.id, child]));
  let place = old.firstElementChild;
  for (const child of [...fresh.children]) {
    const item = known.get(child.id);
    known.delete(child.id);
    if (item === undefined) old.insertBefore(child, place);
    else {
      place = item.nextElementSibling;
      replace(item, child);
    }
  }
  for (const item of known.values()) if (!isInUse(item)) item.remove();
}

/** Whether an element has the focus, a form that was changed, or a part that was opened. */
function isInUse(element: Element): boolean {
  if (element.contains(document.activeElement)) return true;
  if (element.matches("details[open]") || element.querySelector("details[open]") !== null) return true;
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
