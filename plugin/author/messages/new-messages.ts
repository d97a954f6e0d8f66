// plugin/author/messages/new-messages.ts: waits for new messages in the author's inbox.
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
  if (existing === "all") yield known.add((await inbox.list())?.messages ?? []);
  else {
    for await (const page of inbox.newestFirst(PAGE)) {
      const found = known.add(page);
      if (existing === "newest") yield found;
      if (!known.mayBeRepeated(page.at(-1))) break;
    }
  }
  onStart();
  const wait = () => sleep(every * 1000, signal).then(() => true);
  for await (const messages of inbox.follow({ after: () => known.after(), signal, wait })) yield known.add(messages);
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
  after(): string | undefined {
    const cursor = this.#findCursor();
    return cursor ? toCursor(cursor) : undefined;
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
