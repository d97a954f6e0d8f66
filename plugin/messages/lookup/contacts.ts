// plugin/messages/lookup/contacts.ts: the keys of others that are pinned on this machine.
import { sha256 } from "@noble/hashes/sha2.js";
import { hex } from "@scure/base";
import * as v from "valibot";
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import { formatTimestamp } from "../../feed/timestamp.js";
import { readJson, update } from "../../store/json.js";
import type { Store } from "../../store/store.js";
import type { Found } from "./lookup.js";

const FOLDER = "contacts";

const ContactRecord = v.object({
  address: v.string(),
  key: v.string(),
  endpoint: v.string(),
  since: v.string(),
  byDns: v.boolean(),
  former: v.optional(v.array(v.object({ key: v.string(), until: v.string() }))),
});

/**
 * Somebody whose key is pinned: `since` is when it was, `YYYY-MM-DDThh:mm:ssZ`; `former` are the keys that were before, and
 * until when; the rest as in {@link Found}.
 */
export type Contact = v.InferOutput<typeof ContactRecord>;

/**
 * The contacts in a store of the author's own. All methods throw TwtxtError `store-failed`.
 *
 * @see PROTOCOL 3.2, "Trust"
 */
export class Contacts {
  readonly #store: Store;
  readonly #now: Clock;

  constructor(store: Store, now: Clock) {
    this.#store = store;
    this.#now = now;
  }

  /** @returns `null` if no key is pinned */
  async get(address: string): Promise<Contact | null> {
    return (await readJson(this.#store, keyOf(address), ContactRecord))?.value ?? null;
  }

  /** All, by address. */
  async list(): Promise<Contact[]> {
    const keys = await this.#store.keys(`${FOLDER}/`);
    const stored = await Promise.all(keys.map((key) => readJson(this.#store, key, ContactRecord)));
    const contacts = stored.flatMap((one) => one?.value ?? []);
    return contacts.sort((a, b) => (a.address < b.address ? -1 : 1));
  }

  /**
   * Pins a key on first use. A pinned key stays; if it is the same one, its inbox is updated.
   *
   * @returns what is pinned now, perhaps by another process that was faster
   */
  pin(found: Found): Promise<Contact> {
    return this.#change(found, (old) => (old === null ? this.#contactOf(found) : withInbox(old, found)));
  }

  /**
   * Replaces the pinned key, because the author says so.
   *
   * @throws TwtxtError `key-changed` for another key than the pinned one that only DNS has led to
   */
  accept(found: Found): Promise<Contact> {
    return this.#change(found, (old) => {
      if (old?.key === found.key) return withInbox(old, found);
      if (old === null) return this.#contactOf(found);
      if (!found.byDns) {
        const former = { key: old.key, until: formatTimestamp(this.#now()) };
        return { ...this.#contactOf(found), former: [...(old.former ?? []), former] };
      }
      throw new TwtxtError(
        "key-changed",
        `The new key of ${found.address} was found by DNS alone, which replaces no pinned key. Forget the contact first.`,
      );
    });
  }

  /** @returns whether there was anything to forget */
  async forget(address: string): Promise<boolean> {
    const isThere = (await this.get(address)) !== null;
    await this.#store.delete(keyOf(address));
    return isThere;
  }

  async #change(found: Found, decide: (old: Contact | null) => Contact | null): Promise<Contact> {
    const changed = await update(this.#store, keyOf(found.address), ContactRecord, decide);
    return changed ?? this.#contactOf(found);
  }

  #contactOf({ address, key, endpoint, byDns }: Found): Contact {
    return { address, key, endpoint, byDns, since: formatTimestamp(this.#now()) };
  }
}

/** @returns `null` where nothing is new, or nothing that DNS alone may say */
function withInbox(old: Contact, { key, endpoint, byDns }: Found): Contact | null {
  const isKnown = old.endpoint === endpoint && old.byDns === byDns;
  return key !== old.key || isKnown || (byDns && !old.byDns) ? null : { ...old, endpoint, byDns };
}

/** No address is a key of a store. */
function keyOf(address: string): string {
  return `${FOLDER}/${hex.encode(sha256(new TextEncoder().encode(address)))}`;
}
