// plugin/eleventy/cut-text.ts: shortening of texts that are too long for a line of a feed.
import { locateMentions } from "../feed/mention.js";
import { byteLength, LINE_LIMIT, LINE_SEPARATOR } from "../feed/twt.js";

/** In bytes. Leaves room for the timestamp, TAB and LF. */
export const TEXT_LIMIT = LINE_LIMIT - 256;
const ROOM_FOR_NAMES = 4096;

/**
 * Cuts a long text between words and outside mentions. Mentions after the cut are added at the end as far as there is
 * room.
 *
 * @param permalink - the URL of the full text, added after the cut
 */
export function cutText(text: string, permalink: string | null): string {
  if (byteLength(text) <= TEXT_LIMIT) return text;
  const mentions = locateMentions(text);
  const tail = permalink ? `… ${permalink}` : "…";

  const room = new Uint8Array(TEXT_LIMIT - byteLength(tail) - (mentions.length > 0 ? ROOM_FOR_NAMES : 0));
  const fitting = new TextEncoder().encodeInto(text, room).read;
  const space = Math.max(text.lastIndexOf(" ", fitting), text.lastIndexOf(LINE_SEPARATOR, fitting));
  const word = space > fitting / 2 ? space : fitting;
  const end = mentions.find((mention) => mention.start < word && word < mention.end)?.start ?? word;

  const unsaid = new Set(
    mentions.filter(({ start }) => start >= end).map(({ start, end }) => ` ${text.slice(start, end)}`),
  );
  let cut = `${text.slice(0, end).trimEnd()}${tail}`;
  let left = TEXT_LIMIT - byteLength(cut);
  for (const mention of unsaid) {
    left -= byteLength(mention);
    if (left < 0) break;
    cut += mention;
  }
  return cut;
}
