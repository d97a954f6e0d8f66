// test/demo/comments.ts: readers without a site comment on Alice's post, and she approves and answers in her web client.
import type { Browser, Locator, Page } from "playwright-core";
import { CHROMIUM, hasChromium, launchChromium } from "../helpers/launch-chromium.js";
import { type Blog, openClient, readLink } from "./blog.js";
import { fileOf } from "./letters.js";
import { until } from "./process.js";
import { check, show, tell } from "./telling.js";

const POST = "/posts/quinces/";
const ANSWER = "Ten jars, and a cake.";

/** The chapter about comments. Requires that Alice's blog is running, with the option. @param key - the name of her current key */
export async function comments(alice: Blog, key: string): Promise<void> {
  if (!hasChromium()) {
    console.log(`\nSKIPPED: comments. There is no Chromium at ${CHROMIUM} (set CHROMIUM to its path).`);
    return;
  }
  const browser = await launchChromium();
  try {
    tell("A reader without JavaScript comments on Alice's post. The page says that the comment waits.");
    const fred = await open(browser, alice.url + POST, false);
    await write(fred, "Mine are not ripe yet.", "Fred");
    await fred.waitForURL(/#twtxt-comment-held$/);
    show(POST, await fred.locator(".twtxt-held").innerText());

    tell("Another reader comments with JavaScript. The browser makes a key, and signs with it.");
    const dana = await open(browser, alice.url + POST, true);
    await write(dana, "What will you make of thm?", "Dana");
    const own = dana.locator("li.u-comment", { hasText: "What will you make" }).first();
    await own.locator(".twtxt-waits").waitFor();
    show(POST, await own.innerText());
    check((await listShown(alice)).length === 0, "nobody else sees the two comments");

    await approve(browser, alice, key);
    await answer(alice, key);
    await comeBack(dana, own, alice);
  } finally {
    await browser.close();
  }
}

async function approve(browser: Browser, alice: Blog, key: string): Promise<void> {
  tell("Alice approves both in her web client.");
  const client = await openClient(alice, as(alice, key));
  const page = await open(browser, readLink(client), true);
  await page.getByRole("link", { name: /^Mentions/ }).click();
  await page.getByRole("button", { name: "Approve all 2" }).click();
  await until("the comments are shown", async () => (await listShown(alice)).length === 2);
  await client.end();
}

async function answer(alice: Blog, key: string): Promise<void> {
  tell("She answers Dana with a note.");
  const question = (await listShown(alice)).find(({ author }) => author.name === "Dana");
  await alice.type([
    "eleventy-twtxt",
    "post",
    ANSWER,
    "--reply-to",
    question?.source ?? "",
    ...as(alice, key).slice(2),
  ]);
  await alice.build();
}

async function comeBack(dana: Page, own: Locator, alice: Blog): Promise<void> {
  tell("Dana comes back, and is told of the answer.");
  const edit = own.getByRole("button", { name: "Edit" });
  await until("the page tells of the answer", async () => {
    await dana.reload();
    await edit.waitFor();
    return (await dana.locator(".twtxt-news").count()) === 1;
  });
  await own.getByText(ANSWER).waitFor();
  show(POST, `${await dana.locator(".twtxt-news").innerText()}\n${await own.innerText()}`);

  tell("She mends a typing error, and later deletes her comment. The answer stays.");
  await edit.click();
  await dana.getByRole("textbox", { name: "Your comment" }).fill("What will you make of them?");
  await send(dana);
  const has = async (text: string) => (await listShown(alice)).some((mention) => mention.text.includes(text));
  await until("the edited comment is shown", () => has("make of them?"));
  await own.getByRole("button", { name: "Delete" }).first().click();
  await until("the comment is gone", async () => !(await has("make of")));
  await dana.reload();
  await dana.getByText("A reply was removed").waitFor();
  check((await dana.getByText(ANSWER).count()) === 1, "the answer is still there");
}

async function open(browser: Browser, url: string, javaScriptEnabled: boolean): Promise<Page> {
  const page = await browser.newPage({ javaScriptEnabled });
  page.on("dialog", (dialog) => void dialog.accept());
  await page.goto(url);
  return page;
}

async function write(page: Page, text: string, name: string): Promise<void> {
  await page.getByText("Write a comment").click();
  await page.getByRole("textbox", { name: "Your comment" }).fill(text);
  await page.getByLabel("Your name (optional)").fill(name);
  await send(page);
}

async function send(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Send", exact: true }).first().click();
}

/** The comments that everyone sees. */
async function listShown({ url }: Blog): Promise<{ source: string; text: string; author: { name: string } }[]> {
  const response = await fetch(`${url}/mentions.json?target=${encodeURIComponent(url + POST)}`);
  const { mentions } = Object(await response.json());
  return mentions.filter(({ isRemoved = false }) => !isRemoved);
}

function as(alice: Blog, key: string): string[] {
  return ["--identity", fileOf(alice, key), "--allow-private-host", new URL(alice.url).host];
}
