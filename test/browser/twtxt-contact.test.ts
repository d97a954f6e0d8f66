import { chmodSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { BrowserContextOptions, Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { PageAssets } from "../../plugin/eleventy/pages/page-assets.js";
import { SiteContact } from "../../plugin/eleventy/pages/site-contact.js";
import { readBody } from "../../plugin/http/respond.js";
import { signRequest } from "../../plugin/http/sign-request.js";
import { toSecretKey } from "../../plugin/keys/ed25519.js";
import { parseKey } from "../../plugin/keys/key.js";
import { formatMessage } from "../../plugin/messages/plaintext.js";
import { seal } from "../../plugin/messages/sealing.js";
import type { TwtxtOptions } from "../../plugin/options.js";
import { toStream } from "../../plugin/store/chunks.js";
import { type Correspondent, correspondents } from "../cli/correspondent.js";
import { builtSite } from "../helpers/built-site.js";
import { chooseFiles } from "../helpers/choose-file.js";
import { describeInChromium, sharedChromium, violationsIn } from "../helpers/chromium.js";
import { readAsset } from "../helpers/read-asset.js";
import { openTab } from "../helpers/tabs.js";

const OTHER = "kex1syuhwr4g05t4744r23nvxnr7en9cmz53knhr0gja7c84hr7fkw2quf6zcg";

/** The Content-Security-Policy that the documentation recommends. */
const [, POLICY = ""] =
  /^Content-Security-Policy: (.*)$/m.exec(readFileSync(new URL("../../docs/messages.md", import.meta.url), "utf8")) ??
  [];

/** CSS rules of some starters: links that are just dark enough on white, pale code, and forms in a grid. */
const THEME = `
@media (prefers-color-scheme: light) { a { color: #767676 } }
:not(pre) > code { background: #bfbfbe; color: #0074d9 }
form { display: grid; padding: 2rem }
main { max-width: 40rem; margin: auto }
`;

/** Serves a contact page, as a build writes it, on a loopback site. */
async function publishContact(alice: Correspondent, given: Partial<TwtxtOptions> = {}): Promise<void> {
  const { options, urls } = builtSite(alice.url, { key: alice.kex, mentions: false, ...given });
  const assets = new PageAssets(urls, readAsset);
  const contact = new SiteContact(urls, assets);
  const { title } = contact.words;
  const page = `<!doctype html><html lang="${options.lang ?? "en"}"><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>${title}</title><link rel="stylesheet" href="/theme.css"><main><h1>${title}</h1>${contact.html()}</main>`;
  alice.publishFile("contact/index.html", page);
  alice.publishFile("theme.css", THEME);
  for (const { path, content } of await assets.files()) alice.publishFile(path, content);
}

/** Opens Alice's contact page as a reader, in a tab or in another browser. */
async function readerOf({ url }: Correspondent, where: Promise<Page> = openTab()): Promise<Page> {
  const page = await where;
  await page.goto(`${url}/contact/`);
  return page;
}

/** A page in a separate context, which is closed after the test. */
async function otherBrowser(options: BrowserContextOptions = {}): Promise<Page> {
  const page = await (await sharedChromium()).newPage(options);
  onTestFinished(() => page.close());
  return page;
}

async function write(page: Page, text: string, name?: string): Promise<void> {
  await page.getByLabel("Your message").fill(text);
  if (name !== undefined) await page.getByLabel("Your name (optional)").fill(name);
  await page.getByRole("button", { name: "Send" }).click();
}

/** Waits until the site has stored a reader's message. */
async function expectSent(page: Page, text: string): Promise<void> {
  const message = sent(page).filter({ hasText: text });
  await expect.poll(() => message.count()).toBe(1);
  await expect.poll(() => message.locator(".twtxt-note").count()).toBe(0);
}

/** Sends a reply from Alice, and waits until the reader's page shows it. */
async function answer(alice: Correspondent, page: Page, text: string): Promise<void> {
  const [message] = await alice.messageJson("list");
  const { exitCode, stderr } = await alice.runOnTerminal(["message", "reply", String(message?.id), text]);
  expect(exitCode, stderr).toBe(0);
  await expect.poll(() => received(page).count()).toBe(1);
}

/** Delivers a sealed message with a request signed by Alice's key, which the site requires. */
async function deliverAs(alice: Correspondent, url: string, body: Uint8Array): Promise<void> {
  const { sign } = toSecretKey(new Uint8Array(32).fill(1));
  const request = { method: "POST", url, body, headers: { "content-type": "text/plain" } };
  const headers = signRequest(request, { publicKey: alice.kex, sign }, Date.now());
  expect((await fetch(url, { method: "POST", headers, body: Uint8Array.from(body) })).status).toBe(202);
}

/** Presses Tab until a field or button of the form has focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  await expect
    .poll(async () => {
      await page.keyboard.press("Tab");
      return page.evaluate("document.activeElement.name");
    })
    .toBe(name);
}

const guestOf = (message: Record<string, unknown> | undefined) => String(message?.address).replace(/@.*/, "");

const sent = (page: Page) => page.locator(".twtxt-sent");
const received = (page: Page) => page.locator(".twtxt-received");

describe("the scripts of <twtxt-contact>", () => {
  it("are below 36.5 kB, minified and compressed as in the package", async () => {
    const scripts = await Promise.all(["twtxt-contact.js", "twtxt-contact-conversation.js"].map(readAsset));
    const sizes = scripts.map((script) => gzipSync(script).length);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(36_500);
    expect(sizes[0]).toBeLessThan(1500);
  });
});

describeInChromium("a reader at the contact page", () => {
  it("writes, reads the reply live and after a reload, and forgets everything", async () => {
    const { alice } = await correspondents(["alice"]);
    await publishContact(alice);
    const page = await readerOf(alice);
    const text = "Shall we meet at the fountain, https://example.com/map?";
    await page.getByLabel("Your message").fill(text);
    await page.getByLabel("Your name (optional)").fill("Dana");
    await page.getByRole("button", { name: "Send" }).dblclick();
    await expectSent(page, text);

    const [message, ...others] = await alice.messageJson("list");
    expect(message).toMatchObject({ text, name: "Dana" });
    expect(others, "a double click sends one message").toEqual([]);
    const ends = await page.evaluate(
      `["main", "textarea", ".twtxt-sent"].map((one) => document.querySelector(one).getBoundingClientRect().right)`,
    );
    expect(ends, "as wide as the text of the site").toEqual([960, 960, 960]);
    await answer(alice, page, "At <b>nine</b>, Dana.");
    expect(await received(page).locator(".twtxt-text").innerHTML()).toBe("At &lt;b&gt;nine&lt;/b&gt;, Dana.");
    const link = sent(page).locator("a");
    expect(await link.getAttribute("href")).toBe("https://example.com/map");
    expect(await link.getAttribute("rel")).toBe("nofollow ugc noopener");

    expect(await violationsIn(page)).toEqual([]);
    await page.reload();
    await expect.poll(() => received(page).count()).toBe(1);
    expect(await page.locator(".twtxt-conversation > li").count()).toBe(2);
    for (const bytes of (await alice.stored()).values()) {
      for (const word of ["fountain", "Dana", "nine"]) expect(Buffer.from(bytes).includes(word)).toBe(false);
    }

    page.on("dialog", (dialog) => dialog.accept());
    await page.getByRole("button", { name: "Forget this conversation" }).click();
    await expect.poll(() => page.getByRole("status").textContent()).toBe("The conversation is forgotten.");
    await expect.poll(() => page.evaluate("indexedDB.databases()")).toEqual([]);
    expect(await page.evaluate("localStorage.length + sessionStorage.length")).toBe(0);
    expect(await page.locator(".twtxt-conversation > li").count()).toBe(0);
    // A record of the deletion remains: no copy of the message is stored again, and later messages have a later time.
    const kept = [...(await alice.stored()).keys()].filter((key) => key.includes(guestOf(message)));
    expect(kept).toEqual([expect.stringMatching(/\/deleted\/\d+-[0-9a-f]{64}-\d+$/)]);
  });

  it("keeps an unsent message, shows the reason, and sends it once with Try again, also after a lost response", async () => {
    const { alice } = await correspondents(["alice"]);
    await publishContact(alice);
    const page = await readerOf(alice);
    const note = sent(page).locator(".twtxt-note");
    const retry = page.getByRole("button", { name: "Try again" });
    alice.failWithStatus = 503;
    await write(page, "hello");
    await expect.poll(() => note.textContent()).toContain("The inbox cannot take messages at the moment.");
    alice.failWithStatus = 429;
    await retry.click();
    await expect.poll(() => note.textContent()).toContain("Too many messages came from your network.");
    alice.failWithStatus = null;
    await page.context().setOffline(true);
    await retry.click();
    await expect.poll(() => note.textContent()).toContain("The site cannot be reached.");
    await page.context().setOffline(false);
    await page.reload();
    await expect.poll(() => retry.count()).toBe(1);
    const bodies: string[] = [];
    alice.operator = async (request, answer) => {
      if (request.method !== "POST") return answer();
      const body = await readBody(request, 2 ** 20);
      bodies.push(Buffer.from(body).toString());
      const response = await answer({ ...request, body: toStream(body) });
      return bodies.length === 1 ? new Response(null, { status: 502 }) : response;
    };
    await retry.click();
    await expect.poll(() => bodies.length).toBe(1);
    await retry.click();
    await expectSent(page, "hello");
    expect(bodies).toHaveLength(2);
    expect(bodies[0]).toBe(bodies[1]);
    expect(await alice.messageJson("list")).toMatchObject([{ text: "hello" }]);
  });

  it("keeps a draft across a reload, and shows before sealing by how much a text is too long", async () => {
    const { alice } = await correspondents(["alice"]);
    await publishContact(alice);
    const page = await readerOf(alice);
    await page.getByLabel("Your message").fill("half a thought");
    await page.getByRole("button", { name: "Forget this conversation" }).waitFor();
    await page.reload();
    await expect.poll(() => page.getByLabel("Your message").inputValue()).toBe("half a thought");
    await write(page, "x".repeat(44_010));
    await expect.poll(() => page.getByRole("status").textContent()).toBe("This message is 10 characters too long.");
    await write(page, "ä".repeat(22_020));
    await expect.poll(() => page.getByRole("status").textContent()).toBe("This message is 20 characters too long.");
    expect(alice.requests.filter((line) => line.startsWith("POST"))).toEqual([]);
  });

  it("sends no message if the site's key differs, even if a service worker serves a cached document", async () => {
    const { alice } = await correspondents(["alice"]);
    await publishContact(alice);
    const path = "/.well-known/msg/alice.json";
    alice.publishFile(
      "worker.js",
      `self.addEventListener("install", (event) => event.waitUntil(caches.open("x").then((cache) => cache.add("${path}"))));
       self.addEventListener("activate", (event) => event.waitUntil(clients.claim()));
       self.addEventListener("fetch", (event) => {
         event.respondWith(caches.match(event.request).then((found) => found ?? fetch(event.request)));
       });`,
    );
    const page = await readerOf(alice);
    await page.evaluate(`
      navigator.serviceWorker.register("/worker.js");
      new Promise((resolve) => navigator.serviceWorker.addEventListener("controllerchange", resolve, { once: true }));
    `);
    await alice.publish(OTHER);
    expect(await page.evaluate(`fetch("${path}").then((answer) => answer.json())`)).not.toMatchObject({ key: OTHER });
    await write(page, "hello");
    await expect
      .poll(() => sent(page).locator(".twtxt-note").textContent())
      .toContain(`this site now names another key for ${alice.address}`);
    expect(alice.requests.filter((line) => line.startsWith("POST"))).toEqual([]);
  });

  it("gets no reply if the site names another guest's key, and sees a message signed by another guest as unverified", async () => {
    const { alice } = await correspondents(["alice"]);
    await publishContact(alice);
    const page = await readerOf(alice);
    await write(page, "hello");
    await expectSent(page, "hello");
    const [message] = await alice.messageJson("list");
    const guest = guestOf(message);
    const endpoint = `${alice.url}/inbox/${guest}`;

    // A static file takes precedence over the document that the site derives from the key.
    alice.publishFile(`.well-known/msg/${guest}.json`, JSON.stringify({ endpoint, key: OTHER }));
    const { exitCode, stderr } = await alice.runOnTerminal(["message", "reply", String(message?.id), "Hello, reader."]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("It is not certain who wrote");

    const other = toSecretKey(new Uint8Array(32).fill(2));
    const from = `${OTHER}@${alice.host}`;
    const text = formatMessage({ time: "2026-11-20T09:00:00Z", from, text: "I am Alice." });
    const sealed = seal(Buffer.from(text), { sender: other, recipients: [parseKey(guest)] });
    await deliverAs(alice, endpoint, sealed);
    await expect
      .poll(() => received(page).locator(".twtxt-note").allTextContents())
      .toEqual([`Not signed with the key of ${alice.address}.`]);
    expect(await received(page).locator(".twtxt-text").textContent()).toBe("I am Alice.");
  });

  it("shows that the browser's storage is full, keeps the text, and sends it once there is space", async () => {
    const { alice } = await correspondents(["alice"]);
    await publishContact(alice);
    const page = await readerOf(alice);
    await page.getByLabel("Your message").fill("hello");
    await page.getByRole("button", { name: "Forget this conversation" }).waitFor();
    await page.evaluate(`
      const { put } = IDBObjectStore.prototype;
      IDBObjectStore.prototype.put = () => { throw new DOMException("full"); };
      globalThis.makeRoom = () => { IDBObjectStore.prototype.put = put; };
    `);
    const send = page.getByRole("button", { name: "Send" });
    await send.click();
    await expect.poll(() => page.getByRole("status").textContent()).toContain("does not store anything");
    expect(await page.getByLabel("Your message").inputValue()).toBe("hello");
    expect(alice.requests.filter((line) => line.startsWith("POST"))).toEqual([]);
    await page.evaluate("makeRoom()");
    await send.click();
    await expectSent(page, "hello");
    expect(await page.getByRole("status").textContent()).toBe("");
  });

  it("shows that the browser cannot store messages if its database cannot be opened, and retries at the next use", async () => {
    const { alice } = await correspondents(["alice"]);
    await publishContact(alice);
    // The request fails because the database has a newer version.
    const script = `
      const { open } = IDBFactory.prototype;
      globalThis.isBlocked = true;
      IDBFactory.prototype.open = function (...given) {
        if (!globalThis.isBlocked) return open.apply(this, given);
        open.call(this, "newer", 2);
        return open.call(this, "newer", 1);
      };
    `;
    const page = await readerOf(alice, openTab({ script }));
    const status = page.getByRole("status");
    await write(page, "hello");
    await expect.poll(() => status.textContent()).toContain("does not store anything");
    expect(await page.getByLabel("Your message").inputValue()).toBe("hello");
    await page.evaluate("isBlocked = false");
    await page.getByRole("button", { name: "Send" }).click();
    await expectSent(page, "hello");

    await page.reload();
    await expect.poll(() => status.textContent()).toContain("does not store anything");
    await page.evaluate("isBlocked = false");
    await page.getByLabel("Your message").focus();
    await expectSent(page, "hello");
    expect(await status.textContent()).toBe("");
  });

  it("writes with only the keyboard on a narrow dark screen, and axe finds no violations", async () => {
    const { alice } = await correspondents(["alice"]);
    await publishContact(alice);
    const page = await readerOf(alice, openTab({ viewport: { width: 360, height: 640 } }));
    await page.emulateMedia({ colorScheme: "dark" });
    page.on("dialog", (dialog) => dialog.accept());
    await tabTo(page, "text");
    await page.keyboard.type("Shall we meet?");
    await tabTo(page, "name");
    await page.keyboard.type("Dana");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await expectSent(page, "Shall we meet?");
    await answer(alice, page, `At nine, at the ${"long ".repeat(30)}${"w".repeat(80)}`);
    expect(await violationsIn(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
    await tabTo(page, "forget");
    await page.keyboard.press("Space");
    await expect.poll(() => page.getByRole("status").textContent()).toBe("The conversation is forgotten.");
  });

  it("sees the same conversation in two tabs, even if an earlier read ends later, and forgets it with the drafts of both", async () => {
    const { alice } = await correspondents(["alice"]);
    await publishContact(alice);
    const [first, second] = [await readerOf(alice), await readerOf(alice)];
    await Promise.all([write(first, "from the first"), write(second, "from the second")]);
    for (const page of [first, second]) await expect.poll(() => sent(page).count()).toBe(2);
    // A message is shown as soon as it is being sent.
    await expect.poll(() => alice.messageJson("list")).toHaveLength(2);
    const senders = new Set((await alice.messageJson("list")).map(({ address }) => address));
    expect([...senders]).toEqual([expect.stringMatching(/^kex1/)]);
    await second.evaluate(`
      new Promise((resolve) => {
        const { getAll } = IDBObjectStore.prototype;
        IDBObjectStore.prototype.getAll = function (...given) {
          IDBObjectStore.prototype.getAll = getAll;
          const request = getAll.apply(this, given);
          return new Promise((release) => {
            request.onsuccess = () => {
              globalThis.release = () => release(request.result);
              resolve();
            };
          });
        };
        new BroadcastChannel("twtxt-contact ${alice.address}").postMessage(null);
      })
    `);
    await write(first, "are you there?");
    await expectSent(first, "are you there?");
    await second.evaluate("release()");
    await expectSent(second, "are you there?");
    await second.getByLabel("Your message").fill("unsent");
    await second.getByLabel("Your name (optional)").fill("Dana");
    first.on("dialog", (dialog) => dialog.accept());
    await first.getByRole("button", { name: "Forget this conversation" }).click();
    for (const page of [first, second]) await expect.poll(() => sent(page).count()).toBe(0);
    await expect.poll(() => second.getByLabel("Your message").inputValue()).toBe("");
    await expect.poll(() => second.getByLabel("Your name (optional)").inputValue()).toBe("");
    await expect.poll(() => second.evaluate("indexedDB.databases()")).toEqual([]);
  });

  it("sees messages and replies in the order in which the site stored them, even if the browser's clock is wrong", async () => {
    const { alice } = await correspondents(["alice"]);
    await publishContact(alice);
    const script = `
      const Real = Date;
      Date = class extends Real {
        constructor(...given) { super(...(given.length > 0 ? given : [Real.now() + 50_000])); }
        static now() { return Real.now() + 50_000; }
      };
    `;
    const page = await readerOf(alice, openTab({ script }));
    await write(page, "first");
    await expectSent(page, "first");
    await answer(alice, page, "second");
    for (const text of ["third", "fourth"]) {
      await write(page, text);
      await expectSent(page, text);
    }
    const texts = () => page.locator(".twtxt-conversation .twtxt-text").allTextContents();
    expect(await texts()).toEqual(["first", "second", "third", "fourth"]);
    const times = await page.locator(".twtxt-conversation time").evaluateAll((all) => all.map((time) => time.dateTime));
    expect(times).toEqual(times.toSorted());
    expect(Date.parse(times.at(-1) ?? "")).toBeLessThan(Date.now() + 1000);
  });

  it("writes to both authors of a page, and forgets one of the two conversations", async () => {
    const bob = { user: "bob", key: OTHER };
    const { alice } = await correspondents(["alice"], { authors: [bob] });
    await publishContact(alice, { authors: [bob] });
    const page = await readerOf(alice);
    expect(await page.locator("script[src]").count()).toBe(1);
    const forms = page.locator("twtxt-contact");
    const inForm = (at: number) => ({ form: forms.nth(at), list: forms.nth(at).locator(".twtxt-sent .twtxt-text") });
    const [toAlice, toBob] = [inForm(0), inForm(1)];
    for (const [at, { form }] of [toAlice, toBob].entries()) {
      await form.getByLabel("Your message").fill(`to ${at}`);
    }
    await page.evaluate("for (const form of document.forms) form.requestSubmit()");
    for (const text of ["to 0", "to 1"]) await expectSent(page, text);
    expect(await toAlice.list.allTextContents()).toEqual(["to 0"]);
    expect(await toBob.list.allTextContents()).toEqual(["to 1"]);
    const folders = [...(await alice.stored()).keys()].filter((key) => key.includes("/messages/"));
    expect(folders.map((key) => key.split("/")[1]).toSorted()).toEqual(["alice", "bob"]);
    expect(await alice.messageJson("list")).toMatchObject([{ text: "to 0" }]);

    page.on("dialog", (dialog) => dialog.accept());
    await toBob.form.getByRole("button", { name: "Forget this conversation" }).click();
    await expect.poll(() => toBob.form.getByRole("status").textContent()).toBe("The conversation is forgotten.");
    await page.reload();
    await expect.poll(() => toAlice.list.allTextContents()).toEqual(["to 0"]);
    expect(await toBob.list.count()).toBe(0);
  });

  it("sees that the device's clock is wrong if the site rejects the request for replies, and gets one question for Forget after the form was moved in a page whose language is not a valid tag", async () => {
    const { alice } = await correspondents(["alice"]);
    await publishContact(alice);
    alice.clockLagMs = 3_600_000;
    const page = await readerOf(alice);
    await page.evaluate('document.documentElement.lang = "en_US"');
    await page.evaluate("document.querySelector('main').append(document.querySelector('twtxt-contact'))");
    await write(page, "hello");
    await expectSent(page, "hello");
    await expect.poll(() => page.getByRole("status").textContent()).toContain("The clock of this device is wrong");
    const questions: string[] = [];
    page.on("dialog", async (dialog) => {
      questions.push(dialog.message());
      await dialog.accept();
    });
    await page.getByRole("button", { name: "Forget this conversation" }).click();
    await expect.poll(() => page.getByRole("status").textContent()).toBe("The conversation is forgotten.");
    expect(questions).toHaveLength(1);
  });

  it("moves the conversation to another browser with a copy, which the command line can read, too", async () => {
    const { alice } = await correspondents(["alice"]);
    await publishContact(alice);
    const page = await readerOf(alice);
    await write(page, "hello");
    await expectSent(page, "hello");
    await answer(alice, page, "Hello, reader.");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save a copy" }).click(),
    ]);
    const copy = await readFile(await download.path(), "utf8");
    alice.machine.write("copy.key", copy);
    chmodSync(join(alice.machine.folder, "copy.key"), 0o600);
    expect(await alice.messageJson("list", "--identity", "copy.key")).toMatchObject([{ text: "Hello, reader." }]);

    const other = await readerOf(alice, otherBrowser());
    const open = (content: string) =>
      chooseFiles(other, () => other.getByRole("button", { name: "Continue a saved conversation" }).click(), {
        name: "copy.key",
        mimeType: "text/plain",
        buffer: Buffer.from(content),
      });
    await open("not a key");
    await expect
      .poll(() => other.getByRole("status").textContent())
      .toBe("This file is not a copy of a conversation with this site.");
    await open(copy);
    await expect.poll(() => received(other).textContent()).toContain("Hello, reader.");
  });
});

/** Sends Alice's reply to the message with this text; by default, to the first one. */
async function reply(alice: Correspondent, text: string, to?: string): Promise<void> {
  const message = (await alice.messageJson("list")).find((each) => to === undefined || each.text === to);
  const { exitCode, stderr } = await alice.runOnTerminal(["message", "reply", String(message?.id), text]);
  expect(exitCode, stderr).toBe(0);
}

/** Hides a page, as when the reader switches to another tab. */
async function hide(page: Page): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, "visibilityState", { value: "hidden" });
    document.dispatchEvent(new Event("visibilitychange"));
  `);
}

describeInChromium("a reader in unusual circumstances", () => {
  it("reads replies in a tab while a hidden tab is open, on a site without event streams", async () => {
    const { alice } = await correspondents(["alice"], { isStreaming: false });
    await publishContact(alice);
    const hidden = await readerOf(alice);
    await write(hidden, "hello");
    await expectSent(hidden, "hello");
    const page = await readerOf(alice);
    await expectSent(page, "hello");
    await reply(alice, "Hello, reader.");
    await hide(hidden);
    await expect.poll(() => received(page).count()).toBe(1);
  });

  it("reads replies to a new conversation after the browser's data was cleared", async () => {
    const { alice } = await correspondents(["alice"]);
    await publishContact(alice);
    const page = await readerOf(alice);
    await write(page, "before");
    await expectSent(page, "before");
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("Storage.clearDataForOrigin", { origin: alice.url, storageTypes: "indexeddb" });
    await write(page, "after");
    await expectSent(page, "after");
    await reply(alice, "Hello again.", "after");
    await expect.poll(() => received(page).count()).toBe(1);
  });
});

describeInChromium("a browser that cannot encrypt", () => {
  it.each([
    ["without JavaScript", "", "To write here, turn on JavaScript."],
    ["without crypto.subtle", "delete Crypto.prototype.subtle", "Your browser cannot encrypt on this page."],
  ])("%s: shows the command to use instead, and the reason", async (_, script, why) => {
    const { alice } = await correspondents(["alice"]);
    await publishContact(alice);
    const page = await readerOf(
      alice,
      script === "" ? otherBrowser({ javaScriptEnabled: false }) : openTab({ script }),
    );
    await expect.poll(() => page.getByText(why).isVisible()).toBe(true);
    expect(await page.getByText(`eleventy-twtxt message send ${alice.address}`).isVisible()).toBe(true);
    expect(await page.getByLabel("Your message").isVisible()).toBe(false);
    if (script !== "") expect(await violationsIn(page)).toEqual([]);
  });
});
