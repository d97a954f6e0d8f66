import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { type Finding, probeWith, runChecks } from "../../plugin/author/doctor/check.js";
import { checkAddress } from "../../plugin/author/doctor/check-address.js";
import { checkScheme } from "../../plugin/author/doctor/check-feed.js";
import { createGuard } from "../../plugin/http/guard.js";
import { answer, checkedSite, checkFeed, containing, PLAIN, report, type SiteOptions } from "./checked-site.js";

describe("finding the feed", () => {
  it("at /twtxt.txt, if the front page does not name it", async () => {
    const site = await checkedSite({ files: { "/index.html": "<p>home" } });
    const { exitCode, notes, oks } = await report([site.url], { hosts: [site] });
    expect([exitCode, oks[0]]).toEqual([0, `${site.feedUrl} is a feed with 2 twts`]);
    expect(notes[0]).toContain(`<link rel="alternate" type="text/plain" href="${site.feedUrl}">`);
  });

  it("at the second link, if the first leads to another text file", async () => {
    const link = (href: string) =>
      `<link rel="help" type="text/plain" href="/other.txt"><LINK REL="Alternate" TYPE="Text/Plain" href="${href}">`;
    const site = await checkedSite({
      options: () => ({ path: "/feeds/tw.txt" }),
      files: {
        "/about/index.html": link("/llms.txt") + link("../feeds/tw.txt"),
        "/llms.txt": "# Alice\n",
        "/other.txt": "# nick = bob\n",
      },
    });
    const { oks } = await report([`${site.url}/about/`], { hosts: [site] });
    expect(oks[0]).toBe(`${site.url}/about/ names the feed ${site.url}/feeds/tw.txt`);
  });

  it.each<[string, string, SiteOptions, string]>([
    ["there is no file", "/tw.txt", {}, "There is nothing at URL/tw.txt (404). Build and deploy"],
    [
      "a page without a link to a feed",
      "/about/",
      { files: { "/about/index.html": "<p>me" } },
      'URL/about/ is not a feed, but "text/html; charset=utf-8"',
    ],
    ["a text that is not a feed", "/a.txt", { files: { "/a.txt": "hello\n" } }, "URL/a.txt is not a feed"],
    [
      "no link and no /twtxt.txt",
      "/",
      { files: { "/index.html": "home", "/twtxt.txt": null } },
      "There is nothing at URL/twtxt.txt",
    ],
    [
      "the host refuses programs",
      "/twtxt.txt",
      { handlers: () => ({ "/twtxt.txt": answer(403) }) },
      "URL/twtxt.txt is refused (403). Turn off the protection",
    ],
    [
      "the host responds with an error",
      "/twtxt.txt",
      { handlers: () => ({ "/twtxt.txt": answer(502) }) },
      "URL/twtxt.txt answers 502.",
    ],
    [
      "it is larger than 8 MiB",
      "/twtxt.txt",
      { feed: (text) => text + "2026-01-02T03:04:05Z\tx\n".repeat(400_000) },
      "URL/twtxt.txt is larger than 8 MiB",
    ],
  ])("fix: %s", async (_, path, made, fix) => {
    const site = await checkedSite(made);
    const { exitCode, fixes } = await report([site.url + path], { hosts: [site] });
    expect([exitCode, fixes]).toEqual([1, containing(fix.replaceAll("URL", site.url))]);
  });

  it("note: the given URL redirects", async () => {
    const { url, host } = await checkedSite({ handlers: () => ({ "/old": answer(301, { location: "/twtxt.txt" }) }) });
    const { exitCode, notes } = await report([`${url}/old`], { hosts: [{ host }] });
    expect([exitCode, notes[0]]).toEqual([0, expect.stringContaining(`${url}/old redirects to ${url}/twtxt.txt`)]);
  });
});

/** Serves the feed with these headers for every method. */
const servedWith = (headers: Record<string, string>, status = 200): SiteOptions => ({
  handlers: (url) => ({
    "/twtxt.txt": answer(
      status,
      { ...PLAIN, ...headers },
      `# nick = alice\n# url = ${url}/twtxt.txt\n\n2025-05-01T10:00:00Z\tü\n`,
    ),
  }),
});

