// plugin/client/messages/outbox-page.tsx: messages that some recipients have not received yet.

import type { FC } from "hono/jsx";
import { shownAddress } from "../../author/message-facts.js";
import { ownText } from "../../author/threads.js";
import type { OwnKeys } from "../../messages/sealing.js";
import type { OutboxEntry, Recipient } from "../../messages/send/outbox-entry.js";
import { DATES } from "../dates.js";
import { Fields, Form } from "../layout.js";
import { Text, Time } from "./parts.js";

export const OutboxPage: FC<{ entries: readonly OutboxEntry[]; keys: OwnKeys }> = ({ entries, keys }) => (
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
                {shownAddress(recipient.address)}: {stateOf(recipient)}
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

function stateOf({ state, why, next }: Recipient): string {
  if (state === "delivered") return "delivered";
  const reason = why ?? "delivery is in progress";
  if (state === "failed") return `failed: ${reason}`;
  return `${reason}${next === null ? "" : `; next attempt after ${DATES.format(new Date(next))}`}`;
}
