// plugin/author/notes/front-matter.ts: reads and writes the YAML front matter of a post, as Eleventy reads it.
import { isDeepStrictEqual } from "node:util";
import matter from "gray-matter";
import { TwtxtError } from "../../errors.js";
import { formatTimestamp } from "../../feed/timestamp.js";

interface ParsedPost {
  data: Record<string, unknown>;
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
    const isList = typeof data === "object" && data !== null && !Array.isArray(data) && !(data instanceof Date);
    if (isList) return { data, content, block };
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

function bad(message: string, cause?: unknown): TwtxtError {
  return new TwtxtError("bad-front-matter", message, { cause });
}

export interface ChangedText {
  text: string;
  /** The former value as written; `null` for none. */
  old: string | null;
}

/** What follows a key on its line: space, the value, and a comment or space after it. */
const VALUE = /^([ \t]*)("(?:\\.|[^"\\])*"|'(?:''|[^'])*'|(?!#).*?)([ \t]+#.*|[ \t]*)$/;
/** Texts that YAML reads as they are written. */
const PLAIN = /^[a-z]+$/;

/**
 * Writes a field into the front matter. Tries each line that could hold the field, and takes the first after which the parser
 * finds the value and everything else unchanged. So it never changes the same key of another object, in a multi-line text or
 * in the body, and refuses a value that is not on one line.
 *
 * @param text - a whole file, with its byte order mark and line endings
 * @param value - of a date, whole seconds are written
 * @returns `null` for a text that has this value already
 * @throws TwtxtError `bad-front-matter`; the message is a clause about the file
 * @example writeField("---\ndate: 2026-01-02 # draft\n---\n", "date", new Date("2026-01-02T00:13:37Z")) // text: "---\ndate: 2026-01-02T00:13:37Z # draft\n---\n"
 */
export function writeField(text: string, key: string, value: string | Date): ChangedText | null {
  const before = readPost(text);
  const old = before.data[key];
  if (isDeepStrictEqual(old, value)) return null;
  const isPlain = typeof value === "string" && PLAIN.test(value);
  const written = value instanceof Date ? formatTimestamp(value) : isPlain ? value : JSON.stringify(value);
  for (const changed of attempts(text, before, { key, value: written })) {
    const after = readIfValid(changed.text);
    const isOnlyChange = isDeepStrictEqual({ ...after?.data, [key]: old }, { ...before.data, [key]: old });
    if (isDeepStrictEqual(after?.data[key], value) && after?.content === before.content && isOnlyChange) return changed;
  }
  throw bad(key in before.data ? `its ${key} is not on one line` : "its front matter has no room for one more line");
}

interface FieldChange {
  key: string;
  /** As it is written in YAML. */
  value: string;
}

function readIfValid(text: string): ParsedPost | null {
  try {
    return readPost(text);
  } catch {
    return null;
  }
}

function attempts(text: string, { data, block }: ParsedPost, change: FieldChange): Iterable<ChangedText> {
  if (!block) return newFrontMatter(text, change);
  return change.key in data ? changes(text, block, change) : insertions(text, block, change);
}

function* changes(text: string, block: FrontMatterBlock, { key, value }: FieldChange): Generator<ChangedText> {
  const start = new RegExp(`^[ \\t]*(?:${key}|"${key}"|'${key}')[ \\t]*:(?=[ \\t]|$)`);
  for (let at = block.start; at < block.end; at = text.indexOf("\n", at) + 1) {
    const line = text.slice(at, text.indexOf("\n", at)).replace(/\r$/, "");
    const name = start.exec(line)?.[0];
    if (name === undefined) continue;

    const [, gap, old = "", tail = ""] = VALUE.exec(line.slice(name.length)) ?? [];
    yield { text: splice(text, at, line.length, name + (gap || " ") + value + tail), old };
  }
}

/** Inserts it as the last line, or as the first one if the last would become part of a multi-line text. */
function insertions(text: string, block: FrontMatterBlock, { key, value }: FieldChange): ChangedText[] {
  const indent = /^([ \t]*)[^\s#]/m.exec(text.slice(block.start, block.end))?.[1] ?? "";
  const line = `${indent}${key}: ${value}${block.lineEnd}`;
  return [block.end, block.start].map((at) => ({ text: splice(text, at, 0, line), old: null }));
}

function newFrontMatter(text: string, { key, value }: FieldChange): ChangedText[] {
  const lineEnd = /^[^\n]*\r\n/.test(text) ? "\r\n" : "\n";
  const lines = ["---", `${key}: ${value}`, "---", ""].join(lineEnd);
  return [{ text: splice(text, text.startsWith("\uFEFF") ? 1 : 0, 0, lines), old: null }];
}

function splice(text: string, at: number, length: number, insert: string): string {
  return text.slice(0, at) + insert + text.slice(at + length);
}
