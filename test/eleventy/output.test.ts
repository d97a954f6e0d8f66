import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { type BuiltSite, buildSite, post, site } from "../helpers/site.js";
import { URLS } from "./read-build.js";

const KEY = "kex132yw8ht5p8cetl2jmvknewjawt9xwzdlrk2pyxlnwjyqrdq0dawqqph077";
const HASHED = createHash("sha256").update("alice@alice.example").digest("hex");
const files = {
  "_includes/page.njk": "<head></head>{{ content | safe }}",
  "posts/posts.json": `{ "tags": "posts", "layout": "page.njk" }`,
  "posts/old.md": post({ title: "Old", date: "2019-03-04T05:06:07Z" }, "Body"),
  "posts/older.md": post({ title: "Older", date: "2018-03-04T05:06:07Z" }, "Body"),
  "posts/new.md": post({ title: "New", date: "2026-03-04" }, "Body"),
  "posts/note.md": post({ date: "2025-03-04T05:06:07Z", tags: "[posts]" }, "A note"),
  "posts/undated.md": post({ title: "Undated" }, "Body"),
};

describe("the files that a build writes in addition to pages", () => {
  let built: BuiltSite;
  const json = (path: string) => JSON.parse(readFileSync(join(built.folder, path), "utf8"));

  beforeAll(async () => {
    built = await site({
      files: {
        ...files,
        "netlify.toml": "",
        ".netlify/v1/config.json": `{"headers":[{"for":"/x","values":{"A":"b"}},{"for":"/twtxt.txt","values":{}}],"images":{}}`,
      },
      options: `{ key: "${KEY}", endpoint: "https://alice.example/inbox/alice", webmention: "https://alice.example/webmention?for=a,b" }`,
    });
  });

  it("include an archive per year except the newest two, each with a link to the previous one", () => {
    const header = "# nick = alice\n# url = https://alice.example/twtxt.txt\n";
    expect(built.read("twtxt-2018.txt")).toBe(
      `${header}\n2018-03-04T05:06:07Z\tOlder: https://alice.example/posts/older/\n`,
    );
    expect(built.read("twtxt-2019.txt")).toMatch(
      /^# nick = alice\n# url = https:\/\/alice.example\/twtxt.txt\n# prev = [a-z2-7]{7} twtxt-2018.txt\n\n2019-/,
    );
    expect(built.read("twtxt.txt")).toMatch(
      /^# nick = alice\n# url = https:\/\/alice.example\/twtxt.txt\n# webmention = https:\/\/alice.example\/webmention\?for=a,b\n# prev = [a-z2-7]{7} twtxt-2019.txt\n\n2025-.*\n2026-.*\n$/,
    );
    expect(built.has("twtxt-2025.txt")).toBe(false);
  });

  it("include the discovery document under plain and hashed names in both folders", () => {
    const names = [`${HASHED}.json`, "alice.json"].sort();
    for (const segment of ["msg", "salty"]) {
      expect(readdirSync(join(built.folder, "_site/.well-known", segment)).sort()).toEqual(names);
      for (const name of names) {
        expect(JSON.parse(built.read(`.well-known/${segment}/${name}`))).toEqual({
          endpoint: "https://alice.example/inbox/alice",
          key: KEY,
        });
      }
    }
  });

  it("include the settings for the commands, without a secret", () => {
    expect(json(".eleventy-twtxt/settings.json")).toEqual({
      version: 10,
      timeline: null,
      url: "https://alice.example",
      feedUrl: "https://alice.example/twtxt.txt",
      nick: "alice",
      timeZone: "UTC",
      follow: [],
      followed: { file: "_data/follow.json", option: [] },
      host: "netlify",
      input: "./",
      output: "./_site/",
      isDevelopment: false,
      endpoint: "https://alice.example/webmention?for=a,b",
      address: "alice@alice.example",
      authors: [
        { user: "alice", address: "alice@alice.example", key: KEY, endpoint: "https://alice.example/inbox/alice" },
      ],
      isReceiver: false,
      hasEndpoints: true,
      urls: { ...URLS, webmention: "https://alice.example/webmention" },
      inbox: null,
      blobs: null,
      mentions: {
        words: {},
        links: true,
        unlisted: false,
        aliases: [],
        allow: [],
        block: [],
        moderate: false,
        digestHours: 24,
        everyHours: 1,
        rebuild: { perDay: 1, perMonth: 5 },
        limits: {
          slowHostPause: 3600,
          verificationSeconds: 1000,
          pending: 500,
          pendingPerHost: 20,
          shownPerHost: 10,
        },
      },
      notes: { folders: ["./posts"], hasAny: true, like: "./posts/note.md", tags: ["posts"], layout: "page.njk" },
      unstamped: [
        { file: "./posts/new.md", timestamp: expect.stringMatching(/^2026-03-04T00:/) },
        { file: "./posts/undated.md", timestamp: null },
      ],
    });
  });

  it("include Netlify headers, in addition to those of other tools", () => {
    const feed = {
      "Content-Type": "text/plain; charset=utf-8",
      Link: '<https://alice.example/webmention?for=a%2Cb>; rel="webmention"',
      "Access-Control-Allow-Origin": "*",
    };
    const document = { "Content-Type": "application/json", "Access-Control-Allow-Origin": "*" };
    expect(json(".netlify/v1/config.json")).toEqual({
      images: {},
      headers: [
        { for: "/x", values: { A: "b" } },
        ...["/twtxt.txt", "/twtxt-2019.txt", "/twtxt-2018.txt"].map((path) => ({ for: path, values: feed })),
        ...["msg/alice", `msg/${HASHED}`, `salty/${HASHED}`, "salty/alice"].map((name) => ({
          for: `/.well-known/${name}.json`,
          values: document,
        })),
      ],
    });
  });
});

