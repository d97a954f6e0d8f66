// plugin/eleventy/text-from-plain-html.ts: fast path for bodies of plain HTML, such as most notes.
//
// `text-from-html.ts` reads any HTML, but builds three trees for it. This module builds none, and refuses other HTML. Both
// must give the same text byte for byte, because a different text has a different hash.

/** The page of a body. */
export interface PageOfHtml {
  /** Makes a link of the page absolute. */
  resolve(link: string): string;
  /** The wire form of a mention; `null` for a URL that a feed cannot hold. */
  mention(label: string, url: string): string | null;
}

/** Attributes that are read here or that do not change the text. */
const ATTRIBUTES =
  '(?: (?:href|src|alt|title|class|id|rel|target|tabindex|width|height|loading|decoding|start)="[^"<>\\0-\\x1f]*")*';
const SPACE = "[ \\t\\n\\f\\r]*";
/** Up to the first end tag of this name. If elements of this name are nested, the contents match no pattern. */
const INNER = "(?<inner>[^]*?)</\\k<tag>>";
const BLOCK = new RegExp(
  `${SPACE}<(?<tag>p|h[1-6]|ul|ol|blockquote)(?<attributes>${ATTRIBUTES})>${INNER}${SPACE}`,
  "gy",
);
/** No class, because the list may be one of mentions or of tasks. */
const LIST_ATTRIBUTES = /^(?: start="(?<start>\d{1,9})")?$/;
const ITEM = new RegExp(`${SPACE}<(?<tag>li)>${INNER}${SPACE}`, "gy");
const INLINE = new RegExp(
  [
    "(?<text>[^<\\0\\v]+)",
    `<(?<empty>br|img)(?<given>${ATTRIBUTES}) ?/?>`,
    `<(?<tag>a|b|code|em|i|strong)(?<attributes>${ATTRIBUTES})>${INNER}`,
  ].join("|"),
  "gy",
);

const EMPHASIS: Record<string, string> = { em: "*", i: "*", strong: "**", b: "**" };
/** The characters outside and inside of an emphasis between which Markdown recognizes a marker. */
const EDGE = /^(?:\s[^\s*_~]|(?![*_~])\p{P}[\p{L}\p{N}])$/u;

const REFERENCES: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };
/** Labels and URLs that need no escaping in the Markdown of an image. */
const PLAIN_LABEL = /^(?:[\p{L}\p{N} ,;()?-]|\.(?= |$))*$/u;
const PLAIN_URL = /^https?:\/\/[\w./:?=%,+-]+$/;

const notPlain = new Error("This HTML needs a parser.");

/**
 * Reads paragraphs, headings, quotations and flat lists that hold formatted text, links, images and mentions.
 *
 * @returns the same Markdown as `textFromHtml`; `null` for HTML that needs the parser
 */
export function textFromPlainHtml(html: string, page: PageOfHtml): string | null {
  try {
    return `${flow(html, page)}\n`;
  } catch (error) {
    if (error === notPlain) return null;
    throw error;
  }
}

/** Blocks with an empty line between them. */
function flow(html: string, page: PageOfHtml): string {
  const blocks: string[] = [];
  let isAfterList = false;
  for (const { tag = "", attributes = "", inner = "" } of partsOf(html, BLOCK)) {
    const isList = tag === "ul" || tag === "ol";
    // The second of two lists in a row would need a different marker.
    if (isAfterList && (isList || tag === "blockquote")) throw notPlain;
    isAfterList = isList;
    blocks.push(isList ? list(tag, attributes, inner, page) : block(tag, inner, page));
  }
  return blocks.length > 0 ? blocks.join("\n\n") : refuse();
}

function block(tag: string, inner: string, page: PageOfHtml): string {
  if (tag === "blockquote") return quotation(flow(inner, page));
  return tag === "p" ? lines(inner, page) : `${"#".repeat(Number(tag[1]))} ${oneLine(inner, page)}`;
}

function quotation(text: string): string {
  const lines = text.split("\n").map((line) => (line === "" ? ">" : `> ${line}`));
  return lines.join("\n");
}

function list(tag: string, attributes: string, html: string, page: PageOfHtml): string {
  const { groups = {} } = LIST_ATTRIBUTES.exec(attributes) ?? refuse();
  const items = [...partsOf(html, ITEM)].map(({ inner = "" }) => oneLine(inner, page));
  // `textFromHtml` makes a mention in an item a separate paragraph.
  if (items.length === 0 || items.some((item) => item.includes("@<"))) throw notPlain;
  return items.map((item, i) => `${tag === "ol" ? `${Number(groups.start ?? 1) + i}.` : "-"} ${item}`).join("\n");
}

function oneLine(html: string, page: PageOfHtml): string {
  const text = lines(html, page);
  return text.includes("\n") ? refuse() : text;
}

/** The contents of a block, with a line end for each `<br>`. */
function lines(html: string, page: PageOfHtml): string {
  const text = phrasing(html, page, "\n", "\n")
    .replace(/ *\n */g, "\n")
    .replace(/^ | $/g, "");
  // `textFromHtml` joins a line that starts with a mention to the previous line.
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
  for (const part of partsOf(html, INLINE)) {
    const marker = EMPHASIS[part.tag ?? ""];
    if (marker !== undefined) emphases.push({ at: pieces.length, marker });
    pieces.push(part.text === undefined ? element(part, page) : escapeText(collapseSpace(part.text)));
  }
  for (const { at, marker } of emphases) {
    const piece = pieces[at] ?? "";
    const start = `${pieces[at - 1]?.at(-1) ?? before}${piece[marker.length]}`;
    const end = `${pieces[at + 1]?.[0] ?? after}${piece.at(-1 - marker.length)}`;
    if (!EDGE.test(start) || !EDGE.test(end)) throw notPlain;
  }
  return pieces.join("");
}

function element({ empty, given = "", tag = "", attributes = "", inner = "" }: Groups, page: PageOfHtml): string {
  if (empty !== undefined) return empty === "br" ? "\n" : image(given, page);
  const marker = EMPHASIS[tag];
  if (marker !== undefined) return `${marker}${phrasing(inner, page, "*", "*")}${marker}`;
  return tag === "a" ? link(attributes, inner, page) : `\`${bareText(inner)}\``;
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

/** Text without elements and backticks. */
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

/** Decodes the character references that Markdown libraries and templates write. */
function decode(html: string): string {
  return html.replace(/&(?:\w+;|#39;)?/g, (reference) => REFERENCES[reference] ?? refuse());
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

type Groups = Partial<Record<string, string>>;

/** The matches of a pattern. Together they must cover the whole text. */
function* partsOf(html: string, pattern: RegExp): Iterable<Groups> {
  let end = 0;
  for (const { 0: part, groups = {} } of html.matchAll(pattern)) {
    yield groups;
    end += part.length;
  }
  if (end < html.length) throw notPlain;
}

function refuse(): never {
  throw notPlain;
}
