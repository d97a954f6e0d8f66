// test/e2e/files-by-keyboard.test.ts: the room of files in a real Chromium, with keyboard, drop and paste.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import sharp from "sharp";
import { expect, it, onTestFinished } from "vitest";
import { filesRoom } from "../../plugin/client/files/files-room.js";
import { blobAuthors } from "../cli/blob-author.js";
import { type ClientUnderTest, clientOfPerson } from "../client/client.js";
import { filesSite } from "../client/files-site.js";
import { expectAccessible, expectFits } from "../client/looks.js";
import { noticed } from "../client/notice.js";
import { chooseFiles } from "../helpers/choose-file.js";
import { describeInChromium } from "../helpers/chromium.js";
import { LOOK_OFTEN, openTab } from "../helpers/tabs.js";

const MIB = 2 ** 20;
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" onload="document.title='run'"><script>document.title = "run"</script></svg>`;
const HOSTILE_NAME = `"><img src=x onerror=document.title='run'>.txt`;

interface OpenRoom {
  tab: Page;
  /** URLs of requests to other hosts. */
  left: string[];
  /** Writes a file on the author's machine. @returns its path */
  file(name: string, content: string | Uint8Array): string;
}

async function opened(client: ClientUnderTest): Promise<OpenRoom> {
  const tab = await openTab({ script: LOOK_OFTEN });
  await tab.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const left: string[] = [];
  tab.on("request", (request) => request.url().startsWith(client.origin) || left.push(request.url()));
  await tab.goto(client.link);
  await tab.waitForURL(`${client.origin}/files`);
  const folder = mkdtempSync(join(tmpdir(), "twtxt-files-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return {
    tab,
    left,
    file(name, content) {
      const path = join(folder, name);
      writeFileSync(path, content);
      return path;
    },
  };
}

describeInChromium("the room of files, in a browser", () => {
  it("shows hostile names, SVG and long names as text, without running scripts or sending requests; fits, and axe finds no violations", async () => {
    const { alice } = await blobAuthors(["alice"]);
    const { folder } = alice.machine;
    const client = await clientOfPerson(alice, [filesRoom]);
    const { tab, left } = await opened(client);
    await expectFits(tab, "files-empty");
    writeFileSync(join(folder, "quince.png"), await picture(240, 160));
    writeFileSync(join(folder, "evil.svg"), SVG);
    writeFileSync(join(folder, "talk.html"), "<script>document.title = 'run'</script>");
    await alice.blob("put", "--public", "quince.png");
    await alice.blob("put", "--public", "evil.svg");
    await alice.blob("put", "--type", "text/html", "talk.html");
    await alice.blob("put", "--filename", HOSTILE_NAME, "package.json");
    writeFileSync(join(folder, "long"), "long");
    await alice.blob("put", "--filename", `${"quince".repeat(41)}.txt`, "--type", `text/${"x".repeat(200)}`, "long");
    writeFileSync(join(folder, "sealed.png"), await picture(90, 90));
    await alice.blob("put", "--encrypt", "sealed.png");
    await tab.goto(`${client.origin}/files`);
    await expect
      .poll(() =>
        tab
          .locator(".preview img")
          .evaluateAll((all) => all.map((one) => (one as { naturalWidth: number }).naturalWidth)),
      )
      .toEqual(expect.arrayContaining([240, 90]));
    expect(await tab.locator("[data-item]").count()).toBe(6);
    expect(await tab.title()).toBe("Files");
    expect(await tab.getByText(HOSTILE_NAME, { exact: true }).count()).toBe(1);
    expect(await tab.locator('img[src="x"]').count()).toBe(0);
    await expectAccessible(tab, "files");
    for (const [key, page] of [
      ["e", "edit"],
      ["x", "delete"],
    ] as const) {
      const long = tab.locator("[data-item]").filter({ hasText: "quincequince" });
      await long.focus();
      await Promise.all([tab.waitForURL(`**/files/${page}/**`), tab.keyboard.press(key)]);
      await expectAccessible(tab, `files-${page}`);
      await tab.goBack();
    }
    expect(left).toEqual([]);
  });

  it("by keyboard, uploads files with progress, pauses, resumes and cancels; copies, publishes, and detects a tampered file", async () => {
    const { blog, client, line, tamper } = await filesSite();
    const { tab, file } = await opened(client);
    const press = (...keys: string[]) =>
      keys.reduce((done, key) => done.then(() => tab.keyboard.press(key)), Promise.resolve());
    const goTo = async (text: string) => {
      await tab.locator("[data-item]").filter({ hasText: text }).first().waitFor();
      await tab.locator("h1").click();
      for (let moves = 0; moves < 9; moves += 1) {
        await press("j");
        if ((await tab.locator("[data-item]:focus").innerText()).includes(text)) return;
      }
      throw new Error(`No item has the text ${text}.`);
    };
    /** Presses a key that opens a page, and waits for the page and its script. */
    const follow = (key: string) => Promise.all([tab.waitForEvent("load"), press(key)]);
    const item = (name: string) => tab.locator("#upload-items [data-item]").filter({ hasText: name });

    const story = `${"A story about quinces. ".repeat(5000)}\n`;
    const upload = async (...files: string[]) => {
      await press("a");
      await chooseFiles(tab, () => press("Space"), files);
      await press("Tab", "Enter");
    };
    line.hold();
    // More than the buffers of a paused connection can store.
    await upload(file("talk.bin", Buffer.alloc(12 * MIB)), file("unwanted.bin", Buffer.alloc(11 * MIB, 1)));
    await expect
      .poll(() => item("talk.bin").locator("progress").getAttribute("value").then(Number))
      .toBeGreaterThan(MIB);
    await expect.poll(() => item("unwanted.bin").innerText()).toMatch(/[1-9][\d.]* MiB of 11\.0 MiB sent/);
    await expectAccessible(tab, "files-uploads");

    await goTo("unwanted.bin");
    await press("c");
    await item("unwanted.bin").getByText("Cancelled. Nothing was stored.").waitFor();
    await goTo("talk.bin");
    await press("s");
    await item("talk.bin")
      .getByText(/Paused at [\d.]+ MiB of 12\.0 MiB/)
      .waitFor();
    await upload(file("story.txt", story), file("quince.png", await picture(240, 160)));
    await item("quince.png").waitFor();
    line.release();
    const grid = (name: string) => tab.locator("#file-items [data-item]").filter({ hasText: name });
    await grid("story.txt").waitFor();
    await item("story.txt").waitFor({ state: "detached" });
    expect(await item("talk.bin").innerText()).toContain("Paused at");
    await goTo("talk.bin");
    await press("s");
    await grid("talk.bin").waitFor();
    expect(await tab.locator("#upload-summary").innerText()).toBe("4 uploads: 3 done, 1 cancelled.");

    await tab.reload();
    await expect.poll(() => tab.locator("#file-items [data-item]").count()).toBe(3);
    await tab.locator("#file-items").scrollIntoViewIfNeeded();
    const stored = async (name: string) => {
      await tab.locator("h1").click();
      for (let moves = 0; moves < 9; moves += 1) {
        await press("j");
        const focused = tab.locator("#file-items [data-item]:focus");
        if ((await focused.count()) > 0 && (await focused.innerText()).includes(name)) return;
      }
      throw new Error(`No file ${name}.`);
    };
    await stored("quince.png");
    await press("m");
    await tab.getByRole("button", { name: "Copied" }).waitFor();
    expect(await tab.evaluate("navigator.clipboard.readText()")).toMatch(/^!\[quince\.png\]\(blob:[0-9a-f]{64}\)$/);
    await follow("p");
    await tab.getByRole("heading", { name: "Make this file public?" }).waitFor();
    await expectFits(tab, "files-public");
    await follow("y");
    await noticed(tab, "quince.png is public.");
    await stored("quince.png");
    await press("l");
    await tab.getByRole("button", { name: "Copied" }).waitFor();
    expect(await tab.evaluate("navigator.clipboard.readText()")).toMatch(/^https:\/\/alice\.example\/shared\/kex1/);

    await tab.locator("h1").click();
    await follow("v");
    await tab
      .locator("#verification")
      .getByText(/: 3 as you stored them\./)
      .waitFor();
    await tamper(story.slice(0, 100));
    await follow("v");
    await tab.locator("#verification").getByText("2 as you stored them, 1 wrong.").waitFor();
    const report = await tab.locator("#verification").innerText();
    expect(report).toContain("story.txt");
    expect(report).toContain("What to do: Delete it below, then upload");
    await expectAccessible(tab, "files-verified");
    await stored("story.txt");
    await follow("x");
    await tab.getByRole("heading", { name: "Delete this file?" }).waitFor();
    await follow("y");
    await noticed(tab, "story.txt is deleted.");
    expect(await tab.locator("#file-items [data-item]").count()).toBe(2);
    expect(readdirSync(join(blog.folder, "data/eleventy-twtxt/work"), { recursive: true })).toHaveLength(1);
  });

  it("shows the text to copy only after the clipboard has refused it, and no picture for a sealed text", async () => {
    const { alice } = await blobAuthors(["alice"]);
    alice.machine.write("letter.pdf", "%PDF-1.7");
    await alice.blob("put", "--encrypt", "letter.pdf");
    const client = await clientOfPerson(alice, [filesRoom]);
    const { tab } = await opened(client);
    await expect.poll(() => tab.locator(".preview img").count()).toBe(0);
    expect(await tab.getByText("Text to paste").isVisible()).toBe(false);
    await tab.evaluate("void (navigator.clipboard.writeText = () => Promise.reject(new Error('refused')))");
    await tab.getByRole("button", { name: "Copy Markdown" }).click();
    await tab.getByText("Markdown for a post:").waitFor();
    expect(await tab.locator("#announced").innerText()).toContain("Copy the text under “Text to paste”");
  });

  it("uploads dropped and pasted files with the chosen visibility", async () => {
    const { alice } = await blobAuthors(["alice"]);
    const client = await clientOfPerson(alice, [filesRoom]);
    const { tab } = await opened(client);
    const give = (event: string, name: string) =>
      tab.evaluate(`{
        const given = new DataTransfer();
        given.items.add(new File(["${name}"], "${name}"));
        const [Type, field] = "${event}" === "paste" ? [ClipboardEvent, "clipboardData"] : [DragEvent, "dataTransfer"];
        document.body.dispatchEvent(new Type("${event}", { [field]: given, bubbles: true, cancelable: true }));
      }`);
    await give("dragover", "dropped.txt");
    expect(await tab.locator("#upload.dropping").count()).toBe(1);
    await give("drop", "dropped.txt");
    expect(await tab.locator("#upload.dropping").count()).toBe(0);
    await tab.getByLabel("Anyone with the link (public)").check();
    await give("paste", "pasted.txt");
    await expect.poll(() => tab.locator("#upload-summary").innerText()).toBe("2 uploads: 2 done.");
    const listed = await alice.listed();
    expect(listed.find(({ filename }) => filename === "dropped.txt")).toMatchObject({ public: false });
    expect(listed.find(({ filename }) => filename === "pasted.txt")).toMatchObject({ public: true });
  });
});

/** A single-color picture. */
function picture(width: number, height: number): Promise<Buffer> {
  return sharp({ create: { width, height, channels: 3, background: "#c8a028" } })
    .png()
    .toBuffer();
}
