import { describe, expect, it } from "vitest";
import { checkClaim, readClaim, readForm } from "../../../plugin/mentions/receive/receive.js";
import { SiteIndex } from "../../../plugin/mentions/receive/site-index.js";
import type { SitePages } from "../../../plugin/site/site.js";

const FEED = "https://alice.example/twtxt.txt";
const PAGE = "https://alice.example/posts/quinces/";
const BOB = "https://bob.example/twtxt.txt";
const AT = "2026-01-02T03:04:05Z";

const pages: SitePages = {
  feeds: [FEED, "https://old.example/alice.txt"],
  pages: ["https://alice.example/", PAGE],
  twts: [{ timestamp: AT, hashes: ["abcdefg"], page: PAGE, replyTo: null }],
};
const siteIndex = new SiteIndex(pages, "https://alice.example");

async function posted(body: string | Uint8Array, headers: Record<string, string> = {}): Promise<unknown> {
  const request = new Request("https://alice.example/webmention", {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    body,
  });
  return readClaim(await readForm(request), siteIndex);
}

function timestampsOf(fragment: string): string[] {
  return checkClaim(`${BOB}#${fragment}`, FEED, siteIndex).timestamps;
}

describe("the form of a mention", () => {
  it("names source and target", async () => {
    const body = new URLSearchParams({ source: `${BOB}#:~:text=${AT}`, target: FEED });
    expect(await posted(body.toString())).toEqual({
      source: BOB,
      timestamps: [AT],
      target: { url: FEED, kind: "feed" },
      under: null,
    });
  });

  it("may have whitespace and line ends around its values, and additional fields", async () => {
    const body = new URLSearchParams({ source: ` ${BOB}#:~:text=${AT}\r\n`, target: `\t${FEED} `, vouch: "x" });
    expect(await posted(body.toString())).toMatchObject({ source: BOB, timestamps: [AT] });
  });

  it("is unencoded from timeline, so that plus signs arrive as spaces", async () => {
    expect(await posted(`source=${BOB}#:~:text=2026-01-02T03:04:05+01:00&target=${FEED}`)).toMatchObject({
      source: BOB,
      timestamps: ["2026-01-02T03:04:05+01:00"],
    });
  });

  it("may have parameters and uppercase letters in its content type", async () => {
    const body = `source=${encodeURIComponent(BOB)}&target=${encodeURIComponent(FEED)}`;
    const type = { "content-type": "Application/X-WWW-Form-Urlencoded; charset=UTF-8" };
    expect(await posted(body, type)).toMatchObject({ source: BOB, timestamps: [] });
  });

  const good = new URLSearchParams({ source: BOB, target: FEED }).toString();

  it.each([
    ["bad-content-type", "JSON", good, { "content-type": "application/json" }],
    ["bad-content-type", "multipart", good, { "content-type": "multipart/form-data; boundary=x" }],
    ["bad-content-type", "a Content-Encoding", good, { "content-encoding": "gzip" }],
    ["body-too-large", "more than 8 KiB", `${good}&x=${"x".repeat(8192)}`, {}],
    ["bad-request", "no source", `target=${encodeURIComponent(FEED)}`, {}],
    ["bad-request", "no target", `source=${encodeURIComponent(BOB)}`, {}],
    ["bad-request", "an empty source", `source=+&target=${encodeURIComponent(FEED)}`, {}],
    ["bad-request", "two sources", `${good}&source=${encodeURIComponent(BOB)}`, {}],
    ["bad-request", "two targets", `${good}&target=${encodeURIComponent(FEED)}`, {}],
    ["bad-request", "an empty body", "", {}],
  ])("%s: %s", async (code, _, body, headers) => {
    await expect(posted(body, headers)).rejects.toMatchObject({ code });
  });

  it("bad-content-type: no content type", async () => {
    const request = new Request("https://alice.example/webmention", { method: "POST", body: Buffer.from(good) });
    await expect(readForm(request)).rejects.toMatchObject({ code: "bad-content-type" });
  });
});