describe("a key", () => {
  it("that is invalid stops the build before it writes a file", async () => {
    const built = await buildSite({
      files,
      options: `{ key: "${KEY.slice(0, -1)}q", endpoint: "https://alice.example/inbox/alice" }`,
    });
    expect(built.exitCode).toBe(1);
    expect(built.log).toMatch(
      /options\.key of alice@alice\.example: expected a public key such as "kex1\.\.\.", got ".*": it is incomplete or mistyped\./,
    );
    expect(built.has("twtxt.txt")).toBe(false);
  });

  it.each([
    [`endpoint: "https://alice.example/inbox/alice"`, "your address", "Serve /.well-known/msg/alice.json, "],
    [`host: "node"`, "your address and of guests", "Forward requests for /.well-known/msg/ and /.well-known/salty/"],
  ])(
    "of a site with a path prefix causes a warning: the documents must be at the root of the domain (%s)",
    async (options, whose, solution) => {
      const built = await site({
        files,
        options: `{ key: "${KEY}", ${options} }`,
        config: `return { pathPrefix: "/blog/" };`,
      });
      expect(built.log).toContain(
        `The documents of ${whose} must be at the root of alice.example, but this site has a path prefix. ${solution}`,
      );
    },
  );
});

describe("a Netlify file that another tool damaged", () => {
  it("stops the build with an error that names it", async () => {
    const built = await buildSite({ files: { ...files, "netlify.toml": "", ".netlify/v1/config.json": "{" } });
    expect(built.exitCode).toBe(1);
    expect(built.log).toMatch(/\.netlify\/v1\/config\.json is not valid JSON/);
  });
});

