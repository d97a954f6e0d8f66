// test/e2e/client.screenshots.ts: `npm run screenshots`: writes pictures of each room of the web client into docs/images.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { parseFeed } from "../../plugin/feed/feed.js";
import { freePort } from "../cli/server.js";
import { loopbackServer } from "../helpers/loopback.js";
import { REPO } from "../helpers/paths.js";
import { Author, LAYOUT, newTab } from "./author.js";
import { ALICES_POSTS, BOBS_POSTS, CAROLS_POSTS, erinsFeed, hoursAgo } from "./lively-blogs.js";
import { PublishedBlog } from "./published-blog.js";
import { takePicture } from "./take-picture.js";

const FOLDER = join(REPO, "docs/images/client");
const SIZES = [
  { name: "wide", width: 1280, height: 820, scale: 1 },
  { name: "phone", width: 390, height: 780, scale: 1.5 },
];

/** Alice's files: their names, contents or paths, and options. */
const FILES: readonly [string, string | readonly [string], ...string[]][] = [
  ["market-list.txt", "Flour, jars, lids that fit"],
  ["alice.png", ["site-example/images/alice.png"], "--public"],
  ["garden-plan.txt", "Beans behind, bicycles in front", "--encrypt"],
  ["bicycle.svg", ["site-example/images/bicycle.svg"], "--public"],
  ["quinces.png", ["site-example/pictures/quinces.png"], "--public"],
];

const loadedOf = (all: unknown[]) => all.filter((one) => Number(Object(one).naturalWidth) > 0).length;

/** The people in the screenshots. */
interface Cast {
  alice: Author;
  bob: PublishedBlog;
  carol: PublishedBlog;
  /** The addresses on this machine, and the domains that the screenshots show instead. */
  names: ReadonlyMap<string, string>;
}

it("writes screenshots of each room", async () => {
  mkdirSync(FOLDER, { recursive: true });
  const cast = await started();
  const { alice } = cast;
  await converse(cast);
  await exchangeMessages(cast);
  const take = (name: string) => takePictures(alice.tab, name, cast.names);

  await alice.goTo("Timeline");
  await alice.tab.getByRole("button", { name: "Read again" }).click();
  await alice.noticed("The feeds were read again.");
  await alice.goTo("Timeline");
  await take("timeline");

  await alice.goTo("Write");
  await alice.tab
    .getByLabel("Your note")
    .fill("@bob there are *three* left, with a leaf. Come by before they are jelly.");
  await alice.tab.getByRole("button", { name: "Who will be notified?" }).click();
  await alice.tab.getByRole("heading", { name: "Who will be notified" }).waitFor();
  await take("write");

  await alice.goTo("Mentions");
  await take("mentions");

  await alice.goTo("Messages");
  await alice.seesLater("[data-item]", "Dana");
  await take("messages");
  await alice.tab.getByRole("link", { name: "bob@" }).click();
  await alice.tab.getByText("Half past five").waitFor();
  await take("conversation");
  await alice.goTo("Messages");
  await alice.tab.getByRole("link", { name: "Not verified" }).click();
  await alice.tab.getByRole("link", { name: "Compare the keys" }).first().click();
  await alice.tab.getByRole("button", { name: "I have asked" }).waitFor();
  await take("key");

  await storeFiles(alice.blog);
  await alice.goTo("Files");
  // Images below the viewport are not loaded yet.
  await alice.tab.setViewportSize({ width: 1280, height: 2000 });
  await expect.poll(() => alice.tab.locator(".preview img").evaluateAll(loadedOf)).toBe(2);
  await take("files");

  await alice.goTo("Health");
  await alice.press("c");
  await alice.tab.getByText("to fix, checked").waitFor();
  await take("health");
});

