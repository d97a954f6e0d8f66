// plugin/site/mention-markup.ts: the markup of mentions, for the pages of the build and for the component in the browser.
import type { Words } from "../options/words.js";
import { isFeedUrl } from "../url.js";
import { mentionEntry } from "./conversation.js";
import type { ListForm } from "./folded-list.js";
import { element, type Markup, type MarkupElement } from "./html.js";
import type { Author, MentionType, PublicMention } from "./mention-list.js";
import { describeMention, pageLabel, viaHost } from "./mention-sentence.js";
import { readHtml } from "./read-html.js";
import { boundedMarks, STRANGERS_REL } from "./safe-markup.js";
import { plainTextMarkup, textMarkup } from "./text-markup.js";
import { GUEST } from "./visible-name.js";

/** A mention, the author's own reply, or a twt of the timeline, as a page shows it. */
export interface ShownMention extends Omit<PublicMention, "received" | "type"> {
  /** `twt` for a twt of the timeline that is not a reply. */
  type: MentionType | "twt";
  /** `null` for an own reply. */
  received: string | null;
  /** Set for a reader's own comment that is not shown to others; a text instead of that it waits. */
  isHeld?: true | string;
}

export type Dates = Pick<Intl.DateTimeFormat, "format">;

/** Properties of a list that its items depend on. */
export interface MentionContext {
  /** The page that all mentions of the list are about; `null` if each item links to the page that it is about. */
  target: string | null;
  /** The site's own feed. A mention of it says "mentioned you". */
  feed: { url: string; nick: string };
  /** The title of a page of this site; `null` if unknown. */
  findTitle(url: string): string | null;
  /** The endpoint whose page has the form to answer a reply; absent where readers cannot comment. */
  replyForm?: string;
  words: Words;
  /** The level of headings, from 2. */
  headingLevel: number;
  /** The picture before an author's name, with the space between them. Only the build can fetch pictures. */
  toPicture(author: Author): readonly Markup[];
  dates: Dates;
  /**
   * Markup that depends only on its key and the site. The build creates it once for all pages.
   *
   * @param key - an author as JSON, the HTML of a text, or a class and a URL
   */
  once(key: string, create: () => readonly Markup[]): readonly Markup[];
}

/** The sections under a post, in order. The name of a section is the word of its heading. */
export const PARTS = [
  { name: "likes", type: "like", form: "names" },
  { name: "reposts", type: "repost", form: "names" },
  { name: "bookmarks", type: "bookmark", form: "names" },
  { name: "replies", type: "reply", form: "conversation" },
  { name: "mentions", type: "mention", form: "mentions" },
] as const satisfies readonly { name: keyof Words; type: MentionType; form: ListForm }[];

export type PartName = (typeof PARTS)[number]["name"];

const PROPERTIES: Partial<Record<ShownMention["type"], string>> = {
  reply: "u-comment",
  like: "u-like",
  repost: "u-repost",
  bookmark: "u-bookmark",
};

export function mentionList(items: Iterable<Markup>): MarkupElement {
  return { tag: "ol", attributes: { class: "twtxt-mentions" }, children: items };
}

/** The list of a section under a post, or of names in a row. */
export function partList(name: PartName, items: Iterable<Markup>): MarkupElement {
  if (name === "replies" || name === "mentions") return mentionList(items);
  return { tag: "ul", attributes: { class: "twtxt-names" }, children: items };
}

/** A section under a post, with its heading. @param lists - its list, and the control that unfolds the rest */
export function partMarkup(
  name: PartName,
  lists: readonly Markup[],
  count: number,
  context: MentionContext,
): MarkupElement {
  const heading = [context.words[name], " ", element("span", { class: "twtxt-count" }, String(count))];
  return sectionMarkup(name, context.headingLevel, heading, lists.length > 0 ? [...lists, "\n"] : []);
}

export function sectionMarkup(
  name: string,
  headingLevel: number,
  heading: readonly Markup[],
  content: readonly Markup[],
): MarkupElement {
  const title = element(`h${headingLevel}`, { class: "twtxt-heading" }, ...heading);
  return element("section", { class: `twtxt-part twtxt-${name}` }, "\n", title, "\n", ...content);
}

export function replyList(items: Iterable<Markup>): MarkupElement {
  return { tag: "ol", attributes: { class: "twtxt-thread" }, children: items };
}

/** @param replies - the list of replies to it; empty for none */
export function mentionItem(
  mention: ShownMention,
  context: MentionContext,
  replies: readonly Markup[] = [],
): MarkupElement {
  const attributes = toAttributes(mention, context);
  const isName = isReaction(mention) && context.target !== null && !mention.isRemoved;
  if (isName) return element("li", attributes, ...signature(mention, context));
  const content = mention.isRemoved
    ? [element("p", { class: "twtxt-gone" }, context.words.removed), "\n"]
    : [byline(mention, context), "\n", ...contentMarkup(mention, context), ...replyLink(mention, context)];
  return element("li", attributes, "\n", ...content, ...replies);
}

