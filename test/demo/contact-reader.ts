// test/demo/contact-reader.ts: a reader who uses a contact page in a real Chromium.
import type { Browser, Locator, Page } from "playwright-core";
import { CHROMIUM, hasChromium, launchChromium } from "../helpers/launch-chromium.js";

/** More than 30 seconds: on a site without event streams, the page checks for replies that often. */
const LONGEST_MS = 120_000;

/** A received message as the page shows it. */
export interface ShownAnswer {
  text: string;
  /** The page's note on the message, such as that someone else signed it. */
  note: string | null;
}

/** A reader who uses the contact form of one author, in a browser without data of other sites or earlier runs. */
export class ContactReader {
  readonly #browser: Browser;
  readonly #page: Page;
  readonly #selector: string;
  readonly #form: Locator;

  private constructor(browser: Browser, page: Page, author: string) {
    this.#browser = browser;
    this.#page = page;
    this.#selector = `twtxt-contact[data-address="${author}"]`;
    this.#form = page.locator(this.#selector);
  }

  /**
   * @param url - the URL of the contact page
   * @param author - `user@domain`
   * @returns `null` on a machine without Chromium, after printing that this chapter is skipped
   */
  static async open(url: string, author: string): Promise<ContactReader | null> {
    if (!hasChromium()) {
      console.log(`\nSKIPPED: the contact page. There is no Chromium at ${CHROMIUM} (set CHROMIUM to its path).`);
      return null;
    }
    const browser = await launchChromium();
    const page = await browser.newPage();
    page.setDefaultTimeout(LONGEST_MS);
    page.on("dialog", (dialog) => dialog.accept());
    const reader = new ContactReader(browser, page, author);
    await page.goto(url);
    return reader;
  }

  /** Sends a message, and waits until the page shows it as sent. @returns the sealed message */
  async write(text: string, name: string): Promise<string> {
    const delivery = this.#page.waitForRequest((request) => request.method() === "POST");
    await this.#form.getByLabel("Your message").fill(text);
    await this.#form.getByLabel("Your name (optional)").fill(name);
    await this.#form.getByRole("button", { name: "Send" }).click();
    const sealed = (await delivery).postData() ?? "";
    // The note of an unsent message has the reason.
    await this.#form.locator(".twtxt-sent:not(:has(.twtxt-note))", { hasText: text }).waitFor();
    return sealed;
  }

  /** Waits for this many replies. @returns all replies on the page, oldest first */
  async answers(count: number): Promise<ShownAnswer[]> {
    const received = `${this.#selector} .twtxt-received`;
    await this.#page
      .locator(received)
      .nth(count - 1)
      .waitFor();
    return this.#page.evaluate(`Array.from(document.querySelectorAll(${JSON.stringify(received)}), (item) => ({
      text: item.querySelector(".twtxt-text").innerText,
      note: item.querySelector(".twtxt-note")?.innerText ?? null,
    }))`);
  }

  /** The conversation as text. */
  async conversation(): Promise<string> {
    const messages = await this.#form.locator(".twtxt-conversation > li").allInnerTexts();
    return messages.map((text) => text.replace(/\n+/g, "\n")).join("\n");
  }

  async reload(): Promise<void> {
    await this.#page.reload();
  }

  /** Presses "Forget this conversation". @returns the page's confirmation */
  async forget(): Promise<string> {
    await this.#form.getByRole("button", { name: "Forget this conversation" }).click();
    const status = this.#form.getByRole("status").filter({ hasText: /\S/ });
    await status.waitFor();
    return status.innerText();
  }

  /** The names of everything that the browser stores for the site: databases, items, caches and cookies. */
  async stored(): Promise<string[]> {
    const cookies = await this.#page.context().cookies();
    const names = (await this.#page.evaluate(`(async () => [
      ...(await indexedDB.databases()).map(({ name }) => name),
      ...Object.keys(localStorage),
      ...Object.keys(sessionStorage),
      ...(await caches.keys()),
    ])()`)) as string[];
    return [...names, ...cookies.map(({ name }) => name)];
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }
}
