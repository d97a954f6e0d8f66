// plugin/browser/twtxt-contact-conversation.ts: the conversation of the contact form, loaded when a reader uses the form.
import { base64 } from "@scure/base";
import { TwtxtError } from "../errors.js";
import { encodeKey, open, parseMessage, type SecretKey } from "../messages/browser.js";
import type { InboxClient, InboxMessage } from "../messages/read/inbox-client.js";
import { CONTACT_STATUS, type ContactStatus } from "../options/contact-words.js";
import { chooseFile, downloadCopy, readCopy } from "./conversation-copy.js";
import { GuestForm } from "./guest-form.js";
import { type Author, followInbox, openInbox, pageVisible, sendToAuthor, sleep } from "./guest-inbox.js";
import { sealGuestMessage, toSecretKey } from "./guest-key.js";
import { type Conversation, type GuestMessage, newSeed } from "./guest-store.js";
import { messageItem } from "./message-item.js";

/** In bytes of UTF-8. Sealed and armored, such a message is smaller than the limit of 64 KiB. */
const MAX_TEXT = 44_000;
const FORGET_MS = 5000;
/** Tells other tabs to clear the conversation. */
const FORGOTTEN = "forgotten";

/** A form with the conversation above it. Its methods tell the reader of a failure, and can be called again. */
export class Form extends GuestForm<ContactStatus, "text" | "name"> {
  readonly #author: Author;
  /** Changes of other tabs. */
  readonly #tabs: BroadcastChannel;
  #updated: Promise<void> = Promise.resolve();
  #following: { seed: string; end: AbortController } | null = null;

