// plugin/browser/client-keys.ts: keys of the client. `j` and `k` move between elements with `data-item`; another key clicks
// the element with this `data-key`, or puts the focus there if it is a field, in the current item, or else outside of items.

/** Where the author was, for the page that a form leads back to. */
const PLACE = "twtxt-client-place";
const TYPING = "input, textarea, select, [contenteditable]";

export function listenForKeys(): void {
  returnToItem();
  document.addEventListener("submit", rememberItem);
  document.addEventListener("keydown", (event) => {
    const { key, target, ctrlKey, altKey, metaKey, defaultPrevented } = event;
    const isTyping = target instanceof Element && target.matches(TYPING);
    const hasDialog = document.querySelector("dialog[open]") !== null;
    if (defaultPrevented || ctrlKey || altKey || metaKey || isTyping || hasDialog) return;
    if (act(key)) event.preventDefault();
  });
}

/** @returns whether it did something */
function act(key: string): boolean {
  if (key === "j") return moveFocus(1);
  if (key === "k") return moveFocus(-1);
  return key === "?" ? showKeys() : /^[a-z]$/.test(key) && clickKey(key);
}

function items(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>("[data-item]")];
}

function currentItem(): HTMLElement | null {
  return document.activeElement?.closest<HTMLElement>("[data-item]") ?? null;
}

function moveFocus(step: number): boolean {
  const all = items();
  const current = currentItem();
  const next = current === null ? (step > 0 ? all[0] : all.at(-1)) : all[all.indexOf(current) + step];
  next?.focus();
  return next !== undefined;
}

function clickKey(key: string): boolean {
  const selector = `[data-key="${key}"]`;
  const outside = [...document.querySelectorAll<HTMLElement>(selector)].find((one) => !one.closest("[data-item]"));
  const found = currentItem()?.querySelector<HTMLElement>(selector) ?? outside;
  if (found?.matches(TYPING)) found.focus();
  else found?.click();
  return found !== undefined;
}

/** Lists the keys that do something on this page. */
function showKeys(): boolean {
  const dialog = document.querySelector<HTMLDialogElement>("#keys");
  for (const row of dialog?.querySelectorAll<HTMLElement>("[data-help]") ?? []) {
    row.hidden = !isUseful(row.dataset.help ?? "");
  }
  dialog?.showModal();
  return true;
}

function isUseful(key: string): boolean {
  if (key === "j" || key === "k") return items().length > 0;
  return !/^[a-z]$/.test(key) || document.querySelector(`[data-key="${key}"]`) !== null;
}

function rememberItem(): void {
  const current = currentItem();
  if (current === null) return;
  sessionStorage.setItem(PLACE, JSON.stringify({ path: location.pathname, index: items().indexOf(current) }));
}

/** After an action, the item that took the place of the current one gets the focus. */
function returnToItem(): void {
  const place: unknown = JSON.parse(sessionStorage.getItem(PLACE) ?? "null");
  sessionStorage.removeItem(PLACE);
  const { path, index } = Object(place);
  if (path === location.pathname) (items()[index] ?? items().at(-1))?.focus();
}
