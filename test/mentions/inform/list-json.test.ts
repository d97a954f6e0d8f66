import { beforeEach, describe, expect, it } from "vitest";
import { listMentions } from "../../../plugin/mentions/inform/list-json.js";
import type { StoredMention } from "../../../plugin/mentions/mention.js";
import { SiteIndex } from "../../../plugin/mentions/receive/site-index.js";
import { parseMentionList } from "../../../plugin/site/mention-list.js";
import { hostAt } from "../../helpers/endpoints.js";
import { listOf, storedMention } from "../../helpers/stored-mentions.js";

const FEED = "https://alice.example/twtxt.txt";
const PAGE = "https://alice.example/posts/quinces/";

let stored: StoredMention[];
let titles: Record<string, string>;
beforeEach(() => {
  stored = [];
  titles = {};
});

/** Calls the real handler; errors become responses as on a host. */
async function ask(query = "", init: RequestInit = {}) {
  const feeds = [FEED, "https://old.example/twtxt.txt"];
  const siteIndex = new SiteIndex({ feeds, pages: [PAGE], titles, twts: [] });
  const handler = listMentions({ list: listOf(stored), siteIndex, cacheTag: "twtxt-mentions" });
  const request = new Request(`https://alice.example/mentions.json${query}`, init);
  const response = await hostAt("https://alice.example", { mentionsJson: handler }, (line) => expect.fail(line))(
    request,
  );
  const text = await response.text();
  return { status: response.status, header: (name: string) => response.headers.get(name), text };
}

const received = (text: string) =>
  (JSON.parse(text) as { mentions: { received: string }[] }).mentions.map((m) => m.received);
const at = (second: number) => `2026-01-02T03:05:${String(second).padStart(2, "0")}.000Z`;

