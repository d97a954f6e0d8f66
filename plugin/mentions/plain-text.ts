// plugin/mentions/plain-text.ts: what strangers have written, as lines that stay where they are put.
import type { StoredMention } from "./mention.js";

/** Wherever some reader ends a line. Python's, for one, does so at each of these. */
const LINE_END = /\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]/;
/** Controls, and what turns the direction of all that follows. */
const CONTROL = /[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;
/**
 * What nobody sees, and what makes one name look like another: marks of direction, soft hyphens, joiners of words. The
 * joiners of letters, U+200C and U+200D, stay: Persian names and emoji need them.
 */
const INVISIBLE = /[\u00ad\u061c\u180e\u200b\u200e\u200f\u2060-\u2064\u206a-\u206f\ufeff]/g;
/** What opens a mention, a subject, a tag, a link, an image or code. */
const SYNTAX = /[<>[\]#`]/g;
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;
const NAME_LIMIT = 80;

/** The lines of a text, each without controls and TABs. */
export function plainLines(text: string): string[] {
  return text
    .toWellFormed()
    .split(LINE_END)
    .map((line) => line.replace(/\t/g, " ").replace(CONTROL, ""));
}

/** A text as a quotation: no line of it can pass for one of ours. None for an empty text. */
export function quotedLines(text: string): string[] {
  return text.trim() === "" ? [] : plainLines(text).map((line) => `> ${line}`.trimEnd());
}

/** A name in one line, without what nobody sees. */
export function nameLine(text: string): string {
  return plainLines(text).join(" ").replace(INVISIBLE, "").replace(/\s+/g, " ").trim();
}

/** Who it is, in one short line that is nothing but a name; the host, where the name is none. */
export function plainName({ author, identity }: Pick<StoredMention, "author" | "identity">): string {
  const name = nameLine(author.name.replace(SYNTAX, ""));
  return VISIBLE.test(name) ? shortened(name, NAME_LIMIT) : new URL(identity).host;
}

/** A text of at most so many characters, cut between two of them. */
export function shortened(text: string, limit: number): string {
  const characters = [...text];
  return characters.length <= limit
    ? text
    : `${characters
        .slice(0, limit - 1)
        .join("")
        .trimEnd()}…`;
}
