// plugin/client/messages/message-items.tsx: received, sent and undelivered messages as items of a list.

import type { FC, PropsWithChildren } from "hono/jsx";
import { type InboxEntry, isOpened } from "../../author/messages/mailbox.js";
import {
  describeReason,
  describeState,
  isFromGuest,
  isWithKnownKey,
  type OpenedCopy,
  ownText,
  readText,
  readTime,
  shownSender,
  shownText,
} from "../../author/messages/message-facts.js";
import { isReceipt } from "../../messages/plaintext.js";
import type { OwnKeys } from "../../messages/sealing.js";
import type { OutboxEntry } from "../../messages/send/outbox-entry.js";
import { Sentence, Time } from "../page-texts.js";
import { MessageText } from "../strangers-text.js";
import { TextWithFiles } from "./attachment-list.js";
import { MESSAGES, OUTBOX } from "./message-requests.js";
import { deliveryState } from "./outbox-pages.js";

/** A message that was delivered to someone, or waits in the outbox. `children` describe its delivery. */
export const SentItem: FC<PropsWithChildren<{ copy: Pick<OpenedCopy, "id" | "created" | "text"> }>> = ({
  copy,
  children,
}) => (
  <li class="own" id={`m-${copy.id}`} data-item tabindex={-1}>
    <p class="by">
      You <Time at={copy.created} />
    </p>
    <TextWithFiles id={copy.id} text={shownText(copy)} hasPictures />
    {children}
  </li>
);

/** A message in the outbox that an address has not received. */
export const UndeliveredItem: FC<{ entry: OutboxEntry; address: string; keys: OwnKeys }> = ({
  entry,
  address,
  keys,
}) => (
  <SentItem copy={{ ...entry, text: ownText(entry.sealed, keys) }}>
    {entry.recipients
      .filter((recipient) => recipient.address === address)
      .map((recipient) => (
        <p class="reason">
          {recipient.state === "failed" ? "Not delivered" : "Not delivered yet"}: {deliveryState(recipient)}.{" "}
          <a href={OUTBOX}>Retry or discard it in the outbox</a>
        </p>
      ))}
  </SentItem>
);

/** @param withSender - for lists of messages by several senders */
export const ReceivedItem: FC<{ entry: InboxEntry; withSender?: boolean }> = ({ entry, withSender = false }) => (
  <li id={`m-${entry.id}`} data-item tabindex={-1}>
    <p class="by">
      <bdi>{shownSender(entry)}</bdi>
      {withSender && <span class="state">{describeState(entry)} </span>}
      <Time at={readTime(entry)} />
    </p>
    <Reason text={doubtAbout(entry)} />
    <Content entry={entry} withSender={withSender} />
    <div class="actions">
      <a class="button quiet" data-key="d" href={`${MESSAGES}/delete?id=${entry.id}`}>
        Delete
      </a>
    </div>
  </li>
);

/** Only files of verified senders are offered. */
const Content: FC<{ entry: InboxEntry; withSender: boolean }> = ({ entry, withSender }) => {
  if (!isOpened(entry)) return null;
  if (isReceipt(entry.message)) {
    const isKnown = entry.receipts.length > 0;
    const text = isKnown ? "Has read your message." : "A read receipt for a message that is not among your copies.";
    return <p class="muted">{text}</p>;
  }
  const text = readText(entry);
  return withSender || entry.trust.trust !== "verified" ? (
    <MessageText text={text} />
  ) : (
    <TextWithFiles id={entry.id} text={text} hasPictures={!isFromGuest(entry)} />
  );
};

/** Why it is not certain who wrote a message, or why it is unreadable; `null` if all is well. */
export function doubtAbout(entry: InboxEntry): string | null {
  if (!isOpened(entry)) return entry.unreadable;
  const { address } = entry.message;
  if (isWithKnownKey(entry) || entry.trust.trust !== "key-changed") return sentence(describeReason(entry));
  return `${address} has a new key, or someone else is using this address.`;
}

function sentence(clause: string | null): string | null {
  return clause && `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;
}

const Reason: FC<{ text: string | null }> = ({ text }) =>
  text !== null && (
    <p class="reason">
      <Sentence text={text} />
    </p>
  );
