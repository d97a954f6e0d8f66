// plugin/site/read-html.ts: a stranger's HTML as markup, for the build. Loaded only if there are mentions.
import type { Nodes } from "hast";
import rehypeParse from "rehype-parse";
import { unified } from "unified";
import type { Markup } from "./html.js";
import { readPlainHtml } from "./read-plain-html.js";
import { safeElement } from "./safe-markup.js";

const parser = unified().use(rehypeParse, { fragment: true });

export function readHtml(html: string): readonly Markup[] {
  return readPlainHtml(html) ?? readAnyHtml(html);
}

/** The same as `readHtml`, always with the parser. */
export function readAnyHtml(html: string): readonly Markup[] {
  return parser.parse(html).children.flatMap(toMarkup);
}

function toMarkup(node: Nodes): readonly Markup[] {
  if (node.type === "text") return [node.value];
  if (node.type !== "element") return [];
  const { href } = node.properties;
  return safeElement(node.tagName, typeof href === "string" ? href : null, node.children.flatMap(toMarkup));
}
