// plugin/mentions/networks/thread-mentions.ts: the replies and reactions of a thread as mentions of a post.
import { parseHtml, walkElements } from "../../http/parse-html.js";
import { normalUrl } from "../../http/same-url.js";
import { TimeSlices } from "../../http/time-slices.js";
import type { NewMention } from "../receive/event.js";
import type { Moderation } from "../receive/moderation.js";
import { readContent } from "../verify/page-content.js";
import { quoteName, TEXT_LIMIT } from "../verify/source-text.js";
import type { Copy, Thread } from "./network.js";

/** Ten times what is shown. Anyone can write a longer reply. */
const HTML_LIMIT = 50_000;
/** For all replies of a thread. */
const READING_MS = 10_000;

interface PostParts {
  /** The page of the post. */
  page: string;
  copy: Copy;
  moderation: Moderation;
  /** The page of the post with this copy; `null` for another status. */
  findOwnPost(url: string): string | null;
}

/**
 * The mentions of a thread, each after the one that it replies to, without blocked accounts and the site's own posts. An account
 * has one reaction of a type to a post, whatever the number of copies.
 *
 * @throws TwtxtError `unreachable` if it takes too long to read the replies
 */
export async function toMentions({ replies, reactions }: Thread, parts: PostParts): Promise<NewMention[]> {
  const { page, copy, moderation, findOwnPost } = parts;
  const slices = new TimeSlices(AbortSignal.timeout(READING_MS));
  const mentions: NewMention[] = [];
  // One after the other, because each yields to other requests only after a piece of its own.
  for (const { type, url, author, html, published, replyTo } of [...replies, ...reactions]) {
    if (findOwnPost(url) !== null || [url, author.url].some((each) => moderation.isBlocked(each))) continue;
    const identity = (type === "reply" && normalUrl(url)) || url;
    mentions.push({
      ...(await readText(html, url, slices)),
      ...{ type, identity, published, given: identity, isDeclared: true },
      ...{ copy: copy.url, target: page, about: page, under: null },
      ...{ timestamp: null, instant: null, hash: null, hashV1: null },
      author: { ...author, name: quoteName(author.name) || new URL(author.url).host },
      subject: replyTo === null ? page : (findOwnPost(replyTo) ?? replyTo),
      hold: moderation.isAllowed(author.url) ? "never" : moderation.moderate ? "always" : "when many",
    });
  }
  return mentions;
}

async function readText(html: string, url: string, slices: TimeSlices): Promise<Pick<NewMention, "text" | "html">> {
  const none = { text: "", html: null };
  if (html === "") return none;
  const { tree } = await parseHtml(html.slice(0, HTML_LIMIT), slices);
  const body = [...walkElements(tree, ({ tagName }) => tagName !== "body")].find(({ tagName }) => tagName === "body");
  return (body && readContent(body, url, TEXT_LIMIT)) || none;
}
