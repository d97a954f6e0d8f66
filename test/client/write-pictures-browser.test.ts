import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { removeMetadata } from "../../plugin/pictures/remove-metadata.js";
import { blobAuthors, sha256 } from "../cli/blob-author.js";
import { describeInChromium, sharedChromium } from "../helpers/chromium.js";
import { clientOfPerson } from "./client.js";
import { textsIn } from "./files-below.js";
import { expectAccessible, expectFits } from "./looks.js";
import { openPage } from "./open-page.js";
import { writer } from "./writer.js";

const FILES = new URL("../pictures/files/", import.meta.url);
const PHONE = readFileSync(new URL("phone.jpg", FILES));
const CLEAN = Buffer.from(removeMetadata(PHONE, "phone.jpg").bytes);
const TEXT_PNG = readFileSync(new URL("text.png", FILES));
const SVG = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`);

const composer = async () => openPage((await writer()).client, "/write");

/** Drops or pastes a picture, as a browser does. */
async function hand(tab: Page, how: "drop" | "paste", files: Record<string, Buffer>): Promise<void> {
  const given = Object.entries(files).map(([name, bytes]) => [name, bytes.toString("base64")]);
  await tab.evaluate(`{
    const data = new DataTransfer();
    for (const [name, text] of ${JSON.stringify(given)}) {
      data.items.add(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], name, { type: "image/png" }));
    }
    const init = { bubbles: true, cancelable: true, ${how === "drop" ? "dataTransfer" : "clipboardData"}: data };
    document.querySelector("textarea").dispatchEvent(${
      how === "drop" ? 'new DragEvent("drop", init)' : 'new ClipboardEvent("paste", init)'
    });
  }`);
}

/** A picture of 2 x 1 pixels, which every browser decodes, in a format that the client does not accept. */
function bitmap(): Buffer {
  const bytes = Buffer.alloc(62);
  bytes.write("BM");
  for (const [at, value] of [
    [2, 62],
    [10, 54],
    [14, 40],
    [18, 2],
    [22, 1],
  ] as const)
    bytes.writeUInt32LE(value, at);
  bytes.writeUInt16LE(1, 26);
  bytes.writeUInt16LE(24, 28);
  return bytes;
}

describeInChromium("pictures of a note, in a browser", () => {
  it("are converted to JPEG if the browser can decode them; of others, it says why they are left out", async () => {
    const tab = await composer();
    await tab.getByText("Pictures").first().click();
    const heic = Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from("ftypheic"), Buffer.alloc(100)]);
    await tab.getByLabel("Picture (JPEG").setInputFiles([
      { name: "IMG_1.HEIC", mimeType: "", buffer: bitmap() },
      { name: "IMG_2.heic", mimeType: "image/heic", buffer: heic },
      { name: "photo.jpg", mimeType: "image/jpeg", buffer: PHONE },
    ]);
    await tab.getByText("IMG_2.heic was left out: this browser cannot convert it.").waitFor();
    const fields = tab.locator(".description input");
    expect(await fields.count()).toBe(2);
    await tab.getByLabel("Description of IMG_1.jpg").fill("two pixels");
    await expectFits(tab, "write-heic");
    await tab.getByRole("button", { name: "Add the picture" }).click();
    await tab.getByText("2 pictures added.").first().waitFor();
    expect(await tab.getByLabel("Your note, in Markdown").inputValue()).toContain("![two pixels](picture-1.jpg)");
    const size = "[...document.querySelectorAll('.picture img')].map((img) => img.naturalWidth)[0]";
    await expect.poll(() => tab.evaluate(size)).toBe(2);
  });

  it("are chosen, dropped and pasted, each with its description, at the cursor", async () => {
    const { alice, client } = await writer();
    const tab = await openPage(client, "/write");
    const text = tab.getByLabel("Your note, in Markdown");
    await text.fill("First\n\nLast");
    await text.press("Control+Home");
    await text.press("End");
    await hand(tab, "paste", { "clip.png": TEXT_PNG });
    await tab.keyboard.type("pasted");
    await tab.keyboard.press("Enter");
    await tab.getByText("1 picture added.").first().waitFor();
    expect(await text.inputValue()).toBe("First\n\n![pasted](picture-1.png)\n\nLast");
    await tab.locator("textarea:focus").waitFor();
    await tab.keyboard.type(" and");
    expect(await text.inputValue()).toContain("(picture-1.png) and\n");

    await hand(tab, "drop", { "one.jpg": PHONE, "two.png": TEXT_PNG });
    await tab.getByText("2 pictures chosen.").waitFor();
    await tab.getByLabel("Description of one.jpg").fill("dropped");
    await tab.getByLabel("Description of two.png").fill("second");
    await tab.getByRole("button", { name: "Add the picture" }).click();
    await tab.getByText("2 pictures added.").first().waitFor();
    await tab.getByLabel("Picture (JPEG").setInputFiles({ name: "x.gif", mimeType: "image/gif", buffer: SVG });
    await tab.getByRole("button", { name: "Add the picture" }).click();
    await tab.getByText("x.gif is an SVG drawing").first().waitFor();
    expect(await text.inputValue()).toMatch(/!\[dropped\]\(picture-2\.jpg\)\s+!\[second\]\(picture-3\.png\)/);
    // The camera was held upright, so the picture is rotated.
    const widths =
      "[...document.querySelectorAll('.picture img')].map((img) => img.decode().then(() => img.naturalWidth))";
    expect(await tab.evaluate(`Promise.all(${widths})`)).toEqual([16, 16, 16]);
    await expectAccessible(tab, "write-pictures");
    expect(textsIn(join(alice.folder, "data")).join()).not.toContain("SECRET");
  });

  it("can be from a camera; one that is too large is not even sent", async () => {
    const tab = await composer();
    const text = tab.getByLabel("Your note, in Markdown");
    const choose = (name: string, bytes: number) =>
      tab.evaluate(`{
        const scan = new Uint8Array(${bytes}).fill(7);
        const start = Uint8Array.from(atob("${CLEAN.subarray(0, -2).toString("base64")}"), (c) => c.charCodeAt(0));
        const file = new File([start, scan, Uint8Array.of(0xff, 0xd9)], ${JSON.stringify(name)}, { type: "image/jpeg" });
        const data = new DataTransfer();
        data.items.add(file);
        document.querySelector("textarea").dispatchEvent(new DragEvent("drop", { bubbles: true, dataTransfer: data }));
      }`);
    await choose("large.jpg", 31 * 2 ** 20);
    await tab.getByText("large.jpg is too large.").waitFor();
    await choose("camera.jpg", 30_000_000 - CLEAN.length);
    await tab.getByLabel("Description of camera.jpg").press("Enter");
    await tab.getByText("1 picture added.").first().waitFor();
    expect(await text.inputValue()).toBe("![](picture-1.jpg)");
    await tab.getByText("28.6 MiB").waitFor();
  });

  it("are added with only the keyboard", async () => {
    const tab = await composer();
    const { keyboard } = tab;
    await keyboard.press("n");
    await keyboard.type("By keyboard");
    await keyboard.press("Tab");
    await keyboard.press("Enter");
    await keyboard.press("Tab");
    // Here, Enter opens the system's file dialog.
    expect(await tab.evaluate("document.activeElement.id")).toBe("picture");
    await tab.locator("#picture").setInputFiles({ name: "a.jpg", mimeType: "image/jpeg", buffer: PHONE });
    await tab.getByText("1 picture chosen.").waitFor();
    await keyboard.type("a square");
    await keyboard.press("Enter");
    await tab.getByText("1 picture added.").first().waitFor();
    await tab.locator("textarea:focus").waitFor();
    await keyboard.type(" in the end");
    const text = tab.getByLabel("Your note, in Markdown");
    expect(await text.inputValue()).toBe("By keyboard\n\n![a square](picture-1.jpg) in the end");
    await tab.getByRole("button", { name: "Remove picture-1.jpg" }).press("Enter");
    await tab.getByText("picture-1.jpg is removed.").first().waitFor();
    expect(await text.inputValue()).toBe("By keyboard\n\nin the end");
  });

  it("require a confirmation before the page with chosen pictures is left, but not when they are added", async () => {
    const tab = await composer();
    const dialogs: string[] = [];
    tab.on("dialog", (dialog) => {
      dialogs.push(dialog.type());
      void dialog.dismiss();
    });
    await tab.locator(".pictures summary").click();
    await hand(tab, "drop", { "one.jpg": PHONE });
    await tab.getByRole("link", { name: "Mentions" }).click({ noWaitAfter: true });
    await expect.poll(() => dialogs).toEqual(["beforeunload"]);
    await tab.getByRole("button", { name: "Add the picture" }).click();
    await tab.getByText("1 picture added.").first().waitFor();
    expect(dialogs).toHaveLength(1);
  });

  it("are added one at a time without JavaScript; a file that is too large gets an error", async () => {
    const { alice, client } = await writer();
    // The file is passed by its path, so its contents do not go through the connection to Chromium.
    alice.write("ignored/b.jpg", Buffer.alloc(33 * 2 ** 20));
    const tab = await openPage(client, "/write", (await sharedChromium()).newPage({ javaScriptEnabled: false }));
    const text = tab.getByLabel("Your note, in Markdown");
    const field = tab.getByLabel("Picture (JPEG");
    await text.fill("Look");
    await field.setInputFiles({ name: "a.jpg", mimeType: "image/jpeg", buffer: PHONE });
    await tab.locator(".pictures summary").click();
    await tab.getByLabel("Description, for people who do not see it").fill("a square");
    await tab.keyboard.press("Enter");
    await tab.getByText("1 picture added.").waitFor();
    expect(await text.inputValue()).toBe("Look\n\n![a square](picture-1.jpg)");
    await field.setInputFiles(join(alice.folder, "ignored/b.jpg"));
    await tab.getByRole("button", { name: "Add the picture" }).click();
    await tab.getByText("This is too large: at most 31.0 MiB can be sent at once.").waitFor();
    await tab.close();
  });

  it("become public after a question that fits all widths and has no violations that axe finds", async () => {
    const { alice } = await blobAuthors(["alice"]);
    const client = await clientOfPerson(alice);
    const tab = await openPage(client, "/write");
    await tab.getByLabel("Picture (JPEG").setInputFiles({ name: "a.jpg", mimeType: "image/jpeg", buffer: PHONE });
    await tab.getByLabel("Description of a.jpg").fill("a square");
    await tab.getByLabel("public blobs").check();
    await tab.getByRole("button", { name: "Save as a post" }).click();
    await tab.getByRole("heading", { name: "Public pictures" }).waitFor();
    await expectAccessible(tab, "write-share");
    await tab.getByRole("button", { name: "Make the picture public and save the post" }).press("Enter");
    await tab.getByText("Saved: notes/").first().waitFor();
    expect(await alice.listed()).toMatchObject([{ key: sha256(CLEAN), public: true }]);
    await tab.goto(`${client.origin}/write`);
    await expectFits(tab, "write-empty");
  });
});
