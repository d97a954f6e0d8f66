// test/client/write-drafts.test.ts: drafts of notes, which are saved while they are typed.
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { postDrafts } from "../../plugin/author/notes/post-drafts.js";
import type { GitSite } from "../author/notes/git-site.js";
import { describeInChromium } from "../helpers/chromium.js";
import { openTab, SHORT_PAUSES } from "../helpers/tabs.js";
import type { ClientUnderTest } from "./client.js";
import { expectFits } from "./looks.js";
import { openPage } from "./open-page.js";
import { shownText, visitorOf } from "./visitor.js";
import { clientOf, fieldOf, writer } from "./writer.js";

const composer = (client: ClientUnderTest) => openPage(client, "/write", openTab({ script: SHORT_PAUSES }));

/** Types at the end of the text. */
async function type(tab: Page, text: string): Promise<void> {
  await tab.getByLabel("Your note").press("Control+End");
  // One event: letter by letter, a busy machine would save a part of it.
  await tab.keyboard.insertText(text);
}

const isSaved = (tab: Page) => tab.getByText(/^Draft saved at \d\d:\d\d$/).waitFor();

/** The texts of the drafts, sorted. */
async function draftsOn({ site, machine }: GitSite): Promise<string[]> {
  return (await postDrafts(site, machine).list()).map(({ body }) => body).sort();
}

it("without JavaScript, a draft that another page has changed is not overwritten, and the page shows what to do", async () => {
  const { alice, client } = await writer();
  const visitor = await visitorOf(client, "/write");
  const { text } = await visitor.submit("/write/draft", { body: "first" });
  const opened = (await visitor.get(`/write?draft=${fieldOf(text, "id")}`)).text;
  const fieldsOf = (page: string) => ({
    ...{
      id: fieldOf(page, "id"),
      seen: fieldOf(page, "seen"),
      page: fieldOf(page, "page"),
      edit: fieldOf(page, "edit"),
    },
  });
  await visitor.submit("/write/draft", { ...fieldsOf(text), body: "one tab" });
  const other = (await visitor.submit("/write/draft", { ...fieldsOf(opened), body: "other tab" })).text;
  expect(shownText(other)).toContain("Another page has changed this draft since you opened it here");
  expect(await draftsOn(alice)).toEqual(["one tab", "other tab"]);
});

describeInChromium("a draft that is typed in a browser", () => {
  it("is saved automatically, and still exists after the client was killed", async () => {
    const { alice, client } = await writer();
    const tab = await composer(client);
    await type(tab, "Not lost");
    await isSaved(tab);
    expect(tab.url()).toMatch(/\/write\?draft=[0-9a-f-]{36}$/);
    await client.close();
    await type(tab, " at all");
    await tab.getByText("Not saved: the client does not answer.").waitFor();
    const again = await clientOf(alice);
    const later = await composer(again);
    await later.getByRole("link", { name: "Not lost" }).click();
    expect(await later.getByLabel("Your note").inputValue()).toBe("Not lost");
    await later.getByText(/^Draft saved: \d+ \w+ \d{4}, \d\d:\d\d$/).waitFor();
  });

  it("is saved when the author leaves the page in the middle of a word", async () => {
    const { alice, client } = await writer();
    const tab = await composer(client);
    await type(tab, "Unfinish");
    await tab.goto(`${client.origin}/health`);
    await expect.poll(() => draftsOn(alice)).toEqual(["Unfinish"]);
  });

  it("is not overwritten by another tab, which shows what to do and continues with its own draft", async () => {
    const { alice, client } = await writer();
    const first = await composer(client);
    await type(first, "Shared");
    await isSaved(first);
    const second = await openTab({ script: SHORT_PAUSES });
    await second.goto(first.url());
    await type(first, ", first");
    await expect.poll(() => draftsOn(alice)).toEqual(["Shared, first"]);
    await type(second, ", second");
    await second.getByText("Compare the two under Drafts, and delete one.").waitFor();
    await type(second, "!");
    await expect.poll(() => draftsOn(alice)).toEqual(["Shared, first", "Shared, second!"]);
    await second.getByText("Compare the two under Drafts, and delete one. Draft saved at").waitFor();
    await expectFits(second, "write-two-tabs");
  });

  it("is deleted once it is saved as a post, even if it was typed just before", async () => {
    const { alice, client } = await writer();
    const tab = await composer(client);
    await type(tab, "A post");
    await tab.getByRole("button", { name: "Save as a post" }).click();
    await tab.getByRole("heading", { name: "Publish" }).waitFor();
    await tab.goto(`${client.origin}/write`);
    expect(await draftsOn(alice)).toEqual([]);
  });

  it("is not saved while it is empty", async () => {
    const { alice, client } = await writer();
    const tab = await composer(client);
    await type(tab, " ");
    await tab.goto(`${client.origin}/health`);
    await tab.goto(`${client.origin}/write`);
    expect(await draftsOn(alice)).toEqual([]);
  });
});
