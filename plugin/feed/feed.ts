// plugin/feed/feed.ts: feed parser and writer.
import { TwtxtError } from "../errors.js";
import { compareTexts } from "../groups.js";
import { type FieldName, formatHeader, readField } from "./header.js";
import { findMentions, type Mention } from "./mention.js";
import { readSubject } from "./subject.js";
import { CANONICAL_LENGTH, requireInstant, toCanonical, toInstant } from "./timestamp.js";
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

const HASH = 0x23;
const CR = 0x0d;
const TIMESTAMP_LIMIT = 64;

/**
 * Parses a feed in linear time. It never throws: invalid lines are skipped and counted.
 *
 * @param input - the file; bytes are decoded as UTF-8, invalid ones as U+FFFD
 * @example parseFeed("# nick = bob\n\n2026-01-02T03:04:05Z\thello\n").twts[0].text // "hello"
 * @see PROTOCOL 1.3
 */
export function parseFeed(input: string | Uint8Array): ParsedFeed {
  const file = withoutBom(
    typeof input === "string" ? input.toWellFormed() : new TextDecoder("utf-8", { ignoreBOM: true }).decode(input),
  );
  const fields = new Map<string, string[]>();
  let header: FeedHeader | null = null;
  const reader = new TwtReader(file);
  let skippedLines = 0;

  for (let start = 0; start < file.length; ) {
    const lineEnd = file.indexOf("\n", start);
    const next = lineEnd < 0 ? file.length : lineEnd;
    const end = next > start && file.charCodeAt(next - 1) === CR ? next - 1 : next;

    if (file.charCodeAt(start) === HASH) readField(file.slice(start, end), fields);
    else if (end > start) {
      if (!reader.read(start, end)) skippedLines += 1;
      else header ??= Object.fromEntries([...fields].map(([name, values]) => [name, [...values]]));
    }
    start = next + 1;
  }
  const all = Object.fromEntries(fields);
  return { header: header ?? all, fields: all, twts: reader.twts(), skippedLines };
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

/** Parses the twts of one file, line by line. */
class TwtReader {
  readonly #file: string;
  readonly #twts: ParsedTwt[] = [];
  readonly #tabs: MarkFinder;
  readonly #mentions: MarkFinder;
  readonly #subjects: MarkFinder;
  #last = Number.NaN;
  #rises = true;
  #falls = true;

  constructor(file: string) {
    this.#file = file;
    this.#tabs = new MarkFinder(file, "\t");
    this.#mentions = new MarkFinder(file, "@<");
    this.#subjects = new MarkFinder(file, "(#");
  }

  /** @returns whether the line from `start` to `end` is a twt */
  read(start: number, end: number): boolean {
    const canonical = toCanonical(this.#file, start);
    const isCanonical = canonical >= 0 && this.#file[start + CANONICAL_LENGTH] === "\t";
    const tab = isCanonical ? start + CANONICAL_LENGTH : this.#tabs.find(start);
    if (tab >= start + TIMESTAMP_LIMIT || tab + 1 >= end) return false;

    const timestamp = this.#file.slice(start, tab);
    const instant = isCanonical ? timestamp : toInstant(timestamp);
    if (instant === null) return false;

    const text = this.#file.slice(tab + 1, end);
    // Longer lines are only searched up to the limit.
    const searched = text.length > LINE_LIMIT ? text.slice(0, LINE_LIMIT) : text;
    this.#twts.push({
      timestamp,
      text,
      instant,
      mentions: this.#mentions.find(tab) < end ? findMentions(searched) : [],
      subject: this.#subjects.find(tab) < end ? readSubject(searched) : null,
    });
    this.#noteOrder(isCanonical ? canonical : toCanonical(instant, 0));
    return true;
  }

  /** The twts without exact duplicates. A file in order of time has none, so it needs no comparison. */
  twts(): ParsedTwt[] {
    if (this.#rises || this.#falls) return this.#twts;
    const seen = new Set<string>();
    return this.#twts.filter((twt) => {
      const line = formatTwt(twt);
      return !seen.has(line) && seen.add(line);
    });
  }

  #noteOrder(instant: number): void {
    if (!(instant > this.#last) && this.#twts.length > 1) this.#rises = false;
    if (!(instant < this.#last) && this.#twts.length > 1) this.#falls = false;
    this.#last = instant;
  }
}

/** Finds the next mark in a file that is read forwards, so that lines without one need not be searched. */
class MarkFinder {
  #at = -1;

  constructor(
    readonly file: string,
    readonly mark: string,
  ) {}

  /** @returns the position of the next mark; infinity for none. `start` must not decrease between calls */
  find(start: number): number {
    if (this.#at < start) {
      const at = this.file.indexOf(this.mark, start);
      this.#at = at < 0 ? Number.POSITIVE_INFINITY : at;
    }
    return this.#at;
  }
}

function withoutBom(file: string): string {
  return file.charCodeAt(0) === 0xfeff ? file.slice(1) : file;
}
