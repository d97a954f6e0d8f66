// plugin/cli/message/threads.ts: `message list --threads`: messages and own copies, grouped by correspondent.
import { type InboxEntry, isOpened, type Mailbox } from "../../author/messages/mailbox.js";
import { factsOf, keyAdvice, shownCorrespondent, stateOf } from "../../author/messages/message-facts.js";
import type { IsRead } from "../../author/messages/read-marks.js";
import {
  byTime,
  type KeyChange,
  keyChangesIn,
  momentOf,
  openCopies,
  ownMoment,
  shownText,
  type Thread,
  threadsOf,
} from "../../author/messages/threads.js";
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
  const changes = keyChangesIn(messages);
  const blocks = threads.map((thread) => linesOf(thread, changes, terminal.columns()));
  for (const line of blocks.flatMap((lines, at) => (at === 0 ? lines : ["", ...lines]))) terminal.print(line);
}

const INDENT = "  ";

function linesOf({ address, received, sent }: Thread, changes: KeyChange[], columns: number | null): string[] {
  const width = columns && columns - INDENT.length;
  const last = received.at(-1);
  if (address === null) return ["Not verified:", ...listLines(received, width).map((line) => INDENT + line)];
  const entries = [
    ...received.map((one) => ({ id: one.id, ...momentOf(one), by: doubtIn(one), text: summaryOf(one).text })),
    ...sent.map((copy) => ({ id: copy.id, ...ownMoment(copy), by: "you", text: shownText(copy) })),
  ].sort(byTime);
  const heads = alignedRows(entries.map(({ id, time, by }) => [shortId(id), time, by]));
  const lines = entries.flatMap(({ text }, at) => followedBy(text, heads[at] ?? "", width));
  const change = changes.find((one) => one.address === address);
  const state = change ? "key changed" : last ? stateOf(last) : "";
  const title = [shownCorrespondent(address, received), state].filter((part) => part !== "").join("  ");
  const question = change ? wrapped(`${INDENT}${questionAbout(change)}`, columns) : [];
  return [...wrapped(`${title}:`, columns), ...question, ...lines.map((line) => INDENT + line)];
}

/** A title describes the newest message only. */
function doubtIn(message: InboxEntry): string {
  return isOpened(message) && message.trust.trust !== "verified" ? stateOf(message) : "";
}

function questionAbout({ address, pinned, now }: KeyChange): string {
  return `you know ${pinned}, but ${now} is published; ${keyAdvice(address)}`;
}
