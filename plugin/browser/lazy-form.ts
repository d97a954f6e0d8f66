// plugin/browser/lazy-form.ts: a form whose script is loaded when a reader uses it, or has used it before.
import { hasConversations } from "./conversation-database.js";
import { pageParsed } from "./page-parsed.js";

/** What the script does with the form. Its methods tell the reader of a failure, and can be called again. */
export interface FormScript {
  /** Shows what is stored. */
  show(): Promise<void>;
  send(): Promise<void>;
  /** @param button - the name of a button of the form */
  act(button: string): Promise<void>;
}

/** An element with a form that the build made. */
export abstract class LazyForm<Script extends FormScript> extends HTMLElement {
  #isReady = false;
  #script: Promise<Script> | null = null;

  /** The file beside this one whose export `Form` is the script. */
  protected abstract readonly file: string;
  /** Called once, when the page is parsed. @param canStore - whether the browser can keep a key */
  protected abstract prepare(form: HTMLFormElement, canStore: boolean): void;
  /** Called when the script cannot be loaded. @param isSending - whether the reader wanted to send */
  protected abstract fail(form: HTMLFormElement, isSending: boolean): void;

  /** Called again when the element is moved. */
  async connectedCallback(): Promise<void> {
    await pageParsed();
    const form = this.querySelector<HTMLFormElement>("form.twtxt-write");
    if (this.#isReady || !form) return;
    this.#isReady = true;
    const isLacking = !globalThis.crypto?.subtle || !globalThis.indexedDB?.databases || !navigator.locks;
    this.prepare(form, !isLacking);
    if (isLacking) return;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.use((script) => script.send(), true);
    });
    form.addEventListener("focusin", () => void this.use((script) => script.show()));
    form.addEventListener("click", ({ target }) => {
      if (target instanceof HTMLButtonElement && target.name !== "") void this.use((script) => script.act(target.name));
    });
    if (await hasConversations().catch(() => false)) await this.use((script) => script.show());
  }

  /** Loads the script once. A failed attempt is repeated at the next use of the form. @returns whether it was loaded */
  protected async use(action: (script: Script) => Promise<void>, isSending = false): Promise<boolean> {
    this.#script ??= this.#load();
    try {
      await action(await this.#script);
      return true;
    } catch {
      this.#script = null;
      const form = this.querySelector<HTMLFormElement>("form.twtxt-write");
      if (form) this.fail(form, isSending);
      return false;
    }
  }

  async #load(): Promise<Script> {
    const module: { Form: new (host: HTMLElement) => Script } = await import(new URL(this.file, import.meta.url).href);
    return new module.Form(this);
  }
}
