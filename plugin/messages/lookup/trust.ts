// plugin/messages/lookup/trust.ts: decides whether a message is from the claimed sender.
import { TwtxtError } from "../../errors.js";
import { guestKeyOf } from "../../keys/guest.js";
import type { Contact } from "./contacts.js";
import type { Found } from "./lookup.js";

/** The verdict on a sender. */
export type Trust =
  /**
   * Signed with the key of its address, which is the pinned or first one. `byDns`: the key was found through DNS, now or
   * when it was pinned.
   */
  | { trust: "verified"; byDns: boolean }
  /** `reason` is half a sentence for people. */
  | { trust: "unverified"; reason: string }
  /** Signed with the pinned or the published key, which differ. Both are `kex1...`. */
  | { trust: "key-changed"; pinned: string; now: string };

export interface Evidence {
  /** The signing key, `kex1...`. */
  signer: string;
  /** The claimed address; `null` for none or several. */
  claimed: string | null;
  /** The result or error of looking up the address; `null` if none is claimed. */
  found: Found | Error | null;
  /** The pinned contact of the address. */
  contact: Contact | null;
}

/**
 * Decides who wrote a message.
 *
 * The signature proves a key; the address is a claim. It is true only if the address's document has that key and no other
 * is pinned. The address of a guest is a key itself.
 *
 * @see PROTOCOL 3.2, "Trust", and 3.5
 */
export function judge({ signer, claimed, found, contact }: Evidence): Trust {
  if (claimed === null || found === null) return unverified("it does not name one sender's address");
  const guestKey = guestKeyOf(claimed);
  if (guestKey !== null && guestKey !== signer)
    return unverified("forged: not signed with the key that is its address");
  if (isForgery(found)) return unverified("the document of this guest is forged: it has another key");
  if (found instanceof Error) return unverified(`${missing(claimed, found)}; ${pinned(signer, contact)}`);

  const isPublished = signer === found.key;
  const isPinned = signer === contact?.key;
  if (!isPublished && !isPinned) return unverified(otherKey(signer, claimed, contact));
  if (contact === null || (isPublished && isPinned)) {
    return { trust: "verified", byDns: found.byDns || contact?.byDns === true };
  }
  return { trust: "key-changed", pinned: contact.key, now: found.key };
}

function isForgery(found: Found | Error): boolean {
  return found instanceof TwtxtError && found.code === "not-authentic";
}

function otherKey(signer: string, claimed: string, contact: Contact | null): string {
  const former = contact?.former?.find(({ key }) => key === signer);
  if (former) return `signed with the key that ${claimed} had until ${former.until.slice(0, 10)}`;
  return `signed with a key that is not that of ${claimed}`;
}

function unverified(reason: string): Trust {
  return { trust: "unverified", reason };
}

function missing(address: string, error: Error): string {
  const domain = address.slice(address.indexOf("@") + 1);
  const code = error instanceof TwtxtError ? error.code : null;
  if (code === "not-looked-up") return "not looked up this time, because too many hosts did not answer";
  if (code === "address-refused") {
    const host = /:\d+$/.test(domain) ? domain : `${domain}:443`;
    return `${domain} was not asked, because its address is not public (to ask it: --allow-private-host ${host})`;
  }
  return code === "no-such-address" ? `${domain} has no ${address}` : `${domain} did not answer`;
}

function pinned(signer: string, contact: Contact | null): string {
  if (contact === null) return "no key is pinned";
  const day = contact.since.slice(0, 10);
  return signer === contact.key ? `it is the key pinned on ${day}` : `it is not the key pinned on ${day}`;
}
