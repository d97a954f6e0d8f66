// plugin/browser/client-notice.ts: the result of an action, for screen readers, and an address that can be reloaded without it.

export function announce(text: string): void {
  const announced = document.getElementById("announced");
  if (announced) announced.textContent = text;
}

/** Announces the notice of this page: screen readers announce only what appears after the page. */
export function announceNotice(): void {
  const notice = document.querySelector(".notice p");
  if (notice === null) return;
  setTimeout(() => announce(notice.textContent ?? ""), 100);
  const address = new URL(location.href);
  address.searchParams.delete("notice");
  history.replaceState(history.state, "", address);
}