describe("the list of mentions", () => {
  it("has the titles of the pages that the mentions are about", async () => {
    titles = { [PAGE]: "Quinces" };
    stored = [
      storedMention({ received: at(1), target: PAGE }),
      storedMention({ received: at(2), under: PAGE }),
      storedMention({ received: at(3) }),
    ];
    const { mentions } = JSON.parse((await ask()).text) as { mentions: { title?: string }[] };
    expect(mentions.map(({ title }) => title)).toEqual([undefined, "Quinces", "Quinces"]);
  });

  it("200: shown mentions, newest first, with their public fields", async () => {
    stored = [
      storedMention({ received: at(1) }),
      storedMention({
        received: at(3),
        under: PAGE,
        type: "reply",
        subject: "abcdefg",
        html: "<p>hi</p>",
        hash: "hijklmn",
      }),
      storedMention({ received: at(2), identity: "https://carol.example/a/", timestamp: null, instant: null }),
    ];
    const { status, header, text } = await ask();
    expect(status).toBe(200);
    expect(header("content-type")).toBe("application/json");
    expect(JSON.parse(text)).toEqual({
      mentions: [
        {
          source: "https://bob.example/twtxt.txt#:~:text=2026-01-02T03:04:05Z",
          target: FEED,
          under: PAGE,
          type: "reply",
          author: { name: "bob", url: "https://bob.example/twtxt.txt", photo: null },
          text: "hello @<alice https://alice.example/twtxt.txt>",
          html: "<p>hi</p>",
          hash: "hijklmn",
          hashV1: null,
          replyTo: "abcdefg",
          published: "2026-01-02T03:04:05Z",
          received: at(3),
        },
        expect.objectContaining({ source: "https://carol.example/a/", under: null, received: at(2) }),
        expect.objectContaining({ received: at(1) }),
      ],
      next: null,
    });
    expect(parseMentionList(JSON.parse(text))).toEqual(JSON.parse(text));
  });

  it("200: a page of long texts has at most 256 KiB, and the next one goes on where it ends", async () => {
    const text = "quinces ".repeat(625);
    stored = Array.from({ length: 50 }, (_, n) => storedMention({ received: at(n), text, html: `<p>${text}</p>` }));
    const times: string[] = [];
    for (let query = "?limit=100"; query !== ""; ) {
      const { text } = await ask(query);
      expect(text.length).toBeLessThanOrEqual(256 * 1024 + 100);
      times.push(...received(text));
      const { next } = JSON.parse(text);
      query = next === null ? "" : `?limit=100&after=${encodeURIComponent(next)}`;
    }
    expect(times).toEqual(stored.map((mention) => mention.received).reverse());
  });

  it("200: no held or rejected mentions", async () => {
    stored = [storedMention({ state: "held" }), storedMention({ state: "rejected", received: at(2) })];
    expect(JSON.parse((await ask()).text)).toEqual({ mentions: [], next: null });
  });

  it("200: mentions of a target and those under it, for any spelling of its URL", async () => {
    stored = [
      storedMention({ received: at(1), target: PAGE }),
      storedMention({ received: at(2), under: PAGE }),
      storedMention({ received: at(3) }),
    ];
    expect(received((await ask(`?target=${encodeURIComponent(PAGE)}`)).text)).toEqual([at(2), at(1)]);
    expect(received((await ask("?target=HTTP://Alice.example:80/posts/quinces/%23top")).text)).toEqual([at(2), at(1)]);
    expect(received((await ask("?target=https://old.example/twtxt.txt")).text)).toEqual([at(3), at(2)]);
  });

  it("200: 20 mentions by default, at most 100, and the rest by cursor", async () => {
    stored = Array.from({ length: 150 }, (_, n) => storedMention({ received: new Date(n * 1000).toISOString() }));
    expect(received((await ask()).text)).toHaveLength(20);

    const seen: string[] = [];
    for (let after: string | null = ""; after !== null; ) {
      const { text } = await ask(`?limit=100${after && `&after=${encodeURIComponent(after)}`}`);
      seen.push(...received(text));
      after = JSON.parse(text).next;
    }
    expect(seen).toEqual(stored.map((mention) => mention.received).toReversed());
  });

  it.each([
    ["?page=2", "bad-request"],
    ["?limit=1&limit=1", "bad-request"],
    ["?limit=0", "bad-request"],
    ["?limit=101", "bad-request"],
    ["?limit=010", "bad-request"],
    ["?limit=ten", "bad-request"],
    ["?limit=", "bad-request"],
    ["?after=", "bad-request"],
    ["?target=", "bad-request"],
    ["?target=https://mallory.example/", "not-our-target"],
    ["?target=%2Fposts%2Fquinces%2F", "not-our-target"],
  ])("400: %s is %s, and not cached", async (query, code) => {
    const { status, header, text } = await ask(query);
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ code });
    expect(header("cache-control")).toBe("no-store");
    expect(header("netlify-cdn-cache-control")).toBeNull();
  });

  it("is cached by the CDN with a tag and its three parameters, and revalidated by browsers", async () => {
    const { header } = await ask("?limit=5");
    expect(header("netlify-cdn-cache-control")).toMatch(/^public, durable, s-maxage=\d+$/);
    expect(header("netlify-cache-tag")).toBe("twtxt-mentions");
    expect(header("netlify-vary")).toBe("query=target|after|limit");
    expect(header("cache-control")).toBe("public, max-age=0, must-revalidate");
  });

  it("304 for a fresh copy, which the CDN does not cache; 200 after a new mention", async () => {
    stored = [storedMention()];
    const etag = (await ask()).header("etag") ?? "";
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const again = await ask("", { headers: { "if-none-match": known } });
      expect(again).toMatchObject({ status: 304, text: "" });
      expect(again.header("etag")).toBe(etag);
      expect(again.header("netlify-cdn-cache-control")).toBeNull();
    }
    stored.push(storedMention({ received: at(9) }));
    expect((await ask("", { headers: { "if-none-match": etag } })).status).toBe(200);
  });

  it("responds to HEAD like GET, without the body", async () => {
    stored = [storedMention()];
    const [get, head] = [await ask(), await ask("", { method: "HEAD" })];
    expect(head).toMatchObject({ status: 200, text: "" });
    expect(head.header("etag")).toBe(get.header("etag"));
    expect(head.header("netlify-cache-tag")).toBe("twtxt-mentions");
  });

  it("allows any origin, including preflight requests; 405 for other methods", async () => {
    expect((await ask()).header("access-control-allow-origin")).toBe("*");
    const options = await ask("", { method: "OPTIONS" });
    expect(options).toMatchObject({ status: 204 });
    expect(options.header("allow")).toBe("GET, HEAD, OPTIONS");
    expect(options.header("access-control-allow-origin")).toBe("*");

    const post = await ask("", { method: "POST" });
    expect(post.status).toBe(405);
    expect(post.header("allow")).toBe("GET, HEAD, OPTIONS");
  });
});
