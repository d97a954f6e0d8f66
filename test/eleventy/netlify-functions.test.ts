import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { transform } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { twtHashes } from "../../plugin/feed/hash.js";
import { type BuiltSite, post, type SiteSetup, site } from "../helpers/site.js";
import { URLS } from "./read-build.js";

const repo = fileURLToPath(new URL("../../", import.meta.url));
const FOLDER = ".netlify/v1/functions";
const KEY = "kex132yw8ht5p8cetl2jmvknewjawt9xwzdlrk2pyxlnwjyqrdq0dawqqph077";
const RATE_LIMIT = { windowLimit: 60, windowSize: 60, aggregateBy: ["ip", "domain"] };
/** The module for each function. */
const MODULES: Record<string, string> = {
  mention: "mentions",
  "mentions-json": "mentions",
  "mentions-feed": "mentions",
  "mentions-api": "mentions",
  inbox: "inbox",
  guest: "guests",
  site: "site",
  "deploy-succeeded": "jobs",
  scheduled: "jobs",
};
const generator = "eleventy-plugin-twtxt";

const files = {
  "posts/posts.json": `{ "tags": "posts" }`,
  "posts/hello.md": post({ title: "Hello", date: "2026-03-04T05:06:07Z" }, "Body"),
  "posts/note.md": post({ date: "2026-04-05T06:07:08Z", permalink: "false" }, "A note without a page"),
  "about.html": post({ permalink: "/über uns/index.html" }, "About"),
  "feed.njk": post({ permalink: "/feed.xml" }, "<feed/>"),
};

const built = (options: string, more: Partial<SiteSetup> = {}) => site({ files, options, ...more });
const names = ({ folder }: BuiltSite) =>
  existsSync(join(folder, FOLDER)) ? readdirSync(join(folder, FOLDER)).sort() : [];
const text = ({ folder }: BuiltSite, path: string) => readFileSync(join(folder, path), "utf8");
const source = (one: BuiltSite, name: string) => text(one, `${FOLDER}/twtxt-${name}.mjs`);

/** The settings and pages that the functions share. */
const shared = (one: BuiltSite) => JSON.parse(text(one, `${FOLDER}/twtxt-host.json`));

/** The parts of a function's source that Netlify reads statically. */
function read(one: BuiltSite, name: string) {
  const [, literal = ""] = /^export const config = (.*);$/m.exec(source(one, name)) ?? [];
  const [, event, factory] =
    /^export default (?:\{ (\w+): )?(\w+)\(host\.settings, host\.pages\)(?: \})?;$/m.exec(source(one, name)) ?? [];
  const { nodeBundler, includedFiles, ...config } = JSON.parse(literal);
  return { config, files: { nodeBundler, includedFiles }, event, factory };
}

