// plugin/cli/message/read-messages.ts: messages of the inbox, opened, with what may be said of their senders.

import { receiptsOf } from "../../messages/line.js";
import type { SenderLookup } from "../../messages/lookup/sender-lookup.js";
import type { InboxMessage } from "../../messages/read/inbox-answer.js";
import {
  type OpenedMessage,
  openMessages,
  type Receipt,
  receiptsAmong,
  type UnreadableMessage,
} from "../../messages/read/read.js";
import type { Mailbox } from "./mailbox.js";

/** A message that has opened, and which of the author's own it says were read. */
export type ReadMessage = OpenedMessage & { receipts: Receipt[] };

/** @param lookup - by which senders are looked up */
export async function readMessages(
  messages: readonly InboxMessage[],
  mailbox: Mailbox,
  lookup: SenderLookup,
): Promise<(ReadMessage | UnreadableMessage)[]> {
  const { keys, contacts } = mailbox;
  return withReceipts(await Promise.all(await openMessages(messages, { keys, contacts, lookup })), mailbox);
}

/** Adds which of the author's own messages these say were read. */
export async function withReceipts(
  all: readonly (OpenedMessage | UnreadableMessage)[],
  { keys, outbox }: Pick<Mailbox, "keys" | "outbox">,
): Promise<(ReadMessage | UnreadableMessage)[]> {
  const opened = all.filter((one) => isOpened(one));
  const hasReceipts = opened.some(({ message, trust }) => {
    return trust.trust === "verified" && receiptsOf(message).length > 0;
  });
  const receipts = hasReceipts ? receiptsAmong(opened, await outbox().sent(), keys) : [];
  return all.map((one) => (isOpened(one) ? { ...one, receipts: receipts.filter(({ id }) => id === one.id) } : one));
}

export function isOpened<T extends OpenedMessage>(one: T | UnreadableMessage): one is T {
  return !("unreadable" in one);
}
