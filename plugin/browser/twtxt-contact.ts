// plugin/browser/twtxt-contact.ts: shows the contact form, and loads the rest when a reader uses it.
import { CONTACT_STATUS } from "../options/contact-words.js";
import { hasConversations } from "./conversation-database.js";
import { pageParsed } from "./page-parsed.js";

type ContactForm = import("./twtxt-contact-conversation.js").ContactForm;

/** The contact form of an author. The build makes its content, see `SiteContact`. */
class TwtxtContact extends HTMLElement {
  #isReady = false;
  #contactForm: Promise<ContactForm> | null = null;

  /** Called again when the element is moved. */
  async connectedCallback(): Promise<void> {
    await pageParsed();
    const form = this.querySelector("form");
    const terminal = this.querySelector("details");
    if (this.#isReady || !form || !terminal) return;
    this.#isReady = true;
    this.querySelector(".twtxt-why")?.remove();
    if (!globalThis.crypto?.subtle || !globalThis.indexedDB?.databases || !navigator.locks) {
      const why = document.createElement("p");
      why.textContent = this.#word("noCrypto");
      terminal.before(why);
      return;
    }
    terminal.open = false;
    form.hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#use((contactForm) => contactForm.send());
    });
    form.addEventListener("focusin", () => void this.#use((contactForm) => contactForm.show()));
    form.addEventListener("click", ({ target }) => {
      if (target instanceof HTMLButtonElement && target.name !== "") {
        void this.#use((contactForm) => contactForm.act(target.name));
      }
    });
    if (await hasConversations().catch(() => false)) await this.#use((contactForm) => contactForm.show());
  }

  /** Loads the script once. A failed attempt is repeated at the next use of the form. */
  async #use(action: (form: ContactForm) => Promise<void>): Promise<void> {
    this.#contactForm ??= loadContactForm(this);
    try {
      await action(await this.#contactForm);
    } catch {
      this.#contactForm = null;
      const status = this.querySelector("[role=status]");
      if (status) status.textContent = this.#word("notLoaded");
    }
  }

  #word(name: "noCrypto" | "notLoaded"): string {
    return { ...CONTACT_STATUS, ...JSON.parse(this.dataset.words ?? "{}") }[name];
  }
}

async function loadContactForm(host: HTMLElement): Promise<ContactForm> {
  const script: typeof import("./twtxt-contact-conversation.js") = await import(
    new URL("twtxt-contact-conversation.js", import.meta.url).href
  );
  return new script.ContactForm(host);
}

customElements.define("twtxt-contact", TwtxtContact);
