// test/client/looks.ts: how pages of the client look in a browser.
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { COLOR_RULES, violationsIn } from "../helpers/chromium.js";

/**
 * Whether axe finds nothing, and nothing is wider than the screen, in light and dark and at all widths.
 *
 * @param name - of the screenshots in the folder SCREENSHOTS, if there is one
 */
export async function expectFits(tab: Page, name: string): Promise<void> {
  for (const [colorScheme, rules] of [
    ["light", {}],
    ["dark", { runOnly: COLOR_RULES }],
  ] as const) {
    await tab.emulateMedia({ colorScheme });
    expect(await violationsIn(tab, rules)).toEqual([]);
    for (const width of [320, 390, 1280]) {
      await tab.setViewportSize({ width, height: 844 });
      expect(await tab.evaluate("document.documentElement.scrollWidth")).toBe(width);
      const folder = process.env.SCREENSHOTS;
      if (folder) await tab.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png` });
    }
  }
}
