// plugin/feed/twt.ts: twts, the lines of a feed.

/** A timestamp and a text, exactly as in the file. */
export interface Twt {
  timestamp: string;
  text: string;
}

/** Separates the lines of a text within its line of the feed. */
export const LINE_SEPARATOR = "\u2028";

/** In bytes. Registries silently stop reading at the first line of this length or more. */
export const LINE_LIMIT = 64 * 1024;

const encoder = new TextEncoder();

/** Characters that {@link cleanText} replaces or removes. */
const CONTROL = /[\x00-\x1f\x7f-\x9f\u2029]/;

/**
 * Makes a text valid for a feed: one line of well-formed Unicode without TABs and control characters.
 *
 * @returns the text; empty if nothing is left
 * @see PROTOCOL 1.1
 */
export function cleanText(raw: string): string {
  const text = raw.toWellFormed();
  if (!CONTROL.test(text)) return text.trim();
  return text
    .replace(/\r\n|[\r\n\u2029]/g, LINE_SEPARATOR)
    .replace(/\t/g, " ")
    .replace(/[\x00-\x1f\x7f-\x9f]/g, "")
    .trim();
}

/** Writes the line of a twt, with LF. */
export function formatTwt({ timestamp, text }: Twt): string {
  return `${timestamp}\t${text}\n`;
}

/** The length of a text in bytes of UTF-8. */
export function byteLength(text: string): number {
  return encoder.encode(text).length;
}

/**
 * Whether a text has more than this many bytes of UTF-8. Its length usually decides without encoding, because a code unit has
 * one to three bytes.
 */
export function isLongerThan(text: string, bytes: number): boolean {
  return text.length > bytes || (text.length * 3 > bytes && byteLength(text) > bytes);
}