describe("how the feed is served", () => {
  it.each<[string, SiteOptions, string[]]>([
    [
      "as a page",
      servedWith({ "content-type": "text/html" }),
      ['is served as "text/html". Some readers accept only plain text. Have your host'],
    ],
    [
      "without a charset",
      servedWith({ "content-type": "text/plain" }),
      ['is served as "text/plain". Browsers show letters such as ü'],
    ],
    [
      "in another charset",
      servedWith({ "content-type": "text/plain; charset=latin1" }),
      ["Browsers show letters such as ü"],
    ],
    [
      "cached for a year",
      servedWith({ "cache-control": "public, max-age=31536000" }),
      ["may cache the feed for 365 days"],
    ],
    [
      "with the same Last-Modified for all files",
      servedWith({ "last-modified": "Tue, 01 Jan 1980 00:00:00 GMT" }),
      ["Last-Modified header is 1980-01-01T00:00:00.000Z, but that twt is from 2025-05-01T10:00:00Z"],
    ],
  ])("fix: %s", async (_, made, fixes) => {
    expect(await checkFeed(made)).toMatchObject({ exitCode: 1, fixes: containing(...fixes) });
  });

  it.each<
    [string, (method: string, headers: Record<string, unknown>) => [number, Record<string, string>] | null, string[]]
  >([
    ["HEAD is refused", (method) => (method === "HEAD" ? [405, {}] : null), ["answers HEAD with 405"]],
    [
      "HEAD has another Content-Type",
      (method) => (method === "HEAD" ? [200, { "content-type": "text/html" }] : null),
      ["HEAD and GET send a different content-type."],
    ],
    [
      "a 304 by date without Last-Modified",
      (_, headers) => (headers["if-modified-since"] ? [304, {}] : null),
      ['because "304 Not Modified" comes without Last-Modified'],
    ],
    [
      "a 304 by ETag without the Last-Modified of the 200",
      (_, headers) =>
        headers["if-none-match"] ? [304, {}] : [200, { etag: '"1"', "last-modified": new Date().toUTCString() }],
      ['because "304 Not Modified" comes without Last-Modified'],
    ],
  ])("fix: %s", async (_, fault, fixes) => {
    const made: SiteOptions = {
      handlers: (url) => ({
        "/twtxt.txt": (request, response) => {
          const [status, headers] = fault(request.method ?? "", request.headers) ?? [200, {}];
          answer(
            status,
            { ...PLAIN, ...headers },
            request.method === "GET" && status === 200 ? `# nick = alice\n# url = ${url}/twtxt.txt\n` : "",
          )(request, response);
        },
      }),
    };
    expect(await checkFeed(made)).toMatchObject({ exitCode: 1, fixes: containing(...fixes) });
  });

  it("ok: a 304 by ETag, and no answer has a Last-Modified", async () => {
    const { exitCode, oks } = await checkFeed({
      handlers: (url) => ({
        "/twtxt.txt": (request, response) =>
          answer(
            request.headers["if-none-match"] ? 304 : 200,
            { ...PLAIN, etag: '"1"' },
            request.headers["if-none-match"] ? "" : `# nick = alice\n# url = ${url}/twtxt.txt\n`,
          )(request, response),
      }),
    });
    expect([exitCode, oks]).toEqual([
      0,
      expect.arrayContaining(["Readers download the feed only if it has changed (ETag, Last-Modified)"]),
    ]);
  });

  it("ok: a compressed feed, with Content-Encoding on empty answers too", async () => {
    const { exitCode, notes } = await checkFeed({
      handlers: (url) => ({
        "/twtxt.txt": (request, response) => {
          const matchesEtag = "if-none-match" in request.headers;
          const isEmpty = matchesEtag || request.method === "HEAD";
          const headers = { ...PLAIN, etag: '"1"', "content-encoding": "gzip" };
          response.writeHead(matchesEtag ? 304 : 200, headers);
          response.end(isEmpty ? "" : gzipSync(`# nick = alice\n# url = ${url}/twtxt.txt\n`));
        },
      }),
    });
    expect([exitCode, notes[0]]).toEqual([0, expect.stringContaining("is a feed without twts")]);
  });

  it("note: browsers cannot read it, and conditional requests do not work", async () => {
    const { exitCode, notes } = await checkFeed(servedWith({ "access-control-allow-origin": "https://alice.example" }));
    expect([exitCode, notes]).toEqual([
      0,
      expect.arrayContaining(containing("cannot read the feed", "download the whole feed each time")),
    ]);
  });
});

