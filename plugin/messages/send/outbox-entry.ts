// plugin/messages/send/outbox-entry.ts: the record of a message in the outbox, and its changes. Pure.
import * as v from "valibot";
import type { PostResult } from "../../http/post.js";
import { nextAttempt } from "../../http/retry.js";

const RecipientRecord = v.object({
  address: v.string(),
  endpoint: v.string(),
  state: v.picklist(["waiting", "delivered", "failed"]),
  /** Number of failed attempts. */
  attempts: v.number(),
  /** Time of the first attempt, in milliseconds since 1970. */
  first: v.number(),
  /** Time of the next attempt, in milliseconds since 1970; `null` for none. */
  next: v.nullable(v.number()),
  /** The reason for the last failure, half a sentence; `null` for none. */
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

export type Recipient = v.InferOutput<typeof RecipientRecord>;
/** A message that some recipients lack: `id` as in inboxes, `created` `YYYY-MM-DDThh:mm:ss.sssZ`, `sealed` armored. */
export type OutboxEntry = v.InferOutput<typeof EntryRecord>;
/** The sealed copy of a sent message, with the addresses that received it. */
export type SentCopy = v.InferOutput<typeof SentRecord>;

export interface Outgoing {
  /** SHA-256 of the sealed bytes, the id in inboxes. */
  id: string;
  /** Armored. */
  sealed: string;
  recipients: readonly Pick<Recipient, "address" | "endpoint">[];
  /** Whether to keep the sealed message after delivery. */
  keepCopy: boolean;
}

/**
 * How long an attempt excludes other processes. Longer than all attempts of one message; after a killed process, the
 * next attempt follows then.
 */
const CLAIM_MS = 5 * 60_000;
/** Longer than any pause: a later `next` was written while the clock was wrong. */
const TOO_LATE_MS = 4 * 24 * 3600_000;

/** Creates an entry that its process delivers at once. */
export function newEntry({ recipients, ...outgoing }: Outgoing, now: number): OutboxEntry {
  const waiting = { state: "waiting" as const, attempts: 0, first: now, next: now + CLAIM_MS, why: null };
  return {
    ...outgoing,
    created: new Date(now).toISOString(),
    recipients: recipients.map(({ address, endpoint }) => ({ address, endpoint, ...waiting })),
  };
}

/** @param all - includes recipients that are not due yet or were given up */
export function isDue({ state, next }: Recipient, all: boolean, now: number): boolean {
  const due = next ?? now;
  return state === "waiting" ? all || due <= now || due > now + TOO_LATE_MS : all && state === "failed";
}

/** Claims recipients for an attempt. A recipient that was given up starts over. */
export function claimRecipients(
  entry: OutboxEntry,
  isWanted: (recipient: Recipient) => boolean,
  now: number,
): { entry: OutboxEntry; taken: Recipient[] } {
  const wanted = new Set(entry.recipients.filter(isWanted).map(({ address }) => address));
  const recipients = entry.recipients.map((recipient) => {
    if (!wanted.has(recipient.address)) return recipient;
    const anew = recipient.state === "failed" ? { attempts: 0, first: now } : {};
    return { ...recipient, ...anew, state: "waiting" as const, next: now + CLAIM_MS };
  });
  return { entry: { ...entry, recipients }, taken: recipients.filter(({ address }) => wanted.has(address)) };
}

/** The recipient's state after an attempt. `delivered` is final. */
export function afterAttempt(recipient: Recipient, delivery: PostResult, now: number, random: () => number): Recipient {
  if (recipient.state === "delivered") return recipient;
  if (delivery.outcome === "accepted") return { ...recipient, state: "delivered", next: null, why: null };
  const attempts = recipient.attempts + 1;
  const { why } = delivery;
  const failed: Recipient = { ...recipient, state: "failed", attempts, next: null, why };
  if (delivery.outcome !== "unavailable") return failed;
  const next = nextAttempt({ attempts, first: recipient.first }, delivery.notBefore, now, random);
  return next === null ? failed : { ...failed, state: "waiting", next };
}

export function isDone({ recipients }: OutboxEntry): boolean {
  return recipients.every(({ state }) => state === "delivered");
}

/** @returns `null` if no recipient has it yet, or no copy is wanted */
export function toSentCopy({ id, created, sealed, keepCopy, recipients }: OutboxEntry): SentCopy | null {
  const to = recipients.filter(({ state }) => state === "delivered").map(({ address }) => address);
  return keepCopy && to.length > 0 ? { id, created, sealed, to } : null;
}
