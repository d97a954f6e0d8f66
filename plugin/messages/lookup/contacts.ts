// plugin/messages/lookup/contacts.ts: the keys of others that are pinned on this machine.
import { sha256 } from "@noble/hashes/sha2.js";
import { hex } from "@scure/base";
import * as v from "valibot";
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

/** All functions throw TwtxtError `store-failed`. */
export interface Contacts {
  /** All, by address. */
  list(): Promise<Contact[]>;
  /** @returns `null` where no key is pinned */
  get(address: string): Promise<Contact | null>;
  /**
   * Pins a key on first use. A pinned key stays; where it is the same one, its inbox is noted anew.
   *
   * @returns what is pinned now, perhaps by somebody who was faster
   */
  pin(found: Found): Promise<Contact>;
  /**
   * Pins a key in the place of another, since the author says so.
   *
   * @throws TwtxtError `key-changed` for another key than the pinned one that only DNS has led to
   */
  accept(found: Found): Promise<Contact>;
  /** @returns whether there was anything to forget */
  forget(address: string): Promise<boolean>;
}

/**
 * The contacts in a store of the author's own.
 *
 * @param now - milliseconds since 1970
 * @see PROTOCOL 3.2, "Trust"
 */
export function contactsOf(store: Store, now: () => number): Contacts {
  const contactOf = ({ address, key, endpoint, byDns }: Found): Contact => {
    return { address, key, endpoint, byDns, since: formatTimestamp(now()) };
  };
  const formerKeyOf = ({ key }: Contact) => ({ key, until: formatTimestamp(now()) });
  const change = async (found: Found, decide: (old: Contact | null) => Contact | null): Promise<Contact> => {
    return (await update(store, keyOf(found.address), ContactRecord, decide)) ?? contactOf(found);
  };
  const get = async (address: string) => (await readJson(store, keyOf(address), ContactRecord))?.value ?? null;

  return {
    get,

    async list() {
      const keys = await store.keys(`${FOLDER}/`);
      const stored = await Promise.all(keys.map((key) => readJson(store, key, ContactRecord)));
      const contacts = stored.flatMap((one) => one?.value ?? []);
      return contacts.sort((a, b) => (a.address < b.address ? -1 : 1));
    },

    pin(found) {
      return change(found, (old) => (old === null ? contactOf(found) : withInbox(old, found)));
    },

    accept(found) {
      return change(found, (old) => {
        if (old?.key === found.key) return withInbox(old, found);
        if (old === null) return contactOf(found);
        if (!found.byDns) return { ...contactOf(found), former: [...(old.former ?? []), formerKeyOf(old)] };
        throw new TwtxtError(
          "key-changed",
          `The new key of ${found.address} was found by DNS alone, which replaces no pinned key. Forget the contact first.`,
        );
      });
    },

    async forget(address) {
      const isThere = (await get(address)) !== null;
      await store.delete(keyOf(address));
      return isThere;
    },
  };
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
