// plugin/mentions/verify/microformats-outline.ts: reduces untrusted HTML to the parts that microformats need.
import type { Element, Nodes } from "hast";
import { escapeHtml } from "../../site/html.js";

/** The classes of microformats 2, and the classic ones that older themes use. */
const CLASS =
  /^(h-(entry|card|cite)|[pue]-(author|name|url|photo|content|summary)|dt-published|u-(in-reply-to|like-of|repost-of|bookmark-of)|value|value-title|hentry|vcard|fn|n|author|url|photo|entry-(title|content|summary)|published|updated)$/;

/** Elements that have a value without a class. All others become a `div`. */
const TAGS = new Set(["a", "abbr", "area", "audio", "data", "img", "source", "time", "video"]);
const VOID_TAGS = new Set(["area", "img", "source"]);
const ATTRIBUTES = [
  ["href", "href"],
  ["src", "src"],
  ["alt", "alt"],
  ["title", "title"],
  ["dateTime", "datetime"],
  ["value", "value"],
] as const;

const SILENT_TAGS = new Set([
  "head",
  "iframe",
  "math",
  "noscript",
  "object",
  "script",
  "select",
  "style",
  "svg",
  "textarea",
]);
const BLOCK_TAGS = new Set(
  "address article aside blockquote br dd div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table tr ul".split(
    " ",
  ),
);

/** Items nest, as an author in an entry. The parser reads a nested item once for each class of its parent. */
const MAX_NESTED = 2;
const MAX_CLASSES = 3;
const ROOT = /^(h-(entry|card|cite)|hentry|vcard)$/;

/** Properties nest too, as the author's name in a cited entry. The parser copies the contents of each. */
const MAX_PROPERTIES_NESTED = 4;
/** Elements read per class. An entry that contains many comments repeats each class in every comment. */
const MAX_OF_CLASS = 50;

/** Elements and texts visited. */
const MAX_NODES = 5_000;
const MAX_ELEMENTS = 500;
const MAX_CHARACTERS = 16 * 1024;
const MAX_ATTRIBUTE = 2048;

/**
 * Reduces an element to small, plain HTML: at most 500 elements and 16 KiB of text, lines separated by LF. This takes a few
 * milliseconds, and so does parsing the result.
 *
 * The microformats parser must not see an untrusted page: thousands of nested `div`s take it minutes, and as many nested
 * properties all memory.
 */
export function microformatsOutline(element: Element): string {
  let nodes = MAX_NODES;
  let elements = MAX_ELEMENTS;
  let characters = MAX_CHARACTERS;
  const counts = new Map<string, number>();
  const isRare = (name: string) => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count <= MAX_OF_CLASS;
  };

  const write = (node: Nodes, nested: number, inProperties: number): string => {
    if (nodes === 0) return "";
    nodes -= 1;
    if (node.type === "text") {
      const text = node.value.slice(0, characters).replace(/\s+/g, " ");
      characters -= text.length;
      return escapeHtml(text);
    }
    if (node.type !== "element" || SILENT_TAGS.has(node.tagName)) return "";
    const isTooDeep = nested > MAX_NESTED || inProperties >= MAX_PROPERTIES_NESTED;
    const classes = isTooDeep ? [] : classesOf(node).filter(isRare);
    const isRoot = classes.some((name) => ROOT.test(name));
    const isProperty = classes.some((name) => !ROOT.test(name));
    const tag = elements > 0 ? startTag(node, classes) : null;
    if (tag !== null) elements -= 1;
    const inside = node.children
      .map((child) => write(child, nested + Number(isRoot), inProperties + Number(isProperty)))
      .join("");
    const html = tag === null ? inside : `${tag}${inside}${endTag(node)}`;
    return BLOCK_TAGS.has(node.tagName) ? `\n${html}\n` : html;
  };
  return write(element, 0, 0);
}

/** @returns `null` for an element whose tag is dropped */
function startTag({ tagName, properties }: Element, classes: readonly string[]): string | null {
  if (classes.length === 0 && !TAGS.has(tagName)) return null;
  const attributes = ATTRIBUTES.map(([property, name]) => [name, properties[property]] as const)
    .filter(([, value]) => typeof value === "string" && value.length <= MAX_ATTRIBUTE)
    .map(([name, value]) => ` ${name}="${escapeHtml(String(value))}"`);
  const all = classes.length > 0 ? [` class="${[...new Set(classes)].join(" ")}"`, ...attributes] : attributes;
  return `<${nameOf(tagName)}${all.join("")}>`;
}

function endTag({ tagName }: Element): string {
  return VOID_TAGS.has(tagName) ? "" : `</${nameOf(tagName)}>`;
}

function nameOf(tagName: string): string {
  return TAGS.has(tagName) ? tagName : "div";
}

/** The known classes, without repeats; a limited number for items. */
function classesOf({ properties }: Element): string[] {
  const names = [properties.className ?? []].flat().map(String);
  const classes = [...new Set(names)].filter((name) => CLASS.test(name));
  const roots = classes.filter((name) => ROOT.test(name));
  if (roots.length === 0) return classes;
  return [...roots.slice(0, MAX_CLASSES), ...classes.filter((name) => !ROOT.test(name)).slice(0, MAX_CLASSES)];
}
