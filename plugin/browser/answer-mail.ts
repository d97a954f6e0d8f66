// plugin/browser/answer-mail.ts: the field for a mail address in a form, and what the form says about mail. PROTOCOL 2.6
import type { SecretKey } from "../messages/browser.js";
import { askSite } from "./ask-site.js";

/** Does nothing in a form without the field. */
export class AnswerMail {
  readonly #field: HTMLInputElement | null;
  readonly #url: string;

  /** @param host - the element with the form; its data has the path of the endpoint */
  constructor(
    host: HTMLElement,
    form: HTMLFormElement,
    private readonly words: { checkMail: string; told: string },
  ) {
    this.#field = form.elements.namedItem("mail") as HTMLInputElement | null;
    this.#url = new URL(host.dataset.answers ?? "", document.baseURI).href;
  }

  /** As typed; empty for none. */
  get typed(): string {
    return this.#field?.value.trim() ?? "";
  }

  /** Shows whether the reader is told by mail, and no field if the site sends none. @param key - `null` for a new reader */
  async refresh(key: SecretKey | null): Promise<void> {
    const label = this.#field?.parentElement;
    if (!label) return;
    const answer = await askSite(key, "GET", this.#url);
    // 404, which comes without a signature, too.
    if (!this.#show(answer)) label.hidden = answer === "refused";
  }

  /** Sends the typed address. @returns whether the site took it, or there is none */
  async send(key: SecretKey): Promise<boolean> {
    return this.typed === "" || this.#show(await askSite(key, "POST", this.#url, { mail: this.typed }));
  }

  /** Has the address deleted. @returns whether it is */
  async stop(key: SecretKey): Promise<boolean> {
    return this.#field === null || this.#show(await askSite(key, "DELETE", this.#url));
  }

  #show(answer: unknown): boolean {
    const { mail } = Object(answer) as { mail?: "waiting" | "on" | null };
    const label = this.#field?.parentElement;
    const state = label?.nextElementSibling;
    const [text] = state?.children ?? [];
    if (mail === undefined || !this.#field || !label || !(state instanceof HTMLElement) || !text) return false;
    label.hidden = mail !== null;
    state.hidden = mail === null;
    text.textContent = mail === "on" ? this.words.told : this.words.checkMail;
    this.#field.value = "";
    return true;
  }
}
