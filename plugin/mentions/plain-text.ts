// plugin/mentions/plain-text.ts: makes untrusted text safe to print in lines.
import { plainLines, shortened } from "../site/plain-lines.js";
import type { StoredMention } from "./mention.js";

/**
 * Invisible characters that make names look alike: direction marks, soft hyphens, word joiners. U+200C and U+200D stay,
 * since Persian names and emoji need them.
 */
const INVISIBLE = /[\u00ad\u061c\u180e\u200b\u200e\u200f\u2060-\u2064\u206a-\u206f\ufeff]/g;
/** Characters that start a mention, subject, tag, link, image or code. */
const SYNTAX = /[<>[\]#`]/g;
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;
const NAME_LIMIT = 80;

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
