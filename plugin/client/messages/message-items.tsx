// plugin/client/messages/message-items.tsx: messages as items of a list, with their files and deliveries, and the outbox.
import type { FC, PropsWithChildren } from "hono/jsx";
import PQueue from "p-queue";
import { DATES } from "../../author/amounts.js";
import { receiveAttachment, splitAttachments } from "../../author/messages/attachments.js";
import { describeDelay, discardMessage, NOTHING_TO_RETRY } from "../../author/messages/mailbox.js";
import {
  describeReason,
  describeState,
  type InboxEntry,
  isFromGuest,
  isOpened,
  isWithKnownKey,
  type OpenedCopy,
  ownText,
  readText,
  readTime,
  shownAddress,
  shownSender,
  shownText,
} from "../../author/messages/message-facts.js";
import { TwtxtError } from "../../errors.js";
import { isReceipt } from "../../messages/plaintext.js";
import type { OwnKeys } from "../../messages/sealing.js";
import type { RecipientReport } from "../../messages/send/outbox.js";
import type { OutboxEntry, Recipient } from "../../messages/send/outbox-entry.js";
import { pictureToShow } from "../../pictures/picture-to-show.js";
import { type ClientRequest, downloadResponse, pictureResponse } from "../client-request.js";
import { ActionButton, LinkButton, Sentence, Time } from "../page-parts.js";
import { MessageText } from "../strangers-text.js";
import { conversationPath, MESSAGES, OUTBOX, type RoomParts } from "./message-requests.js";

