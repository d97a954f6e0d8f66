// test/helpers/markup.ts: the elements of a page, as a browser reads them.
import { type DefaultTreeAdapterTypes, defaultTreeAdapter, parse } from "parse5";

/** An element of a page. */
export interface PageElement {
  tag: string;
  attributes: Record<string, string>;
  /** Its own text, without that of elements in it. */
  text: string;
  children: PageElement[];
}

/** All elements of a page, those of templates too, in the order of the document. Throws for a comment. */
export function elementsOf(html: string): PageElement[] {
  return childrenOf(parse(html)).flatMap(withDescendants);
}

/** An element, and all elements in it. */
export function withDescendants(element: PageElement): PageElement[] {
  return [element, ...element.children.flatMap(withDescendants)];
}

function childrenOf(node: DefaultTreeAdapterTypes.ParentNode): PageElement[] {
  return node.childNodes.flatMap((child) => {
    if (defaultTreeAdapter.isCommentNode(child)) throw new Error(`A comment in the page: ${child.data}`);
    if (!defaultTreeAdapter.isElementNode(child)) return [];
    const inside = child.tagName === "template" ? (child as DefaultTreeAdapterTypes.Template).content : child;
    const texts = child.childNodes.map((text) => (defaultTreeAdapter.isTextNode(text) ? text.value : ""));
    const attributes = Object.fromEntries(child.attrs.map(({ name, value }) => [name, value]));
    return [{ tag: child.tagName, attributes, text: texts.join(""), children: childrenOf(inside) }];
  });
}

/** Names of attributes by the names of their elements. */
export type AllowedMarkup = Readonly<Record<string, readonly string[]>>;

/** The elements that are not allowed, and those with attributes that are not allowed. */
export function notAllowed(elements: readonly PageElement[], allowed: AllowedMarkup): string[] {
  return elements.flatMap(({ tag, attributes }) => {
    const names = Object.keys(attributes).filter((name) => !allowed[tag]?.includes(name));
    return allowed[tag] && names.length === 0 ? [] : [`<${tag} ${names.join(" ")}>`];
  });
}
