// plugin/browser/client-drafts.ts: saves the draft of a note or a message while it is typed, as its button does.
import type { SavedDraft } from "../author/draft-version.js";

const PAUSE_MS = 1000;
const RETRY_MS = 5000;
/** Browsers refuse larger requests that outlive their page. */
const MAX_KEEPALIVE = 60_000;
const FAILED =
  "Not saved: the client does not answer. Start it again, and copy your text into its page before you close this one.";

export function saveWhileTyping(): void {
  const button = document.querySelector<HTMLButtonElement>("button[data-draft]");
  const state = document.querySelector<HTMLElement>("#draft-state");
  if (button?.form && state) new DraftSaver(button.form, button, state).start();
}

class DraftSaver {
  /** Where the button sends the draft. */
  readonly #action: string;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isChanged = false;
  #hasFailed = false;
  /** Stays on the page, because the author may overlook it while typing. */
  #warning: string | null = null;
  #saving: Promise<void> | null = null;
  /** Whether the text has grown by that of another page since the author submitted a form. */
  #hasGrown = false;

  constructor(
    private readonly form: HTMLFormElement,
    button: HTMLButtonElement,
    private readonly state: HTMLElement,
  ) {
    this.#action = button.hasAttribute("formaction") ? button.formAction : form.action;
  }

  start(): void {
    this.form.addEventListener("input", () => {
      // A new draft is saved once it has a text.
      const text = this.form.querySelector("textarea")?.value.trim() ?? "";
      this.#isChanged = this.#field("seen").value !== "" || text !== "";
      this.#saveAfter(PAUSE_MS);
    });
    this.form.addEventListener("focusout", () => void this.#save());
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) void this.#save();
    });
    // Does not wait for a save in progress: the page would be gone before the next one.
    addEventListener("pagehide", () => {
      if (this.#isChanged) void this.#send();
    });
    addEventListener("beforeunload", (event) => {
      if (this.#hasFailed) event.preventDefault();
    });
    document.addEventListener("submit", (event) => this.#beforeSubmit(event));
  }

  #field(name: string): HTMLInputElement {
    return this.form.elements.namedItem(name) as HTMLInputElement;
  }

  #saveAfter(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#save(), milliseconds);
  }

  /** Waits for a save in progress, then saves. */
  async #save(): Promise<void> {
    await this.#saving;
    if (!this.#isChanged) return;
    this.#saving = this.#send().finally(() => {
      this.#saving = null;
    });
    await this.#saving;
  }

  async #send(): Promise<void> {
    this.#isChanged = false;
    const edit = this.#field("edit");
    edit.value = String(Number(edit.value) + 1);
    const fields = [...new FormData(this.form)].flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value]] : [],
    );
    const body = new URLSearchParams(fields);
    const headers = { accept: "application/json" };
    const keepalive = body.toString().length < MAX_KEEPALIVE;
    try {
      const response = await fetch(this.#action, { method: "POST", headers, body, keepalive });
      if (!response.ok) throw new Error(response.statusText);
      this.#show(Object(await response.json()));
      this.#hasFailed = false;
    } catch {
      this.#say(FAILED, true);
      this.#hasFailed = true;
      this.#isChanged = true;
      this.#saveAfter(RETRY_MS);
    }
  }

  #show({ id, seen, text, warning, added = "", path }: SavedDraft): void {
    this.#field("id").value = id;
    this.#field("seen").value = seen;
    this.#warning ??= warning;
    if (added !== "") {
      this.#hasGrown = true;
      this.form.querySelector("textarea")?.setRangeText(added, 0, 0, "preserve");
    }
    this.#say(this.#warning === null ? text : `${this.#warning} ${text}`, this.#warning !== null);
    if (path !== undefined) history.replaceState(history.state, "", path);
  }

  #say(text: string, isFailure: boolean): void {
    this.state.className = isFailure ? "notice failure" : "muted";
    // A screen reader announces each change.
    if (this.state.textContent !== text) this.state.textContent = text;
  }

  /** Saves the draft before a form that sends or deletes it is submitted. */
  #beforeSubmit(event: SubmitEvent): void {
    const { target, submitter } = event;
    if (
      !(target instanceof HTMLFormElement) ||
      !target.querySelector(`[name="id"][value="${this.#field("id").value}"]`)
    ) {
      return;
    }
    clearTimeout(this.#timer);
    if (!this.#isChanged && this.#saving === null) return;
    event.preventDefault();
    this.#hasGrown = false;
    void this.#save().then(() => {
      if (!this.#hasFailed && !this.#hasGrown) target.requestSubmit(submitter);
    });
  }
}
