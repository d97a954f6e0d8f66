// plugin/mentions/networks/thread-mentions.ts: the replies and reactions of a thread as mentions of a post.
import { parseHtml, walkElements } from "../../http/parse-html.js";
import { isSameUrl, normalUrl } from "../../http/same-url.js";
import type { NewMention } from "../receive/event.js";
import type { Moderation } from "../receive/moderation.js";
import { readContent } from "../verify/page-content.js";
import { quoteName, TEXT_LIMIT } from "../verify/source-text.js";
import type { Account, Copy, Reaction, Status, Thread } from "./network.js";

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
  const mentions: NewMention[] = [];
  for (const status of replies) {
    if (isWanted(status.url, status.author, parts)) mentions.push(await toReply(status, parts));
  }
  for (const reaction of reactions) {
    // An account has one reaction of a type to a post, whatever the number of copies.
    const url = `${reaction.author.url}#${reaction.type}`;
    if (isWanted(url, reaction.author, parts)) mentions.push(toReaction(url, reaction, parts));
  }
  return mentions;
}

function isWanted(url: string, author: Account, { moderation, findOwnPost }: PostParts): boolean {
  return findOwnPost(url) === null && ![url, author.url].some((each) => moderation.isBlocked(each));
}

async function toReply({ url, author, html, published, replyTo }: Status, parts: PostParts): Promise<NewMention> {
  const { tree } = await parseHtml(html);
  const [body] = [...walkElements(tree, ({ tagName }) => tagName !== "body")].filter(
    ({ tagName }) => tagName === "body",
  );
  const content = body ? readContent(body, url, TEXT_LIMIT) : null;
  const parent = replyTo === null ? parts.page : (parts.findOwnPost(replyTo) ?? replyTo);
  const found = { type: "reply" as const, text: content?.text ?? "", html: content?.html ?? null };
  return toMention({ ...found, identity: normalUrl(url) ?? url, author, published, subject: parent }, parts);
}

function toReaction(identity: string, { type, author, published }: Reaction, parts: PostParts): NewMention {
  return toMention({ type, text: "", html: null, identity, author, published, subject: parts.page }, parts);
}

type Found = Pick<NewMention, "type" | "text" | "html" | "identity" | "author" | "published" | "subject">;

function toMention(found: Found, { page, copy, moderation }: PostParts): NewMention {
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

/** Finds the post of a copy by its URL. @param copies - all copies of posts of the site */
export function ownPostFinder(copies: readonly { url: string; page: string }[]): PostParts["findOwnPost"] {
  return (url) => copies.find((copy) => isSameUrl(copy.url, url))?.page ?? null;
}
