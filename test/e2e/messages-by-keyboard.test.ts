// test/e2e/messages-by-keyboard.test.ts: the room of messages in a real Chromium, with only the keyboard.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { messagesRoom } from "../../plugin/client/messages/messages-room.js";
import { blobAuthors } from "../cli/blob-author.js";
import { clientOfPerson } from "../client/client.js";
import { expectAccessible } from "../client/looks.js";
import { noticed } from "../client/notice.js";
import { visitorOf } from "../client/visitor.js";
import { describeInChromium } from "../helpers/chromium.js";
import { eventually } from "../helpers/eventually.js";
import { openTab } from "../helpers/tabs.js";

const PICTURE = readFileSync(new URL("../pictures/files/animated.png", import.meta.url));
const HOSTILE =
  '<script>document.title = "run"</script> <img src=x onerror=alert(1)> \u202e reversed https://evil.example/"onmouseover=alert(1)';

describeInChromium("the room of messages, by keyboard", () => {
  it("opens a conversation, replies, and compares a changed key; axe finds no violations, and no text runs scripts or sends requests", async () => {
    const { alice, bob, carol } = await blobAuthors(["alice", "bob", "carol"]);
    await bob.message("send", alice.address, `Shall we meet at the quince tree on Saturday?\n${HOSTILE}`);
    await carol.message("send", alice.address, "The programme for the evening: https://carol.example/programme");
    const guest = alice.guest(7);
    await alice.run(["message", "send", alice.address, "I like your page on frost.", ...guest.options]);
    const client = await clientOfPerson(alice, [messagesRoom]);

    const tab = await openTab();
    const left: string[] = [];
    const pictures: string[] = [];
    tab.on("request", (request) => {
      if (!request.url().startsWith(client.origin)) left.push(request.url());
      if (request.url().endsWith("/picture")) pictures.push(request.url());
    });
    await tab.goto(client.link);
    await tab.waitForURL(`${client.origin}/messages`);
    await tab.locator("[data-item]").nth(2).waitFor();
    await expectAccessible(tab, "messages");

    for (let moves = 0; moves < 3; moves += 1) {
      await tab.keyboard.press("j");
      if ((await tab.locator("[data-item]:focus").innerText()).includes(bob.address)) break;
    }
    await tab.keyboard.press("o");
    await tab.getByRole("heading", { name: bob.address }).waitFor();
    // Until then, the page's script may not yet handle keys.
    await tab.waitForLoadState("load");
    expect(await tab.title()).not.toBe("run");
    expect(await tab.locator(".text").first().innerText()).not.toContain("\u202e");
    expect(await tab.locator(".text a").getAttribute("href")).toBe("https://evil.example/");
    await tab.keyboard.press("r");
    await tab.keyboard.type("Yes, at ten.");
    await tab.locator("#draft-state").getByText("Draft saved at").waitFor();
    await tab.reload();
    expect(await tab.getByLabel("Your message").inputValue()).toBe("Yes, at ten.");
    await tab.keyboard.press("r");
    await tab.keyboard.press("End");
    await tab.keyboard.type(" Or later.");
    await tab.keyboard.press("Tab");
    await tab.keyboard.press("Tab");
    await tab.keyboard.press("Enter");
    await noticed(tab, `Delivered to ${bob.address}.`);
    expect(await bob.messageJson("list")).toMatchObject([{ text: "Yes, at ten. Or later.", trust: "verified" }]);
    expect(await tab.getByLabel("Your message").inputValue()).toBe("");

    const bobsVisitor = await visitorOf(await clientOfPerson(bob, [messagesRoom]), "/messages");
    await bobsVisitor.upload(`/messages/with/${encodeURIComponent(alice.address)}`, { text: "" }, [
      { field: "file", name: "our quince tree.png", bytes: PICTURE },
    ]);
    await tab.reload();
    const show = tab.getByText("Show picture");
    await show.waitFor();
    expect(pictures).toEqual([]);
    await show.focus();
    await tab.keyboard.press("Enter");
    const width = 'document.querySelector(".attachments img")?.naturalWidth';
    await eventually(async () => expect(await tab.evaluate(width)).toBe(24));
    expect(pictures).toHaveLength(1);
    await tab.keyboard.press("r");
    await tab.keyboard.type("And here is the programme.");
    await tab.keyboard.press("Tab");
    expect(await tab.locator("#file").isVisible()).toBe(false);
    await tab.keyboard.press("Enter");
    await tab.keyboard.press("Tab");
    expect(await tab.locator("#file:focus").count()).toBe(1);
    await tab.locator("#file").setInputFiles({ name: "programme.pdf", mimeType: "application/pdf", buffer: PICTURE });
    await tab.keyboard.press("Tab");
    await tab.keyboard.press("Enter");
    const [download] = await Promise.all([
      tab.waitForEvent("download"),
      tab.getByRole("link", { name: "Download programme.pdf" }).press("Enter"),
    ]);
    expect(download.suggestedFilename()).toBe("programme.pdf");
    await expectAccessible(tab, "conversation");

    await bob.changeKey(9);
    await bob.message("send", alice.address, "With my new key.");
    await tab.goto(`${client.origin}/messages/unverified`);
    await tab.getByText("With my new key.").waitFor();
    await expectAccessible(tab, "key-question");
    await tab.goto(`${client.origin}/messages/key/${encodeURIComponent(bob.address)}`);
    await expectAccessible(tab, "key");
    await tab.getByRole("button", { name: "I have asked" }).focus();
    await tab.keyboard.press("Enter");
    await noticed(tab, "You have accepted this key");
    expect(left).toEqual([]);
  });
});
