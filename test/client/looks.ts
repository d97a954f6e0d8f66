// test/client/looks.ts: checks the appearance of the client's pages in a browser.
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { violationsInSchemes } from "../helpers/chromium.js";

/** The narrowest screen of each layout of client.css, and a wide one. */
const WIDTHS = [320, 768, 1280];

/** Like {@link expectFits}, and axe finds no violations in light and dark mode. Each component is once on such a page. */
export async function expectAccessible(tab: Page, name: string): Promise<void> {
  expect(await violationsInSchemes(tab)).toEqual([]);
  await expectFits(tab, name);
}

/**
 * Checks that a page is no wider than the screen.
 *
 * @param name - the name of the screenshots in the folder of the environment variable SCREENSHOTS, if it is set
 */
export async function expectFits(tab: Page, name: string): Promise<void> {
  for (const width of WIDTHS) {
    await tab.setViewportSize({ width, height: 844 });
    expect(await tab.evaluate("document.documentElement.scrollWidth")).toBe(width);
    const folder = process.env.SCREENSHOTS;
    if (folder === undefined) continue;
    for (const colorScheme of ["light", "dark"] as const) {
      await tab.emulateMedia({ colorScheme });
      await tab.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png`, fullPage: true });
    }
  }
}
