// plugin/feed/find-twts.ts: search for twts by timestamp, without parsing the whole feed.
import { type ParsedTwt, parseFeed, splitLines } from "./feed.js";
import { toInstant } from "./timestamp.js";

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
  const lines = splitLines(input);
  const literal = parseLines(lines.filter((line) => line.startsWith(`${timestamp}\t`)));
  if (literal.length > 0) return literal;
  const mayMatch = (line: string) => (looksCanonical(line) ? line.startsWith(instant) : /^\d/.test(line));
  return parseLines(lines.filter(mayMatch)).filter((twt) => twt.instant === instant);
}

/** An empty line comes first, so that U+FEFF at the start of a later line is not taken for a byte order mark. */
function parseLines(lines: readonly string[]): ParsedTwt[] {
  return parseFeed(`\n${lines.join("\n")}`).twts;
}

/** Matches `..........T.....:..Z` and a TAB, which can only be a canonical timestamp. */
function looksCanonical(line: string): boolean {
  return line[10] === "T" && line[16] === ":" && line[19] === "Z" && line[20] === "\t";
}
