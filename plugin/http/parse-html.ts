// plugin/http/parse-html.ts: a stranger's page as a tree, whatever it holds. Its libraries are loaded with the first page.
import type { Element, Nodes, Root } from "hast";
import type { DefaultTreeAdapterTypes as Parse5 } from "parse5";

/** No page of people's is nested so deep. What walks a tree takes time, or stack, by its depth. */
const MAX_DEPTH = 128;

/**
 * No page of people's has so many. Yet one of a tenth of a megabyte can stand for gigabytes of tree, since what is left
 * open is opened again in each paragraph that follows.
 */
const MAX_ELEMENTS = 50_000;

/**
 * Reads a page as a browser does that runs no scripts: what is in a `noscript` is part of it, what is in a comment, in
 * a `script` or a `textarea` is text, and the contents of a `template` are left out.
 *
 * @returns the tree, at most 128 elements deep: what lies deeper is lifted up to there, in document order; what comes after
 *   50,000 elements is left out
 */
export async function parseHtml(html: string): Promise<Root> {
  const [parse5, { fromParse5 }] = await Promise.all([import("parse5"), import("hast-util-from-parse5")]);
  const document = startOfDocument(html, parse5);
  flatten(document);
  return fromParse5(document) as Root;
}

/** The elements of a tree, in document order. */
export function* elementsOf(root: Root | Element): Iterable<Element> {
  const ahead: Nodes[] = [root];
  for (let node = ahead.pop(); node; node = ahead.pop()) {
    if (node.type === "element") yield node;
    if (!("children" in node)) continue;
    for (const child of node.children.toReversed()) ahead.push(child);
  }
}

function startOfDocument(html: string, { parse, defaultTreeAdapter }: typeof import("parse5")): Parse5.Document {
  const document = defaultTreeAdapter.createDocument();
  const enough = new Error("enough");
  let elements = 0;
  const createElement: typeof defaultTreeAdapter.createElement = (...parts) => {
    elements += 1;
    if (elements > MAX_ELEMENTS) throw enough;
    return defaultTreeAdapter.createElement(...parts);
  };
  try {
    const treeAdapter = { ...defaultTreeAdapter, createDocument: () => document, createElement };
    parse(html, { scriptingEnabled: false, treeAdapter });
  } catch (error) {
    if (error !== enough) throw error;
  }
  return document;
}

/** Done before the tree is converted, which is the first thing that a deep one would break. */
function flatten(document: Parse5.Document): void {
  const ahead: { node: Parse5.Node; depth: number; holder: Parse5.ParentNode }[] = [];
  ahead.push({ node: document, depth: 0, holder: document });
  for (let next = ahead.pop(); next; next = ahead.pop()) {
    const { node, depth, holder } = next;
    if (depth > MAX_DEPTH) holder.childNodes.push(node as Parse5.ChildNode);
    if ("content" in node) node.content.childNodes = [];
    if (!("childNodes" in node)) continue;

    const children = node.childNodes;
    if (depth >= MAX_DEPTH) node.childNodes = [];
    const childHolder = depth > MAX_DEPTH ? holder : node;
    for (const child of children.toReversed()) ahead.push({ node: child, depth: depth + 1, holder: childHolder });
  }
}
