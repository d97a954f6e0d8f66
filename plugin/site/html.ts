// plugin/site/html.ts: parts of a page, as data and as HTML.

/** A text or an element. A text is never read as HTML. */
export type Markup = string | MarkupElement;

export interface MarkupElement {
  tag: string;
  attributes: Attributes;
  children: readonly Markup[];
}

/** Values by name. A boolean attribute, such as `hidden`, has the value "". */
export type Attributes = Readonly<Record<string, string>>;

/** Elements without an end tag. */
const VOID = new Set(["br", "img"]);

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

/** A text as HTML shows it, in an element or in a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => REFERENCES[character] ?? character);
}

/** A link to somebody mentioned, the way it stands in every page. */
export function mentionLink({ nick, url }: { nick: string; url: string }): string {
  return `<a href="${escapeHtml(url)}" class="u-mention">@${escapeHtml(nick)}</a>`;
}
