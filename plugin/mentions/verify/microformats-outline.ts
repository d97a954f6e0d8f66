// plugin/mentions/verify/microformats-outline.ts: of a stranger's HTML, what microformats are read from.
import type { Element, Nodes } from "hast";
import { escapeHtml } from "../../site/html.js";

/** The classes that are read: those of today, and those of blogs that have not changed their theme since. */
const CLASS =
  /^(h-(entry|card|cite)|[pue]-(author|name|url|photo|content|summary)|dt-published|u-(in-reply-to|like-of|repost-of|bookmark-of)|value|value-title|hentry|vcard|fn|n|author|url|photo|entry-(title|content|summary)|published|updated)$/;

/** What has a value of its own without any class. Everything else is as good as a `div`. */
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

/** Items stand in items, as the author in the entry. The parser reads each anew for every class of what it stands in. */
const MAX_NESTED = 2;
const MAX_CLASSES = 3;
const ROOT = /^(h-(entry|card|cite)|hentry|vcard)$/;

/** Properties stand in properties too, as the name of the author of a cited entry. The parser copies the contents of each. */
const MAX_PROPERTIES_NESTED = 4;
/** How often a class is read. A page with many comments inside its entry has each class once for each of them. */
const MAX_OF_CLASS = 50;

/** How many elements and texts are looked at. */
const MAX_NODES = 5_000;
const MAX_ELEMENTS = 500;
const MAX_CHARACTERS = 16 * 1024;
const MAX_ATTRIBUTE = 2048;

/**
 * An element as small and plain HTML: at most 500 elements and 16 KiB of text, lines separated by LF. It takes some
 * milliseconds, and so does parsing the result.
 *
 * The parser of microformats gets this and no stranger's page: an open `div` for each of a page's bytes takes it minutes,
 * and as many properties inside each other all of the memory.
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

/** @returns `null` for an element of which only the contents count */
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

/** Those that are read, each once; of an item no more than a few beside those that make it one. */
function classesOf({ properties }: Element): string[] {
  const names = [properties.className ?? []].flat().map(String);
  const classes = [...new Set(names)].filter((name) => CLASS.test(name));
  const roots = classes.filter((name) => ROOT.test(name));
  if (roots.length === 0) return classes;
  return [...roots.slice(0, MAX_CLASSES), ...classes.filter((name) => !ROOT.test(name)).slice(0, MAX_CLASSES)];
}
