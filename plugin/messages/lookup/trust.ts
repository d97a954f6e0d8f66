// plugin/messages/lookup/trust.ts: decides whether a message is from the claimed sender.
import { TwtxtError } from "../../errors.js";
import { readDomain } from "../../keys/address.js";
import { readGuestKey } from "../../keys/guest.js";
import type { Contact } from "./contacts.js";
import type { Found } from "./lookup.js";

export type Trust =
  /**
   * Signed with the key of its address, which is the pinned or first one. `byDns`: the key was found through DNS, now or
   * when it was pinned.
   */
  | { trust: "verified"; byDns: boolean }
  /** `reason` is half a sentence for people. */
  | { trust: "unverified"; reason: string }
  /** Signed with the pinned or the published key, which differ. Both are `kex1...`. */
  | { trust: "key-changed"; pinned: string; now: string }
  /** Signed with a key that was pinned until `until`, and received before: `YYYY-MM-DDThh:mm:ssZ`. */
  | { trust: "former-key"; until: string };

export interface Evidence {
  /** The signing key, `kex1...`. */
  signer: string;
  /** When the inbox received the message, `YYYY-MM-DDThh:mm:ss.sssZ`. */
  received: string;
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
export function judge({ signer, received, claimed, found, contact }: Evidence): Trust {
  if (claimed === null || found === null) return unverified("it does not name one sender's address");
  const guestKey = readGuestKey(claimed);
  if (guestKey !== null && guestKey !== signer)
    return unverified("forged: not signed with the key that is its address");
  const isForged = found instanceof TwtxtError && found.code === "not-authentic";
  if (isForged) return unverified("the document of this guest is forged: it has another key");
  if (found instanceof Error) return unverified(`${missing(claimed, found)}; ${pinned(signer, contact)}`);

  const isPublished = signer === found.key;
  const isPinned = signer === contact?.key;
  if (!isPublished && !isPinned) return withOtherKey({ signer, received }, claimed, contact);
  if (contact === null || (isPublished && isPinned)) {
    return { trust: "verified", byDns: found.byDns || contact?.byDns === true };
  }
  return { trust: "key-changed", pinned: contact.key, now: found.key };
}

function withOtherKey(
  { signer, received }: Pick<Evidence, "signer" | "received">,
  claimed: string,
  contact: Contact | null,
): Trust {
  const until = contact?.former?.findLast(({ key }) => key === signer)?.until;
  if (until === undefined) return unverified(`signed with a key that is not that of ${claimed}`);
  // Only the inbox knows when a message came. The time in its text is a claim.
  if (received.slice(0, 19) <= until.slice(0, 19)) return { trust: "former-key", until };
  return unverified(`signed with the key that ${claimed} had until ${until.slice(0, 10)}, and received after it`);
}

function unverified(reason: string): Trust {
  return { trust: "unverified", reason };
}

function missing(address: string, error: Error): string {
  const domain = readDomain(address);
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
