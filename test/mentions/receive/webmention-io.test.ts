import { describe, expect, it } from "vitest";
import { readWebmentionExport } from "../../../plugin/mentions/receive/webmention-io.js";

const ENTRY = {
  type: "entry",
  author: { type: "card", name: "Bob", photo: "https://webmention.io/avatar/bob.png", url: "https://bob.example" },
  url: "https://bob.example/re-quinces",
  published: "2024-03-02T10:00:00+01:00",
  "wm-received": "2024-03-02T09:05:00Z",
  "wm-id": 1,
  "wm-source": "https://brid.gy/comment/1",
  "wm-target": "https://alice.example/posts/quinces/",
  "wm-property": "in-reply-to",
  "wm-private": false,
  content: { html: "<p>Quite so.</p>", text: "Quite so." },
};

const mentionsIn = (json: unknown) => readWebmentionExport(json).mentions;

describe("an export from webmention.io", () => {
  it("is read from mentions.jf2", () => {
    expect(mentionsIn({ type: "feed", name: "Webmentions", children: [ENTRY] })).toEqual([
      {
        source: "https://brid.gy/comment/1",
        url: "https://bob.example/re-quinces",
        target: "https://alice.example/posts/quinces/",
        type: "reply",
        author: { name: "Bob", url: "https://bob.example", photo: "https://webmention.io/avatar/bob.png" },
        text: "Quite so.",
        html: "<p>Quite so.</p>",
        published: "2024-03-02T09:00:00Z",
        received: "2024-03-02T09:05:00Z",
      },
    ]);
  });

  it("is read from the older mentions.json", () => {
    const link = {
      source: "https://carol.example/like",
      target: "https://alice.example/",
      id: 2,
      private: false,
      data: { author: null, url: null, name: null, content: null, published: null },
      activity: { type: "like" },
    };
    expect(mentionsIn({ links: [link] })).toEqual([
      {
        source: "https://carol.example/like",
        target: "https://alice.example/",
        type: "like",
        author: { name: "carol.example", url: "https://carol.example/like", photo: null },
        text: "",
        published: null,
        received: null,
      },
    ]);
  });

  it.each([
    ["like-of", "like"],
    ["repost-of", "repost"],
    ["bookmark-of", "bookmark"],
    ["mention-of", "mention"],
    ["rsvp", "mention"],
    ["constructor", "mention"],
    [null, "mention"],
  ])("%s is a %s", (property, type) => {
    expect(mentionsIn({ children: [{ ...ENTRY, "wm-property": property }] })[0]?.type).toBe(type);
  });

  it("omits entries that are private or whose source is not a web page", () => {
    const children = [
      { ...ENTRY, "wm-private": true },
      { ...ENTRY, url: "javascript:alert(1)", "wm-source": "mailto:bob@bob.example" },
    ];
    expect(mentionsIn({ children })).toEqual([]);
  });

  it("is read with limited texts, without control characters or invalid URLs", () => {
    const hostile = {
      ...ENTRY,
      author: { name: `\u0007${"x".repeat(5000)}`, url: "javascript:alert(1)", photo: "data:image/svg+xml,x" },
      content: { text: "🍐".repeat(9000) },
    };
    const [mention] = mentionsIn({ children: [hostile] });
    expect(mention?.author).toEqual({ name: `${"x".repeat(99)}…`, url: ENTRY.url, photo: null });
    expect(mention?.text).toBe(`${"🍐".repeat(4999)}…`);
  });

  it.each([
    ["a list", [ENTRY]],
    ["children", { children: [ENTRY] }],
    ["webmentions, as in a cache", { lastFetched: "2024-03-02T10:00:00Z", webmentions: [ENTRY] }],
    ["the lists of several pages", [{ children: [ENTRY] }, { type: "feed", children: [] }]],
    ["an object in an object", { children: [{ children: [ENTRY] }] }],
    [
      "go-jamming",
      { status: "success", json: [{ source: ENTRY["wm-source"], target: ENTRY["wm-target"], content: "Quite so." }] },
    ],
  ])("is read from %s", (_, json) => {
    expect(mentionsIn(json)).toMatchObject([{ source: "https://brid.gy/comment/1", text: "Quite so." }]);
  });

  it("is read although single entries are not, which are counted", () => {
    const { mentions, unreadable } = readWebmentionExport([
      ENTRY,
      null,
      "x",
      { "wm-source": 5 },
      { ...ENTRY, "wm-private": true },
    ]);
    expect(mentions).toHaveLength(1);
    expect(unreadable).toBe(4);
  });

  it.each([null, {}, { children: "x" }, { children: [{}] }, "text"])("bad-file: %j", (json) => {
    expect(() => readWebmentionExport(json)).toThrow(expect.objectContaining({ code: "bad-file" }));
  });
});
