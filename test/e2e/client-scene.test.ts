// test/e2e/client-scene.test.ts: two authors use the local web client in a real Chromium, and a reader writes to one of them.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { freePort } from "../cli/server.js";
import { describeInChromium } from "../helpers/chromium.js";
import { REPO } from "../helpers/paths.js";
import { post } from "../helpers/site.js";
import { Author, LAYOUT, newTab } from "./author.js";

/** An author of a blog with one note. */
function authorOf(nick: string, port: number, neighbour: string, options = {}): Promise<Author> {
  const date = new Date(Date.now() - 600_000).toISOString();
  const hello = post({ date, tags: "posts", layout: "post.njk" }, `Hello from ${nick}.`);
  const files = { "_includes/post.njk": LAYOUT, "posts/hello.md": hello };
  return Author.start({ nick, port, hosts: [neighbour], options, files });
}

async function twoAuthors(): Promise<[alice: Author, bob: Author]> {
  const ports = [await freePort(), await freePort()] as const;
  return [
    await authorOf("alice", ports[0], `127.0.0.1:${ports[1]}`, { mentions: { moderate: true }, blobs: true }),
    await authorOf("bob", ports[1], `127.0.0.1:${ports[0]}`, { blobs: true }),
  ];
}

const PHOTO = join(REPO, "test/pictures/files/phone.jpg");
const MAP = Buffer.from("%PDF-1.7 to the quince tree");
const QUESTION = "Were your quinces earlier than mine?";
const REPLY = "A week earlier. Come and see them!";
const ANSWER = "On Saturday, then.";

async function mentionEachOther(alice: Author, bob: Author): Promise<void> {
  await alice.follow(`${bob.blog.url}/twtxt.txt`);
  await alice.goTo("Timeline");
  await alice.tab.getByRole("button", { name: "Read again" }).click();
  await alice.tab.getByText("Hello from bob.").waitFor();

  await alice.goTo("Write");
  await alice.addPicture(PHOTO, "A basket");
  await alice.publish(`@bob ${QUESTION}`);
  await expect.poll(() => bob.mentions()).toEqual([expect.stringContaining(QUESTION)]);
  const [, picture = ""] = /!\[A basket\]\((\S+)\)/.exec((await bob.mentions()).join()) ?? [];
  const published = await fetch(picture);
  expect(published.headers.get("content-type")).toBe("image/jpeg");
  // The photo's metadata contains its location and this word.
  expect(Buffer.from(await published.arrayBuffer()).includes("SECRET")).toBe(false);

  await bob.goTo("Mentions");
  await bob.press("j", "r");
  await bob.tab.getByRole("heading", { level: 1, name: "Write" }).waitFor();
  await bob.publish(REPLY);

  await alice.goTo("Mentions");
  await alice.seesLater(".tabs", "Held 1");
  expect(await alice.mentions()).toEqual([]);
  await alice.press("j", "a");
  await alice.noticed("Approved: the mention by bob.");
  expect(await alice.mentions()).toEqual([REPLY]);
  await alice.tab.getByRole("link", { name: "Shown" }).click();
  await alice.tab.waitForURL("**state=shown");
  await alice.press("j", "r");
  await alice.tab.getByRole("heading", { level: 1, name: "Write" }).waitFor();
  await alice.publish(ANSWER);
  await expect.poll(() => bob.mentions()).toEqual([expect.stringContaining(QUESTION), ANSWER]);

  await alice.goTo("Timeline");
  await alice.tab.getByRole("button", { name: "Read again" }).click();
  await alice.noticed("The feeds were read again.");
  const thread = (text: string) => `li:has(> .p-content:has-text("${text}"))`;
  await alice.tab.locator([QUESTION, REPLY, ANSWER].map(thread).join(" ")).waitFor();
}

async function exchangeMessages(alice: Author, bob: Author): Promise<void> {
  await alice.goTo("Messages");
  await alice.press("n");
  await alice.tab.keyboard.type(bob.blog.address);
  await alice.press("Enter");
  await alice.tab.getByRole("heading", { name: bob.blog.address }).waitFor();
  await alice.send("At ten?");

  await bob.goTo("Messages");
  await bob.tab.locator("[data-item]", { hasText: "1 unread" }).waitFor();
  await bob.press("j", "o");
  await bob.tab.getByText("At ten?").waitFor();
  await bob.tab.getByText("Verified: signed with the key of").waitFor();
  await bob.tab.locator("#file").setInputFiles({ name: "map.pdf", mimeType: "application/pdf", buffer: MAP });
  await bob.send("At ten. Here is the map.");
  await alice.seesLater(".text", "At ten.");
  const downloaded = alice.tab.waitForEvent("download");
  await alice.tab.getByRole("link", { name: "Download map.pdf" }).click();
  expect(readFileSync(await (await downloaded).path())).toEqual(MAP);
}

