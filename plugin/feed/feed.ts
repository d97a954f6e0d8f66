// plugin/feed/feed.ts: feed parser and writer.
import { TwtxtError } from "../errors.js";
import { compareTexts } from "../groups.js";
import { type FieldName, formatHeader, readField } from "./header.js";
import { findMentions, type Mention } from "./mention.js";
import { readSubject } from "./subject.js";
import { requireInstant, toInstant } from "./timestamp.js";
import { cleanText, formatTwt, isLongerThan, LINE_LIMIT, type Twt } from "./twt.js";

/** A twt with its parsed text. */
export interface ParsedTwt extends Twt {
  /** The timestamp in UTC as `YYYY-MM-DDThh:mm:ssZ`. */
  instant: string;
  mentions: Mention[];
  /** The hash of the twt that this one replies to. */
  subject: string | null;
}

/** Header fields by lower-cased name, each with its values in order. */
export type FeedHeader = Record<string, string[]>;

/** A parsed feed. */
export interface ParsedFeed {
  /** The fields before the first twt: only these describe the feed. PROTOCOL 2.2 */
  header: FeedHeader;
  /** The fields of the whole file, for less strict readers. */
  fields: FeedHeader;
  /** In the order of the file, without exact duplicates. */
  twts: ParsedTwt[];
  /** Number of lines that are neither twt, comment nor empty. */
  skippedLines: number;
}

const TIMESTAMP_LIMIT = 64;

/**
 * Parses a feed in linear time. It never throws: invalid lines are skipped and counted.
 *
 * @param input - the file; bytes are decoded as UTF-8, invalid ones as U+FFFD
 * @example parseFeed("# nick = bob\n\n2026-01-02T03:04:05Z\thello\n").twts[0].text // "hello"
 * @see PROTOCOL 1.3
 */
export function parseFeed(input: string | Uint8Array): ParsedFeed {
  const fields = new Map<string, string[]>();
  let header: FeedHeader | null = null;
  const twts: ParsedTwt[] = [];
  let skippedLines = 0;
  for (const row of splitLines(input)) {
    const line = row.endsWith("\r") ? row.slice(0, -1) : row;
    if (line.startsWith("#")) readField(line, fields);
    else if (line !== "") {
      const twt = parseTwt(line);
      if (twt) {
        twts.push(twt);
        header ??= structuredClone(Object.fromEntries(fields));
      } else skippedLines += 1;
    }
  }
  const all = Object.fromEntries(fields);
  return { header: header ?? all, fields: all, twts: withoutDuplicates(twts), skippedLines };
}

function parseTwt(line: string): ParsedTwt | null {
  const tab = line.indexOf("\t");
  if (tab < 0 || tab >= TIMESTAMP_LIMIT || tab + 1 === line.length) return null;
  const timestamp = line.slice(0, tab);
  const instant = toInstant(timestamp);
  if (instant === null) return null;
  const text = line.slice(tab + 1);
  // Longer lines are only searched up to the limit, and those without a mark not at all.
  const searched = text.length > LINE_LIMIT ? text.slice(0, LINE_LIMIT) : text;
  const mentions = searched.includes("@<") ? findMentions(searched) : [];
  const subject = searched.includes("(#") ? readSubject(searched) : null;
  return { timestamp, text, instant, mentions, subject };
}

/**
 * Writes a feed: header comments, an empty line, then the twts, oldest first.
 *
 * @param feed - `fields` by name, each with its values; `twts` in any order. Timestamps are written in UTC and whole
 *   seconds, texts are cleaned, and twts without text are left out.
 * @throws TwtxtError `bad-field` for an unknown or repeated field, or a value that other readers would misread;
 *   `bad-timestamp`; `too-large` for a line of 64 KiB or more
 * @example formatFeed({ fields: { nick: ["alice"] }, twts: [{ timestamp: "2026-01-02T03:04:05Z", text: "hello" }] }) // "# nick = alice\n\n2026-01-02T03:04:05Z\thello\n"
 * @see PROTOCOL 1.1
 */
export function formatFeed(feed: {
  fields: Partial<Record<FieldName, readonly string[]>>;
  twts: readonly Twt[];
}): string {
  const header = formatHeader(feed.fields);
  const lines = feed.twts
    .map(({ timestamp, text }) => ({ timestamp: requireInstant(timestamp), text: cleanText(text) }))
    .filter(({ text }) => text !== "")
    .sort((a, b) => compareTexts(a.timestamp, b.timestamp))
    .map(formatTwt);
  const long = lines.find((line) => isLongerThan(line, LINE_LIMIT - 1));
  if (long)
    throw new TwtxtError(
      "too-large",
      `The twt of ${long.slice(0, 20)} is too long: a line of a feed must be shorter than 64 KiB.`,
    );
  return `${header}\n${lines.join("")}`;
}

/** A file in the order of time has no duplicates, so its lines need no comparison. */
function withoutDuplicates(twts: ParsedTwt[]): ParsedTwt[] {
  const instants = twts.map(({ instant }) => instant);
  const isRising = instants.every((instant, i) => i === 0 || instant > (instants[i - 1] ?? ""));
  const isFalling = instants.every((instant, i) => i === 0 || instant < (instants[i - 1] ?? ""));
  return isRising || isFalling ? twts : [...new Map(twts.map((twt) => [formatTwt(twt), twt])).values()];
}

/** The rows of a file, some with a CR at their end. @param input - as for {@link parseFeed} */
function splitLines(input: string | Uint8Array): string[] {
  const isText = typeof input === "string";
  const file = isText ? input.toWellFormed() : new TextDecoder("utf-8", { ignoreBOM: true }).decode(input);
  return file.replace(/^\ufeff/, "").split("\n");
}
