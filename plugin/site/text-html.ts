// plugin/site/text-html.ts: the text of a twt or a page as safe HTML. Loaded when a text is converted.
import type { Element, Text } from "hast";
import type { Emphasis, Image, Link, Parents, PhrasingContent, Root, Strong } from "mdast";
import { findAndReplace } from "mdast-util-find-and-replace";
import { gfmAutolinkLiteralFromMarkdown } from "mdast-util-gfm-autolink-literal";
import { gfmAutolinkLiteral } from "micromark-extension-gfm-autolink-literal";
import rehypeSanitize from "rehype-sanitize";
import rehypeStringify from "rehype-stringify";
import remarkParse from "remark-parse";
import remarkRehype from "remark-rehype";
import { type Processor, unified } from "unified";
import { SKIP, visit } from "unist-util-visit";
import { locateMentions, type Mention } from "../feed/mention.js";
import { canParseUrl, decodePercent, isFeedUrl } from "../url.js";
import { plainLines } from "./plain-lines.js";
import { boundedMarks, SAFE_ELEMENTS, STRANGERS_REL } from "./safe-markup.js";

/** Markdown for whole blocks, and HTML. It is not interpreted in a twt: its characters stay as they are. */
const BLOCKS = [
  ...["blockQuote", "codeIndented", "definition", "headingAtx", "htmlFlow", "htmlText", "list", "setextUnderline"],
  "thematicBreak",
];

/** The text of a page was read from HTML, so only its bare URLs mean anything. */
const MARKDOWN = [
  ...BLOCKS,
  ...["attention", "autolink", "characterEscape", "characterReference", "codeFenced", "codeText", "hardBreakEscape"],
  ...["hardBreakTrailing", "labelEnd", "labelStartImage", "labelStartLink"],
];

const parsers = { twt: parserWithout(BLOCKS), page: parserWithout(MARKDOWN) };

const writer = unified()
  .use(remarkRehype, {
    handlers: {
      code: (_, { value }: { value: string }) => ({
        type: "element",
        tagName: "p",
        properties: {},
        children: codeLines(value),
      }),
    },
  })
  .use(rehypeSanitize, {
    tagNames: [...SAFE_ELEMENTS],
    attributes: { a: ["href", "rel"] },
    protocols: { href: ["http", "https", "gemini", "gopher"] },
  })
  .use(rehypeStringify)
  .freeze();

