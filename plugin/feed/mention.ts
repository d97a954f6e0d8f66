// plugin/feed/mention.ts: mentions, `@<nick url>`.
import { groupBy } from "../groups.js";
import { canParseUrl } from "../url.js";

/** A mentioned feed: its URL, and the nick that the author wrote. */
export interface Mention {
  /** `null` for `@<url>`. */
  nick: string | null;
  url: string;
}

/** A mention and its position in the text: from `start` up to, not including, `end`. */
interface LocatedMention extends Mention {
  start: number;
  end: number;
}

const WORD = /[\p{L}\p{N}_]/u;
const INSIDE = /^(?:([^\s<>]+) +)?([a-z][a-z0-9+.-]*:\/\/[^\s<>]+)$/i;

/**
 * Finds the mentions in a text, outside code and the labels of Markdown links.
 *
 * @param text - the text of a twt, lines separated by U+2028
 * @returns the mentions in order, repeated ones included
 * @example findMentions("hi @<bob https://bob.example/twtxt.txt>") // [{ nick: "bob", url: "https://bob.example/twtxt.txt" }]
 */
export function findMentions(text: string): Mention[] {
  return locateMentions(text).map(({ nick, url }) => ({ nick, url }));
}

/** Like {@link findMentions}, with positions. Takes linear time. */
export function locateMentions(text: string): LocatedMention[] {
  if (!text.includes("@<")) return [];
  const code = codePassages(text);
  const passages = [...code, ...linkTexts(text, code)].sort((a, b) => a.start - b.start);
  const cover = new Cover(passages);
  const found: LocatedMention[] = [];
  for (let at = text.indexOf("@<"); at >= 0; ) {
    const end = cover.end(at);
    const mention = end === null ? parseMention(text, at) : null;
    if (mention) found.push(mention);
    // Skips to the ">" even without a mention, so that `@<a @<b u>>` has none.
    const next = end ?? text.indexOf(">", at) + 1;
    at = next === 0 ? -1 : text.indexOf("@<", next);
  }
  return found;
}

export function isNick(name: string): boolean {
  return /^[^\s@#!:<>()[\]'"`\x00-\x1f\x7f-\x9f]+$/.test(name) && name.isWellFormed();
}

/** Whether a URL can be written in a mention: its scheme can serve feeds, and no reader truncates it. */
export function isMentionUrl(url: string): boolean {
  return (
    /^(https?|gemini|gopher):\/\/[^\s)>`<\x00-\x1f\x7f-\x9f]+$/i.test(url) && url.isWellFormed() && canParseUrl(url)
  );
}

/** Writes a mention in the form that all peers understand. The nick is required, because some peers do not know `@<url>`. */
export function formatMention({ nick, url }: { nick: string; url: string }): string {
  return `@<${nick} ${url}>`;
}

/**
 * The mention that starts at this position.
 *
 * @returns `null` for none, for example after a letter, without ">", with a space in the nick, or with a relative URL
 */
export function parseMention(text: string, start: number): LocatedMention | null {
  if (!text.startsWith("@<", start) || WORD.test(characterBefore(text, start))) return null;
  const close = text.indexOf(">", start);
  const match = close < 0 ? null : INSIDE.exec(text.slice(start + 2, close));
  const url = match?.[2];
  if (!url || !canParseUrl(url)) return null;
  return { nick: match[1] ?? null, url, start, end: close + 1 };
}

/** The positions of backticks outside code spans and blocks. */
export function literalBackticks(text: string): number[] {
  const code = new Cover(codePassages(text));
  return [...text.matchAll(/`/g)].flatMap(({ index }) => (code.end(index) === null ? [index] : []));
}

/** A part of a text, from `start` up to, not including, `end`. */
interface Passage {
  start: number;
  end: number;
}

/** Passages of a text that is read forwards. */
class Cover {
  #next = 0;

  /** @param passages - sorted by start */
  constructor(readonly passages: readonly Passage[]) {}

  /** The end of the passage with this position; `null` outside of passages. Positions must not decrease between calls. */
  end(at: number): number | null {
    while ((this.passages[this.#next]?.end ?? Number.POSITIVE_INFINITY) <= at) this.#next += 1;
    const passage = this.passages[this.#next];
    return passage && passage.start <= at ? passage.end : null;
  }
}

/** Code spans, and blocks fenced by backticks or tildes: from one run to the next run of the same length. */
function codePassages(text: string): Passage[] {
  if (!/`|~~~/.test(text)) return [];
  const runs = [...text.matchAll(/`+|(?<=^|\u2028)~{3,}/g)].map((match) => ({ mark: match[0], start: match.index }));
  const later = groupBy(runs.toReversed(), ({ mark }) => mark);
  const passages: Passage[] = [];
  let end = 0;
  for (const { mark, start } of runs) {
    if (start < end) continue;
    const opening = isEscaped(text, start) ? mark.slice(1) : mark;
    const closings = later.get(opening) ?? [];
    while (closings.length > 0 && (closings.at(-1)?.start ?? 0) <= start) closings.pop();
    const close = closings.at(-1)?.start;
    if (opening === "" || close === undefined) continue;
    end = close + opening.length;
    passages.push({ start: start + mark.length - opening.length, end });
  }
  return passages;
}

/** The positions of the labels in `[label](destination)`. */
function linkTexts(text: string, code: readonly Passage[]): Passage[] {
  if (!text.includes("](")) return [];
  const links: Passage[] = [];
  const open: number[] = [];
  const cover = new Cover(code);
  for (const { index, 0: bracket } of text.matchAll(/[[\]]/g)) {
    if (cover.end(index) !== null) continue;
    if (bracket === "[") {
      open.push(index);
      continue;
    }
    const start = open.pop();
    if (start !== undefined && hasDestination(text, index + 1)) links.push({ start, end: index });
  }
  return links;
}

/** Whether a link destination in parentheses starts here: on one line, with at most one level of nested parentheses. */
function hasDestination(text: string, start: number): boolean {
  if (text[start] !== "(") return false;
  let depth = 1;
  for (const mark = /[()\u2028]/g; ; ) {
    mark.lastIndex = start + 1;
    const found = mark.exec(text);
    if (!found || found[0] === "\u2028") return false;
    depth += found[0] === "(" ? 1 : -1;
    if (depth === 0) return true;
    if (depth > 2) return false;
    start = found.index;
  }
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === "\\") backslashes += 1;
  return backslashes % 2 === 1;
}

/** The character before a position, as a whole surrogate pair; empty at the start. */
export function characterBefore(text: string, at: number): string {
  const low = text.charCodeAt(at - 1);
  const isPair = low >= 0xdc00 && low <= 0xdfff;
  return text.slice(Math.max(0, at - (isPair ? 2 : 1)), at);
}
