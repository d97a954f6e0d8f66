// test/helpers/chromium.ts: a real Chromium, and axe in its pages.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, Page } from "playwright-core";
import { describe } from "vitest";
import { CHROMIUM, hasChromium, launchChromium } from "./launch-chromium.js";

/** Tests that are skipped on a machine without Chromium. */
export const describeInChromium = hasChromium()
  ? describe
  : (name: string, tests: () => void) => describe.skip(`${name} (skipped: no Chromium at ${CHROMIUM})`, tests);

let browser: Promise<Browser> | undefined;

/** The browser of this worker, which all of its test files share. It ends when the worker exits. */
export function sharedChromium(): Promise<Browser> {
  browser ??= launchChromium();
  return browser;
}

/** What axe finds wrong in a page: its rules, each with the first elements that break it. */
export async function violationsIn(page: Page): Promise<string[]> {
  const hasAxe = await page.evaluate("typeof axe === 'object'");
  if (!hasAxe) await page.evaluate(readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"));
  const found = await page.evaluate(`
    axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ": " + nodes.slice(0, 3).map(({ html }) => html).join(" ")))
  `);
  return found as string[];
}
