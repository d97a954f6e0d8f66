// plugin/text/text-from-html.ts: text of a twt from the HTML of a post. Loaded only if a post needs it.
import type { Element, Nodes, Root } from "hast";
import { defaultHandlers } from "hast-util-to-mdast";
import { toText } from "hast-util-to-text";
import type { Html, Link, Text } from "mdast";
import type { Handle } from "mdast-util-to-markdown";
import rehypeParse from "rehype-parse";
import rehypeRemark from "rehype-remark";
import remarkGfm from "remark-gfm";
import remarkStringify from "remark-stringify";
import { unified } from "unified";
import { SKIP, visit } from "unist-util-visit";
import { LINK_ATTRIBUTES } from "../site/html.js";
import { escapeText, linkText, type PageOfHtml } from "./text-from-plain-html.js";

const parser = unified().use(rehypeParse, { fragment: true });

/** A body as Markdown, with absolute links and with mentions as `@<nick url>`. */
export function textFromAnyHtml(html: string, page: PageOfHtml): string {
  const tree = parser.parse(html);
  removeMentions(tree);
  resolveLinks(tree, page);
  const markdown = unified()
    .use(rehypeRemark, {
      handlers: { a: (state, node: Element) => readMention(node, page) ?? defaultHandlers.a(state, node) },
      nodeHandlers: { comment: () => undefined },
    })
    .use(dropLinkTitles)
    .freeze();
  return writer.stringify(markdown.runSync(tree) as never);
}

/** A title or a summary as plain text, with entities decoded once. */
export function plainText(html: string, page: PageOfHtml): string {
  const tree = parser.parse(html);
  visit(tree, (node, index, parent) => {
    if (node.type === "text") node.value = node.value.replace(/@</g, "@\\<");
    const mention = node.type === "element" ? readMention(node, page) : null;
    if (!mention || !parent || index === undefined) return;
    parent.children[index] = { type: "text", value: mention.value };
    return SKIP;
  });
  return toText(tree);
}

/** The URLs and labels of the links with the class `u-mention`. */
export function mentionsInHtml(html: string, page: PageOfHtml): { label: string; url: string }[] {
  const tree = parser.parse(html);
  const mentions: { label: string; url: string }[] = [];
  visit(tree, "element", (node) => {
    if (isMention(node)) mentions.push({ label: toText(node), url: page.resolve(String(node.properties.href)) });
  });
  return mentions;
}

/** Escapes as little as possible, because many clients show a twt as plain text. */
const writer = unified()
  .use(remarkGfm)
  .use(remarkStringify, {
    bullet: "-",
    rule: "-",
    handlers: {
      text: (node: Text) => escapeText(node.value),
      break: () => "\n",
      link: writeLink,
    },
  });

function writeLink(node: Link, _parent: unknown, state: Parameters<Handle>[2], info: Parameters<Handle>[3]): string {
  return linkText(state.containerPhrasing(node, { ...info, before: "[", after: "]" }), node.url);
}

function dropLinkTitles() {
  return (tree: Nodes) => {
    visit(tree as never, (node: { title?: string | null }) => {
      if ("title" in node) node.title = null;
    });
  };
}

/** Removes lists of mentions: their texts are not by the author. */
function removeMentions(tree: Root): void {
  visit(tree, "element", ({ tagName, properties: { className } }, index, parent) => {
    const classes = Array.isArray(className) ? className : [];
    // The parser ends a paragraph at a section, which moves the section out of a component in that paragraph.
    const isMentions =
      tagName === "twtxt-mentions" ||
      (tagName === "ol" && classes.includes("twtxt-mentions")) ||
      (tagName === "section" && classes.includes("twtxt-part")) ||
      (tagName === "form" && classes.includes("twtxt-form"));
    if (!isMentions || !parent || index === undefined) return;
    parent.children.splice(index, 1);
    return [SKIP, index];
  });
}

function resolveLinks(tree: Root, page: PageOfHtml): void {
  visit(tree, "element", (node) => {
    const attribute = LINK_ATTRIBUTES[node.tagName];
    const link = attribute && node.properties[attribute];
    if (attribute && typeof link === "string") node.properties[attribute] = page.resolve(link);
  });
}

function readMention(node: Element, page: PageOfHtml): Html | null {
  const wire = isMention(node) ? page.mention(toText(node), page.resolve(String(node.properties.href))) : null;
  return wire === null ? null : { type: "html", value: wire };
}

function isMention(node: Element): boolean {
  const classes = node.properties.className;
  return (
    node.tagName === "a" &&
    Array.isArray(classes) &&
    classes.includes("u-mention") &&
    typeof node.properties.href === "string"
  );
}
