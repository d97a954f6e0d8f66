import { afterEach, describe, expect, it } from "vitest";
import { strayed } from "../../helpers/loopback.js";
import { type Answer, page, siteWith } from "./bobs-site.js";

afterEach(() => expect(strayed).toEqual([]));

/** The response of a case of webmention.rocks at `/test/<n>`; the right endpoint is `/test/<n>/webmention`. */
interface Case {
  link?: (endpoint: string) => string | string[];
  headerName?: string;
  head?: (endpoint: string) => string;
  body?: (endpoint: string) => string;
}

const here = (n: number) => `/test/${n}/webmention`;
const wrong = (n: number) => `/test/${n}/webmention/error`;

function served(url: string, n: number, { link, headerName = "Link", head, body }: Case): Answer {
  const endpoint = url + here(n);
  const html = `<!doctype html><html><head><title>${n}</title>${head?.(endpoint) ?? ""}</head>
    <body><p>${body?.(endpoint) ?? "Hello."}</p></body></html>`;
  return page(html, link ? { [headerName]: link(endpoint) } : {});
}

const CASES: [number, string, "Link header" | "HTML", Case][] = [
  [
    1,
    "a relative URL in a Link header, its rel not quoted",
    "Link header",
    { link: () => `<${here(1)}>; rel=webmention` },
  ],
  [
    2,
    "an absolute URL in a Link header, its rel not quoted",
    "Link header",
    { link: (url) => `<${url}>; rel=webmention` },
  ],
  [3, "a relative URL in a link element", "HTML", { head: () => `<link rel="webmention" href="${here(3)}">` }],
  [4, "an absolute URL in a link element", "HTML", { head: (url) => `<link href="${url}" rel="webmention">` }],
  [5, "a relative URL in an a element", "HTML", { body: () => `<a rel="webmention" href="${here(5)}">there</a>` }],
  [6, "an absolute URL in an a element", "HTML", { body: (url) => `<a href="${url}" rel="webmention">there</a>` }],
  [
    7,
    "a Link header with its name in mixed case",
    "Link header",
    { headerName: "LinK", link: (url) => `<${url}>; rel=webmention` },
  ],
  [8, "a Link header with its rel quoted", "Link header", { link: (url) => `<${url}>; rel="webmention"` }],
  [
    9,
    "one rel of several of a link element",
    "HTML",
    { head: (url) => `<link rel="webmention somethingelse" href="${url}">` },
  ],
  [
    10,
    "one rel of several of a Link header",
    "Link header",
    { link: (url) => `<${url}>; rel="webmention somethingelse"` },
  ],
  [
    11,
    "the Link header before link and a elements",
    "Link header",
    {
      link: () => `<${here(11)}>; rel="webmention"`,
      head: () => `<link rel="webmention" href="${wrong(11)}">`,
      body: () => `<a href="${wrong(11)}" rel="webmention">not here</a>`,
    },
  ],
  [
    12,
    "only the rel webmention, not not-webmention",
    "HTML",
    {
      head: () => `<link rel="not-webmention" href="${wrong(12)}">`,
      body: () => `<a href="${here(12)}" rel="webmention">here</a>`,
    },
  ],
  [
    13,
    "nothing in an HTML comment",
    "HTML",
    {
      body: () =>
        `<!-- <a href="${wrong(13)}" rel="webmention"></a> --> <a href="${here(13)}" rel="webmention">here</a>`,
    },
  ],
  [
    14,
    "nothing in escaped HTML",
    "HTML",
    {
      body: () =>
        `<code>&lt;a href="${wrong(14)}" rel="webmention"&gt;&lt;/a&gt;</code> <a href="${here(14)}" rel="webmention">here</a>`,
    },
  ],
  [
    16,
    "an a element before a link element",
    "HTML",
    {
      body: () => `<a href="${here(16)}" rel="webmention">here</a> <link rel="webmention" href="${wrong(16)}">`,
    },
  ],
  [
    17,
    "a link element before an a element",
    "HTML",
    {
      body: () => `<link rel="webmention" href="${here(17)}"> <a href="${wrong(17)}" rel="webmention">not here</a>`,
    },
  ],
  [
    18,
    "the second one of two Link headers",
    "Link header",
    {
      link: (url) => [`<${url}/error>; rel="other"`, `<${url}>; rel="webmention"`],
    },
  ],
  [
    19,
    "the second value of one Link header",
    "Link header",
    {
      link: (url) => `<${url}/error>; rel="other", <${url}>; rel="webmention"`,
    },
  ],
  [
    20,
    "no link element without href",
    "HTML",
    {
      body: () => `<link rel="webmention"> <a href="${here(20)}" rel="webmention">here</a>`,
    },
  ],
  [
    22,
    "a URL relative to the path of the page",
    "HTML",
    { head: () => '<link rel="webmention" href="22/webmention">' },
  ],
];

describe("the discovery tests of webmention.rocks", () => {
  it.each(CASES)("%i finds %s", async (n, _name, method, answer) => {
    const site = await siteWith((url) => ({ [`/test/${n}`]: served(url, n, answer) }));

    expect(await site.discover(`${site.url}/test/${n}`)).toMatchObject({ endpoint: site.url + here(n), method });
    expect(site.requests).toEqual([`/test/${n}`]);
  });

  it("15 finds the page itself in an empty href", async () => {
    const site = await siteWith(() => ({ "/test/15": page('<link rel="webmention" href="">') }));
    expect(await site.discover(`${site.url}/test/15`)).toMatchObject({ endpoint: `${site.url}/test/15` });
  });

  it("21 keeps the endpoint's own query", async () => {
    const link = '<link rel="webmention" href="/test/21/webmention?query=yes">';
    const site = await siteWith(() => ({ "/test/21": page(link) }));
    expect(await site.discover(`${site.url}/test/21`)).toMatchObject({
      endpoint: `${site.url}/test/21/webmention?query=yes`,
    });
  });

  it("23 resolves a relative endpoint against the URL after redirects", async () => {
    const site = await siteWith(() => ({
      "/test/23/page": { status: 302, headers: { location: "page/4711" } },
      "/test/23/page/4711": page('<link rel="webmention" href="webmention-endpoint/4711">'),
    }));
    // "page/4711" is relative to /test/23/, the endpoint to /test/23/page/.
    expect(await site.discover(`${site.url}/test/23/page`)).toMatchObject({
      endpoint: `${site.url}/test/23/page/webmention-endpoint/4711`,
    });
  });
});
