// plugin/site/read-html.ts: reads the HTML that a host writes for a stranger's text, for pages and in the browser.
import { decodeReferences, type Markup } from "./html.js";
import { safeElement } from "./safe-markup.js";

/** A tag, with white space or a slash after its name so that there is one way to match it, or text. */
const TOKEN = /<(\/?)([a-z][a-z0-9-]*)([\s/][^<>]*)?>|[^<]+|</g;
/** Elements in each other. Of deeper ones, only the contents are kept. */
const MAX_DEPTH = 32;

/** An element whose end tag is not read yet. */
interface OpenElement {
  tag: string;
  href: string | null;
  children: Markup[];
}

/**
 * Reads safe elements, each up to its end tag. Of other elements only the contents are kept. This is no parser of HTML: it
 * moves and adds no elements, because what hosts write needs none.
 *
 * @returns what is safe to show, whatever the HTML is
 * @see PROTOCOL 6
 */
export function readHtml(html: string): readonly Markup[] {
  const root: OpenElement = { tag: "", href: null, children: [] };
  const open = [root];
  const close = ({ tag, href, children }: OpenElement) => {
    open.pop();
    // One by one: V8 takes only some 100,000 arguments.
    for (const each of safeElement(tag, href, children)) open.at(-1)?.children.push(each);
  };
  for (const [token, slash, tag, attributes = ""] of html.matchAll(TOKEN)) {
    const parent = open.at(-1) ?? root;
    if (tag === undefined) parent.children.push(decode(token));
    else if (tag === "br") parent.children.push(...safeElement(tag, null, []));
    else if (slash === "" && open.length < MAX_DEPTH) open.push({ tag, href: readHref(attributes), children: [] });
    else if (slash !== "" && tag === parent.tag) close(parent);
  }
  for (const element of open.slice(1).reverse()) close(element);
  return root.children;
}

function readHref(attributes: string): string | null {
  const [, href] = /\shref="([^"]*)"/.exec(attributes) ?? [];
  return href === undefined ? null : decode(href);
}

/** References that no host writes stay as they are. */
function decode(text: string): string {
  return decodeReferences(text) ?? text;
}
