// plugin/browser/client-show-picture.ts: shows a picture in the page in place of the link to it.

export function showPicturesInPlace(): void {
  document.addEventListener("click", (event) => {
    const { target, ctrlKey, metaKey, shiftKey } = event;
    const link = target instanceof Element ? target.closest<HTMLAnchorElement>("a[data-picture]") : null;
    if (link === null || ctrlKey || metaKey || shiftKey) return;
    event.preventDefault();
    void show(link);
  });
}

async function show(link: HTMLAnchorElement): Promise<void> {
  const picture = new Image();
  picture.alt = link.dataset.picture ?? "";
  picture.src = link.href;
  link.setAttribute("aria-busy", "true");
  try {
    await picture.decode();
    // Keeps client-live.ts from replacing the picture.
    picture.dataset.shown = "";
    const item = link.closest<HTMLElement>("[data-item]");
    const isWaiting = isAwaited(link);
    link.replaceWith(picture);
    if (isWaiting) item?.focus({ preventScroll: true });
  } catch {
    link.removeAttribute("aria-busy");
    // That page says why.
    if (isAwaited(link)) location.assign(link.href);
  }
}

/** Whether the author has not moved on, for example to the field for an answer. Some browsers do not focus links on a click. */
function isAwaited(link: HTMLAnchorElement): boolean {
  const { activeElement, body } = document;
  return activeElement === link || activeElement === body || activeElement === link.closest("[data-item]");
}