describe("the fragment of a source", () => {
  it.each([
    ["raw", `:~:text=${AT}`, AT],
    ["percent-encoded", ":~:text=2026-01-02T03%3A04%3A05Z", AT],
    ["percent-encoded as a whole", encodeURIComponent(`:~:text=${AT}`), AT],
    ["percent-encoded twice", encodeURIComponent(encodeURIComponent(`:~:text=${AT}`)), AT],
    ["with dashes encoded", ":~:text=2026%2D01%2D02T03:04:05Z", AT],
    ["with an offset", ":~:text=2026-01-02T03:04:05%2B01:00", "2026-01-02T03:04:05+01:00"],
    ["with a plus decoded as a space", ":~:text=2026-01-02T03:04:05 01:00", "2026-01-02T03:04:05+01:00"],
    ["with an end parameter", `:~:text=${AT},%0A`, AT],
    ["with an end parameter encoded once more", `:~:text=${AT}%2C%250A`, AT],
    ["after an element's id", `top:~:text=${AT}`, AT],
    ["with a second text", `:~:text=${AT}&text=more`, AT],
  ])("%s", (_, fragment, timestamp) => {
    expect(timestampsOf(fragment)).toContain(timestamp);
    expect(new Set(timestampsOf(fragment)).size).toBe(timestampsOf(fragment).length);
  });

  it("bad-source: names two times, which could verify one twt and remove another", () => {
    const fragment = "%3A~%3Atext=2026-01-02T03:04:05Z&:~:text=2025-01-02T03:04:05Z";
    expect(() => timestampsOf(fragment)).toThrow(expect.objectContaining({ code: "bad-source" }));
  });

  it("means a page if it is not a timestamp", () => {
    expect(timestampsOf(":~:text=quinces")).toEqual([]);
    expect(timestampsOf("section-2")).toEqual([]);
    expect(timestampsOf("twt=2026-01-02T03:04:05Z")).toEqual([]);
  });

  it.each([":~:text=2026-13-02T03:04:05Z", ":~:text=2026-02-30T03%3A04:05Z"])("bad-source: %s", (fragment) => {
    expect(() => timestampsOf(fragment)).toThrow(expect.objectContaining({ code: "bad-source" }));
  });
});

