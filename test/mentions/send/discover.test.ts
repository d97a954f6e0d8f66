import { afterEach, describe, expect, it } from "vitest";
import { ServerBusyError } from "../../../plugin/mentions/send/discover.js";
import { loopbackServer, strayed } from "../../helpers/loopback.js";
import { type Answer, discovererOf, feed, NOW, page, siteWith } from "./bobs-site.js";

const SECOND = 1000;
const DAY = 24 * 60 * 60 * SECOND;
const WM = "https://bob.example/webmention";
const TWT = "2026-01-02T03:04:05Z\thello\n";
const NO_FEED_ENDPOINT = { endpoint: null, why: "no endpoint in the feed, its headers or its site" };
const NO_PAGE_ENDPOINT = { endpoint: null, why: "no endpoint in the page or its headers" };

const failsWith = (code: string) => expect.objectContaining({ code });

afterEach(() => expect(strayed).toEqual([]));

/** The result for `/twtxt.txt` of a site with these responses. */
async function found(target: Answer, others: Record<string, Answer> = {}) {
  const site = await siteWith(() => ({ "/twtxt.txt": target, ...others }));
  const result = await site.discover(`${site.url}/twtxt.txt`);
  return { ...result, endpoint: result.endpoint?.replace(site.url, "") ?? null, asked: site.requests };
}

describe("the endpoint in a feed", () => {
  it("is the header field, and nothing else is requested", async () => {
    expect(await found(feed(`# nick = bob\n# webmention = /webmention\n\n${TWT}`))).toEqual({
      endpoint: "/webmention",
      method: "feed field",
      freshUntil: null,
      asked: ["/twtxt.txt"],
    });
  });

  it.each([
    ["with a BOM", `\ufeff# webmention = ${WM}\n${TWT}`],
    ["with CRLF", `# nick = bob\r\n# webmention = ${WM}\r\n\r\n${TWT.replace("\n", "\r\n")}`],
    ["without a line end", `# webmention = ${WM}`],
    ["without a single twt", `# webmention = ${WM}\n`],
    ["in mixed case", `# WebMention = ${WM}\n${TWT}`],
    ["without spaces", `#webmention=${WM}\n${TWT}`],
    ["among blank lines", `\n\n# nick = bob\n\n# webmention = ${WM}\n\n${TWT}`],
    ["after invalid lines", `# nick = bob\nhello\n2026-13-01T00:00:00Z\tno such month\n# webmention = ${WM}\n`],
    ["after U+2028", `# description = one\u2028two\n# webmention = ${WM}\n${TWT}`],
    [
      "among bytes that are not UTF-8",
      Buffer.concat([Buffer.from([0x23, 0xff, 0x0a]), Buffer.from(`# webmention = ${WM}`)]),
    ],
  ])("is found %s", async (_name, body) => {
    expect(await found(feed(body))).toMatchObject({ endpoint: WM, method: "feed field" });
  });

  it.each(["text/plain", "text/html; charset=utf-8", "TEXT/HTML", "application/octet-stream", ""])(
    "is found in a feed that is served as %j",
    async (type) => {
      const body = `# nick = bob\n# webmention = ${WM}\n\n${TWT}<link rel="webmention" href="/spoof">\n`;
      expect(await found(feed(body, { "content-type": type }))).toMatchObject({ endpoint: WM, method: "feed field" });
    },
  );

  it("takes precedence over the Link header and the site", async () => {
    const link = '</by-header>; rel="webmention"';
    expect(await found(feed(`# webmention = ${WM}\n${TWT}`, { link }))).toMatchObject({ endpoint: WM });
  });

  it.each([
    ["in a twt", `# nick = bob\n2026-01-02T03:04:05Z\t# webmention = ${WM}\n`],
    ["in a multiline twt", `# nick = bob\n2026-01-02T03:04:05Z\thello\u2028# webmention = ${WM}\n`],
    ["after the first twt", `# nick = bob\n${TWT}# webmention = ${WM}\n`],
    ["after a first twt with an offset", `2026-01-02T03:04:05+01:00\thello\n# webmention = ${WM}\n`],
    ["not at the start of its line", `# nick = bob\n # webmention = ${WM}\n${TWT}`],
    ["in a comment with two #", `## webmention = ${WM}\n${TWT}`],
    ["in the value of another field", `# description = webmention = ${WM}\n${TWT}`],
    ["under a longer name", `# x-webmention = ${WM}\n# webmentions = ${WM}\n${TWT}`],
  ])("is not found %s", async (_name, body) => {
    expect(await found(feed(body))).toMatchObject(NO_FEED_ENDPOINT);
  });

  it.each([
    ["a script", "javascript:alert(1)"],
    ["a mail address", "mailto:bob@bob.example"],
    ["a file", "file:///etc/passwd"],
    ["a URL with a password", "https://user:password@bob.example/webmention"],
    ["a URL with a user", "https://user@bob.example/webmention"],
    ["a URL with a password and no user", "https://:password@bob.example/webmention"],
    ["a URL without a host", "https://"],
    ["a URL with an impossible port", "https://bob.example:99999/webmention"],
    ["a remark", "coming soon"],
    ["a URL of more than 2048 characters", `https://bob.example/${"a".repeat(2048)}`],
    ["empty", ""],
  ])("is not %s: the next field is used", async (_name, value) => {
    expect(await found(feed(`# webmention = ${value}\n# webmention = ${WM}\n${TWT}`))).toMatchObject({ endpoint: WM });
    expect(await found(feed(`# webmention = ${value}\n${TWT}`, { link: "</wm>; rel=webmention" }))).toMatchObject({
      endpoint: "/wm",
      method: "Link header",
    });
  });

  it.each([
    ["//bob.example/webmention", "http://bob.example/webmention"],
    ["webmention?feed=bob&key=a%20b", "/webmention?feed=bob&key=a%20b"],
    ["https://bob.example/webmention#part", WM],
    ["https://BOB.example:443/webmention", WM],
    ["http://127.0.0.1/webmention", "http://127.0.0.1/webmention"],
  ])("%j is resolved to %j, which the guard checks when it is requested", async (value, endpoint) => {
    expect(await found(feed(`# webmention = ${value}\n${TWT}`))).toMatchObject({ endpoint, asked: ["/twtxt.txt"] });
  });

  it("is found after a megabyte of other comments, and not beyond the limit", async () => {
    const comments = "# follow = somebody https://somebody.example/twtxt.txt\n";
    const header = comments.repeat(Math.floor(1_000_000 / comments.length));
    expect(await found(feed(`${header}# webmention = ${WM}\n`))).toMatchObject({ endpoint: WM });
    expect(await found(feed(`${header.repeat(2)}# webmention = ${WM}\n`))).toMatchObject(NO_FEED_ENDPOINT);
  });

  it("is found without reading an endless feed", async () => {
    const bob = await loopbackServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/plain" }).write(`# webmention = ${WM}\n\n${TWT}`);
    });
    expect(await discovererOf([bob])(`${bob.url}/twtxt.txt`)).toMatchObject({ endpoint: WM });
  });

  it("is resolved against the URL after redirects, also on another host", async () => {
    const pod = await siteWith(() => ({ "/user/bob/twtxt.txt": feed(`# webmention = ../wm?user=bob\n${TWT}`) }));
    const bob = await siteWith(
      () => ({ "/twtxt.txt": { status: 301, headers: { location: `${pod.url}/user/bob/twtxt.txt` } } }),
      { neighbours: [pod] },
    );
    expect(await bob.discover(`${bob.url}/twtxt.txt`)).toMatchObject({ endpoint: `${pod.url}/user/wm?user=bob` });
  });
});