async function answerGuest(alice: Author): Promise<void> {
  const reader = await newTab(`${alice.blog.url}/contact/`);
  await reader.getByLabel("Your message").fill("Do you sell quinces?");
  await reader.getByLabel("Your name (optional)").fill("Dana");
  await reader.getByRole("button", { name: "Send" }).click();
  await reader.locator(".twtxt-sent:not(:has(.twtxt-note))").waitFor();

  await alice.goTo("Messages");
  await alice.tab.locator("[data-item]", { hasText: "Dana" }).getByRole("link").click();
  await alice.tab.getByText("Do you sell quinces?").waitFor();
  await alice.send("From October on.");
  await reader.locator(".twtxt-received", { hasText: "From October on." }).waitFor();
}

async function acceptChangedKey(alice: Author, bob: Author): Promise<void> {
  await bob.changeKey();
  await bob.goTo("Messages");
  await bob.tab.getByRole("link", { name: alice.blog.address }).click();
  await bob.tab.getByRole("heading", { name: alice.blog.address }).waitFor();
  await bob.send("This is my new key.");

  await alice.goTo("Messages");
  expect(await alice.tab.locator("[data-item]", { hasText: "Not verified" }).innerText()).toMatch(/has a new key, or/);
  await alice.tab.getByRole("link", { name: "Not verified" }).click();
  await alice.tab.getByText("has a new key, or someone else is using this address").waitFor();
  await alice.tab.getByRole("link", { name: "Compare the keys" }).click();
  await alice.tab.getByRole("heading", { name: "The key of" }).waitFor();
  const keys = await alice.tab.locator(".keys code").allInnerTexts();
  expect(new Set(keys).size).toBe(2);
  await alice.tab.getByRole("button", { name: "I have asked" }).click();
  await alice.noticed("You have accepted this key");
  await alice.goTo("Messages");
  await alice.tab.getByRole("link", { name: bob.blog.address }).click();
  await alice.tab.getByText("This is my new key.").waitFor();
  await alice.tab.getByText("Verified: signed with the key of").waitFor();
}

async function uploadFiles(alice: Author): Promise<void> {
  const { blog, tab } = alice;
  const names = ["orchard.bin", "attic.bin"];
  for (const name of names) blog.write(`../${name}`, randomBytes(12 * 2 ** 20));
  await alice.goTo("Files");
  blog.line.hold();
  await tab.locator("#chosen").setInputFiles(names.map((name) => join(blog.folder, "..", name)));
  await tab.getByRole("button", { name: "Upload" }).click();
  const upload = (name: string) => tab.locator("#upload-items > li", { hasText: name });
  for (const name of names) {
    await upload(name)
      .getByText(/^\d+\.\d MiB of 12\.0 MiB sent/)
      .waitFor();
    await expect
      .poll(() => upload(name).getByRole("progressbar").getAttribute("value").then(Number))
      .toBeGreaterThan(2 ** 20);
  }
  await upload("attic.bin").focus();
  await alice.press("c");
  await upload("attic.bin").getByText("Cancelled. Nothing was stored.").waitFor();
  blog.line.release();
  await tab.locator("#file-items > li", { hasText: "orchard.bin" }).waitFor();
  await upload("orchard.bin").waitFor({ state: "detached" });
  await alice.goTo("Files");
  expect(await tab.locator("#file-items > li").count()).toBe(1);

  await alice.press("v");
  await tab.getByText("1 as you stored them").waitFor();
  blog.tamper();
  await alice.press("v");
  await tab.locator("#verification .failure").first().waitFor();
  expect(await tab.locator("#verification").innerText()).toContain("orchard.bin");
}

async function checkHealth(alice: Author): Promise<void> {
  await alice.goTo("Health");
  await alice.press("c");
  await alice.tab.getByText("Nothing to fix, checked").waitFor();
  expect(await alice.tab.locator("#sent").innerText()).toMatch(
    /@bob[\s\S]*sent .+ to http:[\s\S]*@bob[\s\S]*sent .+ to http:/,
  );
}

describeInChromium("two authors with the client, end to end", () => {
  it("follow, publish a note with a picture, mention, approve and reply; exchange messages, accept a changed key, upload and verify files, and check a site", async () => {
    const [alice, bob] = await twoAuthors();
    await mentionEachOther(alice, bob);
    await exchangeMessages(alice, bob);
    await answerGuest(alice);
    await acceptChangedKey(alice, bob);
    await uploadFiles(alice);
    await checkHealth(alice);
  });
});
