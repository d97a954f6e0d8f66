// plugin/client/messages/sending.ts: sends messages and their files, and saves drafts.
import PQueue from "p-queue";
import { sendWithFile } from "../../author/attachments.js";
import type { Mailbox } from "../../author/mailbox.js";
import { TwtxtError } from "../../errors.js";
import { draftSaved, isForScript } from "../draft-state.js";
import { type FormFields, formOf, withLineFeeds } from "../form-fields.js";
import { showConversation } from "./conversation-routes.js";
import { deliveryOutcome, hasFailed } from "./delivery-text.js";
import { addressIn, fileIn, type RoomParts } from "./message-requests.js";
import { conversationPath } from "./paths.js";

export function addSending(room: RoomParts): void {
  const { routes, open, notices } = room;
  const send = sender(room);
  routes.post("/with/:address", async (c) => {
    const text = textOf(await formOf(c));
    const file = await fileIn(c, "file");
    const { mailbox } = await open();
    const address = addressIn(c);
    // Nothing that was typed is lost, whatever happens while it is sent.
    await mailbox.drafts.save(address, text);
    try {
      const { reports } = await send({ address, text, file }, mailbox);
      await mailbox.drafts.delete(address);
      const result = { text: deliveryOutcome(reports), isFailure: hasFailed(reports) };
      return notices.redirect(c, conversationPath(address), result);
    } catch (error) {
      if (error instanceof TwtxtError) return showConversation(c, room, { text, filename: file?.name ?? null, error });
      throw error;
    }
  });
}

/** @returns a function that sends a message */
function sender({ context }: RoomParts) {
  const work = { ...context, signal: context.ending };
  // Sealing needs the whole file in memory.
  const queue = new PQueue({ concurrency: 1 });
  return async (message: { address: string; text: string; file: File | null }, mailbox: Mailbox) => {
    const { address, text, file } = message;
    const recipients = [address];
    if (file === null && text === "") throw new TwtxtError("bad-usage", "The message is empty.");
    if (file === null) return mailbox.send({ recipients, text }, () => {});
    return queue.add(async () => {
      const bytes = new Uint8Array(await file.arrayBuffer());
      return sendWithFile({ recipients, text, file: { filename: file.name, bytes } }, mailbox, work);
    });
  };
}

/** Saves drafts. A script gets the result as JSON. */
export function addDrafts({ routes, open, notices }: RoomParts): void {
  routes.post("/draft/:address", async (c) => {
    const address = addressIn(c);
    const text = textOf(await formOf(c));
    const { drafts } = (await open()).mailbox;
    if (isForScript(c)) {
      const { saved } = await drafts.save(address, text);
      return draftSaved(c, { id: address, seen: saved, saved: text === "" ? null : saved });
    }
    return notices.act(c, conversationPath(address), async () => {
      await drafts.save(address, text);
      return { text: text === "" ? "The draft is deleted." : "Draft saved." };
    });
  });
}

function textOf({ text = "" }: FormFields): string {
  return withLineFeeds(text).trim();
}
