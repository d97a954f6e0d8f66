// plugin/feed/mention.ts: the `@<nick url>` by which a twt mentions a feed.

/** Somebody mentioned: the nick as the author wrote it, and the URL of the feed. */
export interface Mention {
  /** `null` where the mention is a bare `@<url>`. */
  nick: string | null;
  url: string;
}

/** A mention and where it stands in its text: from `start` up to, not including, `end`. */
export interface LocatedMention extends Mention {
  start: number;
  end: number;
}

const WORD = /[\p{L}\p{N}_]/u;
const INSIDE = /^(?:([^\s<>]+) +)?([a-z][a-z0-9+.-]*:\/\/[^\s<>]+)$/i;

/**
 * The mentions of a text, in order, outside code and outside the text of Markdown links.
 *
 * @param text - a twt's text, lines separated by U+2028
 * @returns each mention as often as it stands there
 * @example findMentions("hi @<bob https://bob.example/twtxt.txt>") // [{ nick: "bob", url: "https://bob.example/twtxt.txt" }]
 */
export function findMentions(text: string): Mention[] {
  return locateMentions(text).map(({ nick, url }) => ({ nick, url }));
}

/** As {@link findMentions}, with their places. The time is linear in the length of the text. */
export function locateMentions(text: string): LocatedMention[] {
  if (!text.includes("@<")) return [];
  const code = codePassages(text);
  const outside = new OutsidePassages(
    text,
    [...code, ...linkTexts(text, code)].sort((a, b) => a.start - b.start),
  );

  const found: LocatedMention[] = [];
  for (let at = outside.find("@<", 0); at >= 0; ) {
    const mention = mentionAt(text, at);
    if (mention) found.push(mention);
    // What is no mention is passed over whole, so that `@<a @<b u>>` has none.
    const close = text.indexOf(">", at);
    at = close < 0 ? -1 : outside.find("@<", close + 1);
  }
  return found;
}

/** Whether a name may stand in a feed as somebody's nick. */
export function isNick(name: string): boolean {
  return /^[^\s@#!:<>()[\]'"`\x00-\x1f\x7f-\x9f]+$/.test(name) && name.isWellFormed();
}

/** Whether a URL may stand in a mention that we write: feeds are served there, and no reader ends it early. */
export function isMentionUrl(url: string): boolean {
  return (
    /^(https?|gemini|gopher):\/\/[^\s)>`<\x00-\x1f\x7f-\x9f]+$/i.test(url) && url.isWellFormed() && URL.canParse(url)
  );
}

/**
 * Writes a mention the one way that all peers understand.
 *
 * @param mention - with a nick, since some peers do not know `@<url>`
 */
export function formatMention({ nick, url }: { nick: string; url: string }): string {
  return `@<${nick} ${url}>`;
}

/**
 * The mention that starts at this place of a text.
 *
 * @returns `null` where none does: glued to a word, unclosed, a nick with a space, a URL that is not absolute
 */
export function mentionAt(text: string, start: number): LocatedMention | null {
  if (!text.startsWith("@<", start) || WORD.test(characterBefore(text, start))) return null;
  const close = text.indexOf(">", start);
  const match = close < 0 ? null : INSIDE.exec(text.slice(start + 2, close));
  const url = match?.[2];
  if (!url || !URL.canParse(url)) return null;
  return { nick: match[1] ?? null, url, start, end: close + 1 };
}

/** The places of the backticks that are part of no code span or block. */
export function literalBackticks(text: string): number[] {
  const code = codePassages(text);
  let next = 0;
  return [...text.matchAll(/`/g)].flatMap(({ index }) => {
    while ((code[next]?.end ?? Number.POSITIVE_INFINITY) <= index) next += 1;
    return (code[next]?.start ?? Number.POSITIVE_INFINITY) <= index ? [] : [index];
  });
}

/** A part of a text, from `start` up to, not including, `end`. */
interface Passage {
  start: number;
  end: number;
}

/** Walks along a text and jumps over passages, which are in the order of their starts. */
class OutsidePassages {
  #next = 0;

  constructor(
    readonly text: string,
    readonly passages: readonly Passage[],
  ) {}

  /** Where `needle` stands next; -1 where it does no more. Asked for ever later places only. */
  find(needle: string, from: number): number {
    let at = this.text.indexOf(needle, from);
    for (let passage = this.passages[this.#next]; at >= 0 && passage && passage.start <= at; ) {
      if (at < passage.end) at = this.text.indexOf(needle, passage.end);
      else passage = this.passages[++this.#next];
    }
    return at;
  }
}

/** Code spans, and blocks fenced by backticks or tildes: a run of them up to the next run as long. */
function codePassages(text: string): Passage[] {
  if (!/`|~~~/.test(text)) return [];
  const runs = [...text.matchAll(/`+|(?<=^|\u2028)~{3,}/g)].map((match) => ({ mark: match[0], start: match.index }));
  const later = new Map<string, number[]>();
  for (const { mark, start } of runs.toReversed()) {
    const starts = later.get(mark);
    if (starts) starts.push(start);
    else later.set(mark, [start]);
  }

  const passages: Passage[] = [];
  let end = 0;
  for (const { mark, start } of runs) {
    if (start < end) continue;
    const opening = isEscaped(text, start) ? mark.slice(1) : mark;
    const closings = later.get(opening) ?? [];
    while (closings.length > 0 && (closings.at(-1) ?? 0) <= start) closings.pop();
    const close = closings.at(-1);
    if (opening === "" || close === undefined) continue;
    end = close + opening.length;
    passages.push({ start: start + mark.length - opening.length, end });
  }
  return passages;
}

/** What stands between the brackets of `[text](destination)`. */
function linkTexts(text: string, code: readonly Passage[]): Passage[] {
  if (!text.includes("](")) return [];
  const links: Passage[] = [];
  const open: number[] = [];
  let ahead = 0;
  for (const { index, 0: bracket } of text.matchAll(/[[\]]/g)) {
    while ((code[ahead]?.end ?? Number.POSITIVE_INFINITY) <= index) ahead += 1;
    if ((code[ahead]?.start ?? Number.POSITIVE_INFINITY) <= index) continue;
    if (bracket === "[") {
      open.push(index);
      continue;
    }
    const start = open.pop();
    if (start !== undefined && hasDestination(text, index + 1)) links.push({ start, end: index });
  }
  return links;
}

/** Whether a link's destination in parentheses stands here, on one line and with one level of further ones inside. */
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

/** The whole character before a place of a text, surrogates together; empty at the start. */
export function characterBefore(text: string, at: number): string {
  const low = text.charCodeAt(at - 1);
  const isPair = low >= 0xdc00 && low <= 0xdfff;
  return text.slice(Math.max(0, at - (isPair ? 2 : 1)), at);
}
