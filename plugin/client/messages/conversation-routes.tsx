// plugin/client/messages/conversation-routes.tsx: the list of conversations, each conversation, and answers.
import { type Conversation, unreadIn } from "../../author/correspondence.js";
import type { Mailbox } from "../../author/mailbox.js";
import { claimedName, shownCorrespondent } from "../../author/message-facts.js";
import { TwtxtError } from "../../errors.js";
import { parseAddress } from "../../keys/address.js";
import { guestKeyOf } from "../../keys/guest.js";
import type { OutboxEntry } from "../../messages/send/outbox-entry.js";
import { ConversationList } from "./conversation-list.js";
import { ConversationPage, PAGE, type UnsentMessage } from "./conversation-page.js";
import { deliveryOutcome, hasFailed } from "./delivery-text.js";
import { addressIn, fieldsOf, type RoomContext, type RoomParts } from "./message-requests.js";
import { conversationPath, MESSAGES } from "./paths.js";

export function addConversations(room: RoomParts): void {
  addList(room);
  const { routes, open, notices } = room;
  routes.get("/with/:address", (c) => showConversation(c, room, null));

  routes.post("/with/:address", async (c) => {
    const fields = await fieldsOf(c);
    const text = fields("text").replace(/\r\n?/g, "\n").trim();
    const { mailbox } = await open();
    const address = addressIn(c);
    try {
      if (text === "") throw new TwtxtError("bad-usage", "The message is empty.");
      const { reports } = await mailbox.send({ recipients: [address], text, keepCopy: true }, () => {});
      const result = { text: deliveryOutcome(reports), isFailure: hasFailed(reports) };
      return notices.redirect(c, conversationPath(address), result);
    } catch (error) {
      // The page shows the text again: nothing that was typed is lost.
      if (error instanceof TwtxtError) return showConversation(c, room, { text, error });
      throw error;
    }
  });
}

function addList({ routes, open, unread, notices }: RoomParts): void {
  routes.get("/", async (c) => {
    const correspondence = await open();
    const outbox = await correspondence.mailbox.outbox().list();
    const conversations = await correspondence.conversations();
    unread.set(unreadIn(conversations));
    const { fault, opening } = correspondence;
    const to = c.req.query("to") ?? "";
    const page = <ConversationList {...{ conversations, fault, opening, to }} outbox={outbox.length} />;
    return c.render(page, { title: "Messages" });
  });

  // A form with the address leads to the conversation, which may be new.
  routes.post("/", async (c) => {
    const fields = await fieldsOf(c);
    const typed = fields("address").trim();
    const address = parseAddress(typed);
    if (address !== null) return c.redirect(conversationPath(address), 303);
    const text = `"${typed.slice(0, 100)}" is not an address such as bob@bob.example.`;
    return notices.redirect(c, `${MESSAGES}?to=${encodeURIComponent(typed)}`, { text, isFailure: true });
  });
}

async function showConversation(c: RoomContext, { open, unread }: RoomParts, unsent: UnsentMessage | null) {
  const correspondence = await open();
  const address = addressIn(c);
  const all = await correspondence.conversations();
  const found = all.find((one) => one.address === address);
  const conversation = found ?? { address, received: [], sent: [], unread: 0 };
  unread.set(unreadIn(all) - conversation.unread);
  const undelivered = await undeliveredTo(address, correspondence.mailbox);
  await correspondence.markRead(conversation);
  const limit = Math.max(PAGE, Math.trunc(Number(c.req.query("show"))) || 0);
  const { fault, opening, mailbox } = correspondence;
  const page = (
    <ConversationPage {...{ address, conversation, unsent, undelivered, limit, fault, opening }} keys={mailbox.keys} />
  );
  return c.render(page, { title: titleOf(address, conversation) });
}

/** A name of a guest is a claim, so the title says so. */
function titleOf(address: string, { received }: Conversation): string {
  if (guestKeyOf(address) === null) return address;
  const claim = claimedName(address, received) === null ? "" : " (unverified name)";
  return shownCorrespondent(address, received).replace(/^g/, "G") + claim;
}

/** The messages in the outbox that an address has not received. */
async function undeliveredTo(address: string, mailbox: Mailbox): Promise<OutboxEntry[]> {
  const isWaiting = (one: { address: string; state: string }) => one.address === address && one.state !== "delivered";
  return (await mailbox.outbox().list()).filter(({ recipients }) => recipients.some(isWaiting));
}
