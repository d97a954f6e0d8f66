// plugin/browser/twtxt-comments-form.ts: the form for comments, loaded when a reader uses it. It signs with the key of the contact page.
import { encodeKey } from "../messages/browser.js";
import { COMMENT_STATUS } from "../options/comment-words.js";
import { SHARED_STATUS } from "../options/contact-words.js";
import { COMMENT_LENGTH } from "../site/comment-form.js";
import { element } from "../site/html.js";
import type { OwnComment, PublicMention } from "../site/mention-list.js";
import { actionButton } from "../site/write-form.js";
import { askSite, type Failure } from "./ask-site.js";
import { COMMENT_MEMORY } from "./conversation-database.js";
import { GuestForm } from "./guest-form.js";
import { toDom } from "./to-dom.js";

const ENGLISH = { ...COMMENT_STATUS, ...SHARED_STATUS };
/** The time that a page must be open, with a reserve for clocks that are rounded. The site refuses what is sent earlier. */
const READING_MS = 2100;

/** The component with the conversation above the form. */
interface ListElement extends HTMLElement {
  showOwn?(comments: readonly PublicMention[]): void;
}

/** A form for comments. Its methods tell the reader of a failure, and can be called again. */
export class Form extends GuestForm<typeof ENGLISH, "text" | "name" | "site" | "reply-to"> {
  /** The post. */
  readonly #target: string;
  /** The URL of the endpoint. */
  readonly #url: string;
  /** The comment that is being edited; `null` for a new one. */
  #editing: string | null = null;
  /** The author of the reply that is answered; empty for the post. */
  #to = "";
  #own: readonly OwnComment[] = [];
  /** The label of the text, for a comment on the post. */
  #label: string | undefined;

