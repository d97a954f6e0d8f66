// plugin/client/messages/delivery-text.ts: the state of a delivery in words, and what the author can do.

import { DATES } from "../../author/amounts.js";
import { shownAddress } from "../../author/messages/message-facts.js";
import type { RecipientReport } from "../../messages/send/outbox.js";
import type { Recipient } from "../../messages/send/outbox-entry.js";

const UNDER_WAY = "delivery is in progress";

/** For the list of recipients, and for the message itself. */
export function deliveryState({ state, why, next }: Recipient): string {
  if (state === "delivered") return "delivered";
  const reason = why ?? UNDER_WAY;
  if (state === "failed") return `${reason}; not tried again by itself`;
  return next === null ? reason : `${reason}; next attempt after ${DATES.format(new Date(next))}`;
}

/** The result of an attempt, for its notice. */
export function deliveryOutcome(reports: readonly RecipientReport[]): string {
  return reports.map(outcomeOf).join(" ");
}

export function hasFailed(reports: readonly RecipientReport[]): boolean {
  return reports.some(({ state }) => state === "failed");
}

function outcomeOf({ address, state, why }: RecipientReport): string {
  const recipient = shownAddress(address);
  const reason = why ?? UNDER_WAY;
  switch (state) {
    case "delivered":
      return `Delivered to ${recipient}.`;
    case "waiting":
      return `Not delivered yet to ${recipient}: ${reason}. It stays in the outbox, and is tried again for up to three days.`;
    case "failed":
      return `Not delivered to ${recipient}: ${reason}. It stays in the outbox, but is not tried again by itself: open the outbox to retry or discard it.`;
  }
}
