// plugin/mentions/plain-text.ts: makes untrusted text safe to print in lines.
import type { StoredMention } from "./mention.js";

/** Every line break that a reader may recognize, as Python's splitlines() does. */
const LINE_END = /\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]/;
/** Control characters and direction overrides. */
const CONTROL = /[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;
/**
 * Invisible characters that make names look alike: direction marks, soft hyphens, word joiners. U+200C and U+200D stay,
 * since Persian names and emoji need them.
 */
const INVISIBLE = /[\u00ad\u061c\u180e\u200b\u200e\u200f\u2060-\u2064\u206a-\u206f\ufeff]/g;
/** Characters that start a mention, subject, tag, link, image or code. */
const SYNTAX = /[<>[\]#`]/g;
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;
const NAME_LIMIT = 80;

/** The lines of a text without control characters and tabs. */
export function plainLines(text: string): string[] {
  return text
    .toWellFormed()
    .split(LINE_END)
    .map((line) => line.replace(/\t/g, " ").replace(CONTROL, ""));
}

/** A text with each line marked as a quotation; empty for an empty text. */
export function quotedLines(text: string): string[] {
  return text.trim() === "" ? [] : plainLines(text).map((line) => `> ${line}`.trimEnd());
}

/** A name in one line without invisible characters. */
export function nameLine(text: string): string {
  return plainLines(text).join(" ").replace(INVISIBLE, "").replace(/\s+/g, " ").trim();
}

/** The author's name without markup, at most 80 characters; the host if nothing visible is left. */
export function plainName({ author, identity }: Pick<StoredMention, "author" | "identity">): string {
  const name = nameLine(author.name.replace(SYNTAX, ""));
  return VISIBLE.test(name) ? shortened(name, NAME_LIMIT) : new URL(identity).host;
}

/** A text cut to at most `limit` characters. */
export function shortened(text: string, limit: number): string {
  const characters = [...text];
  return characters.length <= limit
    ? text
    : `${characters
        .slice(0, limit - 1)
        .join("")
        .trimEnd()}…`;
}
