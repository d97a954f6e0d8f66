// plugin/cli/message/read-inbox.ts: `message list`, `read` with receipts, `delete` and `follow`.
import { counted } from "../../author/amounts.js";
import { misuse, typed } from "../../author/invocation.js";
import { hasFailed, Mailbox } from "../../author/messages/mailbox.js";
import {
  type InboxEntry,
  inSeconds,
  isOpened,
  openCopies,
  type ReadMessage,
  toFacts,
  toThreads,
} from "../../author/messages/message-facts.js";
import { newMessages, watchedFetch } from "../../author/messages/new-messages.js";
import { TwtxtError } from "../../errors.js";
import { formatTimestamp } from "../../feed/timestamp.js";
import { createReceipt, isReceipt } from "../../messages/plaintext.js";
import type { InboxClient, InboxMessage } from "../../messages/read/inbox-client.js";
import { type OpenedMessage, openMessages } from "../../messages/read/read.js";
import { writeJson } from "../../store/json.js";
import { flag, number, type OwnSiteValues, oneByPrefix, shortId, withDefault, zeroOrMore } from "../options.js";
import { printData, type Terminal } from "../terminal.js";
import { action, ID } from "./message-options.js";
import { formatCounts, inboxFacts, indented, joined, listLines, messageLines, threadsText } from "./message-text.js";
import { reportLines } from "./outgoing.js";

/** Messages that `message list` and `message read` show without `--all`. */
const NEWEST = 50;

export const list = action({
  usage: "[--threads] [--unread] [--all]",
  help: "lists the newest 50 messages in your inbox, newest first, and whether their senders are verified",
  options: {
    all: flag("shows all of them"),
    threads: flag("groups them by correspondent, with your own copies"),
    unread: flag("lists only messages that you have not opened with read, follow or the client"),
  },
  async run(values, _, terminal) {
    const inbox = await openInbox(values, terminal);
    const { mailbox, isRead } = inbox;
    const { newest, hint } = await newestMessages("list", inbox, values, (id) => !values.unread || !isRead(id));
    const messages = await readWanted(newest, inbox, terminal);
    const columns = terminal.columns();
    if (values.threads) {
      const threads = toThreads(messages.toReversed(), openCopies(await mailbox.outbox().sent(), mailbox.keys));
      const facts = threads.map((thread) => ({ ...thread, received: inboxFacts(thread.received, isRead) }));
      printData(facts, threadsText(threads, columns), values, terminal);
    } else printData(inboxFacts(messages, isRead), listLines(messages, columns), values, terminal);
    terminal.say(formatCounts(messages, isRead) + hint);
    return 0;
  },
});

/** The newest messages, newest first, and how to get older ones. */
async function newestMessages(
  action: "list" | "read",
  { inbox }: OpenInbox,
  { all }: { all: boolean },
  isWanted = (_id: string) => true,
) {
  const newest: InboxMessage[] = [];
  for await (const page of inbox.newestFirst(all ? 2 * NEWEST : NEWEST + 1)) {
    newest.push(...page.filter(({ id }) => isWanted(id)));
    if (all || newest.length <= NEWEST) continue;
    const hint = `\nThere are older ones: ${typed(`message ${action} --all`)} shows all.`;
    return { newest: newest.slice(0, NEWEST), hint };
  }
  return { newest, hint: "" };
}

export const read = action({
  usage: ["ID... [--receipts]", "[--all] [--receipts]"],
  help: "shows whole messages, without an ID the newest 50, newest first; they stay in the inbox",
  options: {
    all: flag("shows all of them"),
    receipts: flag("sends read receipts to verified senders, once per message"),
  },
  words: zeroOrMore(ID),
  async run(values, ids, terminal) {
    if (ids.length > 0 && values.all) throw misuse("message read", "use either ids or --all.");
    const inbox = await openInbox(values, terminal);
    const { mailbox, isRead } = inbox;
    const { newest, hint } =
      ids.length === 0
        ? await newestMessages("read", inbox, values)
        : { newest: await findMessages(ids, inbox.inbox), hint: "" };
    const messages = await readWanted(newest, inbox, terminal);
    const blocks = messages.map((message) => messageLines(message, terminal.columns()));
    printData(inboxFacts(messages, isRead), joined(blocks), values, terminal);
    await mailbox.readMarks.add(messages.map(({ id }) => id));
    terminal.say(formatCounts(messages) + hint);
    const opened = messages.filter((message) => isOpened(message));
    return values.receipts ? sendReceipts(opened, mailbox, terminal) : 0;
  },
});

