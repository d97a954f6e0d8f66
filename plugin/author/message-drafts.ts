// plugin/author/message-drafts.ts: drafts of messages, which survive a crash. They are sealed to the author's own key before they are stored.
import { sha256 } from "@noble/hashes/sha2.js";
import { hex } from "@scure/base";
import * as v from "valibot";
import type { Clock } from "../clock.js";
import { TwtxtError } from "../errors.js";
import { type OwnKeys, openWith, seal } from "../messages/sealing.js";
import { parseJson } from "../store/json.js";
import type { Store } from "../store/store.js";

const PREFIX = "drafts/";

const DRAFT = v.object({
  address: v.string(),
  text: v.string(),
  /** When it was saved, as an ISO date. */
  saved: v.string(),
});

/** What the author has typed to a correspondent and not sent. */
export type MessageDraft = v.InferOutput<typeof DRAFT>;

/** One draft for each correspondent, in the author's data folder. All methods throw TwtxtError `store-failed`. */
export class MessageDrafts {
  readonly #store: Store;
  readonly #keys: OwnKeys;
  readonly #now: Clock;

  constructor({ store, keys, now }: { store: Store; keys: OwnKeys; now: Clock }) {
    this.#store = store;
    this.#keys = keys;
    this.#now = now;
  }

  /** Replaces the draft; an empty text deletes it. */
  async save(address: string, text: string): Promise<MessageDraft> {
    const draft: MessageDraft = { address, text, saved: new Date(this.#now()).toISOString() };
    if (text === "") await this.delete(address);
    else {
      const [sender] = this.#keys;
      const plaintext = new TextEncoder().encode(JSON.stringify(draft));
      await this.#store.put(keyOf(address), seal(plaintext, { sender, recipients: [sender.publicKey] }));
    }
    return draft;
  }

  /** @returns `null` for none, or one that no key on this machine opens */
  with(address: string): Promise<MessageDraft | null> {
    return this.#open(keyOf(address));
  }

  /** The newest first. */
  async list(): Promise<MessageDraft[]> {
    const drafts = await Promise.all((await this.#store.keys(PREFIX)).map((key) => this.#open(key)));
    return drafts.filter((draft) => draft !== null).sort((a, b) => (a.saved < b.saved ? 1 : -1));
  }

  async delete(address: string): Promise<void> {
    await this.#store.delete(keyOf(address));
  }

  async #open(key: string): Promise<MessageDraft | null> {
    const stored = await this.#store.get(key);
    if (!stored) return null;
    try {
      return parseJson(key, openWith(stored.bytes, this.#keys).plaintext, DRAFT);
    } catch (error) {
      if (error instanceof TwtxtError) return null;
      throw error;
    }
  }
}

/** Hashes the address, since it is not a valid key of a store. */
function keyOf(address: string): string {
  return PREFIX + hex.encode(sha256(new TextEncoder().encode(address)));
}
