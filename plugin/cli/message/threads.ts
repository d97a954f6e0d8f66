// plugin/cli/message/threads.ts: `message list --threads`: messages and own copies, grouped by correspondent.

import { type InboxEntry, isOpened, type Mailbox } from "../../author/mailbox.js";
import { guestKeyOf } from "../../keys/guest.js";
import { shortId } from "../options.js";
import { alignedRows } from "../output.js";
import type { Terminal } from "../terminal.js";
import { factsOf, followedBy, listLines, shownSender, stateOf, summaryOf, timeOf } from "./message-text.js";
import { type OpenedCopy, openCopies, shownText } from "./outgoing.js";

/** What the author and one correspondent wrote to each other. */
interface Thread {
  /** `null` for messages that are not certainly from the sender that they name. */
  address: string | null;
  received: InboxEntry[];
  sent: OpenedCopy[];
}

/** Prints a thread for each correspondent, the ones with verified addresses first, then guests, then unverified messages. */
export async function printThreads(
  messages: readonly InboxEntry[],
  mailbox: Mailbox,
  { isJson, terminal }: { isJson: boolean; terminal: Terminal },
): Promise<void> {
  const threads = threadsOf(messages, openCopies(await mailbox.outbox().sent(), mailbox.keys));
  if (isJson) {
    const facts = threads.map(({ address, received, sent }) => ({ address, received: received.map(factsOf), sent }));
    return terminal.print(JSON.stringify(facts, null, 2));
  }
  const blocks = threads.map((thread) => linesOf(thread, terminal.columns()));
  for (const line of blocks.flatMap((lines, at) => (at === 0 ? lines : ["", ...lines]))) terminal.print(line);
}

function threadsOf(messages: readonly InboxEntry[], own: readonly OpenedCopy[]): Thread[] {
  const threads = new Map<string | null, Thread>();
  for (const message of messages) {
    const address = correspondentOf(message);
    const thread = threads.get(address) ?? { address, received: [], sent: [] };
    thread.received.push(message);
    threads.set(address, thread);
  }
  for (const thread of threads.values()) {
    const { address } = thread;
    if (address !== null) thread.sent = own.filter(({ to }) => to.includes(address));
  }
  return [...threads.values()].sort((a, b) => rankOf(a) - rankOf(b));
}

function correspondentOf(message: InboxEntry): string | null {
  return isOpened(message) && message.trust.trust === "verified" ? message.message.address : null;
}

function rankOf({ address }: Thread): number {
  if (address === null) return 2;
  return guestKeyOf(address) === null ? 0 : 1;
}

const INDENT = "  ";

function linesOf({ address, received, sent }: Thread, columns: number | null): string[] {
  const width = columns && columns - INDENT.length;
  const last = received.at(-1);
  if (address === null || !last) return ["Not verified:", ...listLines(received, width).map((line) => INDENT + line)];
  const entries = [
    ...received.map((one) => ({ row: [shortId(one.id), timeOf(one), ""], text: summaryOf(one).text })),
    ...sent.map((copy) => ({ row: [shortId(copy.id), copy.created, "you"], text: shownText(copy) })),
  ].sort(byTime);
  const heads = alignedRows(entries.map(({ row }) => row));
  const lines = entries.flatMap(({ text }, at) => followedBy(text, heads[at] ?? "", width));
  const title = [shownSender(last), stateOf(last)].filter((part) => part !== "").join("  ");
  return [`${title}:`, ...lines.map((line) => INDENT + line)];
}

function byTime({ row: [, a = ""] }: { row: string[] }, { row: [, b = ""] }: { row: string[] }): number {
  return Date.parse(a) - Date.parse(b);
}
