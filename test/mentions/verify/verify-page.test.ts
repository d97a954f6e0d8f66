import { describe, expect, it } from "vitest";
import { SiteIndex } from "../../../plugin/mentions/receive/site-index.js";
import { FEED, feedOf, gone, kept, PAGE, proven, verifier } from "../../helpers/verifier.js";
import { type Answer, feed, page, siteWith } from "../send/bobs-site.js";

const LINK = `<a href="${PAGE}">quinces</a>`;

/** The proof from a page with this body at `/p`. */
async function proofOn(answer: Answer | ((url: string) => Answer), target = PAGE) {
  const bob = await siteWith((url) => ({ "/p": typeof answer === "function" ? answer(url) : answer }));
  return verifier([bob])(`${bob.url}/p`, target);
}

const proofIn = (html: string, target = PAGE) => proofOn(page(html), target);

describe("concurrent pages", () => {
  it("are read one after another, so that only one tree is in memory", async () => {
    const read: string[] = [];
    class WatchedIndex extends SiteIndex {
      override target(url: string) {
        const [, name] = /^https:\/\/(\w+)\.example\/$/.exec(url) ?? [];
        if (name && name !== read.at(-1)) read.push(name);
        return super.target(url);
      }
    }
    const pageOf = (name: string) => page(`<a href="https://${name}.example/">x</a>`.repeat(200) + LINK);
    const bob = await siteWith(() => ({ "/a": pageOf("a"), "/b": pageOf("b"), "/c": pageOf("c") }));
    const siteIndex = new WatchedIndex({ feeds: [FEED], pages: [PAGE], twts: [] });
    const verify = verifier([bob], { siteIndex });
    const proofs = await Promise.all(["a", "b", "c"].map((name) => verify(`${bob.url}/${name}`, PAGE)));
    expect(proofs).toEqual([1, 2, 3].map(() => expect.objectContaining({ outcome: "proven" })));
    expect(read.toSorted()).toEqual(["a", "b", "c"]);
  });
});

