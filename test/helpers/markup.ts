// test/helpers/markup.ts: the elements of a page, as a browser reads them.
import { type DefaultTreeAdapterTypes, defaultTreeAdapter, parse } from "parse5";

/** An element of a page. */
export interface PageElement {
  tag: string;
  attributes: Record<string, string>;
  /** Its own text, without that of nested elements. */
  text: string;
  children: PageElement[];
}

/** All elements of a page, including those of templates, in document order. Throws for a comment. */
export function elementsOf(html: string): PageElement[] {
  return childrenOf(parse(html)).flatMap(withDescendants);
}

/** An element, and all of its descendants. */
export function withDescendants(element: PageElement): PageElement[] {
  return [element, ...element.children.flatMap(withDescendants)];
}

function childrenOf(node: DefaultTreeAdapterTypes.ParentNode): PageElement[] {
  return node.childNodes.flatMap((child) => {
    if (defaultTreeAdapter.isCommentNode(child)) throw new Error(`The page has a comment: ${child.data}`);
    if (!defaultTreeAdapter.isElementNode(child)) return [];
    const inside = child.tagName === "template" ? (child as DefaultTreeAdapterTypes.Template).content : child;
    const texts = child.childNodes.map((text) => (defaultTreeAdapter.isTextNode(text) ? text.value : ""));
    const attributes = Object.fromEntries(child.attrs.map(({ name, value }) => [name, value]));
    return [{ tag: child.tagName, attributes, text: texts.join(""), children: childrenOf(inside) }];
  });
}

/** Names of allowed attributes by the name of the element. */
export type AllowedMarkup = Readonly<Record<string, readonly string[]>>;

/** The elements that are not allowed, or have an attribute that is not allowed. */
export function notAllowed(elements: readonly PageElement[], allowed: AllowedMarkup): string[] {
  return elements.flatMap(({ tag, attributes }) => {
    const names = Object.keys(attributes).filter((name) => !allowed[tag]?.includes(name));
    return allowed[tag] && names.length === 0 ? [] : [`<${tag} ${names.join(" ")}>`];
  });
}
