// plugin/cli/message/shown.ts: messages as a person and as a program gets to see them.

import { isReceipt } from "../../messages/line.js";
import type { UnreadableMessage } from "../../messages/read/read.js";
import { typed } from "../invocation.js";
import { shortId } from "./ids.js";
import { isOpened, type ReadMessage } from "./read-messages.js";
import { followedBy, indented } from "./wrap.js";

type Any = ReadMessage | UnreadableMessage;

const NOBODY = "?";
/** A message may be of nothing but line breaks. */
const MOST_LINES = 500;
/** A stranger may claim an address of 300 characters, by which the others are not aligned. */
const WIDEST = 40;

/** A line for each, and a second one with the reason where it is not verified. */
export function listLines(messages: readonly Any[], columns: number | null): string[] {
  const rows = messages.map((message) => ({ head: headOf(message), ...summaryOf(message) }));
  const widthOf = (column: number) => Math.max(0, ...rows.map(({ head }) => head[column]?.length ?? 0));
  const widths = [0, 1, 2, 3].map((column) => Math.min(WIDEST, widthOf(column)));
  return rows.flatMap(({ head, text, reason }) => {
    const start = head.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
    return [...followedBy(text, start, columns), ...(reason === null ? [] : indented(reason, columns))];
  });
}

/** A message as a whole: its own text alone is indented. */
export function messageLines(message: Any, columns: number | null): string[] {
  const { text, reason } = summaryOf(message);
  const head = [headOf(message).join("  "), ...(reason === null ? [] : [`Reason: ${reason}`])];
  if (!isOpened(message)) return head;
  return isReceipt(message.message)
    ? [...head, text]
    : [...head, ...receiptLines(message), ...shortened(indented(textOf(message), columns))];
}

function shortened(lines: string[]): string[] {
  const left = lines.length - MOST_LINES;
  if (left <= 0) return lines;
  return [...lines.slice(0, MOST_LINES), `(${left} more line${left === 1 ? "" : "s"}; --json has all)`];
}

/** How many there are, and of how many nobody knows for certain who wrote them. */
export function sumOf(messages: readonly Any[]): string {
  const count = (state: string) => messages.filter((message) => stateOf(message) === state).length;
  const parts = ["unverified", "key changed", "unreadable"]
    .map((state) => [count(state), state] as const)
    .filter(([number]) => number > 0)
    .map(([number, state]) => `, ${number} ${state}`);
  return `${messages.length} message${messages.length === 1 ? "" : "s"}${parts.join("")}.`;
}

/** All that is known of it, for `--json`. */
export function factsOf(message: Any) {
  if (!isOpened(message)) return message;
  const { id, created, hash, signer, trust, receipts } = message;
  const { address, lines, events } = message.message;
  return {
    ...{ id, created, time: timeOf(message), address, signer },
    ...{ trust: trust.trust, byDns: trust.trust === "verified" && trust.byDns, reason: reasonOf(message) },
    ...{ text: textOf(message), lines, events, hash },
    receipts: receipts.map(({ time, sent }) => ({ time, id: sent.id, created: sent.created })),
  };
}

/** The text of a message, all its lines. Its line breaks are LF. */
export function textOf({ message }: Pick<ReadMessage, "message">): string {
  return message.lines.map(({ text }) => text).join("\n");
}

function headOf(message: Any): string[] {
  const address = isOpened(message) ? (message.message.address ?? NOBODY) : NOBODY;
  return [shortId(message.id), timeOf(message), address, stateOf(message)];
}

function summaryOf(message: Any): { text: string; reason: string | null } {
  if (!isOpened(message)) return { text: "", reason: message.unreadable };
  const receipts = receiptLines(message);
  const nothing = "read receipt for a message that is not among your copies";
  const text = isReceipt(message.message) ? receipts.join(", ") || nothing : textOf(message);
  return { text, reason: reasonOf(message) };
}

function receiptLines({ receipts }: ReadMessage): string[] {
  return receipts.map(({ sent }) => `read your message of ${sent.created}`);
}

/** When it was written, as it says; else when it came. */
function timeOf(message: Any): string {
  const time = isOpened(message) ? message.message.lines[0]?.time : null;
  return time ?? `${message.created.slice(0, 19)}Z`;
}

function stateOf(message: Any): string {
  if (!isOpened(message)) return "unreadable";
  const { trust } = message;
  if (trust.trust === "verified" && trust.byDns) return "verified by DNS";
  return trust.trust === "key-changed" ? "key changed" : trust.trust;
}

function reasonOf({ trust, signer, message: { address } }: ReadMessage): string | null {
  switch (trust.trust) {
    case "verified":
      return null;
    case "unverified":
      return trust.reason;
    case "key-changed": {
      const which = signer === trust.pinned ? "the key that you know, and published is another one" : "a new key";
      return `signed with ${which}; ask ${address} by another way, then type: ${typed(`contacts accept ${address}`)}`;
    }
  }
}
