import { describe, expect, it } from "vitest";
import { SiteConversations } from "../../plugin/eleventy/mentions/conversations.js";
import {
  conversationHtml,
  formatOnce,
  type MentionListOptions,
  mentionListHtml,
  type PostState,
  writeOnce,
} from "../../plugin/eleventy/mentions/mention-html.js";
import { element } from "../../plugin/site/html.js";
import type { PublicMention } from "../../plugin/site/mention-list.js";
import { dateFormat, type MentionContext } from "../../plugin/site/mention-markup.js";
import { listOptions } from "../helpers/list-options.js";
import { longMention } from "../helpers/long-conversation.js";

const POST = "https://alice.example/posts/quinces/";

/** The HTML of a post's mentions and of all mentions. */
function pagesOf(
  mentions: readonly PublicMention[],
  once: MentionContext["once"],
  comments: Partial<MentionListOptions> = {},
) {
  const options = listOptions({
    ...{ style: null, target: null, once, dates: formatOnce(dateFormat("en", "UTC")) },
    pictures: new Map([["https://bob.example/bob.png", "/bob.png"]]),
  });
  const post = conversationHtml(new SiteConversations(mentions, []).of(POST), {
    ...options,
    ...comments,
    target: POST,
  });
  return { post, list: mentionListHtml(mentions, options) };
}

function mentionAt(second: number, changes: Partial<PublicMention>): PublicMention {
  return longMention(POST, 1, {
    ...{ type: "mention", hash: null, hashV1: null, published: `2026-01-02T03:04:0${second}Z` },
    author: { name: "bob", url: "https://bob.example/twtxt.txt", photo: "https://bob.example/bob.png" },
    ...{
      source: `https://bob.example/twtxt.txt#${second}`,
      text: "Quinces & pears",
      html: "<p>Quinces &#x26; pears</p>",
    },
    ...changes,
  });
}

describe("mentions under a post and in the list of all mentions", () => {
  it("names a guest who states no name with the word for a guest, and without the mark of guests", () => {
    const author = { url: "https://alice.example/guests/anon-0123456789abcdef.txt", photo: null, guest: true } as const;
    const comments = [
      mentionAt(1, { type: "reply", author: { ...author, name: "guest" } }),
      mentionAt(2, { type: "reply", author: { ...author, name: "Dana" } }),
    ];
    const { post } = pagesOf(comments, writeOnce());
    expect(post.match(/twtxt-name" dir="auto">(Guest|Dana)</g)).toHaveLength(2);
    expect(post.match(/twtxt-guest/g)).toHaveLength(1);
  });

  it("leads from each reply to the form that answers it, by its hash or URL, where readers can comment", () => {
    const replies = [
      mentionAt(1, { type: "reply", hash: "abcdefghijkl" }),
      mentionAt(2, { type: "reply", source: "https://carol.example/medlars?a&b" }),
      mentionAt(3, { type: "like" }),
    ];
    const write = () => element("twtxt-comments", {});
    const comments = { action: "https://alice.example/comments", script: "/c.js", ownPage: "", write };
    const readLinks = (post: PostState) =>
      [...pagesOf(replies, writeOnce(), { comments, post }).post.matchAll(/<a href="([^"]*)" [^>]*>Reply<\/a>/g)].map(
        ([, href = ""]) => [...new URL(href.replaceAll("&amp;", "&")).searchParams.values()],
      );
    expect(readLinks("open")).toEqual([
      [POST, "abcdefghijkl"],
      [POST, "https://carol.example/medlars?a&b"],
    ]);
    expect(readLinks("closed")).toEqual([]);
    expect(pagesOf(replies, writeOnce()).post).not.toContain("comments");
  });

  const lines = Array.from({ length: 30 }, (_, i) => `line ${i}`).join("<br>");
  const mentions = [
    mentionAt(5, { html: `<p>${lines}</p>` }),
    mentionAt(4, { type: "like" }),
    mentionAt(3, {
      type: "reply",
      html: '<p><a href="javascript:alert(1)" onclick="x">Pears</a><script>x</script></p>',
    }),
    mentionAt(2, { author: { name: "<b>carol</b>", url: "javascript:alert(1)", photo: null } }),
    mentionAt(1, { html: null, text: "<b>" }),
  ];

  it("have the same HTML as without the shared cache", () => {
    const alone = pagesOf(mentions, (_, create) => create());
    const together = pagesOf(mentions, writeOnce());
    expect(together.post).toBe(alone.post);
    expect(together.list).toBe(alone.list);
  });

  it("are parsed once", () => {
    const once = writeOnce();
    const read: string[] = [];
    pagesOf(mentions, (key, create) =>
      once(key, () => {
        if (key.startsWith("<p>")) read.push(key);
        return create();
      }),
    );
    expect(read).toHaveLength(new Set(read).size);
    expect(read).toHaveLength(3);
  });
});
