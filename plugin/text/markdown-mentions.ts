// plugin/text/markdown-mentions.ts: links for mentions in Markdown, `@<nick url>` or `@nick` of a followed feed.
import type { MarkdownIt, StateInline } from "markdown-it";
import { characterBefore, type Mention, parseMention } from "../feed/mention.js";
import type { Settings } from "../options.js";
import { mentionLink } from "../site/html.js";
import { canParseUrl } from "../url.js";

/** @param env - of a markdown-it state, in which Eleventy passes the data of the page */
export function readFile(env: { page?: { inputPath?: string } } | undefined): string | undefined {
  return env?.page?.inputPath;
}

/** A name after `@`, as long as a nick may be. */
const NAME = /[^\s@#!:<>()[\]'"`]+/y;
const WORD = /[\p{L}\p{N}_]/u;
/** A character before "@" that makes it part of a URL, an address or an escape. */
const JOINED = /[\p{L}\p{N}_/@.=&#%+\\]/u;
/** `@<bob bob.example>`, without `https://`, or `@<bob>`, without a URL. */
const INCOMPLETE_MENTION = /@<(?:[^\s<>=/"']+ +[^\s<>="']+\.[^\s<>="']*|(?<name>[^\s<>=/"'@:]+))>/y;
/** Tags that may follow an "@". */
const INLINE_TAG = /^(?:a|abbr|b|br|code|del|em|i|img|ins|kbd|mark|q|s|small|span|strong|sub|sup|u|wbr)$/i;
/** A name without the punctuation after it. */
const PERSON = /^\p{L}(?:[\p{L}\p{N}_.-]*[\p{L}\p{N}_])?/u;
const LINKABLE = /^(https?|gemini|gopher):\/\//i;

export function isMarkdownIt(library: unknown): library is MarkdownIt {
  const { core, inline } = (library ?? {}) as Partial<MarkdownIt>;
  return typeof core?.ruler?.push === "function" && typeof inline?.ruler?.before === "function";
}

/**
 * Adds a rule to markdown-it that renders mentions as links.
 *
 * @param onUnknown - called with each text that looks like a mention but names no known feed, and its file
 */
export function addMentionRule(
  markdown: MarkdownIt,
  follow: Settings["follow"],
  onUnknown: (name: string, file: string | undefined) => void,
): void {
  markdown.inline.ruler.before("link", "twtxt_mention", (state, silent) => {
    // The types of markdown-it lack `linkLevel`.
    if (state.src[state.pos] !== "@" || Object(state).linkLevel > 0) return false;
    const mention = parseMention(state.src, state.pos) ?? findShortMention(state.src, state.pos, follow);
    if (!mention) return keepUnknown(state, silent, (name) => onUnknown(name, readFile(state.env)));
    if (!LINKABLE.test(mention.url)) return false;
    if (!silent) pushLink(state, mention.url, `@${chooseNick(mention, follow)}`);
    state.pos = mention.end;
    return true;
  });
}

/** Keeps `@<bob>` as text, because a browser would not show a tag. */
function keepUnknown(state: StateInline, silent: boolean, onUnknown: (name: string) => void): boolean {
  const incomplete = findIncompleteMention(state.src, state.pos);
  const unknown = findUnknownMention(state.src, state.pos);
  if (unknown !== null && !silent) onUnknown(unknown);
  if (incomplete === null) return false;
  if (!silent) state.push("text", "", 0).content = incomplete;
  state.pos += incomplete.length;
  return true;
}

function findIncompleteMention(text: string, start: number): string | null {
  INCOMPLETE_MENTION.lastIndex = start;
  const found = INCOMPLETE_MENTION.exec(text);
  const isTag = INLINE_TAG.test(found?.groups?.name ?? "");
  return !found || isTag || WORD.test(characterBefore(text, start)) ? null : found[0];
}

/**
 * A text at this position that looks like a mention but names no known feed: `@name`, `@<name>` or `@<name host>`.
 *
 * @returns `null` for a part of an address, of a URL, or of a package name such as `@11ty/eleventy`
 */
export function findUnknownMention(text: string, start: number): string | null {
  return findIncompleteMention(text, start) ?? findUnknownName(text, start);
}

function findUnknownName(text: string, start: number): string | null {
  if (text[start] !== "@" || JOINED.test(characterBefore(text, start))) return null;
  NAME.lastIndex = start + 1;
  const name = NAME.exec(text)?.[0] ?? "";
  if (name.includes("/") || text[start + 1 + name.length] === "@") return null;
  const [person] = PERSON.exec(name) ?? [];
  return person === undefined ? null : `@${person}`;
}

/**
 * A mention by nick only that starts at this position.
 *
 * @returns `null` for none, or if no followed feed has that nick
 */
export function findShortMention(
  text: string,
  start: number,
  follow: Readonly<Settings["follow"]>,
): { nick: string; url: string; start: number; end: number } | null {
  if (text[start] !== "@" || JOINED.test(characterBefore(text, start))) return null;
  NAME.lastIndex = start + 1;
  let name = NAME.exec(text)?.[0] ?? "";
  if (text[start + 1 + name.length] === "@") return null;

  for (; name !== ""; name = name.slice(0, -1)) {
    const followed = follow.find(({ nick }) => nick === name);
    if (followed) return { ...followed, start, end: start + 1 + name.length };
    if (WORD.test(name.at(-1) ?? "")) return null;
  }
  return null;
}

/** The nick of a mentioned feed: as written, or from the follow list, or the host. */
export function chooseNick({ nick, url }: Mention, follow: Settings["follow"]): string {
  const known = nick ?? follow.find((feed) => feed.url === url)?.nick;
  return known ?? (new URL(url).host.replace(/[^\p{L}\p{N}.]+/gu, "-").replace(/^-+|-+$/g, "") || "somebody");
}

const TEXT_OR_MARKUP = new RegExp(
  [
    /<!--.*?-->/, // a comment
    /<(?<raw>head|script|style|textarea|title|template|pre|code|svg|a)\b.*?<\/\k<raw>\s*>/, // an element without mentions
    /@<(?:(?<nick>[^\s<>]+) +)?(?<url>[a-z][a-z0-9+.-]*:\/\/[^\s<>]+)>/, // a mention
    /@&lt;(?:(?<nickEscaped>[^\s<>&]+) +)?(?:<a\b[^<>]*>)?(?<urlEscaped>[a-z][a-z0-9+.-]*:\/\/[^\s<>]+?)(?:<\/a>)?&gt;/, // a mention, escaped, perhaps linked
    /<[^<>]*>/, // a tag
    /@[^\s@#!:<>()[\]'"`&]+/, // perhaps a nick
  ]
    .map(({ source }) => source)
    .join("|"),
  "gis",
);

/**
 * Replaces the mentions in HTML by links, except in code, links and attributes. For Markdown libraries that take no rules.
 */
export function linkMentions(html: string, follow: Settings["follow"]): string {
  if (!html.includes("@")) return html;
  let linked = "";
  let from = 0;
  for (const { 0: found, index, groups = {} } of html.matchAll(TEXT_OR_MARKUP)) {
    const mention = found.startsWith("@") ? mentionInHtml(html, index, groups, follow) : null;
    if (!mention) continue;
    linked += html.slice(from, index) + mentionLink(mention);
    from = mention.end ?? index + found.length;
  }
  return linked + html.slice(from);
}

function mentionInHtml(
  html: string,
  at: number,
  groups: Record<string, string | undefined>,
  follow: Settings["follow"],
): { nick: string; url: string; end?: number } | null {
  const url = (groups.url ?? groups.urlEscaped)?.replaceAll("&amp;", "&");
  if (url === undefined) return findShortMention(html, at, follow);
  if (WORD.test(characterBefore(html, at)) || !LINKABLE.test(url) || !canParseUrl(url)) return null;
  return { nick: chooseNick({ nick: groups.nick ?? groups.nickEscaped ?? null, url }, follow), url };
}

/** Adds a link, marked as an autolink so that markdown-it's typographer does not change the nick. */
function pushLink(state: StateInline, href: string, label: string): void {
  const open = state.push("link_open", "a", 1);
  open.attrs = [
    ["href", href],
    ["class", "u-mention"],
    ["dir", "auto"],
  ];
  open.markup = "linkify";
  open.info = "auto";
  state.push("text", "", 0).content = label;
  const close = state.push("link_close", "a", -1);
  close.markup = "linkify";
  close.info = "auto";
}
