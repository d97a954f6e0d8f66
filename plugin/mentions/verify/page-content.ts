// plugin/mentions/verify/page-content.ts: the content of an entry as safe elements, from the parsed tree of its page.
import type { Element, ElementContent } from "hast";
import { parseHtml, walkElements } from "../../http/parse-html.js";
import type { TimeSlices } from "../../http/time-slices.js";
import { element, isElement, type Markup, type MarkupElement, toHtml } from "../../site/html.js";
import { plainLines, shortened, shortenedAtWord } from "../../site/plain-lines.js";
import { boundedMarks, safeElement } from "../../site/safe-markup.js";
import { webUrlOrNull } from "../../web-url.js";

export const SILENT_TAGS = new Set("head iframe math noscript object script select style svg textarea".split(" "));

export const BLOCK_TAGS = new Set(
  "address article aside blockquote dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody td tfoot th thead tr ul".split(
    " ",
  ),
);

export function hasClass({ properties: { className } }: Element, matches: (name: string) => boolean): boolean {
  return [className ?? []].flat().some((name) => matches(String(name)));
}

/** The safe element for each inline element. Others are replaced by their contents. */
const INLINE: Readonly<Record<string, string>> = {
  ...{ a: "a", br: "br", b: "strong", strong: "strong", i: "em", em: "em", cite: "em" },
  ...{ code: "code", kbd: "code", samp: "code", tt: "code" },
};

const MAX_NODES = 5_000;
const MAX_ELEMENTS = 500;
/** Characters of all links together. */
const MAX_LINKS = 8_000;
/** Lists and quotations in each other, and inline elements in each other. Deeper ones are replaced by their contents. */
const MAX_NESTED = 4;

export interface PageContent {
  /** Lines are separated by LF. */
  text: string;
  /** Safe elements, see {@link safeElement}. */
  html: string;
}

/**
 * Finds the content of an entry: its first `e-content`, or the `entry-content` of older themes, outside of items such as
 * a cited post.
 */
export function findContent(entry: Element): Element | null {
  const isItem = (node: Element) => node !== entry && hasClass(node, (name) => /^(h-[a-z]+|hentry|vcard)$/.test(name));
  for (const node of walkElements(entry, (element) => !isItem(element))) {
    if (node !== entry && hasClass(node, (name) => name === "e-content" || name === "entry-content")) return node;
  }
  return null;
}

/**
 * Reduces the content of an entry to paragraphs, lists, quotations and code with links and emphasis.
 *
 * @param base - base URL of its links
 * @param limit - characters of text; a longer one is cut at a word
 * @returns `null` without any text
 * @see PROTOCOL 6
 */
export function readContent(content: Element, base: string, limit: number): PageContent | null {
  const blocks = new ContentReader(base, limit).readBlocks(content.children, 0);
  const text = blocks.map(readText).join("\n").trim();
  return text === "" ? null : { text, html: blocks.map(toHtml).join("\n") };
}

/** Reduces HTML to safe elements. @returns `null` without any text. @see {@link readContent} */
export async function sanitizeHtml(
  html: string,
  base: string,
  limit: number,
  slices?: TimeSlices,
): Promise<PageContent | null> {
  const { tree } = await parseHtml(`<!doctype html><body>${html}`, slices);
  const isBody = ({ tagName }: Element) => tagName === "body";
  const body = [...walkElements(tree, (element) => !isBody(element))].find(isBody);
  return body ? readContent(body, base, limit) : null;
}

class ContentReader {
  #isCut = false;
  #nodes = MAX_NODES;
  #elements = MAX_ELEMENTS;
  #links = MAX_LINKS;
  /** Whether white space would be at the start of a line or repeated. */
  #isAfterSpace = true;
  readonly #isBlock = new WeakMap<Element, boolean>();

  /** @param characters - how many are left */
  constructor(
    private readonly base: string,
    private characters: number,
  ) {}

