import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { twtHash, twtHashes } from "../../../plugin/feed/hash.js";
import type { Twt } from "../../../plugin/feed/twt.js";
import { type LoopbackServer, loopbackServer } from "../../helpers/loopback.js";
import {
  FEED,
  feedOf,
  gone,
  kept,
  OLD_FEED,
  PAGE,
  PAGE_IN_BRACKETS,
  proven,
  verifier,
} from "../../helpers/verifier.js";
import { feed, siteWith } from "../send/bobs-site.js";

const AT = "2026-01-02T03:04:05Z";
const EARLIER = "2026-01-01T00:00:00Z hello";
const LATER = "2026-01-03T00:00:00Z hello";

/** The proof from a feed with this text. */
async function proofIn(text: string | Buffer, { at = AT, target = FEED, headers = {} } = {}) {
  const bob = await siteWith(() => ({ "/tw.txt": feed(text, headers) }));
  return verifier([bob])(`${bob.url}/tw.txt#:~:text=${at}`, target);
}

/** The proof from a twt with this text. */
const proofBy = (text: string, target = FEED) => proofIn(feedOf([EARLIER, `${AT} ${text}`, LATER]), { target });

function hashesOf(url: string, twt: Twt) {
  return { hash: twtHash(url, twt), hashV1: twtHashes(url, twt).v1 };
}