describe("a page", () => {
  it.each([
    ["a", LINK],
    ["area", `<map><area href="${PAGE}"></map>`],
    ["link", `<link rel="related" href="${PAGE}">`],
    ["img", `<img src="${PAGE}">`],
    ["video", `<video src="${PAGE}"></video>`],
    ["audio", `<audio src="${PAGE}"></audio>`],
    ["source", `<video><source src="${PAGE}"></video>`],
    ["iframe", `<iframe src="${PAGE}"></iframe>`],
    ["a link over http, with a fragment and in uppercase", '<A HREF="HTTP://ALICE.example:80/quinces#comments">x</A>'],
    ["a link with whitespace and character references", '<a href=" https://alice.example/&#113;uinces\n">x</a>'],
    ["a link relative to a base", '<base href="https://alice.example/x/"><a href="../quinces">x</a>'],
    ["a link deep inside", `${"<div>".repeat(1000)}${LINK}`],
    ["a link in a noscript element", `<noscript>${LINK}</noscript>`],
  ])("links to this site: %s", async (_, html) => {
    expect(await proofIn(html)).toMatchObject(proven({ type: "mention", timestamp: null, instant: null }));
  });

  it("links to this site's feed", async () => {
    expect(await proofIn(`<a href="${FEED}">alice</a>`, FEED)).toMatchObject(proven());
  });

  it("links to this site through the page's own yarnd, not through another one", async () => {
    const by = (origin: string) => page(`<a href="${origin}/external?uri=${encodeURIComponent(PAGE)}&nick=x">x</a>`);
    expect(await proofOn(by(""))).toMatchObject(proven());
    expect(await proofOn((url) => by(url))).toMatchObject(proven());
    expect(await proofOn(by("https://carol.example"))).toEqual(gone("no-such-mention"));
    expect(await proofOn(page(`<a href="/elsewhere?uri=${PAGE}">x</a>`))).toEqual(gone("no-such-mention"));
  });

  it.each([
    ["an empty page", "<!doctype html>"],
    ["the URL as text", `<p>${PAGE}</p>`],
    ["a comment", `<!-- ${LINK} -->`],
    ["a script", `<script>const link = '${LINK}'</script>`],
    ["a textarea", `<textarea>${LINK}</textarea>`],
    ["a template", `<template>${LINK}</template>`],
    ["escaped HTML", LINK.replaceAll("<", "&lt;")],
    ["another attribute", `<a data-href="${PAGE}" title="${PAGE}">x</a><div href="${PAGE}"></div>`],
    ["a longer URL", `<a href="${PAGE}es">x</a><a href="${PAGE}/a">y</a>`],
    ["another page of this site", '<a href="https://alice.example/">x</a>'],
    ["a path on another host", '<a href="/quinces">x</a>'],
    ["a script in a link", `<a href="javascript:open('${PAGE}')">x</a>`],
  ])("no-such-mention: %s", async (_, html) => {
    expect(await proofIn(html)).toEqual(gone("no-such-mention"));
  });

  it("no-such-mention: JSON neither proves nor removes a mention", async () => {
    const body = JSON.stringify({ in_reply_to: PAGE, html: LINK });
    expect(await proofOn({ body, headers: { "content-type": "application/json" } })).toEqual(kept("no-such-mention"));
  });

  it.each([
    ["the complete URL", `Hello.\n\nSee ${PAGE}, and\nthe rest.`],
    ["a Markdown link", `[quinces](${PAGE})`],
    ["the URL alone", PAGE],
  ])("of plain text mentions this site: %s", async (_, body) => {
    expect(await proofOn(feed(body))).toMatchObject(proven({ text: body, author: { photo: null }, published: null }));
  });

  it.each([
    ["a longer one", `${PAGE}es`],
    ["in a query", `https://bob.example/?u=${PAGE}`],
  ])("no-such-mention: plain text with another URL, %s", async (_, body) => {
    expect(await proofOn(feed(body))).toEqual(gone("no-such-mention"));
  });

  it.each(["text/plain", "text/html", "application/octet-stream"])(
    "say-which-twt: a feed served as %s, although it mentions this site",
    async (type) => {
      const body = feedOf([`2026-01-02T03:04:05Z @<alice ${FEED}> ${LINK}`]);
      const proof = await proofOn({ body, headers: { "content-type": type } }, FEED);
      expect(proof).toEqual(kept("say-which-twt"));
      expect(proof).toMatchObject({ why: expect.stringContaining("/p#:~:text=") });
    },
  );

  it("is a page even if it contains lines of a feed", async () => {
    expect(await proofIn(`<pre>\n2026-01-02T03:04:05Z\thello\n</pre>${LINK}`)).toMatchObject(proven());
  });

  it("bad-source: an image", async () => {
    expect(await proofOn({ body: LINK, headers: { "content-type": "image/svg+xml" } })).toEqual(kept("bad-source"));
  });

  it("is searched in its first megabyte", async () => {
    const filler = `<p>${"hello ".repeat(200)}</p>\n`.repeat(1000);
    expect(await proofIn(`${LINK}${filler}`)).toMatchObject(proven());
    expect(await proofIn(`${filler}${LINK}`)).toEqual(kept("too-large"));
    expect(await proofOn(feed(`${PAGE} ${filler}`))).toMatchObject(proven());
  });

  it("is identified by its final URL", async () => {
    const bob = await siteWith(() => ({
      "/old": { status: 302, headers: { location: "/p#x" } },
      "/p": page(LINK),
    }));
    expect(await verifier([bob])(`${bob.url}/old#top`, PAGE)).toMatchObject(
      proven({ identity: `${bob.url}/p`, author: { name: bob.host, url: `${bob.url}/p` } }),
    );
  });
});

describe("a page that was proven before", () => {
  async function secondLook(second: Answer) {
    let answer: Answer = page(LINK);
    const bob = await siteWith(() => ({ "/p": answer }));
    const verify = verifier([bob]);
    expect(await verify(`${bob.url}/p`, PAGE)).toMatchObject(proven({ text: "" }));
    answer = second;
    return verify(`${bob.url}/p`, PAGE);
  }

  it("is updated", async () => {
    expect(await secondLook(page(`<title>Now with a title</title>${LINK}`))).toMatchObject(
      proven({ text: "Now with a title" }),
    );
  });

  it.each([
    ["the link is after the limit of elements", `${"<b></b>".repeat(50_001)}${LINK}`],
    ["the page is empty", ""],
  ])("is kept: %s", async (_, html) => {
    expect(await proofIn(html)).toEqual(kept("no-such-mention"));
  });

  it("is gone: the link was removed", async () => {
    expect(await secondLook(page("<p>hello"))).toEqual(gone("no-such-mention"));
  });

  it.each([404, 410])("is gone: %i", async (status) => {
    expect(await secondLook({ status, ...page(LINK) })).toEqual(gone("source-refused"));
  });

  it.each([401, 403, 451])("is kept: %i", async (status) => {
    expect(await secondLook({ status, ...page(LINK) })).toEqual(kept("source-refused"));
  });

  it.each([429, 500, 503])("is kept: %i is temporary", async (status) => {
    expect(await secondLook({ status, ...page("gone") })).toMatchObject({ outcome: "unreachable", isTimeout: false });
  });
});

