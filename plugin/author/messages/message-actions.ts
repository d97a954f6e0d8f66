// plugin/author/messages/message-actions.ts: what the author does about senders and undelivered messages.
import { TwtxtError } from "../../errors.js";
import type { Contact } from "../../messages/lookup/contacts.js";
import type { RecipientReport } from "../../messages/send/outbox.js";
import type { OutboxEntry } from "../../messages/send/outbox-entry.js";
import type { Outcome } from "../outcome.js";
import type { Mailbox } from "./mailbox.js";
import { shownAddress } from "./message-facts.js";

/** Blocks a sender. @throws TwtxtError as `Mailbox.block` */
export async function blockSender(address: string, mailbox: Mailbox, signer?: string): Promise<Outcome> {
  await mailbox.block(address, signer);
  return {
    text: `${shownAddress(address)} is blocked. New messages from this sender are deleted when they are opened.`,
    undo: () => unblockSender(address, mailbox),
  };
}

export async function unblockSender(address: string, { blocked }: Mailbox): Promise<Outcome> {
  const sender = shownAddress(address);
  if (!(await blocked.unblock(address))) return { text: `${sender} was not blocked.`, isFailure: true };
  return { text: `${sender} is no longer blocked. Deleted messages do not come back.` };
}

/**
 * Replaces the known key of an address with the published one.
 *
 * @param key - the only key to accept; `null` for any
 * @returns also the contact now and before, `null` if the address was not one
 * @throws TwtxtError `key-changed` for another key, or one that was found only through DNS
 */
export async function acceptKey(
  address: string,
  key: string | null,
  mailbox: Mailbox,
): Promise<Outcome & { contact: Contact; old: Contact | null }> {
  const { pinned, found } = await mailbox.compareKey(address);
  if (key !== null && key !== found.key) {
    const what = `${address} has published a different key, ${found.key}. Nothing was changed.`;
    throw new TwtxtError("key-changed", what);
  }
  const contact = await mailbox.contacts.accept(found);
  const done = pinned?.key === contact.key ? "already know" : "have accepted";
  return { contact, old: pinned, text: `You ${done} this key of ${address}.` };
}

export const NOTHING_TO_RETRY = "The outbox has nothing to retry.";

/** Deletes a message from the outbox, so it is no longer delivered. */
export async function discardMessage({ id, recipients }: OutboxEntry, mailbox: Mailbox): Promise<Outcome> {
  await mailbox.outbox().discard(id);
  const others = recipients.filter(({ state }) => state !== "delivered").map(({ address }) => shownAddress(address));
  return { text: `Discarded. Not delivered to ${others.join(", ")}.` };
}

/** Why a message is not delivered, a clause. */
export function describeDelay({ why }: Pick<RecipientReport, "why">): string {
  return why ?? "delivery is in progress";
}
