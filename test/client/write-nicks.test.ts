// test/client/write-nicks.test.ts: completion of `@nick` while a note is typed.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { loadAuthor } from "../../plugin/author/author.js";
import { timelineRoom } from "../../plugin/client/timeline/timeline-room.js";
import { writeRoom } from "../../plugin/client/write/write-room.js";
import { Contacts } from "../../plugin/messages/lookup/contacts.js";
import { testTerminal } from "../cli/helpers.js";
import { describeInChromium } from "../helpers/chromium.js";
import { startedClient } from "./client.js";
import { expectAccessible } from "./looks.js";
import { type ModeratedSite, moderatedSite } from "./moderated-site.js";
import { openPage } from "./open-page.js";
import { shownText, visitorOf } from "./visitor.js";
import { writer } from "./writer.js";

const FOLLOW = [
  { nick: "bob", url: "https://bob.example/twtxt.txt" },
  { nick: "Bobby", url: "https://bobby.example/a/very/long/path/to/a/feed/of/a/person/with/a/long/address/twtxt.txt" },
  { nick: "carol", url: "https://carol.example/tw.txt" },
  { nick: "img/src=x/onerror=alert&lt;b&gt;", url: 'https://evil.example/?"onclick="alert&lt;1' },
];

/** Pins the key of a contact of the author. */
async function pinContact(address: string, { folder, environment = {} }: ModeratedSite["setup"]): Promise<void> {
  const machine = { ...testTerminal(folder, "2026-11-20T09:30:00Z"), environment };
  const { store } = await loadAuthor({ as: undefined, identity: undefined, settings: undefined }, machine);
  const found = { address, key: "kex1x", endpoint: "https://x.example/", url: "https://x.example/", byDns: false };
  await new Contacts(store, machine.now).pin(found);
}

it("lists people to mention without JavaScript: followed feeds, authors of mentions and contacts, also while the site is down", async () => {
  const { setup, bob, stop } = await moderatedSite({ "2026-01-02T03:04:05Z": "hello" }, false);
  const file = join(setup.folder, "_data/follow.json");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(FOLLOW.slice(0, 1)));
  await pinContact("carol@carol.example", setup);
  const client = await startedClient({ ...setup, rooms: [timelineRoom, writeRoom] });
  const visitor = await visitorOf(client, "/timeline");
  await expect
    .poll(async () => shownText((await visitor.get("/write")).text))
    .toContain(`@bob https://bob.example/twtxt.txt @&lt;bob ${bob.feedUrl}&gt;`);
  await stop();
  const later = await startedClient(setup);
  const { text } = await (await visitorOf(later, "/write")).get("/write");
  expect(shownText(text)).toContain(`@&lt;bob ${bob.feedUrl}&gt; @&lt;carol https://carol.example/&gt;`);
});

async function composer(): Promise<Page> {
  const { alice, client } = await writer();
  alice.write("_data/follow.json", JSON.stringify(FOLLOW));
  const tab = await openPage(client, "/write");
  await tab.keyboard.press("n");
  return tab;
}

const textOf = (tab: Page) => tab.getByLabel("Your note").inputValue();
const options = (tab: Page) =>
  tab.getByRole("listbox", { name: "People to mention" }).getByRole("option").allTextContents();

describeInChromium("@nick in the text of a note", () => {
  it("is completed with the keyboard: arrows, Enter, Tab and Escape, with the number of matches for screen readers", async () => {
    const tab = await composer();
    const text = tab.getByLabel("Your note");
    await tab.keyboard.type("Hi @bo");
    expect(await options(tab)).toEqual([`@bob ${FOLLOW[0]?.url}`, `@Bobby ${FOLLOW[1]?.url}`]);
    await tab.getByRole("status").getByText("2 matches").waitFor();
    await expectAccessible(tab, "write-nicks");
    expect(await text.getAttribute("aria-activedescendant")).toBe("nick-0");
    await tab.keyboard.press("ArrowDown");
    expect(await tab.locator("#nick-1").getAttribute("aria-selected")).toBe("true");
    await tab.keyboard.press("ArrowDown");
    await tab.keyboard.press("ArrowUp");
    await tab.keyboard.press("Enter");
    expect(await textOf(tab)).toBe("Hi @Bobby ");
    await tab.keyboard.type(" and @CA");
    await tab.keyboard.press("Tab");
    expect(await textOf(tab)).toBe("Hi @Bobby and @carol ");
    await tab.keyboard.type("@b");
    await tab.keyboard.press("Escape");
    expect(await options(tab)).toEqual([]);
    expect(await text.getAttribute("aria-activedescendant")).toBeNull();
    await tab.keyboard.type("o");
    expect(await options(tab)).toEqual([]);
    await tab.keyboard.press("Enter");
    expect(await textOf(tab)).toBe("Hi @Bobby and @carol @bo\n");
    await tab.keyboard.press("Tab");
    expect(await text.evaluate("document.activeElement.tagName")).not.toBe("TEXTAREA");
  });

  it("is completed with a click in the middle of a text, and saved with the text", async () => {
    const tab = await composer();
    await tab.keyboard.type("Hi , bye");
    for (let presses = 0; presses < 5; presses += 1) await tab.keyboard.press("ArrowLeft");
    await tab.keyboard.type("@car");
    await tab.getByRole("option", { name: "@carol" }).click();
    expect(await textOf(tab)).toBe("Hi @carol , bye");
    await tab.keyboard.type("!");
    expect(await textOf(tab)).toBe("Hi @carol !, bye");
    await tab.getByLabel("Your note").fill("Hi  there");
    for (let presses = 0; presses < 6; presses += 1) await tab.keyboard.press("ArrowLeft");
    await tab.keyboard.type("@car");
    await tab.keyboard.press("Tab");
    await tab.keyboard.type(" , ");
    expect(await textOf(tab)).toBe("Hi @carol , there");
    await tab.getByText("Draft saved at").waitFor();
  });

  it("shows hostile nicks as text, and has no suggestions in an address or for a complete nick", async () => {
    const tab = await composer();
    await tab.keyboard.type("@img");
    expect(await options(tab)).toEqual([`@${FOLLOW[3]?.nick} ${FOLLOW[3]?.url}`]);
    expect(await tab.locator("#nick-list li *").count()).toBe(2);
    await tab.keyboard.press("Enter");
    expect(await textOf(tab)).toBe(`@${FOLLOW[3]?.nick} `);
    await tab.keyboard.type("alice@bob");
    expect(await options(tab)).toEqual([]);
    await tab.keyboard.type(" @carol");
    expect(await options(tab)).toEqual([]);
  });
});
