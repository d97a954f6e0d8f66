// plugin/feed/twt.ts: one line of a feed.

/** A post in its plain-text form: a timestamp and a text, as they stand in the file. */
export interface Twt {
  timestamp: string;
  text: string;
}

/** What separates the lines of a text inside its one line of the feed. */
export const LINE_SEPARATOR = "\u2028";

/** A registry silently stops reading at the first line of this many bytes or more. */
export const LINE_LIMIT = 64 * 1024;

/**
 * A text as a feed may hold it: one line, without TABs and controls, and never two readings of one byte.
 *
 * @param raw - any string at all
 * @returns the text, empty where nothing is left of it
 * @see PROTOCOL 1.1
 */
export function cleanText(raw: string): string {
  return raw
    .toWellFormed()
    .replace(/\r\n|[\r\n\u2029]/g, LINE_SEPARATOR)
    .replace(/\t/g, " ")
    .replace(/[\x00-\x1f\x7f-\x9f]/g, "")
    .trim();
}

/** The line of a twt, LF included. */
export function formatTwt({ timestamp, text }: Twt): string {
  return `${timestamp}\t${text}\n`;
}

/** How many bytes of UTF-8 a text takes. */
export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
