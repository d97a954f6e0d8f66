// plugin/client/messages/outbox-pages.tsx: messages that some recipients have not received yet: a page, and retrying and discarding.
import type { FC } from "hono/jsx";
import { shownAddress } from "../../author/messages/message-facts.js";
import { ownText } from "../../author/messages/threads.js";
import type { OwnKeys } from "../../messages/sealing.js";
import type { OutboxEntry } from "../../messages/send/outbox-entry.js";
import { formOf } from "../client-request.js";
import { Fields, Form } from "../layout.js";
import { MessageText } from "../strangers-text.js";
import { Time } from "../time.js";
import { deliveryOutcome, deliveryState } from "./delivery-text.js";
import type { RoomParts } from "./message-requests.js";
import { OUTBOX } from "./paths.js";

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
            <Time at={entry.created} />
          </p>
          <MessageText text={ownText(entry.sealed, keys) || "(read receipt)"} />
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

export function addOutbox({ routes, open, notices }: RoomParts): void {
  routes.get("/outbox", async (c) => {
    const { mailbox } = await open();
    return c.render(<OutboxPage entries={await mailbox.outbox().list()} keys={mailbox.keys} />, { title: "Outbox" });
  });

  routes.post("/outbox/retry", (c) =>
    notices.act(c, OUTBOX, async () => {
      const reports = await (await open()).mailbox.outbox().retry({ all: true });
      return { text: reports.length === 0 ? "The outbox has nothing to retry." : deliveryOutcome(reports) };
    }),
  );

  routes.post("/outbox/discard", async (c) => {
    const { id = "" } = await formOf(c);
    return notices.act(c, OUTBOX, async () => {
      const wasThere = await (await open()).mailbox.outbox().discard(id);
      return { text: wasThere ? "The message is no longer delivered." : "The message was no longer in the outbox." };
    });
  });
}
