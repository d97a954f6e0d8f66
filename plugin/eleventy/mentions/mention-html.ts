// plugin/eleventy/mentions/mention-html.ts: mentions and the timeline as HTML, with the component that updates them.
import { remember } from "../../groups.js";
import { COMMENT_MARKS, ENGLISH, LIST_WORDS, TIMELINE_WORDS, type Words } from "../../options/words.js";
import { type Entry, mentionEntry, newestThreads, type Thread } from "../../site/conversation.js";
import { divideList, foldMarkup, type ListForm } from "../../site/folded-list.js";
import { element, type Markup, type MarkupElement, toHtml, writtenHtml } from "../../site/html.js";
import type { PublicMention } from "../../site/mention-list.js";
import {
  type Dates,
  type MentionContext,
  mentionItem,
  mentionList,
  PARTS,
  partList,
  partMarkup,
  replyList,
  type ShownMention,
} from "../../site/mention-markup.js";
import type { Timeline } from "../../site/timeline.js";
import { shownMention, unreadList } from "../../site/timeline-markup.js";
import { lines } from "../../site/write-form.js";
import type { CommentSection } from "./comment-section.js";
import type { Conversation } from "./conversations.js";

/** An attribute that stops WebC from bundling the files, which are not among the site's sources. */
export const KEEP = "webc:keep";
/** The same for pictures and Eleventy's image transform, and for styles and its bundles. */
const IGNORE = "eleventy:ignore";
const KEPT = new RegExp(
  `(<(?:script|link)\\b[^<>]*) ${KEEP}(?:="")?(?=[^<>]*>)|(<img class="u-photo"[^<>]*|<style) ${IGNORE}(?:="")?(?=[^<>]*>)`,
  "g",
);

/** Whether a post takes comments. */
export type PostState = "open" | "closed";

/** How mentions are shown, and the component that updates them. */
export interface MentionListOptions
  extends Pick<MentionContext, "target" | "feed" | "findTitle" | "words" | "headingLevel" | "once" | "dates"> {
  /** The path of the JSON that the component reads; `null` for a page without the component. */
  json: string | null;
  script: string;
  /** The path of the stylesheet, for templates; `null` for none. */
  style: string | null;
  /** The endpoint that the form under a post posts to; `null` for no form. */
  endpoint: string | null;
  /** The place for comments; absent for a site without. */
  comments?: CommentSection | null;
  /** Whether the page is a post that takes comments; absent for other pages. */
  post?: PostState;
  /** The number of this page in a list of several pages. The component updates the first page only. */
  page?: number;
  /** When the feeds of a timeline were read; absent for mentions. */
  updated?: string;
  /** The number of conversations on each page of a timeline of several pages. */
  perPage?: number;
  /** Paths of pictures on this site, by their original URL. */
  pictures: ReadonlyMap<string, string>;
  /** The language of the words. */
  lang: string;
  /** Set if that is not the language of the page. */
  isForeign?: true;
  timeZone: string;
}

/** All mentions. @param mentions - newest first; `null` if they are not known */
export function mentionListHtml(mentions: readonly PublicMention[] | null, options: MentionListOptions): string {
  const context = toContext(options);
  const list = mentionList(lines(createItems(mentions ?? [], context)));
  // Hidden unless the build knows that there are no mentions. The component shows or hides it later.
  const none = element(
    "p",
    { class: "twtxt-none", ...(mentions?.length === 0 ? {} : { hidden: "" }) },
    options.words.none,
  );
  return componentHtml([list, "\n", none, "\n"], options);
}

/** The conversation about a page. @param conversation - `null` if the mentions are not known */
export function conversationHtml(conversation: Conversation | null, options: MentionListOptions): string {
  const context = toContext(options);
  const parts = PARTS.flatMap(({ name, form }) => {
    const mentions: readonly Listed[] = conversation?.[name] ?? [];
    if (mentions.length === 0) return [];
    const lists = createLists(mentions, (items) => partList(name, lines(items)), form, context);
    return [partMarkup(name, lists, countMentions(mentions), context), "\n"];
  });
  return componentHtml(parts, options);
}

