// plugin/http/parse-html.ts: a stranger's page as a tree, whatever it holds. Its libraries are loaded with the first page.
import type { Element, Nodes, Parents, Root } from "hast";
import type { DefaultTreeAdapterTypes as Parse5 } from "parse5";
import { TimeSlices } from "./time-slices.js";

/** No page of people's is nested so deep. What walks a tree takes time, or stack, by its depth. */
const MAX_DEPTH = 128;

/**
 * No page of people's has so many. Yet one of a tenth of a megabyte can stand for gigabytes of tree, since what is left
 * open is opened again in each paragraph that follows.
 */
const MAX_ELEMENTS = 50_000;

/** No element of people's has so many attributes; a megabyte holds more than a hundred thousand. */
const MAX_ATTRIBUTES = 200;

/** A longer value is left out: a megabyte of classes is half a million tokens, and as much of a URL takes as long to resolve. */
const MAX_VALUE_LENGTH = 16_384;

/** How much of a page is read at a time: about a millisecond's work. */
const PIECE_LENGTH = 4096;

/** A page as a tree. */
export interface ParsedHtml {
  /** At most 128 elements deep: what lies deeper is lifted up to there, in document order. */
  tree: Root;
  /** Whether all of the page is in the tree: not where it has more than 50,000 elements. */
  isWhole: boolean;
}

/**
 * Reads a page as a browser does that runs no scripts: what is in a `noscript` is part of it, what is in a comment, in
 * a `script` or a `textarea` is text, and the contents of a `template` are left out.
 *
 * @param slices - with the deadline; other requests are answered while a page is read
 */
export async function parseHtml(html: string, slices = new TimeSlices()): Promise<ParsedHtml> {
  const [parse5, { fromParse5 }] = await Promise.all([import("parse5"), import("hast-util-from-parse5")]);
  const { document, isWhole } = await startOfDocument(html, parse5, slices);
  return { tree: await treeOf(document, fromParse5, slices), isWhole };
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

async function startOfDocument(
  html: string,
  { Parser, defaultTreeAdapter }: typeof import("parse5"),
  slices: TimeSlices,
): Promise<{ document: Parse5.Document; isWhole: boolean }> {
  const document = defaultTreeAdapter.createDocument();
  const enough = new Error("enough");
  let elements = 0;
  const createElement: typeof defaultTreeAdapter.createElement = (...parts) => {
    elements += 1;
    if (elements > MAX_ELEMENTS) throw enough;
    return defaultTreeAdapter.createElement(...parts);
  };
  // Nothing reads them, and a page may hold more than a hundred thousand.
  const appendChild: typeof defaultTreeAdapter.appendChild = (parent, node) => {
    if (!defaultTreeAdapter.isCommentNode(node)) defaultTreeAdapter.appendChild(parent, node);
  };
  const treeAdapter = { ...defaultTreeAdapter, createDocument: () => document, createElement, appendChild };
  const { tokenizer } = new Parser({ scriptingEnabled: false, treeAdapter });
  try {
    for (let start = 0; start < html.length; start += PIECE_LENGTH) {
      if (slices.isOver) await slices.next();
      tokenizer.write(html.slice(start, start + PIECE_LENGTH), false);
    }
    tokenizer.write("", true);
  } catch (error) {
    if (error !== enough) throw error;
    return { document, isWhole: false };
  }
  return { document, isWhole: true };
}

function isShort({ value }: { value: string }): boolean {
  return value.length <= MAX_VALUE_LENGTH;
}

/** Converts node by node: a deep tree would end the converter, which calls itself for the children. */
async function treeOf(
  document: Parse5.Document,
  convert: typeof import("hast-util-from-parse5").fromParse5,
  slices: TimeSlices,
): Promise<Root> {
  const root: Root = { type: "root", children: [] };
  const ahead: { node: Parse5.Node; depth: number; holder: Parents }[] = [];
  const addChildren = (nodes: Parse5.ChildNode[], depth: number, holder: Parents) => {
    for (const node of nodes.toReversed()) ahead.push({ node, depth, holder });
  };
  addChildren(document.childNodes, 1, root);
  for (let next = ahead.pop(); next; next = ahead.pop()) {
    if (slices.isOver) await slices.next();
    const { node, depth, holder } = next;
    const children = "childNodes" in node ? node.childNodes : [];
    if ("childNodes" in node) node.childNodes = [];
    if ("content" in node) node.content.childNodes = [];
    if ("attrs" in node) node.attrs = node.attrs.slice(0, MAX_ATTRIBUTES).filter(isShort);
    const converted = convert(node);
    holder.children.push(converted as Element);
    if (converted.type === "element") addChildren(children, depth + 1, depth <= MAX_DEPTH ? converted : holder);
  }
  return root;
}