  /** @param nested - how many lists and quotations contain the nodes */
  readBlocks(nodes: readonly ElementContent[], nested: number): MarkupElement[] {
    const blocks: MarkupElement[] = [];
    let line: Markup[] = [];
    const endLine = () => {
      blocks.push(...paragraph(line));
      line = [];
      this.#isAfterSpace = true;
    };
    for (const node of nodes) {
      if (this.#isCut) break;
      if (node.type === "element" && this.#hasBlock(node)) {
        endLine();
        blocks.push(...this.#readBlock(node, nested));
      } else line.push(...this.#readInline(node, []));
    }
    endLine();
    return blocks;
  }

  #readBlock(node: Element, nested: number): MarkupElement[] {
    const { tagName, children } = node;
    this.#nodes -= 1;
    if (this.#nodes < 0 || SILENT_TAGS.has(tagName)) return [];
    if (tagName === "pre") return this.#readCode(node);
    const isDeep = nested >= MAX_NESTED || this.#elements <= 0;
    if (!isDeep && (tagName === "ul" || tagName === "ol"))
      return this.#safe(tagName, this.#readItems(node, nested + 1));
    if (!isDeep && tagName === "blockquote") return this.#safe(tagName, this.readBlocks(children, nested + 1));
    const blocks = this.readBlocks(children, nested);
    if (!/^h[1-6]$/.test(tagName)) return blocks;
    return blocks.map((block) =>
      block.tag === "p" ? element("p", {}, element("strong", {}, ...block.children)) : block,
    );
  }

  #readItems({ children }: Element, nested: number): MarkupElement[] {
    return children.flatMap((item) => {
      if (item.type !== "element" || this.#isCut) return [];
      const blocks = this.readBlocks(item.tagName === "li" ? item.children : [item], nested);
      const [first, ...others] = blocks;
      // The first paragraph stands next to the bullet.
      return this.#safe("li", first?.tag === "p" ? [...first.children, ...others] : blocks);
    });
  }

  #readCode(node: Element): MarkupElement[] {
    const lines = plainLines(this.#readRaw(node).replaceAll("\t", "    "));
    // Not `\s+$`, which would search each run of spaces from each of its characters.
    const code = this.#take(boundedMarks(lines.join("\n")).replace(/^\n+/, "").trimEnd(), shortened);
    return code === "" ? [] : this.#safe("pre", [element("code", {}, code)]);
  }

  #readRaw(node: ElementContent): string {
    this.#nodes -= 1;
    if (node.type === "text") return node.value;
    if (node.type !== "element" || this.#nodes < 0 || SILENT_TAGS.has(node.tagName)) return "";
    return node.tagName === "br" ? "\n" : node.children.map((child) => this.#readRaw(child)).join("");
  }

  /** @param within - the inline elements that contain the node */
  #readInline(node: ElementContent, within: readonly string[]): readonly Markup[] {
    this.#nodes -= 1;
    if (this.#isCut || this.#nodes < 0) return [];
    if (node.type === "text") return this.#readLine(node.value);
    if (node.type !== "element" || SILENT_TAGS.has(node.tagName)) return [];
    const { tagName, properties, children } = node;
    if (tagName === "img") return this.#readLine(typeof properties.alt === "string" ? properties.alt : "");
    const tag = INLINE[tagName];
    const isWanted = tag !== undefined && !within.includes(tag) && within.length < MAX_NESTED;
    const inside = children.flatMap((child) => this.#readInline(child, isWanted ? [...within, tag] : within));
    if (tag === "br") this.#isAfterSpace = true;
    const isEmpty = tag !== "br" && inside.length === 0;
    return isWanted && !isEmpty ? this.#safe(tag, inside, this.#readLink(properties.href)) : inside;
  }

  #readLink(href: unknown): string | null {
    const url = typeof href === "string" ? webUrlOrNull(href, this.base) : null;
    this.#links -= url?.length ?? 0;
    return this.#links < 0 ? null : url;
  }

  /** Text of a paragraph, in which white space counts once. */
  #readLine(value: string): string[] {
    const text = plainLines(value).join(" ").replace(/\s+/g, " ");
    const shown = this.#take(boundedMarks(this.#isAfterSpace ? text.trimStart() : text), shortenedAtWord);
    if (shown === "") return [];
    this.#isAfterSpace = shown.endsWith(" ");
    return [shown];
  }

  /** The part of a text that the limit leaves. */
  #take(text: string, shorten: typeof shortened): string {
    if (this.characters <= 0 && text.trim() !== "") {
      this.#isCut = true;
      return "…";
    }
    const shown = shorten(text, this.characters);
    this.#isCut = shown !== text;
    this.characters -= [...shown].length;
    return shown;
  }

  /** A safe element; its children beyond the maximum number of elements. */
  #safe(tag: string, children: readonly Markup[], href: string | null = null): MarkupElement[] {
    if (children.length === 0 && tag !== "br") return [];
    this.#elements -= 1;
    return (this.#elements < 0 && tag !== "pre" ? children : safeElement(tag, href, children)) as MarkupElement[];
  }

  /** Whether an element is a block or contains one, such as a link around a heading. */
  #hasBlock(node: Element): boolean {
    const known = this.#isBlock.get(node);
    if (known !== undefined) return known;
    const isBlock =
      BLOCK_TAGS.has(node.tagName) || node.children.some((child) => child.type === "element" && this.#hasBlock(child));
    this.#isBlock.set(node, isBlock);
    return isBlock;
  }
}

/** A paragraph without line breaks at its ends. @returns an empty list for one without text */
function paragraph(line: readonly Markup[]): MarkupElement[] {
  const isText = (markup: Markup) => readText(markup).trim() !== "";
  const start = line.findIndex(isText);
  if (start < 0) return [];
  const shown = line.slice(start, line.findLastIndex(isText) + 1);
  const end = shown.pop() ?? "";
  return [element("p", {}, ...shown, typeof end === "string" ? end.trimEnd() : end)];
}

function readText(markup: Markup): string {
  if (!isElement(markup)) return typeof markup === "string" ? markup : "";
  const { tag, children } = markup;
  if (tag === "br") return "\n";
  const parts = Array.from(children, (child) => {
    const isBlock = isElement(child) && /^(ul|ol|li|p|pre|blockquote)$/.test(child.tag);
    return isBlock ? `\n${readText(child)}\n` : readText(child);
  });
  return parts
    .join("")
    .replace(/\n{2,}/g, tag === "code" || tag === "pre" ? "$&" : "\n")
    .replace(/^\n|\n$/g, "");
}