export function contextHtml(answered: ShownMention, options: MentionListOptions): string {
  const context = { ...toContext(options), target: null };
  const item = mentionItem({ ...answered, type: "twt" }, context);
  const attributes = { ...item.attributes, class: `u-in-reply-to ${item.attributes.class}` };
  const heading = element(`h${options.headingLevel}`, { class: "twtxt-heading" }, options.words.inReplyTo);
  const list = element("div", { class: "twtxt-mentions" }, "\n", { ...item, tag: "div", attributes }, "\n");
  return `${toHtml(element("section", { class: "twtxt-context" }, "\n", heading, "\n", list, "\n"))}\n`;
}

/** A page of conversations, the one with the newest twt first. The first page has the feeds that could not be read. */
export function timelineHtml(timeline: Timeline, options: MentionListOptions): string {
  const context = toContext(options);
  const mentionByKey = new Map(timeline.twts.map(shownMention).map((mention) => [mentionEntry(mention).key, mention]));
  const toConversation = ({ entry, replies }: Thread<Entry>): ShownMention & Replies => ({
    ...(mentionByKey.get(entry.key) as ShownMention),
    replies: replies.map(toConversation),
  });
  const { page = 1, perPage = Number.POSITIVE_INFINITY } = options;
  const threads = newestThreads([...mentionByKey.values()].map(mentionEntry))
    .slice(page === 1 ? 0 : (page - 1) * perPage, page * perPage)
    .map(toConversation);
  const none = element("p", { class: "twtxt-none", ...(threads.length > 0 && { hidden: "" }) }, options.words.noTwts);
  const unread = timeline.unread.length > 0 && page === 1 ? [unreadList(timeline, context, options.lang), "\n"] : [];
  const content = [mentionList(lines(createItems(threads, context))), "\n", none, "\n", ...unread];
  return componentHtml(content, { ...options, updated: timeline.updated });
}

interface Replies {
  replies: readonly (ShownMention & Replies)[];
}

type Listed = ShownMention | (ShownMention & Replies);

function* createItems(mentions: readonly Listed[], context: MentionContext): Iterable<MarkupElement> {
  for (const each of mentions) {
    const replies = "replies" in each ? each.replies : [];
    yield mentionItem(
      each,
      context,
      replies.length > 0 ? createLists(replies, replyList, "conversation", context) : [],
    );
  }
}

/** The list of these mentions, and the control that unfolds the rest. */
function createLists(
  mentions: readonly Listed[],
  list: (items: Iterable<MarkupElement>) => MarkupElement,
  form: ListForm,
  context: MentionContext,
): readonly Markup[] {
  const { shown, folded } = divideList(mentions, form, (each) => countMentions([each]));
  const newest = list(createItems(shown, context));
  if (folded.length === 0) return [newest];
  const fold = foldMarkup(countMentions(folded), context.words, list(createItems(folded, context)));
  return form === "conversation" ? [fold, "\n", newest] : [newest, "\n", fold];
}

function countMentions(mentions: readonly Listed[]): number {
  const countWithReplies = (each: Listed) =>
    Number(each.isRemoved !== true) + ("replies" in each ? countMentions(each.replies) : 0);
  return mentions.reduce((count, each) => count + countWithReplies(each), 0);
}

function toContext({ pictures, ...options }: MentionListOptions): MentionContext {
  return {
    ...options,
    ...readReplyForm(options),
    toPicture: ({ photo }) => picture(photo === null ? undefined : pictures.get(photo)),
  };
}

export function writeOnce(): MentionContext["once"] {
  const written = new Map<string, readonly Markup[]>();
  return (key, create) => remember(written, key, () => [writtenHtml(...create())]);
}

/** Formats each instant once: formatting takes longer than looking up. */
export function formatOnce(dates: Intl.DateTimeFormat): Dates {
  const texts = new Map<number, string>();
  return { format: (date) => remember(texts, Number(date), () => dates.format(date)) };
}

