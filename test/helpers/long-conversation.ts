// test/helpers/long-conversation.ts: a long conversation under a post, with all kinds of texts.
import type { OwnTwt } from "../../plugin/eleventy/mentions/conversations.js";
import type { PublicMention } from "../../plugin/site/mention-list.js";
import { textHtml } from "../../plugin/site/text-html.js";

const LEVELS = 5;
const REPLIES = 28;

const TEXTS = [
  "Thank you. I have tried `npm ci`, and *it works*: https://example.org/a/path/that/is/as/long/as/a/line/of/this/page",
  "```js\nconst quinces = 3;\n  if (quinces) cook();\n```",
  "quince".repeat(834).slice(0, 5000),
  "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd, \u05d7\u05d1\u05d5\u05e9\u05d9\u05dd!",
  Array.from({ length: 30 }, (_, line) => `line ${line}`).join("\n"),
  "@<alice https://alice.example/twtxt.txt> look: ![a cat](https://pictures.example/my%20cat.jpg)",
  `Z${"\u0301\u0302\u0303\u0304".repeat(20)}algo`,
];

/** A mention of a post, at a minute of the same day. */
export function longMention(post: string, minute: number, change: Partial<PublicMention> = {}): PublicMention {
  const instant = new Date(Date.UTC(2026, 0, 2, 3, minute)).toISOString();
  const published = `${instant.slice(0, 19)}Z`;
  const { text = TEXTS[minute % TEXTS.length] ?? "" } = change;
  return {
    source: `https://bob${minute}.example/twtxt.txt#:~:text=${published}`,
    target: post,
    under: null,
    type: "reply",
    author: { name: `bob ${minute}`, url: `https://bob${minute}.example/`, photo: null },
    text,
    html: textHtml(text, "twt"),
    hash: `hash${minute}`,
    hashV1: `h${minute}`,
    replyTo: null,
    published,
    received: instant,
    ...change,
  };
}

/** 28 replies of others on five levels, 40 likes and other mentions of a post, newest first. */
export function longConversation(post: string): PublicMention[] {
  const replies = Array.from({ length: REPLIES }, (_, minute) =>
    longMention(post, minute, { replyTo: minute % LEVELS === 0 ? null : `hash${minute - 1}` }),
  );
  const zalgo = { name: `Z${"\u0301\u0302".repeat(40)}algo`, url: "https://zalgo.example/", photo: null };
  const others = [
    longMention(post, 40, { type: "mention", author: zalgo }),
    longMention(post, 41, { type: "repost", author: zalgo }),
    longMention(post, 42, { type: "bookmark" }),
  ];
  const likes = Array.from({ length: 40 }, (_, index) => longMention(post, 50 + index, { type: "like" }));
  return [...replies, ...others, ...likes].reverse();
}

/** Two replies of the author, to the first and the fifth reply of the conversation. */
export function ownAnswers(post: string): OwnTwt[] {
  return [0, 4].map((minute) => {
    const page = new URL(`/notes/${minute}/`, post).href;
    const timestamp = `2026-01-02T03:${String(minute).padStart(2, "0")}:30Z`;
    const twt = { hash: `own${minute}`, hashV1: null, replyTo: `hash${minute}`, published: timestamp };
    const own = longMention(post, minute, { ...twt, source: page, target: "", text: "Good point, thank you!" });
    const author = { name: "alice", url: new URL("/", post).href, photo: null };
    const reply = () => ({ ...own, author, received: null });
    return { page, timestamp, hashes: [twt.hash], replyTo: twt.replyTo, reply };
  });
}
