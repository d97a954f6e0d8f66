// plugin/mentions/verify/microformats.ts: reads h-entry and h-card. The parser is loaded on first use.
import type { Element, Nodes } from "hast";
import { toInstant } from "../../feed/timestamp.js";
import { later } from "../../later.js";
import { escapeHtml } from "../../site/html.js";
import type { Author } from "../../site/mention-list.js";
import { resolveUrl } from "../../url.js";
import { webUrlOrNull } from "../../web-url.js";
import type { ProvenMention } from "../mention.js";
import { BLOCK_TAGS, SILENT_TAGS } from "./page-content.js";
import { quoteName, quoteText } from "./source-text.js";

const parser = later(() => import("microformats-parser"));

/** A parsed `h-entry`; missing values are `null`. */
export interface Entry extends Pick<ProvenMention, "type" | "text" | "published"> {
  author: { [Key in keyof Author]: Author[Key] | null };
  /** The page that a reply replies to: one other than the target, if it names one; `null` for no reply. */
  replyTo: string | null;
}

type Items = ReturnType<typeof import("microformats-parser").mf2>["items"];
type Item = Items[number];
type Property = Item["properties"][string][number];

const TYPES = [
  ["in-reply-to", "reply"],
  ["repost-of", "repost"],
  ["like-of", "like"],
  ["bookmark-of", "bookmark"],
] as const;

/** The classes of microformats 2, and the classic ones that older themes use. */
const CLASS =
  /^(h-(entry|card|cite)|[pue]-(author|name|url|photo|content|summary)|dt-published|u-(in-reply-to|like-of|repost-of|bookmark-of)|value|value-title|hentry|vcard|fn|n|author|url|photo|entry-(title|content|summary)|published|updated)$/;

/** Elements that have a value without a class. All others become a `div`. */
const TAGS = new Set("a abbr area audio data img source time video".split(" "));
const VOID_TAGS = new Set(["area", "img", "source"]);
const ATTRIBUTES = ["href", "src", "alt", "title", "datetime", "value"] as const;

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
 * Reads an `h-entry`.
 *
 * @param base - base URL of its links
 * @param isTarget - whether a URL is the target of the claimed mention
 * @param content - an element in it whose text the caller reads; `null` for none
 */
export async function readEntry(
  element: Element,
  base: string,
  isTarget: (url: string) => boolean,
  content: Element | null = null,
): Promise<Entry> {
  const entry = await readItem(element, base, content);
  const text = (name: string) => readText(entry?.properties[name]?.[0]);
  const isAbout = (name: string) =>
    entry?.properties[name]?.some((property) => readUrls(property, base).some(isTarget));
  const type = TYPES.find(([property]) => isAbout(property))?.[1] ?? "mention";
  const answered = (entry?.properties["in-reply-to"] ?? []).flatMap((property) => readUrls(property, base));
  return {
    type,
    author: readAuthor(entry?.properties.author?.[0], base),
    text: quoteText(tidy(text("content") || text("summary") || text("name"))),
    published: parseInstant(text("published")),
    replyTo: type === "reply" ? webUrlOrNull(answered.find((url) => !isTarget(url)) ?? answered[0]) : null,
  };
}

export async function readCard(element: Element, base: string): Promise<Entry["author"]> {
  return readAuthor((await readItem(element, base)) ?? undefined, base);
}

/** @returns `null` if the parser fails */
async function readItem(element: Element, base: string, content: Element | null = null): Promise<Item | null> {
  const { mf2 } = await parser();
  try {
    return mf2(microformatsOutline(element, content), { baseUrl: base }).items[0] ?? null;
  } catch {
    return null;
  }
}

function readAuthor(author: Property | undefined, base: string): Entry["author"] {
  if (typeof author === "object" && "properties" in author) {
    const { name, url, photo } = author.properties;
    return {
      name: quoteName(readText(name?.[0])) || null,
      url: webUrlOrNull(readText(url?.[0]), base),
      photo: webUrlOrNull(readText(photo?.[0]), base),
    };
  }
  const text = readText(author);
  const url = webUrlOrNull(text);
  return { name: url === null ? quoteName(text) || null : null, url, photo: null };
}

function readText(property: Property | undefined): string {
  return typeof property === "object" ? readText(property.value) : (property ?? "");
}

/** The parser does not resolve a relative URL that contains `://`. */
function readUrls(property: Property, base: string): string[] {
  const urls = typeof property === "object" && "properties" in property ? (property.properties.url ?? []) : [];
  const texts = [property, ...urls].map(readText);
  return texts.flatMap((text) => resolveUrl(text, base) ?? []);
}

