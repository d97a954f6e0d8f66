// plugin/client/strangers-text.tsx: texts and links that other people wrote.
import { raw } from "hono/html";
import type { FC, PropsWithChildren } from "hono/jsx";
import { RecentValues } from "../groups.js";
import { toHtml } from "../site/html.js";
import { type MentionSentence, pageLabel, viaHost } from "../site/mention-sentence.js";
import { plainLines } from "../site/plain-lines.js";
import { readHtml } from "../site/read-html.js";
import { boundedMarks, linkedText, STRANGERS_REL } from "../site/safe-markup.js";
import { textMarkup } from "../site/text-markup.js";
import { isFeedUrl } from "../url.js";

/** Number of texts that are kept as HTML, because open pages request them again every minute. */
const MAX_KEPT = 1000;

/** A reference to a twt, as opposed to a page. */
const TWT = /#:~:text=/;

const kept = new RecentValues<string, string>(MAX_KEPT);

/**
 * The HTML of a text with safe elements, folded if it is long. Loads a parser of Markdown, which only pages with texts need.
 *
 * @param html - the text of a page as HTML; `null` if it follows from the text
 */
export async function strangersHtml(text: string, source: string, html: string | null = null): Promise<string> {
  const { textHtml } = await import("../site/text-html.js");
  const kind = TWT.test(source) ? "twt" : "page";
  const key = `${kind} ${html ?? text}`;
  return kept.use(key, () =>
    textMarkup(readHtml(html ?? textHtml(text, kind)), "Show more")
      .map(toHtml)
      .join(""),
  );
}

/** The text of a twt or a page, as public pages show it. @param source - the twt or page with the text */
export async function StrangersText({ text, html, source }: { text: string; html?: string | null; source: string }) {
  return raw(await strangersHtml(text, source, html));
}

/** The text of a message, without control characters and changes of direction. Its URLs are links. */
export const MessageText: FC<{ text: string }> = ({ text }) => (
  <p class="text" dir="auto">
    {raw(
      linkedText(plainLines(boundedMarks(text)).join("\n"))
        .map(toHtml)
        .join(""),
    )}
  </p>
);

/** A link from a stranger. If a feed cannot be read from its URL, only its content is shown. */
export function StrangersLink({ href, children }: PropsWithChildren<{ href: string }>) {
  return isFeedUrl(href) ? (
    <a href={href} rel={STRANGERS_REL} dir="auto">
      {children}
    </a>
  ) : (
    <bdi>{children}</bdi>
  );
}

/** The host of the source, if the author is of another one. */
export function Via({ source, author }: { source: string; author: { url: string } | null }) {
  const host = author && viaHost({ source, author });
  return host ? (
    <span class="muted">
      , via <bdi>{host}</bdi>
    </span>
  ) : null;
}

/** What a mention says about a page of the site, with a link to the page. */
export const MentionAbout: FC<{ sentence: MentionSentence }> = ({ sentence: { before, page, after } }) => (
  <>
    {before}
    {page && (
      <a href={page.href}>
        <cite dir="auto">{pageLabel(page)}</cite>
      </a>
    )}
    {after}
  </>
);
