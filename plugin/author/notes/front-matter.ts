// plugin/author/notes/front-matter.ts: reads and writes the YAML front matter of a post, as Eleventy reads it.
import { isDeepStrictEqual } from "node:util";
import matter from "gray-matter";
import { TwtxtError } from "../../errors.js";

/** A post as gray-matter reads it. */
interface ParsedPost {
  data: Record<string, unknown>;
  /** The body. */
  content: string;
  /** The front matter in the text; `null` for none. */
  block: FrontMatterBlock | null;
}

/** The position of the front matter in a text: the lines between the two lines of dashes. */
interface FrontMatterBlock {
  start: number;
  end: number;
  lineEnd: "\n" | "\r\n";
}

/** The first line, as gray-matter reads it: three dashes, not four, and perhaps the name of a language. */
const OPENING = /^\uFEFF?---(?!-)([^\n]*)(\n|$)/;
const YAML = /^(ya?ml)?$/i;

/** @throws TwtxtError `bad-front-matter` if it is not YAML, or not closed */
function findFrontMatter(text: string): FrontMatterBlock | null {
  const opening = OPENING.exec(text);
  if (!opening) return null;
  const language = (opening[1] ?? "").trim();
  if (!YAML.test(language)) throw bad(`its front matter is in "${language.slice(0, 20)}", not in YAML`);

  const start = opening[0].length;
  const close = opening[2] === "" ? -1 : text.indexOf("\n---", start - 1);
  if (close < 0) throw bad("its front matter is not closed by a line of three dashes");
  return { start, end: close + 1, lineEnd: opening[0].endsWith("\r\n") ? "\r\n" : "\n" };
}

/**
 * Reads a post. Refuses front matter in JavaScript, which gray-matter would evaluate.
 *
 * @throws TwtxtError `bad-front-matter`; the message is a clause about the file
 */
export function readPost(text: string): ParsedPost {
  const block = findFrontMatter(text);
  try {
    // Options turn off gray-matter's cache, which would keep a failed text as if it had been parsed.
    const { data, content } = matter(text, { language: "yaml" });
    if (isRecord(data)) return { data, content, block };
  } catch (error) {
    throw bad(`its front matter cannot be read: ${Object(error).reason ?? "it is not YAML"}`, error);
  }
  throw bad("its front matter is not a list of keys and values");
}

/**
 * Writes a post.
 *
 * @param data - `date` is the first key; it is written to the second, without quotes
 */
export function formatPost(data: { date: Date } & Record<string, unknown>, body: string): string {
  const options = { language: "yaml", lineWidth: -1 };
  // An object: gray-matter would look for front matter in a string, and a note may start with dashes.
  const text = matter.stringify({ content: body }, data, options);
  return text.replace(/^(date: \S+)\.000Z$/m, "$1Z");
}

function isRecord(data: unknown): data is Record<string, unknown> {
  return typeof data === "object" && data !== null && !Array.isArray(data) && !(data instanceof Date);
}

function bad(message: string, cause?: unknown): TwtxtError {
  return new TwtxtError("bad-front-matter", message, { cause });
}

/** A text with a new date. */
export interface StampedText {
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
 * @returns `null` for a text that has this date already
 * @throws TwtxtError `bad-front-matter`; the message is a clause about the file
 * @example stampText("---\ndate: 2026-01-02 # draft\n---\n", "2026-01-02T00:13:37Z") // text: "---\ndate: 2026-01-02T00:13:37Z # draft\n---\n"
 */
export function stampText(text: string, timestamp: string): StampedText | null {
  const before = readPost(text);
  if (isWanted(before.data.date, timestamp)) return null;
  for (const stamped of attempts(text, before, timestamp)) {
    if (changesOnlyDate(before, stamped.text, timestamp)) return stamped;
  }
  throw bad("date" in before.data ? "its date is not on one line" : "its front matter has no room for one more line");
}

/**
 * Writes a text into a field of the front matter, and changes nothing else. As in {@link stampText}, the parser decides.
 *
 * @param text - a whole file
 * @throws TwtxtError `bad-front-matter`; the message is a clause about the file
 * @example writeField("---\ntags: posts\n---\nHello\n", "twt", "deleted") // "---\ntags: posts\ntwt: deleted\n---\nHello\n"
 */
export function writeField(text: string, key: string, value: string): string {
  const before = readPost(text);
  if (before.data[key] === value) return text;
  const line = `${key}: ${PLAIN.test(value) ? value : JSON.stringify(value)}`;
  const wanted = { ...before.data, [key]: value };
  for (const changed of fieldAttempts(text, before, { key, line })) {
    const after = readIfValid(changed);
    if (after && after.content === before.content && isDeepStrictEqual(after.data, wanted)) return changed;
  }
  throw bad(`its ${key} is not on one line`);
}

/** Texts that YAML reads as they are written. */
const PLAIN = /^[a-z]+$/;

function* fieldAttempts(
  text: string,
  { data, block }: ParsedPost,
  { key, line }: { key: string; line: string },
): Generator<string> {
  if (!block) {
    yield `---\n${line}\n---\n${text}`;
  } else if (key in data) {
    for (let at = block.start; at < block.end; at = text.indexOf("\n", at) + 1) {
      const old = text.slice(at, text.indexOf("\n", at)).replace(/\r$/, "");
      if (old.trimStart().startsWith(key)) yield splice(text, at, old.length, line);
    }
  } else {
    for (const at of [block.end, block.start]) yield splice(text, at, 0, line + block.lineEnd);
  }
}

function readIfValid(text: string): ParsedPost | null {
  try {
    return readPost(text);
  } catch {
    return null;
  }
}

function changesOnlyDate(before: ParsedPost, text: string, timestamp: string): boolean {
  const after = readIfValid(text);
  if (after === null) return false;
  const { date: _, ...others } = before.data;
  const { date, ...othersAfter } = after.data;
  return isWanted(date, timestamp) && before.content === after.content && isDeepStrictEqual(others, othersAfter);
}

function isWanted(date: unknown, timestamp: string): boolean {
  return date instanceof Date && date.getTime() === Date.parse(timestamp);
}

function attempts(text: string, { data, block }: ParsedPost, timestamp: string): Iterable<StampedText> {
  if (!block) return newFrontMatter(text, timestamp);
  return "date" in data ? changes(text, block, timestamp) : insertions(text, block, timestamp);
}

function* changes(text: string, { start, end }: FrontMatterBlock, timestamp: string): Generator<StampedText> {
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

/** Inserts it as the last line, or as the first one if the last would become part of a multi-line text. */
function* insertions(text: string, block: FrontMatterBlock, timestamp: string): Generator<StampedText> {
  const indent = /^([ \t]*)[^\s#]/m.exec(text.slice(block.start, block.end))?.[1] ?? "";
  const line = `${indent}date: ${timestamp}${block.lineEnd}`;
  for (const at of [block.end, block.start]) yield { text: splice(text, at, 0, line), old: null };
}

function* newFrontMatter(text: string, timestamp: string): Generator<StampedText> {
  const lineEnd = /^[^\n]*\r\n/.test(text) ? "\r\n" : "\n";
  const lines = ["---", `date: ${timestamp}`, "---", ""].join(lineEnd);
  yield { text: splice(text, text.startsWith("\uFEFF") ? 1 : 0, 0, lines), old: null };
}

function splice(text: string, at: number, length: number, insert: string): string {
  return text.slice(0, at) + insert + text.slice(at + length);
}
