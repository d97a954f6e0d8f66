// plugin/eleventy/write-mentions.ts: mentions in the form that all peers understand.
import { formatMention, isMentionUrl, isNick, locateMentions, mentionAt } from "../feed/mention.js";
import type { Settings } from "../options.js";
import { nickOf, shortMentionAt, unknownMentionAt } from "./markdown-mentions.js";

type Follow = Settings["follow"];

/** Who is followed keeps the nick of the follow list; anybody else the one that the link shows. */
export function wireForm(label: string, url: string, follow: Follow): string {
  const shown = label.replace(/^@/, "");
  const followed = follow.find((feed) => feed.url === url)?.nick;
  const nick = followed ?? (isNick(shown) ? shown : null);
  return formatMention({ nick: nickOf({ nick, url }, follow), url });
}

/**
 * Every mention as `@<nick url>`, at the start or after a space, since some peers overlook others. One that a feed cannot
 * hold, for a parenthesis in its URL, say, stays readable as text.
 */
export function writeMentions(text: string, follow: Follow): string {
  const pieces: string[] = [];
  let from = 0;
  for (const mention of locateMentions(text)) {
    const before = text.slice(from, mention.start);
    const isApart = /(^|[ \u2028])$/.test(before.slice(-1)) && (before !== "" || pieces.length === 0);
    const isWritable = (mention.nick === null || isNick(mention.nick)) && isMentionUrl(mention.url);
    const written = isWritable
      ? (isApart ? "" : " ") + formatMention({ nick: nickOf(mention, follow), url: mention.url })
      : text.slice(mention.start, mention.end).replace("@<", "@\\<");
    pieces.push(before, written);
    from = mention.end;
  }
  return pieces.join("") + text.slice(from);
}

const CODE_OR_MENTION_OR_NAME = /(?<!\\)(`+)(?:(?!`)[\s\S])*?\1(?!`)|(?<!\\)@<[^<>]*>|\\?@/g;

/**
 * Writes `@nick` as a mention, and `\@` as the text that its author wants. In a body, the Markdown library has done this
 * already.
 *
 * @param onUnknown - told of what looks like a mention and names no feed
 */
export function expandShortMentions(text: string, follow: Follow, onUnknown: (name: string) => void): string {
  if (!text.includes("@")) return text;
  let written = "";
  let from = 0;
  for (const { 0: found, index } of text.matchAll(CODE_OR_MENTION_OR_NAME)) {
    const mention = found === "@" ? shortMentionAt(text, index, follow) : null;
    const isMention = mention !== null || mentionAt(text, index) !== null;
    const unknown = isMention || !found.startsWith("@") ? null : unknownMentionAt(text, index);
    if (unknown !== null) onUnknown(unknown);
    if (!mention && found !== "\\@") continue;
    const isWireForm = text[index + 2] === "<";
    const instead = mention ? formatMention(mention) : isWireForm ? "@\\" : "@";
    written += text.slice(from, index) + instead;
    from = mention ? mention.end : index + found.length;
  }
  return written + text.slice(from);
}
