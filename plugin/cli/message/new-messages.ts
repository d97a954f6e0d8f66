// plugin/cli/message/new-messages.ts: messages of one's own inbox as they come, whatever the host offers.
import { TwtxtError } from "../../errors.js";
import type { InboxMessage } from "../../messages/read/inbox-answer.js";
import { cursorOf, type InboxClient, type MessageList } from "../../messages/read/inbox-client.js";

export interface NewMessagesOptions {
  inbox: InboxClient;
  /** Whether those come first that are there already. */
  all: boolean;
  /** Between two looks at an inbox that offers no subscription, and after an outage, in milliseconds. */
  pauseMs: number;
  /** Ends early, and without an error, where the signal says so. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Ends it all. */
  signal: AbortSignal;
  /** Told once it is known what is there already. */
  onBegin(): void;
}

type Place = Pick<InboxMessage, "id" | "created">;

/** Of two messages that come at once, the one with the earlier time may be listed up to so much later. */
const OVERLAP_MS = 60_000;

/**
 * Waits for messages, each of which comes once: by a subscription where the host offers one, else by looking again and
 * again.
 *
 * @throws TwtxtError as `InboxClient.list`; once it has begun, what may pass is tried again
 * @see PROTOCOL 3.4
 */
export async function* newMessages(options: NewMessagesOptions): AsyncGenerator<InboxMessage[]> {
  const { inbox, all, pauseMs, sleep, signal, onBegin } = options;
  const known = new Map<string, Place>();
  const unknown = (messages: readonly InboxMessage[]) => {
    const fresh = messages.filter(({ id }) => !known.has(id));
    for (const { id, created } of fresh) known.set(id, { id, created });
    return fresh;
  };
  const poll = polling(inbox, known);

  const before = unknown(await poll());
  if (all) yield before;
  onBegin();
  for (let isStreaming = true; !signal.aborted; ) {
    try {
      if (isStreaming) {
        const stream = await inbox.subscribe({ ...after(known), signal });
        for await (const message of stream ?? []) yield unknown([message]);
        isStreaming = false;
        continue;
      }
      yield unknown(await poll());
    } catch (error) {
      if (!(error instanceof TwtxtError) || error.code !== "unreachable") throw error;
    }
    await sleep(pauseMs, signal);
  }
}

/** Asks for what has come since a place, and is spared an answer where nothing has. */
function polling(inbox: InboxClient, known: ReadonlyMap<string, Place>): () => Promise<InboxMessage[]> {
  let last: { after?: string; etag: string | null } = { etag: null };
  return async () => {
    const place = after(known);
    const etag = place.after === last.after ? last.etag : null;
    const answer: MessageList | null = await inbox.list({ ...place, ...(etag !== null && { etag }) });
    if (answer) last = { ...place, etag: answer.etag };
    return answer?.messages ?? [];
  };
}

/** The newest place before which nothing can show any more: by the times of the host alone, whose clock may differ. */
function after(known: ReadonlyMap<string, Place>): { after?: string } {
  const places = [...known.values()].sort((a, b) => (cursorOf(a) < cursorOf(b) ? -1 : 1));
  const newest = Date.parse(places.at(-1)?.created ?? "");
  const settled = places.findLast(({ created }) => Date.parse(created) <= newest - OVERLAP_MS);
  return settled ? { after: cursorOf(settled) } : {};
}
