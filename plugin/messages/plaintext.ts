// plugin/messages/plaintext.ts: the plaintext of a message: lines with time, address and text, and events. PROTOCOL 3.2
import { sha256 } from "@noble/hashes/sha2.js";
import { hex } from "@scure/base";
import { TwtxtError } from "../errors.js";
import { isRfc3339, toInstant } from "../feed/timestamp.js";
import { parseAddress } from "../keys/address.js";

/** A comment line, `# <name>: <args>`. Not displayed. */
export interface MessageEvent {
  /** Empty for another form of comment, which is then in `args`. */
  name: string;
  args: string;
}

/** A line of a message. */
export interface MessageLine {
  /** `YYYY-MM-DDThh:mm:ssZ`; `null` for text before the first valid line. */
  time: string | null;
  /** Untrusted, with LF line breaks. May contain Markdown and control characters. */
  text: string;
}

/** The unverified contents of an opened message. */
export interface Message {
  lines: MessageLine[];
  /** `user@domain`, in lower case; `null` if lines have different addresses, or one has none. */
  address: string | null;
  events: MessageEvent[];
}

/** A message to send. */
export interface NewMessage {
  /** `YYYY-MM-DDThh:mm:ssZ` */
  time: string;
  /** `user@domain` */
  from: string;
  text: string;
  events?: readonly MessageEvent[];
}

const LINE_BREAK = /\r\n|[\n\r\u2028\u2029]/g;
const CONTENT = /^([^\t]+)\t\(([^\t]+)\)\t(.*)$/s;
const EVENT = /^#[ \t]*([^\s:]+):[ \t]*(.*)$/s;
const EVENT_NAME = /^[^\s:]+$/;
const READ = "read";
const READ_HASH = /^[0-9a-f]{64}$/;
const LF = 0x0a;

/**
 * Formats the plaintext of a message. Line breaks become U+2028, so that no text can add a line.
 *
 * @returns a content line, then one comment line for each event, each ended by LF
 * @throws TwtxtError `bad-timestamp`, `bad-address`, and `bad-field` for an event's name with a colon or white space
 * @see PROTOCOL 3.2
 * @example formatMessage({ time: "2026-11-20T09:00:00Z", from: "alice@alice.example", text: "Hello" }) // "2026-11-20T09:00:00Z\t(alice@alice.example)\tHello\n"
 */
export function formatMessage({ time, from, text, events = [] }: NewMessage): string {
  if (toInstant(time) !== time) {
    throw new TwtxtError("bad-timestamp", `expected a time such as "2026-01-02T03:04:05Z", got "${time}".`);
  }
  const address = parseAddress(from);
  if (address === null) {
    throw new TwtxtError("bad-address", `expected an address such as "alice@alice.example", got "${from}".`);
  }
  return [`${time}\t(${address})\t${inOneLine(text)}\n`, ...events.map(formatEvent)].join("");
}

function formatEvent({ name, args }: MessageEvent): string {
  if (EVENT_NAME.test(name)) return `# ${name}: ${inOneLine(args)}\n`;
  throw new TwtxtError("bad-field", `expected the name of an event such as "read", got "${name}".`);
}

function inOneLine(text: string): string {
  return text.toWellFormed().replace(LINE_BREAK, "\u2028");
}

/** Parses the plaintext of a message. It never fails: anything but a valid line is text. @see PROTOCOL 3.2 */
export function parseMessage(text: string): Message {
  const lines: ClaimedLine[] = [];
  const events: MessageEvent[] = [];
  for (const line of splitLines(text)) {
    const content = parseContent(line);
    const last = lines.at(-1);
    if (line.startsWith("#")) events.push(parseEvent(line));
    else if (content) lines.push(content);
    else if (last) last.text += `\n${withBreaks(line)}`;
    else if (line !== "") lines.push({ time: null, address: null, text: withBreaks(line) });
  }
  const [address = null, ...others] = new Set(lines.map((line) => line.address));
  return {
    lines: lines.map(({ time, text }) => ({ time, text })),
    address: others.length === 0 ? address : null,
    events,
  };
}

type ClaimedLine = MessageLine & { address: string | null };

/** Splits at LF and CRLF only. */
function splitLines(text: string): string[] {
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

function parseContent(line: string): ClaimedLine | null {
  const [, written = "", claimed = "", text = ""] = CONTENT.exec(line) ?? [];
  const time = isRfc3339(written) ? toInstant(written) : null;
  const address = parseAddress(claimed);
  return time === null || address === null ? null : { time, address, text: withBreaks(text) };
}

function parseEvent(line: string): MessageEvent {
  const [, name, args = ""] = EVENT.exec(line) ?? [];
  return name === undefined ? { name: "", args: withBreaks(line.slice(1).trim()) } : { name, args: withBreaks(args) };
}

function withBreaks(text: string): string {
  return text.replaceAll("\u2028", "\n");
}

/**
 * The hash by which a read receipt names a message.
 *
 * @param plaintext - as opened
 * @returns the SHA-256 without one final LF, in lowercase hex
 * @see PROTOCOL 3.2
 */
export function readHash(plaintext: Uint8Array): string {
  return hex.encode(sha256(plaintext.at(-1) === LF ? plaintext.subarray(0, -1) : plaintext));
}

export function createReceipt(hash: string): MessageEvent {
  return { name: READ, args: hash };
}

/** The hashes in the read receipts of a message; malformed ones are ignored. */
export function listReceipts({ events }: Pick<Message, "events">): string[] {
  return events.filter(({ name, args }) => name === READ && READ_HASH.test(args)).map(({ args }) => args);
}

/** Whether a message has read receipts but no text. */
export function isReceipt(message: Message): boolean {
  return listReceipts(message).length > 0 && message.lines.every(({ text }) => text === "");
}
