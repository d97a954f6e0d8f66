import { expect, it } from "vitest";
import { ENGLISH } from "../../plugin/options/words.js";
import { toHtml } from "../../plugin/site/html.js";
import { mentionItem } from "../../plugin/site/mention-markup.js";
import { viaHost } from "../../plugin/site/mention-sentence.js";
import { longMention } from "../helpers/long-conversation.js";

it.each([
  ["https://brid.gy/like/1", "https://bob.example/", "brid.gy"],
  ["https://eve.example/p", "https://BOB.example/", "eve.example"],
  ["https://eve.example:8443/p", "https://eve.example/", "eve.example:8443"],
  ["https://www.bob.example/p", "https://bob.example", null],
  ["http://bob.example/p", "https://www.bob.example/about?x#y", null],
  ["https://bob.example/twtxt.txt#:~:text=2026-01-02T03:04:05Z", "https://bob.example/twtxt.txt", null],
  ["https://bob.example/p", "", null],
])("a mention at %s by %s is via %s", (source, url, via) => {
  expect(viaHost({ source, author: { url } })).toBe(via);
});

it.each(["mention", "reply", "like", "repost", "bookmark"] as const)(
  "a %s of another site's author names its host",
  (type) => {
    const mention = longMention("https://alice.example/p/", 1, {
      type,
      source: "https://brid.gy/x/1",
      author: { name: "Bob", url: "https://bob.example/", photo: null },
    });
    const item = (target: string | null, received: string | null) =>
      toHtml(
        mentionItem(
          { ...mention, received },
          {
            target,
            feed: { url: "https://alice.example/twtxt.txt", nick: "alice" },
            words: ENGLISH,
            headingLevel: 2,
            findTitle: () => null,
            toPicture: () => [],
            dates: { format: () => "today" },
            once: (_, create) => create(),
          },
        ),
      );
    const via = 'Bob</span></a><span class="twtxt-via">, via <bdi>brid.gy</bdi></span>';
    expect(item("https://alice.example/p/", mention.received)).toContain(via);
    expect(item(null, mention.received)).toContain(via);
    expect(item(null, null)).not.toContain("twtxt-via");
  },
);
