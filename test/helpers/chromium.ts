// test/helpers/chromium.ts: a real Chromium, and axe in its pages.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, Page } from "playwright-core";
import { describe } from "vitest";
import { CHROMIUM, hasChromium, launchChromium } from "./launch-chromium.js";

/** A `describe` that is skipped on a machine without Chromium. */
export const describeInChromium = hasChromium()
  ? describe
  : (name: string, tests: () => void) => describe.skip(`${name} (skipped: no Chromium at ${CHROMIUM})`, tests);

let browser: Promise<Browser> | undefined;

/** The browser of this worker, shared by its test files. It ends when the worker exits. */
export function sharedChromium(): Promise<Browser> {
  browser ??= launchChromium();
  return browser;
}

/** The rules of axe that depend on colors, and therefore on the color scheme. */
export const COLOR_RULES = ["color-contrast", "link-in-text-block"];

/** The violations that axe finds in a page in light mode, and those of its rules for colors in dark mode. */
export async function violationsInSchemes(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: "light" });
  const light = await violationsIn(page);
  await page.emulateMedia({ colorScheme: "dark" });
  return [...light, ...(await violationsIn(page, { runOnly: COLOR_RULES }))];
}

/** The rules of axe that a page violates, each with the first elements that violate it. @param given - options of axe */
export async function violationsIn(page: Page, given: { runOnly?: readonly string[] } = {}): Promise<string[]> {
  const hasAxe = await page.evaluate("typeof axe === 'object'");
  if (!hasAxe) await page.evaluate(readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"));
  // No rule that runs needs a copy of the stylesheets.
  const options = { resultTypes: ["violations"], preload: false, ...given };
  const found = await page.evaluate(`
    axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ": " + nodes.slice(0, 3).map(({ html }) => html).join(" ")))
  `);
  return found as string[];
}
