// plugin/messages/line.ts: the plain text of a message, before it is sealed and after it is opened.
import { sha256 } from "@noble/hashes/sha2.js";
import { hex } from "@scure/base";
import { TwtxtError } from "../errors.js";
import { isRfc3339, toInstant } from "../feed/timestamp.js";
import { parseAddress } from "../keys/address.js";

/** A comment line, `# <name>: <args>`. It is never displayed. */
export interface MessageEvent {
  /** Empty for a comment of another shape, which then is all in `args`. */
  name: string;
  args: string;
}

/** A line of a message. */
export interface MessageLine {
  /** `YYYY-MM-DDThh:mm:ssZ`; `null` for text that stands before the first line of the protocol's form. */
  time: string | null;
  /** Its line breaks are LF. May hold Markdown, and controls: it is a stranger's. */
  text: string;
}

/** What an opened message says. All of it is a claim. */
export interface Message {
  lines: MessageLine[];
  /** `user@domain`, in lower case; `null` where lines have different ones, or one has none. */
  address: string | null;
  events: MessageEvent[];
}

/** A message of our own. */
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
 * Writes the plain text of a message. A line break in it becomes U+2028, so that no text can add a line.
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

/**
 * Reads the plain text of a message. It never fails: what is no line of the protocol's form is text.
 *
 * @see PROTOCOL 3.2
 */
export function parseMessage(text: string): Message {
  const lines: ClaimedLine[] = [];
  const events: MessageEvent[] = [];
  for (const line of linesOf(text)) {
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

/** A line, and who it says has written it. */
type ClaimedLine = MessageLine & { address: string | null };

/** Lines end with LF, or CRLF, and with nothing else. */
function linesOf(text: string): string[] {
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
 * What a read receipt names a message by.
 *
 * @param plaintext - as it was opened
 * @returns the SHA-256 of it without one LF at its end, in lower-case hex
 * @see PROTOCOL 3.2
 */
export function readHash(plaintext: Uint8Array): string {
  return hex.encode(sha256(plaintext.at(-1) === LF ? plaintext.subarray(0, -1) : plaintext));
}

/** The event that tells others that their message was read. */
export function receiptFor(hash: string): MessageEvent {
  return { name: READ, args: hash };
}

/** The hashes of the messages that this one says were read. A hash of another shape is none of ours. */
export function receiptsOf({ events }: Pick<Message, "events">): string[] {
  return events.filter(({ name, args }) => name === READ && READ_HASH.test(args)).map(({ args }) => args);
}

/** Whether there is nothing in a message for people to read. */
export function isReceipt(message: Message): boolean {
  return receiptsOf(message).length > 0 && message.lines.every(({ text }) => text === "");
}
