// plugin/site/html.ts: markup as data, and its HTML.

/** A text or an element. Text is always escaped. */
export type Markup = string | MarkupElement;

export interface MarkupElement {
  tag: string;
  attributes: Attributes;
  children: readonly Markup[];
}

/** Values by name. A boolean attribute, such as `hidden`, has the value "". */
export type Attributes = Readonly<Record<string, string>>;

/** Elements without an end tag. */
const VOID = new Set(["br", "img", "input", "link"]);

const REFERENCES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

export function element(tag: string, attributes: Attributes, ...children: readonly Markup[]): MarkupElement {
  return { tag, attributes, children };
}

/** Writes a text or an element as HTML, escaped. */
export function toHtml(markup: Markup): string {
  if (typeof markup === "string") return escapeHtml(markup);
  const { tag, attributes, children } = markup;
  let html = `<${tag}`;
  for (const [name, value] of Object.entries(attributes)) html += ` ${name}="${escapeHtml(value)}"`;
  html += ">";
  if (VOID.has(tag)) return html;
  for (const child of children) html += toHtml(child);
  return `${html}</${tag}>`;
}

/** Escapes a text for an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => REFERENCES[character] ?? character);
}

/** The link of a mention in pages. */
export function mentionLink({ nick, url }: { nick: string; url: string }): string {
  return `<a href="${escapeHtml(url)}" class="u-mention">@${escapeHtml(nick)}</a>`;
}