describe("a twt", () => {
  it.each(["constructor", "__proto__"])(
    "is proven in a feed with a field named like a property of JavaScript objects: %s",
    async (name) => {
      const header = `# nick = bob\n# ${name} = 1\n# ${name} = 2\n`;
      const proof = await proofIn(feedOf([EARLIER, `${AT} @<alice ${FEED}> hello`], header));
      expect(proof).toMatchObject({ outcome: "proven", mention: { author: { name: "bob" } } });
    },
  );

  it("is proven with all of its fields", async () => {
    const header = "# nick = bob\n# url = https://mallory.example/\n# avatar = https://bob.example/a.png\n";
    const bob = await siteWith(() => ({
      "/tw.txt": feed(feedOf([EARLIER, `${AT} (#abcdefg) @<alice ${FEED}> hello`], header)),
    }));
    expect(await verifier([bob])(`${bob.url}/tw.txt#:~:text=${AT}`)).toEqual({
      outcome: "proven",
      mention: {
        identity: `${bob.url}/tw.txt`,
        isDeclared: false,
        timestamp: AT,
        instant: AT,
        type: "reply",
        author: { name: "bob", url: `${bob.url}/tw.txt`, photo: "https://bob.example/a.png" },
        text: `(#abcdefg) @<alice ${FEED}> hello`,
        html: `<p><a href="${FEED}" rel="nofollow ugc noopener">@alice</a> hello</p>`,
        // The hashes use the feed's `url` field, although a URL on another host does not prove its identity.
        ...hashesOf("https://mallory.example/", { timestamp: AT, text: `(#abcdefg) @<alice ${FEED}> hello` }),
        published: AT,
        subject: "abcdefg",
        about: null,
      },
    });
  });

  it.each([
    ["by nick and URL", `hello @<alice ${FEED}>`],
    ["by URL alone", `@<${FEED}> hello`],
    ["over http", "@<a http://alice.example/twtxt.txt>"],
    ["with an uppercase host, its port and a fragment", "@<a https://Alice.EXAMPLE:443/twtxt.txt#x>"],
    ["by an old URL of the feed", `@<a ${OLD_FEED}>`],
    ["next to others", `@<carol https://carol.example/tw.txt> @<alice ${FEED}>`],
  ])("mentions the feed of this site: %s", async (_, text) => {
    expect(await proofBy(text)).toMatchObject(proven({ type: "mention", text }));
  });

  it.each([
    ["a bare URL", FEED],
    ["a Markdown link", `[alice](${FEED})`],
    ["another feed below it", `@<a ${FEED}/b>`],
    ["another case of the path", "@<a https://alice.example/Twtxt.txt>"],
    ["another query", `@<a ${FEED}?a>`],
    ["another feed whose URL contains this one", `@<a https://bob.example/?u=${FEED}>`],
    ["code", `\`@<alice ${FEED}>\``],
    ["a nick alone", "@alice"],
    ["something in brackets", `<alice ${FEED}>`],
  ])("no-such-mention of the feed: %s", async (_, text) => {
    expect(await proofBy(text)).toEqual(gone("no-such-mention"));
  });

  it("no-such-mention: only the header and another twt name the feed", async () => {
    const header = `# nick = bob\n# follow = alice ${FEED}\n`;
    expect(await proofIn(feedOf([EARLIER, `${AT} hello`, `2026-01-03T00:00:00Z @<alice ${FEED}>`], header))).toEqual(
      gone("no-such-mention"),
    );
  });

  it.each([
    ["a bare URL", `See ${PAGE}`],
    ["a bare URL at the end of a sentence", `(See ${PAGE}).`],
    ["a bare URL between lines", `See\u2028${PAGE}\u2028there`],
    ["a URL in angle brackets", `<${PAGE}>`],
    ["a Markdown link", `[quinces](${PAGE})s`],
    ["a Markdown link with a title", `[quinces](${PAGE} "Quinces")`],
    ["an image", `![quinces](${PAGE})`],
    ["a mention", `@<alice ${PAGE}>`],
    ["http, and a part of the page", "http://alice.example/quinces#comments"],
  ])("mentions a page of this site: %s", async (_, text) => {
    expect(await proofBy(text, PAGE)).toMatchObject(proven({ text: text.replaceAll("\u2028", "\n") }));
  });

  it.each([
    ["a bare URL", `See ${PAGE_IN_BRACKETS}.`],
    ["a bare URL in brackets", `(See ${PAGE_IN_BRACKETS}.)`],
    ["a Markdown link", `[quince](${PAGE_IN_BRACKETS})s`],
  ])("mentions a page whose URL ends in a bracket: %s", async (_, text) => {
    expect(await proofBy(text, PAGE_IN_BRACKETS)).toMatchObject(proven());
  });

  it.each([
    ["longer URLs", `${PAGE}es ${PAGE}/a ${PAGE})x`],
    ["a shorter one", "https://alice.example/quince"],
    ["a query of another URL", `https://bob.example/?u=${PAGE}`],
    ["the end of a word", `x${PAGE}`],
    ["the text of a link that leads elsewhere", `[${PAGE}](https://bob.example/)`],
    ["a URL without a scheme", "alice.example/quinces"],
  ])("no-such-mention of the page: %s", async (_, text) => {
    expect(await proofBy(text, PAGE)).toEqual(gone("no-such-mention"));
  });

  it("must mention the target of the claim, not another page of the site", async () => {
    expect(await proofBy(PAGE, "https://alice.example/")).toEqual(gone("no-such-mention"));
    expect(await proofBy(`@<alice ${FEED}>`, PAGE)).toEqual(gone("no-such-mention"));
  });

  it("is stored as lines of at most 5,000 characters, without control characters", async () => {
    const proofWith = (text: string) => proofBy(`@<alice ${FEED}> ${text}`);
    const start = `@<alice ${FEED}> `;
    expect(await proofWith("one\u2028two\u0007\u009b\ttabs")).toMatchObject(proven({ text: `${start}one\ntwo tabs` }));
    expect(await proofWith("\u{1f34f}".repeat(5000))).toMatchObject(
      proven({ text: `${start}${"\u{1f34f}".repeat(4999 - start.length)}…` }),
    );
  });

  it.each([
    ["no nick: the host", "# url = https://x.example/\n", /^127\.0\.0\.1:\d+$/, null],
    ["a nick of control characters: the host", "# nick = \u0007\u0085\n", /^127\.0\.0\.1:\d+$/, null],
    ["a nick of direction marks: the host", "# nick = \u200e\u061c\n", /^127\.0\.0\.1:\d+$/, null],
    ["a nick with direction marks: without them", "# nick = b\u200fo\u200eb\n", /^bob$/, null],
    ["a long nick: its start", `# nick = ${"x".repeat(5000)}\n`, /^x{99}…$/, null],
    ["an avatar that is a script: none", "# nick = b\n# avatar = javascript:alert(1)\n", /^b$/, null],
    ["an avatar with a password: none", "# nick = b\n# avatar = https://a@bob.example/\n", /^b$/, null],
    ["an avatar with a relative URL: none", "# nick = b\n# avatar = a.png\n", /^b$/, null],
  ])("has an author with %s", async (_, header, name, photo) => {
    const text = feedOf([EARLIER, `${AT} @<alice ${FEED}>`], header);
    expect(await proofIn(text)).toMatchObject(proven({ author: { name: expect.stringMatching(name), photo } }));
  });
});

