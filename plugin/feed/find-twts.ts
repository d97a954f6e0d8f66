// plugin/feed/find-twts.ts: search for twts by timestamp, without parsing the whole feed.
import { type ParsedTwt, parseFeed } from "./feed.js";
import { toInstant } from "./timestamp.js";

const LF = 0x0a;
const TAB = 0x09;
const COLON = 0x3a;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const LETTER_T = 0x54;
const LETTER_Z = 0x5a;
const SHORTEST_TIMESTAMP = 16;
const CANONICAL_LENGTH = "2026-01-02T03:04:05Z".length;

/**
 * Finds the twts with this exact timestamp, or, if there are none, those of the same second.
 *
 * @param input - the file, as for {@link parseFeed}
 * @param timestamp - from a reference
 * @returns the twts in the order of the file; none for an invalid timestamp
 * @see PROTOCOL 2.4, "The proof"
 */
export function findTwts(input: string | Uint8Array, timestamp: string): ParsedTwt[] {
  const instant = toInstant(timestamp);
  if (instant === null) return [];
  const file =
    typeof input === "string" ? Buffer.from(input) : Buffer.from(input.buffer, input.byteOffset, input.byteLength);
  const literal = parseFeed(linesThatStartWith(`${timestamp}\t`, file)).twts;
  return literal.length > 0
    ? literal
    : parseFeed(linesOfSecond(instant, file)).twts.filter((twt) => twt.instant === instant);
}

/** The lines with this prefix, found without decoding or splitting the rest of the file. */
function linesThatStartWith(prefix: string, file: Buffer): string {
  const start = afterBom(file);
  const lines: Buffer[] = [];
  for (let at = file.indexOf(prefix, start); at >= 0; at = file.indexOf(prefix, at + 1)) {
    if (at !== start && file[at - 1] !== LF) continue;
    const end = file.indexOf(LF, at);
    lines.push(file.subarray(at, end < 0 ? file.length : end + 1));
  }
  return Buffer.concat(lines).toString("utf8");
}

/**
 * The lines that may be of this second; nearly all others are recognized without decoding. An empty line comes first, so
 * that U+FEFF at the start of a later line is not taken for a byte order mark.
 */
function linesOfSecond(instant: string, file: Buffer): string {
  // Latin-1 has one character per byte, so offsets in both are the same.
  const characters = file.toString("latin1");
  const lines: Buffer[] = [Buffer.of(LF)];
  for (let start = afterBom(file); start < file.length; ) {
    const lineEnd = characters.indexOf("\n", start);
    const end = lineEnd < 0 ? file.length : lineEnd + 1;
    const mayMatch = looksCanonical(file, start) ? characters.startsWith(instant, start) : beginsTwt(file, start, end);
    if (mayMatch) lines.push(file.subarray(start, end));
    start = end;
  }
  return Buffer.concat(lines).toString("utf8");
}

/** Matches `..........T.....:..Z` and a TAB, which can only be a canonical timestamp. */
function looksCanonical(file: Buffer, start: number): boolean {
  const hasMarks = file[start + 10] === LETTER_T && file[start + 16] === COLON && file[start + 19] === LETTER_Z;
  return hasMarks && file[start + CANONICAL_LENGTH] === TAB;
}

/** Whether a line has room for the shortest timestamp, `2026-01-02T03:04`, and starts with a digit. */
function beginsTwt(file: Buffer, start: number, end: number): boolean {
  const first = file[start] ?? 0;
  return end - start > SHORTEST_TIMESTAMP && first >= DIGIT_0 && first <= DIGIT_9;
}

function afterBom(file: Buffer): number {
  return file[0] === 0xef && file[1] === 0xbb && file[2] === 0xbf ? 3 : 0;
}
