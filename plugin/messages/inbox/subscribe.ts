// plugin/messages/inbox/subscribe.ts: an inbox as a stream of server-sent events.
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import { type HttpRequest, type HttpResponse, parseParameters } from "../../http/respond.js";
import { formatCursor, PRIVATE_HEADERS, parseCursor, toItem } from "./list.js";
import type { Place, StoredMessages } from "./stored.js";

/** Messages that are listed in one step. */
const PAGE = 100;
/** Milliseconds by which a message may appear in the store after its `created` time. */
const OVERLAP_MS = 60_000;
const HEARTBEAT_MS = 15_000;
/** Milliseconds after which a client reconnects. */
const RETRY_MS = 1000;

export interface SubscriptionTerms {
  /** Milliseconds that a stream lasts, below the platform's limit. */
  streamMs: number;
  /** Milliseconds between listings of the store, to find messages from other processes. */
  lookMs: number;
  /** Resolves at once when the signal is aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export interface OpenStreams {
  count: number;
}

interface SubscriptionParts {
  messages: StoredMessages;
  /** Has an event with the user's name for each new message in this process. */
  newMessages: EventTarget;
  now: Clock;
  /** `null` if the host offers no streams. */
  terms: SubscriptionTerms | null;
  /** Ends all streams. */
  signal: AbortSignal | undefined;
  /** Counts the stream while it is open. */
  openStreams: OpenStreams;
}

/**
 * Streams stored and new messages: events `message` with a list item as `data` and its cursor as `id`. It resumes after
 * `Last-Event-ID`, or else `?after=`.
 *
 * Messages may appear in a different order than their times. A stream therefore sends every message that it has not sent
 * yet, and a resumed one starts {@link OVERLAP_MS} before its cursor. Clients skip known ids.
 *
 * @throws TwtxtError `bad-request`; `not-acceptable` if the host offers no streams; `store-failed`
 * @see PROTOCOL 3.4
 */
export async function subscribe(request: HttpRequest, user: string, parts: SubscriptionParts): Promise<HttpResponse> {
  const { terms } = parts;
  if (!terms) throw new TwtxtError("not-acceptable", "This inbox offers no event stream. Request application/json.");
  const { after } = parseParameters(request.url, ["after"]);
  const cursor = request.headers.get("last-event-id") || after;
  const since = placeBefore(cursor === undefined ? 0 : parseCursor(cursor).created);
  const headers = {
    ...PRIVATE_HEADERS,
    "content-type": "text/event-stream",
    // Turns off buffering in nginx.
    "x-accel-buffering": "no",
  };
  if (request.method === "HEAD") return { status: 200, headers, body: null };

  const disconnecting = new AbortController();
  const events = streamEvents(user, since, disconnecting.signal, { ...parts, terms });
  // Until the first event, an error status can still be sent. After it, the stream is counted until it ends.
  const { value } = await events.next();
  return { status: 200, headers, body: toStream(value ?? "", events, disconnecting) };
}

/** The place before all messages that may appear after one of this time. */
function placeBefore(created: number): Place {
  return { created: created - OVERLAP_MS, id: "" };
}

/**
 * The events of a subscription. The first one sets the client's reconnection time. It is sent after a listing, so that a
 * failing store leads to an error status.
 *
 * @param since - before the first message to send
 * @param disconnected - aborted when the client disconnects
 */
async function* streamEvents(
  user: string,
  since: Place,
  disconnected: AbortSignal,
  { messages, newMessages, now, terms, signal, openStreams }: SubscriptionParts & { terms: SubscriptionTerms },
): AsyncGenerator<string, undefined> {
  const end = now() + terms.streamMs;
  const isOver = () => disconnected.aborted || signal?.aborted || now() >= end;
  let waking = new AbortController();
  const wake = () => waking.abort();
  newMessages.addEventListener(user, wake);
  disconnected.addEventListener("abort", wake);
  signal?.addEventListener("abort", wake);
  openStreams.count += 1;
  try {
    await messages.list(user, { after: since, limit: 1 });
    yield `retry: ${RETRY_MS}\n\n`;
    const sent: Sent = { times: new Map(), since };
    let beat = now() + HEARTBEAT_MS;
    while (!isOver()) {
      // Messages that arrive from here on end the next sleep before it starts.
      waking = new AbortController();
      for await (const event of unsentEvents(messages, user, sent)) {
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
    openStreams.count -= 1;
    newMessages.removeEventListener(user, wake);
    signal?.removeEventListener("abort", wake);
  }
}

interface Sent {
  /** The times of messages that are listed again, by ID. */
  times: Map<string, number>;
  /** Before the first message that may not have been sent yet. */
  since: Place;
}

/** @param sent - updated in place */
async function* unsentEvents(messages: StoredMessages, user: string, sent: Sent): AsyncGenerator<string> {
  for (let after = sent.since, isMore = true; isMore; ) {
    const found = await messages.list(user, { after, limit: PAGE });
    for (const message of found.page) {
      if (sent.times.has(message.id)) continue;
      sent.times.set(message.id, message.created);
      const [body] = await messages.bodies([message]);
      const id = formatCursor(message);
      if (body) yield `id: ${id}\nevent: message\ndata: ${JSON.stringify(toItem(message, body))}\n\n`;
    }
    const last = found.page.at(-1);
    if (!last) return;
    after = last;
    isMore = found.isMore;
    const again = placeBefore(last.created);
    if (again.created <= sent.since.created) continue;
    sent.since = again;
    for (const [id, created] of sent.times) if (created < again.created) sent.times.delete(id);
  }
}

/** Events are pulled one at a time. Waking the generator ends it at once when the client disconnects. */
function toStream(first: string, events: AsyncGenerator<string, undefined>, disconnecting: AbortController) {
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => controller.enqueue(Buffer.from(first)),
      async pull(controller) {
        const { value, done } = await events.next();
        if (done) controller.close();
        else controller.enqueue(Buffer.from(value));
      },
      async cancel() {
        disconnecting.abort();
        await events.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