describe("the functions that a build for Netlify writes", () => {
  let alice: BuiltSite;

  beforeAll(async () => {
    process.env.TWTXT_MENTIONS_TOKEN = "a-token-that-nobody-may-see";
    process.env.TWTXT_SMTP_URL = "smtps://alice:a-password@mail.example";
    alice = await built(
      `{ host: "netlify", key: "${KEY}", mentions: { path: "/hooks/mention", everyHours: 6, block: ["spam.example"], aliases: ["https://old.example/it's\\\\\${here}"] } }`,
    );
  });
  afterAll(() => {
    delete process.env.TWTXT_MENTIONS_TOKEN;
    delete process.env.TWTXT_SMTP_URL;
  });

  it("are one for each endpoint and job, with a shared file of settings and pages", () => {
    expect(names(alice)).toEqual([
      "twtxt-deploy-succeeded.mjs",
      "twtxt-guest.mjs",
      "twtxt-host.json",
      "twtxt-inbox.mjs",
      "twtxt-mention.mjs",
      "twtxt-mentions-api.mjs",
      "twtxt-mentions-feed.mjs",
      "twtxt-mentions-json.mjs",
      "twtxt-scheduled.mjs",
      "twtxt-site.mjs",
    ]);
  });

  it("have paths, rate limit, schedule and event as literals in the source", () => {
    const { config: mention } = read(alice, "mention");
    expect(mention).toEqual({ path: ["/hooks/mention"], rateLimit: RATE_LIMIT, generator });
    expect(read(alice, "inbox").config).toEqual({
      path: ["/inbox/:user", "/inbox/:user/:id"],
      rateLimit: RATE_LIMIT,
      generator,
    });
    expect(read(alice, "guest").config).toEqual({
      path: ["/.well-known/msg/:guest.json"],
      preferStatic: true,
      generator,
    });
    expect(read(alice, "mentions-json").config).toEqual({ path: ["/mentions.json", "/mentions.atom"], generator });
    expect(read(alice, "mentions-feed").config).toEqual({ path: ["/mentions.txt"], generator });
    expect(read(alice, "mentions-api").config).toEqual({
      path: ["/moderate/:id", "/api/v1/mentions", "/api/v1/mentions/*"],
      generator,
    });
    expect(read(alice, "scheduled").config).toEqual({ schedule: "7 */6 * * *", generator });
    expect(read(alice, "deploy-succeeded")).toMatchObject({ event: "deploySucceeded", config: { generator } });
  });

  it("answer comments with the functions of mentions, if the option is on", async () => {
    const site = await built(`{ host: "netlify", key: "${KEY}", mentions: { comments: true } }`);
    expect(names(site)).toEqual(names(alice));
    expect(read(site, "mention")).toMatchObject({
      factory: "mentions",
      config: { path: ["/webmention", "/comments", "/comments/:id"], rateLimit: RATE_LIMIT },
    });
    expect(read(site, "mentions-json").config.path).toEqual(["/mentions.json", "/mentions.atom", "/guests/:guest.txt"]);
  });

  it("import only the plugin's bundle, and include it as it is, with its manifest and the shared file", async () => {
    for (const file of names(alice).filter((name) => name.endsWith(".mjs"))) {
      const name = file.slice("twtxt-".length, -".mjs".length);
      const imports = [...source(alice, name).matchAll(/^import (.*) from "(.*?)";$/gm)].map(([, ...what]) => what);
      expect(imports).toEqual([
        ["{ createRequire }", "node:module"],
        [`{ ${read(alice, name).factory} }`, expect.stringMatching(/^\.\.\/.*\/dist\/netlify\/.*\.js$/)],
      ]);
      const place = (path = "") => resolve(alice.folder, FOLDER, path);
      expect(place(imports[1]?.[1])).toBe(join(repo, `dist/netlify/${MODULES[name]}.js`));
      const { nodeBundler, includedFiles } = read(alice, name).files;
      expect([nodeBundler, ...includedFiles.map(place)]).toEqual([
        "none",
        place("twtxt-host.json"),
        join(repo, "package.json"),
        join(repo, "dist/netlify/**/*.js"),
      ]);
      expect(source(alice, name)).toContain(`const host = createRequire(import.meta.url)("./twtxt-host.json");`);
      expect(source(alice, name)).not.toMatch(/process\.env/);
      await expect(transform(source(alice, name), { format: "esm" })).resolves.toMatchObject({ warnings: [] });
    }
  });

  // The bundler of `netlify dev` drops a second change within 300 ms, and then functions run with the former settings or pages.
  it("change in one file with a new post and another option", async () => {
    const first = await built(`{ host: "netlify" }`);
    const before = new Map(names(first).map((name) => [name, text(first, `${FOLDER}/${name}`)]));
    const options = `{ host: "netlify", mentions: { block: ["spam.example"] } }`;
    const added = { "posts/second.md": post({ date: "2026-05-06T07:08:09Z" }, "Another post") };
    const second = await built(options, { site: first, files: added });
    const changed = names(second).filter((name) => text(second, `${FOLDER}/${name}`) !== before.get(name));
    expect(changed).toEqual(["twtxt-host.json"]);
  });

  it("contain the public settings but no secret", () => {
    const { settings } = shared(alice);
    expect(settings).toEqual({
      version: 10,
      timeline: null,
      host: "netlify",
      output: "./_site/",
      url: "https://alice.example",
      feedUrl: "https://alice.example/twtxt.txt",
      endpoint: "https://alice.example/hooks/mention",
      nick: "alice",
      authors: [
        { user: "alice", address: "alice@alice.example", key: KEY, endpoint: "https://alice.example/inbox/alice" },
      ],
      isReceiver: true,
      hasEndpoints: true,
      urls: { ...URLS, webmention: "https://alice.example/hooks/mention" },
      inbox: {
        users: ["alice"],
        messages: 1000,
        megabytes: 64,
        retentionDays: 0,
        subscribe: null,
        guests: { messages: 100, days: 90, mail: false },
      },
      blobs: null,
      mentions: {
        words: {},
        links: true,
        aliases: [`https://old.example/it's\\\${here}`],
        allow: [],
        block: ["spam.example"],
        moderate: false,
        digestHours: 24,
        everyHours: 6,
        rebuild: { perDay: 1, perMonth: 5 },
        unlisted: false,
        limits: {
          slowHostPause: 3600,
          verificationSeconds: 1000,
          pending: 500,
          pendingPerHost: 20,
          shownPerHost: 10,
        },
      },
    });
    const all = names(alice).map((name) => text(alice, `${FOLDER}/${name}`));
    expect(all.filter((content) => /a-token-that|a-password/.test(content))).toEqual([]);
  });

  it("share the list of targets: the feed URLs, the HTML pages and the twts", () => {
    const { pages } = shared(alice);
    const feeds = ["https://alice.example/twtxt.txt", `https://old.example/it's\\\${here}`];
    // Answers may name a twt by a hash from an earlier URL of the feed, or from an earlier domain of its links.
    const formerText = (text: string) => text.replaceAll("https://alice.example/", "https://old.example/");
    const [hello, note] = alice.feed().twts.map((twt) => {
      const former = { ...twt, text: formerText(twt.text) };
      const named = [[feeds[0], twt] as const, [feeds[1], twt] as const, [feeds[1], former] as const];
      return [...new Set(named.flatMap(([url = "", each]) => Object.values(twtHashes(url, each))))];
    });
    expect(pages).toEqual({
      deleted: [],
      feeds,
      pages: expect.arrayContaining(["https://alice.example/%C3%BCber%20uns/", "https://alice.example/posts/hello/"]),
      titles: expect.objectContaining({ "https://alice.example/posts/hello/": "Hello" }),
      twts: [
        {
          timestamp: "2026-03-04T05:06:07Z",
          hashes: hello,
          page: "https://alice.example/posts/hello/",
          replyTo: null,
          links: [],
        },
        { timestamp: "2026-04-05T06:07:08Z", hashes: note, page: null, replyTo: null, links: [] },
      ],
    });
    expect(pages.pages).not.toContain("https://alice.example/feed.xml");
  });

  it("include none for guests if guests are turned off", async () => {
    const without = await built(`{ host: "netlify", key: "${KEY}", inbox: { guests: false } }`);
    expect(names(without)).toContain("twtxt-inbox.mjs");
    expect(names(without)).not.toContain("twtxt-guest.mjs");
    expect(shared(without).settings.inbox.guests).toBeNull();
  });

  it("are removed by the next build when turned off, and functions of other tools stay", async () => {
    const alone = `{ host: "netlify", webmention: "https://webmention.io/alice.example/webmention" }`;
    const first = await built(`{ host: "netlify" }`, { files: { ...files, [`${FOLDER}/other.mjs`]: "// not ours" } });
    const second = await built(alone, { site: first });
    expect(names(second)).toEqual([
      "other.mjs",
      "twtxt-deploy-succeeded.mjs",
      "twtxt-host.json",
      "twtxt-scheduled.mjs",
    ]);
    expect(names(await built(`{ host: "netlify", functions: false }`, { site: second }))).toEqual(["other.mjs"]);
  });
});