function componentHtml(content: readonly Markup[], options: MentionListOptions): string {
  const { json, script, style, target, comments, post } = options;
  const component = element("twtxt-mentions", toAttributes(options), "\n", ...content);
  const link = style === null ? [] : [element("link", { rel: "stylesheet", href: style, [KEEP]: "" }), "\n"];
  const form = target === null ? [] : createForms(target, options);
  const scripts = [...(json === null ? [] : [script]), ...(target && comments && post ? [comments.script] : [])];
  const modules = scripts.map((src) => element("script", { type: "module", src, [KEEP]: "" }));
  const below = [...form, ...modules].flatMap((each) => ["\n", each]);
  return writtenHtml(...link, component, ...below).html;
}

/** The endpoint whose page has the form to answer a reply. */
function readReplyForm({ comments, post }: Pick<MentionListOptions, "comments" | "post">): { replyForm?: string } {
  return comments && post === "open" ? { replyForm: comments.action } : {};
}

/** The forms under a page. */
function createForms(
  target: string,
  { endpoint, comments, post, words, lang, isForeign }: MentionListOptions,
): MarkupElement[] {
  const question = comments && post ? comments.ownPage : words.form;
  const ownSite =
    endpoint === null ? null : createForm(endpoint, target, { question, send: words.send }, isForeign ? { lang } : {});
  if (comments && post) return [comments.write({ target, isClosed: post === "closed", ownSite })];
  return ownSite ? [ownSite] : [];
}

/** A form for readers who have written about a page. */
function createForm(
  action: string,
  target: string,
  { question, send }: { question: string; send: string },
  lang: { lang?: string },
): MarkupElement {
  return element(
    "form",
    { class: "twtxt-form", method: "post", action, ...lang },
    element(
      "label",
      {},
      question,
      " ",
      element("input", { name: "source", type: "url", required: "", placeholder: "https://" }),
    ),
    element("input", { name: "target", type: "hidden", value: target }),
    " ",
    element("button", {}, send),
  );
}

function toAttributes(options: MentionListOptions): Record<string, string> {
  const { json, target, feed, page = 1, updated, perPage, words, lang, isForeign, timeZone, headingLevel } = options;
  const { title, timeline, newer, older, none, noTwts, form, send, deleted, inReplyTo, replyWith, alsoOn, ...shown } =
    words;
  const isTimeline = updated !== undefined;
  const { replyForm } = readReplyForm(options);
  const others = [
    ...(options.comments ? [] : COMMENT_MARKS),
    ...(isTimeline ? [] : TIMELINE_WORDS),
    ...(isTimeline || target !== null ? LIST_WORDS : []),
  ];
  // The component knows the English words.
  const own = (Object.entries(shown) as [keyof Words, string][]).filter(
    ([name, word]) => word !== ENGLISH[name] && !others.some((other) => other === name),
  );
  return {
    ...(json !== null && { src: json }),
    ...(updated !== undefined && { "data-updated": updated }),
    ...(perPage !== undefined && { "data-per-page": String(perPage) }),
    ...(target === null ? { "data-feed": feed.url, "data-nick": feed.nick } : { target }),
    ...(replyForm !== undefined && { "data-reply-form": replyForm }),
    ...(page > 1 ? { "data-page": String(page) } : {}),
    ...(lang === "en" && !isForeign ? {} : { lang }),
    ...(timeZone === "UTC" ? {} : { "data-time-zone": timeZone }),
    ...(headingLevel === 2 ? {} : { "data-heading-level": String(headingLevel) }),
    ...Object.fromEntries(own.map(([name, word]) => [`data-text-${name}`, word])),
  };
}

function picture(src: string | undefined): Markup[] {
  if (src === undefined) return [];
  return [element("img", { class: "u-photo", src, alt: "", width: "40", height: "40", [IGNORE]: "" }), " "];
}

/**
 * Joins the parts of a page, without the attributes for WebC and the image transform, because sites without these leave them.
 * Splits the parts, so that the page is copied once.
 */
export function joinWithoutKeep(parts: readonly string[]): string {
  return parts.flatMap((part) => (part.includes(KEEP) || part.includes(IGNORE) ? part.split(KEPT) : part)).join("");
}
