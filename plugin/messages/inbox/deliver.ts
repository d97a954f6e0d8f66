// plugin/messages/inbox/deliver.ts: accepts messages from senders.
import { hash } from "node:crypto";
import type { Clock } from "../../clock.js";
import { ifTwtxtError, TwtxtError } from "../../errors.js";
import { listNetworks } from "../../http/client-networks.js";
import type { DailyShares } from "../../http/daily-shares.js";
import { type HttpRequest, type HttpResponse, line, problem, readBody } from "../../http/respond.js";
import { canonicalForm, MESSAGE_BYTES, sealedBytes } from "../sealed-bytes.js";
import type { Admission, InboxLimits, Refusal } from "./admission.js";
import type { StoredMessage, StoredMessages } from "./stored.js";

const DAY_S = 24 * 3600;
/** Seconds until a retry of a full inbox makes sense. */
const FULL_RETRY = 3600;

export interface DeliveryParts {
  messages: StoredMessages;
  shares: DailyShares;
  admission: Admission;
  now: Clock;
  /** @param size - in bytes */
  onStored(user: string, size: number): void;
}

/**
 * Stores a message. Answers 202, also for a message that is already stored or was deleted; 429 if the sender's address has
 * used up its daily share; 503 `inbox-full`.
 *
 * @param inbox - `address`: the client's IP address, which has a daily share of the inbox; `null` for no share
 * @throws TwtxtError `bad-armor` or `bad-message`, for 400; `store-failed`, after which the message may or may not be stored
 * @see PROTOCOL 3.3
 */
export async function acceptMessage(
  body: Uint8Array,
  { user, limits, address }: { user: string; limits: InboxLimits; address: string | null },
  { messages, shares, admission, now, onStored }: DeliveryParts,
): Promise<HttpResponse> {
  const size = body.length;
  // The same for all encodings of a message.
  const id = hash("sha256", canonicalForm(sealedBytes(body)));
  const senders = address === null ? [] : await shares.findFolders(`inbox/${user}`, listNetworks(address));
  const admitted = await admission.admit({ user, id, size, senders }, limits);
  if (typeof admitted === "string") return toResponse(admitted, now());
  try {
    const records = senders.map((sender) => shares.record(sender, admitted));
    const writes = [...records, messages.keep(user, admitted, body)];
    // After a failure, too, all have ended when the sender tries again.
    await Promise.allSettled(writes);
    await Promise.all(writes);
  } finally {
    admitted.end();
  }
  onStored(user, size);
  return toResponse("known", now());
}

/** Refusals are returned, not thrown, so that a full inbox does not fill the log. */
function toResponse(decision: Refusal, now: number): HttpResponse {
  if (decision === "known") return line("Message stored.", 202);
  if (decision === "full") {
    const error = new TwtxtError("inbox-full", "This inbox is full. Try again later.");
    return problem(error, { "retry-after": String(FULL_RETRY) });
  }
  const what = "Your IP address has used its share of this inbox for today. Try again tomorrow.";
  const tomorrow = DAY_S - (Math.floor(now / 1000) % DAY_S);
  return problem(new TwtxtError("too-many-requests", what), { "retry-after": String(tomorrow) });
}

/** How full an inbox is, from 0 to 1. */
export function measureFullness(stored: readonly StoredMessage[], limits: InboxLimits): number {
  const bytes = stored.reduce((sum, { size }) => sum + size, 0);
  return Math.min(1, Math.max(stored.length / limits.messages, bytes / limits.bytes));
}

/** @throws TwtxtError `bad-request` or `too-large` */
export async function bodyOfMessage(request: HttpRequest): Promise<Uint8Array> {
  const encoding = request.headers.get("content-encoding")?.trim().toLowerCase() || "identity";
  if (encoding !== "identity") throw new TwtxtError("bad-request", "Send the message without a Content-Encoding.");
  // Not 413, which platforms send on their own. PROTOCOL 3.3.
  const refuse = () => {
    throw new TwtxtError("too-large", `A message is at most ${MESSAGE_BYTES} bytes.`);
  };
  return readBody(request, MESSAGE_BYTES).catch(ifTwtxtError(refuse, "body-too-large"));
}
