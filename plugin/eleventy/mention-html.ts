// plugin/eleventy/mention-html.ts: lists of mentions as HTML, with the component that updates them.
import type { MentionsOptions } from "../options/mentions.js";
import { element, type Markup, type MarkupElement, toHtml } from "../site/html.js";
import type { PublicMention } from "../site/mention-list.js";
import { type MentionListContext, mentionItem, mentionList } from "../site/mention-markup.js";

/** An attribute that stops WebC from bundling the script, which is not among the site's sources. */
const KEEP = "webc:keep";
const KEPT_SCRIPT = new RegExp(`(<script\\b[^<>]*) ${KEEP}(?:="")?(?=[^<>]*>)`, "g");

/** The options of a list. */
export interface MentionListOptions extends Pick<MentionListContext, "target" | "feed"> {
  /** The path of the JSON that the component reads. */
  json: string;
  /** The path of the component's script, for templates. */
  script: string;
  /** The number of this page in a list of several pages. The component updates the first page only. */
  page?: number;
  /** Paths of pictures on this site, by their original URL. */
  pictures: ReadonlyMap<string, string>;
  words: MentionsOptions["words"];
}

/**
 * A list with the component that updates it.
 *
 * @param mentions - newest first; `null` if unknown
 */
export function mentionListHtml(mentions: readonly PublicMention[] | null, options: MentionListOptions): string {
  const { target, feed, pictures, words } = options;
  const context: MentionListContext = {
    target,
    feed,
    pictureOf: ({ photo }) => picture(photo === null ? undefined : pictures.get(photo)),
    verbOf: (type) => words[type],
  };
  const items = (mentions ?? []).flatMap((mention) => [mentionItem(mention, context), "\n"]);
  // Without white space if it is empty, so that the CSS selector `:empty` matches.
  const list = mentionList(items.length > 0 ? ["\n", ...items] : []);
  const empty = target === null ? [emptyNote(mentions, options), "\n"] : [];
  const component = element("twtxt-mentions", attributesOf(options), "\n", list, "\n", ...empty);
  const script = element("script", { type: "module", src: options.script, [KEEP]: "" });
  return `${toHtml(component)}\n${toHtml(script)}`;
}

function attributesOf({ json, target, feed, page = 1, words }: MentionListOptions): Record<string, string> {
  const { title, newer, older, none, ...verbs } = words;
  return {
    src: json,
    ...(target === null ? { "data-feed": feed.url, "data-nick": feed.nick } : { target }),
    ...(page > 1 ? { "data-page": String(page) } : {}),
    ...Object.fromEntries(Object.entries(verbs).map(([type, verb]) => [`data-text-${type}`, verb])),
  };
}

function picture(src: string | undefined): Markup[] {
  return src === undefined ? [] : [element("img", { class: "u-photo", src, alt: "", width: "40", height: "40" }), " "];
}

/** The text of an empty list, hidden if there are mentions or they are unknown. The component shows or hides it later. */
function emptyNote(mentions: readonly PublicMention[] | null, { words }: MentionListOptions): MarkupElement {
  return element("p", { class: "twtxt-none", ...(mentions?.length === 0 ? {} : { hidden: "" }) }, words.none);
}

/** Removes the attribute for WebC from a page, because other template languages leave it. */
export function removeKeep(page: string): string {
  return page.includes(KEEP) ? page.replace(KEPT_SCRIPT, "$1") : page;
}