describe("microformats", () => {
  const BY_HOST = expect.stringMatching(/^127\.0\.0\.1:\d+$/);
  const entry = (inside: string, outside = "") => proofIn(`${outside}<article class="h-entry">${inside}</article>`);

  it("give author, time and text of a page", async () => {
    const bob = await siteWith(() => ({
      "/p": page(`<title>Bob's blog</title><main class="h-feed"><article class="h-entry">
        <h1 class="p-name">On
          quinces</h1>
        <p class="p-author h-card"><img class="u-photo" src="/bob.png"><a class="p-name u-url" href="/me">Bob  &amp; Co</a></p>
        <time class="dt-published" datetime="2026-01-02T03:04:05+01:00">today</time>
        <div class="e-content"><p>One
          <b>fine</b> thing.</p><p>And ${LINK}.<br>Bye</p><script>alert(1)</script></div>
      </article></main>`),
    }));
    expect(await verifier([bob])(`${bob.url}/p`, PAGE)).toEqual({
      outcome: "proven",
      mention: {
        identity: `${bob.url}/p`,
        isDeclared: false,
        timestamp: null,
        instant: null,
        type: "mention",
        author: { name: "Bob & Co", url: `${bob.url}/me`, photo: `${bob.url}/bob.png` },
        text: "One fine thing.\nAnd quinces.\nBye",
        html: `<p>One <strong>fine</strong> thing.</p>\n<p>And <a href="${PAGE}" rel="nofollow ugc noopener">quinces</a>.<br>Bye</p>`,
        hash: null,
        hashV1: null,
        published: "2026-01-02T02:04:05Z",
        subject: null,
        about: null,
      },
    });
  });

  it.each([
    ["the page that it replies to", `<a class="u-in-reply-to" href="${PAGE}">x</a>`, PAGE],
    [
      "another page that it replies to, such as another reply",
      `<a class="u-in-reply-to" href="${PAGE}">x</a><a class="u-in-reply-to" href="https://carol.example/1">x</a>`,
      "https://carol.example/1",
    ],
    ["nothing for a like", `<a class="u-like-of" href="${PAGE}">x</a>`, null],
  ])("name the subject of a page: %s", async (_, html, subject) => {
    expect(await entry(html)).toMatchObject(proven({ subject }));
  });

  it.each([
    ["reply", "u-in-reply-to"],
    ["like", "u-like-of"],
    ["repost", "u-repost-of"],
    ["bookmark", "u-bookmark-of"],
  ])("make a page a %s", async (type, property) => {
    expect(await entry(`<a class="${property}" href="${PAGE}">x</a>`)).toMatchObject(proven({ type }));
    expect(
      await entry(`<div class="${property} h-cite"><a class="u-url p-name" href="${PAGE}#x">x</a></div>`),
    ).toMatchObject(proven({ type }));
  });

  it("make a page a reply rather than a like; links to another site make it neither", async () => {
    const other = '<a class="u-in-reply-to" href="https://carol.example/">x</a>';
    expect(await entry(`${other}${LINK}`)).toMatchObject(proven({ type: "mention" }));
    expect(await entry(`${other}<a class="u-like-of" href="${PAGE}">x</a>`)).toMatchObject(proven({ type: "like" }));
    expect(await entry(`<a class="u-like-of u-in-reply-to" href="${PAGE}">x</a>`)).toMatchObject(
      proven({ type: "reply" }),
    );
    expect(
      await entry('<a class="u-in-reply-to" href="/external?uri=https://alice.example/quinces">x</a>'),
    ).toMatchObject(proven({ type: "reply" }));
  });

  it("are read from the entry with the link, not from another entry or link", async () => {
    const carol =
      '<div class="h-entry"><a class="p-author h-card" href="/c">Carol</a><p class="e-content">no</p></div>';
    const bob = `<div class="h-entry"><a class="p-author h-card" href="/b">Bob</a><p class="e-content">${LINK}</p></div>`;
    expect(await proofIn(`${LINK}${carol}${bob}${carol}`)).toMatchObject(
      proven({ author: { name: "Bob" }, text: "quinces" }),
    );
    const comment = `<div class="h-entry"><a class="p-author h-card" href="/c">Carol</a>no ${bob}</div>`;
    expect(await proofIn(comment)).toMatchObject(proven({ author: { name: "Bob" } }));
  });

  it.each([
    ["its summary", `<p class="p-summary">short</p><h1 class="p-name">title</h1>${LINK}`, "short"],
    ["its name", `<h1 class="p-name">title</h1>${LINK}`, "title"],
    ["the title of its page", `<a class="u-like-of" href="${PAGE}"></a>`, "Bob's page"],
  ])("without content: the text is %s", async (_, inside, text) => {
    expect(await entry(inside, "<title>Bob's\n page</title>")).toMatchObject(proven({ text }));
  });

  it.each([
    ["a name alone", `<span class="p-author">Bob</span>`, "", { name: "Bob", photo: null }],
    ["a URL alone", `<a class="u-author" href="https://bob.example/me"></a>`, "", { name: "bob.example" }],
    ["the page's only card", "", `<a class="h-card" href="/me">Bob</a>`, { name: "Bob" }],
    ["rel=author", "", `<link rel="Author" href="https://bob.example/me">`, { url: "https://bob.example/me" }],
    [
      "no person who is only mentioned in the entry",
      `<a class="h-card u-mention" href="/x">X</a>`,
      "",
      { name: BY_HOST },
    ],
    ["no person with an invalid URL", `<a class="p-author h-card" href="//[">X</a>`, "", { name: BY_HOST }],
    [
      "none of several cards",
      `<a class="h-card u-mention" href="/x">X</a>`,
      `<i class="h-card">Y</i><i class="h-card">Z</i>`,
      { name: BY_HOST },
    ],
    [
      "no URL outside the web",
      `<a class="p-author h-card" href="javascript:x"><img src="data:,">B</a>`,
      "",
      { photo: null },
    ],
  ])("name as author: %s", async (_, inside, outside, author) => {
    const proof = await entry(`${inside}${LINK}`, outside);
    expect(proof).toMatchObject(proven({ author }));
    expect(proof).toMatchObject(proven({ author: { url: expect.stringMatching(/^https?:/) } }));
  });

  it("of older themes are read", async () => {
    expect(
      await proofIn(`<div class="hentry"><h1 class="entry-title">T</h1><span class="author vcard">
        <a class="url fn n" href="https://bob.example/">Bob</a></span><div class="entry-content">On ${LINK}</div></div>`),
    ).toMatchObject(proven({ author: { name: "Bob", url: "https://bob.example/" }, text: "On quinces" }));
  });

  it.each([
    ["2026-01-02", "2026-01-02T00:00:00Z"],
    ["2026-01-02 03:04", "2026-01-02T03:04:00Z"],
    ["2026-01-02T03:04:05-0800", "2026-01-02T11:04:05Z"],
    ["yesterday", null],
    ["2026-13-01", null],
  ])("date a page: %s", async (datetime, published) => {
    expect(await entry(`<time class="dt-published" datetime="${datetime}">x</time>${LINK}`)).toMatchObject(
      proven({ published }),
    );
  });

  it("have up to 5,000 characters of a reply, cut at a word", async () => {
    const content = `<p class="e-content">${"word ".repeat(2000)}</p>`;
    const words = expect.stringMatching(/^(<p>)?(word ){998,999}word…(<\/p>)?$/);
    expect(await entry(`<a class="u-in-reply-to" href="${PAGE}">re</a>${content}`)).toMatchObject(
      proven({ type: "reply", text: words, html: words }),
    );
  });

  it("are truncated if they are long, and lose control characters", async () => {
    const proof = await entry(
      `<a class="p-author h-card" href="/">${"Bob ".repeat(500)}</a><p class="e-content">a\u0007\u009b${"b".repeat(50_000)}${LINK}`,
    );
    expect(proof).toMatchObject(proven({ text: `a${"b".repeat(498)}…` }));
    expect(proof).toMatchObject(proven({ author: { name: expect.stringMatching(/^(Bob )+Bob?…$|^(Bob ?)+…$/) } }));
  });
});

