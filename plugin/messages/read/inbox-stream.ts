// plugin/messages/read/inbox-stream.ts: messages of one's own inbox as they come, over one connection after another.
import { TwtxtError } from "../../errors.js";
import { chunksUntil } from "../../store/chunks.js";
import { readEvents } from "./event-stream.js";
import { type InboxMessage, itemOf, refusal, textOf } from "./inbox-answer.js";

/** Sends one signed request. @throws TwtxtError `unreachable` */
export type AskInbox = (
  method: "GET" | "DELETE",
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal,
) => Promise<Response>;

export interface SubscriptionOptions {
  /** Of the inbox, with the cursor to begin after. */
  url: string;
  ask: AskInbox;
  /** Ends early, and without an error, where the signal says so. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Ends the subscription. */
  signal: AbortSignal;
  /** After so long a silence the connection is taken for broken, in milliseconds. */
  timeoutMs: number;
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
        const message = itemOf(options.url, part.data);
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

/** @returns `null` where the host offers no streams */
async function connect(options: SubscriptionOptions, lastId: string): Promise<Connection | null> {
  const { url, ask, signal, timeoutMs } = options;
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), timeoutMs);
  try {
    const headers = { accept: "text/event-stream", ...(lastId !== "" && { "last-event-id": lastId }) };
    const ending = AbortSignal.any([signal, silence.signal]);
    const response = await ask("GET", url, headers, ending);
    const isStream = /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
    if (response.ok && isStream && response.body) return watched(chunksUntil(response.body, ending), url, timer);
    if (!response.ok && response.status !== 406) {
      throw refusal(url, response.status, await textOf(response, ending).catch(brokenOff(url)));
    }
    await response.body?.cancel();
    clearTimeout(timer);
    return null;
  } catch (error) {
    clearTimeout(timer);
    throw error;
  }
}

function brokenOff(url: string): (cause: unknown) => never {
  return (cause) => {
    if (cause instanceof TwtxtError) throw cause;
    throw new TwtxtError("unreachable", `The stream of ${url} broke off.`, { cause });
  };
}

/** The bytes of a stream; each of them shows that the connection is still there. */
async function* watched(body: Connection, url: string, timer: NodeJS.Timeout): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) {
      timer.refresh();
      yield chunk;
    }
  } catch (cause) {
    brokenOff(url)(cause);
  } finally {
    clearTimeout(timer);
  }
}
