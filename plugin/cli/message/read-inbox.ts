// plugin/cli/message/read-inbox.ts: `message list`, `message read` and `message delete`.
import type { InboxMessage } from "../../messages/read/inbox-answer.js";
import { misuse } from "../arguments.js";
import { type IdUse, type OwnSiteValues, oneByPrefix, shortId } from "../options.js";
import type { Terminal } from "../terminal.js";
import { isOpened, type Mailbox, mailboxOf, type ReadMessage, readMessages } from "./mailbox.js";
import { countsOf, factsOf, listLines, messageLines } from "./message-text.js";
import { sendReceipts } from "./read-receipts.js";

const INBOX_ID: IdUse<InboxMessage> = { idOf: ({ id }) => id, what: "message in your inbox", short: shortId, least: 4 };

/** `message list` */
export async function list(values: OwnSiteValues, _: null, terminal: Terminal): Promise<number> {
  const mailbox = await mailboxOf(values, terminal);
  const messages = await readMessages(await inboxOf(mailbox), mailbox, mailbox.senders());
  if (values.json) terminal.print(JSON.stringify(messages.map(factsOf), null, 2));
  else for (const line of listLines(messages, terminal.columns())) terminal.print(line);
  terminal.say(countsOf(messages));
  return 0;
}

/** `message read [ID...]` */
export async function read(
  values: OwnSiteValues & { receipts: boolean },
  ids: string[],
  terminal: Terminal,
): Promise<number> {
  const mailbox = await mailboxOf(values, terminal);
  const all = await inboxOf(mailbox);
  const wanted = ids.length === 0 ? all : messagesOf(ids, all);
  const messages = await readMessages(wanted, mailbox, mailbox.senders());
  if (values.json) terminal.print(JSON.stringify(messages.map(factsOf), null, 2));
  else {
    const blocks = messages.map((message) => messageLines(message, terminal.columns()));
    for (const line of blocks.flatMap((lines, at) => (at === 0 ? lines : ["", ...lines]))) terminal.print(line);
  }
  terminal.say(countsOf(messages));
  const opened = messages.filter((message) => isOpened(message));
  return values.receipts ? sendReceipts(opened, mailbox, terminal) : 0;
}

/** `message delete ID...` and `message delete --unverified` */
export async function deleteMessages(
  values: OwnSiteValues & { unverified: boolean },
  ids: string[],
  terminal: Terminal,
): Promise<number> {
  if ((ids.length === 0) === !values.unverified) {
    throw misuse("message delete", "expected ids such as 4f0c1a2b, as message list shows them, or --unverified.");
  }
  const mailbox = await mailboxOf(values, terminal);
  const inbox = await mailbox.inbox();
  const all = (await inbox.list())?.messages ?? [];
  // Resolves all ids, or looks all senders up, before it deletes anything.
  const { wanted, kept } = values.unverified
    ? await unverifiedAmong(all, mailbox)
    : { wanted: messagesOf(ids, all), kept: 0 };
  const deleted: { id: string; created: string; deleted: boolean }[] = [];
  for (const message of wanted) {
    const { id, created } = message;
    deleted.push({ id, created, deleted: await inbox.delete(id) });
    if (!values.json) for (const line of deletedLines(message, terminal.columns())) terminal.print(line);
  }
  if (values.json) terminal.print(JSON.stringify(deleted, null, 2));
  const rest = kept === 0 ? "" : ` ${kept} kept: unverified, but signed with a key that you know.`;
  terminal.say(`${deleted.length} deleted.${rest}`);
  return 0;
}

async function inboxOf(mailbox: Mailbox): Promise<InboxMessage[]> {
  return (await (await mailbox.inbox()).list())?.messages ?? [];
}

/** @throws TwtxtError `not-found` */
function messagesOf(ids: readonly string[], all: readonly InboxMessage[]): InboxMessage[] {
  return [...new Set(ids.map((id) => oneByPrefix(id, all, INBOX_ID)))];
}

/** Keeps what a contact has signed: the contact's host may be down, or the contact had another key then. */
async function unverifiedAmong(
  all: readonly InboxMessage[],
  mailbox: Mailbox,
): Promise<{ wanted: ReadMessage[]; kept: number }> {
  const messages = await readMessages(all, mailbox, mailbox.senders({ patienceMs: Number.POSITIVE_INFINITY }));
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

function deletedLines(message: InboxMessage | ReadMessage, columns: number | null): string[] {
  if ("trust" in message) return listLines([message], columns);
  return [`${shortId(message.id)}  ${message.created.slice(0, 19)}Z`];
}
