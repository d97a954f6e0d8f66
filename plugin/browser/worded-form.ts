// plugin/browser/worded-form.ts: what the contact form and the form for comments have in common: their words, and what they say.

export abstract class WordedForm<Words extends Record<"noStorage" | "broken", string>> {
  protected readonly form: HTMLFormElement;
  protected readonly words: Words;
  #isSending = false;

  /** @param host - the element with the form; its data has the words that are not English */
  constructor(
    protected readonly host: HTMLElement,
    english: Words,
  ) {
    this.form = host.querySelector("form.twtxt-write") as HTMLFormElement;
    this.words = { ...english, ...JSON.parse(host.dataset.words ?? "{}") };
  }

  /** Sends once for a double click. */
  protected async sendOnce(work: () => Promise<void>): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    await this.attempt(work());
    this.#isSending = false;
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
}
