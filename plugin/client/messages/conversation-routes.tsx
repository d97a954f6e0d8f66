// plugin/client/messages/conversation-routes.tsx: the list of conversations, and each conversation.
import { attachmentLimit } from "../../author/messages/attachments.js";
import { type Conversation, countUnread } from "../../author/messages/correspondence.js";
import type { Mailbox } from "../../author/messages/mailbox.js";
import { claimedName, shownCorrespondent } from "../../author/messages/message-facts.js";
import { readPrivateHosts } from "../../author/network.js";
import { ifTwtxtError } from "../../errors.js";
import { parseAddress } from "../../keys/address.js";
import { readGuestKey } from "../../keys/guest.js";
import type { OutboxEntry } from "../../messages/send/outbox-entry.js";
import { type ClientRequest, readForm, shownCount } from "../client-request.js";
import { selectPage } from "../list-pages.js";
import { MAX_FILE_BYTES } from "./attachment-list.js";
import { ConversationList } from "./conversation-list.js";
import type { UnsentMessage } from "./conversation-page.js";
import { ConversationPage, PAGE } from "./conversation-page.js";
import { conversationPath, MESSAGES, notAnAddress, type RoomParts, readAddress } from "./message-requests.js";

/** On one page. */
const CONVERSATIONS = 50;

export function addConversations(room: RoomParts): void {
  const { routes, open, unread, notices } = room;
  routes.get("/with/:address", (c) => showConversation(c, room, null));
  routes.get("/", async (c) => {
    const correspondence = await open();
    const { mailbox } = correspondence;
    const [outbox, drafts] = await Promise.all([mailbox.outbox().list(), mailbox.drafts.list()]);
    const all = await correspondence.conversations();
    unread.set(countUnread(all));
    const { items: conversations, pages } = selectPage(c, all, CONVERSATIONS);
    const { fault, isOpening } = correspondence;
    const to = c.req.query("to") ?? "";
    const changed = new Set(correspondence.keyChanges().map(({ address }) => address));
    const page = (
      <ConversationList {...{ conversations, pages, changed, drafts, fault, isOpening, to }} outbox={outbox.length} />
    );
    return c.render(page, { title: "Messages" });
  });

  // A form with the address leads to the conversation, which may be new.
  routes.post("/", async (c) => {
    const typed = ((await readForm(c)).address ?? "").trim();
    const address = parseAddress(typed);
    const again = `${MESSAGES}?to=${encodeURIComponent(typed)}`;
    if (address === null) return notices.redirect(c, again, { text: notAnAddress(typed).message, isFailure: true });
    // Looks the address up, so that an error is shown before a message is written.
    const comparing = (await open()).mailbox.compareKey(address);
    const fault = await comparing.then(() => null).catch(ifTwtxtError((error) => error));
    if (fault === null) return c.redirect(conversationPath(address), 303);
    if (fault.code === "unreachable") {
      const text = `${fault.message} Check the address. You can write now, and send when it answers.`;
      return notices.redirect(c, conversationPath(address), { text, isFailure: true });
    }
    const advice = readPrivateHosts(fault).map(
      (host) => `To allow it, start the client again with \`--allow-private-host ${host}\`.`,
    );
    const text = [fault.message, ...advice].join(" ");
    return notices.redirect(c, again, { text, isFailure: true });
  });
}

/** @param unsent - what could not be sent from this page; `null` for nothing */
export async function showConversation(
  c: ClientRequest,
  { open, unread, choice, machine }: RoomParts,
  unsent: UnsentMessage | null,
) {
  const address = readAddress(c);
  const correspondence = await open();
  const all = await correspondence.conversations();
  const found = all.find((one) => one.address === address);
  const conversation = found ?? { address, received: [], sent: [], unread: 0 };
  unread.set(countUnread(all) - conversation.unread);
  const keyChange = correspondence.keyChanges().find((one) => one.address === address) ?? null;
  const draft = await correspondence.mailbox.drafts.with(address);
  const undelivered = await undeliveredTo(address, correspondence.mailbox);
  await correspondence.markRead(conversation);
  const maxBytes = await attachmentLimit(choice, machine);
  const maxFileBytes = maxBytes === null ? null : Math.min(maxBytes, MAX_FILE_BYTES);
  const limit = shownCount(c, PAGE);
  const { fault, isOpening, mailbox } = correspondence;
  const page = (
    <ConversationPage
      {...{ address, conversation, keyChange, draft, maxFileBytes, unsent, undelivered, limit, fault, isOpening }}
      keys={mailbox.keys}
    />
  );
  return c.render(page, { title: formatTitle(address, conversation) });
}

/** The title says that a guest's name is a claim. */
function formatTitle(address: string, { received }: Conversation): string {
  if (readGuestKey(address) === null) return address;
  const claim = claimedName(address, received) === null ? "" : " (unverified name)";
  return shownCorrespondent(address, received).replace(/^g/, "G") + claim;
}

/** The messages in the outbox that an address has not received. */
async function undeliveredTo(address: string, mailbox: Mailbox): Promise<OutboxEntry[]> {
  const isWaiting = (one: { address: string; state: string }) => one.address === address && one.state !== "delivered";
  return (await mailbox.outbox().list()).filter(({ recipients }) => recipients.some(isWaiting));
}
