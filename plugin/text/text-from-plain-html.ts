// plugin/text/text-from-plain-html.ts: fast path for bodies of plain HTML, such as most notes.
//
// `text-from-html.ts` reads any HTML, but builds three trees for it. This module builds none, and refuses other HTML. Both
// must give the same text byte for byte, because a different text has a different hash.

import { decodeReferences } from "../site/html.js";

export interface PageOfHtml {
  /** Makes a link of the page absolute. */
  resolve(link: string): string;
  /** The wire form of a mention; `null` for a URL that a feed cannot hold. */
  mention(label: string, url: string): string | null;
}

/** Attributes that are read here or that do not change the text. */
const ATTRIBUTES =
  '(?: (?:href|src|alt|title|class|id|rel|target|tabindex|dir|width|height|loading|decoding)="[^"<>\\0-\\x1f]*")*';
/** A paragraph after optional white space, up to its first end tag, or the end of the HTML. */
const PARAGRAPH = new RegExp(`[ \\t\\n\\f\\r]*(?:$|<p${ATTRIBUTES}>(.*?)</p>)`, "sy");
/** An element without contents, or the start of another one. */
const INLINE = new RegExp(`<(?:(br|img)(${ATTRIBUTES}) ?/?|(a|b|code|em|i|strong)(${ATTRIBUTES}))>`, "y");
/** Text that may not be the same in Markdown. */
const SPECIAL_TEXT = /[\t\n\f\r&`]| {2}/;

const EMPHASIS: Record<string, string> = { em: "*", i: "*", strong: "**", b: "**" };
/** The characters outside and inside of an emphasis between which Markdown recognizes a marker. */
const EDGE = /^(?:\s[^\s*_~]|(?![*_~])\p{P}[\p{L}\p{N}])$/u;

/** Labels and URLs that need no escaping in the Markdown of an image. */
const PLAIN_LABEL = /^(?:[\p{L}\p{N} ,;()?-]|\.(?= |$))*$/u;
const PLAIN_URL = /^https?:\/\/[\w./:?=%,+-]+$/;

const notPlain = new Error("This HTML needs a parser.");

/**
 * Reads paragraphs of formatted text, links, images and mentions.
 *
 * @returns the same Markdown as `textFromAnyHtml`; `null` for HTML that needs the parser
 */
export function textFromPlainHtml(html: string, page: PageOfHtml): string | null {
  try {
    const paragraphs = readParagraphs(html).map((inner) => lines(inner, page));
    return paragraphs.length > 0 ? `${paragraphs.join("\n\n")}\n` : null;
  } catch (error) {
    if (error === notPlain) return null;
    throw error;
  }
}

/** The contents of the paragraphs of HTML that has nothing else but white space between them. */
function readParagraphs(html: string): string[] {
  const paragraphs: string[] = [];
  for (let at = 0; ; ) {
    PARAGRAPH.lastIndex = at;
    const [found, inner] = PARAGRAPH.exec(html) ?? refuse();
    if (inner === undefined) return paragraphs;
    paragraphs.push(inner);
    at += found.length;
  }
}

/** The contents of a paragraph, with a line end for each `<br>`. */
function lines(html: string, page: PageOfHtml): string {
  const text = phrasing(html, page, "\n", "\n")
    .replace(/ *\n */g, "\n")
    .replace(/^ | $/g, "");
  // `textFromAnyHtml` joins a line that starts with a mention to the previous line.
  return /^$|^\n|\n$|\n@</.test(text) ? refuse() : text;
}

/**
 * Text with formatting.
 *
 * @param before - the character before it
 * @param after - the character after it
 */
function phrasing(html: string, page: PageOfHtml, before: string, after: string): string {
  const pieces: string[] = [];
  const emphases: { at: number; marker: string }[] = [];
  for (let at = 0; at < html.length; ) {
    const { text, marker, end } = html[at] === "<" ? readElement(html, at, page) : readText(html, at);
    if (marker !== undefined) emphases.push({ at: pieces.length, marker });
    pieces.push(text);
    at = end;
  }
  for (const { at, marker } of emphases) {
    const piece = pieces[at] ?? "";
    const start = `${pieces[at - 1]?.at(-1) ?? before}${piece[marker.length]}`;
    const end = `${pieces[at + 1]?.[0] ?? after}${piece.at(-1 - marker.length)}`;
    if (!EDGE.test(start) || !EDGE.test(end)) throw notPlain;
  }
  return pieces.join("");
}

interface Piece {
  text: string;
  marker?: string | undefined;
  end: number;
}

function readText(html: string, at: number): Piece {
  const tagAt = html.indexOf("<", at);
  const end = tagAt < 0 ? html.length : tagAt;
  const text = html.slice(at, end);
  if (/[\0\v]/.test(text)) throw notPlain;
  return { text: SPECIAL_TEXT.test(text) ? escapeText(collapseSpace(text)) : text, end };
}

function readElement(html: string, at: number, page: PageOfHtml): Piece {
  INLINE.lastIndex = at;
  const [start, empty, given = "", tag = "", attributes = ""] = INLINE.exec(html) ?? refuse();
  const from = at + start.length;
  if (empty !== undefined) return { text: empty === "br" ? "\n" : image(given, page), end: from };

  const inner = readInner(html, from, tag);
  const end = from + inner.length + endTag(tag).length;
  const marker = EMPHASIS[tag];
  if (marker !== undefined) return { text: `${marker}${phrasing(inner, page, "*", "*")}${marker}`, marker, end };
  return { text: tag === "a" ? link(attributes, inner, page) : `\`${bareText(inner)}\``, end };
}

