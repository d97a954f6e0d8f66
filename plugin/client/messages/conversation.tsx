// plugin/client/messages/conversation.tsx: a conversation with one correspondent, and the messages whose senders are not certain.
import type { FC } from "hono/jsx";
import { counted } from "../../author/amounts.js";
import type { Conversation } from "../../author/correspondence.js";
import { type InboxEntry, isOpened } from "../../author/mailbox.js";
import { reasonOf, shownSender, stateOf, textOf, timeOf } from "../../author/message-facts.js";
import { shownText } from "../../author/threads.js";
import { guestKeyOf } from "../../keys/guest.js";
import { isReceipt } from "../../messages/line.js";
import { Form } from "../layout.js";
import { Status, Text, Time } from "./parts.js";
import { conversationPath, keyPath, MESSAGES, OUTBOX } from "./paths.js";

interface ConversationProps {
  address: string;
  conversation: Conversation;
  fault: string | null;
  /** How many messages of the inbox are still to be opened. */
  opening: number;
  /** A message that could not be sent. */
  unsent: { text: string; why: string } | null;
  /** The number of messages for the address in the outbox. */
  waiting: number;
  /** How many of the newest messages to show. */
  limit: number;
}

/** How many more messages a page shows of an older part. */
export const PAGE = 100;

export const ConversationPage: FC<ConversationProps> = ({
  address,
  conversation,
  fault,
  opening,
  unsent,
  waiting,
  limit,
}) => (
  <>
    <div id="conversation" data-live>
      <Status fault={fault} opening={opening} />
      <SenderNote address={address} received={conversation.received} />
      <Newest address={address} conversation={conversation} limit={limit} />
      {waiting > 0 && (
        <p>
          <a href={OUTBOX}>{counted(waiting, "message")} not delivered yet</a>
        </p>
      )}
    </div>
    <Form action={conversationPath(address)} class="composer">
      {unsent && (
        <p class="notice failure" role="alert">
          Not sent: {unsent.why} <a href={keyPath(address)}>Compare keys</a>
        </p>
      )}
      <label for="text">Your message</label>
      <textarea id="text" name="text" rows={4} required data-key="r">
        {unsent?.text ?? ""}
      </textarea>
      <button type="submit" class="primary">
        Send
      </button>
    </Form>
    {conversation.received.length > 0 && (
      <p>
        <a href={`${MESSAGES}/block?address=${encodeURIComponent(address)}`}>Block this sender</a>
      </p>
    )}
  </>
);

/** The newest messages, oldest first, and a link to earlier ones. */
const Newest: FC<Pick<ConversationProps, "address" | "conversation" | "limit">> = ({
  address,
  conversation,
  limit,
}) => {
  const items = itemsOf(conversation);
  const earlier = items.length - limit;
  return (
    <>
      {earlier > 0 && (
        <p>
          <a href={`${conversationPath(address)}?show=${limit + PAGE}`}>Show earlier messages ({earlier})</a>
        </p>
      )}
      <ol class="items conversation" id="conversation-items">
        {items.slice(-limit).map(({ item }) => item)}
      </ol>
    </>
  );
};

/** What is certain about the correspondent. */
const SenderNote: FC<{ address: string; received: readonly InboxEntry[] }> = ({ address, received }) => {
  const last = received.at(-1);
  if (guestKeyOf(address) !== null) {
    const name = last ? shownSender(last) : "This guest";
    return (
      <p class="muted">
        {name} wrote through the form on your contact page. The name is a claim; only this browser's key is certain.
      </p>
    );
  }
  if (!last) {
    return <p class="muted">Your first message to {address}. Its key is looked up when you send.</p>;
  }
  const how = stateOf(last) === "verified by DNS" ? "which was found through DNS" : "which its site publishes";
  return (
    <p class="muted">
      Verified: signed with the key of {address}, {how}. <a href={keyPath(address)}>Show the key</a>
    </p>
  );
};

function itemsOf({ received, sent }: Conversation) {
  const theirs = received.map((entry) => ({ time: timeOf(entry), item: <ReceivedItem entry={entry} /> }));
  const own = sent.map((copy) => ({
    time: copy.created,
    item: (
      <li class="own" id={`m-${copy.id}`} data-item tabindex={-1}>
        <p class="by">
          You <Time time={copy.created} />
        </p>
        <Text text={shownText(copy)} />
      </li>
    ),
  }));
  return [...theirs, ...own].sort((a, b) => Date.parse(a.time) - Date.parse(b.time));
}

const ReceivedItem: FC<{ entry: InboxEntry; withSender?: boolean }> = ({ entry, withSender = false }) => (
  <li id={`m-${entry.id}`} data-item tabindex={-1}>
    <p class="by">
      {withSender && <>{shownSender(entry)} </>}
      {withSender && <span class="state">{stateOf(entry)} </span>}
      <Time time={timeOf(entry)} />
    </p>
    {withSender && <Reason entry={entry} />}
    {isOpened(entry) && (isReceipt(entry.message) ? <Receipt entry={entry} /> : <Text text={textOf(entry)} />)}
    <div class="actions">
      <a class="button" data-key="d" href={`${MESSAGES}/delete?id=${entry.id}`}>
        Delete
      </a>
    </div>
  </li>
);

const Receipt: FC<{ entry: InboxEntry }> = ({ entry }) => (
  <p class="muted">
    {isOpened(entry) && entry.receipts.length > 0
      ? "Has read your message."
      : "A read receipt for a message that is not among your copies."}
  </p>
);

const Reason: FC<{ entry: InboxEntry }> = ({ entry }) => {
  if (!isOpened(entry)) return <p class="reason">{entry.unreadable}</p>;
  const { trust, message } = entry;
  const { address } = message;
  if (trust.trust !== "key-changed" || address === null) return <p class="reason">{reasonOf(entry)}</p>;
  return (
    <p class="reason">
      {address} has a new key, or someone else writes in this name. <a href={keyPath(address)}>Compare the keys</a>
    </p>
  );
};

/** Messages whose senders are not certain. */
export const UnverifiedPage: FC<{ entries: readonly InboxEntry[] }> = ({ entries }) => (
  <>
    <p class="muted">Do not trust the addresses below: it is not certain who wrote these messages.</p>
    <Form action="/messages/unverified">
      <button type="submit">Verify again</button>
    </Form>
    <ul class="items" id="unverified" data-live>
      {entries.map((entry) => (
        <ReceivedItem entry={entry} withSender />
      ))}
    </ul>
    {entries.length === 0 && <p class="muted">There are none.</p>}
  </>
);
