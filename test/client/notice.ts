// test/client/notice.ts: the notice with the result of an action on a page of the client.
import type { Page } from "playwright-core";

/**
 * Waits for a notice, and until the page handles keys. A hidden copy for screen readers appears elsewhere on the page.
 */
export async function noticed(tab: Page, text: string): Promise<void> {
  await tab.locator(".notice p").filter({ hasText: text }).waitFor();
  await tab.waitForLoadState("load");
}
