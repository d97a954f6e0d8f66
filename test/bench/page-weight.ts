// test/bench/page-weight.ts: the HTML of the replies under a post.
import { gzipSync } from "node:zlib";
import { SiteConversations } from "../../plugin/eleventy/mentions/conversations.js";
import { conversationHtml, formatOnce } from "../../plugin/eleventy/mentions/mention-html.js";
import type { PublicMention } from "../../plugin/site/mention-list.js";
import { dateFormat } from "../../plugin/site/mention-markup.js";
import { listOptions } from "../helpers/list-options.js";
import { longMention } from "../helpers/long-conversation.js";

const COUNT = 20;
const SITE = "https://alice.example";
const POST = `${SITE}/posts/quinces/`;
const TEXT = "The ones from the old tree were earlier this year, and smaller. How long do you cook them?";

/** The sizes of a list without mentions and of one with 20 replies, and the share of one reply, in bytes. */
export function weighReplies(): { name: string; bytes: number; compressed: number }[] {
  const sizes = [0, COUNT].map((count) => {
    const html = Buffer.from(listHtml(Array.from({ length: count }, (_, i) => reply(i))));
    return { bytes: html.length, compressed: gzipSync(html, { level: 9 }).length };
  });
  const [empty = { bytes: 0, compressed: 0 }, list = empty] = sizes;
  const share = (key: keyof typeof empty) => Math.round((list[key] - empty[key]) / COUNT);
  return [
    { name: "the list of a post without mentions", ...empty },
    { name: `with ${COUNT} replies of ${TEXT.length} characters`, ...list },
    { name: "each reply", bytes: share("bytes"), compressed: share("compressed") },
  ];
}

function listHtml(mentions: readonly PublicMention[]): string {
  return conversationHtml(
    new SiteConversations(mentions, []).of(POST),
    listOptions({
      ...{ target: POST, endpoint: `${SITE}/webmention`, dates: formatOnce(dateFormat("en", "UTC")) },
      ...{ script: "/mentions/twtxt-mentions.js", style: "/mentions/twtxt.css" },
    }),
  );
}

/** Every third one answers the post, the others the one before. */
function reply(i: number): PublicMention {
  const replyTo = i % 3 === 0 ? null : `hash${i - 1}`;
  return longMention(POST, i, { text: TEXT, html: `<p>${TEXT}</p>`, under: POST, replyTo });
}
