// plugin/client/messages/removal.tsx: deletes messages and blocks senders, after a question.
import type { FC } from "hono/jsx";
import { counted } from "../../author/amounts.js";
import { type InboxEntry, isOpened } from "../../author/messages/mailbox.js";
import { blockSender } from "../../author/messages/message-actions.js";
import { readText, shownAddress, shownSender } from "../../author/messages/message-facts.js";
import { parseAddress } from "../../keys/address.js";
import type { FormFields } from "../client-request.js";
import { Question } from "../form.js";
import { MessageText } from "../strangers-text.js";
import { conversationPath, MESSAGES, parseAddressText, type RoomParts, UNVERIFIED } from "./message-requests.js";

const DeletePage: FC<{ entry: InboxEntry; address: string | null }> = ({ entry, address }) => (
  <>
    <p>This deletes the message by {shownSender(entry)} from your inbox for good:</p>
    {isOpened(entry) && <MessageText text={readText(entry)} />}
    <Question
      action={`${MESSAGES}/delete`}
      fields={{ id: entry.id, address: address ?? "" }}
      yes="Delete it"
      back={toPath(address)}
    />
  </>
);

const BlockPage: FC<{ address: string; count: number }> = ({ address, count }) => (
  <>
    <p>
      This deletes {counted(count, "message")} from {shownAddress(address)} for good. New messages from this sender are
      deleted when they are opened. Your host cannot refuse them, because it cannot know who sealed a message.
    </p>
    <Question action={`${MESSAGES}/block`} fields={{ address }} yes="Block this sender" back={toPath(address)} />
  </>
);

function toPath(address: string | null): string {
  return address === null ? UNVERIFIED : conversationPath(address);
}

export function addRemoval(room: RoomParts): void {
  addDeletion(room);
  addBlocking(room);
}

function addDeletion({ routes, open, notices }: RoomParts): void {
  routes.get("/delete", async (c) => {
    const { entry, address } = await (await open()).entry(c.req.query("id") ?? "");
    return c.render(<DeletePage entry={entry} address={address} />, { title: "Delete this message?" });
  });

  const findPage = ({ address = "" }: FormFields) => toPath(parseAddress(address));
  notices.addForm(routes, "/delete", findPage, async ({ id = "" }) => {
    await (await open()).delete(id);
    return { text: "The message was deleted from your inbox." };
  });
}

function addBlocking({ routes, open, notices }: RoomParts): void {
  routes.get("/block", async (c) => {
    const address = parseAddressText(c.req.query("address") ?? "");
    const count = (await (await open()).with(address))?.received.length ?? 0;
    return c.render(<BlockPage address={address} count={count} />, { title: "Block this sender?" });
  });

  notices.addForm(routes, "/block", MESSAGES, async ({ address = "" }) => {
    const correspondence = await open();
    const outcome = await blockSender(parseAddressText(address), correspondence.mailbox);
    await correspondence.removeBlocked();
    return outcome;
  });
}
