// plugin/mentions/verify/mention-in-html.ts: a link to us in somebody's page, and whose words stand around it.
import type { Element, Root } from "hast";
import { parseHtml } from "../../http/parse-html.js";
import type { TimeSlices } from "../../http/time-slices.js";
import type { ProvenMention } from "../mention.js";
import { baseOf } from "../send/endpoint-in-html.js";
import type { Inspection } from "./ask-source.js";
import { type Entry, readCard, readEntry } from "./microformats.js";
import { textSaid, webUrlSaid } from "./said.js";
import type { SiteInText } from "./site-in-text.js";

/** The attributes that lead somewhere, by element. */
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

/** An element, and the innermost entry that it is, or is in; `null` for none. */
interface Placed {
  element: Element;
  entry: Element | null;
}

/** A page that links to the target. */
interface PageWithLink {
  placed: readonly Placed[];
  pageUrl: string;
  base: string;
  site: SiteInText;
  slices: TimeSlices;
  leadsToUs(url: string): boolean;
}

/** What a page says of a target, and of itself. */
export interface ReadHtml {
  /** `null` for a page without a link to the target. */
  mention: ProvenMention | null;
  /** The target of its `rel=canonical`; `null` for none. */
  declared: string | null;
  /** The plain-text alternate that it names, which may be a twtxt feed; `null` for none. */
  feed: string | null;
  /** Whether all of the page was read. */
  isWhole: boolean;
}

/**
 * Looks for a link to the target. One in an entry counts before one that stands beside.
 *
 * @param pageUrl - the normal spelling of the URL that gave the page
 * @see PROTOCOL 2.4, "The proof"
 */
export async function readHtml(
  html: string,
  pageUrl: string,
  { site, slices }: Pick<Inspection, "site" | "slices">,
): Promise<ReadHtml> {
  const { tree, isWhole } = await parseHtml(html, slices);
  const placed = await slices.arrayOf(placedElements(tree));
  const base = baseOf(
    placed.map(({ element }) => element),
    pageUrl,
  );
  const firstLink = async (isMeant: (element: Element) => boolean) =>
    webUrlSaid(
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
  link: Placed,
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

function* placedElements(tree: Root): Iterable<Placed> {
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
  return typeof link === "string" && URL.canParse(link, base) ? [new URL(link, base).href] : [];
}

/** Where yarnd's `/external?uri=<url>` leads, on the page's own origin; any other URL is itself. */
function passedOn(url: string, pageUrl: string): string {
  const { origin, pathname, searchParams } = new URL(url);
  const isYarnd = origin === new URL(pageUrl).origin && pathname === "/external";
  return (isYarnd && searchParams.get("uri")) || url;
}

/** By the one `h-card` that belongs to no entry, or by a link that says `rel=author`. */
async function authorOfPage(placed: readonly Placed[], base: string, slices: TimeSlices): Promise<Entry["author"]> {
  const isCard = ({ element, entry }: Placed) => !entry && hasClass(element, "h-card", "vcard");
  const [card, another] = await slices.filter(placed, isCard);
  if (card && !another) return readCard(card.element, base);
  const isAuthorLink = ({ element }: Placed) => hasRel(element, "author") && linksOf(element, base).length > 0;
  const [link] = await slices.filter(placed, isAuthorLink);
  return { name: null, url: link ? webUrlSaid(linksOf(link.element, base)[0]) : null, photo: null };
}

function hasClass({ properties: { className } }: Element, ...names: string[]): boolean {
  return [className ?? []].flat().some((name) => names.includes(String(name)));
}

function hasRel({ properties: { rel } }: Element, name: string): boolean {
  return [rel ?? []].flat().some((token) => String(token).toLowerCase() === name);
}

async function titleOf(placed: readonly Placed[], slices: TimeSlices): Promise<string> {
  const [title] = await slices.filter(placed, ({ element }) => element.tagName === "title");
  const texts = title?.element.children.map((child) => (child.type === "text" ? child.value : "")) ?? [];
  return textSaid(texts.join("").replace(/\s+/g, " "));
}
