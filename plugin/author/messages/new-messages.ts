// plugin/author/messages/new-messages.ts: waits for new messages in the author's inbox.
import { TwtxtError } from "../../errors.js";
import { type InboxClient, type InboxMessage, toCursor } from "../../messages/read/inbox-client.js";
import type { Sleep } from "../../store/retry.js";
import { type Fetch, fetchSafely } from "../../transport/fetch.js";

type Place = Pick<InboxMessage, "id" | "created">;

/** A message may be listed this much later than another one that arrived at the same time or just after it. */
const OVERLAP_MS = 60_000;
const PAGE = 100;

interface NewMessagesOptions {
  /** Which of the existing messages are yielded first: `newest` for those of the last minutes, newest first. */
  existing: "all" | "newest" | "none";
  /** Seconds between two polls. */
  every: number;
}

/**
 * Waits for new messages and yields each once: through a subscription if the inbox offers one, else by polling.
 *
 * @param onStart - called once the existing messages are known
 * @throws TwtxtError as `InboxClient.list`; after the first list, outages are retried
 * @see PROTOCOL 3.4
 */
export async function* newMessages(
  inbox: InboxClient,
  { existing, every }: NewMessagesOptions,
  { signal, sleep, onStart }: { signal: AbortSignal; sleep: Sleep; onStart(): void },
): AsyncGenerator<InboxMessage[]> {
  const known = new KnownMessages();
  const poll = polling(inbox, known);
  if (existing === "all") yield known.add(await poll());
  else {
    for await (const page of inbox.newestFirst(PAGE)) {
      const found = known.add(page);
      if (existing === "newest") yield found;
      if (!known.mayBeRepeated(page.at(-1))) break;
    }
  }
  onStart();
  for (let isStreaming = true; !signal.aborted; ) {
    try {
      if (isStreaming) {
        const stream = await inbox.subscribe({ ...known.after(), signal });
        for await (const message of stream ?? []) yield known.add([message]);
        isStreaming = false;
        continue;
      }
      yield known.add(await poll());
    } catch (error) {
      if (!(error instanceof TwtxtError) || error.code !== "unreachable") throw error;
    }
    await sleep(every * 1000, signal);
  }
}

/** The messages that the host may list again, by ID. */
class KnownMessages {
  readonly #places = new Map<string, Place>();
  #newest = Number.NEGATIVE_INFINITY;
  #limit = PAGE;

  /** @returns those that were not known */
  add(messages: readonly InboxMessage[]): InboxMessage[] {
    const unseen = messages.filter(({ id }) => !this.#places.has(id));
    for (const { id, created } of unseen) {
      this.#places.set(id, { id, created });
      this.#newest = Math.max(this.#newest, Date.parse(created));
    }
    if (this.#places.size > this.#limit) this.#forget();
    return unseen;
  }

  /** Done when their number has doubled, so that a burst of messages costs no more than its size. */
  #forget(): void {
    const cursor = this.#findCursor();
    for (const place of this.#places.values()) {
      if (place !== cursor && !this.mayBeRepeated(place)) this.#places.delete(place.id);
    }
    this.#limit = 2 * this.#places.size + PAGE;
  }

  /** Whether the host may list a message again: a subscription starts before its cursor. */
  mayBeRepeated(place: Place | undefined): boolean {
    return place !== undefined && Date.parse(place.created) > this.#newest - 2 * OVERLAP_MS;
  }

  /** The newest cursor before which no message can still appear, by the host's clock, which may differ from ours. */
  after(): { after?: string } {
    const cursor = this.#findCursor();
    return cursor ? { after: toCursor(cursor) } : {};
  }

  #findCursor(): Place | null {
    let found: Place | null = null;
    for (const place of this.#places.values()) {
      const isOld = Date.parse(place.created) <= this.#newest - OVERLAP_MS;
      if (isOld && (found === null || toCursor(place) > toCursor(found))) found = place;
    }
    return found;
  }
}

/** Requests what has arrived since the last poll, with its ETag. */
function polling(inbox: InboxClient, known: KnownMessages): () => Promise<InboxMessage[]> {
  let last: { after?: string; etag: string | null } = { etag: null };
  return async () => {
    const cursor = known.after();
    const etag = cursor.after === last.after ? last.etag : null;
    const answer = await inbox.list({ ...cursor, ...(etag !== null && { etag }) });
    if (answer) last = { ...cursor, etag: answer.etag };
    return answer?.messages ?? [];
  };
}

/**
 * A `fetch` for many requests to one host, which reports when the host stops answering and when it answers again.
 *
 * @param signal - aborts every request
 * @param onChange - called when a host that has answered fails, with the reason as half a sentence, and with `null` when it
 *   answers again
 */
export function watchedFetch(signal: AbortSignal, onChange: (why: string | null) => void): Fetch {
  let isUp: boolean | null = null;
  const note = (isAnswering: boolean, why: string) => {
    if (isUp !== null && isUp !== isAnswering) onChange(isAnswering ? null : why);
    if (isUp !== null || isAnswering) isUp = isAnswering;
  };
  return async (input, init) => {
    const signals = [signal, ...(init?.signal ? [init.signal] : [])];
    try {
      const answer = await fetchSafely(input, { ...init, signal: AbortSignal.any(signals) });
      note(answer.status < 500 && answer.status !== 429, `answers ${answer.status}`);
      return answer;
    } catch (error) {
      if (!signal.aborted) note(false, "does not answer");
      throw error;
    }
  };
}
