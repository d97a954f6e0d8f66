// plugin/eleventy/text-from-post.ts: text of a twt from a post.
import { authorError, type TwtxtError } from "../errors.js";
import { formatMention, isMentionUrl, locateMentions, mentionAt } from "../feed/mention.js";
import { adjustForPeers } from "../feed/peers.js";
import { parseReplyTo, type ReplyTo } from "../feed/subject.js";
import { byteLength, cleanText } from "../feed/twt.js";
import type { Post, Settings } from "../options.js";
import { escapeHtml, mentionLink } from "../site/html.js";
import { cutText, TEXT_LIMIT } from "./cut-text.js";
import { nickOf } from "./markdown-mentions.js";
import type { Picture } from "./pictures.js";
import type { HtmlReader } from "./text-from-html.js";
import type { PageOfHtml } from "./text-from-plain-html.js";
import { expandShortMentions, wireForm, writeMentions } from "./write-mentions.js";

/** What a text is made from, beside the post's own data. */
export interface PostSource {
  settings: Pick<Settings, "text" | "follow" | "nick">;
  /** Of the site's own feed. */
  feedUrl: string;
  /** The absolute URL of the post's page; `null` for one without a page. */
  permalink: string | null;
  /** The rendered body, mentions as links. */
  body(): string;
  /** Called only where there is markup. */
  html(): HtmlReader;
  /** Makes a link of the page absolute. */
  resolve(link: string): string;
  /** Writes the shared URL for each `blob:KEY` of Markdown. */
  linkBlobs(text: string): string;
  /** Told of what looks like a mention in the front matter and names no feed. */
  onUnknownMention(mention: string): void;
  /** The pictures in the front matter; empty for a post with a title. */
  pictures: readonly Picture[];
}

/** A text, and what its author should know of it. */
export interface PostText {
  /** Empty where the post says nothing. */
  text: string;
  /** Longer than a line of a feed may be, and so cut. */
  isCut: boolean;
  /** A reply that names nobody, so that nobody can be notified. */
  isReplyWithoutFeed: boolean;
}

