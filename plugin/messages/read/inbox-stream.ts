// plugin/messages/read/inbox-stream.ts: messages of one's own inbox as they come, over one connection after another.
import { TwtxtError } from "../../errors.js";
import { readEvents } from "../../http/event-stream.js";
import type { AskSite } from "../../http/site-api.js";
import { type InboxMessage, itemOf } from "./inbox-answer.js";

export interface SubscriptionOptions {
  ask: AskSite;
  /** The URL of the inbox, for errors. */
  inbox: string;
  /** The query with the cursor to begin after; empty for the beginning. */
  path: string;
  /** Ends early, and without an error, where the signal says so. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Ends the subscription. */
  signal: AbortSignal;
}

const MAX_LENGTH = 8 * 1024 * 1024;
/** Before connecting again, where the host asks for no longer one. */
const PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** A host repeats the messages of a minute; so many of them are known again. */
const REMEMBERED = 10_000;

/**
 * Connects, and goes on after whatever ends a connection.
 *
 * @returns messages, each once, until the signal is aborted or the host offers no streams any more; `null` where it never
 *   did
 * @throws TwtxtError what a refusal means; once connected, what may pass is tried again
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
      throwUnlessItMayPass(error);
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

/** Pauses grow while the host does not answer. @returns `null` where it is over */
async function reconnect(options: SubscriptionOptions, lastId: string, pause: number): Promise<Connection | null> {
  const { sleep, signal } = options;
  for (let failures = 0; !signal.aborted; failures += 1) {
    await sleep(Math.min(pause * 2 ** failures, LONGEST_PAUSE_MS), signal);
    if (signal.aborted) break;
    try {
      return await connect(options, lastId);
    } catch (error) {
      throwUnlessItMayPass(error);
    }
  }
  return null;
}

function throwUnlessItMayPass(error: unknown): void {
  if (!(error instanceof TwtxtError) || error.code !== "unreachable") throw error;
}

/** A connection that stays silent for too long is taken for broken. @returns `null` where the host offers no streams */
async function connect({ ask, path, signal }: SubscriptionOptions, lastId: string): Promise<Connection | null> {
  const headers = { accept: "text/event-stream", ...(lastId !== "" && { "last-event-id": lastId }) };
  const answer = await ask({ method: "GET", path, headers, expected: [406], signal });
  if (/^text\/event-stream\b/i.test(answer.headers.get("content-type") ?? "")) return answer.chunks();
  answer.close();
  return null;
}
