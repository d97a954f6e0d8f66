// plugin/mentions/networks/copy-text.ts: the text of a twt for another network, cut to what the network takes.
import { locateMentions } from "../../feed/mention.js";
import { LINE_SEPARATOR } from "../../feed/twt.js";

/** A word of a text, the space between two words, or a name or a label that links. */
export interface TextPart {
  text: string;
  /** What it links to; `null` for plain text. */
  url: string | null;
  /** Whether it is the name of a person, who is not mentioned on the network. */
  isName?: boolean;
}

const SUBJECT = /^[\s\u2028]*\(#[^()]*\)[\s\u2028]*/;
/** Pictures, which are attached; links; and URLs, without punctuation at their end. */
const LINK = /!\[[^\]]*\]\([^()\s]*\)|\[([^\]]+)\]\((https?:\/\/[^()\s]+)\)|https?:\/\/[^\s<>()]*[^\s<>().,:;!?'"]/g;

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** The number of characters as a person counts them. */
export function countGraphemes(text: string): number {
  return /^[\x20-\x7e]*$/.test(text) ? text.length : [...graphemes.segment(text)].length;
}

/**
 * The text of a twt without the hash that it replies to. People are named, not mentioned.
 *
 * @example toParts("Hi @<bob https://bob.example/twtxt.txt>") // [{ text: "Hi", url: null }, { text: " ", url: null }, { text: "bob", url: "https://bob.example/twtxt.txt", isName: true }]
 */
export function toParts(twt: string): TextPart[] {
  const text = twt.replace(SUBJECT, "").replaceAll(LINE_SEPARATOR, "\n");
  const parts: TextPart[] = [];
  let at = 0;
  for (const { nick, url, start, end } of locateMentions(text)) {
    parts.push(...toLinks(text.slice(at, start)), { text: nick ?? new URL(url).host, url, isName: true });
    at = end;
  }
  return withoutOuterSpace([...parts, ...toLinks(text.slice(at))]);
}

function toLinks(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let at = 0;
  for (const { 0: found, 1: label, 2: url, index } of text.matchAll(LINK)) {
    parts.push(...toWords(text.slice(at, index)));
    if (!found.startsWith("!")) parts.push({ text: label ?? found, url: url ?? found });
    at = index + found.length;
  }
  return [...parts, ...toWords(text.slice(at))];
}

function toWords(text: string): TextPart[] {
  return (text.match(/\s+|\S+/g) ?? []).map((word) => ({ text: word, url: null }));
}

/**
 * Cuts a text between words, so that it fits with the URL of its post, which stands at its end unless the text has it.
 *
 * @param limit - the maximum length of the text, in what `measure` counts
 */
export function fitParts(
  parts: readonly TextPart[],
  permalink: string,
  limit: number,
  measure: (part: TextPart) => number,
): TextPart[] {
  const sum = (all: readonly TextPart[]) => all.reduce((length, part) => length + measure(part), 0);
  const link: TextPart = { text: permalink, url: permalink };
  const hasLink = parts.some(({ url }) => url === permalink);
  const whole = hasLink ? [...parts] : [...parts, { text: "\n\n", url: null }, link];
  if (parts.length > 0 && sum(whole) <= limit) return whole;
  const end: TextPart[] = [{ text: "… ", url: null }, link];
  const kept: TextPart[] = [];
  let left = limit - sum(end);
  for (const word of parts.filter(({ url }) => url !== permalink)) {
    left -= measure(word);
    if (left < 0) break;
    kept.push(word);
  }
  const start = withoutOuterSpace(kept);
  return start.length === 0 ? [link] : [...start, ...end];
}

function withoutOuterSpace(parts: readonly TextPart[]): TextPart[] {
  const isWord = ({ text }: TextPart) => text.trim() !== "";
  return parts.slice(Math.max(0, parts.findIndex(isWord)), parts.findLastIndex(isWord) + 1);
}
