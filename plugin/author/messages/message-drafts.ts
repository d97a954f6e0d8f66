// plugin/author/messages/message-drafts.ts: drafts of messages, which survive a crash. They are sealed to the author's own key before they are stored.
import { randomUUID } from "node:crypto";
import * as v from "valibot";
import type { Clock } from "../../clock.js";
import { valueOrNull } from "../../errors.js";
import { addressHash } from "../../keys/address.js";
import { type OwnKeys, openWith, seal } from "../../messages/sealing.js";
import { parseJson, updateValue } from "../../store/json.js";
import type { Store } from "../../store/store.js";
import { type DraftSave, mayReplace, toVersion } from "../draft-version.js";

const PREFIX = "drafts/";

const DRAFT = v.object({
  address: v.string(),
  /** Empty for a draft that was sent or deleted. */
  text: v.string(),
  /** When it was saved, as an ISO date. */
  saved: v.string(),
  page: v.string(),
  edit: v.number(),
});

export type MessageDraft = v.InferOutput<typeof DRAFT>;

/** One draft for each correspondent, in the author's data folder. All methods throw TwtxtError `store-failed`. */
export class MessageDrafts {
  constructor(
    private readonly store: Store,
    private readonly keys: OwnKeys,
    private readonly now: Clock,
  ) {}

  /**
   * Replaces the draft; an empty text deletes it. If another page has saved it meanwhile, the draft gets both texts.
   *
   * @returns `added`: the text of the other page, which now comes before that of this page; usually empty
   */
  async save(address: string, text: string, save: DraftSave): Promise<{ draft: MessageDraft; added: string }> {
    const { page, edit } = save;
    const draft: MessageDraft = { address, text, saved: new Date(this.now()).toISOString(), page, edit };
    // No page has seen both texts: each one must load them before it can replace them.
    const both = randomUUID();
    const stored = await this.#update(address, (old) => {
      if (old === null) return text === "" ? null : draft;
      if (mayReplace(old, save)) return draft;
      if (old.page === page) return null;
      if (old.text === "" || old.text === text) return draft;
      return { ...draft, text: text === "" ? old.text : `${old.text}\n\n${text}`, page: both, edit: 0 };
    });
    const added = stored?.page === both ? stored.text.slice(0, stored.text.length - text.length) : "";
    return { draft: stored ?? draft, added };
  }

  /** @returns `null` for none, or one that no key on this machine opens */
  with(address: string): Promise<MessageDraft | null> {
    return this.#read(toKey(address));
  }

  /** The newest first. */
  async list(): Promise<MessageDraft[]> {
    const drafts = await Promise.all((await this.store.keys(PREFIX)).map((key) => this.#read(key)));
    return drafts.filter((draft) => draft !== null).sort((a, b) => (a.saved < b.saved ? 1 : -1));
  }

  /** Deletes this version of a draft: what was saved later stays. */
  async delete(draft: MessageDraft): Promise<void> {
    const isSame = (old: MessageDraft | null) => old !== null && toVersion(old) === toVersion(draft);
    await this.#update(draft.address, (old) => (isSame(old) ? { ...draft, text: "" } : null));
  }

  /** Writes an empty draft instead of deleting one, because deletions of a store have no condition. */
  #update(address: string, change: (old: MessageDraft | null) => MessageDraft | null): Promise<MessageDraft | null> {
    const key = toKey(address);
    const [sender] = this.keys;
    const encode = (draft: MessageDraft) =>
      seal(new TextEncoder().encode(JSON.stringify(draft)), { sender, recipients: [sender.publicKey] });
    return updateValue(this.store, key, { decode: (bytes) => this.#open(key, bytes), encode }, change);
  }

  async #read(key: string): Promise<MessageDraft | null> {
    const stored = await this.store.get(key);
    const draft = stored && this.#open(key, stored.bytes);
    return draft?.text ? draft : null;
  }

  #open(key: string, bytes: Uint8Array): MessageDraft | null {
    return valueOrNull(() => parseJson(key, openWith(bytes, this.keys).plaintext, DRAFT));
  }
}

function toKey(address: string): string {
  return PREFIX + addressHash(address);
}
