// plugin/client/messages/conversation-page.tsx: the list of conversations, and a conversation with the form for a message.
import type { FC } from "hono/jsx";
import { counted, sizeText } from "../../author/amounts.js";
import { toVersion } from "../../author/draft-version.js";
import { splitAttachments } from "../../author/messages/attachments.js";
import type { Conversation } from "../../author/messages/correspondence.js";
import type { MessageDraft } from "../../author/messages/message-drafts.js";
import {
  byTime,
  claimedName,
  describeState,
  type InboxEntry,
  isOpened,
  type KeyChange,
  ownMoment,
  readText,
  shownAddress,
  shownCorrespondent,
  shownText,
  toMoment,
} from "../../author/messages/message-facts.js";
import type { TwtxtError } from "../../errors.js";
import { readGuestKey } from "../../keys/guest.js";
import type { OwnKeys } from "../../messages/sealing.js";
import type { OutboxEntry } from "../../messages/send/outbox-entry.js";
import { plainLines, shortened } from "../../site/plain-lines.js";
import { boundedMarks } from "../../site/safe-markup.js";
import {
  DraftFields,
  DraftState,
  Fault,
  Field,
  Form,
  type OtherPages,
  PageLinks,
  Sentence,
  Submit,
  Time,
} from "../page-parts.js";
import { doubtAbout, ReceivedItem, SentItem, UndeliveredItem } from "./message-items.js";
import { conversationPath, keyPath, MESSAGES, OUTBOX, UNVERIFIED } from "./message-requests.js";
import { KeyQuestion } from "./sender-pages.js";

interface ConversationProps extends InboxState, ComposerProps {
  conversation: Conversation;
  /** The new key of the address; `null` if the known one is published. */
  keyChange: KeyChange | null;
  /** Messages in the outbox that the address has not received. */
  undelivered: readonly OutboxEntry[];
  keys: OwnKeys;
  limit: number;
}

/** Messages that a page shows at first, and that each "Show earlier messages" adds. */
export const PAGE = 100;

/** Shows the newest messages, oldest first, and a link to earlier ones. */
export const ConversationPage: FC<ConversationProps> = (props) => {
  const { address, conversation, fault, isOpening, limit } = props;
  const items = toItems(props);
  const earlier = items.length - limit;
  return (
    <>
      <div id="conversation" data-live>
        <InboxStatus fault={fault} isOpening={isOpening} />
        <SenderNote {...props} />
        {earlier > 0 && (
          <p>
            <a href={`${conversationPath(address)}?show=${limit + PAGE}`}>Show earlier messages ({earlier})</a>
          </p>
        )}
        <ol class="items conversation" id="conversation-items">
          {items.slice(-limit).map(({ show }) => show())}
        </ol>
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
      <Submit class="primary" label="Send" />
      <Submit
        formaction={`${MESSAGES}/draft/${encodeURIComponent(address)}`}
        formnovalidate
        data-draft=""
        label="Save draft"
      />
    </div>
  </Form>
);

/** @param unsent - its file is to be chosen again */
const FileField: FC<Omit<ComposerProps, "draft">> = ({ address, maxFileBytes, unsent }) => {
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
      <Field name="file" type="file" label={`File, at most ${sizeText(maxFileBytes)}`}>
        The file is sealed on this machine. Your site stores it, and only you and {address} can open it.
      </Field>
    </details>
  );
};

const PREVIEW_LENGTH = 120;

/** Why messages may be missing. */
export interface InboxState {
  /** A sentence about an inbox that does not answer; `null` if it does. */
  fault: string | null;
  /** How many messages are still to be opened. */
  isOpening: boolean;
}

interface ListProps extends InboxState {
  conversations: readonly Conversation[];
  pages: OtherPages;
  changed: ReadonlySet<string>;
  drafts: readonly MessageDraft[];
  outbox: number;
  /** A wrong address, to be corrected. */
  to: string;
}

