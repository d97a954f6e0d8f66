// plugin/messages/lookup/recipients.ts: from the addresses that a message is for to keys and inboxes.
import { TwtxtError, type TwtxtErrorCode } from "../../errors.js";
import { parseAddress } from "../../keys/address.js";
import type { Contact, Contacts } from "./contacts.js";
import type { Found, Lookup } from "./lookup.js";

/** What a recipient was found to have. */
export interface Resolved {
  /** `user@domain`, in lower case. */
  address: string;
  endpoint: string;
  /** `kex1...` */
  key: string;
  /** Whether DNS has led to the key, now or when it was pinned. */
  byDns: boolean;
  /** What was found anew; `null` where its host did not answer, and a pinned contact serves. */
  found: Found | null;
}

export interface ResolveOptions {
  lookup: Lookup;
  contacts: Contacts;
}

/** A message is sealed to 64 keys at the most, and one is the sender's own. */
const MAX_RECIPIENTS = 63;
/** What a sender must look at first stands first. */
const FAULTS: readonly TwtxtErrorCode[] = ["key-changed", "bad-address", "no-such-address", "unreachable"];

/**
 * Looks all recipients up, each once.
 *
 * @param addresses - in any case
 * @throws TwtxtError `key-changed` where a key is not the pinned one, `bad-address`, `no-such-address`, and `unreachable`
 *   where nothing is pinned either, with a line on each that is in trouble; `bad-usage` for nobody and for more than 63
 */
export async function resolveAll(addresses: readonly string[], options: ResolveOptions): Promise<Resolved[]> {
  const distinct = new Set(addresses.map((address) => parseAddress(address) ?? address));
  if (distinct.size < 1 || distinct.size > MAX_RECIPIENTS) {
    throw new TwtxtError("bad-usage", `A message goes to 1 to ${MAX_RECIPIENTS} people, not to ${distinct.size}.`);
  }
  const results = await Promise.allSettled([...distinct].map((address) => resolve(address, options)));
  const faults = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  const strange = faults.find((fault) => !(fault instanceof TwtxtError && FAULTS.includes(fault.code)));
  if (strange) throw strange;
  const code = FAULTS.find((one) => faults.some((fault) => fault.code === one));
  if (code) throw new TwtxtError(code, faults.map(({ message }) => message).join("\n"));
  return results.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
}

async function resolve(address: string, { lookup, contacts }: ResolveOptions): Promise<Resolved> {
  // What is no address is no contact either; the lookup says so.
  const contact = await contacts.get(address);
  let found: Found;
  try {
    found = await lookup(address);
  } catch (error) {
    const isDown = error instanceof TwtxtError && error.code === "unreachable";
    if (!contact || !isDown) throw error;
    const { key, endpoint, byDns } = contact;
    return { address: contact.address, endpoint, key, byDns, found: null };
  }
  if (contact && contact.key !== found.key) throw keyChanged(contact, found);
  return { address: found.address, endpoint: found.endpoint, key: found.key, byDns: found.byDns, found };
}

function keyChanged({ address, since }: Contact, { byDns }: Found): TwtxtError {
  const other = byDns ? "DNS leads to a key of" : "There is a new key of";
  return new TwtxtError(
    "key-changed",
    `${other} ${address} that is not the one pinned on ${since.slice(0, 10)}. Ask them by another way whether it is theirs; if so, \`contacts accept ${address}\` takes it.`,
  );
}
