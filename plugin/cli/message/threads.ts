// plugin/cli/message/threads.ts: `message list --threads`: messages and own copies, grouped by correspondent.
import type { InboxEntry, Mailbox } from "../../author/mailbox.js";
import { factsOf, shownCorrespondent, stateOf, timeOf } from "../../author/message-facts.js";
import type { IsRead } from "../../author/read-marks.js";
import { openCopies, shownText, type Thread, threadsOf } from "../../author/threads.js";
import { shortId } from "../options.js";
import { alignedRows } from "../output.js";
import type { Terminal } from "../terminal.js";
import { followedBy, listLines, summaryOf, wrapped } from "./message-text.js";

/** Prints a thread for each correspondent, the ones with verified addresses first, then guests, then unverified messages. */
export async function printThreads(
  messages: readonly InboxEntry[],
  mailbox: Mailbox,
  { isJson, isRead, terminal }: { isJson: boolean; isRead: IsRead; terminal: Terminal },
): Promise<void> {
  const threads = threadsOf(messages, openCopies(await mailbox.outbox().sent(), mailbox.keys));
  if (isJson) {
    const facts = threads.map(({ received, ...thread }) => ({
      ...thread,
      received: received.map((message) => ({ ...factsOf(message), unread: !isRead(message.id) })),
    }));
    return terminal.print(JSON.stringify(facts, null, 2));
  }
  const blocks = threads.map((thread) => linesOf(thread, terminal.columns()));
  for (const line of blocks.flatMap((lines, at) => (at === 0 ? lines : ["", ...lines]))) terminal.print(line);
}

const INDENT = "  ";

function linesOf({ address, received, sent }: Thread, columns: number | null): string[] {
  const width = columns && columns - INDENT.length;
  const last = received.at(-1);
  if (address === null) return ["Not verified:", ...listLines(received, width).map((line) => INDENT + line)];
  const entries = [
    ...received.map((one) => ({ row: [shortId(one.id), timeOf(one), ""], text: summaryOf(one).text })),
    ...sent.map((copy) => ({ row: [shortId(copy.id), copy.created, "you"], text: shownText(copy) })),
  ].sort(byTime);
  const heads = alignedRows(entries.map(({ row }) => row));
  const lines = entries.flatMap(({ text }, at) => followedBy(text, heads[at] ?? "", width));
  const sender = [shownCorrespondent(address, received), last ? stateOf(last) : ""];
  const title = sender.filter((part) => part !== "").join("  ");
  return [...wrapped(`${title}:`, columns), ...lines.map((line) => INDENT + line)];
}

function byTime({ row: [, a = ""] }: { row: string[] }, { row: [, b = ""] }: { row: string[] }): number {
  return Date.parse(a) - Date.parse(b);
}