/** A title that needs no colon behind it: "Really?", 'He said "no."'. */
const ENDS_BY_ITSELF = /[.!?…:]["'”’»)\]]*$/;

/** Tags that format; any other one, as in "The <dialog> element", is meant as text. */
const FORMATTING =
  /<\/?(?:a|abbr|b|bdi|bdo|br|cite|code|del|dfn|div|em|i|img|ins|kbd|li|mark|ol|p|q|s|samp|small|span|strike|strong|sub|sup|tt|u|ul|var|wbr)(?:\s[^<>]*)?\/?>/i;
const ENTITY = /&(?:#\d+|#x[\da-f]+|[a-z][a-z0-9]*);/i;
/** Where there is neither, a title needs no parser. */
const MARKUP = new RegExp(`${FORMATTING.source}|${ENTITY.source}`, "i");
const CODE_OR_MENTION_OR_TAG = new RegExp(`\`[^\`]*\`|@<[^<>]*>|(${FORMATTING.source})|<`, "gi");

/**
 * The text of a post.
 *
 * @returns `null` for a post that is to have no twt
 * @throws TwtxtError `bad-front-matter` for a `replyTo` that cannot be read, naming the file
 */
export function textOfPost(post: Post, source: PostSource): PostText | null {
  if (post.data.twt === false) return null;
  const words = wordsOfOption(post, source) ?? defaultWords(post, source);
  const reply = replyOf(post);

  const written = cleanText(writeMentions(cleanText(words), source.settings.follow));
  const whole = written && reply ? addReply(written, reply, source) : written;
  const mended = adjustForPeers(cutText(whole, source.permalink));
  // Mending adds a few bytes at a place, so the text may be too long again.
  const cut = cutText(mended, source.permalink);
  const text = cut === mended ? mended : adjustForPeers(cut);
  return { text, isCut: byteLength(whole) > TEXT_LIMIT, isReplyWithoutFeed: reply !== null && reply.feedUrl === null };
}

/** Whether the text of this post needs a parser of HTML; answers yes where that is not sure. */
export function mayNeedHtml(post: Post, settings: Pick<Settings, "text">): boolean {
  const { title, summary, twt } = post.data;
  const isPlain = (value: unknown) => !MARKUP.test(stringOf(value));
  if (settings.text || twt === "full" || stringOf(title) === "" || ![title, summary, twt].every(isPlain)) return true;
  const isMarkdown = typeof post.rawInput === "string" && post.inputPath.endsWith(".md");
  return !isMarkdown || /@|u-mention|\{[{%]/.test(post.rawInput ?? "");
}

/** The text that the option `text` gives a post; `null` for the default text. */
function wordsOfOption(post: Post, source: PostSource): string | null {
  const words: unknown =
    source.settings.text?.(post, {
      permalink: source.permalink,
      // Most functions have no use for it, and it takes a parser.
      get text() {
        return defaultWords(post, source);
      },
    }) ?? null;
  if (words === null || typeof words === "string") return words;
  throw authorError(
    "bad-option",
    `options.text: expected a text, or undefined for the default one, got ${JSON.stringify(words)} for ${post.inputPath}.`,
  );
}

function defaultWords(post: Post, source: PostSource): string {
  return withMentionsOfBody(wordsOfPost(post, source), source);
}

function wordsOfPost(post: Post, source: PostSource): string {
  const { twt } = post.data;
  if (typeof twt === "object" && twt !== null && !(twt instanceof Date)) {
    throw badFrontMatter(post, 'twt: "a text", twt: full or twt: false', twt);
  }
  if (twt === "full") return withPictures(bodyText(source), source);
  const said = twt === true ? "" : source.linkBlobs(plain(twt, source));
  if (said !== "") return said;

  const title = oneLine(plain(post.data.title, source));
  const summary = oneLine(plain(post.data.summary, source));
  const more = [summary, source.permalink].filter(Boolean).join(" ");
  if (title !== "") return more === "" ? title : `${title}${ENDS_BY_ITSELF.test(title) ? "" : ":"} ${more}`;
  return withPictures(bodyText(source) || summary, source);
}

/** A text and behind it, each in a paragraph of its own, the pictures that it does not show or link to already. */
function withPictures(text: string, source: PostSource): string {
  return source.pictures.reduce((said, { url, alt }) => {
    const html = `<img src="${escapeHtml(url)}" alt="${escapeHtml(alt)}">`;
    const picture = source.linkBlobs(source.html().textFromHtml(html, pageOf(source)).trim());
    const link = picture.slice(picture.lastIndexOf("](") + 2, -1);
    return said.includes(link) ? said : [said, picture].filter(Boolean).join("\n\n");
  }, text);
}

function bodyText(source: PostSource): string {
  const body = source.body();
  return body.trim() === "" ? "" : source.html().textFromHtml(body, pageOf(source)).trim();
}

/** Somebody mentioned in the body alone could not verify it in the feed. */
function withMentionsOfBody(words: string, source: PostSource): string {
  const body = source.body();
  if (!body.includes("u-mention")) return words;
  const named = new Set(locateMentions(writeMentions(words, source.settings.follow)).map(({ url }) => url));
  const missing = new Map(
    source
      .html()
      .mentionsInHtml(body, pageOf(source))
      .filter(({ url }) => isMentionUrl(url) && !named.has(url))
      .map(({ label, url }) => [url, wireForm(label, url, source.settings.follow)]),
  );
  return [words, ...missing.values()].join(" ");
}

function pageOf(source: PostSource): PageOfHtml {
  return {
    resolve: source.resolve,
    mention: (label, url) => (isMentionUrl(url) ? wireForm(label, url, source.settings.follow) : null),
  };
}

function plain(value: unknown, source: PostSource): string {
  const text = stringOf(value);
  const isPlain = !MARKUP.test(text.replace(/@<[^<>]*>/g, ""));
  const words = isPlain ? text : source.html().plainText(keepText(text, source.settings.follow), pageOf(source));
  return expandShortMentions(words.trim(), source.settings.follow, source.onUnknownMention);
}

/** A parser would take all angle brackets for tags, also those of code and of what is meant as text. */
function keepText(text: string, follow: Settings["follow"]): string {
  return text.replace(CODE_OR_MENTION_OR_TAG, (found, tag) => {
    if (tag) return found;
    const mention = mentionAt(found, 0);
    return mention ? mentionLink({ nick: nickOf(mention, follow), url: mention.url }) : found.replace(/</g, "&lt;");
  });
}

function stringOf(value: unknown): string {
  // What YAML takes for a date may be a title: `title: 2024-01-02`.
  if (value instanceof Date) return value.toISOString().replace(/T00:00:00\.000Z$/, "");
  return typeof value === "string" || typeof value === "number" ? String(value).trim() : "";
}

function oneLine(text: string): string {
  return text.replace(/[\s\x85\u2028]+/g, " ").trim();
}

/** `replyTo: "<hash> <feed url>"`, as PROTOCOL 2.3 has it, or with a nick before the URL. */
function replyOf(post: Post): ReplyTo | null {
  const { replyTo } = post.data;
  if (replyTo === undefined || replyTo === null || replyTo === "") return null;
  const reply = parseReplyTo(stringOf(replyTo));
  if (reply) return reply;
  throw badFrontMatter(post, 'replyTo: "<hash> <feed url>", such as "abcdefg https://bob.example/twtxt.txt"', replyTo);
}

function badFrontMatter({ inputPath }: Post, expected: string, got: unknown): TwtxtError {
  return authorError("bad-front-matter", `${inputPath}: expected ${expected}, got ${JSON.stringify(got)}.`);
}

/** The subject first, then the author, so that he is notified, then what is said. */
function addReply(text: string, { hash, nick, feedUrl }: ReplyTo, source: PostSource): string {
  const { settings } = source;
  const isNamed = feedUrl === null || locateMentions(text).some(({ url }) => url === feedUrl);
  if (isNamed) return `(#${hash}) ${text}`;
  const known = [...settings.follow, { nick: settings.nick, url: source.feedUrl }];
  return `(#${hash}) ${formatMention({ nick: nickOf({ nick, url: feedUrl }, known), url: feedUrl })} ${text}`;
}
