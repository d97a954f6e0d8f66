// plugin/browser/twtxt-contact.ts: shows the contact form, and loads the rest when a reader uses it.
import { CONTACT_STATUS } from "../options/contact-words.js";
import { hasConversations } from "./conversation-database.js";
import { pageParsed } from "./page-parsed.js";

type Conversation = Awaited<ReturnType<typeof import("./twtxt-contact-conversation.js").startConversation>>;

/** The contact form of an author. The build makes its content, see `SiteContact`. */
class TwtxtContact extends HTMLElement {
  #conversation: Promise<Conversation> | null = null;

  async connectedCallback(): Promise<void> {
    await pageParsed();
    const form = this.querySelector("form");
    const terminal = this.querySelector("details");
    if (!form || !terminal) return;
    this.querySelector(".twtxt-why")?.remove();
    if (!globalThis.crypto?.subtle || !globalThis.indexedDB?.databases || !navigator.locks) {
      terminal.before(paragraph(this.#word("noCrypto")));
      return;
    }
    terminal.open = false;
    form.hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#use((conversation) => conversation.send());
    });
    form.addEventListener("focusin", () => void this.#start());
    form.addEventListener("click", ({ target }) => {
      if (target instanceof HTMLButtonElement && target.name !== "") {
        void this.#use((conversation) => conversation.act(target.name));
      }
    });
    if (await hasConversations()) await this.#start();
  }

  async #use(action: (conversation: Conversation) => Promise<void>): Promise<void> {
    const conversation = await this.#start();
    if (conversation) await action(conversation).catch(() => this.#say("broken"));
  }

  /** Loads the conversation once. A failed attempt is repeated at the next use of the form. */
  async #start(): Promise<Conversation | null> {
    this.#conversation ??= loadConversation(this);
    try {
      return await this.#conversation;
    } catch {
      this.#conversation = null;
      this.#say("notLoaded");
      return null;
    }
  }

  #say(word: "notLoaded" | "broken"): void {
    const status = this.querySelector("[role=status]");
    if (status) status.textContent = this.#word(word);
  }

  #word(name: "noCrypto" | "notLoaded" | "broken"): string {
    return { ...CONTACT_STATUS, ...JSON.parse(this.dataset.words ?? "{}") }[name];
  }
}

async function loadConversation(host: HTMLElement): Promise<Conversation> {
  const script: typeof import("./twtxt-contact-conversation.js") = await import(
    new URL("twtxt-contact-conversation.js", import.meta.url).href
  );
  return script.startConversation(host);
}

function paragraph(text: string): HTMLElement {
  const made = document.createElement("p");
  made.textContent = text;
  return made;
}

customElements.define("twtxt-contact", TwtxtContact);