/** Three blogs, a feed, and Alice's client. */
async function started(): Promise<Cast> {
  const [a, b, c] = [await freePort(), await freePort(), await freePort()];
  const host = (port: number) => `127.0.0.1:${port}`;
  const feed = erinsFeed(`http://${host(a)}/twtxt.txt`);
  const erin = await loopbackServer((_, response) => response.end(feed));
  const hosts = [host(a), host(b), host(c), erin.host];
  const layout = { "_includes/post.njk": LAYOUT };
  const start = (nick: string, port: number, files: Record<string, string>) =>
    PublishedBlog.start({ nick, port, hosts, files: { ...layout, ...files } });
  const bob = await start("bob", b, BOBS_POSTS);
  const carol = await start("carol", c, CAROLS_POSTS);
  const feeds = [bob, carol, { url: erin.url }].map(({ url }, at) => ({
    nick: ["bob", "carol", "erin"][at],
    url: `${url}/twtxt.txt`,
  }));
  const files = { ...layout, ...ALICES_POSTS, "_data/follow.json": JSON.stringify(feeds, null, 2) };
  const options = { mentions: { moderate: true }, blobs: true };
  const alice = await Author.start({ nick: "alice", port: a, hosts, options, files });
  const named = [alice.blog.host, bob.host, carol.host, erin.host].map(
    (one, at) => [one, `${["alice", "bob", "carol", "erin"][at]}.example`] as const,
  );
  await mentionAlice(alice.blog, erin.url);
  return { alice, bob, carol, names: new Map(named) };
}

/** Sends the mention in Erin's feed. */
async function mentionAlice(alice: PublishedBlog, erin: string): Promise<void> {
  const { twts } = parseFeed(await (await fetch(`${erin}/twtxt.txt`)).text());
  const source = `${erin}/twtxt.txt#:~:text=${twts[0]?.timestamp}`;
  const body = new URLSearchParams({ source, target: `${alice.url}/twtxt.txt` });
  const answer = await fetch(`${alice.url}/webmention`, { method: "POST", body });
  expect(answer.ok, await answer.text()).toBe(true);
}

/** A conversation of Alice, Bob and Carol. */
async function converse({ alice: { blog: alice }, bob, carol }: Cast): Promise<void> {
  await reply(alice, bob, "Three are left. The one with the leaf is yours.", 4);
  await reply(bob, alice, "On my way. Keep the one with the leaf.", 3);
  await reply(carol, alice, "And I bring the *accordion*. It needs an audience more than a repair.", 2);
}

/** Publishes a reply to the newest twt of another blog. */
async function reply(from: PublishedBlog, to: PublishedBlog, text: string, hours: number): Promise<void> {
  const { twts } = parseFeed(await (await fetch(`${to.url}/twtxt.txt`)).text());
  const twt = `${to.url}/twtxt.txt#:~:text=${twts.at(-1)?.timestamp}`;
  const file = (await from.type("post", "--reply-to", twt, text, ...from.allowing)).trim();
  from.write(file, from.read(file).replace(/^date: .*$/m, `date: ${hoursAgo(hours)}`));
  await from.publish(text);
}

async function exchangeMessages({ alice: { blog: alice }, bob, carol }: Cast): Promise<void> {
  const send = async (from: PublishedBlog, to: PublishedBlog, text: string) => {
    await from.type("message", "send", to.address, text, ...from.allowing);
    // Times of messages have no fractions of a second, so these messages need different seconds.
    await setTimeout(1000);
  };
  await send(carol, alice, "The accordion is fine. It was only offended.");
  await alice.type("message", "list", ...alice.allowing);
  await send(bob, alice, "The basket stands at your back door. Three kilos, as promised.");
  await send(alice, bob, "Found it. A loaf for you is on the windowsill.");
  await send(bob, alice, "Then I come by tonight. Half past five?");
  const reader = await newTab(`${alice.url}/contact/`);
  await reader
    .getByLabel("Your message")
    .fill("I liked your page about quinces. Do you ship jelly, or is it only for people with bicycles?");
  await reader.getByLabel("Your name (optional)").fill("Dana");
  await reader.getByRole("button", { name: "Send" }).click();
  await reader.locator(".twtxt-sent:not(:has(.twtxt-note))").waitFor();
  await carol.changeKey();
  await send(carol, alice, "New telephone, new key. It is really me.");
}

async function storeFiles(alice: PublishedBlog): Promise<void> {
  for (const [name, content, ...options] of FILES) {
    alice.write(`../${name}`, typeof content === "string" ? content : readFileSync(join(REPO, ...content)));
    await alice.type("blob", "put", `../${name}`, ...options);
  }
}

async function takePictures(tab: Page, name: string, names: Cast["names"]): Promise<void> {
  await tab.waitForFunction("document.querySelector('[data-busy]') === null");
  for (const { name: size, width, height, scale } of SIZES) {
    const clip = { width, height, scale };
    await takePicture(tab, { file: (scheme) => join(FOLDER, `${name}-${size}-${scheme}.webp`), clip, names });
  }
}
