// test/client/files-by-keyboard.test.ts: the room of files in a real Chromium, by keyboard, drop and paste.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import type { BrowserContext, Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { filesRoom } from "../../plugin/client/files/files-room.js";
import { type BlobAuthor, blobAuthors, PNG } from "../cli/blob-author.js";
import { describeInChromium, sharedChromium } from "../helpers/chromium.js";
import { type ClientUnderTest, startedClient } from "./client.js";
import { expectFits } from "./looks.js";

const SVG = `<svg xmlns="http://www.w3.org/2000/svg" onload="document.title='run'"><script>document.title = "run"</script></svg>`;
const HOSTILE_NAME = `"><img src=x onerror=document.title='run'>.txt`;

interface OpenRoom {
  alice: BlobAuthor;
  client: ClientUnderTest;
  context: BrowserContext;
  tab: Page;
  /** URLs of requests to other hosts. */
  left: string[];
  /** Writes a file on the machine of the author. @returns its path */
  file(name: string, content: string | Uint8Array): string;
}

async function openRoom(): Promise<OpenRoom> {
  const { alice } = await blobAuthors(["alice"]);
  const client = await startedClient({
    rooms: [filesRoom],
    folder: alice.machine.folder,
    environment: alice.environment,
  });
  const context = await (await sharedChromium()).newContext({ permissions: ["clipboard-read", "clipboard-write"] });
  const tab = await context.newPage();
  const left: string[] = [];
  tab.on("request", (request) => request.url().startsWith(client.origin) || left.push(request.url()));
  await tab.goto(client.link);
  await tab.waitForURL(`${client.origin}/files`);
  const folder = mkdtempSync(join(tmpdir(), "twtxt-files-"));
  onTestFinished(async () => {
    await context.close();
    rmSync(folder, { recursive: true });
  });
  return {
    ...{ alice, client, context, tab, left },
    file(name, content) {
      const path = join(folder, name);
      writeFileSync(path, content);
      return path;
    },
  };
}

describeInChromium("the room of files, in a browser", () => {
  it("shows hostile names, SVG and long names as text; nothing runs or leaves; axe finds nothing, and it fits", async () => {
    const { alice, client, tab, left } = await openRoom();
    await expectFits(tab, "files-empty");
    const { folder } = alice.machine;
    writeFileSync(join(folder, "quince.png"), picture(240, 160));
    writeFileSync(join(folder, "evil.svg"), SVG);
    writeFileSync(join(folder, "talk.html"), "<script>document.title = 'run'</script>");
    await alice.blob("put", "--public", "quince.png");
    await alice.blob("put", "--public", "evil.svg");
    await alice.blob("put", "--type", "text/html", "talk.html");
    await alice.blob("put", "--filename", HOSTILE_NAME, "package.json");
    writeFileSync(join(folder, "long"), "long");
    await alice.blob("put", "--filename", `${"quince".repeat(41)}.txt`, "--type", `text/${"x".repeat(200)}`, "long");
    writeFileSync(join(folder, "sealed.png"), picture(90, 90));
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
    await expectFits(tab, "files");
    expect(left).toEqual([]);
  });
});

/** A picture of one color. */
function picture(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    const crc = Buffer.alloc(4);
    crc.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, crc]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(width * 3, Buffer.from([200, 160, 40]))]);
  const rows = Buffer.concat(Array.from({ length: height }, () => row));
  const parts = [chunk("IHDR", header), chunk("IDAT", deflateSync(rows)), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([PNG.subarray(0, 8), ...parts]);
}

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
