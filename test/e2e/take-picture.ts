// test/e2e/take-picture.ts: pictures of a page for the documents, in light and dark colors.
import { writeFileSync } from "node:fs";
import type { Page } from "playwright-core";

const QUALITY = 80;

interface Picture {
  /** The path of the picture in a color scheme. */
  file(scheme: "light" | "dark"): string;
  /** From the top left corner of the page. */
  clip: { width: number; height: number; scale: number };
  /** The addresses on this machine, and the domains that the picture shows instead. */
  names: ReadonlyMap<string, string>;
}

export async function takePicture(tab: Page, { file, clip, names }: Picture): Promise<void> {
  const { width, height } = clip;
  const chromium = await tab.context().newCDPSession(tab);
  await tab.setViewportSize({ width, height });
  for (const scheme of ["light", "dark"] as const) {
    await tab.emulateMedia({ colorScheme: scheme });
    await tab.evaluate(`(${RENAME})(${JSON.stringify([...names])})`);
    const shown = { format: "webp", quality: QUALITY, clip: { x: 0, y: 0, ...clip } } as const;
    const { data } = await chromium.send("Page.captureScreenshot", shown);
    writeFileSync(file(scheme), Buffer.from(data, "base64"));
  }
  await chromium.detach();
}

/** Replaces this machine's addresses in a page, and its font, which most readers do not have. */
const RENAME = `(names) => {
  // An update of the page would restore the addresses.
  for (const part of document.querySelectorAll("[data-live]")) part.removeAttribute("data-live");
  document.body.style.fontFamily = "Liberation Sans";
  const renamed = (text) => names.reduce((one, [host, name]) =>
    one.replaceAll("http://" + host, "https://" + name).replaceAll(host, name).replaceAll(host.replace(":", "_"), name),
    text.replaceAll(/\\/tmp\\/twtxt-(\\w+)-\\w+/g, "/home/$1"));
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.data = renamed(texts.currentNode.data);
  for (const field of document.querySelectorAll("input, textarea")) field.value = renamed(field.value);
}`;
