// test/eleventy/timeline.test.ts: the page with the newest twts from followed feeds.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { twtHash } from "../../plugin/feed/hash.js";
import { outlineOf } from "../helpers/conversation-outline.js";
import { SOME_HOSTILE_TEXTS } from "../helpers/hostile-texts.js";
import { loopbackServer } from "../helpers/loopback.js";
import { type AllowedMarkup, elementsOf, notAllowed, withDescendants } from "../helpers/markup.js";
import { type BuiltSite, post, type SiteSetup, site } from "../helpers/site.js";
import { geminiServer, gopherServer } from "../helpers/small-web.js";
import { logged } from "./read-build.js";

const CACHE = ".cache/eleventy-plugin-twtxt-timeline.json";
const DAY = 86_400_000;
const NOW = "2026-11-20T12:00:00Z";

/** Feeds by nick: their lines, a status, or `null` to close the connection. */
type Feeds = Record<string, readonly string[] | number | null>;

/** A feed server that supports conditional requests. */
async function feedServer(feeds: Feeds) {
  const agents: (string | undefined)[] = [];
  const statuses: number[] = [];
  const server = await loopbackServer((request, response) => {
    agents.push(request.headers["user-agent"]);
    const feed = feeds[request.url?.slice(1) ?? ""];
    if (feed === null) return void response.destroy();
    const body = Array.isArray(feed) ? feed.map((line) => `${line}\n`).join("") : "";
    const etag = `"${body.length}"`;
    const isKnown = body !== "" && request.headers["if-none-match"] === etag;
    const status = isKnown ? 304 : typeof feed === "number" ? feed : feed ? 200 : 404;
    statuses.push(status);
    response.writeHead(status, { etag }).end(isKnown ? "" : body);
  });
  const follow = Object.keys(feeds).map((nick) => ({ nick, url: `${server.url}/${nick}` }));
  const options = (more = "", timeline = "true") =>
    `{ url: "${server.url}", host: "static", timeline: ${timeline}, follow: ${JSON.stringify(follow)}, ${more} }`;
  const build = (setup: Partial<SiteSetup> = {}) => site({ files: {}, options: options(), ...setup });
  return { ...server, agents, statuses, options, build };
}

const twt = (second: number, text: string) => `2026-11-19T10:00:${String(second).padStart(2, "0")}Z\t${text}`;
const timelineOf = (built: BuiltSite) => built.read("timeline/index.html");

