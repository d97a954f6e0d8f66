import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { removeMetadata } from "../../plugin/pictures/remove-metadata.js";
import { describeInChromium } from "../helpers/chromium.js";
import { openTab } from "../helpers/tabs.js";

const FILES = new URL("files/", import.meta.url);

describeInChromium("a picture without metadata", () => {
  it("looks the same in a browser, with its orientation and colors", async () => {
    const page = await openTab();
    for (const name of readdirSync(FILES)) {
      const before = readFileSync(new URL(name, FILES));
      const { bytes, type } = removeMetadata(before, name);
      const [shown, clean] = [await page.evaluate(pixelsOf(before, type)), await page.evaluate(pixelsOf(bytes, type))];
      expect(clean === shown, name).toBe(true);
      expect(String(shown).slice(0, 5), name).toMatch(/^(24x16|16x24)$/);
    }
  });
});

/** A script that decodes a picture and returns its size and pixels. */
function pixelsOf(bytes: Uint8Array, type: string): string {
  return `(async () => {
    const blob = await (await fetch("data:${type};base64,${Buffer.from(bytes).toString("base64")}")).blob();
    const picture = await createImageBitmap(blob);
    const canvas = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
    canvas.drawImage(picture, 0, 0);
    return picture.width + "x" + picture.height + ": " + canvas.getImageData(0, 0, picture.width, picture.height).data;
  })()`;
}
