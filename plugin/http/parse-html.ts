// plugin/http/parse-html.ts: parser for untrusted HTML. Its library is loaded with the first page.
import type { Element, Nodes, Parents, Properties, Root, RootContent } from "hast";
import type { DefaultTreeAdapterTypes as Parse5 } from "parse5";
import { later } from "../later.js";
import { resolveUrl } from "../url.js";
import { TimeSlices } from "./time-slices.js";

const parser = later(() => import("parse5"));

/** Real pages are not nested deeper. Code that walks the tree needs time or stack in proportion to its depth. */
const MAX_DEPTH = 128;

/** Real pages have fewer. 100 kB of unclosed elements can expand to gigabytes: each paragraph opens all of them again. */
const MAX_ELEMENTS = 50_000;

/** Real elements have fewer attributes, but a megabyte of HTML can have more than 100,000. */
const MAX_ATTRIBUTES = 200;

/** Longer values are dropped: a megabyte of classes is half a million tokens, and a URL of that size is slow to resolve. */
const MAX_VALUE_LENGTH = 16_384;

/** A longer base would be parsed again for each link. */
const MAX_BASE_LENGTH = 2048;

/** Characters parsed at a time: about a millisecond. */
const PIECE_LENGTH = 4096;

/** The properties of attributes that are lists. Others keep their names: looking up each takes as long as parsing the page. */
const TOKEN_LISTS: ReadonlyMap<string, string> = new Map(Object.entries({ class: "className", rel: "rel" }));

interface ParsedHtml {
  /** At most 128 elements deep: deeper elements are moved up to that level, in document order. */
  tree: Root;
  /** `false` if the page has more than 50,000 elements and the rest is missing. */
  isWhole: boolean;
}

/**
 * Parses a page like a browser with scripting disabled: the contents of `noscript` are elements, those of `script` and
 * `textarea` are text, and those of `template` are left out, as are comments.
 *
 * @param slices - the deadline; other requests are answered in between
 */
export async function parseHtml(html: string, slices = new TimeSlices()): Promise<ParsedHtml> {
  const { document, isWhole } = await startOfDocument(html, await parser(), slices);
  return { tree: await toTree(document, slices), isWhole };
}

/** The elements of a tree, in document order. @param isEntered - whether those in an element are wanted; default: all */
export function* walkElements(root: Root | Element, isEntered = (_element: Element) => true): Iterable<Element> {
  const ahead: Nodes[] = [root];
  for (let node = ahead.pop(); node; node = ahead.pop()) {
    if (node.type === "element") yield node;
    if (!("children" in node) || (node.type === "element" && !isEntered(node))) continue;
    for (const child of node.children.toReversed()) ahead.push(child);
  }
}

/** The base URL of the page's relative links: its first `base` with an http or https URL, else its own URL. */
export function findBase(elements: Element[], pageUrl: string): string {
  const base = elements.find((element) => element.tagName === "base" && readHref(element) !== null);
  const url = resolveUrl((base && readHref(base)) ?? "", pageUrl);
  return url !== null && url.length <= MAX_BASE_LENGTH && /^https?:/.test(url) ? url : pageUrl;
}

export function readHref({ properties: { href } }: Element): string | null {
  return typeof href === "string" ? href : null;
}

/** @param name - in lower case */
export function hasRel({ properties: { rel } }: Element, name: string): boolean {
  return [rel ?? []].flat().some((token) => String(token).toLowerCase() === name);
}

async function startOfDocument(
  html: string,
  { Parser, defaultTreeAdapter }: typeof import("parse5"),
  slices: TimeSlices,
): Promise<{ document: Parse5.Document; isWhole: boolean }> {
  const document = defaultTreeAdapter.createDocument();
  const limitReached = new Error("too many elements");
  let elements = 0;
  const createElement: typeof defaultTreeAdapter.createElement = (...parts) => {
    elements += 1;
    if (elements > MAX_ELEMENTS) throw limitReached;
    return defaultTreeAdapter.createElement(...parts);
  };
  // Comments are not needed, and a page can have more than 100,000 of them.
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
    if (error !== limitReached) throw error;
    return { document, isWhole: false };
  }
  return { document, isWhole: true };
}

/** Converts without recursion, because a deep tree would overflow the stack. */
async function toTree(document: Parse5.Document, slices: TimeSlices): Promise<Root> {
  const root: Root = { type: "root", children: [] };
  const ahead: { node: Parse5.Node; depth: number; holder: Parents }[] = [];
  const addChildren = (nodes: Parse5.ChildNode[], depth: number, holder: Parents) => {
    for (const node of nodes.toReversed()) ahead.push({ node, depth, holder });
  };
  addChildren(document.childNodes, 1, root);
  for (let next = ahead.pop(); next; next = ahead.pop()) {
    if (slices.isOver) await slices.next();
    const { node, depth, holder } = next;
    const converted = toNode(node);
    holder.children.push(converted as Element);
    if (converted.type === "element" && "childNodes" in node) {
      addChildren(node.childNodes, depth + 1, depth <= MAX_DEPTH ? converted : holder);
      // So that both trees are never whole in memory.
      node.childNodes = [];
    }
  }
  return root;
}

/** Converts a node without its children. */
function toNode(node: Parse5.Node): RootContent {
  if ("value" in node) return { type: "text", value: node.value };
  if (!("attrs" in node)) return { type: "doctype" };
  return { type: "element", tagName: node.tagName, properties: toProperties(node.attrs), children: [] };
}

function toProperties(attributes: Parse5.Element["attrs"]): Properties {
  const properties: Properties = {};
  for (const { name, value, prefix } of attributes.slice(0, MAX_ATTRIBUTES)) {
    if (prefix || value.length > MAX_VALUE_LENGTH) continue;
    const list = TOKEN_LISTS.get(name);
    properties[list ?? name] = list ? value.split(/[ \t\n\r\f]+/).filter(Boolean) : value;
  }
  return properties;
}
