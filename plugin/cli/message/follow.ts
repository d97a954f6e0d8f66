// plugin/cli/message/follow.ts: `message follow`: prints messages as they come.
import type { InboxMessage } from "../../messages/read/inbox-answer.js";
import { openMessages, type UnreadableMessage } from "../../messages/read/read.js";
import { misuse, readArguments } from "../command.js";
import { OWN_SITE_OPTIONS } from "../own-site.js";
import type { Terminal } from "../terminal.js";
import { type Mailbox, mailboxOf, sleep } from "./mailbox.js";
import { newMessages } from "./new-messages.js";
import { type ReadMessage, withReceipts } from "./read-messages.js";
import { factsOf, messageLines } from "./shown.js";
import { watchedFetch } from "./watched-fetch.js";

const OPTIONS = { ...OWN_SITE_OPTIONS, every: { type: "string" }, all: { type: "boolean" } } as const;

const EVERY_S = 30;
const LEAST_S = 5;
const MOST_S = 86_400;

export async function follow(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments("message follow", args, OPTIONS);
  if (positionals.length > 0) throw misuse(`message follow: takes no ids, got "${positionals[0]}".`, "message");
  const pauseMs = secondsOf(values.every) * 1000;
  const mailbox = await mailboxOf(values, terminal);
  const ending = new AbortController();
  const { signal } = ending;
  void terminal.ended().then(() => ending.abort());

  const inbox = await mailbox.inbox(watchedFetch(signal, terminal.say));
  const show = printer(mailbox, values.json ?? false, terminal);
  const onBegin = () => terminal.say(`Waiting for messages to ${mailbox.author.address}. Ctrl-C ends it.`);
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => {
    failures.push(error);
    ending.abort();
  };
  try {
    for await (const messages of newMessages({ inbox, all: values.all ?? false, pauseMs, sleep, signal, onBegin })) {
      // Not waited for: what comes next may be known sooner.
      void show(messages).catch(onFailure);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  if (failures.length > 0) throw failures[0];
  return 0;
}

/** Shows each message once its sender is looked up, which is done anew each time: a key may change while it waits. */
function printer(mailbox: Mailbox, isJson: boolean, terminal: Terminal) {
  const { keys, contacts } = mailbox;
  const lookup = mailbox.senders();
  let isFirst = true;
  const print = (message: ReadMessage | UnreadableMessage) => {
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

function secondsOf(text: string | undefined): number {
  if (text === undefined) return EVERY_S;
  if (/^\d{1,5}$/.test(text) && Number(text) >= LEAST_S && Number(text) <= MOST_S) return Number(text);
  throw misuse(
    `message follow: --every is a number of seconds from ${LEAST_S} to ${MOST_S}, got "${text}".`,
    "message",
  );
}
