// plugin/site/mention-markup.ts: the markup of mentions, for the pages of the build and for the component in the browser.

import { canParseUrl } from "../url.js";
import { element, type Markup, type MarkupElement } from "./html.js";
import type { Author, MentionType, PublicMention } from "./mention-list.js";

export { VERBS } from "../options/verbs.js";
export type { MarkupElement, MentionType, PublicMention };

/** Properties of a list that its items depend on. */
export interface MentionListContext {
  /** The page that all mentions of the list are about; `null` if each item links to the page that it is about. */
  target: string | null;
  /** The site's own feed. A link to it is shown as `@` and the nick. */
  feed: { url: string; nick: string };
  /** The picture before an author's name, with the space between them. Only the build can fetch pictures. */
  pictureOf(author: Author): readonly Markup[];
  /** The words between the name and the date. */
  verbOf(type: MentionType): string;
}

/** For links from other people. */
const UNTRUSTED_LINK = { rel: "nofollow ugc noopener" };

export function mentionList(items: readonly Markup[]): MarkupElement {
  return element("ol", { class: "twtxt-mentions" }, ...items);
}

export function mentionItem(mention: PublicMention, context: MentionListContext): MarkupElement {
  const { source, target, type, text } = mention;
  return element(
    "li",
    { class: `h-cite twtxt-is-${type}`, "data-source": source, "data-target": target },
    ...["\n", byline(mention, context), "\n"],
    ...content(text),
  );
}

function byline(mention: PublicMention, context: MentionListContext): MarkupElement {
  const { source, type, author, published, received } = mention;
  const verb = element("span", { class: "twtxt-verb" }, context.verbOf(type));
  const datetime = published ?? received;
  const date = element("time", { class: "dt-published", datetime }, datetime.slice(0, 10));
  const linkedDate = isWeb(source) ? element("a", { class: "u-url", href: source, ...UNTRUSTED_LINK }, date) : date;
  const about = context.target === null ? pageLink(mention, context) : [];
  const names = [...context.pictureOf(author), nameOf(author)];
  return element("p", { class: "twtxt-by" }, ...names, " ", verb, " ", linkedDate, ...about);
}

function nameOf({ name, url }: Author): MarkupElement {
  const link = isWeb(url) ? { href: url, ...UNTRUSTED_LINK } : null;
  return element(link ? "a" : "span", { class: "p-author h-card", ...link, dir: "auto" }, name);
}

/** A link to the page or feed of this site that the mention is about. `u-in-reply-to` needs a page: a twt has no URL. */
function pageLink({ under, target, type }: PublicMention, { feed }: MentionListContext): Markup[] {
  const href = under ?? target;
  if (!isWeb(href)) return [];
  const isFeed = href === feed.url;
  const className = type === "reply" && !isFeed ? "twtxt-about u-in-reply-to" : "twtxt-about";
  return [" ", element("a", { class: className, href }, isFeed ? `@${feed.nick}` : new URL(href).pathname)];
}

function content(text: string): Markup[] {
  const shown = readableText(text);
  if (shown === "") return [];
  const lines = shown.split("\n").flatMap((line, index) => (index > 0 ? [element("br", {}), line] : [line]));
  return [element("p", { class: "p-content", dir: "auto" }, ...lines), "\n"];
}

/** The text of a twt without the hash that it replies to, and with `@bob` for `@<bob https://bob.example/twtxt.txt>`. */
function readableText(text: string): string {
  return text
    .replace(/@<(?:([^\s<>]+) +)?https?:\/\/([^\s<>/]+)[^\s<>]*>/gi, (_, nick, host) => `@${nick ?? host}`)
    .replace(/^((?:@\S+ +)*)\(#[^()]*\) */, "$1");
}

function isWeb(url: string): boolean {
  return /^https?:\/\//i.test(url) && canParseUrl(url);
}
