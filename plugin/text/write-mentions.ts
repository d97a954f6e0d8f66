// plugin/text/write-mentions.ts: mentions in the form `@<nick url>`, which all clients understand.
import { formatMention, isMentionUrl, isNick, locateMentions, parseMention } from "../feed/mention.js";
import type { Settings } from "../options.js";
import { chooseNick, findShortMention, findUnknownMention } from "./markdown-mentions.js";

type Follow = Settings["follow"];

/** A mention from a link. The nick is that of the follow list, or else the label. */
export function wireForm(label: string, url: string, follow: Follow): string {
  const name = label.replace(/^@/, "");
  const followed = follow.find((feed) => feed.url === url)?.nick;
  const nick = followed ?? (isNick(name) ? name : null);
  return formatMention({ nick: chooseNick({ nick, url }, follow), url });
}

/**
 * Writes every mention as `@<nick url>`, at the start or after a space, because some clients do not find others. A mention
 * that is not valid in a feed, for example with a parenthesis in its URL, becomes text.
 */
export function writeMentions(text: string, follow: Follow): string {
  const pieces: string[] = [];
  let from = 0;
  for (const mention of locateMentions(text)) {
    const before = text.slice(from, mention.start);
    const isSeparate = /(^|[ \u2028])$/.test(before.slice(-1)) && (before !== "" || pieces.length === 0);
    const isWritable = (mention.nick === null || isNick(mention.nick)) && isMentionUrl(mention.url);
    const written = isWritable
      ? (isSeparate ? "" : " ") + formatMention({ nick: chooseNick(mention, follow), url: mention.url })
      : text.slice(mention.start, mention.end).replace("@<", "@\\<");
    pieces.push(before, written);
    from = mention.end;
  }
  return pieces.join("") + text.slice(from);
}

const CODE_OR_MENTION_OR_NAME = /(?<!\\)(`+)(?:(?!`)[\s\S])*?\1(?!`)|(?<!\\)@<[^<>]*>|\\?@/g;

/**
 * Replaces `@nick` by a mention, and `\@` by `@`. For front matter: in a body, the Markdown library does this.
 *
 * @param onUnknown - called with each text that looks like a mention but names no known feed
 */
export function expandShortMentions(text: string, follow: Follow, onUnknown: (name: string) => void): string {
  if (!text.includes("@")) return text;
  let written = "";
  let from = 0;
  for (const { 0: found, index } of text.matchAll(CODE_OR_MENTION_OR_NAME)) {
    const mention = found === "@" ? findShortMention(text, index, follow) : null;
    const isMention = mention !== null || parseMention(text, index) !== null;
    const unknown = isMention || !found.startsWith("@") ? null : findUnknownMention(text, index);
    if (unknown !== null) onUnknown(unknown);
    if (!mention && found !== "\\@") continue;
    const isWireForm = text[index + 2] === "<";
    const replacement = mention ? formatMention(mention) : isWireForm ? "@\\" : "@";
    written += text.slice(from, index) + replacement;
    from = mention ? mention.end : index + found.length;
  }
  return written + text.slice(from);
}
