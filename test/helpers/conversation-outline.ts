// test/helpers/conversation-outline.ts: the conversation that a page shows, parsed as a browser does.
import { type DefaultTreeAdapterTypes, defaultTreeAdapter, parse } from "parse5";

type Element = DefaultTreeAdapterTypes.Element;

/** A reply in a page. A place that a removed reply left has neither name nor text. */
export interface ShownReply {
  name: string;
  text: string;
  replies: ShownReply[];
}

/** The replies in the list of a page, with their own replies. */
export function repliesIn(html: string): ShownReply[] {
  const [section] = elementsWith("twtxt-replies", parse(html));
  return section ? childItems(section).map(replyOf) : [];
}

/** The names in a row of a page, such as its likes. */
export function namesIn(html: string, part: "likes" | "reposts" | "bookmarks"): string[] {
  return elementsWith(`twtxt-${part}`, parse(html)).flatMap((section) =>
    elementsWith("twtxt-name", section).map(textOf),
  );
}

/** The names on a page, with replies in parentheses after their parent and a bar between sections. */
export function outlineOf(page: string): string {
  const marks = [...page.matchAll(/class="twtxt-name"[^>]*>([^<]*)<|<ol class="twtxt-thread">|<\/ol>|<section/g)];
  let depth = 0;
  const words = marks.map(([mark, name]) => {
    if (mark.startsWith("<ol")) depth += 1;
    if (mark === "<section") return "|";
    if (name !== undefined) return ` ${name}`;
    return mark.startsWith("<ol") ? "(" : depth-- > 0 ? ")" : "";
  });
  return words.join("").replace(/\( /g, "(").replace(/^\| /, "").replace(/\|/g, " |").trim();
}

function replyOf(item: Element): ShownReply {
  const parts = {
    ...item,
    childNodes: item.childNodes.filter(({ nodeName }) => !["ol", "details"].includes(nodeName)),
  };
  const own = (name: string) => elementsWith(name, parts)[0];
  return { name: textOf(own("twtxt-name")), text: textOf(own("p-content")), replies: childItems(item).map(replyOf) };
}

/** The items of the lists in an element, also of the list that unfolds, without those of nested lists. */
function childItems(parent: Element): Element[] {
  return elementChildren(parent).flatMap((child) => {
    if (child.tagName === "details") return childItems(child);
    return child.tagName === "ol" ? elementChildren(child).filter(({ tagName }) => tagName === "li") : [];
  });
}

function elementsWith(name: string, node: DefaultTreeAdapterTypes.ParentNode): Element[] {
  return elementChildren(node).flatMap((child) => {
    const classes = child.attrs.find((attribute) => attribute.name === "class")?.value.split(" ") ?? [];
    return [...(classes.includes(name) ? [child] : []), ...elementsWith(name, child)];
  });
}

function elementChildren(node: DefaultTreeAdapterTypes.ParentNode): Element[] {
  return node.childNodes.filter((child) => defaultTreeAdapter.isElementNode(child));
}

function textOf(node: DefaultTreeAdapterTypes.ChildNode | undefined): string {
  if (!node) return "";
  if (defaultTreeAdapter.isTextNode(node)) return node.value;
  return "childNodes" in node ? node.childNodes.map(textOf).join("").trim() : "";
}
