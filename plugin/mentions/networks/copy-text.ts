// plugin/mentions/networks/copy-text.ts: the text of a twt for another network, cut to what the network takes.
import { locateMentions } from "../../feed/mention.js";
import { LINE_SEPARATOR } from "../../feed/twt.js";

/** A part of a text. */
export interface TextPart {
  text: string;
  /** What it links to; `null` for plain text. */
  url: string | null;
  /** Whether it is the name of a person, who is not mentioned on the network. */
  isName?: boolean;
}

export interface TextLimit {
  /** The maximum length of a text. */
  limit: number;
  /** The length of a part. */
  measure(part: TextPart): number;
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
 * @example toParts("Hi @<bob https://bob.example/twtxt.txt>") // [{ text: "Hi ", url: null }, { text: "bob", url: "https://bob.example/twtxt.txt", isName: true }]
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
    parts.push({ text: text.slice(at, index), url: null });
    if (!found.startsWith("!")) parts.push({ text: label ?? found, url: url ?? found });
    at = index + found.length;
  }
  return [...parts, { text: text.slice(at), url: null }].filter((part) => part.text !== "");
}

/**
 * Cuts a text between words, so that it fits with the URL of its post, which stands at its end unless the text has it.
 *
 * @param room - for what is added to the text, such as a content warning
 */
export function fitParts(parts: readonly TextPart[], permalink: string, { limit, measure }: TextLimit): TextPart[] {
  const sum = (all: readonly TextPart[]) => all.reduce((length, part) => length + measure(part), 0);
  const hasLink = parts.some(({ url }) => url === permalink);
  const link: TextPart = { text: permalink, url: permalink };
  const whole = hasLink || parts.length === 0 ? [...parts] : [...parts, { text: "\n\n", url: null }, link];
  if (parts.length === 0) return [link];
  if (sum(whole) <= limit) return whole;
  const words = parts.filter(({ url }) => url !== permalink).flatMap(toWords);
  const end: TextPart[] = [{ text: "… ", url: null }, link];
  const kept: TextPart[] = [];
  let left = limit - sum(end);
  for (const word of words) {
    left -= measure(word);
    if (left < 0) break;
    kept.push(word);
  }
  const start = withoutOuterSpace(kept);
  return start.length === 0 ? [link] : [...joinText(start), ...end];
}

function toWords(part: TextPart): TextPart[] {
  return part.url === null ? (part.text.match(/\s+|\S+/g) ?? []).map((text) => ({ text, url: null })) : [part];
}

function withoutOuterSpace(parts: readonly TextPart[]): TextPart[] {
  const all = joinText(parts);
  const trim = (part: TextPart | undefined, trimmed: (text: string) => string) =>
    part && part.url === null ? { ...part, text: trimmed(part.text) } : part;
  const first = trim(all[0], (text) => text.trimStart());
  const started = first ? [first, ...all.slice(1)] : [];
  const last = trim(started.at(-1), (text) => text.trimEnd());
  return (last ? [...started.slice(0, -1), last] : []).filter(({ text }) => text !== "");
}

/** Joins neighbors without links. */
function joinText(parts: readonly TextPart[]): TextPart[] {
  const joined: TextPart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last && last.url === null && part.url === null)
      joined[joined.length - 1] = { text: last.text + part.text, url: null };
    else joined.push(part);
  }
  return joined;
}
