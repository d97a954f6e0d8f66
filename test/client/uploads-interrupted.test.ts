// test/client/uploads-interrupted.test.ts: uploads that are cancelled, or whose page is closed, while the browser sends the file.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, truncateSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import type { Page, Request } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { filesRoom } from "../../plugin/client/files/files-room.js";
import { type BlobAuthor, blobAuthors } from "../cli/blob-author.js";
import { describeInChromium } from "../helpers/chromium.js";
import { LOOK_OFTEN, openTab } from "../helpers/tabs.js";
import { type ClientUnderTest, clientOfPerson } from "./client.js";
import { openPage } from "./open-page.js";
import { shownText, type Visitor, visitorOf } from "./visitor.js";

const MIB = 2 ** 20;
/** More than a server reads of an unwanted body before it closes the connection. */
const LARGE = 80 * MIB;

interface Room {
  alice: BlobAuthor;
  client: ClientUnderTest;
}

async function room(): Promise<Room> {
  const { alice } = await blobAuthors(["alice"], { maxMegabytes: 200 });
  return { alice, client: await clientOfPerson(alice, [filesRoom]) };
}

/** The files of uploads on the disk. */
function workFiles({ machine }: BlobAuthor): string[] {
  const folder = join(machine.folder, "data/eleventy-twtxt/work");
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [];
  return names.filter((one) => one.isFile()).map(({ name }) => name);
}

/** A file that takes no space, and no time to write. @returns its path */
function largeFile({ machine }: BlobAuthor): string {
  const path = join(machine.folder, "talk.bin");
  writeFileSync(path, "");
  truncateSync(path, LARGE);
  return path;
}

/** Starts to send a file as the page's script does. */
function sending({ origin }: ClientUnderTest, { cookie, csrf }: Visitor, id: string, size: number) {
  const request = httpRequest(`${origin}/files/add?name=talk.bin&visibility=private&clean=no&id=${id}`, {
    method: "POST",
    headers: { cookie, origin, "x-csrf-token": csrf, "content-length": String(size) },
  });
  request.on("error", () => {});
  return request;
}

describe("an upload that the browser is still sending", () => {
  it("gets a response when it is cancelled, and is not stored when the browser sends it again", async () => {
    const { alice, client } = await room();
    const visitor = await visitorOf(client, "/files");
    const shown = async () => shownText((await visitor.get("/files")).text);
    const id = randomUUID();
    const request = sending(client, visitor, id, LARGE);
    const answered = once(request, "response");
    request.write(Buffer.alloc(MIB));
    await expect.poll(shown).toContain("Reading the file.");
    expect((await visitor.submit(`/files/uploads/${id}/cancel`)).text).toContain("Cancelled talk.bin.");
    request.end(Buffer.alloc(LARGE - MIB));
    const [{ statusCode }] = await answered;
    expect(statusCode).toBe(204);

    const again = sending(client, visitor, id, 6);
    again.end("a list");
    const [response] = await once(again, "response");
    expect(response.statusCode).toBe(204);
    expect(await shown()).toContain("1 upload: 1 cancelled.");
    await visitor.submit("/files/uploads/clear");
    const last = sending(client, visitor, id, 6);
    last.end("a list");
    await once(last, "response");
    expect(await shown()).not.toContain("1 upload");
    expect(await alice.listed()).toEqual([]);
    expect(workFiles(alice)).toEqual([]);
  });

  it("is interrupted when the page is closed, without remaining data or a logged error", async () => {
    const { alice, client } = await room();
    const visitor = await visitorOf(client, "/files");
    const shown = async () => shownText((await visitor.get("/files")).text);
    const request = sending(client, visitor, randomUUID(), LARGE);
    request.write(Buffer.alloc(MIB));
    await expect.poll(shown).toContain("Reading the file.");
    request.destroy();
    await expect.poll(shown).toContain("Interrupted: the page was left before the file had arrived. Choose it again.");
    expect(client.printed).toEqual([]);
    expect(workFiles(alice)).toEqual([]);
  });

  it.each(["../../up", "", "1"])("is refused with the ID %j, which no page creates", async (id) => {
    const { alice, client } = await room();
    const request = sending(client, await visitorOf(client, "/files"), id, 6);
    request.end("a list");
    const [{ statusCode }] = await once(request, "response");
    expect(statusCode).toBe(400);
    expect(await alice.listed()).toEqual([]);
  });
});

/** A page that sends at most this many bytes per second. */
async function slowPage(client: ClientUnderTest, uploadThroughput: number): Promise<Page> {
  const tab = await openPage(client, "/files", openTab({ script: LOOK_OFTEN }));
  const session = await tab.context().newCDPSession(tab);
  onTestFinished(() => session.detach());
  await session.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput,
  });
  return tab;
}

describeInChromium("an upload that Chromium is still sending", () => {
  it("is cancelled permanently", async () => {
    const { alice, client } = await room();
    const tab = await slowPage(client, 40 * MIB);
    const path = largeFile(alice);
    await tab.locator("#chosen").setInputFiles(path);
    const ended = new Promise<void>((resolve) => {
      const resolveFor = (request: Request) => request.url().includes("/files/add") && resolve();
      tab.on("requestfailed", resolveFor).on("requestfinished", resolveFor);
    });
    await tab.getByRole("button", { name: "Upload" }).click();
    await tab.getByText("Reading the file.").waitFor();
    await tab.getByRole("button", { name: "Cancel" }).click();
    await ended;
    await tab.getByText("Cancelled. Nothing was stored.").waitFor();
    expect(await tab.locator("#upload-summary").innerText()).toBe("1 upload: 1 cancelled.");
    expect(await alice.listed()).toEqual([]);
    expect(workFiles(alice)).toEqual([]);
  });

  it("is interrupted when its page is closed", async () => {
    const { alice, client } = await room();
    const tab = await slowPage(client, MIB);
    const path = largeFile(alice);
    await tab.locator("#chosen").setInputFiles(path);
    await tab.getByRole("button", { name: "Upload" }).click();
    await tab.getByText("Reading the file.").waitFor();
    tab.on("dialog", (dialog) => void dialog.accept());
    await tab.goto(`${client.origin}/files?page=1`);
    await tab.getByText("Interrupted: the page was left before the file had arrived. Choose it again.").waitFor();
    expect(client.printed).toEqual([]);
    expect(workFiles(alice)).toEqual([]);
  });
});