describe("http", () => {
  it("note: http, except on loopback", () => {
    const note = { level: "note", what: "The feed is served without encryption, at http://alice.example/twtxt.txt" };
    expect([...checkScheme("http://alice.example/twtxt.txt", "The feed")]).toEqual([
      { ...note, todo: "Serve it over https." },
    ]);
    for (const url of ["https://alice.example/", "http://127.0.0.1:8080/", "http://[::1]/", "http://localhost/"]) {
      expect([...checkScheme(url, "The feed")]).toEqual([]);
    }
    expect([...checkScheme("http://127.evil.example/", "The feed")]).toHaveLength(1);
  });

  it("fix: documents of an address need https", async () => {
    const look = probeWith(createGuard({ userAgent: "test" }));
    const site = { address: "alice@alice.example", origin: "http://alice.example", isExpected: false };
    const findings: Finding[] = [];
    for await (const finding of runChecks(checkAddress(site, look))) findings.push(finding);
    expect(findings).toEqual([
      {
        level: "fix",
        what: "http://alice.example/.well-known/msg/alice.json is not requested: https is required here.",
        todo: "Serve your site over https.",
      },
    ]);
  });
});

describe("the feed's url field", () => {
  it.each<[string, SiteOptions, string]>([
    ["none", { feed: (text) => text.replace(/# url = .*\n/, "") }, "The feed does not give"],
    [
      "a URL without a feed",
      { feed: (text) => text.replace("twtxt.txt", "gone.txt") },
      'gone.txt", but it is not there. Serve it',
    ],
    [
      "an invalid URL",
      { feed: (text) => text.replace(/# url = .*/, "# url = alice") },
      'is "alice", but it is not there',
    ],
    [
      "a URL that redirects",
      {
        feed: (text) => text.replace("twtxt.txt", "old.txt"),
        handlers: () => ({ "/old.txt": answer(302, { location: "/twtxt.txt" }) }),
      },
      "which redirects to URL/twtxt.txt",
    ],
  ])("fix: %s", async (_, made, fix) => {
    const { exitCode, fixes, site } = await checkFeed(made);
    expect([exitCode, fixes[0]]).toEqual([1, expect.stringContaining(fix.replace("URL", site.url))]);
  });

  it("note: another URL with a feed, or several URLs", async () => {
    const made: SiteOptions = {
      feed: (text, url) => text.replace(/# url = .*\n/, `# url = ${url}/tw.txt\n# url = ${url}/twtxt.txt\n`),
      handlers: (url) => ({ "/tw.txt": answer(200, PLAIN, `# nick = alice\n# url = ${url}/tw.txt\n`) }),
    };
    const { notes } = await checkFeed(made);
    expect(notes).toEqual(expect.arrayContaining(containing("where another feed is served", '2 lines "# url = ..."')));
  });
});

describe("the lines of the feed", () => {
  const add = (lines: string): SiteOptions => ({ feed: (text) => text + lines });
  it.each<[string, SiteOptions, string[]]>([
    [
      "a byte order mark",
      { feed: (text) => `\uFEFF${text}` },
      ["starts with an invisible character (a byte order mark)"],
    ],
    [
      "CR LF",
      { feed: (text) => text.replaceAll("\n", "\r\n") },
      ["lines of the feed end as on Windows (CR LF). Save it with line ends"],
    ],
    [
      "another encoding",
      { feed: (text) => Buffer.from(text, "latin1") },
      ["Some letters of the feed are not in UTF-8."],
    ],
    ["a line of 64 KiB", add(`2025-05-03T10:00:00Z\t${"x".repeat(65_536)}\n`), ["Line 8 has 64 KiB or more."]],
    [
      "invalid lines",
      add("2025-13-01T10:00:00Z\tx\nhello\n\nno\nyes\n"),
      [
        '4 lines are neither a twt nor a comment: line 8, "2025-13-01T10:00:00Z\\u{9}x"; line 9, "hello"; line 11, "no"; ... A twt is',
      ],
    ],
    ["no nick", { feed: (text) => text.replace("# nick = alice\n", "") }, ["The feed has no nick."]],
    [
      "a nick that cannot be mentioned",
      { feed: (text) => text.replace("= alice", "= alice w") },
      ['The nick of the feed, "alice w", cannot be used in a mention.'],
    ],
    [
      "two twts in one second",
      add("2025-05-01T10:00:00Z\tanother\n"),
      ["1 twt with the same second as another one, the first at 2025-05-01T10:00:00Z"],
    ],
    [
      "a twt in the future",
      add("2999-05-01T10:00:00Z\tlater\n"),
      ["1 twt in the future, the first at 2999-05-01T10:00:00Z"],
    ],
    [
      "a TAB in a text",
      add("2025-05-02T10:00:00Z\ta\tb\n2025-05-03T10:00:00Z\ta\vb\n"),
      ["2 twts with a TAB or another control character"],
    ],
  ])("fix: %s", async (_, made, fixes) => {
    const { site, ...found } = await checkFeed(made);
    expect(found).toMatchObject({ exitCode: 1, fixes: containing(...fixes) });
    expect(found.oks).not.toContain("Every line of the feed is readable");
  });

  it("note: unusual fields and times, more than 1 MiB, no twts", async () => {
    const header = { feed: (text: string) => text.replace("# nick =", "#nick     =") };
    const big = `2025-05-03T10:00:00+01:00\t${"x".repeat(60_000)}\n`;
    const many = Array.from({ length: 20 }, (_, i) => big.replace("10:00", `10:${i + 10}`)).join("");
    expect((await checkFeed(header)).notes[0]).toContain(
      '1 line of the header is not in the form "# name = value": "#nick     = alice"',
    );
    const { exitCode, notes } = await checkFeed(add(many));
    expect([exitCode, notes.slice(0, 2)]).toEqual([
      0,
      containing("larger than 1 MiB", "20 twts with a time that is not in the form"),
    ]);
    const empty = await checkFeed({ feed: (text) => text.replace(/# prev.*|\n20.*/gs, "\n") });
    expect([empty.exitCode, empty.notes[0]]).toEqual([0, expect.stringContaining("is a feed without twts")]);
  });
});

describe("the archives", () => {
  const ARCHIVE = "/twtxt-2023.txt";
  it.each<[string, SiteOptions, string]>([
    [
      "one is missing",
      { files: { [ARCHIVE]: null } },
      "There is nothing at URL/twtxt-2023.txt (404). Build and deploy the site again",
    ],
    ["one is a page", { files: { [ARCHIVE]: "<p>" } }, "URL/twtxt-2023.txt is not a feed"],
    [
      "one does not contain its last twt",
      { files: { [ARCHIVE]: "# nick = alice\n\n2023-05-01T10:00:00Z\tthe first one\n" } },
      'The last twt of URL/twtxt-2023.txt is not "',
    ],
    [
      "prev has no file name",
      { feed: (text) => text.replace(/# prev = .*/, "# prev = abcdefg") },
      'cannot be found: "abcdefg"',
    ],
    ["they form a loop", { feed: (text) => text.replace("twtxt-2023.txt", "twtxt.txt") }, "The archives form a loop"],
    [
      "one names another URL",
      {
        feed: (text) => text,
        handlers: (url) => ({
          [ARCHIVE]: answer(
            200,
            PLAIN,
            `# url = ${url}/other.txt\n\n2023-05-02T10:00:00Z\tthe last one of the archive\n`,
          ),
        }),
      },
      'other.txt", but the feed says "URL/twtxt.txt".',
    ],
    [
      "one is served as a page",
      {
        handlers: () => ({
          [ARCHIVE]: answer(
            200,
            { "content-type": "text/html" },
            "2023-05-02T10:00:00Z\tthe last one of the archive\n",
          ),
        }),
      },
      'URL/twtxt-2023.txt is served as "text/html"',
    ],
  ])("fix: %s", async (_, made, fix) => {
    const { exitCode, fixes, site } = await checkFeed(made);
    expect([exitCode, fixes]).toEqual([1, containing(fix.replace("URL", site.url))]);
  });

  it("note: a twt is in both the feed and an archive", async () => {
    const { exitCode, notes } = await checkFeed({
      feed: (text) => text.replace(/\n\n/, "\n\n2023-05-02T10:00:00Z\tthe last one of the archive\n"),
    });
    expect([exitCode, notes[0]]).toEqual([0, expect.stringMatching(/^1 twt of \S+twtxt-2023.txt is in another part/)]);
  });
});
