// plugin/eleventy/mention-html.ts: mentions as HTML, the same as the web component makes it.

import { escapeHtml } from "../site/html.js";
import type { MentionType, PublicMention } from "../site/mention-list.js";
import type { MentionsOptions } from "./served-options.js";

/** Links that strangers have given. */
const REL = 'rel="nofollow ugc noopener"';

/** Tells WebC to leave a script in its place: it would look for the file among the site's sources, and find none. */
const KEEP = " webc:keep";
const KEPT_SCRIPT = new RegExp(`(<script\\b[^<>]*)${KEEP}(?:="")?(?=[^<>]*>)`, "g");

/** A list, and the component that tops it up. */
export interface MentionListOptions {
  /** Where the component reads: a path of the site. */
  json: string;
  /** Where the component's script is, as a template writes it. */
  script: string;
  /** The page that the mentions are about; `null` for all. */
  target: string | null;
  /** The site's own feed: who mentions it means its author, `@` and the nick. */
  feed: { url: string; nick: string };
  /** Which page of a list this is: only the first one is topped up. */
  page?: number;
  /** Pictures of authors that the site serves itself: paths by the URL that the author has given. */
  pictures: ReadonlyMap<string, string>;
  words: MentionsOptions["words"];
}

/** @param mentions - newest first; `null` where they are not known */
export function mentionListHtml(mentions: readonly PublicMention[] | null, options: MentionListOptions): string {
  const items = (mentions ?? []).map((mention) => itemHtml(mention, options));
  // Nothing at all in an empty one, so that CSS can tell by `:empty`.
  const list = `<ol class="twtxt-mentions">${items.length > 0 ? "\n" : ""}${items.join("")}</ol>`;
  const { json, script, target, feed, page = 1, words } = options;
  const { title, newer, older, none, ...verbs } = words;
  const attributes = [
    `src="${escapeHtml(json)}"`,
    ...(target === null
      ? [`data-feed="${escapeHtml(feed.url)}"`, `data-nick="${escapeHtml(feed.nick)}"`]
      : [`target="${escapeHtml(target)}"`]),
    ...(page > 1 ? [`data-page="${page}"`] : []),
    ...Object.entries(verbs).map(([type, verb]) => `data-text-${type}="${escapeHtml(verb)}"`),
  ];
  // Where nothing is known, that there are none is for the component to say, once it has looked.
  const hidden = mentions?.length === 0 ? "" : " hidden";
  const empty = target === null ? `<p class="twtxt-none"${hidden}>${escapeHtml(none)}</p>\n` : "";
  return `<twtxt-mentions ${attributes.join(" ")}>\n${list}\n${empty}</twtxt-mentions>\n<script type="module" src="${escapeHtml(script)}"${KEEP}></script>`;
}

/** A page as it is published: WebC removes its own attributes, the other languages do not. */
export function removeKeep(page: string): string {
  return page.includes(KEEP) ? page.replace(KEPT_SCRIPT, "$1") : page;
}

function itemHtml(mention: PublicMention, { pictures, target: listed, feed, words }: MentionListOptions): string {
  const { source, target, under, type, author, text, published, received } = mention;
  const date = published ?? received;
  const file = author.photo === null ? undefined : pictures.get(author.photo);
  const picture =
    file === undefined ? "" : `<img class="u-photo" src="${escapeHtml(file)}" alt="" width="40" height="40"> `;
  const name = escapeHtml(author.name);
  const by = isWeb(author.url)
    ? `<a class="p-author h-card" href="${escapeHtml(author.url)}" ${REL} dir="auto">${name}</a>`
    : `<span class="p-author h-card" dir="auto">${name}</span>`;
  const time = `<time class="dt-published" datetime="${escapeHtml(date)}">${escapeHtml(date.slice(0, 10))}</time>`;
  const when = isWeb(source) ? `<a class="u-url" href="${escapeHtml(source)}" ${REL}>${time}</a>` : time;
  const about = listed === null ? aboutHtml(under ?? target, type, feed) : "";
  const shown = shownText(text);
  const lines = shown.split("\n").map(escapeHtml);
  const said = shown === "" ? "" : `<p class="p-content" dir="auto">${lines.join("<br>")}</p>\n`;
  return `<li class="h-cite twtxt-is-${type}" data-source="${escapeHtml(source)}" data-target="${escapeHtml(target)}">
<p class="twtxt-by">${picture}${by} <span class="twtxt-verb">${escapeHtml(words[type])}</span> ${when}${about}</p>
${said}</li>
`;
}

/** What of ours it is about, where a list is not about one page. A feed is mentioned, and its twts are replied to. */
function aboutHtml(url: string, type: MentionType, feed: MentionListOptions["feed"]): string {
  if (!isWeb(url)) return "";
  const isFeed = url === feed.url;
  const classes = type === "reply" && !isFeed ? "twtxt-about u-in-reply-to" : "twtxt-about";
  const name = isFeed ? `@${feed.nick}` : new URL(url).pathname;
  return ` <a class="${classes}" href="${escapeHtml(url)}">${escapeHtml(name)}</a>`;
}

/** A twt as people read it: `@<bob https://bob.example/twtxt.txt>` as `@bob`, and without the hash that it replies to. */
function shownText(text: string): string {
  return text
    .replace(/@<(?:([^\s<>]+) +)?https?:\/\/([^\s<>/]+)[^\s<>]*>/gi, (_, nick, host) => `@${nick ?? host}`)
    .replace(/^((?:@\S+ +)*)\(#[^()]*\) */, "$1");
}

function isWeb(url: string): boolean {
  return /^https?:\/\//i.test(url) && URL.canParse(url);
}
