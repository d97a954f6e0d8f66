// plugin/browser/client-nicks.ts: completes `@nick` in the text of a note, from the list of people on the page.
import { completeNick, type KnownNick, typedNick } from "../author/notes/complete-nick.js";

const MAX_SHOWN = 8;

export function completeNicks(): void {
  const text = document.querySelector<HTMLTextAreaElement>("textarea#body");
  const people = document.querySelectorAll<HTMLElement>("#people [data-nick]");
  if (!text || people.length === 0) return;
  const known = [...people].map(({ dataset: { nick = "", url = "", written = "" } }) => ({ nick, url, written }));
  new Completion(text, known).start();
}

/** A list box under the text. The focus stays in the text, which names the current option. */
class Completion {
  readonly #list = document.createElement("ul");
  readonly #count = document.createElement("p");
  #shown: readonly KnownNick[] = [];
  #current = 0;
  /** The position of the "@" at which the author closed the list; -1 if it is open. */
  #closedAt = -1;
  /** The position after the space that follows a completed nick; -1 elsewhere. */
  #afterSpace = -1;

  constructor(
    private readonly text: HTMLTextAreaElement,
    private readonly known: readonly KnownNick[],
  ) {}

  start(): void {
    Object.assign(this.#list, { id: "nick-list", role: "listbox", ariaLabel: "People to mention", hidden: true });
    Object.assign(this.#count, { className: "visually-hidden", role: "status" });
    const place = document.createElement("div");
    place.className = "nick-place";
    place.append(this.#list, this.#count);
    this.text.after(place);
    for (const [name, value] of Object.entries({ haspopup: "listbox", autocomplete: "list", controls: "nick-list" })) {
      this.text.setAttribute(`aria-${name}`, value);
    }
    this.text.addEventListener("input", () => this.#update());
    this.text.addEventListener("keydown", (event) => this.#onKey(event));
    this.text.addEventListener("beforeinput", (event) => this.#skipSecondSpace(event));
    this.text.addEventListener("blur", () => this.#show([]));
    document.addEventListener("selectionchange", () => {
      if (document.activeElement === this.text) this.#update();
    });
    // The text keeps the focus.
    this.#list.addEventListener("mousedown", (event) => event.preventDefault());
    this.#list.addEventListener("click", ({ target }) => {
      const option = target instanceof Element ? target.closest("li") : null;
      if (option) this.#accept([...this.#list.children].indexOf(option));
    });
  }

  /** What is typed before the caret, and where its "@" is; `null` for no nick. */
  #typed(): { nick: string; start: number } | null {
    const { value, selectionStart, selectionEnd } = this.text;
    const nick = selectionStart === selectionEnd ? typedNick(value.slice(0, selectionStart)) : null;
    return nick === null ? null : { nick, start: selectionStart - nick.length - 1 };
  }

  #update(): void {
    const typed = this.#typed();
    if (typed?.start !== this.#closedAt) this.#closedAt = -1;
    const found = typed === null ? [] : completeNick(typed.nick, this.known).slice(0, MAX_SHOWN);
    // Enter starts a new line after a nick that is complete.
    const isComplete = found.length === 1 && found[0]?.written === `@${typed?.nick}`;
    this.#show(isComplete || this.#closedAt >= 0 ? [] : found);
  }

  #show(found: readonly KnownNick[]): void {
    const isSame = found.length === this.#shown.length && found.every((one, at) => one === this.#shown[at]);
    if (isSame) return;
    this.#shown = found;
    this.#list.hidden = found.length === 0;
    this.#list.replaceChildren(...found.map(createOption));
    this.#count.textContent = found.length === 0 ? "" : found.length === 1 ? "1 match" : `${found.length} matches`;
    this.#select(0);
  }

  #select(at: number): void {
    this.#current = at;
    for (const [index, option] of [...this.#list.children].entries()) option.ariaSelected = String(index === at);
    const option = this.#list.children[at];
    option?.scrollIntoView({ block: "nearest" });
    if (option) this.text.setAttribute("aria-activedescendant", option.id);
    else this.text.removeAttribute("aria-activedescendant");
  }

  #onKey(event: KeyboardEvent): void {
    const { key, isComposing, ctrlKey, altKey, metaKey, shiftKey } = event;
    const { length } = this.#shown;
    if (length === 0 || isComposing || ctrlKey || altKey || metaKey || shiftKey) return;
    if (key === "ArrowDown") this.#select((this.#current + 1) % length);
    else if (key === "ArrowUp") this.#select((this.#current + length - 1) % length);
    else if (key === "Enter" || key === "Tab") this.#accept(this.#current);
    else if (key === "Escape") {
      this.#closedAt = this.#typed()?.start ?? -1;
      this.#show([]);
    } else return;
    event.preventDefault();
  }

  /** Authors type a space after a name by habit. */
  #skipSecondSpace(event: InputEvent): void {
    const isSecond = event.data === " " && this.text.selectionStart === this.#afterSpace;
    this.#afterSpace = -1;
    if (isSecond && this.text.selectionStart === this.text.selectionEnd) event.preventDefault();
  }

  #accept(at: number): void {
    const typed = this.#typed();
    const chosen = this.#shown[at];
    if (typed === null || chosen === undefined) return;
    const end = this.text.selectionEnd;
    const after = this.text.value.slice(end);
    const hasSpace = after.startsWith(" ");
    const space = hasSpace || !/^\s/.test(after) ? " " : "";
    this.text.setRangeText(chosen.written + space, typed.start, hasSpace ? end + 1 : end, "end");
    this.#afterSpace = space === "" ? -1 : this.text.selectionEnd;
    this.#show([]);
    // Other scripts save the text.
    this.text.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

function createOption({ nick, url }: KnownNick, at: number): HTMLElement {
  const option = document.createElement("li");
  Object.assign(option, { id: `nick-${at}`, role: "option" });
  const name = document.createElement("bdi");
  name.textContent = `@${nick}`;
  const place = document.createElement("bdi");
  place.textContent = url;
  place.className = "muted";
  option.append(name, " ", place);
  return option;
}