function link(attributes: string, inner: string, page: PageOfHtml): string {
  const url = page.resolve(attribute(attributes, "href") ?? refuse());
  const classes = attribute(attributes, "class")?.split(" ") ?? [];
  const mention = classes.includes("u-mention") ? page.mention(bareText(inner), url) : null;
  return mention ?? linkText(requireTrimmed(phrasing(inner, page, "[", "]")), url);
}

function image(attributes: string, page: PageOfHtml): string {
  const url = page.resolve(attribute(attributes, "src") ?? refuse());
  const label = (attribute(attributes, "alt") ?? "").replace(/ +/g, " ").replace(/^ | $/g, "");
  return PLAIN_LABEL.test(label) && PLAIN_URL.test(url) ? `![${label}](${url})` : refuse();
}

function bareText(html: string): string {
  return /[<`]/.test(html) ? refuse() : requireTrimmed(collapseSpace(html));
}

/** White space at an edge of an element may belong to the text around it. */
function requireTrimmed(text: string): string {
  return text === "" || text !== text.trim() ? refuse() : text;
}

/** Text as a browser shows it, with a single space for any white space. */
function collapseSpace(html: string): string {
  return decode(html.replace(/[\t\n\f\r ]+/g, " "));
}

function attribute(attributes: string, name: string): string | null {
  for (const [, key, value = ""] of attributes.matchAll(/ ([a-z]+)="([^"]*)"/g)) if (key === name) return decode(value);
  return null;
}

function decode(html: string): string {
  return decodeReferences(html) ?? refuse();
}

/** Escapes only text that would be read as a mention or as code. */
export function escapeText(text: string): string {
  return text.replace(/@</g, "@\\<").replace(/`/g, "\u02cb");
}

/** A link as its URL if the label is that URL, or else as Markdown without a title, because one client rewrites titles. */
export function linkText(label: string, url: string): string {
  const address = url.replace(/^mailto:/, "");
  const isBare = withoutScheme(label) === withoutScheme(address);
  if (address === "") return label;
  return isBare || label === "" ? address : `[${label}](${url.replace(/[()\s\\]/g, percentEncode)})`;
}

function withoutScheme(url: string): string {
  return url.replace(/^https?:\/\//, "").replace(/\/$/, "");
}

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** The contents up to the first end tag of this name. If elements of this name are nested, the contents match no pattern. */
function readInner(html: string, start: number, tag: string): string {
  const end = html.indexOf(endTag(tag), start);
  return end < 0 ? refuse() : html.slice(start, end);
}

function endTag(tag: string): string {
  return `</${tag}>`;
}

function refuse(): never {
  throw notPlain;
}
