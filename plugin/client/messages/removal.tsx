// plugin/client/messages/removal.tsx: deletes messages and blocks senders, after a question.
import type { FC } from "hono/jsx";
import { counted } from "../../author/amounts.js";
import { type InboxEntry, isOpened } from "../../author/messages/mailbox.js";
import { readText, shownAddress, shownSender } from "../../author/messages/message-facts.js";
import { parseAddress } from "../../keys/address.js";
import { readForm } from "../client-request.js";
import { Question } from "../form.js";
import { MessageText } from "../strangers-text.js";
import { parseAddressText, type RoomParts } from "./message-requests.js";
import { conversationPath, MESSAGES, UNVERIFIED } from "./paths.js";

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

  routes.post("/delete", async (c) => {
    const { id = "", address = "" } = await readForm(c);
    return notices.act(c, toPath(parseAddress(address)), async () => {
      await (await open()).delete(id);
      return { text: "The message was deleted from your inbox." };
    });
  });
}

function addBlocking({ routes, open, notices }: RoomParts): void {
  routes.get("/block", async (c) => {
    const address = parseAddressText(c.req.query("address") ?? "");
    const count = (await (await open()).with(address))?.received.length ?? 0;
    return c.render(<BlockPage address={address} count={count} />, { title: "Block this sender?" });
  });

  routes.post("/block", async (c) => {
    const form = await readForm(c);
    return notices.act(c, MESSAGES, async () => {
      const address = parseAddressText(form.address ?? "");
      const correspondence = await open();
      await correspondence.mailbox.block(address);
      await correspondence.removeBlocked();
      const text = `${shownAddress(address)} is blocked. New messages from this sender are deleted when they are opened.`;
      return { text, undo: { action: `${MESSAGES}/unblock`, fields: { address } } };
    });
  });

  routes.post("/unblock", async (c) => {
    const form = await readForm(c);
    return notices.act(c, MESSAGES, async () => {
      const address = parseAddressText(form.address ?? "");
      await (await open()).mailbox.blocked.unblock(address);
      return { text: `${shownAddress(address)} is no longer blocked. Deleted messages do not come back.` };
    });
  });
}