describe("a twt is found", () => {
  const mention = `@<alice ${FEED}>`;

  it.each([
    ["an offset", "2026-01-02T03:04:05+01:00"],
    ["a fraction", "2026-01-02T03:04:05.678Z"],
    ["no time zone", "2026-01-02T03:04"],
  ])("by its exact timestamp: %s", async (_, at) => {
    expect(await proofIn(feedOf([`${at} ${mention}`]), { at })).toMatchObject(proven({ timestamp: at }));
  });

  it("by a timestamp that was encoded twice or lost its plus sign", async () => {
    const text = feedOf([`2026-01-02T03:04:05+01:00 ${mention}`]);
    for (const at of ["2026-01-02T03%253A04%253A05%252B01%253A00", "2026-01-02T03:04:05 01:00"]) {
      expect(await proofIn(text, { at })).toMatchObject(proven({ timestamp: "2026-01-02T03:04:05+01:00" }));
    }
  });

  it("by its second if no twt has the exact timestamp", async () => {
    const text = feedOf([EARLIER, `2026-01-02T04:04:05.9+01:00 ${mention}`, LATER]);
    expect(await proofIn(text)).toMatchObject(proven({ timestamp: "2026-01-02T04:04:05.9+01:00", instant: AT }));
  });

  it("no-such-mention: a twt of the same second is ignored if a later one has the exact timestamp", async () => {
    const text = feedOf([`2026-01-02T04:04:05+01:00 ${mention}`, ...Array(5000).fill(LATER), `${AT} hello`]);
    expect(await proofIn(text)).toEqual(gone("no-such-mention"));
  });

  it("as the first of several at the same time that mentions the target", async () => {
    const others = [`${AT} hello`, `${AT} hello @<carol https://carol.example/>`];
    const text = feedOf([...others, `${AT} ${mention}`, `${AT} ${mention} once more`]);
    expect(await proofIn(text)).toMatchObject(proven({ text: mention }));
  });

  it("no-such-twt: no twt in that second", async () => {
    expect(await proofIn(feedOf([EARLIER, `2026-01-02T03:04:06Z ${mention}`]))).toEqual(gone("no-such-twt"));
    expect(await proofIn(feedOf([`2026-01-02T03:04:06Z ${mention}`]))).toEqual(gone("no-such-twt"));
  });

  it.each([
    ["newest first", feedOf([LATER, `${AT} ${mention}`, EARLIER])],
    ["CR LF", feedOf([EARLIER, `${AT} ${mention}`]).replaceAll("\n", "\r\n")],
    ["a byte order mark and blank lines", `\ufeff\n\n${feedOf([`${AT} ${mention}`])}\n\n`],
    ["no final line end", feedOf([`${AT} ${mention}`]).trimEnd()],
    ["invalid lines", `hello\n${feedOf([`${AT} ${mention}`])}2026-13-01T00:00:00Z\tx\n`],
    ["no header", `${AT}\t${mention}\n`],
  ])("in a feed with %s", async (_, text) => {
    expect(await proofIn(text)).toMatchObject(proven({ text: mention }));
  });

  it.each([
    "text/plain; charset=iso-8859-1",
    "text/html",
    "application/octet-stream",
    "application/json",
    "nonsense",
    "",
  ])("as UTF-8 for any content type: %j", async (type) => {
    const text = feedOf([`${AT} ${mention} Äpfel \u{1f34f}`]);
    expect(await proofIn(text, { headers: { "content-type": type } })).toMatchObject(
      proven({ text: `${mention} Äpfel \u{1f34f}` }),
    );
  });

  it.each(["image/png", "audio/mpeg", "Video/mp4"])("bad-source: %s is not read", async (type) => {
    expect(await proofIn(feedOf([`${AT} ${mention}`]), { headers: { "content-type": type } })).toEqual(
      kept("bad-source"),
    );
  });

  it("even if some bytes are not UTF-8", async () => {
    const bytes = Buffer.concat([Buffer.from(`${AT}\t`), Buffer.from([0xff]), Buffer.from(` ${mention}\n`)]);
    expect(await proofIn(bytes)).toMatchObject(proven({ text: `\ufffd ${mention}` }));
  });

  it("in a feed that arrives byte by byte", async () => {
    const bytes = Buffer.from(feedOf([`${AT} ${mention} Äpfel`]));
    const bob = await streaming(async (response) => {
      for (const byte of bytes) {
        response.write(Buffer.from([byte]));
        await new Promise(setImmediate);
      }
      response.end();
    });
    expect(await verifier([bob])(`${bob.url}/#:~:text=${AT}`)).toMatchObject(proven({ text: `${mention} Äpfel` }));
  });

  it("in a feed that never ends, without reading the rest", async () => {
    let written = 0;
    const bob = await streaming(async (response) => {
      response.write(feedOf([`${AT} ${mention}`]));
      for (; !response.destroyed; written += 1) {
        response.write("2027-01-01T00:00:00Z\tx\n".repeat(1000));
        await new Promise(setImmediate);
      }
    });
    expect(await verifier([bob])(`${bob.url}/#:~:text=${AT}`)).toMatchObject(proven({ text: mention }));
    expect(written).toBeLessThan(300); // 7 of 8 MiB
  });
});

