// plugin/client/messages/conversation-page.tsx: a conversation with one correspondent.
import type { FC } from "hono/jsx";
import { sizeText } from "../../author/amounts.js";
import type { Conversation } from "../../author/correspondence.js";
import type { MessageDraft } from "../../author/message-drafts.js";
import { stateOf, timeOf } from "../../author/message-facts.js";
import type { TwtxtError } from "../../errors.js";
import { guestKeyOf } from "../../keys/guest.js";
import type { OwnKeys } from "../../messages/sealing.js";
import type { OutboxEntry } from "../../messages/send/outbox-entry.js";
import { DATES } from "../dates.js";
import { Fields, Form } from "../layout.js";
import { type InboxState, InboxStatus } from "./inbox-status.js";
import { ReceivedItem, SentItem, UndeliveredItem } from "./message-items.js";
import { conversationPath, draftPath, keyPath, MESSAGES } from "./paths.js";

interface ConversationProps extends InboxState {
  address: string;
  conversation: Conversation;
  /** What was typed before; `null` for nothing. */
  draft: MessageDraft | null;
  /** The largest file that can be attached, in bytes; `null` if the site stores none. */
  maxFileBytes: number | null;
  /** A message that could not be sent. */
  unsent: UnsentMessage | null;
  /** What the address has not received. */
  undelivered: readonly OutboxEntry[];
  /** Opens what is in the outbox. */
  keys: OwnKeys;
  /** How many of the newest messages to show. */
  limit: number;
}

export interface UnsentMessage {
  text: string;
  /** The name of the file that was attached; `null` for none. A page cannot choose it again. */
  filename: string | null;
  error: TwtxtError;
}

/** How many more messages a page shows of an older part. */
export const PAGE = 100;

export const ConversationPage: FC<ConversationProps> = (props) => {
  const { address, conversation, fault, opening } = props;
  return (
    <>
      <div id="conversation" data-live>
        <InboxStatus fault={fault} opening={opening} />
        <SenderNote {...props} />
        <NewestMessages {...props} />
      </div>
      <Composer {...props} />
      {conversation.received.length > 0 && (
        <p>
          <a href={`${MESSAGES}/block?address=${encodeURIComponent(address)}`}>Block this sender</a>
        </p>
      )}
    </>
  );
};

const Composer: FC<ConversationProps> = ({ address, draft, unsent, maxFileBytes }) => (
  <Form action={conversationPath(address)} class="composer" enctype="multipart/form-data">
    {unsent && (
      <p class="notice failure" role="alert">
        Not sent: {unsent.error.message} {unsent.filename !== null && `Choose ${unsent.filename} again. `}
        {unsent.error.code === "key-changed" && <a href={keyPath(address)}>Compare keys</a>}
      </p>
    )}
    <Fields fields={{ id: address, seen: draft?.saved ?? "" }} />
    <label for="text">Your message</label>
    <textarea id="text" name="text" rows={4} data-key="r">
      {`\n${unsent?.text ?? draft?.text ?? ""}`}
    </textarea>
    <p id="draft-state" class="muted" role="status">
      {draft && `Draft saved: ${DATES.format(new Date(draft.saved))}`}
    </p>
    <FileField address={address} maxFileBytes={maxFileBytes} />
    <div class="actions">
      <button type="submit" class="primary">
        Send
      </button>
      <button type="submit" formaction={draftPath(address)} formnovalidate data-draft="">
        Save draft
      </button>
    </div>
  </Form>
);

const FileField: FC<Pick<ConversationProps, "address" | "maxFileBytes">> = ({ address, maxFileBytes }) => {
  if (guestKeyOf(address) !== null) {
    return <p class="muted">Files cannot be attached: guests read on your contact page, which cannot open them.</p>;
  }
  if (maxFileBytes === null) {
    return <p class="muted">To attach files, give the plugin the option blobs: true, build and deploy.</p>;
  }
  return (
    <>
      <label for="file">Attach a file (at most {sizeText(maxFileBytes)})</label>
      <input id="file" name="file" type="file" aria-describedby="file-note" />
      <p id="file-note" class="muted">
        The file is sealed on this machine. Your site stores it, and only you and {address} can open it.
      </p>
    </>
  );
};

/** The newest messages, oldest first, and a link to earlier ones. */
const NewestMessages: FC<ConversationProps> = (props) => {
  const items = itemsOf(props);
  const { address, limit } = props;
  const earlier = items.length - limit;
  return (
    <>
      {earlier > 0 && (
        <p>
          <a href={`${conversationPath(address)}?show=${limit + PAGE}`}>Show earlier messages ({earlier})</a>
        </p>
      )}
      <ol class="items conversation" id="conversation-items">
        {items.slice(-limit).map(({ show }) => show())}
      </ol>
    </>
  );
};

/** What is certain about the correspondent. */
const SenderNote: FC<ConversationProps> = ({ address, conversation: { received, sent }, undelivered }) => {
  const hasWritten = sent.length + undelivered.length > 0;
  const last = received.at(-1);
  if (guestKeyOf(address) !== null) {
    return (
      <p class="muted">
        This guest wrote through the form on your contact page. A guest can state any name; only the key of their
        browser is certain.
      </p>
    );
  }
  if (!last) {
    const text = hasWritten ? `${address} has not answered yet.` : `Your first message to ${address}.`;
    return <p class="muted">{text} The key is looked up when you send.</p>;
  }
  const how = stateOf(last) === "verified by DNS" ? "which was found through DNS" : "which its site publishes";
  return (
    <p class="muted">
      Verified: signed with the key of {address}, {how}. <a href={keyPath(address)}>Show the key</a>
    </p>
  );
};

/** All messages, oldest first. Only the ones on the page are shown. */
function itemsOf({ address, conversation, undelivered, keys }: ConversationProps) {
  const theirs = conversation.received.map((entry) => ({
    time: timeOf(entry),
    show: () => <ReceivedItem entry={entry} />,
  }));
  const own = conversation.sent.map((copy) => ({ time: copy.created, show: () => <SentItem copy={copy} /> }));
  const waiting = undelivered.map((entry) => ({
    time: entry.created,
    show: () => <UndeliveredItem {...{ entry, address, keys }} />,
  }));
  return [...theirs, ...own, ...waiting].sort((a, b) => Date.parse(a.time) - Date.parse(b.time));
}
