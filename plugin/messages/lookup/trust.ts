// plugin/messages/lookup/trust.ts: whether a message is from whom it says.
import { TwtxtError } from "../../errors.js";
import type { Contact } from "./contacts.js";
import type { Found } from "./lookup.js";

/** What may be said of a sender. */
export type Trust =
  /**
   * Signed with the key of its address, which is the pinned one or the first one seen. `byDns`: DNS has led to it, now or
   * when it was pinned.
   */
  | { trust: "verified"; byDns: boolean }
  /** `reason` is half a sentence for people. */
  | { trust: "unverified"; reason: string }
  /** Signed with the pinned key or the published one, which are two. Both are `kex1...`. */
  | { trust: "key-changed"; pinned: string; now: string };

/** All that is known of a sender. */
export interface Evidence {
  /** The key that has signed, `kex1...`. */
  signer: string;
  /** The address that the message claims; `null` where it claims none, or more than one. */
  claimed: string | null;
  /** What looking up the address has found, or failed with; `null` where none is claimed. */
  found: Found | Error | null;
  /** What is pinned for the address. */
  contact: Contact | null;
}

/**
 * Judges who has written a message.
 *
 * The signature proves a key, and the address is a claim. Only where the address's document has that very key, and no other
 * one is pinned, the claim is true.
 *
 * @see PROTOCOL 3.2, "Trust"
 */
export function judge({ signer, claimed, found, contact }: Evidence): Trust {
  if (claimed === null || found === null) return unverified("it does not say from which one address it is");
  if (found instanceof Error) return unverified(`${missing(claimed, found)}; ${pinned(signer, contact)}`);

  const isPublished = signer === found.key;
  const isPinned = signer === contact?.key;
  if (!isPublished && !isPinned) return unverified(otherKey(signer, claimed, contact));
  if (contact === null || (isPublished && isPinned)) {
    return { trust: "verified", byDns: found.byDns || contact?.byDns === true };
  }
  return { trust: "key-changed", pinned: contact.key, now: found.key };
}

function otherKey(signer: string, claimed: string, contact: Contact | null): string {
  const former = contact?.former?.find(({ key }) => key === signer);
  if (former) return `signed with the key that you knew of ${claimed} until ${former.until.slice(0, 10)}`;
  return `signed by another key than that of ${claimed}`;
}

function unverified(reason: string): Trust {
  return { trust: "unverified", reason };
}

function missing(address: string, error: Error): string {
  const domain = address.slice(address.indexOf("@") + 1);
  const code = error instanceof TwtxtError ? error.code : null;
  if (code === "not-looked-up") return "not looked up this time, too many did not answer";
  if (code === "address-refused") {
    const host = /:\d+$/.test(domain) ? domain : `${domain}:443`;
    return `${domain} was not asked, since its address is not a public one (to ask it: --allow-private-host ${host})`;
  }
  return code === "no-such-address" ? `${domain} knows no ${address}` : `${domain} did not answer`;
}

function pinned(signer: string, contact: Contact | null): string {
  if (contact === null) return "no key is pinned";
  const day = contact.since.slice(0, 10);
  return signer === contact.key ? `it is the key pinned on ${day}` : `it is not the key pinned on ${day}`;
}
