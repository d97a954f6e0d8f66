// test/e2e/pages.screenshots.ts: `npm run screenshots`: writes pictures of a post with comments, and with answers from Mastodon.
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { expectAccessible } from "../client/looks.js";
import { sharedChromium } from "../helpers/chromium.js";
import { type CommentedBlog, commentedBlog } from "../helpers/commented-blog.js";
import { type FakeMastodon, fakeMastodon } from "../helpers/fake-mastodon.js";
import { REPO } from "../helpers/paths.js";
import { post } from "../helpers/site.js";
import { takePicture } from "./take-picture.js";

const LAYOUT = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>{{ title }}</title>
<style>:root { background: canvas } body { font: 1rem/1.5 sans-serif; max-width: 40rem; margin: 1rem auto; padding: 0 1rem }</style>
<main><h1>{{ title }}</h1>
{{ content | safe }}{% twtxtSyndication %}
{% twtxtMentions %}</main>
</html>`;
const TEXT = "Ten jars, a spoon that will never be the same, and a kitchen that smells of October.";
const PATH = "/posts/quinces/";

/** A blog with one post. @param server - has a copy of the post */
async function blogWith(server: FakeMastodon | null): Promise<CommentedBlog> {
  const copy = server?.addStatus(server.addAccount("alice"), `<p>${TEXT}</p>`).url;
  const syndication = copy && [copy, "https://bsky.app/profile/alice.example/post/3lbqxyzabc2d"];
  const data = { title: "A slow jelly", date: "2026-11-18T03:04:05Z", tags: "posts", layout: "base.njk" };
  const files = {
    "_includes/base.njk": LAYOUT,
    "posts/quinces.md": post({ ...data, ...(syndication && { syndication }) }, TEXT),
  };
  const hosts = server ? [server.host] : [];
  return commentedBlog('layout: "base.njk", mentions: { comments: true }', files, { hasMail: false, hosts });
}

/** A reader with a browser of their own. */
async function reader(blog: CommentedBlog): Promise<Page> {
  const page = await (await sharedChromium()).newPage({ viewport: { width: 720, height: 900 } });
  onTestFinished(() => page.close());
  await page.goto(blog.url + PATH);
  return page;
}

async function send(page: Page, text: string, name: string): Promise<void> {
  await page.getByRole("textbox", { name: /^Your (?:comment|reply)/ }).fill(text);
  await page.getByLabel("Your name (optional)").fill(name);
  await page.getByRole("button", { name: "Send", exact: true }).first().click();
  await page.locator("li.u-comment", { hasText: text }).first().waitFor();
}

/** A picture of the whole page. @param name - `comments` */
async function take(tab: Page, name: string, names: ReadonlyMap<string, string>): Promise<void> {
  const height = await tab.evaluate<number>("Math.ceil(document.body.getBoundingClientRect().bottom)");
  const file = (scheme: string) => join(REPO, `docs/images/${name}-${scheme}.webp`);
  await takePicture(tab, { file, clip: { width: 720, height, scale: 2 }, names });
}

it("writes a picture of comments, as a reader sees them whose comment waits", async () => {
  const blog = await blogWith(null);
  const dana = await reader(blog);
  await dana.getByText("Write a comment").click();
  await send(dana, "Do you peel them? Mine turn brown faster than I can cut.", "Dana");
  await blog.approve();
  const fred = await reader(blog);
  await fred.getByRole("link", { name: "Reply: Dana" }).click();
  await send(fred, "A bowl of water with lemon. My grandmother never peeled any.", "Fred");
  await fred.reload();
  await fred.getByRole("button", { name: "Edit" }).waitFor();
  await fred.getByText("Write a comment").click();
  await expectAccessible(fred, "comments");
  await take(fred, "comments", new Map());
});

it("writes a picture of answers from Mastodon", async () => {
  const server = await fakeMastodon();
  const blog = await blogWith(server);
  const [copy] = server.statuses.values();
  const bob = server.addAccount("bob", { display_name: "Bob" });
  const carol = server.addAccount("carol@social.example", { display_name: "Carol" });
  const answer = (author: typeof bob, text: string, to = copy?.id ?? "", time = "10") =>
    server.addStatus(author, `<p>${text}</p>`, {
      in_reply_to_id: to,
      created_at: `2026-11-18T${time}:12:00.000Z`,
    });
  const first = answer(bob, "Ten! I have three, and they are <em>all</em> promised.");
  answer(carol, "Promised to whom?", first.id, "11");
  answer(carol, "The spoon was a wooden one, I hope.", copy?.id, "12");
  server.favourites.set(copy?.id ?? "", [bob, carol]);
  server.reblogs.set(copy?.id ?? "", [carol]);
  await blog.readThreads();
  const page = await reader(blog);
  await expect.poll(() => page.locator("li.u-comment").count()).toBe(3);
  await expectAccessible(page, "networks");
  await take(page, "networks", new Map([[server.host, "mastodon.example"]]));
});