/** A server that writes its response piece by piece. */
async function streaming(write: (response: ServerResponse) => Promise<void>): Promise<LoopbackServer> {
  return loopbackServer((_, response) => {
    response.writeHead(200, { "content-type": "text/plain" });
    void write(response);
  });
}

describe("the identity of a source", () => {
  it("is the final URL after redirects, without fragment", async () => {
    const bob = await siteWith(() => ({
      "/old.txt": { status: 301, headers: { location: "/new.txt#x" } },
      "/new.txt": feed(feedOf([`${AT} @<alice ${FEED}>`], "")),
    }));
    expect(await verifier([bob])(`${bob.url}/old.txt#:~:text=${AT}`)).toMatchObject(
      proven({
        identity: `${bob.url}/new.txt`,
        author: { name: `127.0.0.1:${bob.port}`, url: `${bob.url}/new.txt` },
      }),
    );
  });
});

describe("a twt that was proven before", () => {
  const before = feedOf([EARLIER, `${AT} @<alice ${FEED}>`, LATER]);
  const removed = feedOf([EARLIER, LATER]);

  /** The second proof, from the changed feed. */
  async function secondLook(second: { status?: number; headers?: Record<string, string>; body?: string | Buffer }) {
    let answer: Parameters<typeof secondLook>[0] = { body: before };
    const bob = await siteWith(() => ({ "/tw.txt": answer }));
    const verify = verifier([bob]);
    expect(await verify(`${bob.url}/tw.txt#:~:text=${AT}`)).toMatchObject(proven());
    answer = second;
    return verify(`${bob.url}/tw.txt#:~:text=${AT}`);
  }

  it("is updated", async () => {
    expect(await secondLook({ body: before.replace(/(?<=@<.*>)/, " again") })).toMatchObject(
      proven({ text: `@<alice ${FEED}> again` }),
    );
  });

  it.each([
    ["the feed is gone", { status: 410 }, "source-refused"],
    ["the feed is not found", { status: 404 }, "source-refused"],
    ["the twt was deleted", { body: removed }, "no-such-twt"],
    ["the feed has no twts", { body: "# nick = bob\n# url = https://bob.example/tw.txt\n" }, "no-such-twt"],
    ["the twt no longer mentions the site", { body: before.replace(/@<.*>/, "hello") }, "no-such-mention"],
  ])("is gone: %s", async (_, answer, code) => {
    expect(await secondLook(answer)).toMatchObject({
      outcome: "disproven",
      code,
      isGone: true,
      identity: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/tw\.txt$/),
    });
  });

  it.each([
    ["the feed is forbidden", { status: 403 }, "source-refused"],
    ["the feed was replaced by a page", { body: "\n<!doctype html><p>Be right back." }, "no-such-twt"],
    ["the feed was replaced by a page with its twts", { body: `<!doctype html><pre>\n${before}` }, "no-such-twt"],
    ["the feed is empty", { body: "" }, "no-such-twt"],
    ["the feed was replaced by a text", { body: "Be right back." }, "no-such-twt"],
    ["the feed is too large", { body: Buffer.concat([Buffer.from(removed), Buffer.alloc(9 << 20, "x")]) }, "too-large"],
    ["the feed cannot be decompressed", { headers: { "content-encoding": "gzip" }, body: removed }, "bad-compression"],
  ])("is kept: %s", async (_, answer, code) => {
    expect(await secondLook(answer)).toEqual(kept(code));
  });

  it.each([429, 500, 502, 503])("is kept: %i is temporary", async (status) => {
    expect(await secondLook({ status, body: removed })).toEqual({
      outcome: "unreachable",
      why: expect.stringContaining(String(status)),
      isTimeout: false,
    });
  });
});