describe("the endpoint in a Link header", () => {
  it("is found for other files, and for a page without reading it", async () => {
    const bob = await loopbackServer((_request, response) => {
      response
        .writeHead(200, { "content-type": "text/html", link: "</wm>; rel=webmention" })
        .write("<!doctype html>\n");
    });
    expect(await discovererOf([bob])(`${bob.url}/`)).toMatchObject({
      endpoint: `${bob.url}/wm`,
      method: "Link header",
    });
    const picture = { headers: { "content-type": "image/png", link: "</wm>; rel=webmention" }, body: "\x89PNG\n" };
    expect(await found(picture)).toMatchObject({ endpoint: "/wm", method: "Link header" });
  });

  it("is that of the final response, not of a redirect", async () => {
    const site = await siteWith(() => ({
      "/old": { status: 302, headers: { location: "/new", link: "</of-redirect>; rel=webmention" } },
      "/new": feed(TWT, { link: "<wm>; rel=webmention" }),
    }));
    expect(await site.discover(`${site.url}/old`)).toMatchObject({ endpoint: `${site.url}/wm` });
  });

  it("is the first usable one", async () => {
    const link = "<javascript:alert(1)>; rel=webmention, </wm>; rel=webmention, </other>; rel=webmention";
    expect(await found(feed(TWT, { link }))).toMatchObject({ endpoint: "/wm" });
  });
});

