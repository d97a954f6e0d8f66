// plugin/client/messages/outbox-pages.tsx: deliveries in words, and the page of messages that some recipients have not received yet.
import type { FC } from "hono/jsx";
import { DATES } from "../../author/amounts.js";
import { describeDelay, discardMessage, NOTHING_TO_RETRY } from "../../author/messages/message-actions.js";
import { ownText, shownAddress } from "../../author/messages/message-facts.js";
import type { OwnKeys } from "../../messages/sealing.js";
import type { RecipientReport } from "../../messages/send/outbox.js";
import type { OutboxEntry, Recipient } from "../../messages/send/outbox-entry.js";
import { ActionButton } from "../form.js";
import { Time } from "../page-texts.js";
import { MessageText } from "../strangers-text.js";
import { OUTBOX, type RoomParts } from "./message-requests.js";

/** For the list of recipients, and for the message itself. */
export function deliveryState({ state, why, next }: Recipient): string {
  if (state === "delivered") return "delivered";
  const reason = describeDelay({ why });
  if (state === "failed") return `${reason}; not retried automatically`;
  return next === null ? reason : `${reason}; next attempt after ${DATES.format(new Date(next))}`;
}

/** The result of an attempt, for its notice. */
export function deliveryOutcome(reports: readonly RecipientReport[]): string {
  return reports.map(describeOutcome).join(" ");
}

export function hasFailed(reports: readonly RecipientReport[]): boolean {
  return reports.some(({ state }) => state === "failed");
}

function describeOutcome({ address, state, why }: RecipientReport): string {
  const recipient = shownAddress(address);
  const reason = describeDelay({ why });
  switch (state) {
    case "delivered":
      return `Delivered to ${recipient}.`;
    case "waiting":
      return `Not delivered yet to ${recipient}: ${reason}. It stays in the outbox, and is retried for up to three days.`;
    case "failed":
      return `Not delivered to ${recipient}: ${reason}. It stays in the outbox, but is not retried automatically: open the outbox to retry or discard it.`;
  }
}

const OutboxPage: FC<{ entries: readonly OutboxEntry[]; keys: OwnKeys }> = ({ entries, keys }) => (
  <>
    {entries.length === 0 ? (
      <p class="muted">Everything was delivered.</p>
    ) : (
      <ActionButton action="/messages/outbox/retry">Retry all now</ActionButton>
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
          <ActionButton action="/messages/outbox/discard" fields={{ id: entry.id }} class="quiet">
            Discard
          </ActionButton>
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

  notices.addForm(routes, "/outbox/retry", OUTBOX, async () => {
    const reports = await (await open()).mailbox.outbox().retry({ all: true });
    return { text: reports.length === 0 ? NOTHING_TO_RETRY : deliveryOutcome(reports) };
  });
  notices.addForm(routes, "/outbox/discard", OUTBOX, async ({ id }) => {
    const { mailbox } = await open();
    const entry = (await mailbox.outbox().list()).find((one) => one.id === id);
    return entry ? discardMessage(entry, mailbox) : { text: "The message was no longer in the outbox." };
  });
}
