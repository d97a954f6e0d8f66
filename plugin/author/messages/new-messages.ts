// plugin/author/messages/new-messages.ts: waits for new messages in the author's inbox.
import { TwtxtError } from "../../errors.js";
import { type InboxClient, type InboxMessage, toCursor } from "../../messages/read/inbox-client.js";
import type { Sleep } from "../../store/retry.js";
import { type Fetch, fetchSafely } from "../../transport/fetch.js";

type Place = Pick<InboxMessage, "id" | "created">;

/** A message may be listed this much later than another one that arrived at the same time or just after it. */
const OVERLAP_MS = 60_000;

/**
 * Waits for new messages and yields each once: through a subscription if the inbox offers one, else by polling.
 *
 * @param options - `all`: starts with the existing messages; `every`: seconds between two polls
 * @param onStart - called once the existing messages are known
 * @throws TwtxtError as `InboxClient.list`; after the first list, outages are retried
 * @see PROTOCOL 3.4
 */
export async function* newMessages(
  inbox: InboxClient,
  { all, every }: { all: boolean; every: number },
  { signal, sleep, onStart }: { signal: AbortSignal; sleep: Sleep; onStart(): void },
): AsyncGenerator<InboxMessage[]> {
  const known = new Map<string, Place>();
  const onlyNew = (messages: readonly InboxMessage[]) => {
    const unseen = messages.filter(({ id }) => !known.has(id));
    for (const { id, created } of unseen) known.set(id, { id, created });
    return unseen;
  };
  const poll = polling(inbox, known);

  const existing = onlyNew(await poll());
  if (all) yield existing;
  onStart();
  for (let isStreaming = true; !signal.aborted; ) {
    try {
      if (isStreaming) {
        const stream = await inbox.subscribe({ ...after(known), signal });
        for await (const message of stream ?? []) yield onlyNew([message]);
        isStreaming = false;
        continue;
      }
      yield onlyNew(await poll());
    } catch (error) {
      if (!(error instanceof TwtxtError) || error.code !== "unreachable") throw error;
    }
    await sleep(every * 1000, signal);
  }
}

/** Requests what has arrived since the last poll, with its ETag. */
function polling(inbox: InboxClient, known: ReadonlyMap<string, Place>): () => Promise<InboxMessage[]> {
  let last: { after?: string; etag: string | null } = { etag: null };
  return async () => {
    const cursor = after(known);
    const etag = cursor.after === last.after ? last.etag : null;
    const answer = await inbox.list({ ...cursor, ...(etag !== null && { etag }) });
    if (answer) last = { ...cursor, etag: answer.etag };
    return answer?.messages ?? [];
  };
}

/** The newest cursor before which no message can still appear, by the host's clock, which may differ from ours. */
function after(known: ReadonlyMap<string, Place>): { after?: string } {
  const places = [...known.values()].sort((a, b) => (toCursor(a) < toCursor(b) ? -1 : 1));
  const newest = Date.parse(places.at(-1)?.created ?? "");
  const last = places.findLast(({ created }) => Date.parse(created) <= newest - OVERLAP_MS);
  return last ? { after: toCursor(last) } : {};
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
