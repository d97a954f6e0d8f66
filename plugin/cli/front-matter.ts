// plugin/cli/front-matter.ts: the YAML that a post starts with, read as Eleventy reads it.
import matter from "gray-matter";
import { TwtxtError } from "../errors.js";

/** A post as gray-matter reads it. */
export interface ParsedPost {
  data: Record<string, unknown>;
  /** The body. */
  content: string;
}

/** The front matter in a text: the lines between the two lines of dashes. */
export interface FrontMatterBlock {
  start: number;
  end: number;
  lineEnd: "\n" | "\r\n";
}

/** The first line, as gray-matter reads it: three dashes, not four, and perhaps the name of a language. */
const OPENING = /^\uFEFF?---(?!-)([^\n]*)(\n|$)/;
const YAML = /^(ya?ml)?$/i;

/**
 * Finds the front matter of a text.
 *
 * @returns `null` for none
 * @throws TwtxtError `bad-front-matter` where it is not YAML, or not closed
 */
export function findFrontMatter(text: string): FrontMatterBlock | null {
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
  findFrontMatter(text);
  try {
    // Options turn off gray-matter's cache, which would keep a failed text as if it had been parsed.
    const { data, content } = matter(text, { language: "yaml" });
    if (isRecord(data)) return { data, content };
  } catch (error) {
    throw bad(`its front matter cannot be read: ${Object(error).reason ?? "it is not YAML"}`, error);
  }
  throw bad("its front matter is not a list of keys and values");
}

/**
 * Writes a post.
 *
 * @param data - `date` is its first key, and is written to the second and without quotes
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
