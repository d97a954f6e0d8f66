// plugin/mentions/verify/source-text.ts: cleans untrusted texts, names and URLs for storage and for output in lines.
import { later } from "../../later.js";
import { viaHost } from "../../site/mention-sentence.js";
import { plainLines, shortened, shortenedAtWord } from "../../site/plain-lines.js";
import { isVisible } from "../../site/visible-name.js";
import type { ProvenMention, StoredMention } from "../mention.js";

const converter = later(() => import("../../site/text-html.js"));

/** Maximum lengths of texts and names, in characters. */
export const TEXT_LIMIT = 5_000;
export const NAME_LIMIT = 100;
/** The length of a text that is quoted: in notices, and of a page that does not reply. */
export const EXCERPT_LIMIT = 500;
/** The limit of a name without markup. */
const PLAIN_NAME_LIMIT = 80;
/** Longer texts are cut before processing. */
const READ_LIMIT = 20_000;

/**
 * Invisible characters that make names look alike: direction marks, soft hyphens, word joiners, fillers of Hangul, an empty
 * Braille pattern. U+200C and U+200D stay, since Persian names and emoji need them.
 */
const INVISIBLE =
  /[\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2060-\u2064\u206a-\u206f\u2800\u3164\ufeff\uffa0]/g;
/** Characters that start a mention, subject, tag, link, image or code. */
const SYNTAX = /[<>[\]#`]/g;
/** A host in a name, with or without a port. */
const HOST_NAME = /(?:[\p{L}\p{N}-]+\.)+(?:[\p{L}\p{N}-]{2,}|\d+)(?::\d+)?/gu;

/** A URL, up to a character that no URL contains. It does not start inside a word or another URL. */
const BARE_URL = /(?<![A-Za-z0-9_=/&?%#@+])https?:\/\/[^\s<>"`]+/gi;
const LINK = /\]\(\s*<?(https?:\/\/[^\s<>()]+(?:\([^\s<>()]*\)[^\s<>()]*)*)/gi;

/** Punctuation and closing brackets, which belong to the text rather than to the URL. */
const AFTER_URL = /(?<![.,;:!?'”’»*_~|)\]}…。，、！？）」])[.,;:!?'”’»*_~|)\]}…。，、！？）」]+$/;

/** A text of at most 5,000 characters, cut at a word; lines are separated by LF. */
export function quoteText(raw: string): string {
  return shortenedAtWord(plainLines(raw.slice(0, READ_LIMIT)).join("\n").trim(), TEXT_LIMIT);
}

/** A text for a notice: at most 500 characters, cut at a word. */
export function excerpt(text: string): string {
  return shortenedAtWord(text, EXCERPT_LIMIT);
}

/** A name in one line of at most 100 characters; empty if nothing visible is left. */
export function quoteName(raw: string): string {
  return shortened(nameLine(raw.slice(0, READ_LIMIT)), NAME_LIMIT);
}

/**
 * The author's name without markup, at most 80 characters; the host if nothing visible is left. With the host of the
 * source if the author is of another one: "Bob, via brid.gy". A name that looks like a host itself must not pass for that.
 */
export function plainName({ author, identity }: Pick<StoredMention, "author" | "identity">): string {
  const name = nameLine(author.name.replace(SYNTAX, ""));
  const { host } = new URL(identity);
  const namesOther = name.match(HOST_NAME)?.some((each) => each.toLowerCase() !== host) ?? false;
  const via = viaHost({ source: identity, author }) ?? (namesOther ? host : null);
  const shown = isVisible(name) ? shortened(name, PLAIN_NAME_LIMIT) : host;
  return via === null ? shown : `${shown}, via ${via}`;
}

function nameLine(text: string): string {
  return plainLines(text).join(" ").replace(INVISIBLE, "").replace(/\s+/g, " ").trim();
}

/** An excerpt with each line marked as a quotation; empty for an empty text. */
export function quoteExcerpt(text: string): string[] {
  return text.trim() === "" ? [] : plainLines(excerpt(text)).map((line) => `> ${line}`.trimEnd());
}

/** Adds the text as HTML, unless the page has some. The converter is loaded on first use. */
export async function withHtml<M extends Pick<ProvenMention, "text" | "html" | "hash">>(
  mention: M,
): Promise<M & { html: string }> {
  if (mention.html !== null) return { ...mention, html: mention.html };
  const { textHtml } = await converter();
  return { ...mention, html: textHtml(mention.text, mention.hash === null ? "page" : "twt") };
}

/**
 * Finds bare URLs, those in angle brackets, and the destinations of Markdown links, in linear time.
 *
 * @returns each URL with and without the punctuation at its end
 * @example urlsInText("See https://alice.example/a.") // ["https://alice.example/a.", "https://alice.example/a"]
 * @see PROTOCOL 2.4, "The proof"
 */
export function urlsInText(text: string): string[] {
  const bare = [...text.matchAll(BARE_URL)].flatMap(([url]) => [url, withoutPunctuation(url)]);
  const linked = [...text.matchAll(LINK)].map(([, url = ""]) => url);
  return [...new Set([...bare, ...linked])];
}

function withoutPunctuation(url: string): string {
  const short = url.replace(AFTER_URL, "");
  // As in `https://en.example/Quince_(fruit)`, this bracket belongs to the URL.
  const isOpen = short.lastIndexOf("(") > short.lastIndexOf(")") && url[short.length] === ")";
  return isOpen ? `${short})` : short;
}
