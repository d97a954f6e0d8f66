// test/client/looks.ts: checks the appearance of the client's pages in a browser.
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { COLOR_RULES, violationsIn } from "../helpers/chromium.js";

/**
 * Checks that axe finds no violations and no page is wider than the screen, in light and dark mode and at all widths.
 *
 * @param name - the name of the screenshots in the folder of the environment variable SCREENSHOTS, if it is set
 */
export async function expectFits(tab: Page, name: string): Promise<void> {
  for (const [colorScheme, rules] of [
    ["light", {}],
    ["dark", { runOnly: COLOR_RULES }],
  ] as const) {
    await tab.emulateMedia({ colorScheme });
    expect(await violationsIn(tab, rules)).toEqual([]);
    for (const width of [320, 390, 768, 1280]) {
      await tab.setViewportSize({ width, height: 844 });
      expect(await tab.evaluate("document.documentElement.scrollWidth")).toBe(width);
      const folder = process.env.SCREENSHOTS;
      if (folder) await tab.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png`, fullPage: true });
    }
  }
}