describe("a site with a path prefix", () => {
  it("has functions at paths with and without it", async () => {
    const below = await built(`{ host: "netlify" }`, { config: `return { pathPrefix: "/blog/" };` });
    expect(read(below, "mention").config.path).toEqual(["/webmention", "/blog/webmention"]);
    expect(read(below, "mentions-api").config.path).toEqual([
      "/moderate/:id",
      "/api/v1/mentions",
      "/api/v1/mentions/*",
      "/blog/moderate/:id",
      "/blog/api/v1/mentions",
      "/blog/api/v1/mentions/*",
    ]);
    expect(shared(below).settings.urls.webmention).toBe("https://alice.example/blog/webmention");
  });
});

describe("the schedule", () => {
  it.each([
    [1, "7 * * * *"],
    [5, "7 */5 * * *"],
    [24, "7 0 * * *"],
  ])("for an interval of %i hours is %s", async (everyHours, schedule) => {
    const one = await built(`{ host: "netlify", mentions: { everyHours: ${everyHours} } }`);
    expect(read(one, "scheduled").config.schedule).toBe(schedule);
  });
});

describe("the files that a build writes for the host", () => {
  it("are not watched, because a change would start another build", async () => {
    const atTheEnd = `config.on("eleventy.after", () => console.log("Unwatched:", ...config.watchIgnores));`;
    const { log } = await built(`{ host: "netlify" }`, { config: atTheEnd });
    expect(log).toMatch(/^Unwatched:.* \.eleventy-twtxt\/\*\*.* \.netlify\/\*\*/m);
  });
});

