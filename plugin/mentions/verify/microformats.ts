// plugin/mentions/verify/microformats.ts: reads h-entry and h-card. The parser is loaded on first use.
import type { Element } from "hast";
import { toInstant } from "../../feed/timestamp.js";
import type { Author, MentionType } from "../../site/mention-list.js";
import { canParseUrl } from "../../url.js";
import { microformatsOutline } from "./microformats-outline.js";
import { quoteName, quoteText, webUrlOrNull } from "./quoted-text.js";

/** A parsed `h-entry`; missing values are `null`. */
export interface Entry {
  type: MentionType;
  author: { [Key in keyof Author]: Author[Key] | null };
  text: string;
  /** `YYYY-MM-DDThh:mm:ssZ` */
  published: string | null;
}

type Items = ReturnType<typeof import("microformats-parser").mf2>["items"];
type Item = Items[number];
type Property = Item["properties"][string][number];

/** The properties that determine the type, by precedence. */
const TYPES = [
  ["in-reply-to", "reply"],
  ["repost-of", "repost"],
  ["like-of", "like"],
  ["bookmark-of", "bookmark"],
] as const;

/**
 * Reads an `h-entry`.
 *
 * @param base - base URL of its links
 * @param isTarget - whether a URL is the target of the claimed mention
 */
export async function readEntry(element: Element, base: string, isTarget: (url: string) => boolean): Promise<Entry> {
  const entry = await readItem(element, base);
  const text = (name: string) => textOf(entry?.properties[name]?.[0]);
  const isAbout = (name: string) => entry?.properties[name]?.some((property) => urlsOf(property, base).some(isTarget));
  return {
    type: TYPES.find(([property]) => isAbout(property))?.[1] ?? "mention",
    author: authorOf(entry?.properties.author?.[0], base),
    text: quoteText(tidy(text("content") || text("summary") || text("name"))),
    published: instantOf(text("published")),
  };
}

/** Reads an `h-card`. */
export async function readCard(element: Element, base: string): Promise<Entry["author"]> {
  return authorOf((await readItem(element, base)) ?? undefined, base);
}

/** @returns `null` if the parser fails */
async function readItem(element: Element, base: string): Promise<Item | null> {
  const { mf2 } = await import("microformats-parser");
  try {
    return mf2(microformatsOutline(element), { baseUrl: base }).items[0] ?? null;
  } catch {
    return null;
  }
}

function authorOf(author: Property | undefined, base: string): Entry["author"] {
  if (typeof author === "object" && "properties" in author) {
    const { name, url, photo } = author.properties;
    return {
      name: quoteName(textOf(name?.[0])) || null,
      url: webUrlOrNull(textOf(url?.[0]), base),
      photo: webUrlOrNull(textOf(photo?.[0]), base),
    };
  }
  const text = textOf(author);
  const url = webUrlOrNull(text);
  return { name: url === null ? quoteName(text) || null : null, url, photo: null };
}

/** The text or URL of a property; empty for none. */
function textOf(property: Property | undefined): string {
  return typeof property === "object" ? textOf(property.value) : (property ?? "");
}

/** The parser does not resolve a relative URL that contains `://`. */
function urlsOf(property: Property, base: string): string[] {
  const urls = typeof property === "object" && "properties" in property ? (property.properties.url ?? []) : [];
  const texts = [property, ...urls].map(textOf);
  return texts.filter((text) => canParseUrl(text, base)).map((text) => new URL(text, base).href);
}

/** One line for each block of the page. */
function tidy(text: string): string {
  const lines = text.split("\n").map((line) => line.replace(/\s+/g, " ").trim());
  return lines.filter((line) => line !== "").join("\n");
}

/** The date may have no time, or a space before it. */
function instantOf(text: string): string | null {
  const date = text.trim().replace(/^(\S+) +(?=\d)/, "$1T");
  return toInstant(/^\d{4}-\d\d-\d\d$/.test(date) ? `${date}T00:00:00Z` : date);
}
