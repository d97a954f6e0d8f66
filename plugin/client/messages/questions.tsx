// plugin/client/messages/questions.tsx: questions before messages are deleted for good.
import type { FC } from "hono/jsx";
import { counted } from "../../author/amounts.js";
import { type InboxEntry, isOpened } from "../../author/mailbox.js";
import { shownSender, textOf } from "../../author/message-facts.js";
import { Fields, Form } from "../layout.js";
import { Text } from "./parts.js";
import { conversationPath, MESSAGES, UNVERIFIED } from "./paths.js";

export const DeletePage: FC<{ entry: InboxEntry; address: string | null }> = ({ entry, address }) => (
  <>
    <p>This message by {shownSender(entry)} is deleted from your inbox for good:</p>
    {isOpened(entry) && <Text text={textOf(entry)} />}
    <Form action={`${MESSAGES}/delete`} class="actions">
      <Fields fields={{ id: entry.id, address: address ?? "" }} />
      <button type="submit" class="primary">
        Delete it
      </button>
      <a href={pathOf(address)}>Keep it</a>
    </Form>
  </>
);

export const BlockPage: FC<{ address: string; count: number }> = ({ address, count }) => (
  <>
    <p>
      {counted(count, "message")} of {address} {count === 1 ? "is" : "are"} deleted from your inbox for good, and so is
      what arrives from now on, as soon as it is opened. Your host cannot refuse it, because it cannot know who sealed a
      message.
    </p>
    <Form action={`${MESSAGES}/block`} class="actions">
      <Fields fields={{ address }} />
      <button type="submit" class="primary">
        Block this sender
      </button>
      <a href={pathOf(address)}>Do not block</a>
    </Form>
  </>
);

export function pathOf(address: string | null): string {
  return address === null ? UNVERIFIED : conversationPath(address);
}
