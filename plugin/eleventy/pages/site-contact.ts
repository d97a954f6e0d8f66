// plugin/eleventy/pages/site-contact.ts: the contact page: how to write to the authors in private, with a form for browsers.
import { chooseContactWords } from "../../options/contact-translations.js";
import { CONTACT_STATUS, type ContactWords } from "../../options/contact-words.js";
import { inboxOptions } from "../../options/inbox.js";
import { toLangAttribute } from "../../options/translations.js";
import { element, type Markup, type MarkupElement, toHtml } from "../../site/html.js";
import { PATHS } from "../../site/routes.js";
import { actionButton, lines, mailFields, toWordData, writeForm } from "../../site/write-form.js";
import { KEEP } from "../mentions/mention-html.js";
import type { Inbox, SiteUrls } from "../site-urls.js";
import type { PageAssets } from "./page-assets.js";

type Recipient = Inbox & { endpoint: string };

export class SiteContact {
  readonly words: ContactWords;

  constructor(
    readonly urls: SiteUrls,
    readonly assets: PageAssets,
  ) {
    this.words = this.#chooseWords(urls.settings.lang);
  }

  #chooseWords(lang: string | undefined): ContactWords {
    return chooseContactWords(lang, { words: inboxOptions(this.urls.settings).words, lang: this.urls.settings.lang });
  }

  hasContent(): boolean {
    return this.#recipients().length > 0;
  }

  /** The form or the instructions for writing to each author with an inbox; empty if there is none. */
  html(lang = this.urls.settings.lang ?? "en"): string {
    const recipients = this.#recipients();
    if (recipients.length === 0) return "";
    const cards = recipients.map((recipient) => this.#card(recipient, this.#chooseWords(lang), lang));
    if (!recipients.some((recipient) => this.#hasForm(recipient))) return cards.map(toHtml).join("\n");
    const href = this.assets.style();
    const style = href === null ? [] : [element("link", { rel: "stylesheet", href, [KEEP]: "" })];
    const script = element("script", { type: "module", src: this.assets.script("contact"), [KEEP]: "" });
    return [...style, ...cards, script].map(toHtml).join("\n");
  }

  #recipients(): Recipient[] {
    return this.urls
      .inboxes()
      .flatMap((inbox) => (inbox.endpoint === null ? [] : [{ ...inbox, endpoint: inbox.endpoint }]));
  }

  /** Answers to a reader go to an inbox at this site, so the author's own inbox must be here. */
  #hasForm({ user, endpoint }: Recipient): boolean {
    return this.urls.has("guests") && endpoint === this.urls.absolute(`${this.urls.bases.inbox}/${user}`);
  }

  #card(recipient: Recipient, words: ContactWords, lang: string): MarkupElement {
    const { address, key } = recipient;
    const command = `npx --package eleventy-plugin-twtxt eleventy-twtxt message send ${address}`;
    const terminal = [element("pre", {}, element("code", {}, command))];
    const compare = element("p", {}, words.compare, " ", element("code", { class: "twtxt-key" }, key));
    const intro = element("p", {}, ...this.#withAddress(words.intro, address));
    if (!this.#hasForm(recipient))
      return element("div", { class: "twtxt-contact" }, ...lines([intro, ...terminal, compare]));
    return element(
      "twtxt-contact",
      { class: "twtxt-contact", ...this.#toData(recipient, words, lang) },
      ...lines([
        intro,
        element(
          "div",
          { role: "log", "aria-label": words.conversation, hidden: "" },
          element("ol", { class: "twtxt-conversation" }),
        ),
        this.#form(words),
        element("p", { class: "twtxt-why" }, words.noScript),
        element("details", { open: "" }, element("summary", {}, words.terminal), ...terminal, compare),
      ]),
    );
  }

  #form(all: ContactWords): MarkupElement {
    const { message: text, name, send, kept: note, forget, save, open } = all;
    const buttons = [
      actionButton("forget", forget, true),
      actionButton("save", save, true),
      actionButton("open", open, false),
    ];
    return writeForm(
      { hidden: "" },
      {
        ...{ words: { text, name, send }, limits: { rows: "5" }, note, buttons },
        fields: this.#hasMail() ? mailFields(all) : [],
      },
    );
  }

  #hasMail(): boolean {
    const { guests } = inboxOptions(this.urls.settings);
    return guests !== false && guests.mail;
  }

  #toData({ user, address, key }: Recipient, words: ContactWords, lang: string): Record<string, string> {
    const { inbox } = this.urls.bases;
    return {
      "data-address": address,
      "data-key": key,
      "data-document": `/.well-known/msg/${user}.json`,
      "data-inbox": this.urls.href(`${inbox}/${user}`),
      "data-guests": this.urls.href(`${inbox}/`),
      ...(this.#hasMail() && { "data-answers": this.urls.href(PATHS.answers) }),
      ...toLangAttribute(lang, { words: inboxOptions(this.urls.settings).words, lang: this.urls.settings.lang }),
      ...toWordData<keyof typeof CONTACT_STATUS>(words, CONTACT_STATUS),
    };
  }

  #withAddress(sentence: string, address: string): Markup[] {
    const [before = "", ...after] = sentence.split("{address}");
    return [before, ...after.flatMap((part) => [element("strong", { class: "twtxt-address" }, address), part])];
  }
}
