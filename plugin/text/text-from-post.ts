// plugin/text/text-from-post.ts: text of a twt from a post.
import { authorError, badFrontMatter } from "../errors.js";
import { formatMention, isMentionUrl, locateMentions, parseMention } from "../feed/mention.js";
import { adjustForPeers } from "../feed/peers.js";
import { parseReplyPage, parseReplyTo, type ReplyTo } from "../feed/subject.js";
import { byteLength, cleanText, isLongerThan, LINE_LIMIT, LINE_SEPARATOR } from "../feed/twt.js";
import type { Post, Settings } from "../options.js";
import { escapeHtml, mentionLink } from "../site/html.js";
import { chooseNick } from "./markdown-mentions.js";
import { type PageOfHtml, textFromPlainHtml } from "./text-from-plain-html.js";
import { expandShortMentions, wireForm, writeMentions } from "./write-mentions.js";

/** The HTML parser. Loaded when a text needs it, because this takes as long as the texts of a thousand plain notes. */
export type HtmlReader = typeof import("./text-from-html.js");

export interface Picture {
  /** As in the front matter: absolute, or relative to the page. */
  url: string;
  alt: string;
}

export interface PostSource {
  settings: Pick<Settings, "text" | "follow" | "nick">;
  feedUrl: string;
  /** The absolute URL of the post's page; `null` for a post without a page. */
  permalink: string | null;
  body(): string;
  /** Called only for HTML that is not plain. */
  html(): HtmlReader;
  /** Makes a link of the page absolute. */
  resolve(link: string): string;
  /** Replaces each `blob:KEY` in Markdown by the shared URL. */
  linkBlobs(text: string): string;
  /** Called with each text of the front matter that looks like a mention but names no known feed. */
  onUnknownMention(mention: string): void;
  /** The pictures in the front matter; empty for a post with a title. */
  pictures: readonly Picture[];
}

export interface PostText {
  /** Empty for a post without content. */
  text: string;
  /** Shortened, because it was too long for a line of a feed. */
  isCut: boolean;
  /** A reply without the feed of its author, who is therefore not notified. */
  isReplyWithoutFeed: boolean;
}

/** In bytes. Leaves room for the timestamp, TAB and LF. */
const TEXT_LIMIT = LINE_LIMIT - 256;
/** Bytes for mentions after the cut of a long text. */
const ROOM_FOR_MENTIONS = 4096;

