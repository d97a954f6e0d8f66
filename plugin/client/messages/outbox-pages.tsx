// plugin/client/messages/outbox-pages.tsx: messages that some recipients have not received yet: a page, and retrying and discarding.
import type { FC } from "hono/jsx";
import { shownAddress } from "../../author/messages/message-facts.js";
import { ownText } from "../../author/messages/threads.js";
import type { OwnKeys } from "../../messages/sealing.js";
import type { OutboxEntry } from "../../messages/send/outbox-entry.js";
import { Fields, Form } from "../layout.js";
import { deliveryOutcome, deliveryState } from "./delivery-text.js";
import { actionsOf, type RoomParts } from "./message-requests.js";
import { OUTBOX } from "./paths.js";
import { Text, Time } from "./text-and-time.js";

const OutboxPage: FC<{ entries: readonly OutboxEntry[]; keys: OwnKeys }> = ({ entries, keys }) => (
  <>
    {entries.length === 0 ? (
      <p class="muted">Everything was delivered.</p>
    ) : (
      <Form action="/messages/outbox/retry">
        <button type="submit">Retry all now</button>
      </Form>
    )}
    <ul class="items" id="outbox" data-live>
      {entries.map((entry) => (
        <li id={`m-${entry.id}`} data-item tabindex={-1}>
          <p class="by">
            <Time time={entry.created} />
          </p>
          <Text text={ownText(entry.sealed, keys) || "(read receipt)"} />
          <ul>
            {entry.recipients.map((recipient) => (
              <li>
                {shownAddress(recipient.address)}: {deliveryState(recipient)}
              </li>
            ))}
          </ul>
          <Form action="/messages/outbox/discard">
            <Fields fields={{ id: entry.id }} />
            <button type="submit" class="quiet">
              Discard
            </button>
          </Form>
        </li>
      ))}
    </ul>
  </>
);

export function addOutbox(room: RoomParts): void {
  const act = actionsOf(room);
  room.routes.get("/outbox", async (c) => {
    const { mailbox } = await room.open();
    return c.render(<OutboxPage entries={await mailbox.outbox().list()} keys={mailbox.keys} />, { title: "Outbox" });
  });

  act(
    "/outbox/retry",
    () => OUTBOX,
    async (_, { mailbox }) => {
      const reports = await mailbox.outbox().retry({ all: true });
      return { text: reports.length === 0 ? "The outbox has nothing to retry." : deliveryOutcome(reports) };
    },
  );

  act(
    "/outbox/discard",
    () => OUTBOX,
    async ({ id = "" }, { mailbox }) => {
      const wasThere = await mailbox.outbox().discard(id);
      return { text: wasThere ? "The message is no longer delivered." : "The message was no longer in the outbox." };
    },
  );
}
