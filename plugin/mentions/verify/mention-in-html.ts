// plugin/mentions/verify/mention-in-html.ts: finds a link to the target in a page, and its author and text.
import type { Element, Root } from "hast";
import { findBase, hasRel, parseHtml } from "../../http/parse-html.js";
import { LINK_ATTRIBUTES } from "../../site/html.js";
import { shortenedAtWord } from "../../site/plain-lines.js";
import { resolveUrl } from "../../url.js";
import { webUrlOrNull } from "../../web-url.js";
import type { ProvenMention } from "../mention.js";
import { type Entry, readCard, readEntry } from "./microformats.js";
import { findContent, hasClass, readContent } from "./page-content.js";
import { EXCERPT_LIMIT, quoteText, TEXT_LIMIT } from "./source-text.js";
import type { VerificationContext } from "./verification-context.js";

/** An element and the innermost entry that contains it (or is it); `null` for none. */
interface PlacedElement {
  element: Element;
  entry: Element | null;
}

type Context = Pick<VerificationContext, "site" | "slices">;

export interface ReadHtml {
  /** `null` for a page without a link to the target. */
  mention: ProvenMention | null;
  /** The target of its `rel=canonical`; `null` for none. */
  declared: string | null;
  /** The endpoint of its `<link rel=webmention>`; `null` for none. */
  endpoint: string | null;
  /** Its plain-text alternate, possibly a twtxt feed; `null` for none. */
  feed: string | null;
  isWhole: boolean;
}

/**
 * Looks for a link to the target. A link inside an entry takes precedence.
 *
 * @param pageUrl - the page's normalized URL
 * @see PROTOCOL 2.4, "The proof"
 */
export async function readHtml(html: string, pageUrl: string, context: Context): Promise<ReadHtml> {
  const { tree, isWhole } = await parseHtml(html, context.slices);
  const page = new HtmlPage(await context.slices.map(placedElements(tree), (placed) => placed), pageUrl, context);
  return {
    mention: await page.mention(),
    declared: await page.findLink((element) => element.tagName === "link" && hasRel(element, "canonical")),
    endpoint: await page.findLink((element) => element.tagName === "link" && hasRel(element, "webmention")),
    feed: await page.findLink((element) => {
      return hasRel(element, "alternate") && /^text\/(plain|twtxt)\b/i.test(String(element.properties.type ?? ""));
    }),
    isWhole,
  };
}

/** A mention by a page; by default of the page's host, without a text. */
export function mentionByPage(pageUrl: string, found: Partial<ProvenMention>): ProvenMention {
  const author = { name: new URL(pageUrl).host, url: pageUrl, photo: null };
  const noTwt = { timestamp: null, instant: null, hash: null, hashV1: null };
  const unknown = { html: null, published: null, subject: null, about: null };
  return { identity: pageUrl, isDeclared: false, type: "mention", author, text: "", ...noTwt, ...unknown, ...found };
}

class HtmlPage {
  readonly #base: string;

  constructor(
    private readonly elements: readonly PlacedElement[],
    private readonly url: string,
    private readonly context: Context,
  ) {
    const bare = elements.map(({ element }) => element);
    this.#base = findBase(bare, url);
  }

  /** The first link of the elements that match; `null` for none. */
  async findLink(matches: (element: Element) => boolean): Promise<string | null> {
    const found = await this.#filter(({ element }) => matches(element));
    return webUrlOrNull(found.flatMap(({ element }) => readLinks(element, this.#base))[0]);
  }

  /** @returns `null` without a link to the target */
  async mention(): Promise<ProvenMention | null> {
    const links = await this.#filter(({ element }) =>
      readLinks(element, this.#base).some((url) => this.#leadsToSite(url)),
    );
    const link = links.find(({ entry }) => entry !== null) ?? links[0];
    if (!link) return null;
    const body = link.entry && findContent(link.entry);
    const entry = link.entry && (await readEntry(link.entry, this.#base, (url) => this.#leadsToSite(url), body));
    const isSigned = entry !== null && (entry.author.name !== null || entry.author.url !== null);
    const author = isSigned ? entry.author : await this.#author();
    const url = author.url ?? this.url;
    const type = entry?.type ?? "mention";
    const limit = type === "reply" ? TEXT_LIMIT : EXCERPT_LIMIT;
    const content = body && readContent(body, this.#base, limit);
    return mentionByPage(this.url, {
      type,
      author: { name: author.name ?? new URL(url).host, url, photo: author.photo },
      text: content?.text ?? shortenedAtWord(entry?.text || (await this.#title()), limit),
      html: content?.html ?? null,
      published: entry?.published ?? null,
      subject: entry?.replyTo ?? null,
      about: this.context.site.postAbout(null, readLinks(link.element, this.#base)),
    });
  }

  #filter(isWanted: (item: PlacedElement) => boolean): Promise<PlacedElement[]> {
    return this.context.slices.filter(this.elements, isWanted);
  }

  /** Whether a URL is the target, or yarnd's `/external?uri=<target>` on the page's own origin. */
  #leadsToSite(url: string): boolean {
    const { isTarget } = this.context.site;
    if (isTarget(url)) return true;
    if (!url.includes("/external?")) return false;
    const { origin, pathname, searchParams } = new URL(url);
    const isYarnd = origin === new URL(this.url).origin && pathname === "/external";
    return isYarnd && isTarget(searchParams.get("uri") ?? "");
  }

  /** The author from the page's only `h-card` outside entries, else from its `rel=author` link. */
  async #author(): Promise<Entry["author"]> {
    const isCard = ({ element, entry }: PlacedElement) =>
      !entry && hasClass(element, (name) => name === "h-card" || name === "vcard");
    const [card, another] = await this.#filter(isCard);
    if (card && !another) return readCard(card.element, this.#base);
    return { name: null, url: await this.findLink((element) => hasRel(element, "author")), photo: null };
  }

  async #title(): Promise<string> {
    const [title] = await this.#filter(({ element }) => element.tagName === "title");
    const texts = title?.element.children.map((child) => (child.type === "text" ? child.value : "")) ?? [];
    return quoteText(texts.join("").replace(/\s+/g, " "));
  }
}

function* placedElements(tree: Root): Iterable<PlacedElement> {
  const ahead: { node: Root["children"][number]; entry: Element | null }[] = [];
  const add = (nodes: Root["children"], entry: Element | null) => {
    for (const node of nodes.toReversed()) ahead.push({ node, entry });
  };
  add(tree.children, null);
  for (let next = ahead.pop(); next; next = ahead.pop()) {
    const { node } = next;
    if (node.type !== "element") continue;
    const entry = hasClass(node, (name) => name === "h-entry" || name === "hentry") ? node : next.entry;
    yield { element: node, entry };
    add(node.children, entry);
  }
}

function readLinks({ tagName, properties }: Element, base: string): string[] {
  const attribute = tagName === "link" ? "href" : LINK_ATTRIBUTES[tagName];
  const link = attribute && properties[attribute];
  const url = typeof link === "string" ? resolveUrl(link, base) : null;
  return url === null ? [] : [url];
}
