// plugin/mentions/networks/thread-mentions.ts: the replies and reactions of a thread as mentions of a post.
import { parseHtml, walkElements } from "../../http/parse-html.js";
import { normalUrl } from "../../http/same-url.js";
import type { NewMention } from "../receive/event.js";
import type { Moderation } from "../receive/moderation.js";
import { readContent } from "../verify/page-content.js";
import { quoteName, TEXT_LIMIT } from "../verify/source-text.js";
import type { Account, Copy, Thread } from "./network.js";

interface PostParts {
  /** The page of the post. */
  page: string;
  copy: Copy;
  moderation: Moderation;
  /** The page of the post with this copy; `null` for another status. */
  findOwnPost(url: string): string | null;
}

/** The mentions of a thread, each after the one that it replies to, without blocked accounts and the site's own posts. */
export async function toMentions({ replies, reactions }: Thread, parts: PostParts): Promise<NewMention[]> {
  const { page, moderation, findOwnPost } = parts;
  const isWanted = ({ url, author }: { url: string; author: Account }) =>
    findOwnPost(url) === null && ![url, author.url].some((each) => moderation.isBlocked(each));
  const statuses = replies.filter(isWanted).map(async ({ replyTo, html, url, ...status }) => {
    const subject = replyTo === null ? page : (findOwnPost(replyTo) ?? replyTo);
    const found = { ...status, type: "reply" as const, identity: normalUrl(url) ?? url, subject };
    return toMention({ ...found, ...(await readText(html, url)) }, parts);
  });
  // An account has one reaction of a type to a post, whatever the number of copies.
  const others = reactions
    .map((reaction) => ({ ...reaction, url: `${reaction.author.url}#${reaction.type}` }))
    .filter(isWanted)
    .map(({ url, ...reaction }) => ({ ...reaction, identity: url, subject: page, text: "", html: null }));
  return [...(await Promise.all(statuses)), ...others.map((found) => toMention(found, parts))];
}

async function readText(html: string, url: string): Promise<Pick<NewMention, "text" | "html">> {
  const { tree } = await parseHtml(html);
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