describe("the endpoint in a page", () => {
  const right = '<a rel="webmention" href="/wm">here</a>';
  const wrong = '<a rel="webmention" href="/spoof">not here</a>';

  it.each([
    ["a comment", `<!-- ${wrong} -->`],
    ["a comment with an unusual end", `<!-- > ${wrong} --!>`],
    ["a script", `<script>const a = '${wrong}';</script>`],
    ["a style", `<style>${wrong}</style>`],
    ["a textarea", `<textarea>${wrong}</textarea>`],
    ["a title", `<title>${wrong}</title>`],
    ["an iframe", `<iframe>${wrong}</iframe>`],
    ["an xmp", `<xmp>${wrong}</xmp>`],
    ["a template", `<template><div>${wrong}<template>${wrong}</template></div></template>`],
    ["a quoted attribute", `<p title='${wrong}'></p>`],
    ["a CDATA section", `<svg><title><![CDATA[${wrong}]]></title></svg>`],
    ["escaped HTML", wrong.replace(/</g, "&lt;")],
    ["another element", '<b rel="webmention" href="/spoof"></b><area rel="webmention" href="/spoof">'],
    ["another attribute", '<a rev="webmention" href="/spoof"></a><a data-rel="webmention" href="/spoof"></a>'],
    ["a rel from before the standard", '<link rel="http://webmention.org/" href="/spoof">'],
    ["a line that looks like a feed's", "<pre>\n# webmention = /spoof\n2026-01-02T03:04:05Z\thello\n</pre>"],
  ])("is not found in %s", async (_name, body) => {
    expect(await found(page(`<!doctype html>\n${body}\n${right}`))).toMatchObject({ endpoint: "/wm", method: "HTML" });
    expect(await found(page(`<!doctype html>\n${body}`))).toMatchObject({ ...NO_PAGE_ENDPOINT, asked: ["/twtxt.txt"] });
  });

  it.each([
    ["in a noscript, since scripts do not run", `<noscript>${right}</noscript>`],
    ["with its rel in uppercase among others", '<a rel="nofollow\n WEBMENTION\tme" href="/wm">'],
    ["in uppercase and without quotes", "<LINK HREF=/wm REL=webmention>"],
    ["in a body without a doctype", `Hello ${right}`],
    ["after one that is not an http URL", `<a rel="webmention" href="mailto:bob@bob.example">${right}`],
    ["with an entity in its href", '<link rel="webmention" href="&#47;wm">'],
    ["inside 40,000 unclosed elements", `${"<div>".repeat(40_000)}${right}`],
    ["after a twt-like first paragraph", `<p>\n2026-01-02T03:04:05Z\thello\n${right}`],
  ])("is found %s", async (_name, body) => {
    expect(await found(page(body))).toMatchObject({ endpoint: "/wm", method: "HTML" });
  });

  it.each([
    [
      "against the first base",
      '<base href="/blog/"><base href="/other/"><link rel="webmention" href="wm">',
      "/blog/wm",
    ],
    ["against a base after it", '<link rel="webmention" href="wm"><base href="/blog/">', "/blog/wm"],
    ["against a base on another site", `<base href="${WM}/"><link rel="webmention" href="wm">`, `${WM}/wm`],
    ["without a base that is a data URL", '<base href="data:,x"><link rel="webmention" href="wm">', "/wm"],
    [
      "without a base that has no href",
      '<base target="_blank"><base href="/b/"><link rel="webmention" href="wm">',
      "/b/wm",
    ],
    ["without a base in a template", '<template><base href="/b/"></template><link rel="webmention" href="wm">', "/wm"],
    ["as the page itself if empty", '<base href="/b/"><link rel="webmention" href="">', "/twtxt.txt"],
    ["with invalid characters encoded", '<link rel="webmention" href=" /w m ">', "/w%20m"],
  ])("is resolved %s", async (_name, body, endpoint) => {
    expect(await found(page(body))).toMatchObject({ endpoint, method: "HTML" });
  });

  it("is found before the size limit of a page, and not beyond", async () => {
    const words = `<p>${"word ".repeat(200)}</p>\n`.repeat(1100);
    expect(await found(page(right + words))).toMatchObject({ endpoint: "/wm" });
    expect(await found(page(words + right))).toMatchObject(NO_PAGE_ENDPOINT);
  });

  it("is found with a content type in mixed case", async () => {
    expect(await found(page(right, { "content-type": "Text/HTML" }))).toMatchObject({ endpoint: "/wm" });
  });

  it("is found in XHTML, not in HTML that is served as text", async () => {
    expect(await found(page(right, { "content-type": "application/xhtml+xml" }))).toMatchObject({ endpoint: "/wm" });
    const text = `<pre>\n# webmention = /spoof\n</pre>${right}`;
    expect(await found(feed(text))).toMatchObject({ ...NO_FEED_ENDPOINT, asked: ["/twtxt.txt", "/"] });
  });
});

