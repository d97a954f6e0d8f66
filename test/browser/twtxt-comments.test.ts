import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { BrowserContextOptions, Page } from "playwright-core";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { describeInChromium, sharedChromium, violationsInSchemes } from "../helpers/chromium.js";
import { type CommentedBlog, commentedBlog } from "../helpers/commented-blog.js";
import { COMPILED } from "../helpers/paths.js";
import { openTab } from "../helpers/tabs.js";

const PICTURES = process.env.COMMENT_PICTURES;

describe("the scripts of pages with comments", () => {
  it("are below 10 kB for readers who write nothing, minified and compressed as in the package", async () => {
    const scripts = ["twtxt-mentions.js", "twtxt-comments.js"].map((file) => readFile(join(COMPILED, "browser", file)));
    const sizes = (await Promise.all(scripts)).map((script) => gzipSync(script).length);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(10_000);
  });
});

/** A script for a page that was opened long enough ago: the form waits before it sends a comment that was written faster. */
const OPENED_EARLIER = `
  const { now } = Performance.prototype;
  Performance.prototype.now = function () { return now.call(this) + 3000; };
`;

/** A reader in a tab. */
async function reader(
  { url }: CommentedBlog,
  where = openTab({ script: OPENED_EARLIER }),
  path = "/posts/quinces/",
): Promise<Page> {
  const page = await where;
  await page.goto(url + path);
  return page;
}

/** A page in a browser of its own, which is closed after the test. */
async function otherBrowser(options: BrowserContextOptions = {}): Promise<Page> {
  const page = await (await sharedChromium()).newPage(options);
  await page.addInitScript(OPENED_EARLIER);
  onTestFinished(() => page.close());
  return page;
}

async function write(page: Page, text: string, name?: string): Promise<void> {
  await page.getByText("Write a comment").click();
  await page.getByRole("textbox", { name: "Your comment" }).fill(text);
  if (name !== undefined) await page.getByLabel("Your name (optional)").fill(name);
  await page.getByRole("button", { name: "Send", exact: true }).first().click();
}

/** The number of databases and stored values of the site. */
function countData(page: Page): Promise<unknown> {
  return page.evaluate("indexedDB.databases().then((all) => all.length + localStorage.length)");
}

const item = (page: Page, text: string) => page.locator("li.u-comment").filter({ hasText: text }).last();

