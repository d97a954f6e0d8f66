// plugin/mentions/networks/thread-mentions.ts: the replies and reactions of a thread as mentions of a post.
import { parseHtml, walkElements } from "../../http/parse-html.js";
import { normalUrl } from "../../http/same-url.js";
import { TimeSlices } from "../../http/time-slices.js";
import type { NewMention } from "../receive/event.js";
import type { Moderation } from "../receive/moderation.js";
import { readContent } from "../verify/page-content.js";
import { quoteName, TEXT_LIMIT } from "../verify/source-text.js";
import type { Account, Copy, Thread } from "./network.js";

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
 * The mentions of a thread, each after the one that it replies to, without blocked accounts and the site's own posts.
 *
 * @throws TwtxtError `unreachable` if it takes too long to read the replies
 */
export async function toMentions({ replies, reactions }: Thread, parts: PostParts): Promise<NewMention[]> {
  const { page, moderation, findOwnPost } = parts;
  const isWanted = ({ url, author }: { url: string; author: Account }) =>
    findOwnPost(url) === null && ![url, author.url].some((each) => moderation.isBlocked(each));
  const slices = new TimeSlices(AbortSignal.timeout(READING_MS));
  const statuses: NewMention[] = [];
  // One after the other, because each yields to other requests only after a piece of its own.
  for (const { replyTo, html, url, ...status } of replies.filter(isWanted)) {
    const subject = replyTo === null ? page : (findOwnPost(replyTo) ?? replyTo);
    const found = { ...status, type: "reply" as const, identity: normalUrl(url) ?? url, subject };
    statuses.push(toMention({ ...found, ...(await readText(html, url, slices)) }, parts));
  }
  // An account has one reaction of a type to a post, whatever the number of copies.
  const others = reactions
    .map((reaction) => ({ ...reaction, url: `${reaction.author.url}#${reaction.type}` }))
    .filter(isWanted)
    .map(({ url, ...reaction }) => ({ ...reaction, identity: url, subject: page, text: "", html: null }));
  return [...statuses, ...others.map((found) => toMention(found, parts))];
}

async function readText(html: string, url: string, slices: TimeSlices): Promise<Pick<NewMention, "text" | "html">> {
  const { tree } = await parseHtml(html.slice(0, HTML_LIMIT), slices);
  const body = [...walkElements(tree, ({ tagName }) => tagName !== "body")].find(({ tagName }) => tagName === "body");
  return (body && readContent(body, url, TEXT_LIMIT)) || { text: "", html: null };
}

type Found = Pick<NewMention, "type" | "text" | "html" | "identity" | "author" | "published" | "subject">;

function toMention(found: Found & { author: Account }, { page, copy, moderation }: PostParts): NewMention {
  const { name, url, photo } = found.author;
  const others = moderation.moderate ? "always" : "when many";
  return {
    ...found,
    author: { name: quoteName(name) || new URL(url).host, url, photo },
    ...{ copy: copy.url, given: found.identity, isDeclared: true, target: page, under: null, about: page },
    ...{ timestamp: null, instant: null, hash: null, hashV1: null },
    hold: moderation.isAllowed(url) ? "never" : others,
  };
}
