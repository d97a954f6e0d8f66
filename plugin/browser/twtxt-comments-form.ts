// plugin/browser/twtxt-comments-form.ts: the form for comments, loaded when a reader uses it. It signs with the key of the contact page.

import { COMMENT_STATUS } from "../options/comment-words.js";
import { SHARED_STATUS } from "../options/contact-words.js";
import type { PublicMention } from "../site/mention-list.js";
import type { ShownMention } from "../site/mention-markup.js";
import { AnswerMail } from "./answer-mail.js";
import { toSecretKey } from "./guest-key.js";
import { GuestStore, newSeed } from "./guest-store.js";
import type { FormScript } from "./lazy-form.js";
import { type OwnComment, OwnComments, readMemory, type TypedComment, writeMemory } from "./own-comments.js";
import { WordedForm } from "./worded-form.js";

const ENGLISH = { ...COMMENT_STATUS, ...SHARED_STATUS };
const MAX_TEXT = 2000;

/** The component with the conversation above the form. */
interface ListElement extends HTMLElement {
  showOwn?(comments: readonly PublicMention[]): void;
}

/** A form for comments. Its methods tell the reader of a failure, and can be called again. */
export class CommentForm extends WordedForm<typeof ENGLISH> implements FormScript {
  readonly #store: GuestStore;
  readonly #target: string;
  readonly #mail: AnswerMail;
  /** The comment that is being edited; `null` for a new one. */
  #editing: string | null = null;
  /** The author of the reply that is answered; empty for the post. */
  #to = "";
  #own: readonly OwnComment[] = [];
  #shown: Promise<void> | null = null;
  /** The label of the text, for a comment on the post. */
  #label: string | undefined;

