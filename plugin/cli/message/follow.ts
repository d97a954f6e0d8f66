// plugin/cli/message/follow.ts: `message follow`: prints messages as they arrive.
import { TwtxtError } from "../../errors.js";
import type { InboxMessage } from "../../messages/read/inbox-answer.js";
import { cursorOf, type InboxClient, type MessageList } from "../../messages/read/inbox-client.js";
import { openMessages } from "../../messages/read/read.js";
import type { OwnSiteValues } from "../options.js";
import type { Terminal } from "../terminal.js";
import { type InboxEntry, type Mailbox, mailboxOf, sleep, withReceipts } from "./mailbox.js";
import { factsOf, messageLines } from "./message-text.js";

export async function follow(
  values: OwnSiteValues & { all: boolean; every: number },
  _: null,
  terminal: Terminal,
): Promise<number> {
  const mailbox = await mailboxOf(values, terminal);
  const ending = new AbortController();
  const { signal } = ending;
  void terminal.ended().then(() => ending.abort());
  const inbox = await mailbox.inbox(watchedFetch(signal, terminal.say));
  const show = printer(mailbox, values.json, terminal);
  const onStart = () => terminal.say(`Waiting for messages to ${mailbox.author.address}. Stop with Ctrl-C.`);
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => {
    failures.push(error);
    ending.abort();
  };
  const options = { inbox, all: values.all, pauseMs: values.every * 1000, sleep, signal, onStart };
  try {
    for await (const messages of newMessages(options)) {
      // Not awaited: the senders of later messages may be known sooner.
      void show(messages).catch(onFailure);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  if (failures.length > 0) throw failures[0];
  return 0;
}

/** Prints each message once its sender is looked up. Looks up each time: a key may change meanwhile. */
function printer(mailbox: Mailbox, isJson: boolean, terminal: Terminal) {
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
    await Promise.all(
      opening.map(async (one) => {
        for (const message of await withReceipts([await one], mailbox)) print(message);
      }),
    );
  };
}

interface NewMessagesOptions {
  inbox: InboxClient;
  /** Whether to start with the messages that are already there. */
  all: boolean;
  /** Between two polls of an inbox without subscriptions, and after an outage, in milliseconds. */
  pauseMs: number;
  /** Resolves early when the signal aborts. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  signal: AbortSignal;
  /** Called once the existing messages are known. */
  onStart(): void;
}

type Place = Pick<InboxMessage, "id" | "created">;

/** Of two messages that arrive together, the one with the earlier time may be listed this much later. */
const OVERLAP_MS = 60_000;

/**
 * Waits for new messages and yields each once: through a subscription where the inbox offers one, else by polling.
 *
 * @throws TwtxtError as `InboxClient.list`; after the first list, outages are retried
 * @see PROTOCOL 3.4
 */
async function* newMessages(options: NewMessagesOptions): AsyncGenerator<InboxMessage[]> {
  const { inbox, all, pauseMs, sleep: pause, signal, onStart } = options;
  const known = new Map<string, Place>();
  const unknown = (messages: readonly InboxMessage[]) => {
    const fresh = messages.filter(({ id }) => !known.has(id));
    for (const { id, created } of fresh) known.set(id, { id, created });
    return fresh;
  };
  const poll = polling(inbox, known);

  const before = unknown(await poll());
  if (all) yield before;
  onStart();
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
    await pause(pauseMs, signal);
  }
}

/** Requests what has arrived since the last poll, with its ETag. */
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

/** The newest cursor before which no message can appear any more, by the host's clock, which may differ from ours. */
function after(known: ReadonlyMap<string, Place>): { after?: string } {
  const places = [...known.values()].sort((a, b) => (cursorOf(a) < cursorOf(b) ? -1 : 1));
  const newest = Date.parse(places.at(-1)?.created ?? "");
  const settled = places.findLast(({ created }) => Date.parse(created) <= newest - OVERLAP_MS);
  return settled ? { after: cursorOf(settled) } : {};
}

/**
 * Fetch for requests to one host over a long time: reports each outage once.
 *
 * @param signal - aborts every request
 * @param say - called when a host that has answered fails, and when it answers again
 */
function watchedFetch(signal: AbortSignal, say: (line: string) => void): typeof globalThis.fetch {
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