export const deleteMessages = action({
  usage: ["ID...", "--unverified"],
  help: "deletes messages from your inbox",
  options: {
    unverified: flag(
      "deletes all messages that list shows as unverified, except those signed with a key that you know; messages shown as key changed stay",
    ),
  },
  words: zeroOrMore(ID),
  async run(values, ids, terminal) {
    if ((ids.length === 0) === !values.unverified) {
      throw misuse("message delete", "expected ids such as 4f0c1a2b, as message list shows them, or --unverified.");
    }
    const { mailbox, inbox } = await openInbox(values, terminal);
    // Resolves all ids, or looks all senders up, before it deletes anything.
    const { wanted, kept } = values.unverified
      ? await unverifiedAmong((await inbox.list())?.messages ?? [], mailbox)
      : { wanted: await findMessages(ids, inbox), kept: 0 };
    const deleted: { id: string; created: string; deleted: boolean }[] = [];
    for (const message of wanted) {
      const { id, created } = message;
      deleted.push({ id, created, deleted: await inbox.delete(id) });
      const known = [`${shortId(id)}  ${inSeconds(created)}`];
      const lines = "trust" in message ? listLines([message], terminal.columns()) : known;
      if (!values.json) for (const line of lines) terminal.print(line);
    }
    await mailbox.readMarks.remove(deleted.map(({ id }) => id));
    printData(deleted, [], values, terminal);
    const rest = kept === 0 ? "" : ` ${kept} kept: unverified, but signed with a key that you know.`;
    terminal.say(`${deleted.length} deleted.${rest}`);
    return 0;
  },
});

type OpenInbox = Awaited<ReturnType<typeof openInbox>>;

async function openInbox(values: OwnSiteValues, terminal: Terminal) {
  const mailbox = await Mailbox.open(values, terminal);
  return { mailbox, inbox: await mailbox.inbox(), isRead: await mailbox.readMarks.current() };
}

async function readWanted(
  messages: readonly InboxMessage[],
  { mailbox, inbox }: Pick<OpenInbox, "mailbox" | "inbox">,
  terminal: Terminal,
): Promise<InboxEntry[]> {
  const opened = await mailbox.read(messages);
  const { wanted, deleted } = await mailbox.withoutBlocked(opened, inbox);
  const left = opened.length - wanted.length - deleted;
  if (deleted > 0) terminal.say(`${counted(deleted, "message")} of blocked senders deleted.`);
  if (left > 0)
    terminal.say(
      `${counted(left, "message")} of blocked senders not shown, but not deleted yet: the inbox does not answer.`,
    );
  return wanted;
}

/**
 * The verified sender of a message in the inbox: the address, and the key that signed the message.
 *
 * @throws TwtxtError `not-found` for an unknown id; `not-authentic` if it is not certain who wrote the message
 */
export async function verifiedSender(id: string, mailbox: Mailbox) {
  const [message] = await mailbox.read(await findMessages([id], await mailbox.inbox()));
  const address = message && isOpened(message) ? message.message.address : null;
  if (message && isOpened(message) && message.trust.trust === "verified" && address !== null) {
    return { address, signer: message.signer };
  }
  const claim = address === null ? "" : ` It names ${address}, an address that you can type instead.`;
  throw new TwtxtError(
    "not-authentic",
    `It is not certain who wrote ${id}; ${typed(`message read ${id}`)} says why.${claim}`,
  );
}

/** @throws TwtxtError `not-found` */
async function findMessages(ids: readonly string[], inbox: InboxClient): Promise<InboxMessage[]> {
  const found = new Map<string, InboxMessage>();
  for (const id of ids) for (const message of await inbox.find(id)) found.set(message.id, message);
  return [...new Set(ids.map((id) => oneByPrefix(id, [...found.values()], "message in your inbox")))];
}

