// plugin/messages/lookup/contacts.ts: contacts with pinned keys.
import * as v from "valibot";
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import { formatTimestamp } from "../../feed/timestamp.js";
import { addressHash } from "../../keys/address.js";
import { Collection } from "../../store/collection.js";
import type { Store } from "../../store/store.js";
import type { Found } from "./lookup.js";

const ContactRecord = v.object({
  address: v.string(),
  key: v.string(),
  endpoint: v.string(),
  since: v.string(),
  byDns: v.boolean(),
  former: v.optional(v.array(v.object({ key: v.string(), until: v.string() }))),
});

/**
 * A contact: `since` is when its key was pinned, `YYYY-MM-DDThh:mm:ssZ`; `former` are earlier keys and their end dates; the
 * rest as in {@link Found}.
 */
export type Contact = v.InferOutput<typeof ContactRecord>;

/** The author's contacts, by their addresses. @see PROTOCOL 3.2, "Trust" */
export class Contacts extends Collection<Contact> {
  constructor(
    store: Store,
    private readonly now: Clock,
  ) {
    super(store, "contacts/", ContactRecord, addressHash);
  }

  /** Sorted by address. */
  override async list(): Promise<Contact[]> {
    return (await super.list()).sort((a, b) => (a.address < b.address ? -1 : 1));
  }

  /**
   * Pins a key on first use. A different pinned key stays; for the same key, the inbox is updated.
   *
   * @returns the pinned contact, possibly from another process
   */
  pin(found: Found): Promise<Contact> {
    return this.#change(found, (old) => (old === null ? this.#toContact(found) : withInbox(old, found)));
  }

  /**
   * Replaces the pinned key at the author's request.
   *
   * @throws TwtxtError `key-changed` for a new key that was found only through DNS
   */
  accept(found: Found): Promise<Contact> {
    return this.#change(found, (old) => {
      if (old?.key === found.key) return withInbox(old, found);
      if (old === null) return this.#toContact(found);
      if (!found.byDns) {
        const former = { key: old.key, until: formatTimestamp(this.now()) };
        return { ...this.#toContact(found), former: [...(old.former ?? []), former] };
      }
      throw new TwtxtError(
        "key-changed",
        `The new key of ${found.address} was found only through DNS, which must not replace a pinned key. Delete the contact first.`,
      );
    });
  }

  async #change(found: Found, decide: (old: Contact | null) => Contact | null): Promise<Contact> {
    return (await this.update(found.address, decide)) ?? this.#toContact(found);
  }

  #toContact({ address, key, endpoint, byDns }: Found): Contact {
    return { address, key, endpoint, byDns, since: formatTimestamp(this.now()) };
  }
}

/** @returns `null` if nothing changes, or only DNS says so */
function withInbox(old: Contact, { key, endpoint, byDns }: Found): Contact | null {
  const isKnown = old.endpoint === endpoint && old.byDns === byDns;
  return key !== old.key || isKnown || (byDns && !old.byDns) ? null : { ...old, endpoint, byDns };
}
