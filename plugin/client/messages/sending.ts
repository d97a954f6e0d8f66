// plugin/client/messages/sending.ts: sends messages and their files, and saves drafts.
import PQueue from "p-queue";
import { toVersion } from "../../author/draft-version.js";
import { sendWithFile } from "../../author/messages/attachments.js";
import type { Mailbox } from "../../author/messages/mailbox.js";
import { ifTwtxtError, TwtxtError } from "../../errors.js";
import { type ClientRequest, type FormFields, readForm, withLineFeeds } from "../client-request.js";
import { draftSaved, isForScript, readSave } from "../draft-state.js";
import { showConversation } from "./conversation-routes.js";
import { conversationPath, type RoomParts, readAddress } from "./message-requests.js";
import { deliveryOutcome, hasFailed } from "./outbox-pages.js";

const BOTH =
  "Another page has changed this draft since you opened it here, so it holds both texts now. Delete what you do not want to send.";

export function addSending(room: RoomParts): void {
  const { routes, open, notices } = room;
  const send = sender(room);
  routes.post("/with/:address", async (c) => {
    const form = await readForm(c);
    const text = readText(form);
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
    const text = readText(form);
    const { drafts } = (await open()).mailbox;
    if (isForScript(c)) {
      const { draft, added } = await drafts.save(address, text, readSave(form));
      const saved = draft.text === "" ? null : draft.saved;
      return draftSaved(c, { id: address, seen: toVersion(draft), saved, added, warning: added === "" ? null : BOTH });
    }
    return notices.act(c, conversationPath(address), async () => {
      const { added } = await drafts.save(address, text, readSave(form));
      if (added !== "") throw new TwtxtError("bad-usage", BOTH);
      return { text: text === "" ? "The draft is deleted." : "Draft saved." };
    });
  });
}

function readText({ text = "" }: FormFields): string {
  return withLineFeeds(text).trim();
}
