// plugin/browser/page-parsed.ts: waits for the page.

/** Resolves when the page is parsed: an early script runs before the content of its element exists. */
export async function pageParsed(): Promise<void> {
  if (document.readyState !== "loading") return;
  await new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve));
}
