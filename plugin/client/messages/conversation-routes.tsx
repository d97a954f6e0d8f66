// plugin/client/messages/conversation-routes.tsx: the list of conversations, each conversation, and answers.
import PQueue from "p-queue";
import { attachmentLimit, sendWithFile } from "../../author/attachments.js";
import { type Conversation, unreadIn } from "../../author/correspondence.js";
import type { Mailbox } from "../../author/mailbox.js";
import { claimedName, shownCorrespondent } from "../../author/message-facts.js";
import { TwtxtError } from "../../errors.js";
import { parseAddress } from "../../keys/address.js";
import { guestKeyOf } from "../../keys/guest.js";
import type { OutboxEntry } from "../../messages/send/outbox-entry.js";
import { TIMES } from "../dates.js";
import { MAX_FILE_BYTES } from "./attachments.js";
import { ConversationList } from "./conversation-list.js";
import { ConversationPage, PAGE, type UnsentMessage } from "./conversation-page.js";
import { deliveryOutcome, hasFailed } from "./delivery-text.js";
import { addressIn, type Fields, fieldsOf, fileIn, type RoomContext, type RoomParts } from "./message-requests.js";
import { conversationPath, MESSAGES } from "./paths.js";

export function addConversations(room: RoomParts): void {
  addList(room);
  addDrafts(room);
  const { routes, open, context, notices } = room;
  const work = { ...context, signal: context.ending };
  // Sealing needs the whole file in memory.
  const queue = new PQueue({ concurrency: 1 });
  const send = async (mailbox: Mailbox, recipients: string[], text: string, file: File | null) => {
    if (file === null && text === "") throw new TwtxtError("bad-usage", "The message is empty.");
    if (file === null) return mailbox.send({ recipients, text }, () => {});
    return queue.add(async () => {
      const bytes = new Uint8Array(await file.arrayBuffer());
      return sendWithFile({ recipients, text, file: { filename: file.name, bytes } }, mailbox, work);
    });
  };
  routes.get("/with/:address", (c) => showConversation(c, room, null));

  routes.post("/with/:address", async (c) => {
    const text = textOf(await fieldsOf(c));
    const { mailbox } = await open();
    const address = addressIn(c);
    const file = await fileIn(c, "file");
    // Nothing that was typed is lost, whatever happens while it is sent.
    await mailbox.drafts.save(address, text);
    try {
      const { reports } = await send(mailbox, [address], text, file);
      await mailbox.drafts.delete(address);
      const result = { text: deliveryOutcome(reports), isFailure: hasFailed(reports) };
      return notices.redirect(c, conversationPath(address), result);
    } catch (error) {
      if (error instanceof TwtxtError) return showConversation(c, room, { text, filename: file?.name ?? null, error });
      throw error;
    }
  });
}

/** Browsers send CR LF. */
function textOf(fields: Fields): string {
  return fields("text").replace(/\r\n?/g, "\n").trim();
}

/** Saves drafts. A script gets the result as JSON. */
function addDrafts({ routes, open, notices }: RoomParts): void {
  routes.post("/draft/:address", async (c) => {
    const address = addressIn(c);
    const text = textOf(await fieldsOf(c));
    const { drafts } = (await open()).mailbox;
    if (c.req.header("accept") !== "application/json") {
      return notices.act(c, conversationPath(address), async () => {
        await drafts.save(address, text);
        return { text: text === "" ? "The draft is deleted." : "Draft saved." };
      });
    }
    const { saved } = await drafts.save(address, text);
    const state = text === "" ? "" : `Draft saved at ${TIMES.format(new Date(saved))}`;
    return c.json({ id: address, seen: saved, text: state, warning: null });
  });
}

function addList({ routes, open, unread, notices }: RoomParts): void {
  routes.get("/", async (c) => {
    const correspondence = await open();
    const { mailbox } = correspondence;
    const [outbox, drafts] = await Promise.all([mailbox.outbox().list(), mailbox.drafts.list()]);
    const conversations = await correspondence.conversations();
    unread.set(unreadIn(conversations));
    const { fault, opening } = correspondence;
    const to = c.req.query("to") ?? "";
    const page = <ConversationList {...{ conversations, drafts, fault, opening, to }} outbox={outbox.length} />;
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

async function showConversation(c: RoomContext, { open, unread, context }: RoomParts, unsent: UnsentMessage | null) {
  const correspondence = await open();
  const address = addressIn(c);
  const all = await correspondence.conversations();
  const found = all.find((one) => one.address === address);
  const conversation = found ?? { address, received: [], sent: [], unread: 0 };
  unread.set(unreadIn(all) - conversation.unread);
  const draft = await correspondence.mailbox.drafts.with(address);
  const undelivered = await undeliveredTo(address, correspondence.mailbox);
  await correspondence.markRead(conversation);
  const maxBytes = await attachmentLimit(context.choice, context.machine);
  const maxFileBytes = maxBytes === null ? null : Math.min(maxBytes, MAX_FILE_BYTES);
  const limit = Math.max(PAGE, Math.trunc(Number(c.req.query("show"))) || 0);
  const { fault, opening, mailbox } = correspondence;
  const page = (
    <ConversationPage
      {...{ address, conversation, draft, maxFileBytes, unsent, undelivered, limit, fault, opening }}
      keys={mailbox.keys}
    />
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
