// plugin/messages/read/inbox-stream.ts: streams messages from the author's inbox, with reconnection.
import { TwtxtError } from "../../errors.js";
import { readEvents } from "../../http/event-stream.js";
import type { AskSite } from "../../http/site-api.js";
import { type InboxMessage, itemOf } from "./inbox-answer.js";

export interface SubscriptionOptions {
  ask: AskSite;
  /** The URL of the inbox, for errors. */
  inbox: string;
  /** The query with the cursor to start after; empty for all messages. */
  path: string;
  /** Resolves early when the signal is aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Ends the subscription. */
  signal: AbortSignal;
}

const MAX_LENGTH = 8 * 1024 * 1024;
/** The shortest pause before reconnecting. */
const PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** Ids kept to recognize repeats: after a reconnection, the host repeats the last minute. */
const REMEMBERED = 10_000;

/**
 * Connects, and reconnects whenever a connection ends.
 *
 * @returns messages, each once, until the signal is aborted or the host stops offering streams; `null` if it offers none
 * @throws TwtxtError for a refusal; once connected, temporary failures are retried
 * @see PROTOCOL 3.4
 */
export async function subscription(options: SubscriptionOptions): Promise<AsyncIterable<InboxMessage> | null> {
  const first = await connect(options, "");
  return first && messagesOf(first, options);
}

type Connection = AsyncIterable<Uint8Array>;

async function* messagesOf(first: Connection, options: SubscriptionOptions): AsyncGenerator<InboxMessage> {
  const seen = new Set<string>();
  let lastId = "";
  let pause = PAUSE_MS;
  for (let connection: Connection | null = first; connection; connection = await reconnect(options, lastId, pause)) {
    try {
      for await (const part of readEvents(connection, MAX_LENGTH)) {
        if (part.kind === "retry") pause = Math.max(part.milliseconds, PAUSE_MS);
        if (part.kind === "retry" || part.name !== "message") continue;
        const message = itemOf(options.inbox, part.data);
        lastId = part.id;
        if (isNew(message.id, seen)) yield message;
      }
    } catch (error) {
      throwIfPermanent(error);
    }
  }
}

function isNew(id: string, seen: Set<string>): boolean {
  if (seen.has(id)) return false;
  seen.add(id);
  const [oldest = id] = seen;
  if (seen.size > REMEMBERED) seen.delete(oldest);
  return true;
}

/** Pauses longer after each failure. @returns `null` at the end of the subscription */
async function reconnect(options: SubscriptionOptions, lastId: string, pause: number): Promise<Connection | null> {
  const { sleep, signal } = options;
  for (let failures = 0; !signal.aborted; failures += 1) {
    await sleep(Math.min(pause * 2 ** failures, LONGEST_PAUSE_MS), signal);
    if (signal.aborted) break;
    try {
      return await connect(options, lastId);
    } catch (error) {
      throwIfPermanent(error);
    }
  }
  return null;
}

function throwIfPermanent(error: unknown): void {
  if (!(error instanceof TwtxtError) || error.code !== "unreachable") throw error;
}

/** @returns `null` if the host offers no streams */
async function connect({ ask, path, signal }: SubscriptionOptions, lastId: string): Promise<Connection | null> {
  const headers = { accept: "text/event-stream", ...(lastId !== "" && { "last-event-id": lastId }) };
  const answer = await ask({ method: "GET", path, headers, expected: [406], signal });
  if (/^text\/event-stream\b/i.test(answer.headers.get("content-type") ?? "")) return answer.chunks();
  answer.close();
  return null;
}
