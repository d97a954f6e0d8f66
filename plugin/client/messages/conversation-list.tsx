// plugin/client/messages/conversation-list.tsx: the list of conversations, unread ones first.

import type { FC } from "hono/jsx";
import { counted } from "../../author/amounts.js";
import { splitAttachments } from "../../author/messages/attachments.js";
import type { Conversation } from "../../author/messages/correspondence.js";
import { type InboxEntry, isOpened } from "../../author/messages/mailbox.js";
import type { MessageDraft } from "../../author/messages/message-drafts.js";
import {
  claimedName,
  describeState,
  readText,
  shownAddress,
  shownCorrespondent,
  shownText,
} from "../../author/messages/message-facts.js";
import { byTime, ownMoment, toMoment } from "../../author/messages/threads.js";
import { plainLines, shortened } from "../../site/plain-lines.js";
import { boundedMarks } from "../../site/safe-markup.js";
import { Form } from "../form.js";
import { type OtherPages, PageLinks } from "../list-pages.js";
import { Fault, Time } from "../page-texts.js";
import { doubtAbout } from "./message-items.js";
import { conversationPath, OUTBOX, UNVERIFIED } from "./message-requests.js";

const PREVIEW_LENGTH = 120;

/** Why messages may be missing. */
export interface InboxState {
  /** A sentence about an inbox that does not answer; `null` if it does. */
  fault: string | null;
  /** How many messages are still to be opened. */
  isOpening: boolean;
}

interface ListProps extends InboxState {
  /** Those of this page. */
  conversations: readonly Conversation[];
  pages: OtherPages;
  /** The addresses with a new key. */
  changed: ReadonlySet<string>;
  drafts: readonly MessageDraft[];
  /** The number of messages in the outbox. */
  outbox: number;
  /** A wrong address, to be corrected. */
  to: string;
}

export const ConversationList: FC<ListProps> = ({ conversations, pages, changed, drafts, outbox, to, ...state }) => (
  <>
    <NewConversation to={to} />
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

const NewConversation: FC<Pick<ListProps, "to">> = ({ to }) => (
  <Form action="/messages" class="inline">
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
