// plugin/eleventy/mentions/answered-twts.ts: what the author's replies answer, as far as the site has it.
import { mentionEntry } from "../../site/conversation.js";
import type { PublicMention } from "../../site/mention-list.js";
import type { ShownMention } from "../../site/mention-markup.js";
import type { PlainTwt } from "../../site/timeline.js";
import { shownMention } from "../../site/timeline-markup.js";
import type { OwnTwt } from "./conversations.js";

export interface KnownTwts {
  own: readonly OwnTwt[];
  mentions: readonly PublicMention[];
  followed: readonly PlainTwt[];
}

/**
 * The twts that the author's own replies answer, by the URL of the reply's page. A received mention comes before the same
 * twt of a followed feed: its text was stored as HTML.
 */
export function answeredTwts({ own, mentions, followed }: KnownTwts): ReadonlyMap<string, () => ShownMention> {
  const wanted = new Set(own.flatMap(({ replyTo }) => replyTo ?? []));
  const known = new Map<string, () => ShownMention>();
  const add = (names: readonly string[], twt: () => ShownMention) => {
    for (const name of names) if (wanted.has(name) && !known.has(name)) known.set(name, twt);
  };
  if (wanted.size > 0) {
    for (const { hashes, reply } of own) if (reply) add(hashes, reply);
    for (const mention of mentions) add(mentionEntry(mention).names, () => mention);
    for (const twt of followed) add([twt.hash, twt.hashV1], () => shownMention(twt));
  }
  const answered = new Map<string, () => ShownMention>();
  for (const { page, replyTo } of own) {
    const twt = replyTo === null ? undefined : known.get(replyTo);
    if (page !== null && twt) answered.set(page, twt);
  }
  return answered;
}
