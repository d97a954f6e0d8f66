// plugin/client/messages/conversation-page.tsx: a conversation with one correspondent, and the form for a message.

import type { FC } from "hono/jsx";
import { sizeText } from "../../author/amounts.js";
import { toVersion } from "../../author/draft-version.js";
import type { Conversation } from "../../author/messages/correspondence.js";
import { isOpened } from "../../author/messages/mailbox.js";
import type { MessageDraft } from "../../author/messages/message-drafts.js";
import { describeState } from "../../author/messages/message-facts.js";
import { byTime, type KeyChange, ownMoment, toMoment } from "../../author/messages/threads.js";
import type { TwtxtError } from "../../errors.js";
import { readGuestKey } from "../../keys/guest.js";
import type { OwnKeys } from "../../messages/sealing.js";
import type { OutboxEntry } from "../../messages/send/outbox-entry.js";
import { DraftFields, DraftState } from "../draft-state.js";
import { Form } from "../form.js";
import { Sentence } from "../page-texts.js";
import { type InboxState, InboxStatus } from "./conversation-list.js";
import { KeyQuestion } from "./key-pages.js";
import { ReceivedItem, SentItem, UndeliveredItem } from "./message-items.js";
import { conversationPath, draftPath, keyPath, MESSAGES } from "./message-requests.js";

interface ConversationProps extends InboxState, ComposerProps {
  conversation: Conversation;
  /** The new key of the address; `null` if the known one is published. */
  keyChange: KeyChange | null;
  /** Messages in the outbox that the address has not received. */
  undelivered: readonly OutboxEntry[];
  /** Open the messages in the outbox. */
  keys: OwnKeys;
  /** How many of the newest messages to show. */
  limit: number;
}

/** Messages that a page shows at first, and that each "Show earlier messages" adds. */
export const PAGE = 100;

export const ConversationPage: FC<ConversationProps> = (props) => {
  const { address, conversation, fault, isOpening } = props;
  return (
    <>
      <div id="conversation" data-live>
        <InboxStatus fault={fault} isOpening={isOpening} />
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

/** The newest messages, oldest first, and a link to earlier ones. */
const NewestMessages: FC<ConversationProps> = (props) => {
  const items = toItems(props);
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
const SenderNote: FC<ConversationProps> = ({ address, conversation, keyChange, undelivered }) => {
  if (keyChange) return <KeyQuestion change={keyChange} />;
  const { received, sent } = conversation;
  const hasWritten = sent.length + undelivered.length > 0;
  const last = received.at(-1);
  if (readGuestKey(address) !== null) {
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
  if (isOpened(last) && last.trust.trust !== "verified") return null;
  const how = describeState(last) === "verified by DNS" ? "which was found through DNS" : "which its site publishes";
  return (
    <p class="muted">
      Verified: signed with the key of {address}, {how}. <a href={keyPath(address)}>Show the key</a>
    </p>
  );
};

/** All messages, oldest first. Only the ones on the page are shown. */
function toItems({ address, conversation, undelivered, keys }: ConversationProps) {
  const theirs = conversation.received.map((entry) => ({
    ...toMoment(entry),
    show: () => <ReceivedItem entry={entry} />,
  }));
  const own = conversation.sent.map((copy) => ({ ...ownMoment(copy), show: () => <SentItem copy={copy} /> }));
  const waiting = undelivered.map((entry) => ({
    ...ownMoment(entry),
    show: () => <UndeliveredItem {...{ entry, address, keys }} />,
  }));
  return [...theirs, ...own, ...waiting].sort(byTime);
}

interface ComposerProps {
  address: string;
  /** What was typed before; `null` for nothing. */
  draft: MessageDraft | null;
  /** The largest file that can be attached, in bytes; `null` if the site stores none. */
  maxFileBytes: number | null;
  /** A message that could not be sent; `null` for none. */
  unsent: UnsentMessage | null;
}

export interface UnsentMessage {
  text: string;
  /** The name of the file that was attached; `null` for none. A page cannot choose it again. */
  filename: string | null;
  error: TwtxtError;
}

const Composer: FC<ComposerProps> = ({ address, draft, unsent, maxFileBytes }) => (
  <Form action={conversationPath(address)} class="composer" enctype="multipart/form-data">
    {unsent && (
      <p class="notice failure" role="alert">
        Not sent: <Sentence text={unsent.error.message} />{" "}
        {unsent.filename !== null && `Choose ${unsent.filename} again. `}
        {unsent.error.code === "key-changed" && <a href={keyPath(address)}>Compare keys</a>}
      </p>
    )}
    <DraftFields id={address} seen={draft ? toVersion(draft) : ""} />
    <label for="text">Your message</label>
    <textarea id="text" name="text" rows={4} data-key="r">
      {`\n${unsent?.text ?? draft?.text ?? ""}`}
    </textarea>
    <DraftState saved={draft?.saved ?? null} />
    <FileField address={address} maxFileBytes={maxFileBytes} unsent={unsent} />
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

/** @param unsent - its file is to be chosen again */
const FileField: FC<Pick<ComposerProps, "address" | "maxFileBytes" | "unsent">> = ({
  address,
  maxFileBytes,
  unsent,
}) => {
  if (readGuestKey(address) !== null) {
    return <p class="muted">Files cannot be attached: guests read on your contact page, which cannot open them.</p>;
  }
  if (maxFileBytes === null) {
    return (
      <p class="muted">To attach files, set the option blobs: true if it is not set yet, then build and deploy.</p>
    );
  }
  return (
    <details open={unsent?.filename != null}>
      <summary>Attach a file</summary>
      <label for="file">File, at most {sizeText(maxFileBytes)}</label>
      <input id="file" name="file" type="file" class="wide" aria-describedby="file-note" />
      <p id="file-note" class="muted">
        The file is sealed on this machine. Your site stores it, and only you and {address} can open it.
      </p>
    </details>
  );
};
