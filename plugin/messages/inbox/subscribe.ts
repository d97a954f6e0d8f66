// plugin/messages/inbox/subscribe.ts: an inbox as a stream of server-sent events.
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import { parseParameters } from "../../http/parameters.js";
import { formatCursor, itemOf, parseCursor } from "./item.js";
import { PRIVATE_HEADERS } from "./list.js";
import type { NewMessageEvents } from "./new-message-events.js";
import type { StoredMessage, StoredMessages } from "./stored.js";

/** So long a message may take from the time that it carries until it shows in the store. */
export const OVERLAP_MS = 60_000;
const HEARTBEAT_MS = 15_000;
/** After so many milliseconds a client connects again. */
const RETRY_MS = 1000;

/** How a host lets its readers subscribe. */
export interface SubscriptionTerms {
  /** How long a stream lasts, in milliseconds: less than the platform allows. */
  streamMs: number;
  /** How often the keys are looked at for what another process has stored, in milliseconds. */
  lookMs: number;
  /** Ends early, and at once, where the signal is aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/**
 * Streams messages as they come, after those that are there: events `message` with an item of the list as `data` and its
 * cursor as `id`. It goes on after `Last-Event-ID`, or else `?after=`.
 *
 * Two deliveries may show in another order than that of their times. So a stream sends each message that it has not sent
 * yet, whatever its time, and one that goes on begins {@link OVERLAP_MS} before its cursor: a client drops ids that it knows.
 *
 * @throws TwtxtError `bad-request`; `not-acceptable` where the host offers no streams; `store-failed`
 * @see PROTOCOL 3.4
 */
export function subscribing(parts: SubscriptionParts) {
  return async (request: Request, user: string): Promise<Response> => {
    const { terms, messages, signal } = parts;
    if (!terms) throw new TwtxtError("not-acceptable", "Nobody can subscribe here. Ask for application/json.");
    const since = sinceOf(request);
    const headers = {
      ...PRIVATE_HEADERS,
      "content-type": "text/event-stream",
      // nginx would hold events back until it has some kilobytes of them.
      "x-accel-buffering": "no",
    };
    if (request.method === "HEAD") return new Response(null, { headers });
    // A store that is down becomes a status, which it cannot any more once the stream has begun.
    await messages.all(user);

    const ending = new AbortController();
    const end = () => ending.abort();
    signal?.addEventListener("abort", end);
    if (signal?.aborted) end();
    const events = eventsOf({ ...parts, terms, user, since, ended: ending.signal });
    const onEnd = () => signal?.removeEventListener("abort", end);
    return new Response(streamOf(events, end, onEnd), { headers });
  };
}

export interface SubscriptionParts {
  messages: StoredMessages;
  newMessages: NewMessageEvents;
  now: Clock;
  terms: SubscriptionTerms | null;
  /** Ends all streams. */
  signal?: AbortSignal | undefined;
}

/** @returns the earliest time that is sent, in milliseconds since 1970 */
function sinceOf(request: Request): number {
  const { after } = parseParameters(request.url, ["after"]);
  const cursor = request.headers.get("last-event-id") || after;
  return cursor === undefined ? 0 : parseCursor(cursor).created - OVERLAP_MS;
}

interface Subscription extends SubscriptionParts {
  terms: SubscriptionTerms;
  user: string;
  since: number;
  ended: AbortSignal;
}

async function* eventsOf(subscription: Subscription): AsyncGenerator<string> {
  const { newMessages, now, terms, user, ended } = subscription;
  const end = now() + terms.streamMs;
  const isOver = () => ended.aborted || now() >= end;
  const sent = new Set<string>();
  let beat = now() + HEARTBEAT_MS;
  let waking = new AbortController();
  const wake = () => waking.abort();
  const stopListening = newMessages.listen(user, wake);
  ended.addEventListener("abort", wake);

  try {
    yield `retry: ${RETRY_MS}\n\n`;
    while (!isOver()) {
      // What rings from here on ends the next sleep before it begins.
      waking = new AbortController();
      for await (const event of unsentOf(subscription, sent)) {
        if (isOver()) return;
        yield event;
      }
      if (now() >= beat) {
        yield ": still here\n\n";
        beat = now() + HEARTBEAT_MS;
      }
      await terms.sleep(Math.min(terms.lookMs, beat - now(), end - now()), waking.signal);
    }
  } finally {
    stopListening();
    ended.removeEventListener("abort", wake);
  }
}

/** @param sent - ids, to which it adds those that it gives */
async function* unsentOf({ messages, user, since }: Subscription, sent: Set<string>): AsyncGenerator<string> {
  for (const message of await messages.all(user)) {
    if (message.created < since || sent.has(message.id)) continue;
    sent.add(message.id);
    const [body] = await messages.bodies([message]);
    if (body) yield eventOf(message, body);
  }
}

function eventOf(message: StoredMessage, body: Uint8Array): string {
  return `id: ${formatCursor(message)}\nevent: message\ndata: ${JSON.stringify(itemOf(message, body))}\n\n`;
}

/** A reader who is slow gets one event after another, and one who goes leaves nothing behind. */
function streamOf(events: AsyncGenerator<string>, end: () => void, onEnd: () => void): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { value, done } = await events.next();
          if (!done) return controller.enqueue(Buffer.from(value));
          onEnd();
          controller.close();
        } catch (error) {
          onEnd();
          throw error;
        }
      },
      async cancel() {
        end();
        onEnd();
        await events.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