/** A title that needs no colon after it: "Really?", 'He said "no."'. */
const PUNCTUATED_END = /[.!?…:]["'”’»)\]]*$/;

/** Tags that format text. Any other tag in a title, as in "The <dialog> element", is text. */
const FORMATTING =
  /<\/?(?:a|abbr|b|bdi|bdo|br|cite|code|del|dfn|div|em|i|img|ins|kbd|li|mark|ol|p|q|s|samp|small|span|strike|strong|sub|sup|tt|u|ul|var|wbr)(?:\s[^<>]*)?\/?>/i;
const ENTITY = /&(?:#\d+|#x[\da-f]+|[a-z][a-z0-9]*);/i;
const MARKUP = new RegExp(`${FORMATTING.source}|${ENTITY.source}`, "i");
const CODE_OR_MENTION_OR_TAG = new RegExp(`\`[^\`]*\`|@<[^<>]*>|(${FORMATTING.source})|<`, "gi");

/**
 * The text of a post.
 *
 * @returns `null` for a post without a twt
 * @throws TwtxtError `bad-front-matter` for an invalid `twt` or `replyTo`, naming the file; `bad-option` for the option
 *   `text`
 */
export function textOfPost(post: Post, source: PostSource): PostText | null {
  if (post.data.twt === false) return null;
  if (post.data.twt === "deleted") {
    // Eleventy computes data after the post is in its collections, from where templates would publish it.
    const expected = "expected twt: deleted in the front matter or a data file, got it from eleventyComputed";
    throw authorError("bad-front-matter", `${post.inputPath}: ${expected}.`);
  }
  const draft = textOfOption(post, source) ?? defaultText(post, source);
  const reply = readReply(post);

  const text = cleanText(writeMentions(cleanText(draft), source.settings.follow));
  const whole = text && reply ? addReply(text, reply, source) : text;
  const adjusted = adjustForPeers(cutText(whole, source.permalink));
  // The adjustment adds bytes, so the text may be too long again.
  const cut = cutText(adjusted, source.permalink);
  return {
    text: cut === adjusted ? adjusted : adjustForPeers(cut),
    isCut: isLongerThan(whole, TEXT_LIMIT),
    isReplyWithoutFeed: reply !== null && reply.feedUrl === null,
  };
}

/** The text that the option `text` gives a post; `null` for the default text. */
function textOfOption(post: Post, source: PostSource): string | null {
  const text: unknown =
    source.settings.text?.(post, {
      permalink: source.permalink,
      // Computed only if it is read, because it may need the parser.
      get text() {
        return defaultText(post, source);
      },
    }) ?? null;
  if (text === null || typeof text === "string") return text;
  throw authorError(
    "bad-option",
    `options.text: expected a text, or undefined for the default text, got ${JSON.stringify(text)} for ${post.inputPath}.`,
  );
}

function defaultText(post: Post, source: PostSource): string {
  return addMentionsOfBody(textWithoutMentionsOfBody(post, source), source);
}

function textWithoutMentionsOfBody(post: Post, source: PostSource): string {
  const { twt } = post.data;
  if (typeof twt === "object" && twt !== null && !(twt instanceof Date)) {
    throw badFrontMatter(post, 'twt: "a text", twt: full, twt: false or twt: deleted', twt);
  }
  if (twt === "full") return addPictures(bodyText(source), source);
  const text = twt === true ? "" : source.linkBlobs(plain(twt, source));
  if (text !== "") return text;

  const title = oneLine(plain(post.data.title, source));
  const summary = oneLine(plain(post.data.summary, source));
  const more = [summary, source.permalink].filter(Boolean).join(" ");
  if (title !== "") return more === "" ? title : `${title}${PUNCTUATED_END.test(title) ? "" : ":"} ${more}`;
  return addPictures(bodyText(source) || summary, source);
}

/** Adds the pictures that the text does not show or link to, each as its own paragraph. */
function addPictures(text: string, source: PostSource): string {
  return source.pictures.reduce((all, { url, alt }) => {
    const html = `<p><img src="${escapeHtml(url)}" alt="${escapeHtml(alt)}"></p>`;
    const picture = source.linkBlobs(textFromHtml(html, source));
    const link = picture.slice(picture.lastIndexOf("](") + 2, -1);
    return all.includes(link) ? all : [all, picture].filter(Boolean).join("\n\n");
  }, text);
}

function bodyText(source: PostSource): string {
  const body = source.body();
  return body.trim() === "" ? "" : textFromHtml(body, source);
}

function textFromHtml(html: string, source: PostSource): string {
  const page = toPage(source);
  return (textFromPlainHtml(html, page) ?? source.html().textFromAnyHtml(html, page)).trim();
}

/** Adds the mentions that are only in the body, because a mention is verified in the feed. */
function addMentionsOfBody(text: string, source: PostSource): string {
  const body = source.body();
  if (!body.includes("u-mention")) return text;
  const known = new Set(locateMentions(writeMentions(text, source.settings.follow)).map(({ url }) => url));
  const missing = new Map(
    source
      .html()
      .mentionsInHtml(body, toPage(source))
      .filter(({ url }) => isMentionUrl(url) && !known.has(url))
      .map(({ label, url }) => [url, wireForm(label, url, source.settings.follow)]),
  );
  return [text, ...missing.values()].join(" ");
}

function toPage(source: PostSource): PageOfHtml {
  return {
    resolve: source.resolve,
    mention: (label, url) => (isMentionUrl(url) ? wireForm(label, url, source.settings.follow) : null),
  };
}

function plain(value: unknown, source: PostSource): string {
  const { follow } = source.settings;
  const text = toText(value);
  const isPlain = !MARKUP.test(text.replace(/@<[^<>]*>/g, ""));
  const parsed = isPlain ? text : source.html().plainText(escapeExceptFormatting(text, follow), toPage(source));
  return expandShortMentions(parsed.trim(), follow, source.onUnknownMention);
}

/** Escapes each "<" except those of formatting tags: the parser would read code and texts in angle brackets as tags. */
function escapeExceptFormatting(text: string, follow: Settings["follow"]): string {
  return text.replace(CODE_OR_MENTION_OR_TAG, (found, tag) => {
    if (tag) return found;
    const mention = parseMention(found, 0);
    return mention ? mentionLink({ nick: chooseNick(mention, follow), url: mention.url }) : found.replace(/</g, "&lt;");
  });
}

function toText(value: unknown): string {
  // YAML parses a title such as `2024-01-02` as a date.
  if (value instanceof Date) return value.toISOString().replace(/T00:00:00\.000Z$/, "");
  return typeof value === "string" || typeof value === "number" ? String(value).trim() : "";
}

function oneLine(text: string): string {
  return text.replace(/[\s\x85\u2028]+/g, " ").trim();
}

/** Reads `replyTo: "<hash> <feed url>"`, optionally with a nick before the URL. PROTOCOL 2.3 */
function readReply(post: Post): ReplyTo | null {
  const { replyTo } = post.data;
  // A reply to a page has no subject: twts answer twts.
  if (replyTo === undefined || replyTo === null || replyTo === "" || parseReplyPage(replyTo) !== null) return null;
  const reply = parseReplyTo(toText(replyTo));
  if (reply) return reply;
  throw badFrontMatter(post, 'replyTo: "<hash> <feed url>", such as "abcdefg https://bob.example/twtxt.txt"', replyTo);
}

/** Adds the subject, and a mention of the author unless the text has one. */
function addReply(text: string, { hash, nick, feedUrl }: ReplyTo, source: PostSource): string {
  const { settings } = source;
  const isMentioned = feedUrl === null || locateMentions(text).some(({ url }) => url === feedUrl);
  if (isMentioned) return `(#${hash}) ${text}`;
  const known = [...settings.follow, { nick: settings.nick, url: source.feedUrl }];
  return `(#${hash}) ${formatMention({ nick: chooseNick({ nick, url: feedUrl }, known), url: feedUrl })} ${text}`;
}

/**
 * Cuts a text that is too long for a line of a feed, between words and outside mentions. Mentions after the cut are added
 * at the end as far as there is room.
 *
 * @param permalink - the URL of the full text, added after the cut
 */
function cutText(text: string, permalink: string | null): string {
  if (!isLongerThan(text, TEXT_LIMIT)) return text;
  const mentions = locateMentions(text);
  const tail = permalink ? `… ${permalink}` : "…";

  const room = new Uint8Array(TEXT_LIMIT - byteLength(tail) - (mentions.length > 0 ? ROOM_FOR_MENTIONS : 0));
  const fitting = new TextEncoder().encodeInto(text, room).read;
  const space = Math.max(text.lastIndexOf(" ", fitting), text.lastIndexOf(LINE_SEPARATOR, fitting));
  const word = space > fitting / 2 ? space : fitting;
  const end = mentions.find((mention) => mention.start < word && word < mention.end)?.start ?? word;

  const omitted = new Set(
    mentions.filter(({ start }) => start >= end).map(({ start, end }) => ` ${text.slice(start, end)}`),
  );
  let cut = `${text.slice(0, end).trimEnd()}${tail}`;
  let left = TEXT_LIMIT - byteLength(cut);
  for (const mention of omitted) {
    left -= byteLength(mention);
    if (left < 0) break;
    cut += mention;
  }
  return cut;
}