describeInChromium("a reader under a post", () => {
  let blog: CommentedBlog;

  beforeAll(async () => {
    // Without a mail server, the field for an address is of no use.
    blog = await commentedBlog('layout: "base.njk", mentions: { comments: { mail: true } }', {}, { hasMail: false });
  });

  it("comments, sees it wait, edits it, is approved, answered and told, and deletes it", async () => {
    const page = await reader(blog);
    await write(page, "What a harvst!", "Dana");
    await expect.poll(() => item(page, "harvst").locator(".twtxt-waits").textContent()).toBe("waits for approval");
    await page.reload();
    await expect.poll(() => item(page, "harvst").locator(".twtxt-waits").count()).toBe(1);
    expect(await violationsInSchemes(page)).toEqual([]);

    await item(page, "harvst").getByRole("button", { name: "Edit" }).click();
    await page.getByRole("textbox", { name: "Your comment" }).fill("What a harvest!");
    await page.getByRole("button", { name: "Send", exact: true }).first().click();
    await expect.poll(() => item(page, "harvest!").count()).toBe(1);
    expect(await blog.list("held")).toMatchObject([{ text: expect.stringContaining("What a harvest!") }]);
    await blog.approve();

    const eve = await reader(blog, otherBrowser());
    await expect.poll(() => item(eve, "harvest!").count()).toBe(1);
    expect(await item(eve, "harvest!").locator(".twtxt-guest").textContent()).toBe("Guest");
    await item(eve, "harvest!").getByRole("link", { name: "Reply: Dana" }).click();
    await eve.getByRole("textbox", { name: "Your reply to Dana" }).fill("Ten jars?");
    await eve.getByRole("button", { name: "Send", exact: true }).first().click();
    await expect.poll(() => item(eve, "Ten jars?").locator(".twtxt-waits").count()).toBe(1);
    await blog.approve();

    await page.reload();
    await expect.poll(() => page.locator(".twtxt-news").textContent()).toBe("Answers to you since your last visit: 1");
    await expect.poll(() => page.locator(".twtxt-thread li").filter({ hasText: "Ten jars?" }).count()).toBe(1);
    expect(await violationsInSchemes(page)).toEqual([]);
    await page.reload();
    await expect.poll(() => item(page, "Ten jars?").count()).toBe(1);
    expect(await page.locator(".twtxt-news").count()).toBe(0);

    page.on("dialog", (dialog) => dialog.accept());
    const own = page.locator("li.u-comment").filter({ hasText: "harvest!" }).first();
    await own.getByRole("button", { name: "Delete" }).first().click();
    await expect.poll(async () => (await blog.list("shown")).length).toBe(1);
    await page.reload();
    await expect.poll(() => page.locator(".twtxt-gone").count()).toBe(1);
    expect(await page.getByText("harvest!").count()).toBe(0);
  });

  it("writes without JavaScript: the page says that the comment waits, and a refusal keeps the words", async () => {
    const page = await reader(blog, otherBrowser({ javaScriptEnabled: false }));
    const note = page.getByText("Thank you. Your comment appears here when the author has approved it.");
    expect(await note.isVisible()).toBe(false);
    await write(page, "By hand", "Fred");
    await page.waitForURL(/#twtxt-comment-held$/);
    expect(await note.isVisible()).toBe(true);
    await page.getByText("Write a comment").click();
    expect(await page.getByLabel(/Tell me by mail/).isVisible()).toBe(false);
    expect(await blog.list("held")).toMatchObject([{ author: { name: "Fred" } }]);
    await page.goto(`${blog.url}/posts/quinces/`);
    await write(page, "By hand", "Fred");
    expect(await page.getByRole("heading", { name: "Your comment was not added" }).count()).toBe(1);
    expect(await page.getByLabel("Your comment").inputValue()).toBe("By hand");
    expect(await page.getByLabel(/Tell me by mail/).count()).toBe(0);
    await blog.approve();
  });

  it("answers a reply without JavaScript, on a page with the form", async () => {
    // As a later build writes the page.
    const fred = item(await reader(blog), "By hand");
    const link = await fred.getByRole("link", { name: "Reply: Fred" }).getAttribute("href");
    const page = await reader(blog, otherBrowser({ javaScriptEnabled: false }));
    await page.goto(link ?? "");
    expect(await page.getByRole("heading", { name: "Your reply to Fred" }).count()).toBe(1);
    expect(await page.evaluate("getComputedStyle(document.querySelector('textarea')).borderTopWidth")).toBe("1px");
    await page.getByLabel("Your comment").fill("Well said");
    await page.getByRole("button", { name: "Send" }).first().click();
    await page.waitForURL(/\/posts\/quinces\/#twtxt-comment-held$/);
    const hash = new URL(link ?? "").searchParams.get("reply-to");
    expect(await blog.list("held")).toMatchObject([{ text: expect.stringContaining(`(#${hash}) @<Fred `) }]);
    await blog.approve();
  });

  it("keeps a draft with whom it answers, and the words of a comment that could not be sent", async () => {
    // The form waits, as it does for a reader who writes at once.
    const page = await reader(blog, openTab());
    await expect.poll(() => item(page, "By hand").count()).toBe(1);
    await item(page, "By hand").getByRole("link", { name: "Reply: Fred" }).click();
    await page.getByRole("textbox", { name: "Your reply to Fred" }).fill("A draft");
    await page.reload();
    await page.getByText("Write a comment").click();
    await page.getByLabel("Your name (optional)").focus();
    await expect.poll(() => page.getByRole("textbox", { name: "Your reply to Fred" }).inputValue()).toBe("A draft");

    blog.isDown = true;
    await page.getByRole("button", { name: "Send", exact: true }).first().click();
    await expect
      .poll(() => page.getByRole("status").first().textContent())
      .toBe("The site cannot be reached. Check your connection.");
    blog.isDown = false;
    expect(await page.getByRole("textbox", { name: "Your reply to Fred" }).inputValue()).toBe("A draft");
    await page.getByRole("button", { name: "Cancel" }).click();
    expect(await page.getByRole("textbox", { name: "Your comment" }).inputValue()).toBe("");
    await page.getByRole("textbox", { name: "Your comment" }).fill("A draft");
    await page.getByRole("button", { name: "Send", exact: true }).first().click();
    await expect.poll(() => item(page, "A draft").count()).toBe(1);

    page.on("dialog", (dialog) => dialog.accept());
    await page.getByRole("button", { name: "Forget me in this browser" }).click();
    await page.waitForLoadState();
    await expect.poll(() => countData(page)).toBe(0);
    expect(await item(page, "A draft").count()).toBe(0);
  });

  it("sees that a post is closed", async () => {
    const page = await reader(blog, openTab(), "/posts/medlars/");
    expect(await page.getByText("Comments are closed.").isVisible()).toBe(true);
    expect(await page.getByText("Write a comment").count()).toBe(0);
    expect(await page.getByText("I answered on my own site").count()).toBe(1);
    expect(await violationsInSchemes(page)).toEqual([]);
  });

  it("fits into narrow and wide screens", async () => {
    const page = await reader(blog, openTab({ viewport: { width: 320, height: 900 } }));
    await page.getByText("Write a comment").click();
    await page.getByText("I answered on my own site").click();
    await page.getByRole("textbox", { name: "Your comment" }).focus();
    await expect.poll(() => item(page, "By hand").getByRole("link", { name: "Reply: Fred" }).count()).toBe(1);
    await expect.poll(() => page.getByLabel(/Tell me by mail/).isVisible()).toBe(false);
    expect(await violationsInSchemes(page)).toEqual([]);
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
      if (!PICTURES) continue;
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await page.screenshot({ path: join(PICTURES, `${width}-${colorScheme}.png`), fullPage: true });
      }
    }
  });
});

