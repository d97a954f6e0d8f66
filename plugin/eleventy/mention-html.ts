// plugin/eleventy/mention-html.ts: lists of mentions as HTML, with the component that updates them.
import type { MentionsOptions } from "../options/mentions.js";
import { element, type Markup, type MarkupElement, toHtml } from "../site/html.js";
import type { PublicMention } from "../site/mention-list.js";
import { type MentionListContext, mentionItem, mentionList } from "../site/mention-markup.js";

/** An attribute that keeps WebC from looking for the script among the site's sources, where it is not. */
const KEEP = "webc:keep";
const KEPT_SCRIPT = new RegExp(`(<script\\b[^<>]*) ${KEEP}(?:="")?(?=[^<>]*>)`, "g");

/** A list and its component. */
export interface MentionListOptions extends Pick<MentionListContext, "target" | "feed"> {
  /** The URL of the JSON that the component reads: a path of the site. */
  json: string;
  /** The URL of the component's script, as a template writes it. */
  script: string;
  /** The number of this page in a list of several pages. The component updates the first page only. */
  page?: number;
  /** Paths of pictures on this site, by the URL that the author gives. */
  pictures: ReadonlyMap<string, string>;
  words: MentionsOptions["words"];
}

/** @param mentions - newest first; `null` if they are not known */
export function mentionListHtml(mentions: readonly PublicMention[] | null, options: MentionListOptions): string {
  const { target, feed, pictures, words } = options;
  const context: MentionListContext = {
    target,
    feed,
    pictureOf: ({ photo }) => picture(photo === null ? undefined : pictures.get(photo)),
    verbOf: (type) => words[type],
  };
  const items = (mentions ?? []).flatMap((mention) => [mentionItem(mention, context), "\n"]);
  // An empty list has no white space either, so that CSS can find it by `:empty`.
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

/** Hidden unless the build knows that there are no mentions. The component shows or hides it later. */
function emptyNote(mentions: readonly PublicMention[] | null, { words }: MentionListOptions): MarkupElement {
  return element("p", { class: "twtxt-none", ...(mentions?.length === 0 ? {} : { hidden: "" }) }, words.none);
}

/** A page as it is published, without the attribute for WebC: only WebC removes it itself. */
export function removeKeep(page: string): string {
  return page.includes(KEEP) ? page.replace(KEPT_SCRIPT, "$1") : page;
}
