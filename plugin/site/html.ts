// plugin/site/html.ts: markup as data, and its HTML.

/** A text, an element, or written HTML. Text is always escaped. */
export type Markup = string | MarkupElement | WrittenHtml;

export interface MarkupElement {
  tag: string;
  attributes: Attributes;
  /** Read once. Long lists create their items while they are written, so that the items are not all in memory. */
  children: Iterable<Markup>;
}

/** HTML that `writtenHtml` created from markup. The build shares it between pages; the component does not use it. */
export interface WrittenHtml {
  html: string;
}

/** Values by name. A boolean attribute, such as `hidden`, has the value "". */
export type Attributes = Readonly<Record<string, string>>;

/** The attribute with the URL of an element in a page. */
export const LINK_ATTRIBUTES: Readonly<Record<string, "href" | "src">> = {
  a: "href",
  area: "href",
  img: "src",
  video: "src",
  audio: "src",
  iframe: "src",
  source: "src",
};

const VOID = new Set(["br", "img", "input", "link"]);

const SPECIAL = /[&<>"]/;
const REFERENCES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

export function element(tag: string, attributes: Attributes, ...children: readonly Markup[]): MarkupElement {
  return { tag, attributes, children };
}

export function isElement(markup: Markup): markup is MarkupElement {
  return typeof markup === "object" && "tag" in markup;
}

/** Writes markup as HTML in advance, for use in several pages. */
export function writtenHtml(...markup: readonly Markup[]): WrittenHtml {
  const parts: string[] = [];
  for (const each of markup) addHtml(each, parts);
  return { html: parts.join("") };
}

/** Writes markup as HTML. Texts and values of attributes are escaped. */
export function toHtml(markup: Markup): string {
  return writtenHtml(markup).html;
}

/** Adds parts to a list instead of a string: V8 keeps a string that grows as a tree of its parts, which is slow to copy. */
function addHtml(markup: Markup, parts: string[]): void {
  if (typeof markup === "string") parts.push(escapeHtml(markup));
  else if ("html" in markup) parts.push(markup.html);
  else {
    const { tag, attributes, children } = markup;
    parts.push("<", tag);
    for (const name of Object.keys(attributes)) parts.push(" ", name, '="', escapeHtml(attributes[name] ?? ""), '"');
    parts.push(">");
    if (VOID.has(tag)) return;
    for (const child of children) addHtml(child, parts);
    parts.push("</", tag, ">");
  }
}

export function escapeHtml(text: string): string {
  return SPECIAL.test(text) ? text.replace(/[&<>"]/g, (character) => REFERENCES[character] ?? character) : text;
}

/** The references that this package, Markdown libraries and templates write. */
const CHARACTERS: Readonly<Record<string, string>> = {
  ...{ "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"' },
  ...{ "&#x26;": "&", "&#x3C;": "<", "&#x22;": '"', "&#39;": "'", "&#x27;": "'", "&#x60;": "`" },
};

/** Decodes the references in a text or attribute. @returns `null` if there are others, which need a parser */
export function decodeReferences(html: string): string | null {
  if (!html.includes("&")) return html;
  let isKnown = true;
  const text = html.replace(/&(?:#?\w+;)?/g, (reference) => {
    const character = CHARACTERS[reference];
    isKnown &&= character !== undefined;
    return character ?? "";
  });
  return isKnown ? text : null;
}

/** The link of a mention in pages. Its own direction isolates it from text of another one, as `<bdi>` does. */
export function mentionLink({ nick, url }: { nick: string; url: string }): string {
  return `<a href="${escapeHtml(url)}" class="u-mention" dir="auto">@${escapeHtml(nick)}</a>`;
}
