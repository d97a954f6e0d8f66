// test/e2e/author.ts: an author who uses the local web client in a real Chromium.
import type { Page } from "playwright-core";
import { noticed } from "../client/notice.js";
import { eventually } from "../helpers/eventually.js";
import { openTab } from "../helpers/tabs.js";
import { PublishedBlog, type PublishedBlogSetup } from "./published-blog.js";

/** The layout of a post. */
export const LAYOUT = `<!doctype html><html lang="en"><head><title>{{ page.url }}</title></head>
<body>{{ content | safe }}{% twtxtMentions %}</body></html>`;

/** An author who has opened the client in a browser. */
export class Author {
  readonly blog: PublishedBlog;
  readonly tab: Page;

  private constructor(blog: PublishedBlog, tab: Page) {
    this.blog = blog;
    this.tab = tab;
  }

  /** Starts the blog and the client. @param openClient - by default, starts the client in this process */
  static async start(setup: PublishedBlogSetup, openClient = (blog: PublishedBlog) => blog.client()): Promise<Author> {
    const blog = await PublishedBlog.start(setup);
    return new Author(blog, await newTab(await openClient(blog)));
  }

  /** Changes the key of the blog, and opens a client with the new key. */
  async changeKey(): Promise<void> {
    await this.blog.changeKey();
    await this.tab.goto(await this.blog.client());
  }

  async goTo(room: string): Promise<void> {
    await this.tab.getByRole("navigation", { name: "Rooms" }).getByRole("link", { name: room }).click();
    await this.tab.getByRole("heading", { level: 1, name: room }).waitFor();
    // Until then, the page's script may not yet handle keys and fields.
    await this.tab.waitForLoadState("load");
  }

  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.tab.keyboard.press(key);
  }

  async follow(url: string): Promise<void> {
    await this.goTo("Timeline");
    await this.tab.getByRole("link", { name: "Following" }).click();
    await this.tab.getByLabel("Follow a feed").fill(url);
    await this.tab.getByRole("button", { name: "Follow" }).click();
    await this.noticed("Following @");
  }

  /** Writes at the start of the note in the open composer, and publishes it. */
  async publish(text: string): Promise<void> {
    const note = this.tab.getByLabel("Your note");
    await note.fill(`${text}\n\n${await note.inputValue()}`.trim());
    await this.tab.getByRole("button", { name: "Save as a post" }).click();
    await this.tab.getByRole("button", { name: "Run these commands" }).click();
    await this.tab.getByText("remote: Built and deployed.").waitFor();
    await this.tab.getByRole("heading", { name: "Published" }).waitFor();
  }

  /** Adds a picture to the note in the open composer. */
  async addPicture(file: string, description: string): Promise<void> {
    await this.tab.locator("#picture").setInputFiles(file);
    await this.tab.getByLabel("Description of").fill(description);
    await this.tab.getByRole("button", { name: "Add the picture" }).click();
    await this.tab.getByRole("img", { name: description }).waitFor();
  }

  /** Sends a message in the open conversation. */
  async send(text: string): Promise<void> {
    await this.tab.getByLabel("Your message").fill(text);
    await this.tab.getByRole("button", { name: "Send" }).click();
    await this.noticed("Delivered to");
  }

  async noticed(text: string): Promise<void> {
    await noticed(this.tab, text);
  }

  /** Waits until the open page shows a text without being reloaded. */
  async seesLater(selector: string, text: string): Promise<void> {
    const found = this.tab.locator(selector, { hasText: text });
    await eventually(async () => {
      // The page does this by itself every minute.
      await this.tab.evaluate("document.dispatchEvent(new Event('twtxt:news'))");
      await found.waitFor({ timeout: 500 });
    });
  }

  /** The texts of the mentions that the blog shows to everyone, oldest first. */
  async mentions(): Promise<string[]> {
    const { mentions } = (await (await fetch(`${this.blog.url}/mentions.json`)).json()) as {
      mentions: { text: string }[];
    };
    return mentions.map(({ text }) => text.replace(/^.*@<\w+ \S+> /, "")).reverse();
  }
}

/** Another tab of the browser that all have in common: cookies have the port of a client in their names. */
export async function newTab(url: string): Promise<Page> {
  const tab = await openTab();
  await tab.goto(url);
  return tab;
}