describe("the timeline of a site", () => {
  it("has the newest twts of followed feeds and of the author, with each reply under its parent", async () => {
    const feeds: Feeds = { bob: [], carol: [twt(7, "Tea?")] };
    const server = await feedServer(feeds);
    const hashOfBob = twtHash(`${server.url}/bob`, { timestamp: "2026-11-19T10:00:01Z", text: "It rains." });
    feeds.bob = [twt(1, "It rains.")];
    feeds.carol = [twt(7, "Tea?"), twt(9, `(#${hashOfBob}) @<bob ${server.url}/bob> *here* too`)];
    const files = {
      "posts/answer.md": post(
        { date: "2026-11-19T11:00:00Z", tags: "posts", replyTo: `${hashOfBob} ${server.url}/bob` },
        "And **here**.",
      ),
      "posts/other.md": post({ title: "Quinces", date: "2026-11-19T12:00:00Z", tags: "posts" }, "Jelly."),
    };
    const built = await server.build({ files });
    const page = timelineOf(built);
    expect(outlineOf(page)).toBe("bob(carol alice) carol");
    expect(page).toContain('<h1 class="twtxt-title">Timeline</h1>');
    expect(page).toContain(
      `<p dir="auto"><a href="${server.url}/bob" rel="nofollow ugc noopener" dir="auto">@bob</a> <em>here</em> too</p>`,
    );
    expect(page).toContain("<strong>here</strong>");
    expect(page).toContain('<span class="twtxt-author">Author</span>');
    expect(page).toContain('<time class="dt-published" datetime="2026-11-19T10:00:01Z">Nov 19, 2026</time>');
    expect(page).not.toContain("Quinces");
    expect(built.has("timeline/twtxt.css")).toBe(true);
    expect(server.agents).toEqual(Array(2).fill(`eleventy-plugin-twtxt/0.0.0 (+${server.url}/twtxt.txt; @alice)`));
  });

  it("shows an unverified reply to a post in the timeline, but not under the post", async () => {
    const feeds: Feeds = { bob: [] };
    const server = await feedServer(feeds);
    const files = {
      "_includes/post.njk":
        "{{ content | safe }}<i>{% for reply in (page | conversation).replies %}{{ reply.text }}{% endfor %}</i>",
      "posts/tea.md": post({ date: "2026-11-19T09:00:00Z", tags: "posts", layout: "post.njk" }, "Tea?"),
    };
    const own = { timestamp: "2026-11-19T09:00:00Z", text: "Tea?" };
    feeds.bob = [twt(1, `(#${twtHash(`${server.url}/twtxt.txt`, own)}) Yes.`)];
    const built = await server.build({ files });
    expect(outlineOf(timelineOf(built))).toBe("alice(bob)");
    expect(built.read("posts/tea/index.html")).toContain("<i></i>");
  });

  it("has no component on a static host", async () => {
    const server = await feedServer({ bob: [twt(1, "It rains.")] });
    const built = await server.build();
    expect(timelineOf(built)).not.toContain("<script");
    expect(built.has("timeline/twtxt-mentions.js")).toBe(false);
  });

  it("has the component on a host that updates it", async () => {
    const server = await feedServer({ bob: [twt(1, "It rains.")] });
    const options = server.options("mentions: false").replace('"static"', '"node"');
    const built = await server.build({ options });
    expect(timelineOf(built)).toContain(`<twtxt-mentions src="/timeline.json" data-updated="${NOW.slice(0, 19)}Z"`);
    expect(timelineOf(built)).toContain('<script type="module" src="/timeline/twtxt-mentions.js">');
    expect(built.has("timeline/twtxt-mentions.js")).toBe(true);
    const { settings, pages } = JSON.parse(built.read("../.eleventy-twtxt/host.json"));
    expect(settings.timeline.follow).toEqual([{ nick: "bob", url: `${server.url}/bob` }]);
    expect(pages.own).toEqual([]);
  });

  it.each([
    ["without the option", (options: string) => options.replace("timeline: true,", "")],
    ["with the option false", (options: string) => options.replace("timeline: true", "timeline: false")],
    ["without feeds to follow", (options: string) => options.replace(/follow: \[.*?\]/, "follow: []")],
  ])("does not exist %s, and requests no feed", async (_, change) => {
    const server = await feedServer({ bob: [twt(1, "It rains.")] });
    const built = await server.build({ options: change(server.options()) });
    expect(built.has("timeline/index.html")).toBe(false);
    expect(existsSync(join(built.folder, ".cache"))).toBe(false);
    expect(server.requests).toEqual([]);
  });

  it("is reported as having no effect if the site follows no feeds", async () => {
    const built = await site({ files: {}, options: "{ timeline: true }" });
    expect(logged(built)).toContain(
      'No effect: the option "timeline". The site follows no feeds. Follow one: npx eleventy-twtxt follow https://bob.example/twtxt.txt',
    );
  });

  it("uses the path, layout, language and words from the options", async () => {
    const server = await feedServer({ bob: [] });
    const options = server.options(
      'lang: "de", mentions: { words: { noTwts: "Noch <nichts>." } }',
      '{ path: "/lesen", layout: "base.njk" }',
    );
    const files = { "_includes/base.njk": "<html><h1>{{ title }}</h1>{{ content | safe }}</html>" };
    const page = (await server.build({ files, options })).read("lesen/index.html");
    expect(page).toContain("<h1>Timeline</h1>");
    expect(page).toContain('<p class="twtxt-none">Noch &lt;nichts&gt;.</p>');
    expect(page).toContain('data-text-reply="hat geantwortet"');
  });

  it("gives way to the site's own page at its path, with a notice", async () => {
    const server = await feedServer({ bob: [twt(1, "It rains.")] });
    const files = { "own.njk": "---\npermalink: /timeline/\n---\nMine." };
    const built = await server.build({ files });
    expect(timelineOf(built)).toBe("Mine.");
    expect(built.log).toContain(
      '/timeline/ is a page of your site, so the plugin\'s timeline is left out. To show its content there, use twtxt.timeline; to build it elsewhere, set the option "timeline.path" to another path.',
    );
  });

  it("does not request the site's own feed, even if the site follows it", async () => {
    const server = await feedServer({ bob: [twt(1, "It rains.")], "twtxt.txt": [twt(2, "Mine.")] });
    const follow = `follow: [{ nick: "me", url: "${server.url}/twtxt.txt" }, { nick: "bob", url: "${server.url}/bob" }]`;
    const page = timelineOf(await server.build({ options: server.options(follow) }));
    expect(page).not.toContain("Mine.");
    expect(server.requests).toEqual(["/bob"]);
  });

  it("is in no collection", async () => {
    const server = await feedServer({ bob: [twt(1, "It rains.")] });
    const files = { "all.njk": "{% for p in collections.all %}{{ p.url }} {% endfor %}" };
    expect((await server.build({ files })).read("all/index.html")).toBe("/all/ ");
  });

  it("is available to the site's own templates", async () => {
    const server = await feedServer({ bob: [twt(1, "*old*"), twt(2, "new")] });
    const files = {
      "own.njk":
        "{{ twtxt.timelineHref }} {% for t in twtxt.timeline %}{{ t.author.name }} {{ t.html | safe }} {% endfor %}",
    };
    const built = await server.build({ files });
    expect(built.read("own/index.html")).toBe("/timeline/ bob <p>new</p> bob <p><em>old</em></p> ");
  });

  it("shows cached twts of unreadable feeds, and lists those feeds", async () => {
    const feeds: Feeds = { bob: [twt(1, "It rains.")], carol: [twt(2, "Tea?")], dave: 404 };
    const server = await feedServer(feeds);
    const first = await server.build();
    expect(timelineOf(first)).toMatch(/dave" [^>]*>@dave<\/a> no longer exists \(not read yet\)/);
    feeds.bob = null;
    const later = new Date(Date.parse(NOW) + 3 * DAY).toISOString();
    const built = await server.build({ site: first, now: later });
    const page = timelineOf(built);
    // The bar precedes the list of these feeds.
    expect(outlineOf(page)).toBe("carol bob |");
    expect(page).toContain(`@bob</a> cannot be reached (last read <time datetime="${NOW}">3 days ago</time>)</li>`);
    expect(page).not.toContain("@carol</a>");
    expect(logged(built)).toContain(
      "The timeline could not read 2 feeds, so it shows the twts from an earlier build: @bob cannot be reached, @dave no longer exists.",
    );
  });

  it("has the twts of feeds on gemini and gopher, with links to them", async () => {
    const feed = `# nick = gem\n\n${twt(1, "It rains.")}\n`;
    const gemini = `${(await geminiServer(() => `20 text/plain\r\n${feed}`)).url}/twtxt.txt`;
    const gopher = `${(await gopherServer(() => feed.replace("rains", "snows"))).url}/0/twtxt.txt`;
    const server = await feedServer({});
    const follow = [gemini, gopher].map((url, index) => ({ nick: `gem${index}`, url }));
    const built = await server.build({ options: server.options(`follow: ${JSON.stringify(follow)}`) });
    const page = timelineOf(built);
    for (const text of ["It rains.", "It snows."]) expect(page).toContain(`<p dir="auto">${text}</p>`);
    for (const url of [gemini, gopher]) expect(page).toContain(`href="${url}#:~:text=`);
  });

  it("has no unsafe element from a modified cache", async () => {
    const server = await feedServer({ bob: [twt(1, "It rains.")] });
    const first = await server.build();
    const cache = join(first.folder, CACHE);
    const changed = '<p>It <img src=x onerror=alert(1)><a href=\\"javascript:alert(1)\\">rains</a>.</p>';
    writeFileSync(cache, readFileSync(cache, "utf8").replace("<p>It rains.</p>", changed));
    const page = timelineOf(await server.build({ site: first }));
    expect(page).toContain('<p dir="auto">It rains.</p>');
    expect(page).not.toContain("alert");
  });

  it("sends conditional requests with a cache, and unconditional ones without it", async () => {
    const server = await feedServer({ bob: [twt(1, "It rains.")], carol: [twt(2, "Tea?")] });
    const first = await server.build();
    const page = timelineOf(first);
    expect(timelineOf(await server.build({ site: first }))).toBe(page);
    expect(server.statuses).toEqual([200, 200, 304, 304]);
    writeFileSync(join(first.folder, CACHE), readFileSync(join(first.folder, CACHE), "utf8").slice(0, 100));
    expect(timelineOf(await server.build({ site: first }))).toBe(page);
    expect(server.statuses.slice(4)).toEqual([200, 200]);
  });

  it("has at most 100 twts per feed, so that no feed displaces the others", async () => {
    const many = Array.from(
      { length: 3000 },
      (_, i) => `${new Date(Date.parse(NOW) - i * 1000).toISOString()}\tNew ${i}`,
    );
    const server = await feedServer({ bob: many, carol: [twt(2, "Tea?")] });
    const page = timelineOf(await server.build({ options: server.options("", "{ perPage: 200 }") }));
    expect(page.match(/>bob</g)).toHaveLength(100);
    expect(page).toContain("Tea?");
  });

  it("shows each hostile text, with only allowed elements and attributes", async () => {
    const server = await feedServer({
      eve: SOME_HOSTILE_TEXTS.map((text, n) => twtAt(n, text.replaceAll("\n", "\u2028"))),
    });
    const page = timelineOf(await server.build({ options: server.options("mentions: false", "{ perPage: 200 }") }));
    const list = elementsOf(page).find(({ tag }) => tag === "twtxt-mentions");
    const found = list?.children.flatMap(withDescendants) ?? [];
    expect(found.filter(({ tag }) => tag === "li")).toHaveLength(SOME_HOSTILE_TEXTS.length);
    expect(notAllowed(found, ALLOWED)).toEqual([]);
    const links = found.flatMap(({ attributes: { href } }) => href ?? []);
    expect(links.filter((href) => !/^https?:\/\//i.test(href))).toEqual([]);
  });
});

/** The markup in the list of twts. */
const ALLOWED: AllowedMarkup = {
  ...{ ol: ["class"], li: ["class", "data-source", "data-target", "data-received"], div: ["class"] },
  ...{ p: ["class", "dir", "hidden"], a: ["class", "href", "rel", "dir"], span: ["class", "dir"] },
  ...{ code: [], em: [], strong: [], br: [], time: ["class", "datetime"], details: ["class"], summary: [] },
};

function twtAt(second: number, text: string): string {
  return `${new Date(Date.parse("2026-11-19T10:00:00Z") + second * 1000).toISOString().slice(0, 19)}Z\t${text}`;
}

describe("a timeline of many conversations", () => {
  it("has pages, each with links to the next and the previous one", async () => {
    const server = await feedServer({ bob: Array.from({ length: 5 }, (_, second) => twt(second, `Twt ${second}`)) });
    const built = await server.build({ options: server.options("", "{ perPage: 2 }") });
    const textsOf = (page: string) => built.read(page).match(/Twt \d/g);

    expect(textsOf("timeline/index.html")).toEqual(["Twt 4", "Twt 3"]);
    expect(textsOf("timeline/2/index.html")).toEqual(["Twt 2", "Twt 1"]);
    expect(textsOf("timeline/3/index.html")).toEqual(["Twt 0"]);
    expect(built.read("timeline/2/index.html")).toMatch(
      /<nav class="twtxt-around" aria-label="Timeline">\n<a href="\/timeline\/" rel="prev">Newer<\/a>\n<a href="\/timeline\/3\/" rel="next">Older<\/a>/,
    );
    expect(built.read("timeline/index.html")).toContain('data-per-page="2"');
    expect(built.has("timeline/4/index.html")).toBe(false);
  });
});
