// plugin/site/timeline-markup.ts: the markup of the timeline, for the page of the build and for the component in the browser.
import { isFeedUrl } from "../url.js";
import { element, type MarkupElement } from "./html.js";
import { type MentionContext, type ShownMention, sectionMarkup } from "./mention-markup.js";
import { STRANGERS_REL } from "./safe-markup.js";
import type { PlainTwt, Timeline } from "./timeline.js";

const UNITS = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
] as const;

export function shownMention(twt: PlainTwt & { html?: string }): ShownMention {
  const { source, url, author, isOwn, text, html = null, hash, hashV1, replyTo, published } = twt;
  return {
    ...(url !== undefined && { url }),
    ...{ source, author, text, html, hash, hashV1, replyTo, published },
    target: "",
    under: null,
    type: replyTo === null ? "twt" : "reply",
    received: isOwn ? null : published,
  };
}

export function unreadList(
  { unread, updated }: Pick<Timeline, "unread" | "updated">,
  { words, headingLevel }: Pick<MentionContext, "words" | "headingLevel">,
  lang: string,
): MarkupElement {
  const items = unread.flatMap(({ nick, url, reason, lastRead }) => {
    const name = `@${nick}`;
    const link = isFeedUrl(url)
      ? element("a", { href: url, rel: STRANGERS_REL, dir: "auto" }, name)
      : element("span", { dir: "auto" }, name);
    const age =
      lastRead === null
        ? [words.neverRead]
        : [`${words.lastRead} `, element("time", { datetime: lastRead }, ageText(lastRead, updated, lang))];
    return [element("li", {}, link, ` ${words[reason]} (`, ...age, ")"), "\n"];
  });
  return sectionMarkup("unread", headingLevel, [words.unread], [element("ul", {}, "\n", ...items), "\n"]);
}

/** Such as "3 days ago". */
function ageText(from: string, to: string, lang: string): string {
  const seconds = Math.max((Date.parse(to) - Date.parse(from)) / 1000, 60);
  const [unit, length] = UNITS.find(([, each]) => seconds >= each) ?? ["minute", 60];
  return ages(lang).format(-Math.floor(seconds / length), unit);
}

/** English ones for an invalid language. */
function ages(lang: string): Intl.RelativeTimeFormat {
  try {
    return new Intl.RelativeTimeFormat(lang);
  } catch {
    return new Intl.RelativeTimeFormat("en");
  }
}
