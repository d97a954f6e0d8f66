// plugin/cli/message/follow.ts: `message follow`: prints messages as they arrive.

import { type InboxEntry, Mailbox, sleep } from "../../author/mailbox.js";
import { factsOf } from "../../author/message-facts.js";
import { TwtxtError } from "../../errors.js";
import { cursorOf, type InboxClient, type InboxMessage } from "../../messages/read/inbox-client.js";
import { openMessages } from "../../messages/read/read.js";
import type { OwnSiteValues } from "../options.js";
import type { Terminal } from "../terminal.js";
import { messageLines } from "./message-text.js";

type Values = OwnSiteValues & { all: boolean; every: number };

export async function follow(values: Values, _: null, terminal: Terminal): Promise<number> {
  const mailbox = await Mailbox.open(values, terminal);
  const ending = new AbortController();
  const { signal } = ending;
  void terminal.ended().then(() => ending.abort());
  const inbox = await mailbox.inbox(reportingFetch(signal, terminal.say));
  const print = printer(mailbox, inbox, values.json, terminal);
  const onStart = () => terminal.say(`Waiting for messages to ${mailbox.author.address}. Stop with Ctrl-C.`);
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => {
    failures.push(error);
    ending.abort();
  };
  try {
    for await (const messages of newMessages(inbox, values, { signal, onStart })) {
      // Not awaited: the senders of later messages may be known sooner.
      void print(messages).catch(onFailure);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  if (failures.length > 0) throw failures[0];
  return 0;
}

/** Prints each message once its sender is looked up. Looks up each time: a key may change meanwhile. */
function printer(mailbox: Mailbox, inbox: InboxClient, isJson: boolean, terminal: Terminal) {
  const { keys, contacts } = mailbox;
  const lookup = mailbox.senders();
  let isFirst = true;
  const print = (message: InboxEntry) => {
    const lines = isJson ? [JSON.stringify(factsOf(message))] : messageLines(message, terminal.columns());
    for (const line of isFirst || isJson ? lines : ["", ...lines]) terminal.print(line);
    isFirst = false;
  };
  return async (messages: readonly InboxMessage[]) => {
    const opening = await openMessages(messages, { keys, contacts, lookup });
    const printing = opening.map(async (one) => {
      const { wanted } = await mailbox.withoutBlocked([await one], inbox);
      (await mailbox.withReceipts(wanted)).forEach(print);
    });
    await Promise.all(printing);
  };
}

type Place = Pick<InboxMessage, "id" | "created">;

/** Of two messages that arrive together, the one with the earlier time may be listed this much later. */
const OVERLAP_MS = 60_000;

/**
 * Waits for new messages and yields each once: through a subscription if the inbox offers one, else by polling.
 *
 * @param onStart - called once the existing messages are known
 * @throws TwtxtError as `InboxClient.list`; after the first list, outages are retried
 * @see PROTOCOL 3.4
 */
async function* newMessages(
  inbox: InboxClient,
  { all, every }: Pick<Values, "all" | "every">,
  { signal, onStart }: { signal: AbortSignal; onStart(): void },
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
  const places = [...known.values()].sort((a, b) => (cursorOf(a) < cursorOf(b) ? -1 : 1));
  const newest = Date.parse(places.at(-1)?.created ?? "");
  const last = places.findLast(({ created }) => Date.parse(created) <= newest - OVERLAP_MS);
  return last ? { after: cursorOf(last) } : {};
}

/**
 * Fetch for requests to one host over a long time: reports each outage once.
 *
 * @param signal - aborts every request
 * @param say - called when a host that has answered fails, and when it answers again
 */
function reportingFetch(signal: AbortSignal, say: (line: string) => void): typeof globalThis.fetch {
  let isUp: boolean | null = null;
  const note = (isAnswering: boolean, why: string) => {
    if (isUp === true && !isAnswering) say(`The inbox ${why}. Retrying until it is back.`);
    if (isUp === false && isAnswering) say("The inbox answers again.");
    if (isUp !== null || isAnswering) isUp = isAnswering;
  };
  return async (input, init) => {
    const signals = [signal, ...(init?.signal ? [init.signal] : [])];
    try {
      const answer = await fetch(input, { ...init, signal: AbortSignal.any(signals) });
      note(answer.status < 500 && answer.status !== 429, `answers ${answer.status}`);
      return answer;
    } catch (error) {
      if (!signal.aborted) note(false, "does not answer");
      throw error;
    }
  };
}