function toAttributes(mention: ShownMention, { target }: MentionContext): Record<string, string> {
  const { type, received, isRemoved } = mention;
  const property = target === null ? undefined : PROPERTIES[type];
  return {
    class: [
      ...(isRemoved ? ["twtxt-removed"] : ["h-cite", property]),
      `twtxt-is-${type}`,
      received === null ? "twtxt-own" : undefined,
    ]
      .filter(Boolean)
      .join(" "),
    "data-source": mention.source,
    "data-target": mention.target,
    ...(received !== null && { "data-received": received }),
    ...(type === "reply" && target !== null && toPlace(mention)),
  };
}

/** The attributes from which the component knows the place of a reply in the tree. */
function toPlace(mention: ShownMention): Record<string, string> {
  const { names, parents } = mentionEntry(mention);
  return { "data-names": names.join(" "), "data-parents": parents.join(" ") };
}

/** Likes, reposts and bookmarks have no text of their own. */
function isReaction({ type }: ShownMention): boolean {
  return type === "like" || type === "repost" || type === "bookmark";
}

function byline(mention: ShownMention, context: MentionContext): MarkupElement {
  const { source, url = source, type, published, received, author, isHeld } = mention;
  const { words, dates } = context;
  const datetime = published ?? received ?? "";
  const date = element("time", { class: "dt-published", datetime }, dateText(datetime, dates));
  const linkedDate = isFeedUrl(url) ? strangersLink("u-url", url, date) : date;
  const verb =
    type === "twt" ? [] : [element("span", { class: "twtxt-verb" }, ...formatVerb(mention, type, context)), " "];
  const marks = [
    ...(received === null ? [element("span", { class: "twtxt-author" }, words.author)] : []),
    ...(author.guest && author.name !== GUEST ? [element("span", { class: "twtxt-guest" }, words.guest)] : []),
    ...(isHeld ? [element("span", { class: "twtxt-waits" }, isHeld === true ? words.waits : isHeld)] : []),
  ].flatMap((mark) => [" ", mark]);
  return element("p", { class: "twtxt-by" }, ...signature(mention, context), ...marks, " ", ...verb, linkedDate);
}

/** The author's name, and the host of the source if the author is of another one: "Bob, via brid.gy". */
function signature(mention: ShownMention, context: MentionContext): readonly Markup[] {
  const { author } = mention;
  const name = context.once(JSON.stringify(author), () => [nameMarkup(author, context)]);
  const via = mention.received === null ? null : viaHost(mention);
  if (via === null) return name;
  return [...name, element("span", { class: "twtxt-via" }, `, ${context.words.via} `, element("bdi", {}, via))];
}

function visibleName({ name, guest }: Author, words: Words): string {
  return guest && name === GUEST ? words.guest : name;
}

function nameMarkup(author: Author, { toPicture, words }: MentionContext): MarkupElement {
  const { url, page = author.guest ? "" : url } = author;
  const name = boundedMarks(visibleName(author, words));
  const shown = [...toPicture(author), element("span", { class: "twtxt-name", dir: "auto" }, name)];
  return isFeedUrl(page)
    ? strangersLink("p-author h-card", page, ...shown)
    : element("span", { class: "p-author h-card" }, ...shown);
}

function strangersLink(className: string, href: string, ...children: readonly Markup[]): MarkupElement {
  return element("a", { class: className, href, rel: STRANGERS_REL }, ...children);
}

/** Leads to the form to answer a reply. The script under the post opens its own form instead. */
function replyLink({ type, hash, source, author, isHeld }: ShownMention, context: MentionContext): readonly Markup[] {
  const { target, replyForm, words } = context;
  if (!target || !replyForm || type !== "reply" || isHeld) return [];
  const href = `${replyForm}?${new URLSearchParams({ target, "reply-to": hash ?? source })}`;
  const attributes = { href, rel: "nofollow", "aria-label": `${words.answer}: ${visibleName(author, words)}` };
  return [element("p", { class: "twtxt-actions" }, element("a", attributes, words.answer)), "\n"];
}

/** Dates of a language in a time zone; English ones for an invalid language. */
export function dateFormat(lang: string, timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeZone });
  } catch {
    return new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "UTC" });
  }
}

function dateText(instant: string, dates: Dates): string {
  const date = new Date(instant);
  return Number.isNaN(date.getTime()) ? instant.slice(0, 10) : dates.format(date);
}

/** Such as "replied", or in a list about several pages "replied to" and the page. */
function formatVerb(mention: ShownMention, type: MentionType, context: MentionContext): readonly Markup[] {
  const { words, feed, once } = context;
  if (context.target !== null) return [words[type]];
  const href = mention.under ?? mention.target;
  return once(`${type} ${href}`, () => {
    const title = context.findTitle(href) ?? mention.title ?? null;
    const { before, page, after } = describeMention({ ...mention, type, title }, feed.url, words);
    const className = type === "reply" ? "twtxt-about u-in-reply-to" : "twtxt-about";
    const link = page
      ? element("a", { class: className, href }, element("cite", { dir: "auto" }, pageLabel(page)))
      : "";
    return [before, link, after].filter((part) => part !== "");
  });
}

function contentMarkup(mention: ShownMention, context: MentionContext): readonly Markup[] {
  const { html, text } = mention;
  const { more } = context.words;
  if (isReaction(mention)) return [];
  if (html === null) return textMarkup(plainTextMarkup(text), more);
  return context.once(html, () => textMarkup(readHtml(html), more));
}