  /** @param host - the element with the form; its data names the post and the endpoint, too */
  constructor(host: HTMLElement) {
    super(host, ENGLISH);
    const { endpoint = "", target = "" } = host.dataset;
    this.#target = target;
    this.#url = new URL(endpoint, document.baseURI).href;
    this.form.addEventListener("input", () => this.#saveDraft());
    document.addEventListener("twtxt-mentions", () => this.#offerChanges());
  }

  override async act(button: string): Promise<void> {
    if (button === "cancel") this.#reset();
    await super.act(button);
  }

  /** @param replyTo - the hash or URL of the reply that the next comment answers. @param name - of its author */
  async reply(replyTo: string, name: string): Promise<void> {
    await this.show();
    if (this.#editing !== null) this.#reset();
    this.fields["reply-to"].value = replyTo;
    this.#to = name;
    this.#saveDraft();
    this.#open();
  }

  /** Shows the draft, and the reader's own comments. */
  protected async begin(): Promise<void> {
    const { site = "", drafts = {} } = readMemory();
    const { text, replyTo = "", to = "" } = drafts[this.#target] ?? {};
    const fields = this.fields;
    fields.site.value ||= site;
    fields.text.value ||= text ?? "";
    fields["reply-to"].value ||= replyTo;
    this.#to ||= to;
    this.#describe();
    const conversation = await this.store.conversation();
    if (!conversation) return this.mail.refresh(null);
    fields.name.value ||= conversation.name;
    await this.#refresh();
    this.#tellNews();
  }

  /** Signs the comment and sends it. */
  protected async submit(): Promise<void> {
    const { text, name, site, "reply-to": replyTo } = this.fields;
    const length = [...text.value.trim()].length;
    if (length === 0) return;
    if (length > COMMENT_LENGTH) return this.say("tooLong", { count: String(length - COMMENT_LENGTH) });
    this.say("sending");
    const typed = { text: text.value, name: name.value, site: site.value, "reply-to": replyTo.value };
    const sent = { ...typed, mail: this.mail.typed, target: this.#target };
    await this.readKey(true);
    await new Promise((resolve) => setTimeout(resolve, READING_MS - performance.now()));
    const seconds = (performance.now() / 1000).toFixed(1);
    const answer = await this.#ask("POST", this.#editing === null ? "" : `/${this.#editing}`, { ...sent, seconds });
    if (typeof answer === "string" && answer !== "same") return this.say(answer);
    await this.store.update({ name: typed.name });
    writeMemory({ site: typed.site });
    this.#reset();
    await this.#refresh();
    if (typeof answer === "string") this.say(answer);
    else this.say(Object(answer).state === "shown" ? "published" : "waiting");
  }

  protected async forget(): Promise<void> {
    if (!confirm(this.words.forgetMeConfirm)) return;
    // An address that cannot be deleted now has a link in each mail for that.
    await this.mail.stop(await this.readKey());
    await this.store.forget();
    this.#own = [];
    location.reload();
  }

  async #ask(method: string, path: string, json?: object): Promise<object | Failure> {
    return askSite(await this.readKey(), method, this.#url + path, json);
  }

  /** Reads the reader's comments on this post, and shows those that others do not see. */
  async #refresh(): Promise<void> {
    this.button("forget").hidden = false;
    const key = await this.readKey();
    const answer = await this.#ask("GET", `?guest=${encodeKey(key.publicKey)}`);
    await this.mail.refresh(key);
    if (typeof answer === "string") return this.say(answer);
    const all: readonly OwnComment[] = Object(answer).comments;
    this.#own = all.filter(({ target }) => target === this.#target);
    const notes: Record<string, object> = { held: { isHeld: true }, rejected: { isHeld: this.words.rejected } };
    const list = this.host.parentElement?.querySelector<ListElement>("twtxt-mentions[target]");
    list?.showOwn?.(this.#own.map((comment) => ({ ...comment, ...notes[comment.state] })));
    this.#offerChanges();
  }

  /** Tells how many answers there are that the reader has not seen. */
  #tellNews(): void {
    const { seen = {} } = readMemory();
    const count = this.#own.reduce((sum, { id, answers }) => sum + Math.max(0, answers - (seen[id] ?? 0)), 0);
    writeMemory({ seen: Object.fromEntries(this.#own.map(({ id, answers }) => [id, answers])) });
    if (count === 0) return;
    const text = this.word("news", { count: String(count) });
    this.host.prepend(toDom(element("p", { class: "twtxt-news", role: "status" }, text)));
  }

  /** Adds Edit and Delete to the reader's own comments. */
  #offerChanges(): void {
    for (const { id, source } of this.#own) {
      const item = this.#findItem(source);
      const known = item?.querySelector(":scope > .twtxt-actions");
      if (!item || known?.querySelector("[name=edit]")) continue;
      const actions = known ?? toDom(element("p", { class: "twtxt-actions" }));
      const act = { edit: () => this.#edit(id), remove: () => this.attempt(this.#remove(id, source)) };
      for (const name of ["edit", "remove"] as const) {
        const button = toDom(actionButton(name, this.words[name], false));
        button.addEventListener("click", act[name]);
        actions.append(" ", button);
      }
      if (!known) item.insertBefore(actions, item.querySelector(":scope > .twtxt-thread"));
    }
  }

  #findItem(source: string): Element | null {
    return this.host.parentElement?.querySelector(`li[data-source="${CSS.escape(source)}"]`) ?? null;
  }

  #edit(id: string): void {
    const comment = this.#own.find((own) => own.id === id);
    if (!comment) return;
    this.#editing = id;
    const { text, name, site } = this.fields;
    [text.value, name.value, site.value] = [comment.text, comment.name, comment.site ?? ""];
    this.#open();
  }

  async #remove(id: string, source: string): Promise<void> {
    if (!confirm(this.words.removeConfirm)) return;
    const answer = await this.#ask("DELETE", `/${id}`);
    if (typeof answer === "string") return this.say(answer);
    if (this.#editing === id) this.#reset();
    const item = this.#findItem(source);
    await this.#refresh();
    // Answers keep their place, until the list is read again.
    if (!item?.querySelector("li")) item?.remove();
    else for (const part of item.querySelectorAll(":scope > :is(.twtxt-by, .p-content, .twtxt-actions)")) part.remove();
  }

  /** Opens the form, says what it is for, and puts the cursor into it. */
  #open(): void {
    this.#describe();
    const details = this.form.closest("details");
    if (details) details.open = true;
    this.fields.text.focus();
  }

  /** Says whom the comment answers, and offers to cancel. */
  #describe(): void {
    const isSpecial = this.#editing !== null || this.#to !== "";
    this.button("cancel").hidden = !isSpecial;
    this.say(null);
    const label = this.fields.text.labels?.[0]?.firstChild;
    if (!label) return;
    this.#label ??= label.textContent ?? "";
    label.textContent = this.#to === "" ? this.#label : this.word("replyTo", { name: this.#to });
  }

  /** Empties the form, but for name and site. */
  #reset(): void {
    const { text, "reply-to": replyTo } = this.fields;
    [text.value, replyTo.value] = ["", ""];
    this.#editing = null;
    this.#to = "";
    this.#saveDraft();
    this.#describe();
  }

  /** A comment that is being edited is no draft. */
  #saveDraft(): void {
    if (this.#editing !== null) return;
    const { text, "reply-to": replyTo } = this.fields;
    try {
      writeMemory({ drafts: { [this.#target]: { text: text.value, replyTo: replyTo.value, to: this.#to } } });
    } catch {
      this.say("noStorage");
    }
  }
}

/** What the browser remembers between visits. */
interface Memory {
  site?: string;
  /** By the URL of the post. */
  drafts?: Record<string, { text: string; replyTo: string; to: string }>;
  /** Numbers of answers that the reader has seen, by the id of the comment. */
  seen?: Record<string, number>;
}

function readMemory(): Memory {
  try {
    return Object(JSON.parse(localStorage.getItem(COMMENT_MEMORY) ?? "{}"));
  } catch {
    return {};
  }
}

function writeMemory(change: Memory): void {
  const { site, drafts, seen } = readMemory();
  const memory = { site, ...change, drafts: { ...drafts, ...change.drafts }, seen: { ...seen, ...change.seen } };
  localStorage.setItem(COMMENT_MEMORY, JSON.stringify(memory));
}