  /** @param host - the element with the form; its data names the post and the endpoint */
  constructor(host: HTMLElement) {
    super(host, ENGLISH);
    const { address = "", target = "" } = host.dataset;
    this.#target = target;
    this.#store = new GuestStore(address);
    this.#mail = new AnswerMail(host, this.form, this.words);
    this.form.addEventListener("input", () => this.#saveDraft());
    document.addEventListener("twtxt-mentions", () => this.#offerChanges());
  }

  /** Shows the reader's own comments, once. */
  show(): Promise<void> {
    this.#shown ??= this.attempt(this.#begin());
    return this.#shown;
  }

  /** Signs the comment and sends it, once for a double click. */
  async send(): Promise<void> {
    await this.sendOnce(() => this.show().then(() => this.#send()));
  }

  async act(button: string): Promise<void> {
    if (button === "cancel") this.#reset();
    if (button === "stopMail") await this.attempt(this.#stopMail());
    if (button === "forget" && confirm(this.words.forgetMeConfirm)) await this.attempt(this.#forget());
  }

  /** @param replyTo - the hash or URL of the reply that the next comment answers. @param name - of its author */
  async reply(replyTo: string, name: string): Promise<void> {
    await this.show();
    if (this.#editing !== null) this.#reset();
    this.#fields["reply-to"].value = replyTo;
    this.#to = name;
    this.#saveDraft();
    this.#open();
  }

  async #begin(): Promise<void> {
    const { site = "", drafts = {} } = readMemory();
    const { text, replyTo = "", to = "" } = drafts[this.#target] ?? {};
    const fields = this.#fields;
    fields.site.value ||= site;
    fields.text.value ||= text ?? "";
    fields["reply-to"].value ||= replyTo;
    this.#to ||= to;
    this.#describe();
    const conversation = await this.#store.conversation();
    if (!conversation) return this.#mail.refresh(null);
    fields.name.value ||= conversation.name;
    this.button("forget").hidden = false;
    await this.#refresh();
    this.#tellNews();
  }

  async #send(): Promise<void> {
    const typed = this.#read();
    if (typed.text.trim() === "") return;
    const excess = [...typed.text.trim()].length - MAX_TEXT;
    if (excess > 0) return this.say("tooLong", { count: String(excess) });
    this.say("sending");
    const comments = await this.#comments(true);
    const answer = await comments.send(typed, this.#target, this.#editing);
    if (typeof answer === "string" && answer !== "same") return this.say(answer);
    await this.#store.update({ name: typed.name });
    writeMemory({ site: typed.site });
    this.#reset();
    this.button("forget").hidden = false;
    await this.#refresh();
    if (typeof answer === "string") this.say(answer);
    else this.say(answer.state === "shown" ? "published" : "waiting");
  }

  /** Reads the reader's comments on this post, and shows those that others do not see. */
  async #refresh(): Promise<void> {
    const comments = await this.#comments(false);
    const own = await comments.list(this.#target);
    await this.#mail.refresh(comments.key);
    if (typeof own === "string") return this.say(own);
    this.#own = own;
    const list = this.host.parentElement?.querySelector<ListElement>("twtxt-mentions[target]");
    list?.showOwn?.(own.map((comment) => this.#toMention(comment)));
    this.#offerChanges();
  }

  #toMention({
    state,
    source,
    target,
    text,
    html,
    name,
    site,
    ...others
  }: OwnComment): PublicMention & Pick<ShownMention, "isHeld"> {
    const url = source.replace(/#.*/s, "");
    const author = { name, url, photo: null, guest: true as const, ...(site !== null && { page: site }) };
    const { hash, hashV1, former, replyTo, published, received } = others;
    const names = { hash, hashV1, replyTo, ...(former.length > 0 && { former }) };
    const isHeld = { held: { isHeld: true as const }, rejected: { isHeld: this.words.rejected }, shown: {} }[state];
    const place = { source, target, under: null, type: "reply" as const, published, received };
    return { ...names, ...place, author, text, html, ...isHeld };
  }

  /** Tells how many answers there are that the reader has not seen. */
  #tellNews(): void {
    const { seen = {} } = readMemory();
    const count = this.#own.reduce((sum, { id, answers }) => sum + Math.max(0, answers - (seen[id] ?? 0)), 0);
    writeMemory({ seen: Object.fromEntries(this.#own.map(({ id, answers }) => [id, answers])) });
    if (count === 0) return;
    const news = createElement("p", this.word("news", { count: String(count) }));
    news.className = "twtxt-news";
    news.setAttribute("role", "status");
    this.host.prepend(news);
  }

  /** Adds Edit and Delete to the reader's own comments. */
  #offerChanges(): void {
    for (const comment of this.#own) {
      const item = this.#findItem(comment);
      const actions = item?.querySelector(":scope > .twtxt-actions") ?? createElement("p", "");
      if (!item || actions.querySelector("[name=edit]")) continue;
      actions.className = "twtxt-actions";
      const edit = createElement("button", this.words.edit);
      const remove = createElement("button", this.words.remove);
      edit.addEventListener("click", () => this.#edit(comment.id));
      remove.addEventListener("click", () => this.attempt(this.#remove(comment.id)));
      for (const [name, button] of Object.entries({ edit, remove })) {
        button.type = "button";
        button.name = name;
        actions.append(" ", button);
      }
      item.insertBefore(
        actions,
        actions.isConnected ? actions.nextSibling : item.querySelector(":scope > .twtxt-thread"),
      );
    }
  }

  #findItem({ source = "" }: Partial<OwnComment> = {}): Element | null {
    const items = this.host.parentElement?.querySelectorAll<HTMLElement>("li[data-source]") ?? [];
    return [...items].find((item) => item.dataset.source === source) ?? null;
  }

  #edit(id: string): void {
    const comment = this.#own.find((each) => each.id === id);
    if (!comment) return;
    this.#editing = id;
    const { text, name, site } = this.#fields;
    [text.value, name.value, site.value] = [comment.text, comment.name, comment.site ?? ""];
    this.#open();
  }

  async #remove(id: string): Promise<void> {
    if (!confirm(this.words.removeConfirm)) return;
    const answer = await (await this.#comments(false)).remove(id);
    if (typeof answer === "string") return this.say(answer);
    if (this.#editing === id) this.#reset();
    const item = this.#findItem(this.#own.find((each) => each.id === id));
    await this.#refresh();
    // Answers keep their place, until the list is read again.
    if (!item?.querySelector("li")) item?.remove();
    else for (const part of item.querySelectorAll(":scope > :is(.twtxt-by, .p-content, .twtxt-actions)")) part.remove();
  }

  async #stopMail(): Promise<void> {
    const { key } = await this.#comments(false);
    if (!(await this.#mail.stop(key))) this.say("offline");
  }

  async #forget(): Promise<void> {
    // An address that cannot be deleted now has a link in each mail for that.
    await this.#mail.stop((await this.#comments(false)).key);
    await this.#store.forget();
    this.#own = [];
    location.reload();
  }

  async #comments(isNew: boolean): Promise<OwnComments> {
    const started = isNew ? await this.#store.start(newSeed()) : await this.#store.conversation();
    if (!started) throw new DOMException("The key is gone.");
    const { endpoint = "" } = this.host.dataset;
    return new OwnComments(new URL(endpoint, document.baseURI).href, toSecretKey(started.seed));
  }

  /** Opens the form, says what it is for, and puts the cursor into it. */
  #open(): void {
    this.#describe();
    const details = this.form.closest("details");
    if (details) details.open = true;
    this.#fields.text.focus();
  }

  /** Says whom the comment answers, and offers to cancel. */
  #describe(): void {
    const isSpecial = this.#editing !== null || this.#to !== "";
    this.button("cancel").hidden = !isSpecial;
    this.say(null);
    const label = this.#fields.text.labels?.[0]?.firstChild;
    if (!label) return;
    this.#label ??= label.textContent ?? "";
    label.textContent = this.#to === "" ? this.#label : this.word("replyTo", { name: this.#to });
  }

  /** Empties the form, but for name and site. */
  #reset(): void {
    const { text, "reply-to": replyTo } = this.#fields;
    [text.value, replyTo.value] = ["", ""];
    this.#editing = null;
    this.#to = "";
    this.#saveDraft();
    this.#describe();
  }

  /** A comment that is being edited is no draft. */
  #saveDraft(): void {
    if (this.#editing !== null) return;
    const { text, "reply-to": replyTo } = this.#read();
    try {
      writeMemory({ drafts: { [this.#target]: { text, replyTo, to: this.#to } } });
    } catch {
      this.say("noStorage");
    }
  }

  #read(): TypedComment {
    const { text, name, site, "reply-to": replyTo } = this.#fields;
    return { text: text.value, name: name.value, site: site.value, "reply-to": replyTo.value, mail: this.#mail.typed };
  }

  get #fields() {
    return this.form.elements as HTMLFormControlsCollection &
      Record<Exclude<keyof TypedComment, "mail">, HTMLInputElement>;
  }
}

function createElement<Name extends "p" | "button">(name: Name, text: string): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}
