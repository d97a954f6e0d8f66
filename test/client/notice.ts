// test/client/notice.ts: the notice of a page of the client, which says what an action has done.
import type { Page } from "playwright-core";

/**
 * Waits for a notice, and until the page listens to keys. Elsewhere on the page, a hidden copy for screen readers follows.
 */
export async function noticed(tab: Page, text: string): Promise<void> {
  await tab.locator(".notice p").filter({ hasText: text }).waitFor();
  await tab.waitForLoadState("load");
}
