// plugin/mentions/verify/mention-in-html.ts: finds a link to the target in a page, and its author and text.
import type { Element, Root } from "hast";
import { parseHtml } from "../../http/parse-html.js";
import type { TimeSlices } from "../../http/time-slices.js";
import { canParseUrl } from "../../url.js";
import type { ProvenMention } from "../mention.js";
import { baseOf } from "../send/endpoint-in-html.js";
import { type Entry, readCard, readEntry } from "./microformats.js";
import { quoteText, webUrlOrNull } from "./quoted-text.js";
import type { SiteMatcher } from "./site-matcher.js";
import type { VerificationContext } from "./verification-context.js";

/** The link attribute of each element. */
const LINKS: Record<string, "href" | "src"> = {
  a: "href",
  area: "href",
  link: "href",
  img: "src",
  video: "src",
  audio: "src",
  source: "src",
  iframe: "src",
};

/** An element and the innermost entry that contains it (or is it); `null` for none. */
interface PlacedElement {
  element: Element;
  entry: Element | null;
}

interface PageWithLink {
  placed: readonly PlacedElement[];
  pageUrl: string;
  base: string;
  site: SiteMatcher;
  slices: TimeSlices;
  leadsToUs(url: string): boolean;
}

export interface ReadHtml {
  /** `null` for a page without a link to the target. */
  mention: ProvenMention | null;
  /** The target of its `rel=canonical`; `null` for none. */
  declared: string | null;
  /** Its plain-text alternate, possibly a twtxt feed; `null` for none. */
  feed: string | null;
  /** Whether the whole page was read. */
  isWhole: boolean;
}

/**
 * Looks for a link to the target. A link inside an entry takes precedence.
 *
 * @param pageUrl - the page's normalized URL
 * @see PROTOCOL 2.4, "The proof"
 */
export async function readHtml(
  html: string,
  pageUrl: string,
  { site, slices }: Pick<VerificationContext, "site" | "slices">,
): Promise<ReadHtml> {
  const { tree, isWhole } = await parseHtml(html, slices);
  const placed = await slices.arrayOf(placedElements(tree));
  const base = baseOf(
    placed.map(({ element }) => element),
    pageUrl,
  );
  const firstLink = async (isMeant: (element: Element) => boolean) =>
    webUrlOrNull(
      (await slices.filter(placed, ({ element }) => isMeant(element))).flatMap(({ element }) =>
        linksOf(element, base),
      )[0],
    );
  const leadsToUs = (url: string) => site.isTarget(url) || site.isTarget(passedOn(url, pageUrl));
  const links = await slices.filter(placed, ({ element }) => linksOf(element, base).some(leadsToUs));
  const link = links.find(({ entry }) => entry !== null) ?? links[0];
  return {
    mention: link ? await mentionBy(link, { placed, pageUrl, base, site, slices, leadsToUs }) : null,
    declared: await firstLink((element) => element.tagName === "link" && hasRel(element, "canonical")),
    feed: await firstLink(isFeedLink),
    isWhole,
  };
}

function isFeedLink(element: Element): boolean {
  return hasRel(element, "alternate") && /^text\/(plain|twtxt)\b/i.test(String(element.properties.type ?? ""));
}

async function mentionBy(
  link: PlacedElement,
  { placed, pageUrl, base, site, slices, leadsToUs }: PageWithLink,
): Promise<ProvenMention> {
  const entry = link.entry && (await readEntry(link.entry, base, leadsToUs));
  const isSigned = entry !== null && (entry.author.name !== null || entry.author.url !== null);
  const author = isSigned ? entry.author : await authorOfPage(placed, base, slices);
  return {
    identity: pageUrl,
    isDeclared: false,
    timestamp: null,
    instant: null,
    type: entry?.type ?? "mention",
    author: {
      name: author.name ?? new URL(author.url ?? pageUrl).host,
      url: author.url ?? pageUrl,
      photo: author.photo,
    },
    text: entry?.text || (await titleOf(placed, slices)),
    published: entry?.published ?? null,
    subject: null,
    about: site.postAbout(null, linksOf(link.element, base)),
  };
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
    const entry = hasClass(node, "h-entry", "hentry") ? node : next.entry;
    yield { element: node, entry };
    add(node.children, entry);
  }
}

function linksOf({ tagName, properties }: Element, base: string): string[] {
  const attribute = LINKS[tagName];
  const link = attribute && properties[attribute];
  return typeof link === "string" && canParseUrl(link, base) ? [new URL(link, base).href] : [];
}

/** The destination of yarnd's `/external?uri=<url>` on the page's own origin; any other URL is returned as is. */
function passedOn(url: string, pageUrl: string): string {
  const { origin, pathname, searchParams } = new URL(url);
  const isYarnd = origin === new URL(pageUrl).origin && pathname === "/external";
  return (isYarnd && searchParams.get("uri")) || url;
}

/** The author from the page's only `h-card` outside entries, else from its `rel=author` link. */
async function authorOfPage(
  placed: readonly PlacedElement[],
  base: string,
  slices: TimeSlices,
): Promise<Entry["author"]> {
  const isCard = ({ element, entry }: PlacedElement) => !entry && hasClass(element, "h-card", "vcard");
  const [card, another] = await slices.filter(placed, isCard);
  if (card && !another) return readCard(card.element, base);
  const isAuthorLink = ({ element }: PlacedElement) => hasRel(element, "author") && linksOf(element, base).length > 0;
  const [link] = await slices.filter(placed, isAuthorLink);
  return { name: null, url: link ? webUrlOrNull(linksOf(link.element, base)[0]) : null, photo: null };
}

function hasClass({ properties: { className } }: Element, ...names: string[]): boolean {
  return [className ?? []].flat().some((name) => names.includes(String(name)));
}

function hasRel({ properties: { rel } }: Element, name: string): boolean {
  return [rel ?? []].flat().some((token) => String(token).toLowerCase() === name);
}

async function titleOf(placed: readonly PlacedElement[], slices: TimeSlices): Promise<string> {
  const [title] = await slices.filter(placed, ({ element }) => element.tagName === "title");
  const texts = title?.element.children.map((child) => (child.type === "text" ? child.value : "")) ?? [];
  return quoteText(texts.join("").replace(/\s+/g, " "));
}
