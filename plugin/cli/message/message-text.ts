// plugin/cli/message/message-text.ts: messages and threads as text and as JSON. Texts of senders are indented, so they cannot imitate this program.
import { counted } from "../../author/amounts.js";
import {
  byTime,
  describeReason,
  describeState,
  findKeyChanges,
  type InboxEntry,
  inSeconds,
  isFromGuest,
  isOpened,
  type KeyChange,
  keyAdvice,
  ownMoment,
  type ReadMessage,
  readText,
  readTime,
  shownCorrespondent,
  shownSender,
  shownText,
  type Thread,
  toFacts,
  toMoment,
} from "../../author/messages/message-facts.js";
import type { IsRead } from "../../author/messages/read-marks.js";
import { isReceipt } from "../../messages/plaintext.js";
import { shortId } from "../options.js";
import { alignedRows, breakLine, measureWidth, shownSafely } from "../terminal.js";

/** A message may consist of line breaks only. */
const MAX_LINES = 500;
/** A longer address does not widen the column: a sender can claim one of 300 characters. */
const MAX_COLUMN = 40;

/** For `--json`. */
export function inboxFacts(messages: readonly InboxEntry[], isRead: IsRead) {
  return messages.map((message) => ({ ...toFacts(message), unread: !isRead(message.id) }));
}

/** Blocks of lines, with an empty line between them. */
export function joined(blocks: readonly string[][]): string[] {
  return blocks.flatMap((lines, at) => (at === 0 ? lines : ["", ...lines]));
}

/** A line for each message, and a second one with the reason if it is not verified. */
export function listLines(messages: readonly InboxEntry[], columns: number | null): string[] {
  const heads = alignedRows(messages.map(formatHead), MAX_COLUMN);
  return messages.flatMap((message, at) => {
    const { text, reason } = summarize(message);
    return [...appendLine(text, heads[at] ?? "", columns), ...(reason === null ? [] : indented(reason, columns))];
  });
}

export function messageLines(message: InboxEntry, columns: number | null): string[] {
  const { text, reason } = summarize(message);
  const head = [
    ...wrapped(formatHead(message).join("  ").trimEnd(), columns),
    ...(isFromGuest(message) ? [`Address: ${message.message.address}`] : []),
    ...(reason === null ? [] : [`Reason: ${reason}`]),
  ];
  if (!isOpened(message)) return head;
  return isReceipt(message.message)
    ? [...head, text]
    : [...head, ...receiptLines(message), ...shortened(indented(readText(message), columns))];
}

function shortened(lines: string[]): string[] {
  const left = lines.length - MAX_LINES;
  if (left <= 0) return lines;
  return [...lines.slice(0, MAX_LINES), `(${counted(left, "more line")}; --json prints all)`];
}

/**
 * @param isRead - default: does not count unread messages
 * @example "3 messages, 2 unread, 1 from a guest, 1 unverified."
 */
export function formatCounts(messages: readonly InboxEntry[], isRead: IsRead = () => true): string {
  const count = (state: string) => messages.filter((message) => describeState(message) === state).length;
  const parts = ["unverified", "key changed", "former key", "unreadable"]
    .filter((state) => count(state) > 0)
    .map((state) => `, ${count(state)} ${state}`);
  const unread = messages.filter(({ id }) => !isRead(id)).length;
  const ofUnread = unread === 0 ? "" : `, ${unread} unread`;
  const guests = messages.filter(isFromGuest).filter(({ trust }) => trust.trust === "verified").length;
  const ofGuests = guests === 0 ? "" : `, ${guests} from ${guests === 1 ? "a guest" : "guests"}`;
  return `${counted(messages.length, "message")}${ofUnread}${ofGuests}${parts.join("")}.`;
}

function formatHead(message: InboxEntry): string[] {
  return [shortId(message.id), readTime(message), shownSender(message), describeState(message)];
}

export function summarize(message: InboxEntry): { text: string; reason: string | null } {
  if (!isOpened(message)) return { text: "", reason: message.unreadable };
  const receipts = receiptLines(message);
  const unknown = "read receipt for a message that is not among your copies";
  const text = isReceipt(message.message) ? receipts.join(", ") || unknown : readText(message);
  return { text, reason: describeReason(message) };
}

