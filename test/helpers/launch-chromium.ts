// test/helpers/launch-chromium.ts: starts a real Chromium that connects only to this machine.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, BrowserType } from "playwright-core";
import { importWithSynchronousStorages } from "./async-storage.js";

/** The headless shell is first, because it opens a page in a quarter of the processor time. */
const PROGRAMS = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];
export const CHROMIUM = process.env.CHROMIUM ?? PROGRAMS.find((file) => existsSync(file)) ?? "/usr/bin/chromium";
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  // A tenth of the processor time less: the threads that compile and collect garbage in the background do not pay off in pages
  // that live for a second.
  "--js-flags=--single-threaded",
  // Requests to other hosts fail.
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

export function hasChromium(): boolean {
  return existsSync(CHROMIUM);
}

export function launchChromium(): Promise<Browser> {
  const require = createRequire(import.meta.url);
  const { chromium } = importWithSynchronousStorages<{ chromium: BrowserType }>(() => require("playwright-core"));
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
}