function tidy(text: string): string {
  const lines = text.split("\n").map((line) => line.replace(/\s+/g, " ").trim());
  return lines.filter((line) => line !== "").join("\n");
}

/** The date may have no time, or a space before it. */
function parseInstant(text: string): string | null {
  const date = text.trim().replace(/^(\S+) +(?=\d)/, "$1T");
  return toInstant(/^\d{4}-\d\d-\d\d$/.test(date) ? `${date}T00:00:00Z` : date);
}

/**
 * Reduces an element to small, plain HTML: at most 500 elements and 16 KiB of text, lines separated by LF. This takes a few
 * milliseconds, and so does parsing the result.
 *
 * The microformats parser must not see an untrusted page: thousands of nested `div`s take it minutes, and as many nested
 * properties all memory.
 *
 * @param content - an element in it of which only the properties and items are kept, because parsing its text takes longest
 */
export function microformatsOutline(element: Element, content: Element | null = null): string {
  return new Outline(content).formatHtml(element, { nested: 0, inProperties: 0, isBare: false });
}

/** How many items and properties contain a node, and whether the outline leaves out its text. */
interface Place {
  nested: number;
  inProperties: number;
  isBare: boolean;
}

class Outline {
  #nodes = MAX_NODES;
  #elements = MAX_ELEMENTS;
  #characters = MAX_CHARACTERS;
  readonly #counts = new Map<string, number>();

  constructor(private readonly content: Element | null) {}

  formatHtml(node: Nodes, { nested, inProperties, isBare }: Place): string {
    if (this.#nodes === 0) return "";
    this.#nodes -= 1;
    if (node.type === "text") return isBare ? "" : this.#text(node.value);
    if (node.type !== "element" || SILENT_TAGS.has(node.tagName)) return "";
    const isTooDeep = nested > MAX_NESTED || inProperties >= MAX_PROPERTIES_NESTED;
    const classes = isTooDeep ? [] : readClasses(node).filter((name) => this.#isRare(name));
    const isOmitted = isBare && classes.length === 0;
    const place = {
      nested: nested + Number(classes.some((name) => ROOT.test(name))),
      inProperties: inProperties + Number(classes.some((name) => !ROOT.test(name))),
      isBare: isOmitted || node === this.content,
    };
    const tag = this.#elements > 0 && !isOmitted ? startTag(node, classes) : null;
    if (tag !== null) this.#elements -= 1;
    const inside = node.children.map((child) => this.formatHtml(child, place)).join("");
    if (isOmitted) return inside;
    const end = VOID_TAGS.has(node.tagName) ? "" : `</${toName(node.tagName)}>`;
    const html = tag === null ? inside : `${tag}${inside}${end}`;
    return BLOCK_TAGS.has(node.tagName) || node.tagName === "br" ? `\n${html}\n` : html;
  }

  #text(value: string): string {
    const text = value.slice(0, this.#characters).replace(/\s+/g, " ");
    this.#characters -= text.length;
    return escapeHtml(text);
  }

  #isRare(name: string): boolean {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    return count <= MAX_OF_CLASS;
  }
}

/** @returns `null` for an element whose tag is dropped */
function startTag({ tagName, properties }: Element, classes: readonly string[]): string | null {
  if (classes.length === 0 && !TAGS.has(tagName)) return null;
  const attributes = ATTRIBUTES.map((name) => [name, properties[name]] as const)
    .filter(([, value]) => typeof value === "string" && value.length <= MAX_ATTRIBUTE)
    .map(([name, value]) => ` ${name}="${escapeHtml(String(value))}"`);
  const all = classes.length > 0 ? [` class="${[...new Set(classes)].join(" ")}"`, ...attributes] : attributes;
  return `<${toName(tagName)}${all.join("")}>`;
}

function toName(tagName: string): string {
  return TAGS.has(tagName) ? tagName : "div";
}

/** The known classes, without repeats; a limited number for items. */
function readClasses({ properties }: Element): string[] {
  const names = [properties.className ?? []].flat().map(String);
  const classes = [...new Set(names)].filter((name) => CLASS.test(name));
  const roots = classes.filter((name) => ROOT.test(name));
  if (roots.length === 0) return classes;
  return [...roots.slice(0, MAX_CLASSES), ...classes.filter((name) => !ROOT.test(name)).slice(0, MAX_CLASSES)];
}