/** Keeps messages that a contact signed: the contact's host may be down, or the contact had another key then. */
async function unverifiedAmong(all: readonly InboxMessage[], mailbox: Mailbox) {
  const messages = await mailbox.read(all, mailbox.senders({ patienceMs: Number.POSITIVE_INFINITY }));
  const unverified = messages.filter((one) => isOpened(one)).filter(({ trust }) => trust.trust === "unverified");
  const wanted: ReadMessage[] = [];
  for (const message of unverified) {
    const { address } = message.message;
    const contact = address === null ? null : await mailbox.contacts.get(address);
    const known = [contact?.key, ...(contact?.former ?? []).map(({ key }) => key)];
    if (!known.includes(message.signer)) wanted.push(message);
  }
  return { wanted, kept: unverified.length - wanted.length };
}

/** Messages per receipt; a message has room for some hundreds. */
const PER_RECEIPT = 100;
const RECEIPTS_FOLDER = "receipts";

/**
 * Sends receipts to verified senders, once per message: never for a receipt, and never to the author.
 *
 * @returns 1 if one could not be sent; the next `read` sends it again
 */
async function sendReceipts(messages: readonly OpenedMessage[], mailbox: Mailbox, terminal: Terminal): Promise<number> {
  const hashesBySender = new Map<string, Set<string>>();
  for (const { message, trust, hash } of messages) {
    const { address } = message;
    const isOwed = trust.trust === "verified" && address !== null && address !== mailbox.author.address;
    if (!isOwed || isReceipt(message)) continue;
    hashesBySender.set(address, (hashesBySender.get(address) ?? new Set()).add(hash));
  }
  let exitCode = 0;
  for (const [address, hashes] of hashesBySender) {
    for (let start = 0; start < hashes.size; start += PER_RECEIPT) {
      const claimed = await claimReceipts([...hashes].slice(start, start + PER_RECEIPT), mailbox, terminal);
      if (claimed.length > 0 && !(await sendReceipt(address, claimed, mailbox, terminal))) exitCode = 1;
    }
  }
  return exitCode;
}

/** If several processes read the same messages at once, one of them claims each message. */
async function claimReceipts(hashes: readonly string[], { author }: Mailbox, { now }: Terminal): Promise<string[]> {
  const claimed: string[] = [];
  for (const hash of hashes) {
    const written = await writeJson(author.store, `${RECEIPTS_FOLDER}/${hash}`, formatTimestamp(now()), {
      isNew: true,
    });
    if (written !== null) claimed.push(hash);
  }
  return claimed;
}

async function sendReceipt(address: string, hashes: string[], mailbox: Mailbox, terminal: Terminal): Promise<boolean> {
  const columns = terminal.columns();
  const say = ([line = "", ...reason]: string[]) => {
    for (const one of [`Read receipt: ${line}`, ...reason]) terminal.say(one);
  };
  const message = { recipients: [address], text: "", events: hashes.map(createReceipt), keepCopy: false };
  try {
    const { reports } = await mailbox.send(message, (report) => say(reportLines(report, columns)));
    return !hasFailed(reports);
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    for (const hash of hashes) await mailbox.author.store.delete(`${RECEIPTS_FOLDER}/${hash}`);
    say([`${address}  failed`, ...indented(error.message, columns)]);
    return false;
  }
}

const ENDED = Symbol("ended by the author");

export const follow = action({
  usage: "[--all] [--every SECONDS]",
  help: "shows new messages as they arrive, until Ctrl-C",
  options: {
    all: flag("starts with the messages that are already there"),
    every: withDefault(
      number(5, 86_400, "SECONDS"),
      30,
      "how often to check if the inbox offers no subscription; at least 5",
    ),
  },
  async run(values, _, terminal) {
    const mailbox = await Mailbox.open(values, terminal);
    const ending = new AbortController();
    const { signal } = ending;
    void terminal.ended().then(() => ending.abort(ENDED));
    const inbox = await mailbox.inbox(
      watchedFetch(signal, (why) =>
        terminal.say(why === null ? "The inbox answers again." : `The inbox ${why}. Retrying until it is back.`),
      ),
    );
    const print = printer(mailbox, inbox, values.json, terminal);
    const onStart = () => terminal.say(`Waiting for messages to ${mailbox.author.address}. Stop with Ctrl-C.`);
    try {
      const options = { existing: values.all ? ("all" as const) : ("none" as const), every: values.every };
      for await (const messages of newMessages(inbox, options, { signal, sleep: terminal.sleep, onStart })) {
        // Not awaited: the senders of later messages may be known sooner.
        void print(messages).catch((error) => ending.abort(error));
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    if (signal.aborted && signal.reason !== ENDED) throw signal.reason;
    return 0;
  },
});

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
