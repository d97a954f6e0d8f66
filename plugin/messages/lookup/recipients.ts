// plugin/messages/lookup/recipients.ts: resolves recipients to keys and inboxes.
import { mapInParallel } from "../../concurrency.js";
import { ifTwtxtError, TwtxtError, type TwtxtErrorCode } from "../../errors.js";
import { parseAddress } from "../../keys/address.js";
import type { Contact, Contacts } from "./contacts.js";
import type { Found, Lookup } from "./lookup.js";

/** A recipient to seal for. `byDns`: whether the key was found through DNS, now or when it was pinned. */
export interface ResolvedRecipient extends Pick<Found, "address" | "endpoint" | "key" | "byDns"> {
  /** The lookup's result; `null` if the host did not answer and a pinned contact is used. */
  found: Found | null;
}

export interface ResolveOptions {
  lookup: Lookup;
  contacts: Contacts;
}

/** A message is sealed to at most 64 keys, one of them the sender's. */
const MAX_RECIPIENTS = 63;
const CONCURRENCY = 8;
/** The most important first. */
const FAULTS: readonly TwtxtErrorCode[] = [
  "not-authentic",
  "key-changed",
  "bad-address",
  "no-such-address",
  "unreachable",
];

/**
 * Looks up all recipients, each once.
 *
 * @param addresses - in any case
 * @throws TwtxtError `not-authentic` for a forged document of a guest, `key-changed` if a key differs from the pinned one, `bad-address`, `no-such-address`, `unreachable`
 *   without a pinned key, with a line for each failing recipient; `bad-usage` for none or more than 63
 */
export async function resolveRecipients(
  addresses: readonly string[],
  options: ResolveOptions,
): Promise<ResolvedRecipient[]> {
  const distinct = new Set(addresses.map((address) => parseAddress(address) ?? address));
  if (distinct.size < 1 || distinct.size > MAX_RECIPIENTS) {
    throw new TwtxtError("bad-usage", `A message must have 1 to ${MAX_RECIPIENTS} recipients, not ${distinct.size}.`);
  }
  const results = await mapInParallel([...distinct], CONCURRENCY, (address) =>
    resolve(address, options).catch(ifTwtxtError((fault) => fault, ...FAULTS)),
  );
  const faults = results.filter((result) => result instanceof TwtxtError);
  const code = FAULTS.find((one) => faults.some((fault) => fault.code === one));
  if (code) throw new TwtxtError(code, faults.map(({ message }) => message).join("\n"));
  return results.flatMap((result) => (result instanceof TwtxtError ? [] : [result]));
}

async function resolve(address: string, { lookup, contacts }: ResolveOptions): Promise<ResolvedRecipient> {
  // An invalid address has no contact; the lookup rejects it.
  const contact = await contacts.get(address);
  const asking = lookup(address);
  const found = await (contact ? asking.catch(ifTwtxtError(() => null, "unreachable")) : asking);
  if (contact && found && contact.key !== found.key) throw keyChanged(contact, found);
  const { address: known, endpoint, key, byDns } = (found ?? contact) as Found | Contact;
  return { address: known, endpoint, key, byDns, found };
}

function keyChanged({ address, since }: Contact, { byDns }: Found): TwtxtError {
  const other = byDns ? "DNS names a key of" : "There is a new key of";
  return new TwtxtError(
    "key-changed",
    `${other} ${address} that is not the one pinned on ${since.slice(0, 10)}. Ask them through another channel whether it is theirs. If so, accept it: npx eleventy-twtxt contacts accept ${address}`,
  );
}
