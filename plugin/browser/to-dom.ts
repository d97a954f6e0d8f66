// plugin/browser/to-dom.ts: markup as DOM nodes, and a stranger's HTML as markup.
import type { Markup, MarkupElement } from "../site/html.js";
import { safeElement } from "../site/safe-markup.js";

/** Creates an element and its content. Texts become text nodes. */
export function toDom({ tag, attributes, children }: MarkupElement): HTMLElement {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  for (const child of children) {
    if (typeof child !== "string" && "html" in child) throw new TypeError("Written HTML is for the pages of a build.");
    made.append(typeof child === "string" ? child : toDom(child));
  }
  return made;
}

/** Parses HTML in a document of its own, where nothing loads or runs, and keeps what is safe. */
export function readHtml(html: string): readonly Markup[] {
  return toMarkup(new DOMParser().parseFromString(html, "text/html").body);
}

function toMarkup(parent: Element): readonly Markup[] {
  return [...parent.childNodes].flatMap((node) => {
    if (node instanceof Text) return [node.data];
    return node instanceof Element ? safeElement(node.localName, node.getAttribute("href"), toMarkup(node)) : [];
  });
}
