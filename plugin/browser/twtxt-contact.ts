// plugin/browser/twtxt-contact.ts: shows the contact form, and loads the rest when a reader uses it.
import { CONTACT_STATUS } from "../options/contact-words.js";
import { LazyForm } from "./lazy-form.js";

type ContactForm = import("./twtxt-contact-conversation.js").Form;

/** The contact form of an author. The build makes its content, see `SiteContact`. */
class TwtxtContact extends LazyForm<ContactForm> {
  protected readonly file = "twtxt-contact-conversation.js";

  protected prepare(form: HTMLFormElement, canStore: boolean): void {
    const terminal = this.querySelector("details");
    this.querySelector(".twtxt-why")?.remove();
    if (terminal) terminal.open = !canStore;
    form.hidden = !canStore;
    const why = Object.assign(document.createElement("p"), { textContent: this.#word("noCrypto") });
    if (!canStore) terminal?.before(why);
  }

  protected fail(form: HTMLFormElement): void {
    const status = form.querySelector("[role=status]");
    if (status) status.textContent = this.#word("notLoaded");
  }

  #word(name: "noCrypto" | "notLoaded"): string {
    return { ...CONTACT_STATUS, ...JSON.parse(this.dataset.words ?? "{}") }[name];
  }
}

customElements.define("twtxt-contact", TwtxtContact);