describe("a page in another character set", () => {
  const html = (charset: string) => `<meta charset="${charset}"><title>Äpfel</title>${LINK}`;

  it.each([
    ["declared in Content-Type", "text/html; charset=ISO-8859-1", "utf-8", "latin1"],
    ["declared in a meta element", "text/html", "iso-8859-1", "latin1"],
    ["declared with an unknown name, in fact UTF-8", "text/html; charset=klingon", "utf-8", "utf8"],
    ["not declared, in fact UTF-8", "text/html", "", "utf8"],
  ] as const)("is read: %s", async (_, type, charset, encoding) => {
    const body = Buffer.from(html(charset), encoding);
    expect(await proofOn({ body, headers: { "content-type": type } })).toMatchObject(proven({ text: "Äpfel" }));
  });
});

describe("a malicious page", () => {
  const repeated = (unit: string) => unit.repeat((1 << 18) / unit.length);

  it.each([
    ["nested entries", `<div class="h-entry">`],
    ["cards of one entry", `<a class="p-author h-card" href="/x">n</a>`],
    ["nested properties", `<p class="e-content p-name p-summary u-url p-author"><i>`],
    ["links", `<a class="u-in-reply-to" href="https://alice.example/x">`],
  ])("is read within the time limit: a quarter of a megabyte of %s", async (_, unit) => {
    expect(await proofIn(`<div class="h-entry">${LINK}${repeated(unit)}`)).toMatchObject(proven());
  });

  it("is read in limited memory, even if its tree would take gigabytes", async () => {
    const open = [...Array(10_000).keys()].map((n) => `<b id=${n}>`).join("");
    expect(await proofIn(`${LINK}<p>${open}</p>${"<p>x</p>".repeat(90_000)}`)).toMatchObject(proven());
  });
});