/** A message that was delivered to someone, or waits in the outbox. `children` describe its delivery. */
export const SentItem: FC<PropsWithChildren<{ copy: Omit<OpenedCopy, "to"> }>> = ({ copy, children }) => (
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
export const ReceivedItem: FC<{ entry: InboxEntry; withSender?: boolean }> = ({ entry, withSender = false }) => {
  const doubt = doubtAbout(entry);
  return (
    <li id={`m-${entry.id}`} data-item tabindex={-1}>
      <p class="by">
        <bdi>{shownSender(entry)}</bdi>
        {withSender && <span class="state">{describeState(entry)} </span>}
        <Time at={readTime(entry)} />
      </p>
      {doubt !== null && (
        <p class="reason">
          <Sentence text={doubt} />
        </p>
      )}
      <Content entry={entry} withSender={withSender} />
      <div class="actions">
        <LinkButton isQuiet data-key="d" href={`${MESSAGES}/delete?id=${entry.id}`} label="Delete" />
      </div>
    </li>
  );
};

const UNKNOWN_RECEIPT = "A read receipt for a message that is not among your copies.";

/** Only files of verified senders are offered. */
const Content: FC<{ entry: InboxEntry; withSender: boolean }> = ({ entry, withSender }) => {
  if (!isOpened(entry)) return null;
  if (isReceipt(entry.message)) {
    return <p class="muted">{entry.receipts.length > 0 ? "Has read your message." : UNKNOWN_RECEIPT}</p>;
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
  if (!isWithKnownKey(entry) && entry.trust.trust === "key-changed")
    return `${entry.message.address} has a new key, or someone else is using this address.`;
  const reason = describeReason(entry);
  return reason && `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;
}

/** For the list of recipients, and for the message itself. */
function deliveryState({ state, why, next }: Recipient): string {
  if (state === "delivered") return "delivered";
  const reason = describeDelay({ why });
  if (state === "failed") return `${reason}; not retried automatically`;
  return next === null ? reason : `${reason}; next attempt after ${DATES.format(new Date(next))}`;
}

export function deliveryOutcome(reports: readonly RecipientReport[]): string {
  return reports.map(describeOutcome).join(" ");
}

function describeOutcome({ address, state, why }: RecipientReport): string {
  const recipient = shownAddress(address);
  const reason = describeDelay({ why });
  switch (state) {
    case "delivered":
      return `Delivered to ${recipient}.`;
    case "waiting":
      return `Not delivered yet to ${recipient}: ${reason}. It stays in the outbox, and is retried for up to three days.`;
    case "failed":
      return `Not delivered to ${recipient}: ${reason}. It stays in the outbox, but is not retried automatically: open the outbox to retry or discard it.`;
  }
}

const OutboxPage: FC<{ entries: readonly OutboxEntry[]; keys: OwnKeys }> = ({ entries, keys }) => (
  <>
    {entries.length === 0 ? (
      <p class="muted">Everything was delivered.</p>
    ) : (
      <ActionButton action="/messages/outbox/retry" label="Retry all now" />
    )}
    <ul class="items" id="outbox" data-live>
      {entries.map((entry) => (
        <li id={`m-${entry.id}`} data-item tabindex={-1}>
          <p class="by">
            <Time at={entry.created} />
          </p>
          <MessageText text={ownText(entry.sealed, keys) || "(read receipt)"} />
          <ul>
            {entry.recipients.map((recipient) => (
              <li>
                {shownAddress(recipient.address)}: {deliveryState(recipient)}
              </li>
            ))}
          </ul>
          <ActionButton action="/messages/outbox/discard" fields={{ id: entry.id }} class="quiet" label="Discard" />
        </li>
      ))}
    </ul>
  </>
);

export function addOutbox({ routes, open, notices }: RoomParts): void {
  routes.get("/outbox", async (c) => {
    const { mailbox } = await open();
    return c.render(<OutboxPage entries={await mailbox.outbox().list()} keys={mailbox.keys} />, { title: "Outbox" });
  });

  notices.addForm(routes, "/outbox/retry", OUTBOX, async () => {
    const reports = await (await open()).mailbox.outbox().retry({ all: true });
    return { text: reports.length === 0 ? NOTHING_TO_RETRY : deliveryOutcome(reports) };
  });
  notices.addForm(routes, "/outbox/discard", OUTBOX, async ({ id }) => {
    const { mailbox } = await open();
    const entry = (await mailbox.outbox().list()).find((one) => one.id === id);
    return entry ? discardMessage(entry, mailbox) : { text: "The message was no longer in the outbox." };
  });
}

/** Forms are parsed in memory. */
export const MAX_FILE_BYTES = 31 * 2 ** 20;
const PICTURE_NAME = /\.(?:png|jpe?g|gif|webp)(?: \(|$)/i;

/** @param hasPictures - whether pictures can be shown; guests are strangers */
export const TextWithFiles: FC<{ id: string; text: string; hasPictures: boolean }> = ({ id, text, hasPictures }) => {
  const { text: words, attachments } = splitAttachments(text);
  return (
    <>
      {words !== "" && <MessageText text={words} />}
      {attachments.length > 0 && (
        <ul class="attachments">
          {attachments.map(({ label }, number) => (
            <li>
              <span dir="auto">{label}</span>
              <LinkButton href={`${MESSAGES}/file/${id}/${number}`} label="Download" about={label} />
              {hasPictures && PICTURE_NAME.test(label) && (
                <LinkButton
                  href={`${MESSAGES}/file/${id}/${number}/picture`}
                  data-picture={label}
                  label="Show picture"
                />
              )}
            </li>
          ))}
        </ul>
      )}
    </>
  );
};

export function addAttachments({ routes, open, choice, machine, ending, notices }: RoomParts): void {
  // Opening needs the whole file in memory.
  const queue = new PQueue({ concurrency: 1 });

  const received = async (c: ClientRequest) => {
    const { address, text, signers } = await (await open()).written(c.req.param("id") ?? "");
    const attachment = splitAttachments(text).attachments[Number(c.req.param("number"))];
    if (!attachment) throw new TwtxtError("not-found", "The message has no such file.");
    const signal = AbortSignal.any([c.req.raw.signal, ending]);
    const receive = () =>
      queue.add(() => receiveAttachment(attachment, signers, { choice, machine, signal }), { signal });
    return { address, receive };
  };

  routes.get("/file/:id/:number", async (c) => {
    const { address, receive } = await received(c);
    return notices.orRedirect(c, conversationPath(address), async () => {
      const { filename, bytes: body } = await receive();
      return downloadResponse({ filename, size: body.length, body, etag: readEtag(c) });
    });
  });

  routes.get("/file/:id/:number/picture", async (c) => {
    const file = await (await received(c)).receive();
    const { bytes: body, type } = pictureToShow(file.bytes, file.filename);
    return pictureResponse({ type, body, etag: readEtag(c) });
  });
}

function readEtag(c: ClientRequest): string {
  return `${c.req.param("id")}-${c.req.param("number")}`;
}