export const ConversationList: FC<ListProps> = ({ conversations, pages, changed, drafts, outbox, to, ...state }) => (
  <>
    <Form class="inline">
      <label for="address">New message to</label>
      <input
        id="address"
        name="address"
        value={to}
        placeholder="bob@bob.example"
        required
        autocomplete="off"
        data-key="n"
      />
      <button type="submit">Write</button>
    </Form>
    <div id="conversations" data-live>
      <InboxStatus {...state} />
      {outbox > 0 && (
        <p>
          <a href={OUTBOX}>{counted(outbox, "message")} in the outbox</a>
        </p>
      )}
      {drafts.length > 0 && (
        <p>
          Not sent yet:{" "}
          {drafts.map(({ address }, at) => (
            <>
              {at > 0 && ", "}
              <a href={conversationPath(address)}>draft to {shownAddress(address)}</a>
            </>
          ))}
        </p>
      )}
      {conversations.length === 0 && !state.isOpening && state.fault === null && (
        <p class="muted">
          No messages yet. Write to an address above, or tell your readers about the form on your contact page.
        </p>
      )}
      <ul class="items" id="conversation-items">
        {conversations.map((conversation) => (
          <ConversationItem
            conversation={conversation}
            isChanged={conversation.address !== null && changed.has(conversation.address)}
          />
        ))}
      </ul>
      <PageLinks pages={pages} of="conversations" />
    </div>
  </>
);

export const InboxStatus: FC<InboxState> = ({ fault, isOpening }) => (
  <>
    <Fault text={fault && `${fault} New messages appear when it answers again; nothing is lost meanwhile.`} />
    {isOpening && (
      <p class="muted" data-busy>
        Opening older messages.
      </p>
    )}
  </>
);

const ConversationItem: FC<{ conversation: Conversation; isChanged: boolean }> = ({ conversation, isChanged }) => {
  const { address, received, unread } = conversation;
  const last = findLast(conversation);
  const state = isChanged ? "key changed" : describeKey(address, received);
  return (
    <li id={`with-${address}`} class={unread > 0 ? "unread" : undefined} data-item tabindex={-1}>
      <p class="by">
        <a href={address === null ? UNVERIFIED : conversationPath(address)} data-key="o">
          {address === null ? "Not verified" : shownCorrespondent(address, received)}
        </a>{" "}
        {state !== "" && <span class="state">{state}</span>}
        {unread > 0 && <span class="count">{unread} unread</span>}
        {last && <Time at={last.time} />}
      </p>
      {last && (
        <p dir="auto">
          {last.isOwn && <span class="muted">You: </span>}
          {shortened(boundedMarks(plainLines(last.text.trim())[0] ?? ""), PREVIEW_LENGTH)}
        </p>
      )}
    </li>
  );
};

function describeKey(address: string | null, received: readonly InboxEntry[]): string {
  const last = received.at(-1);
  if (address === null) return counted(received.length, "message");
  if (!last) return "";
  return claimedName(address, received) === null ? describeState(last) : "unverified name";
}

function findLast({ address, received, sent }: Conversation): { text: string; time: string; isOwn: boolean } | null {
  const message = received.at(-1);
  const copy = sent.at(-1);
  const isCertain = message && address !== null && isOpened(message);
  const preview = isCertain ? withFileNames(readText(message)) : ((message && doubtAbout(message)) ?? "");
  const theirs = message && { text: preview, ...toMoment(message), isOwn: false };
  const own = copy && { text: withFileNames(shownText(copy)), ...ownMoment(copy), isOwn: true };
  if (!theirs || !own) return theirs ?? own ?? null;
  return byTime(theirs, own) > 0 ? theirs : own;
}

/** The text, or the names of the files of a message without a text. */
function withFileNames(message: string): string {
  const { text, attachments } = splitAttachments(message);
  return text === "" ? attachments.map(({ label }) => label).join(", ") : text;
}