describe("the endpoint on the front page of a site", () => {
  const front = page('<link rel="webmention" href="wm">');

  it("is used for a feed without its own, at the feed's final origin", async () => {
    const pod = await siteWith(() => ({ "/user/bob/twtxt.txt": feed(TWT), "/": front }));
    const bob = await siteWith(
      () => ({ "/twtxt.txt": { status: 308, headers: { location: `${pod.url}/user/bob/twtxt.txt` } } }),
      { neighbours: [pod] },
    );
    expect(await bob.discover(`${bob.url}/twtxt.txt`)).toEqual({
      endpoint: `${pod.url}/wm`,
      method: "HTML",
      freshUntil: null,
    });
    expect(pod.requests).toEqual(["/user/bob/twtxt.txt", "/"]);
  });

  it("is resolved against the URL that the front page redirects to", async () => {
    const moved = { "/": { status: 302, headers: { location: "/en/" } }, "/en/": front };
    expect(await found(feed(TWT), moved)).toMatchObject({ endpoint: "/en/wm" });
  });

  it("is not used for a page, which declares its own", async () => {
    expect(await found(page("<p>hello"), { "/": front })).toMatchObject({ ...NO_PAGE_ENDPOINT, asked: ["/twtxt.txt"] });
  });

  it.each([
    [
      "is missing",
      { status: 404, headers: { "content-type": "text/html" }, body: '<link rel="webmention" href="/wm">' },
    ],
    ["is a feed without a header, served as HTML", page(`${TWT}<link rel="webmention" href="/spoof">`)],
    ["is a feed", feed(`# webmention = ${WM}\n`)],
    ["is a feed served as HTML", page(`# webmention = ${WM}\n${TWT}`)],
    ["is empty", page("")],
  ])("is not found if the front page %s", async (_name, answer) => {
    expect(await found(feed(TWT), { "/": answer })).toMatchObject({ ...NO_FEED_ENDPOINT, asked: ["/twtxt.txt", "/"] });
  });

  it("is requested once for many feeds of one site", async () => {
    const site = await siteWith(() => ({ "/a.txt": feed(TWT), "/b.txt": feed(TWT), "/": front }));
    const results = await Promise.all([site.discover(`${site.url}/a.txt`), site.discover(`${site.url}/b.txt`)]);
    expect(results).toMatchObject([{ endpoint: `${site.url}/wm` }, { endpoint: `${site.url}/wm` }]);
    expect(site.requests.sort()).toEqual(["/", "/a.txt", "/b.txt"]);
  });
});