describe("source and target", () => {
  it("may be encoded twice", () => {
    const twice = encodeURIComponent(`${BOB}#:~:text=${AT}`);
    expect(checkClaim(twice, encodeURIComponent(FEED), siteIndex)).toMatchObject({ source: BOB, timestamps: [AT] });
  });

  it.each([
    ["http", "http://alice.example/twtxt.txt", FEED],
    ["an uppercase host and a default port", "https://ALICE.example:443/twtxt.txt", FEED],
    ["a fragment", `${PAGE}#comments`, PAGE],
    ["an alias", "https://old.example/alice.txt", FEED],
  ])("a target on this site is recognized with %s", (_, target, url) => {
    expect(checkClaim(BOB, target, siteIndex).target.url).toBe(url);
  });

  it("a target that names a twt of this site is assigned to its post", () => {
    expect(checkClaim(BOB, `${FEED}#:~:text=${AT}`, siteIndex)).toMatchObject({ target: { url: FEED }, under: PAGE });
    expect(checkClaim(BOB, `${FEED}#:~:text=2026-01-02T03:04:06Z`, siteIndex).under).toBeNull();
  });

  it.each([
    ["without the last slash", "https://alice.example/posts/quinces", PAGE],
    ["with index.html", `${PAGE}index.html`, PAGE],
    ["with a query", `${PAGE}?utm_source=feed&fbclid=1`, PAGE],
    ["without the slash, with a query", "https://alice.example/posts/quinces?ref=x", PAGE],
    ["with needless encoding", "https://alice.example/posts/%71uinces/", PAGE],
    ["with a doubled slash", "https://alice.example//posts/quinces/", PAGE],
    ["at the root, with a query", "https://alice.example?x", "https://alice.example/"],
    ["in a yearly archive", "https://alice.example/twtxt-2024.txt", FEED],
    ["in a monthly archive", "http://alice.example/twtxt-2024-03.txt", FEED],
    ["in an archive of an alias", "https://old.example/alice-2024.txt", FEED],
  ])("a target is known %s", (_, target, expected) => {
    expect(checkClaim(BOB, target, siteIndex).target.url).toBe(expected);
  });

  it.each([
    ["https://alice.example/a?utm_source=x", "https://alice.example/a"],
    ["https://alice.example/a/?utm_source=x", "https://alice.example/a/"],
    ["https://alice.example/a/index.html", "https://alice.example/a"],
    ["https://alice.example/search", undefined],
  ])("match the page with the most similar URL: %s is %s", (url, page) => {
    const paths = ["a", "a/", "search?page=1"];
    const site = new SiteIndex({
      feeds: [FEED],
      pages: paths.map((path) => `https://alice.example/${path}`),
      twts: [],
    });
    expect(site.target(url)?.url).toBe(page);
  });

  it("a page with a query is not confused with another page", () => {
    const searched = `${PAGE}?lang=de`;
    const site = new SiteIndex({ feeds: [FEED], pages: [PAGE, searched], twts: [] });
    expect(site.target(searched)?.url).toBe(searched);
    expect(site.target(PAGE)?.url).toBe(PAGE);
  });

  it.each([
    ["not-our-target", BOB, "https://carol.example/"],
    ["not-our-target", BOB, "https://alice.example/posts/quince"],
    ["not-our-target", BOB, "https://alice.example/posts/quinces/x"],
    ["not-our-target", BOB, "https://alice.example/twtxt.txt?x=1"],
    ["not-our-target", BOB, "https://alice.example/twtxt-20.txt"],
    ["not-our-target", BOB, "https://alice.example:8443/"],
    ["bad-target", BOB, "alice"],
    ["bad-target", BOB, "ftp://alice.example/"],
    ["bad-target", BOB, "https://user:secret@alice.example/"],
    ["bad-source", "bob", FEED],
    ["bad-source", "javascript:alert(1)", FEED],
    ["bad-source", "https://user@bob.example/", FEED],
    ["bad-source", "https://bob.example/\u0007", FEED],
    ["bad-source", "http://ALICE.example/twtxt.txt#:~:text=2026-01-02T03:04:05Z", PAGE],
    ["bad-source", "https://old.example/alice.txt", FEED],
    ["bad-source", "https://alice.example/twtxt-2024.txt", PAGE],
    ["bad-request", `${PAGE}#a`, `${PAGE}#b`],
    ["bad-request", `${PAGE}?utm_source=x`, PAGE],
    ["bad-source", "https://alice.example/", PAGE],
    ["bad-source", "https://alice.example/tags/quinces/", PAGE],
    ["bad-source", "http://ALICE.example.:80/%74ags/?a=b#c", FEED],
    ["bad-source", "https://alice.example:443/x/../guests/eve.txt#:~:text=2026-01-02T03:04:05Z", FEED],
    ["bad-source", "https://alice.example", PAGE],
  ])("%s: from %s to %s", (code, source, target) => {
    expect(() => checkClaim(source, target, siteIndex)).toThrow(expect.objectContaining({ code }));
  });

  it.each([
    ["https://alice.example/blog", "bad-source"],
    ["https://alice.example/blog/", "bad-source"],
    ["http://alice.example/blog/tags/?page=2", "bad-source"],
    ["https://alice.example/blogger/", null],
    ["https://alice.example/~bob/twtxt.txt#:~:text=2026-01-02T03:04:05Z", null],
    ["https://alice.example:8443/blog/", null],
    ["https://alice.example.evil.example/blog/", null],
    ["https://www.alice.example/blog/", null],
  ])("from %s are %s for a site at /blog, whose origin has other sites, too", (source, code) => {
    const feed = "https://alice.example/blog/twtxt.txt";
    const site = new SiteIndex({ feeds: [feed], pages: [], twts: [] }, "https://alice.example/blog");
    const check = () => checkClaim(source, feed, site);
    if (code === null) expect(check()).toMatchObject({ target: { url: feed } });
    else
      expect(check).toThrow(expect.objectContaining({ code, message: expect.stringContaining("a page of this site") }));
  });

  it("are quoted in an error with at most 200 characters", () => {
    expect(() => checkClaim("x".repeat(5000), FEED, siteIndex)).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^.{1,300}$/s) }),
    );
  });
});
