// plugin/eleventy/pages/site-contact.ts: the contact page: how to write to the authors in private, with a form for browsers.
import { contactWordsOf } from "../../options/contact-translations.js";
import { CONTACT_STATUS, type ContactWords } from "../../options/contact-words.js";
import { inboxOptions } from "../../options/inbox.js";
import type { Settings } from "../../options.js";
import { element, type Markup, type MarkupElement, toHtml } from "../../site/html.js";
import { KEEP } from "../mentions/mention-html.js";
import type { Inbox, SiteUrls } from "../site-urls.js";
import type { PageAssets } from "./page-assets.js";

/** Longer names are cut. PROTOCOL 3.5 */
const NAME_LENGTH = "60";

/** An author with an inbox. */
type Recipient = Inbox & { endpoint: string };

/** The contact form of a site's authors. */
export class SiteContact {
  readonly words: ContactWords;

  constructor(
    readonly settings: Settings,
    readonly urls: SiteUrls,
    readonly assets: PageAssets,
  ) {
    this.words = contactWordsOf(settings.lang, inboxOptions(settings).words);
  }

  /** The form or the instructions for writing to each author with an inbox; empty if there is none. */
  html(): string {
    const recipients = this.#recipients();
    if (recipients.length === 0) return "";
    const cards = recipients.map((recipient) => this.#card(recipient));
    if (!recipients.some((recipient) => this.#hasForm(recipient))) return cards.map(toHtml).join("\n");
    const href = this.assets.style();
    const style = href === null ? [] : [element("link", { rel: "stylesheet", href, [KEEP]: "" })];
    const script = element("script", { type: "module", src: this.assets.contactScript(), [KEEP]: "" });
    return [...style, ...cards, script].map(toHtml).join("\n");
  }

  #recipients(): Recipient[] {
    return this.urls
      .inboxes()
      .flatMap((inbox) => (inbox.endpoint === null ? [] : [{ ...inbox, endpoint: inbox.endpoint }]));
  }

  /** Answers to a reader go to an inbox at this site, so the author's own inbox must be here. */
  #hasForm({ user, endpoint }: Recipient): boolean {
    return this.urls.hasGuests() && endpoint === this.urls.absolute(`${this.urls.bases.inbox}/${user}`);
  }

  #card(recipient: Recipient): MarkupElement {
    const { address, key } = recipient;
    const command = `npx --package eleventy-plugin-twtxt eleventy-twtxt message send ${address}`;
    const terminal = [element("pre", {}, element("code", {}, command))];
    const compare = element("p", {}, this.words.compare, " ", element("code", { class: "twtxt-key" }, key));
    const intro = element("p", {}, ...this.#withAddress(this.words.intro, address));
    if (!this.#hasForm(recipient))
      return element("div", { class: "twtxt-contact" }, ...lines([intro, ...terminal, compare]));
    return element(
      "twtxt-contact",
      { class: "twtxt-contact", ...this.#dataOf(recipient) },
      ...lines([
        intro,
        element(
          "div",
          { role: "log", "aria-label": this.words.conversation, hidden: "" },
          element("ol", { class: "twtxt-conversation" }),
        ),
        this.#form(),
        element("p", { class: "twtxt-why" }, this.words.noScript),
        element("details", { open: "" }, element("summary", {}, this.words.terminal), ...terminal, compare),
      ]),
    );
  }

  #form(): MarkupElement {
    const { message, name, send, kept, forget, save, open } = this.words;
    const button = (action: string, text: string, isHidden: boolean) =>
      element("button", { type: "button", name: action, ...(isHidden && { hidden: "" }) }, text);
    return element(
      "form",
      { class: "twtxt-write", hidden: "" },
      ...lines([
        element("label", {}, message, element("textarea", { name: "text", rows: "5", required: "", dir: "auto" })),
        element(
          "label",
          {},
          name,
          element("input", { name: "name", maxlength: NAME_LENGTH, autocomplete: "nickname" }),
        ),
        element("p", {}, element("button", {}, send), " ", element("span", { role: "status" })),
        element("p", { class: "twtxt-note" }, kept),
        element(
          "p",
          { class: "twtxt-actions" },
          ...lines([button("forget", forget, true), button("save", save, true), button("open", open, false)]),
        ),
      ]),
    );
  }

  /** The data for the script, which has the English words itself. */
  #dataOf({ user, address, key }: Recipient): Record<string, string> {
    const { lang } = this.settings;
    const { inbox } = this.urls.bases;
    const words = Object.keys(CONTACT_STATUS) as (keyof typeof CONTACT_STATUS)[];
    const own = words.filter((word) => this.words[word] !== CONTACT_STATUS[word]);
    return {
      "data-address": address,
      "data-key": key,
      "data-document": `/.well-known/msg/${user}.json`,
      "data-inbox": this.urls.href(`${inbox}/${user}`),
      "data-guests": this.urls.href(`${inbox}/`),
      ...(lang !== undefined && { lang }),
      ...(own.length > 0 && {
        "data-words": JSON.stringify(Object.fromEntries(own.map((word) => [word, this.words[word]]))),
      }),
    };
  }

  /** A sentence with the address in bold. */
  #withAddress(sentence: string, address: string): Markup[] {
    const [before = "", ...after] = sentence.split("{address}");
    return [before, ...after.flatMap((part) => [element("strong", { class: "twtxt-address" }, address), part])];
  }
}

/** Elements on lines of their own. */
function lines(elements: readonly MarkupElement[]): Markup[] {
  return ["\n", ...elements.flatMap((each) => [each, "\n"])];
}
