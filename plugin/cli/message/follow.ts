// plugin/cli/message/follow.ts: `message follow`: prints messages as they arrive.
import { type InboxEntry, Mailbox } from "../../author/messages/mailbox.js";
import { toFacts } from "../../author/messages/message-facts.js";
import { newMessages, watchedFetch } from "../../author/messages/new-messages.js";
import type { InboxClient, InboxMessage } from "../../messages/read/inbox-client.js";
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
  const inbox = await mailbox.inbox(
    watchedFetch(signal, (why) =>
      terminal.say(why === null ? "The inbox answers again." : `The inbox ${why}. Retrying until it is back.`),
    ),
  );
  const print = printer(mailbox, inbox, values.json, terminal);
  const onStart = () => terminal.say(`Waiting for messages to ${mailbox.author.address}. Stop with Ctrl-C.`);
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => {
    failures.push(error);
    ending.abort();
  };
  try {
    const options = { existing: values.all ? ("all" as const) : ("none" as const), every: values.every };
    for await (const messages of newMessages(inbox, options, { signal, sleep: terminal.sleep, onStart })) {
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
    const lines = isJson ? [JSON.stringify(toFacts(message))] : messageLines(message, terminal.columns());
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
    await mailbox.readMarks.add(messages.map(({ id }) => id));
  };
}
