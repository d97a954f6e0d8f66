// plugin/cli/stamp-text.ts: writes a date into a post's text, changing one line and no other byte.
import { isDeepStrictEqual } from "node:util";
import { TwtxtError } from "../errors.js";
import { type FrontMatterBlock, findFrontMatter, type ParsedPost, readPost } from "./front-matter.js";

/** A text with its new date, or the reason for none. */
export type Stamped =
  | ({ outcome: "stamped"; hasNewFrontMatter: boolean } & Attempt)
  | { outcome: "unchanged" }
  | { outcome: "refused"; why: string };

/** One way to write the date. */
interface Attempt {
  text: string;
  /** The former date as written; `null` for none. */
  old: string | null;
}

const DATE_KEY = /^[ \t]*(?:date|"date"|'date')[ \t]*:(?=[ \t]|$)/;
const TAIL = /[ \t]+#[^\r]*$|[ \t]+$/;

/**
 * Writes a date into a text.
 *
 * Tries each line that could hold the date, and takes the first after which the parser finds the wanted date and
 * everything else unchanged. So it never changes a `date:` of another key, in a multi-line text or in the body, and
 * refuses a date that is not on one line.
 *
 * @param text - a whole file, with its byte order mark and line endings
 * @param timestamp - `YYYY-MM-DDThh:mm:ssZ`
 * @example stampText("---\ndate: 2026-01-02 # draft\n---\n", "2026-01-02T00:13:37Z") // text: "---\ndate: 2026-01-02T00:13:37Z # draft\n---\n"
 */
export function stampText(text: string, timestamp: string): Stamped {
  try {
    const block = findFrontMatter(text);
    const before = readPost(text);
    if (isWanted(before.data.date, timestamp)) return { outcome: "unchanged" };

    for (const attempt of attempts(text, block, before, timestamp)) {
      const isGood = keepsAllElse(before, attempt.text, timestamp);
      if (isGood) return { outcome: "stamped", hasNewFrontMatter: !block, ...attempt };
    }
    const why =
      "date" in before.data ? "its date is not on one line" : "its front matter has no room for one more line";
    return { outcome: "refused", why };
  } catch (error) {
    if (error instanceof TwtxtError) return { outcome: "refused", why: error.message };
    throw error;
  }
}

/** Whether two texts differ in the date only, and the new one has the wanted date. */
export function isStamped(before: string, after: string, timestamp: string): boolean {
  return keepsAllElse(readPost(before), after, timestamp);
}

function keepsAllElse(before: ParsedPost, text: string, timestamp: string): boolean {
  let after: ParsedPost;
  try {
    after = readPost(text);
  } catch {
    return false;
  }
  const { date: _, ...others } = before.data;
  const { date, ...othersAfter } = after.data;
  return isWanted(date, timestamp) && before.content === after.content && isDeepStrictEqual(others, othersAfter);
}

function isWanted(date: unknown, timestamp: string): boolean {
  return date instanceof Date && date.getTime() === Date.parse(timestamp);
}

function attempts(
  text: string,
  block: FrontMatterBlock | null,
  { data }: ParsedPost,
  timestamp: string,
): Iterable<Attempt> {
  if (!block) return newFrontMatter(text, timestamp);
  return "date" in data ? changes(text, block, timestamp) : insertions(text, block, timestamp);
}

function* changes(text: string, { start, end }: FrontMatterBlock, timestamp: string): Generator<Attempt> {
  for (let at = start; at < end; at = text.indexOf("\n", at) + 1) {
    const line = text.slice(at, text.indexOf("\n", at)).replace(/\r$/, "");
    const key = DATE_KEY.exec(line)?.[0];
    if (key === undefined) continue;

    const rest = line.slice(key.length);
    const tail = TAIL.exec(rest)?.[0] ?? "";
    const value = rest.slice(0, rest.length - tail.length);
    const gap = /^[ \t]*/.exec(value)?.[0] || " ";
    yield { text: splice(text, at, line.length, key + gap + timestamp + tail), old: value.trim() };
  }
}

/** As the last line, or as the first one where the last would become part of a multi-line text. */
function* insertions(text: string, block: FrontMatterBlock, timestamp: string): Generator<Attempt> {
  const indent = /^([ \t]*)[^\s#]/m.exec(text.slice(block.start, block.end))?.[1] ?? "";
  const line = `${indent}date: ${timestamp}${block.lineEnd}`;
  for (const at of [block.end, block.start]) yield { text: splice(text, at, 0, line), old: null };
}

function* newFrontMatter(text: string, timestamp: string): Generator<Attempt> {
  const lineEnd = /^[^\n]*\r\n/.test(text) ? "\r\n" : "\n";
  const lines = ["---", `date: ${timestamp}`, "---", ""].join(lineEnd);
  yield { text: splice(text, text.startsWith("\uFEFF") ? 1 : 0, 0, lines), old: null };
}

function splice(text: string, at: number, length: number, insert: string): string {
  return text.slice(0, at) + insert + text.slice(at + length);
}