describe("a host that is no longer Netlify", () => {
  it("loses the plugin's part of the Netlify configuration, but keeps that of other tools", async () => {
    const others = { images: { remote: [] }, headers: [{ for: "/x", values: { A: "b" } }] };
    const config = ".netlify/v1/config.json";
    const first = await site({
      files: { ...files, [config]: JSON.stringify(others) },
      options: `{ host: "netlify" }`,
    });
    const json = () => JSON.parse(readFileSync(join(first.folder, config), "utf8"));
    expect(json().headers).toHaveLength(4);

    const later = { ...json(), headers: [...json().headers, { for: "/twtxt-2018.txt", values: { B: "c" } }] };
    await site({ files: { [config]: JSON.stringify(later) }, options: `{ host: "node" }`, site: first });
    expect(json()).toEqual({
      ...others,
      headers: [...others.headers, { for: "/twtxt-2018.txt", values: { B: "c" } }],
    });
  });

  it("has no empty file, and no rule for a former path of the feed", async () => {
    const folder = (built: BuiltSite) => join(built.folder, ".netlify/v1");
    const first = await site({ files, options: `{ host: "netlify" }` });
    await site({ files: {}, options: `{ host: "netlify", path: "/tw.txt" }`, site: first });
    const { headers } = JSON.parse(readFileSync(join(folder(first), "config.json"), "utf8"));
    expect(headers.map((rule: { for: string }) => rule.for)).toEqual(["/tw.txt", "/tw-2019.txt", "/tw-2018.txt"]);

    await site({ files: {}, options: `{ host: "static" }`, site: first });
    expect(readdirSync(folder(first)).filter((name) => name.endsWith(".json"))).toEqual([]);
  });
});

describe("a host that is not Netlify", () => {
  it("has no Netlify folder, and the site's own _headers and _redirects are unchanged", async () => {
    const built = await site({
      files: { ...files, _headers: "/*\n  X-Mine: yes\n", _redirects: "/a /b\n" },
      config: `config.addPassthroughCopy("_headers"); config.addPassthroughCopy("_redirects");`,
    });
    expect(existsSync(join(built.folder, ".netlify"))).toBe(false);
    expect(built.read("_headers")).toBe("/*\n  X-Mine: yes\n");
    expect(built.read("_redirects")).toBe("/a /b\n");
  });
});

describe("a year beyond 512 KiB", () => {
  it("is split into months with lines below 64 KiB, and a warning lists shortened posts", async () => {
    const long = "word ".repeat(12_000);
    const months = Object.fromEntries(
      Array.from({ length: 12 }, (_, i) => [
        `posts/m${i}.md`,
        post({ date: `2020-${String(i + 1).padStart(2, "0")}-02T03:04:05Z` }, long),
      ]),
    );
    const built = await site({
      files: {
        ...files,
        ...months,
        "posts/huge.md": post(
          { date: "2026-05-06T07:08:09Z" },
          `${"ä".repeat(20_000)} ${long} @<bob https://bob.example/twtxt.txt>`,
        ),
      },
    });
    for (let month = 1; month <= 12; month += 1) {
      expect(
        statSync(join(built.folder, `_site/twtxt-2020-${String(month).padStart(2, "0")}.txt`)).size,
      ).toBeGreaterThan(59_000);
    }
    expect(built.has("twtxt-2020.txt")).toBe(false);
    const cut = built.feed().twts.find(({ instant }) => instant === "2026-05-06T07:08:09Z")?.text ?? "";
    expect(cut).toMatch(/ word… https:\/\/alice\.example\/posts\/huge\/ @<bob https:\/\/bob\.example\/twtxt\.txt>$/);
    expect(Buffer.byteLength(cut)).toBeLessThan(64 * 1024 - 22);
    expect(built.log).toContain(
      "1 post shortened in the feed, because a line must be shorter than 64 KiB: ./posts/huge.md",
    );
  });
});

it("a build ignores pages of a preview in _preview, even if git does not ignore the folder", async () => {
  const page = "<!doctype html><title>A draft</title>";
  const built = await site({ files: { ...files, "_preview/posts/draft/index.html": page } });
  expect(built.has("_preview/posts/draft/index.html")).toBe(false);
  expect(built.has("posts/old/index.html")).toBe(true);
});
