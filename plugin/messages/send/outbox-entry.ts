// plugin/messages/send/outbox-entry.ts: a sealed message on its way, and how each attempt changes it. Pure.
import * as v from "valibot";
import { formatTimestamp } from "../../feed/timestamp.js";
import type { PostResult } from "../../http/post.js";
import { nextAttempt } from "../../http/retry.js";

const RecipientRecord = v.object({
  address: v.string(),
  endpoint: v.string(),
  state: v.picklist(["waiting", "delivered", "failed"]),
  /** How often it has failed. */
  attempts: v.number(),
  /** When it was tried first, in milliseconds since 1970. */
  first: v.number(),
  /** When it is tried next, in milliseconds since 1970; `null` where it is not. */
  next: v.nullable(v.number()),
  /** Half a sentence on the last failure; `null` where there was none. */
  why: v.nullable(v.string()),
});

export const EntryRecord = v.object({
  id: v.string(),
  created: v.string(),
  sealed: v.string(),
  keepCopy: v.boolean(),
  recipients: v.array(RecipientRecord),
});

export const SentRecord = v.object({
  id: v.string(),
  created: v.string(),
  sealed: v.string(),
  to: v.array(v.string()),
});

/** One to whom it goes. */
export type Recipient = v.InferOutput<typeof RecipientRecord>;
/** A message that not everybody has yet: `id` as an inbox has it, `created` `YYYY-MM-DDThh:mm:ssZ`, `sealed` armored. */
export type OutboxEntry = v.InferOutput<typeof EntryRecord>;
/** A message that was sent, still sealed, and the addresses to which it was delivered. */
export type SentCopy = v.InferOutput<typeof SentRecord>;

/** What is to be sent. */
export interface Outgoing {
  /** SHA-256 of the sealed bytes, as inboxes name it. */
  id: string;
  /** Armored. */
  sealed: string;
  recipients: readonly Pick<Recipient, "address" | "endpoint">[];
  /** Whether the sealed message is kept once everybody has it. */
  keepCopy: boolean;
}

/**
 * How long whoever tries a recipient has it for itself. It outlasts all attempts of one message, and where the process was
 * killed it is tried again after that.
 */
const IN_HAND_MS = 5 * 60_000;
/** Longer than any pause: what is to be tried that late was written while the clock was wrong. */
const TOO_LATE_MS = 4 * 24 * 3600_000;

/** An entry that whoever writes it delivers at once. */
export function newEntry({ recipients, ...outgoing }: Outgoing, now: number): OutboxEntry {
  const waiting = { state: "waiting" as const, attempts: 0, first: now, next: now + IN_HAND_MS, why: null };
  return {
    ...outgoing,
    created: formatTimestamp(now),
    recipients: recipients.map(({ address, endpoint }) => ({ address, endpoint, ...waiting })),
  };
}

/** @param all - also what is not due yet, and what was given up */
export function isDue({ state, next }: Recipient, all: boolean, now: number): boolean {
  const due = next ?? now;
  return state === "waiting" ? all || due <= now || due > now + TOO_LATE_MS : all && state === "failed";
}

/** Takes some recipients in hand, to try them now. For one that was given up all begins anew. */
export function takenInHand(
  entry: OutboxEntry,
  isWanted: (recipient: Recipient) => boolean,
  now: number,
): { entry: OutboxEntry; taken: Recipient[] } {
  const wanted = new Set(entry.recipients.filter(isWanted).map(({ address }) => address));
  const recipients = entry.recipients.map((recipient) => {
    if (!wanted.has(recipient.address)) return recipient;
    const anew = recipient.state === "failed" ? { attempts: 0, first: now } : {};
    return { ...recipient, ...anew, state: "waiting" as const, next: now + IN_HAND_MS };
  });
  return { entry: { ...entry, recipients }, taken: recipients.filter(({ address }) => wanted.has(address)) };
}

/** A recipient after an attempt. Who has it has it, whatever another process has seen. */
export function settled(recipient: Recipient, delivery: PostResult, now: number, random: () => number): Recipient {
  if (recipient.state === "delivered") return recipient;
  if (delivery.outcome === "accepted") return { ...recipient, state: "delivered", next: null, why: null };
  const attempts = recipient.attempts + 1;
  const { why } = delivery;
  const failed: Recipient = { ...recipient, state: "failed", attempts, next: null, why };
  if (delivery.outcome !== "unavailable") return failed;
  const next = nextAttempt({ attempts, first: recipient.first }, delivery.notBefore, now, random);
  return next === null ? failed : { ...failed, state: "waiting", next };
}

/** Whether everybody has it. */
export function isDone({ recipients }: OutboxEntry): boolean {
  return recipients.every(({ state }) => state === "delivered");
}

/** @returns `null` where nobody has it yet, or no copy is to be kept */
export function copyOf({ id, created, sealed, keepCopy, recipients }: OutboxEntry): SentCopy | null {
  const to = recipients.filter(({ state }) => state === "delivered").map(({ address }) => address);
  return keepCopy && to.length > 0 ? { id, created, sealed, to } : null;
}