describe("a site on another host", () => {
  it.each(["node", "static"])("gets no function on a %s host, but settings for that host", async (host) => {
    const one = await built(`{ host: "${host}", mentions: { pages: false } }`);
    expect(existsSync(join(one.folder, ".netlify"))).toBe(false);
    const { settings, pages } = JSON.parse(text(one, ".eleventy-twtxt/host.json"));
    expect(settings).toMatchObject({
      feedUrl: "https://alice.example/twtxt.txt",
      urls: { webmention: "https://alice.example/webmention", mentionsPage: null },
    });
    expect(pages.twts).toEqual([
      {
        timestamp: "2026-03-04T05:06:07Z",
        hashes:
          host === "node" ? [expect.stringMatching(/^[a-z2-7]{7}$/), expect.stringMatching(/^[a-z2-7]{12}$/)] : [],
        page: "https://alice.example/posts/hello/",
        replyTo: null,
        links: [],
      },
      expect.objectContaining({ page: null }),
    ]);
  });
});

describe("the site's own function", () => {
  const conflicts = async (more: Record<string, string>) => {
    const { log } = await built(`{ host: "netlify" }`, { files: { ...files, ...more } });
    return log.split("\n").filter((line) => line.includes("Change yours"));
  };

  it("causes a warning at a path of the plugin", async () => {
    const own = `export default () => {};\nexport const config = {\n  path: ["/hello", '/webmention'],\n};`;
    expect(await conflicts({ "netlify/functions/hooks/index.ts": own })).toEqual([
      expect.stringContaining(
        "netlify/functions/hooks/index.ts has the path /webmention, like a function of the plugin.",
      ),
    ]);
  });

  it("causes a warning with the name of a plugin function, also in the folder from netlify.toml", async () => {
    const toml = `[build]\n  publish = "_site"\n[functions]\n  directory = "my/functions"\n`;
    const own = { "netlify.toml": toml, "my/functions/twtxt-mention.mjs": "export default () => {};" };
    expect(
      await conflicts({ ...own, "netlify/functions/x.mjs": `export const config = { path: "/webmention" };` }),
    ).toEqual([
      expect.stringContaining("my/functions/twtxt-mention.mjs has the same name as a function of the plugin"),
    ]);
  });

  it("causes no warning at another path", async () => {
    const own = `export const config = { path: "/webmentions", method: "POST" };`;
    expect(await conflicts({ "netlify/functions/mention.mjs": own })).toEqual([]);
  });
});
