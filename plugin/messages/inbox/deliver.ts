// plugin/messages/inbox/deliver.ts: takes in what others send.

import { createHash } from "node:crypto";
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import { line, problem, readBody } from "../../http/respond.js";
import { canonicalForm, MESSAGE_BYTES, sealedBytes } from "../sealed-bytes.js";
import type { Shares } from "./share.js";
import type { StoredMessage, StoredMessages } from "./stored.js";

const DAY_S = 24 * 3600;
/** Seconds after which a full inbox may have been read. */
const FULL_RETRY = 3600;

/** How much an inbox holds. */
export interface InboxLimits {
  messages: number;
  bytes: number;
}

/**
 * Stores a message: 202, also where it is stored already or was deleted before. 400 `bad-armor`, `bad-message`, `too-large`
 * or `bad-request` for a sender's fault, 429 where the sender's address has filled its share for today, 503 `inbox-full`.
 *
 * Each process counts the deliveries that are under way in itself, so several at once may exceed the limits by as much.
 *
 * @throws TwtxtError those of a sender's fault; `store-failed`, and whether the message is stored is then not known
 * @see PROTOCOL 3.3
 */
export function delivering({ messages, shares, limits, now, onStored }: DeliveryParts) {
  const underWay = new Map<string, readonly Delivery[]>();

  const keep = async (
    user: string,
    { id, ids, body, size }: Delivery,
    before: readonly Delivery[],
    address: string,
  ) => {
    const [stored, ...wereDeleted] = await Promise.all([
      messages.all(user),
      ...[...ids].map((one) => messages.wasDeleted(user, one)),
    ]);
    if (wereDeleted.includes(true) || stored.some((message) => ids.has(message.id))) return isKept();

    if (!hasRoom([...stored, ...othersOf(before, [id, ...stored.map((message) => message.id)])], size, limits)) {
      return isFull();
    }
    if (!(await shares.take(user, address, { id, size }))) return isTooMuch(now());
    await messages.keep(user, id, body);
    onStored(user);
    return isKept();
  };

  return async (request: Request, user: string, address: string): Promise<Response> => {
    const delivery = deliveryOf(await bodyOfMessage(request));
    const before = underWay.get(user) ?? [];
    underWay.set(user, [...before, delivery]);
    try {
      return await keep(user, delivery, before, address);
    } finally {
      const left = (underWay.get(user) ?? []).filter((one) => one !== delivery);
      if (left.length > 0) underWay.set(user, left);
      else underWay.delete(user);
    }
  };
}

/** A message that is being delivered. */
interface Delivery {
  id: string;
  /** Messages of earlier versions are stored, and deleted, under the hash of the bytes that came. */
  ids: ReadonlySet<string>;
  body: Uint8Array;
  size: number;
}

function deliveryOf(body: Uint8Array): Delivery {
  const bytes = sealedBytes(body);
  const id = idOf(canonicalForm(bytes));
  return { id, ids: new Set([id, idOf(bytes)]), body, size: body.length };
}

/** Deliveries of messages without these ids, one of each message. */
function othersOf(deliveries: readonly Delivery[], ids: readonly string[]): Delivery[] {
  const known = new Set(ids);
  return deliveries.filter(({ id }) => !known.has(id) && known.add(id));
}

export interface DeliveryParts {
  messages: StoredMessages;
  shares: Shares;
  limits: InboxLimits;
  now: Clock;
  onStored(user: string): void;
}

/** What is taken of an inbox, from 0 to 1. */
export function fullnessOf(stored: readonly StoredMessage[], limits: InboxLimits): number {
  return Math.min(1, Math.max(stored.length / limits.messages, bytesOf(stored) / limits.bytes));
}

function idOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

async function bodyOfMessage(request: Request): Promise<Uint8Array> {
  const encoding = request.headers.get("content-encoding")?.trim().toLowerCase() || "identity";
  if (encoding !== "identity") throw new TwtxtError("bad-request", "Send the message without a Content-Encoding.");
  try {
    return await readBody(request, MESSAGE_BYTES);
  } catch (error) {
    // 413 is what a platform says by itself, and means nothing else. PROTOCOL 3.3.
    const isTooLarge = error instanceof TwtxtError && error.code === "body-too-large";
    throw isTooLarge ? new TwtxtError("too-large", `A message is at most ${MESSAGE_BYTES} bytes.`) : error;
  }
}

function hasRoom(
  stored: readonly Pick<StoredMessage, "size">[],
  size: number,
  { messages, bytes }: InboxLimits,
): boolean {
  return stored.length < messages && bytesOf(stored) + size <= bytes;
}

function bytesOf(stored: readonly Pick<StoredMessage, "size">[]): number {
  return stored.reduce((sum, { size }) => sum + size, 0);
}

function isKept(): Response {
  return line("The message is kept.", { status: 202 });
}

/** Answered, not thrown: strangers would fill the log of a full inbox. */
function isFull(): Response {
  const error = new TwtxtError("inbox-full", "This inbox is full. Try again later.");
  return problem(error, { "retry-after": String(FULL_RETRY) });
}

function isTooMuch(now: number): Response {
  const error = new TwtxtError("too-many-requests", "Your address has filled its share of this inbox for today.");
  return problem(error, { "retry-after": String(DAY_S - (Math.floor(now / 1000) % DAY_S)) });
}
