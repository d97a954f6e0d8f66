// plugin/browser/guest-form.ts: what the contact form and the form for comments have in common: the reader's key and mail address, the words, and what they say.
import { once } from "../later.js";
import type { SecretKey } from "../messages/browser.js";
import { AnswerMail } from "./answer-mail.js";
import { toSecretKey } from "./guest-key.js";
import { GuestStore, newSeed } from "./guest-store.js";
import type { FormScript } from "./lazy-form.js";

type CommonWords = Record<"noStorage" | "broken" | "offline" | "checkMail" | "told", string>;

/** A form of a reader with a key. @typeParam Field - the names of its fields for text */
export abstract class GuestForm<Words extends CommonWords, Field extends string> implements FormScript {
  protected readonly form: HTMLFormElement;
  protected readonly words: Words;
  protected readonly store: GuestStore;
  protected readonly mail: AnswerMail;
  /** Starts once. A failed attempt is repeated at the next use. */
  protected readonly start = once(() => this.begin());
  #isSending = false;

  /** @param host - the element with the form; its data names the author, and has the words that are not English */
  constructor(
    protected readonly host: HTMLElement,
    english: Words,
  ) {
    this.form = host.querySelector("form.twtxt-write") as HTMLFormElement;
    this.words = { ...english, ...JSON.parse(host.dataset.words ?? "{}") };
    this.store = new GuestStore(host.dataset.address ?? "");
    this.mail = new AnswerMail(host, this.form, this.words);
  }

  /** Shows what is stored. */
  protected abstract begin(): Promise<void>;
  /** Sends what is typed. */
  protected abstract submit(): Promise<void>;
  /** Deletes what is stored, if the reader confirms it. */
  protected abstract forget(): Promise<void>;

  show(): Promise<void> {
    return this.attempt(this.start());
  }

  /** Sends once for a double click. */
  async send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    await this.attempt(this.start().then(() => this.submit()));
    this.#isSending = false;
  }

  async act(button: string): Promise<void> {
    if (button === "stopMail") await this.attempt(this.#stopMail());
    if (button === "forget") await this.attempt(this.forget());
  }

  async #stopMail(): Promise<void> {
    if (!(await this.mail.stop(await this.readKey()))) this.say("offline");
  }

  /** @param isNew - whether a reader without a key gets one. @throws DOMException */
  protected async readKey(isNew = false): Promise<SecretKey> {
    const conversation = isNew ? await this.store.start(newSeed()) : await this.store.conversation();
    if (!conversation) throw new DOMException("The key is gone.");
    return toSecretKey(conversation.seed);
  }

  /** Tells the reader of a failure. The browser's storage fails with a `DOMException`. */
  protected attempt(work: Promise<void>): Promise<void> {
    return work.catch((error) => this.say(error instanceof DOMException ? "noStorage" : "broken"));
  }

  protected say(word: keyof Words | null, values: Record<string, string> = {}): void {
    const status = this.form.querySelector("[role=status]") as HTMLElement;
    status.textContent = word === null ? "" : this.word(word, values);
  }

  protected word(word: keyof Words, values: Record<string, string> = {}): string {
    const all: Record<string, string | undefined> = { ...this.host.dataset, ...values };
    return String(this.words[word]).replace(/\{(\w+)\}/g, (written, name) => all[name] ?? written);
  }

  protected button(name: string): HTMLButtonElement {
    return this.form.elements.namedItem(name) as HTMLButtonElement;
  }

  protected get fields(): Record<Field, HTMLInputElement> {
    return this.form.elements as HTMLFormControlsCollection & Record<Field, HTMLInputElement>;
  }
}
