// plugin/browser/to-dom.ts: markup as DOM nodes.
import type { MarkupElement } from "../site/mention-markup.js";

/** Creates an element and its content. Texts become text nodes. */
export function toDom({ tag, attributes, children }: MarkupElement): HTMLElement {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.map((child) => (typeof child === "string" ? child : toDom(child))));
  return made;
}