describe("a target that cannot be requested", () => {
  const named = { link: "</wm>; rel=webmention", "content-type": "text/plain" };

  it.each([
    [404, "nothing is there (404)"],
    [410, "nothing is there (410)"],
    [403, "their server answers 403"],
    [304, "their server answers 304"],
    [499, "their server answers 499"],
  ])("has no endpoint: %i, even if the response contains one", async (status, why) => {
    expect(await found({ status, headers: named, body: status === 304 ? "" : `# webmention = ${WM}\n` })).toMatchObject(
      {
        endpoint: null,
        why,
        asked: ["/twtxt.txt"],
      },
    );
  });

  it.each([
    [429, "120", NOW + 120 * SECOND],
    [503, "Fri, 20 Nov 2026 10:00:00 GMT", NOW + 3600 * SECOND],
    [500, undefined, null],
    [502, "soon", null],
  ])(
    "unreachable: %i with Retry-After %j, with the time of the next attempt",
    async (status, retryAfter, notBefore) => {
      const headers = { ...named, ...(retryAfter && { "retry-after": retryAfter }) };
      const site = await siteWith(() => ({ "/twtxt.txt": { status, headers, body: `# webmention = ${WM}\n` } }));
      const failure = await site.discover(`${site.url}/twtxt.txt`).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ServerBusyError);
      expect(failure).toMatchObject({ code: "unreachable", notBefore });
    },
  );

  it("unreachable: a failed front page, which may have the endpoint", async () => {
    await expect(found(feed(TWT), { "/": { status: 503 } })).rejects.toThrow(failsWith("unreachable"));
  });

  it("unreachable: silent, or slow in the middle of the header", async () => {
    const silent = await loopbackServer(() => {});
    const slow = await loopbackServer(
      (_request, response) => void response.writeHead(200).write("# nick = bob\n# web"),
    );
    const discover = discovererOf([silent, slow], 200);
    await expect(discover(silent.url)).rejects.toThrow(failsWith("unreachable"));
    await expect(discover(slow.url)).rejects.toThrow(failsWith("unreachable"));
  });

  it("unreachable: cut off within the header", async () => {
    const bob = await loopbackServer((_request, response) => {
      response.writeHead(200, { "content-length": "1000" }).write("# nick = bob\n", () => response.destroy());
    });
    await expect(discovererOf([bob])(bob.url)).rejects.toThrow(failsWith("unreachable"));
  });

  it("address-refused: on this machine, directly and after a redirect", async () => {
    const secret = await siteWith(() => ({ "/": feed(`# webmention = ${WM}\n`) }));
    const bob = await siteWith(() => ({ "/": { status: 302, headers: { location: secret.url } } }));
    await expect(bob.discover(secret.url)).rejects.toThrow(failsWith("address-refused"));
    await expect(bob.discover(bob.url)).rejects.toThrow(failsWith("address-refused"));
    await expect(bob.discover("bob.example/twtxt.txt")).rejects.toThrow(failsWith("address-refused"));
    expect(secret.requests).toEqual([]);
  });

  it("too-many-redirects: a loop", async () => {
    const site = await siteWith(() => ({ "/a": { status: 302, headers: { location: "/a" } } }));
    await expect(site.discover(`${site.url}/a`)).rejects.toThrow(failsWith("too-many-redirects"));
  });

  it("bad-compression: a body that is not gzip", async () => {
    const broken = feed(`# webmention = ${WM}\n`, { "content-encoding": "gzip" });
    await expect(found(broken)).rejects.toThrow(failsWith("bad-compression"));
  });
});

describe("a result", () => {
  it("is requested once in a run, for all twts and concurrent requests", async () => {
    const site = await siteWith(() => ({ "/twtxt.txt": feed(`# webmention = ${WM}\n`) }));
    const target = `${site.url}/twtxt.txt`;
    await Promise.all([site.discover(target), site.discover(`${target}#:~:text=2026-01-02T03:04:05Z`)]);
    expect(await site.discover(target)).toMatchObject({ endpoint: WM });
    expect(site.requests).toEqual(["/twtxt.txt"]);
  });

  it("is requested again after a failure, but not after a negative result", async () => {
    let status = 503;
    const site = await siteWith(() => ({
      "/twtxt.txt": { ...feed(`# webmention = ${WM}\n`), status },
      "/no": { status: 404 },
    }));
    await expect(site.discover(`${site.url}/twtxt.txt`)).rejects.toThrow(failsWith("unreachable"));
    status = 200;
    expect(await site.discover(`${site.url}/twtxt.txt`)).toMatchObject({ endpoint: WM });
    await site.discover(`${site.url}/no`);
    await site.discover(`${site.url}/no`);
    expect(site.requests).toEqual(["/twtxt.txt", "/twtxt.txt", "/no"]);
  });

  it("is fresh for as long as the response allows, even if it is negative", async () => {
    const headers = { "cache-control": "max-age=60" };
    expect(await found(feed(`# webmention = ${WM}\n`, headers))).toMatchObject({ freshUntil: NOW + 60 * SECOND });
    expect(await found(page("<p>hello", headers))).toMatchObject({ freshUntil: NOW + 60 * SECOND });
    expect(await found({ status: 404, headers })).toMatchObject({ freshUntil: NOW + 60 * SECOND });
    expect(await found(feed(`# webmention = ${WM}\n`, { "cache-control": "max-age=999999" }))).toMatchObject({
      freshUntil: NOW + DAY,
    });
  });

  it.each([
    ["max-age=60", "max-age=30", NOW + 30 * SECOND],
    ["max-age=30", "max-age=60", NOW + 30 * SECOND],
    ["max-age=60", "no-store", null],
    ["no-store", "max-age=60", null],
  ])("on the front page is fresh for as long as both responses are: %s and %s", async (own, fronts, freshUntil) => {
    const target = feed(TWT, { "cache-control": own });
    const cacheControl = { "cache-control": fronts };
    const front = page('<link rel="webmention" href="/wm">', cacheControl);
    expect(await found(target, { "/": front })).toMatchObject({ endpoint: "/wm", freshUntil });
    expect(await found(target, { "/": page("<p>hello", cacheControl) })).toMatchObject({ endpoint: null, freshUntil });
  });
});