function receiptLines({ receipts }: ReadMessage): string[] {
  return receipts.map(({ sent }) => `read your message of ${inSeconds(sent.created)}`);
}

const INDENT = "  ";
/** Narrower terminals get lines of this length. */
const MIN_COLUMNS = 20;
const COLUMNS_WITHOUT_TERMINAL = 160;

/**
 * The lines of a text, indented. Long lines are broken: a line that the terminal breaks would continue at the margin, like
 * a line of this program.
 *
 * @param columns - of the terminal; `null` for no terminal
 */
export function indented(text: string, columns: number | null): string[] {
  const room = columns === null ? Number.POSITIVE_INFINITY : Math.max(MIN_COLUMNS, columns - INDENT.length);
  return text.split("\n").flatMap((line) => breakLine(room, shownSafely(line)).map((part) => INDENT + part));
}

/**
 * A line of this program with a name that its sender chose. It continues indented if the terminal is too narrow.
 *
 * @param columns - of the terminal; `null` for no terminal
 */
function wrapped(line: string, columns: number | null): string[] {
  const safe = shownSafely(line);
  if (columns === null || measureWidth(safe) <= columns) return [safe];
  const parts = breakLine(Math.max(MIN_COLUMNS, columns - INDENT.length), safe);
  return parts.map((part, at) => (at === 0 ? part : INDENT + part).trimEnd());
}

/**
 * A line of this program, followed by the start of a text, on the next line if there is no room.
 *
 * @param columns - of the terminal; `null` for no terminal
 */
export function appendLine(text: string, line: string, columns: number | null): string[] {
  const first = text.split("\n").find((one) => one.trim() !== "") ?? "";
  if (first === "") return wrapped(line.trimEnd(), columns);
  const room = (columns ?? COLUMNS_WITHOUT_TERMINAL) - measureWidth(line) - INDENT.length;
  if (room >= MIN_COLUMNS) return [`${line}  ${cut(first.trim(), room)}`];
  return [
    ...wrapped(line.trimEnd(), columns),
    INDENT + cut(first.trim(), Math.max(MIN_COLUMNS, (columns ?? 0) - INDENT.length)),
  ];
}

function cut(line: string, room: number): string {
  const safe = shownSafely(line);
  if (measureWidth(safe) <= room) return safe;
  return `${breakLine(room - 1, safe, false)[0]}…`;
}

/** Threads one after the other, with an empty line between them. */
export function threadsText(threads: readonly Thread[], columns: number | null): string[] {
  const changes = findKeyChanges(threads.flatMap(({ received }) => received));
  return joined(threads.map((thread) => threadLines(thread, changes, columns)));
}

function threadLines({ address, received, sent }: Thread, changes: KeyChange[], columns: number | null): string[] {
  const width = columns && columns - INDENT.length;
  const last = received.at(-1);
  if (address === null) return ["Not verified:", ...listLines(received, width).map((line) => INDENT + line)];
  const entries = [
    ...received.map((one) => ({ id: one.id, ...toMoment(one), by: describeDoubt(one), text: summarize(one).text })),
    ...sent.map((copy) => ({ id: copy.id, ...ownMoment(copy), by: "you", text: shownText(copy) })),
  ].sort(byTime);
  const heads = alignedRows(entries.map(({ id, time, by }) => [shortId(id), time, by]));
  const lines = entries.flatMap(({ text }, at) => appendLine(text, heads[at] ?? "", width));
  const change = changes.find((one) => one.address === address);
  const state = change ? "key changed" : last ? describeState(last) : "";
  const title = [shownCorrespondent(address, received), state].filter((part) => part !== "").join("  ");
  const advice = change && `you know ${change.pinned}, but ${change.now} is published; ${keyAdvice(change.address)}`;
  const question = advice ? wrapped(INDENT + advice, columns) : [];
  return [...wrapped(`${title}:`, columns), ...question, ...lines.map((line) => INDENT + line)];
}

/** A title describes the newest message only. */
function describeDoubt(message: InboxEntry): string {
  return isOpened(message) && message.trust.trust !== "verified" ? describeState(message) : "";
}