  /** @param host - the element with the form; its data names the author */
  constructor(host: HTMLElement) {
    super(host, CONTACT_STATUS);
    const { address = "", key = "", document = "", inbox = "" } = host.dataset;
    this.#author = { address, key, document, inbox };
    this.#tabs = new BroadcastChannel(`twtxt-contact ${address}`);
    this.#tabs.addEventListener("message", ({ data }) => {
      if (data === FORGOTTEN) this.form.reset();
      this.attempt(this.#update());
    });
    this.form.addEventListener("input", () => this.attempt(this.#saveDraft()));
  }

  /** Seals the text of the form and sends it. */
  protected async submit(): Promise<void> {
    const id = await this.#seal();
    if (id === null) return;
    this.attempt(this.#deliver(id));
    if (!(await this.mail.send(await this.readKey()))) this.say("offline");
  }

  override async act(button: string): Promise<void> {
    if (button === "save") await this.attempt(this.#started().then(downloadCopy));
    if (button === "open") chooseFile((file) => this.attempt(this.#openCopy(file)));
    await super.act(button);
  }

  /** Shows what is stored, and follows the inbox. */
  protected async begin(): Promise<void> {
    const conversation = await this.store.conversation();
    this.say(null);
    const { text, name } = this.fields;
    // What is typed is not replaced.
    text.value ||= conversation?.draft ?? "";
    name.value ||= conversation?.name ?? "";
    // Typed while this script was loaded.
    if (text.value !== "") await this.#saveDraft();
    await this.#update();
    await this.mail.refresh(conversation ? toSecretKey(conversation.seed) : null);
    // Sending was interrupted. A message that the site has already is not stored again.
    const interrupted = (await this.store.messages()).filter(({ state }) => state === "waiting");
    for (const { id } of interrupted) this.attempt(this.#deliver(id));
  }

  /** @returns the id of the stored message; `null` for a text that cannot be sent */
  async #seal(): Promise<string | null> {
    const { text, name } = this.fields;
    const typed = text.value.trim();
    if (typed === "") return null;
    const excess = typed.length - new TextEncoder().encodeInto(typed, new Uint8Array(MAX_TEXT)).read;
    this.say(excess > 0 ? "tooLong" : null, { count: String(excess) });
    if (excess > 0) return null;
    const { seed } = await this.#started();
    const time = new Date().toISOString();
    const id = crypto.randomUUID();
    const sealed = sealGuestMessage({ text: typed, name: name.value, time }, seed, this.#author);
    // Another tab has just forgotten the conversation.
    if (!(await this.store.put({ id, time, text: typed, state: "waiting", sealed }))) return null;
    text.value = "";
    await this.store.update({ draft: "", name: name.value });
    await this.#changed();
    return id;
  }

  /** Sends a stored message. It is shown as sent after the site has stored it. */
  async #deliver(id: string): Promise<void> {
    const message = await this.store.wait(id);
    if (!message?.sealed) return;
    await this.#changed();
    const outcome = await sendToAuthor(this.#author, message.sealed);
    if (outcome instanceof Date) await this.store.confirm(id, outcome);
    else await this.store.fail(id, this.word(outcome));
    await this.#changed();
  }

  /** Follows the inbox in one tab at a time, and no longer that of an earlier key. */
  async #follow({ seed }: Conversation): Promise<void> {
    if (this.#following?.seed === base64.encode(seed)) return;
    this.#following?.end.abort();
    const following = { seed: base64.encode(seed), end: new AbortController() };
    this.#following = following;
    const { signal } = following.end;
    const key = toSecretKey(seed);
    try {
      // A hidden tab leaves the lock to one that is visible.
      while (await pageVisible(signal)) {
        await navigator.locks.request(`twtxt-contact ${this.#author.address}`, { signal }, async () => {
          for await (const messages of followInbox(this.#inbox(key), signal))
            for (const message of messages) await this.#receive(message, key);
        });
      }
    } catch (error) {
      if (signal.aborted) return;
      this.say(error instanceof TwtxtError && error.code === "not-signed" ? "wrongClock" : "broken");
    } finally {
      if (this.#following === following) this.#following = null;
    }
  }

  async #receive(sealed: InboxMessage, key: SecretKey): Promise<void> {
    const known = await this.store.messages();
    if (known.some(({ id }) => id === sealed.id)) return;
    if (await this.store.put({ id: sealed.id, time: sealed.created, ...this.#opened(sealed, key) }))
      await this.#changed();
  }

  #opened({ payload }: InboxMessage, key: SecretKey): Pick<GuestMessage, "text" | "state"> {
    try {
      const { plaintext, sender } = open(payload, { key });
      const { lines, address } = parseMessage(new TextDecoder().decode(plaintext));
      const isVerified = encodeKey(sender) === this.#author.key && address === this.#author.address;
      const text = lines.map((line) => line.text).join("\n");
      return { text, state: isVerified ? "received" : "unverified" };
    } catch (error) {
      if (error instanceof TwtxtError) return { text: "", state: "unreadable" };
      throw error;
    }
  }

  protected async forget(): Promise<void> {
    if (!confirm(this.word("forgetConfirm"))) return;
    const conversation = await this.store.conversation();
    const messages = await this.store.messages();
    this.#following?.end.abort();
    this.form.reset();
    if (conversation) await this.mail.stop(toSecretKey(conversation.seed));
    if (conversation) await this.#deleteAtSite(messages, conversation.seed);
    await this.store.forget();
    this.#tabs.postMessage(FORGOTTEN);
    await this.#update();
    this.say("forgotten");
  }

  /** Those that cannot be deleted now expire at the site. */
  async #deleteAtSite(messages: readonly GuestMessage[], seed: Uint8Array): Promise<void> {
    const inbox = this.#inbox(toSecretKey(seed));
    const received = messages.filter(({ state }) => ["received", "unverified", "unreadable"].includes(state));
    await Promise.race([sleep(FORGET_MS), Promise.allSettled(received.map(({ id }) => inbox.delete(id)))]);
  }

  async #openCopy(file: File): Promise<void> {
    const copy = await readCopy(file, this.#author.address);
    if (copy === null) return this.say("badCopy");
    const current = await this.store.conversation();
    if (current && base64.encode(current.seed) !== base64.encode(copy.seed)) {
      if (!confirm(this.word("replaceConfirm"))) return;
      this.#following?.end.abort();
      await this.store.forget();
    }
    await this.store.start(copy.seed, copy.created ?? undefined);
    this.say(null);
    await this.#changed();
  }

  async #started(): Promise<Conversation> {
    return this.store.start(newSeed());
  }

  async #saveDraft(): Promise<void> {
    const { text, name } = this.fields;
    const conversation = text.value === "" ? await this.store.conversation() : await this.#started();
    if (conversation) await this.store.update({ draft: text.value, name: name.value });
    this.#offerForget(conversation !== undefined);
  }

  /** Shows what is stored, here and in other tabs. */
  async #changed(): Promise<void> {
    this.#tabs.postMessage(null);
    await this.#update();
  }

  /** Each update reads after the one before has ended, so that no earlier state is shown last. */
  #update(): Promise<void> {
    const update = this.#updated.then(() => this.#showNow());
    this.#updated = update.catch(() => {});
    return update;
  }

  async #showNow(): Promise<void> {
    const conversation = await this.store.conversation();
    this.#offerForget(conversation !== undefined);
    this.#list(conversation ? await this.store.messages() : []);
    if (conversation) this.attempt(this.#follow(conversation));
    else this.#following?.end.abort();
  }

  #list(messages: readonly GuestMessage[]): void {
    const list = this.host.querySelector(".twtxt-conversation") as HTMLElement;
    const lang = this.host.lang || document.documentElement.lang || "en";
    const context = {
      words: this.words,
      author: this.#author.address,
      lang,
      retry: (id: string) => this.attempt(this.#deliver(id)),
    };
    list.replaceChildren(...messages.map((message) => messageItem(message, context)));
    (list.parentElement as HTMLElement).hidden = messages.length === 0;
  }

  #offerForget(isOffered: boolean): void {
    for (const name of ["forget", "save"]) this.button(name).hidden = !isOffered;
  }

  #inbox(key: SecretKey): InboxClient {
    const { guests = "" } = this.host.dataset;
    const publicKey = encodeKey(key.publicKey);
    return openInbox(new URL(guests + publicKey, document.baseURI).href, { publicKey, sign: key.sign });
  }
}
