// plugin/browser/to-dom.ts: markup as DOM nodes.
import type { MarkupElement } from "../site/html.js";

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