/** Mentions, and the hash of a reply, at the start of a text. */
const SUBJECT = /^((?:\s*@<[^<>]*>)*)\s*\(#[^()]*\)\s*/;

/** The placeholder of a mention in the Markdown: its index between private characters. */
const MARK = /\ue000(\d+)\ue001/g;

/**
 * Converts a text to HTML of `p`, `a`, `code`, `em`, `strong` and `br`, with links to http and https.
 *
 * @param text - lines are separated by LF
 * @param kind - `twt` for a text with mentions and Markdown, `page` for plain text
 * @example textHtml("hi @<bob https://bob.example/twtxt.txt>", "twt") // '<p>hi <a href="https://bob.example/twtxt.txt" rel="nofollow ugc noopener">@bob</a></p>'
 * @see PROTOCOL 6
 */
export function textHtml(text: string, kind: "twt" | "page"): string {
  const plain = boundedMarks(text.toWellFormed().replace(/[\ue000\ue001]/g, "\ufffd"));
  const shown = kind === "twt" ? plain.replace(SUBJECT, "$1 ").trim() : plain.trim();
  const mentions = kind === "twt" ? locateMentions(shown.replaceAll("\n", "\u2028")) : [];
  const sources = mentions.map(({ start, end }) => shown.slice(start, end));
  const markdown = mentions.reduceRight(
    (rest, { start, end }, index) => `${rest.slice(0, start)}\ue000${index}\ue001${rest.slice(end)}`,
    shown,
  );

  const tree = parsers[kind].parse(markdown);
  unwrapLongEmphasis(tree, markdown);
  linkImages(tree);
  const restoreLink = (_: string, index: string) => mentionLink(mentions[Number(index)]);
  findAndReplace(tree, [[MARK, restoreLink]], { ignore: ["link"] });
  findAndReplace(tree, [[/\n/g, () => ({ type: "break" })]]);
  restoreMentions(tree, sources);
  // Removes what character references such as `&#x202e;`, and escapes in the name of a file, have brought back.
  visit(tree, "text", (node) => {
    node.value = boundedMarks(plainLines(node.value).join(" "));
  });
  keepWebLinks(tree);
  return writer.stringify(writer.runSync(tree));
}

function parserWithout(constructs: readonly string[]): Processor<Root> {
  const parser = unified().use(remarkParse);
  parser.data("micromarkExtensions", [gfmAutolinkLiteral(), { disable: { null: [...constructs] } }]);
  parser.data("fromMarkdownExtensions", [gfmAutolinkLiteralFromMarkdown()]);
  return parser.freeze();
}

/** Replaces emphasis over several lines by its characters: in plain text, it is usually unintended. */
function unwrapLongEmphasis(tree: Root, markdown: string): void {
  visit(tree, ["emphasis", "strong"], (node, index, parent: Parents | undefined) => {
    const { children, position, type } = node as Emphasis | Strong;
    const start = position?.start.offset ?? 0;
    const end = position?.end.offset ?? 0;
    if (!parent || index === undefined || !markdown.slice(start, end).includes("\n")) return;
    const mark = markdown.slice(start, start + (type === "strong" ? 2 : 1));
    const text = { type: "text" as const, value: mark };
    parent.children.splice(index, 1, text, ...children, { ...text });
    return [SKIP, index];
  });
}

/** An image becomes a link with its description, or the name of its file if it has none. */
function linkImages(tree: Root): void {
  visit(tree, "image", ({ url, alt }: Image, index, parent: Parents | undefined) => {
    if (!parent || index === undefined) return;
    const text = { type: "text" as const, value: alt?.trim() || (fileName(url) ?? url) };
    parent.children[index] = parent.type === "link" ? text : { type: "link", url, children: [text] };
  });
}

function fileName(url: string): string | null {
  if (!canParseUrl(url)) return null;
  const { pathname, host } = new URL(url);
  const name = pathname.split("/").findLast((segment) => segment !== "") ?? host;
  return decodePercent(name) ?? name;
}

function mentionLink(mention: Mention | undefined): Link | false {
  if (!mention) return false;
  const { nick, url } = mention;
  return { type: "link", url, children: [{ type: "text", value: `@${nick ?? new URL(url).host}` }] };
}

/** Code, labels and URLs have their mentions as written. */
function restoreMentions(tree: Root, sources: readonly string[]): void {
  const restored = (text: string) => text.replace(MARK, (mark, index) => sources[Number(index)] ?? mark);
  visit(tree, (node) => {
    if ("value" in node) node.value = restored(node.value);
    if ("url" in node) node.url = restored(node.url);
  });
}

/** Marks links to http and https as a stranger's, and replaces other links by their text. */
function keepWebLinks(tree: Root): void {
  visit(tree, "link", (link: Link, index, parent: Parents | undefined) => {
    if (!parent || index === undefined) return;
    if (isFeedUrl(link.url)) {
      link.title = null;
      link.data = { hProperties: { rel: [STRANGERS_REL] } };
      return;
    }
    parent.children.splice(index, 1, ...(link.children as PhrasingContent[]));
    return [SKIP, index];
  });
}

/** The lines of a code block as separate elements, so that a long block can be folded. */
function codeLines(text: string): Element[] {
  return text.split("\n").flatMap((line, index) => {
    const code = createElement("code", [{ type: "text", value: line }]);
    return index > 0 ? [createElement("br", []), code] : [code];
  });
}

function createElement(tagName: string, children: Text[]): Element {
  return { type: "element", tagName, properties: {}, children };
}
