// plugin/client/messages/conversation-routes.tsx: the routes of conversations: lists them, sends messages and their files, and saves drafts.
import PQueue from "p-queue";
import { toVersion } from "../../author/draft-version.js";
import { attachmentLimit, sendWithFile } from "../../author/messages/attachments.js";
import { type Conversation, countUnread } from "../../author/messages/correspondence.js";
import { hasFailed, type Mailbox } from "../../author/messages/mailbox.js";
import { claimedName, shownCorrespondent } from "../../author/messages/message-facts.js";
import { readPrivateHosts } from "../../author/network.js";
import { ifTwtxtError, TwtxtError } from "../../errors.js";
import { parseAddress } from "../../keys/address.js";
import { readGuestKey } from "../../keys/guest.js";
import { type ClientRequest, readForm } from "../client-request.js";
import { draftSaved, isForScript, readSave, selectPage } from "../page-parts.js";
import { ConversationList, ConversationPage, PAGE, type UnsentMessage } from "./conversation-page.js";
import { deliveryOutcome, MAX_FILE_BYTES } from "./message-items.js";
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
    const refuse = (text: string, path = again) => notices.redirect(c, path, { text, isFailure: true });
    if (address === null) return refuse(notAnAddress(typed).message);
    // Looks the address up, so that an error is shown before a message is written.
    const comparing = (await open()).mailbox.compareKey(address);
    const fault = await comparing.then(() => null).catch(ifTwtxtError((error) => error));
    if (fault === null) return c.redirect(conversationPath(address), 303);
    if (fault.code === "unreachable") {
      const todo = "Check the address. You can write now, and send when it answers.";
      return refuse(`${fault.message} ${todo}`, conversationPath(address));
    }
    const advice = readPrivateHosts(fault).map(
      (host) => `To allow it, start the client again with \`--allow-private-host ${host}\`.`,
    );
    return refuse([fault.message, ...advice].join(" "));
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
  const isWaiting = (one: { address: string; state: string }) => one.address === address && one.state !== "delivered";
  const outbox = await correspondence.mailbox.outbox().list();
  const undelivered = outbox.filter(({ recipients }) => recipients.some(isWaiting));
  await correspondence.markRead(conversation);
  const maxBytes = await attachmentLimit(choice, machine);
  const maxFileBytes = maxBytes === null ? null : Math.min(maxBytes, MAX_FILE_BYTES);
  const limit = Math.max(PAGE, Math.trunc(Number(c.req.query("show"))) || 0);
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

const BOTH =
  "Another page has changed this draft since you opened it here, so it holds both texts now. Delete what you do not want to send.";

export function addSending(room: RoomParts): void {
  const { routes, open, notices } = room;
  const send = sender(room);
  routes.post("/with/:address", async (c) => {
    const form = await readForm(c);
    const text = (form.text ?? "").trim();
    const file = await readFile(c);
    const address = readAddress(c);
    const correspondence = await open();
    const { mailbox } = correspondence;
    // Saved first, so that no typed text is lost if sending fails.
    const { draft, added } = await mailbox.drafts.save(address, text, readSave(form));
    const sendDraft = async () => {
      if (added !== "") throw new TwtxtError("bad-usage", BOTH);
      const { reports } = await send({ address, text, file }, mailbox);
      await mailbox.drafts.delete(draft);
      const conversation = await correspondence.with(address);
      if (conversation !== null) await correspondence.markRead(conversation);
      const result = { text: deliveryOutcome(reports), isFailure: hasFailed(reports) };
      return notices.redirect(c, conversationPath(address), result);
    };
    const showAgain = (error: TwtxtError) =>
      showConversation(c, room, { text: added + text, filename: file?.name ?? null, error });
    return sendDraft().catch(ifTwtxtError(showAgain));
  });
}

/** @returns `null` if no file was chosen */
async function readFile(c: ClientRequest): Promise<File | null> {
  const { file } = await c.req.parseBody();
  return file instanceof File && file.name !== "" ? file : null;
}

/** @returns a function that sends a message */
function sender({ choice, machine, ending: signal }: RoomParts) {
  // Sealing needs the whole file in memory.
  const queue = new PQueue({ concurrency: 1 });
  return async (message: { address: string; text: string; file: File | null }, mailbox: Mailbox) => {
    const { address, text, file } = message;
    if (file === null && text === "") throw new TwtxtError("bad-usage", "The message is empty.");
    const source = file && { shown: file.name, filename: file.name, size: file.size, chunks: () => file.stream() };
    const sending = { recipients: [address], text, file: source };
    const send = () => sendWithFile(sending, mailbox, { choice, machine, signal });
    return file === null ? send() : queue.add(send);
  };
}

/** Saves drafts. A script gets the result as JSON. */
export function addDrafts({ routes, open, notices }: RoomParts): void {
  routes.post("/draft/:address", async (c) => {
    const address = readAddress(c);
    const form = await readForm(c);
    const text = (form.text ?? "").trim();
    const { drafts } = (await open()).mailbox;
    if (isForScript(c)) {
      const { draft, added } = await drafts.save(address, text, readSave(form));
      const saved = draft.text === "" ? null : draft.saved;
      return draftSaved(c, saved, { id: address, seen: toVersion(draft), added, warning: added === "" ? null : BOTH });
    }
    return notices.act(c, conversationPath(address), async () => {
      const { added } = await drafts.save(address, text, readSave(form));
      if (added !== "") throw new TwtxtError("bad-usage", BOTH);
      return { text: text === "" ? "The draft is deleted." : "Draft saved." };
    });
  });
}
