// test/client/messages-drafts.test.ts: two pages of one conversation, each with an unsent text.
import { expect, it } from "vitest";
import { messagesRoom } from "../../plugin/client/messages/messages-room.js";
import { correspondents } from "../cli/correspondent.js";
import { describeWithoutKeychain } from "../cli/machine.js";
import { describeInChromium } from "../helpers/chromium.js";
import { openTab } from "../helpers/tabs.js";
import { clientOfPerson } from "./client.js";
import { textsIn } from "./files-below.js";
import { noticed } from "./notice.js";
import { openPage } from "./open-page.js";
import { shownText, visitorOf } from "./visitor.js";
import { fieldOf } from "./writer.js";

const WARNING = "Another page has changed this draft since you opened it here, so it holds both texts now.";

/** Alice's conversation with Bob in her client. */
async function conversation() {
  const { alice, bob } = await correspondents(["alice", "bob"]);
  const client = await clientOfPerson(alice, [messagesRoom]);
  const path = `/messages/with/${encodeURIComponent(bob.address)}`;
  return { alice, bob, client, path };
}

/** Two pages of the conversation, both opened before anything is typed. */
async function twoPages() {
  const { client, path, ...people } = await conversation();
  const visitor = await visitorOf(client, path);
  const opened = async () => {
    const { text: page } = await visitor.get(path);
    const names = ["id", "seen", "page", "edit"];
    const fields = Object.fromEntries(names.map((name) => [name, fieldOf(page, name)]));
    return {
      save: async (text: string) => (await visitor.submit(path.replace("/with/", "/draft/"), { ...fields, text })).text,
      send: async (text: string) => (await visitor.submit(path, { ...fields, text })).text,
    };
  };
  return { ...people, shown: async () => (await visitor.get(path)).text, one: await opened(), other: await opened() };
}

describeWithoutKeychain("the draft of a conversation on two pages", () => {
  it("stores both texts, sealed, and the page that saved later shows what to do", async () => {
    const { alice, one, other } = await twoPages();
    await one.save("plaintext-of-one");
    const page = await other.save("plaintext-of-other");
    expect(shownText(page)).toContain(WARNING);
    expect(page).toContain(">\nplaintext-of-one\n\nplaintext-of-other</textarea>");
    expect(textsIn(alice.machine.folder).filter((text) => text.includes("plaintext-of"))).toEqual([]);
  });

  it("is replaced by the page that saved it, and not deleted by a page that has not seen it", async () => {
    const { one, other, shown } = await twoPages();
    await one.save("first");
    await one.save("first, edited");
    expect(shownText(await other.save(""))).toContain(WARNING);
    expect(await shown()).toContain(">\nfirst, edited</textarea>");
  });

  it("is not sent by a page that has not seen it; that page shows both texts", async () => {
    const { bob, one, other } = await twoPages();
    await one.save("one");
    const page = await other.send("other");
    expect(shownText(page)).toContain(`Not sent: ${WARNING}`);
    expect(page).toContain(">\none\n\nother</textarea>");
    expect(await bob.messageJson("list")).toEqual([]);
  });

  it("is deleted when it is sent, but a text that another page saves later stays", async () => {
    const { bob, one, other, shown } = await twoPages();
    await one.save("sent");
    await one.send("sent");
    expect(await shown()).toContain(">\n</textarea>");
    expect(shownText(await other.save("later"))).toContain("Draft saved.");
    expect(await shown()).toContain(">\nlater</textarea>");
    expect(await bob.messageJson("list")).toMatchObject([{ text: "sent" }]);
  });
});

describeInChromium("a draft that is typed in two tabs of a conversation", () => {
  it("gets both texts in the second tab, which continues with them", async () => {
    const { client, path } = await conversation();
    const first = await openPage(client, path);
    const second = await openTab();
    await second.goto(client.origin + path);
    await first.getByLabel("Your message").pressSequentially("first");
    await first.locator("#draft-state").getByText("Draft saved at").waitFor();
    await second.getByLabel("Your message").pressSequentially("second");
    await second.locator("#draft-state").getByText(WARNING).waitFor();
    await second.keyboard.type("!");
    expect(await second.getByLabel("Your message").inputValue()).toBe("first\n\nsecond!");
    await second.getByRole("button", { name: "Save draft" }).click();
    await noticed(second, "Draft saved.");
    expect(await second.getByLabel("Your message").inputValue()).toBe("first\n\nsecond!");
  });
});
