import { describe, expect, it } from "vitest";
import { discoveryPaths } from "../../plugin/keys/address.js";
import {
  answer,
  checkedSite,
  checkFeed,
  containing,
  PLAIN,
  posts,
  report,
  type SiteOptions,
  sourceFolder,
} from "./checked-site.js";

const KEY = "kex1syuhwr4g05t4744r23nvxnr7en9cmz53knhr0gja7c84hr7fkw2quf6zcg";

describe("the endpoint that the feed names", () => {
  const field = (line: string): SiteOptions => ({ feed: (text) => text.replace(/# webmention = .*\n/, line) });
  const link = (value: string, line = "# webmention = URL/webmention\n"): SiteOptions => ({
    handlers: (url) => ({
      "/twtxt.txt": answer(
        200,
        { ...PLAIN, link: value },
        `# nick = alice\n# url = ${url}/twtxt.txt\n${line.replace("URL", url)}`,
      ),
    }),
  });
  it.each<[string, SiteOptions, string]>([
    [
      "the Link header names another",
      link("</wm>; rel=webmention"),
      "but its Link header URL/wm Have your host send: Link: ",
    ],
    ["the Link header alone names one", field(""), 'but the feed does not. Add "# webmention = URL/webmention"'],
    [
      "it is not a URL",
      link("<x>; rel=next", "# webmention = ask me\n"),
      'The line "# webmention = ask me" of the feed has no valid',
    ],
    [
      "it is written without spaces",
      { feed: (text) => text.replace("# webmention = ", "#webmention=") },
      'look for the first "webmention = " in the file, and find nothing. Add "# webmention = URL/webmention"',
    ],
    [
      "it is relative",
      link("</webmention>; rel=webmention", "# webmention = /webmention\n"),
      'which is "# webmention = /webmention".',
    ],
    [
      "another field contains its text",
      { feed: (text) => text.replace("\n", "\n# description = my webmention = x\n") },
      'which is "# description = my webmention = x".',
    ],
  ])("fix: %s", async (_, made, fix) => {
    const { exitCode, fixes, site } = await checkFeed(made);
    expect([exitCode, fixes]).toEqual([1, containing(fix.replace("URL", site.url))]);
  });

  it("a field after the first twt is ignored", async () => {
    const { exitCode, notes } = await checkFeed({ ...link("<x>; rel=next", "") });
    expect([exitCode, notes]).toEqual([0, expect.arrayContaining(containing("names no endpoint for mentions"))]);
    const later = await checkFeed({
      handlers: (url) => ({
        "/twtxt.txt": answer(
          200,
          PLAIN,
          `# nick = alice\n# url = ${url}/twtxt.txt\n2025-05-01T10:00:00Z\tx\n# webmention = ${url}/webmention\n`,
        ),
      }),
    });
    expect(later.notes).toEqual(expect.arrayContaining(containing("names no endpoint for mentions")));
    expect(posts(later.site)).toEqual([]);
  });

  it("note: no Link header names it", async () => {
    const { exitCode, notes } = await checkFeed(link("<x>; rel=next"));
    expect([exitCode, notes]).toEqual([
      0,
      expect.arrayContaining(containing("but no Link header does. Have your host send: Link: <")),
    ]);
  });
});

describe("the responses of the endpoint", () => {
  const posted = (status: number, headers: Record<string, string> = {}, body = "", get = answer(200)): SiteOptions => ({
    handlers: () => ({
      "/webmention": (request, response) =>
        (request.method === "POST" ? answer(status, headers, body) : get)(request, response),
    }),
  });
  it.each<[string, SiteOptions, string[]]>([
    [
      "it does not exist",
      { handlers: () => ({ "/webmention": answer(404) }) },
      [
        'URL/webmention answers 404. Deploy the site with its functions, or name another endpoint. If its host only serves files, give the plugin the option host: "static"',
        "answers POST with 404",
      ],
    ],
    [
      "it fails",
      { handlers: () => ({ "/webmention": answer(500) }) },
      ["URL/webmention answers 500.", "fails on an invalid mention (500)"],
    ],
    ["it accepts everything", posted(202), ["accepts an invalid mention (202)"]],
    ["it refuses all POST requests", posted(403), ["refuses all POST requests (403)"]],
    ["it redirects a POST", posted(302, { location: "/wm" }), ["redirects POST requests (302)"]],
    [
      "it redirects",
      { handlers: () => ({ "/webmention": answer(307, { location: "/wm" }), "/wm": answer(400) }) },
      ["/webmention redirects to URL/wm"],
    ],
    [
      "a proxy removes the Content-Type",
      posted(400, { "content-type": "application/problem+json" }, '{"code":"bad-request"}'),
      ["answers JSON with 400 instead of 415", "answers a mention of another site with 400 instead of 400"],
    ],
  ])("fix: %s", async (_, made, fixes) => {
    const { exitCode, fixes: found, site } = await checkFeed(made);
    expect([exitCode, found]).toEqual([1, containing(...fixes.map((fix) => fix.replaceAll("URL", site.url)))]);
  });

  it("takes comments, if the option is on", async () => {
    const checkComments = async (more: SiteOptions = {}, settings: { authors?: [] } = {}) => {
      const options = () => ({ key: KEY, mentions: { comments: true } });
      const site = await checkedSite({ options, ...more });
      const made = sourceFolder({ ...site, settings: { ...site.settings, ...settings } });
      return { url: site.url, ...(await report([site.feedUrl], { hosts: [site], folder: made.folder })) };
    };
    const working = await checkComments();
    expect(working.oks.join("\n")).toContain(`Readers can comment: ${working.url}/comments refuses`);
    const broken = await checkComments({ handlers: () => ({ "/comments": answer(405) }) });
    expect(broken.fixes.join("\n")).toContain(`Readers cannot comment: ${broken.url}/comments answers 405.`);
    const withoutKey = await checkComments({}, { authors: [] });
    expect(withoutKey.oks.join("\n")).not.toContain("Readers can comment");
  });

  it("note: it has no page for browsers, or its rate limit is exceeded", async () => {
    const silent = await checkFeed(posted(400, {}, "", answer(405)));
    expect([silent.exitCode, silent.notes[0]]).toEqual([
      0,
      expect.stringContaining("has no page for visitors who open it in a browser (405)"),
    ]);
    expect(silent.site.requests).not.toContain("GET /mentions.json");
    const busy = await checkFeed({ perMinute: 0, ...posted(429) });
    expect([busy.exitCode, busy.notes[0]]).toEqual([
      0,
      expect.stringMatching(/refuses requests from this machine for now \(429\).*Check again in a minute\.$/),
    ]);
  });
});

describe("the lists of mentions", () => {
  const LIST = { "content-type": "application/json", "access-control-allow-origin": "*", etag: '"1"' };
  const EMPTY = '{"mentions":[],"next":null}';
  it.each<[string, SiteOptions, string]>([
    [
      "the public list does not exist",
      { handlers: () => ({ "/mentions.json": answer(404) }) },
      'URL/mentions.json is not a list of mentions: it answers 404. Deploy the site with its functions. If its host only serves files, give the plugin the option host: "static" and build the site.',
    ],
    [
      "the public list is another document",
      { handlers: () => ({ "/mentions.json": answer(200, LIST, "[]") }) },
      "URL/mentions.json is not a list of mentions: it answers 200.",
    ],
    [
      "pages of other sites cannot read the public list",
      { handlers: () => ({ "/mentions.json": answer(200, { ...LIST, "access-control-allow-origin": "" }, EMPTY) }) },
      "Pages of other sites cannot read URL/mentions.json",
    ],
    [
      "the private feed is public",
      { files: { "/mentions.txt": "x" }, handlers: () => ({ "/mentions.txt": answer(200) }) },
      "URL/mentions.txt is public.",
    ],
    [
      "the private feed fails",
      { handlers: () => ({ "/mentions.txt": answer(500) }) },
      "URL/mentions.txt answers 500 without a token, not 401.",
    ],
  ])("fix: %s", async (_, made, fix) => {
    const { exitCode, fixes, site } = await checkFeed(made);
    expect([exitCode, fixes]).toEqual([1, containing(fix.replace("URL", site.url))]);
  });

  it("note: a proxy changes the Cache-Control", async () => {
    const { exitCode, notes } = await checkFeed({
      handlers: () => ({ "/mentions.json": answer(200, { ...LIST, "cache-control": "public, max-age=600" }, EMPTY) }),
    });
    expect([exitCode, notes.slice(0, 3)]).toEqual([
      0,
      containing("is downloaded as a whole each time", "Browsers cache", "accepts made-up parameters"),
    ]);
  });

  it("are requested at the paths of the site", async () => {
    const site = await checkedSite({
      options: (url) => ({ webmention: `${url}/in/here`, mentions: { path: "/in/here" } }),
      handlers: () => ({}),
    });
    const outside = await report([site.feedUrl], { hosts: [site] });
    expect(outside.exitCode).toBe(1);
    const inside = await report([site.feedUrl], { hosts: [site], folder: sourceFolder(site).folder });
    expect([inside.exitCode, inside.oks]).toEqual([
      0,
      expect.arrayContaining([`${site.url}/mentions.json lists the mentions`]),
    ]);
  });
});

describe("the documents of an address", () => {
  const JSON_HEADERS = { "content-type": "application/json", "access-control-allow-origin": "*" };
  const KEY = "kex1syuhwr4g05t4744r23nvxnr7en9cmz53knhr0gja7c84hr7fkw2quf6zcg";
  const NOBODY = `/.well-known/msg/${"nobody".repeat(11)}.json`;
  const all = (url: string) => discoveryPaths(`alice@${new URL(url).host}`);
  const each = (headers: Record<string, string>, content: (url: string) => object): SiteOptions => ({
    handlers: (url) =>
      Object.fromEntries(
        all(url).map((path) => [path, answer(200, { ...JSON_HEADERS, ...headers }, JSON.stringify(content(url)))]),
      ),
  });
  const good = (url: string) => ({ endpoint: `${url}/inbox/alice`, key: KEY });

  it.each<[string, SiteOptions, number, string]>([
    [
      "one does not exist",
      { handlers: (url) => ({ [all(url)[3] ?? ""]: answer(404) }) },
      1,
      ".json has no such document (404). Some clients only look there.",
    ],
    [
      "one differs",
      {
        handlers: (url) => ({
          [all(url)[0] ?? ""]: answer(200, JSON_HEADERS, JSON.stringify({ ...good(url), endpoint: `${url}/old` })),
        }),
      },
      1,
      "The documents with the key",
    ],
    [
      "they are plain text",
      each({ "content-type": "text/plain" }, good),
      4,
      'is served as "text/plain". Have your host serve it as application/json.',
    ],
    [
      "browsers cannot read them",
      each({ "access-control-allow-origin": "" }, good),
      4,
      "Clients in a browser cannot read URL/.well-known/",
    ],
    [
      "they have an Accept-Encoding header",
      each({ "accept-encoding": "gzip" }, good),
      4,
      "has a header Accept-Encoding",
    ],
    [
      "their key is invalid",
      each({}, (url) => ({ ...good(url), key: KEY.replace("syu", "yys") })),
      4,
      "is invalid: expected a public key",
    ],
    [
      "their inbox is a relative URL",
      each({}, (url) => ({ ...good(url), endpoint: "/inbox" })),
      4,
      'names the inbox "/inbox", which is not an https',
    ],
    [
      "their inbox is an ftp URL",
      each({}, (url) => ({ ...good(url), endpoint: "ftp://alice.example/" })),
      4,
      'names the inbox "ftp://alice.example/"',
    ],
    [
      "an unknown user gets a page",
      { handlers: () => ({ [NOBODY]: answer(200, {}, "<p>") }) },
      1,
      "For an unknown user, URL",
    ],
    [
      "an unknown user gets JSON",
      { handlers: () => ({ [NOBODY]: answer(404, { "content-type": "application/json" }, "{}") }) },
      1,
      "nobody.json answers 404 and JSON. Some clients",
    ],
  ])("fix: %s", async (_, made, count, fix) => {
    const { exitCode, fixes, site } = await checkFeed(made);
    expect([exitCode, fixes]).toEqual([
      1,
      Array.from({ length: count }, () => expect.stringContaining(fix.replace("URL", site.url))),
    ]);
  });

  it("note: one redirects", async () => {
    const moved = (url: string) => `${url}${all(url)[1]}`;
    const { exitCode, notes, site } = await checkFeed({
      handlers: (url) => ({
        [all(url)[1] ?? ""]: answer(302, { location: "/alice.json" }),
        "/alice.json": answer(200, JSON_HEADERS, `${JSON.stringify(good(url))}\n`),
      }),
    });
    expect([exitCode, notes]).toEqual([
      0,
      expect.arrayContaining(
        containing(`${moved(site.url)} redirects to ${site.url}/alice.json Serve it at the first URL`),
      ),
    ]);
  });

  it("there are none: a note for others, a fix for the author", async () => {
    const site = await checkedSite({
      handlers: (url) => Object.fromEntries(all(url).map((path) => [path, answer(404)])),
    });
    const stranger = await report([site.feedUrl], { hosts: [site] });
    expect([stranger.exitCode, stranger.notes]).toEqual([
      0,
      expect.arrayContaining(containing(`No one can send private messages to alice@${site.host}.`)),
    ]);
    const author = await report([site.feedUrl], { hosts: [site], folder: sourceFolder(site).folder });
    expect([author.exitCode, author.fixes]).toEqual([
      1,
      containing("was found, so no one can send you private messages. Have your host publish the folder .well-known"),
    ]);
  });
});