describeInChromium("a reader whose comment is refused", () => {
  it("reads why, keeps the words, and can send them later", async () => {
    const blog = await commentedBlog("mentions: { comments: { perDay: 10, held: 1 } }");
    const page = await reader(blog, otherBrowser());
    await write(page, "One", "Dana");
    const says = (sentence: string) => expect.poll(() => page.getByRole("status").first().textContent()).toBe(sentence);
    await says("Thank you. Your comment appears here when the author has approved it.");
    expect(await page.getByText("Your comment appears here when the author has approved it.").count()).toBe(3);
    expect(await page.getByText("appears here when").filter({ visible: true }).count()).toBe(1);
    const text = page.getByRole("textbox", { name: "Your comment" });
    const send = () => page.getByRole("button", { name: "Send", exact: true }).first().click();

    await text.fill("Two");
    await send();
    await says("Too many comments wait for approval. Try again later.");
    await blog.approve();
    await send();
    await says("Too many comments came in today. Try again tomorrow.");
    await text.fill("One");
    await send();
    await says("You have already written this.");
    await page.clock.setSystemTime(Date.now() + 3_600_000);
    await text.fill("Three");
    await send();
    await says(
      "The clock of this device is wrong, so the site cannot give you your answers. Set the clock and reload the page.",
    );
    await page.clock.setSystemTime(Date.now());
    blog.close("/posts/quinces/");
    await send();
    await says("Comments are closed.");
    await page.context().setOffline(true);
    await send();
    await says("The site cannot be reached. Check your connection.");
    expect(await text.inputValue()).toBe("Three");
  });
});

describeInChromium("a reader who wants to be told of answers by mail", () => {
  it("gives an address with a comment or a message, confirms it, sees that on both pages, and stops it", async () => {
    const blog = await commentedBlog("mentions: { comments: { mail: true } }, inbox: { guests: { mail: true } }");
    const page = await reader(blog, openTab({ viewport: { width: 320, height: 900 }, script: OPENED_EARLIER }));
    const field = page.getByLabel("Tell me by mail when there is an answer (optional)");
    await page.getByText("Write a comment").click();
    // Shown once the site has told the script that it sends mail.
    await page.getByRole("textbox", { name: "Your comment" }).fill("What a harvest!");
    await field.fill("dana@dana.example");
    expect(await page.getByRole("button", { name: "Stop" }).count()).toBe(0);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(320);
    if (PICTURES) await page.screenshot({ path: join(PICTURES, "mail-field.png"), fullPage: true });
    await page.getByRole("button", { name: "Send", exact: true }).first().click();
    await expect.poll(() => page.getByText("Check your mail, and confirm the address there.").isVisible()).toBe(true);
    expect(await field.isVisible()).toBe(false);

    expect(await blog.confirmAddresses()).toEqual(["dana@dana.example"]);
    await page.reload();
    await page.getByText("Write a comment").click();
    await expect.poll(() => page.getByText("You are told of answers by mail.").isVisible()).toBe(true);
    expect(await violationsInSchemes(page)).toEqual([]);
    if (PICTURES) await page.screenshot({ path: join(PICTURES, "mail-told.png"), fullPage: true });

    await page.goto(`${blog.url}/contact/`);
    await expect.poll(() => page.getByText("You are told of answers by mail.").isVisible()).toBe(true);
    await page.getByRole("button", { name: "Stop" }).click();
    await expect.poll(() => field.isVisible()).toBe(true);
    expect(await blog.confirmAddresses()).toEqual([]);

    await field.fill("dana@dana.example");
    await page.getByRole("textbox", { name: "Your message" }).fill("Do you sell quinces?");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await expect.poll(() => page.getByText("Check your mail, and confirm the address there.").isVisible()).toBe(true);
    page.on("dialog", (dialog) => void dialog.accept());
    await page.getByRole("button", { name: "Forget this conversation" }).click();
    await expect.poll(() => blog.confirmAddresses()).toEqual([]);
    await expect.poll(() => countData(page)).toBe(0);
    await page.goto(`${blog.url}/posts/quinces/`);
    await page.getByText("Write a comment").click();
    await page.getByRole("textbox", { name: "Your comment" }).focus();
    await expect.poll(() => page.getByLabel("Your name (optional)").inputValue()).toBe("");
    expect(await page.getByRole("button", { name: "Forget me in this browser" }).isVisible()).toBe(false);
  });
});
