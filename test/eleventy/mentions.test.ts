import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { PublicMention } from "../../plugin/site/mention-list.js";
import { HOST_FILE, parsePublishedSite } from "../../plugin/site/site.js";
import { listLoopbackHosts } from "../../plugin/url.js";
import { outlineOf, repliesIn } from "../helpers/conversation-outline.js";
import { fakeMastodon } from "../helpers/fake-mastodon.js";
import { type LoopbackServer, loopbackServer } from "../helpers/loopback.js";
import { receiver } from "../helpers/receiver.js";
import { type BuiltSite, buildSite, post, type SiteSetup, site } from "../helpers/site.js";
import { buildError, projectFile } from "./read-build.js";

const LAYOUT =
  "<!doctype html><html><head><title>x</title></head><body>{{ content | safe }}{% twtxtMentions %}</body></html>";
const FILES = {
  "_includes/post.njk": LAYOUT,
  "posts/quinces.md": post({ title: "Quinces", date: "2026-01-02", tags: "posts", layout: "post.njk" }, "Jelly."),
  "posts/beans.md": post({ title: "Beans", date: "2026-01-03", tags: "posts", layout: "post.njk" }, "Soup."),
};

function mention(n: number, change: Partial<PublicMention> = {}): PublicMention {
  return {
    source: `https://bob.example/twtxt.txt#:~:text=${new Date(Date.UTC(2026, 10, 19, 18, 40, n)).toISOString().slice(0, 19)}Z`,
    target: "https://alice.example/twtxt.txt",
    under: null,
    type: "mention",
    author: { name: `bob${n}`, url: "https://bob.example/twtxt.txt", photo: null },
    text: `hello ${n}`,
    html: null,
    hash: null,
    hashV1: null,
    replyTo: null,
    published: "2026-11-19T18:40:02Z",
    received: "2026-11-20T09:00:00.000Z",
    ...change,
  };
}

/** Alice's published site with its list of mentions. */
async function liveSite(mentions: (url: string, requests: number) => PublicMention[] | string) {
  const pages: Record<string, string> = {};
  let requests = 0;
  const server = await loopbackServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://x");
    const page = pages[pathname];
    if (page !== undefined) return void response.end(page);
    if (pathname !== "/mentions.json") return void response.writeHead(404).end();
    const all = mentions(server.url, requests);
    requests += 1;
    if (typeof all === "string") return void response.writeHead(500).end(all);
    const start = Number(searchParams.get("after") ?? 0);
    const next = start + 100 < all.length ? String(start + 100) : null;
    response.end(JSON.stringify({ mentions: all.slice(start, start + 100), next }));
  });
  return Object.assign(server, { pages });
}

function options({ url }: Pick<LoopbackServer, "url">, more = ""): string {
  return `{ url: "${url}", host: "node", ${more} }`;
}

function build(server: LoopbackServer, setup: Partial<SiteSetup> = {}): Promise<BuiltSite> {
  return site({ files: FILES, options: options(server), ...setup });
}

it("a copy on another network in the front matter is linked from the page, and what is answered there is nested below the post", async () => {
  const files = {
    "_includes/post.njk":
      "<html><head></head><body>{{ content | safe }}{% twtxtSyndication %}{% twtxtMentions %}</body></html>",
    "posts/quinces.md": post({ date: "2026-01-02", tags: "posts", layout: "post.njk", syndication: "" }, "Jelly."),
  };
  const server = await fakeMastodon();
  const copy = server.addStatus(server.addAccount("alice"), "<p>Jelly</p>");
  const bob = server.addAccount("bob@bob.example");
  const answer = server.addStatus(bob, "<p>lovely</p>", { in_reply_to_id: copy.id });
  server.addStatus(bob, "<p>really</p>", { in_reply_to_id: answer.id });
  files["posts/quinces.md"] = files["posts/quinces.md"].replace("syndication: ", `syndication: ${copy.url}`);
  const live: { json: string } = { json: '{"mentions":[],"next":null}' };
  const home = await loopbackServer((_, response) => response.end(live.json));
  const options = `{ url: "${home.url}", host: "node" }`;
  const first = await buildSite({ files, options });
  const { settings, pages } = parsePublishedSite(projectFile(first, HOST_FILE) ?? "");
  expect(pages.twts).toMatchObject([{ page: `${home.url}/posts/quinces/`, syndication: [copy.url] }]);

  const alice = receiver({ pages, neighbours: [server] });
  await alice.services.runScheduled();
  live.json = await (await alice.answer(new Request(`${settings.url}/mentions.json`))).text();
  // A process reads the list once.
  const page = (await buildSite({ site: first, files, options })).read("posts/quinces/index.html");
  expect(page).toContain(`<link rel="syndication" href="${copy.url}">`);
  expect(page).toContain(
    `<p class="twtxt-syndication">Also on <span><a class="u-syndication" rel="syndication" href="${copy.url}">${server.host}</a></span></p>`,
  );
  expect(repliesIn(page)).toEqual([
    { name: "bob", text: "lovely", replies: [{ name: "bob", text: "really", replies: [] }] },
  ]);
});

it("a copy that is not a URL stops the build, which names the file", async () => {
  const files = {
    ...FILES,
    "posts/beans.md": post({ date: "2026-01-03", tags: "posts", syndication: "[mastodon]" }, "Soup."),
  };
  expect(buildError(await buildSite({ files }))).toBe(
    './posts/beans.md: expected syndication: a URL such as "https://mastodon.example/@alice/1", or a list of them, got "mastodon".',
  );
});

describe("mentions on a site", () => {
  it("are listed newest first on separate pages, and under their post", async () => {
    const server = await liveSite((url) => [
      mention(3, { target: `${url}/posts/quinces/` }),
      mention(2, { under: `${url}/posts/quinces/`, type: "reply" }),
      mention(1),
    ]);
    const built = await build(server, { options: options(server, "mentions: { perPage: 2 }") });

    expect(names(built.read("mentions/index.html"))).toEqual(["bob3", "bob2"]);
    expect(names(built.read("mentions/2/index.html"))).toEqual(["bob1"]);
    expect(names(built.read("posts/quinces/index.html"))).toEqual(["bob2", "bob3"]);
    expect(names(built.read("posts/beans/index.html"))).toEqual([]);
    expect(built.read("posts/beans/index.html")).toContain(
      `<twtxt-mentions src="/mentions.json" target="${server.url}/posts/beans/">`,
    );
    // Feed readers find the feed of a conversation, or of all.
    const atom = (page: string) => /<link rel="alternate" type="application\/atom\+xml".*>/.exec(built.read(page))?.[0];
    const query = `?target=${encodeURIComponent(`${server.url}/posts/beans/`)}`;
    expect([atom("posts/beans/index.html"), atom("mentions/index.html")]).toEqual(
      [query, ""].map(
        (each) => `<link rel="alternate" type="application/atom+xml" title="Mentions" href="/mentions.atom${each}">`,
      ),
    );
    expect(built.read("mentions/2/index.html")).toContain('data-page="2"');
    expect(built.read("mentions/index.html")).toContain('<a href="/mentions/2/" rel="next">Older</a>');
    expect(built.read("mentions/2/index.html")).toContain('<a href="/mentions/" rel="prev">Newer</a>');
    expect(built.read("posts/quinces/index.html")).not.toContain("twtxt-about");
    expect(JSON.parse(built.read("mentions/mentions.json")).mentions).toHaveLength(3);
    expect(built.read("mentions/twtxt-mentions.js")).toContain("customElements.define");
    expect(built.log).not.toMatch(/could not|answers/);
  });

  it("link to their target page or feed, and mark replies", async () => {
    const server = await liveSite((url) => [
      mention(5, { target: `${url}/posts/quinces/` }),
      mention(4, { target: `${url}/posts/quinces/`, type: "like" }),
      mention(3, { target: `${url}/twtxt.txt`, under: `${url}/posts/quinces/`, type: "reply" }),
      mention(2, { target: `${url}/twtxt.txt`, type: "reply" }),
      mention(1, { target: `${url}/twtxt.txt` }),
    ]);
    const built = await build(server);
    const links = [...built.read("mentions/index.html").matchAll(/<a class="twtxt-about.*?<\/a>/g)].map(
      ([link]) => link,
    );
    const page = `href="${server.url}/posts/quinces/"><cite dir="auto">Quinces</cite></a>`;
    expect(links).toEqual([
      `<a class="twtxt-about" ${page}`,
      `<a class="twtxt-about" ${page}`,
      `<a class="twtxt-about u-in-reply-to" ${page}`,
    ]);
    const verbs = [...built.read("mentions/index.html").matchAll(/<span class="twtxt-verb">(.*?)<\/span>/g)];
    expect(verbs.map(([, verb = ""]) => verb.replace(/<[^>]*>/g, ""))).toEqual([
      "mentioned Quinces",
      "likes Quinces",
      "replied to Quinces",
      "replied to you",
      "mentioned you",
    ]);
  });

  it("form a conversation under their post, with the author's own replies", async () => {
    const server = await liveSite((url) => {
      const under = { target: `${url}/twtxt.txt`, type: "reply" } as const;
      return [
        mention(5, { ...under, type: "like", target: `${url}/posts/quinces/` }),
        mention(4, { ...under, target: `${url}/posts/quinces/` }),
        mention(3, { ...under, under: `${url}/posts/answer/`, published: "2026-11-19T18:40:09Z" }),
        mention(1, { ...under, under: `${url}/posts/quinces/`, hash: "hashofbob1", hashV1: "abcdefg" }),
      ];
    });
    const answer = {
      date: "2026-01-05",
      tags: "posts",
      layout: "post.njk",
      replyTo: "abcdefg https://bob.example/twtxt.txt",
    };
    const built = await build(server, { files: { ...FILES, "posts/answer.md": post(answer, "Thank *you*.") } });

    const page = built.read("posts/quinces/index.html");
    expect(outlineOf(page)).toBe("bob5 | bob1(alice(bob3)) bob4");
    // What it answers, then the answers to it.
    expect(outlineOf(built.read("posts/answer/index.html"))).toBe("bob1 | bob3");
    expect(page).toContain('<h2 class="twtxt-heading">Replies <span class="twtxt-count">4</span></h2>');
    expect(page).toContain("Thank <em>you</em>.");
    expect(built.read("mentions/index.html")).toContain('<cite dir="auto">Thank you.</cite>');
    expect(page).toMatch(/twtxt-own"[\s\S]*?>alice<\/span><\/a> <span class="twtxt-author">Author<\/span>/);
    const { twts } = JSON.parse(built.read("../.eleventy-twtxt/host.json")).pages;
    expect(twts.at(-1)).toMatchObject({ page: `${server.url}/posts/answer/`, replyTo: "abcdefg" });
  });

  it("are shown as one reply if a twt is received from its feed and its page, which links to another post", async () => {
    const server = await liveSite((url) => {
      const twt = { type: "reply", under: `${url}/posts/quinces/`, hash: "hashofbob1", hashV1: "abcdefg" } as const;
      return [
        mention(1, { ...twt, target: `${url}/twtxt.txt` }),
        mention(2, { ...twt, target: `${url}/posts/beans/`, source: "https://bob.example/answer/" }),
        mention(3, { ...twt, target: `${url}/twtxt.txt`, source: "https://eve.example/twtxt.txt" }),
      ];
    });
    const built = await build(server);
    expect(outlineOf(built.read("posts/quinces/index.html"))).toBe("bob2 bob3");
  });

  it("belong to a post that is linked by a reply in another post's conversation", async () => {
    const server = await liveSite((url) => {
      const [quinces, beans] = [`${url}/posts/quinces/`, `${url}/posts/beans/`];
      const bob = { hash: "hashofbob3", hashV1: "abcdefg" };
      return [
        mention(5, { type: "reply", target: `${url}/twtxt.txt`, replyTo: "hashofbob3", under: beans }),
        mention(4, { type: "reply", target: beans, replyTo: "hashofbob3", under: null }),
        mention(3, { ...bob, type: "reply", target: beans, under: quinces }),
        mention(2, { type: "like", target: beans }),
        mention(1, { type: "reply", target: beans, replyTo: "unknown" }),
      ];
    });
    const built = await build(server);
    expect(outlineOf(built.read("posts/quinces/index.html"))).toBe("bob3(bob4 bob5)");
    const page = built.read("posts/beans/index.html");
    expect(outlineOf(page)).toBe("bob2 | bob1 | bob5 bob4 bob3");
    expect(page).toContain('<h2 class="twtxt-heading">Mentioned by <span class="twtxt-count">3</span></h2>');
    expect(page.match(/<li class="h-cite twtxt-is-mention"/g)).toHaveLength(3);
  });

  it("are one item in the list of all mentions if a twt has two targets or two sources", async () => {
    const server = await liveSite((url) => {
      const quinces = `${url}/posts/quinces/`;
      const twt = { hash: "hashofbob2", hashV1: "abcdefg" };
      return [
        mention(4, { target: quinces }),
        mention(3, {
          ...twt,
          source: "https://bob.example/answer/",
          target: quinces,
          received: "2026-11-20T08:00:00.000Z",
        }),
        mention(2, { ...twt, target: `${url}/twtxt.txt`, under: quinces, received: "2026-11-20T07:00:00.000Z" }),
        mention(1, { type: "like", target: quinces }),
        mention(1, { type: "like", target: `${url}/posts/beans/` }),
      ];
    });
    const built = await build(server, { options: options(server, "mentions: { perPage: 2 }") });
    expect(names(built.read("mentions/index.html"))).toEqual(["bob4", "bob3"]);
    expect(names(built.read("mentions/2/index.html"))).toEqual(["bob1", "bob1"]);
    expect(built.has("mentions/3/index.html")).toBe(false);
    expect(JSON.parse(built.read("mentions/mentions.json")).mentions).toHaveLength(5);
  });

  it("stay under their post, unnested, when the author's reply above them is deleted", async () => {
    const server = await liveSite((url) => [
      mention(3, { target: `${url}/twtxt.txt`, type: "reply", replyTo: "ownhash", under: `${url}/posts/answer/` }),
      mention(1, { target: `${url}/posts/quinces/`, type: "reply", hash: "hashofbob1", hashV1: "abcdefg" }),
    ]);
    const answer = { date: "2026-01-05", tags: "posts", layout: "post.njk", twt: "deleted" };
    const replyTo = "abcdefg https://bob.example/twtxt.txt";
    const built = await build(server, {
      files: { ...FILES, "posts/answer.md": post({ ...answer, replyTo }, "Thank *you*.") },
    });
    expect(outlineOf(built.read("posts/quinces/index.html"))).toBe("bob1 bob3");
    const { deleted } = JSON.parse(built.read("../.eleventy-twtxt/host.json")).pages;
    expect(deleted).toEqual([{ page: `${server.url}/posts/answer/`, replyTo: "abcdefg" }]);
  });

  it("have other classes than the shortcode twtxtReply", async () => {
    const server = await liveSite((url) => [mention(1, { type: "reply", target: `${url}/posts/quinces/` })]);
    const layout = LAYOUT.replace("{% twtxtMentions %}", "{% twtxtReply %}{% twtxtMentions %}");
    const built = await build(server, { files: { ...FILES, "_includes/post.njk": layout } });
    const page = built.read("posts/quinces/index.html");
    expect(page).toContain('<li class="h-cite u-comment twtxt-is-reply" ');
    expect(page.match(/twtxt-reply/g)).toHaveLength(1);
  });

  it("are empty: the page of all mentions says so in the site's words, and posts show nothing", async () => {
    const server = await liveSite(() => []);
    const built = await build(server, { options: options(server, `mentions: { words: { none: "Noch <keine>." } }`) });
    expect(built.read("mentions/index.html")).toContain(
      '</ol>\n<p class="twtxt-none">Noch &lt;keine&gt;.</p>\n</twtxt-',
    );
    expect(built.read("posts/quinces/index.html")).not.toContain("twtxt-none");

    const some = await liveSite(() => [mention(1)]);
    expect((await build(some)).read("mentions/index.html")).toContain(
      '<p class="twtxt-none" hidden="">No mentions yet.</p>',
    );
  });

  it("are read page by page, and the newest 2,000 are shown under their post", async () => {
    const all: PublicMention[] = [];
    const server = await liveSite((url) => {
      if (all.length > 0) return all;
      for (let n = 0; n < 3000; n += 1) all.push(mention(n, n % 4 < 3 ? { target: `${url}/posts/quinces/` } : {}));
      return all;
    });
    const built = await build(server);
    expect(JSON.parse(built.read("mentions/mentions.json")).mentions).toHaveLength(3000);
    expect(names(built.read("mentions/30/index.html")).at(-1)).toBe("bob2999");
    expect(built.has("mentions/31/index.html")).toBe(false);
    const under = names(built.read("posts/quinces/index.html"));
    expect([under.length, under[0], under.at(-1)]).toEqual([2000, "bob0", "bob2665"]);
  });

  it("belong to the same page with http and https, but to no other page", async () => {
    const server = await liveSite((url) => [
      mention(4, { target: `${url.replace("http:", "https:")}/posts/quinces/#top` }),
      mention(3, { target: `${url}/posts/quinces` }),
      mention(2, { target: `${url}/posts/quinces/?a` }),
      mention(1, { target: "/posts/quinces/" }),
    ]);
    const built = await build(server);
    expect(names(built.read("posts/quinces/index.html"))).toEqual(["bob4"]);
  });

  it("are available to the site's own templates, but in no collection or feed, and none are of a post without a page", async () => {
    const server = await liveSite((url) => [
      mention(1, { target: `${url}/posts/quinces/` }),
      mention(2, { target: `${url}/` }),
    ]);
    const files = {
      ...FILES,
      "own.njk": `{% for m in twtxt.mentions %}{{ m.author.name }} {% endfor %}|{% for m in "/posts/quinces/" | mentions %}{{ m.text }}{% endfor %}`,
      "all.njk": "{% for p in collections.all %}{{ p.url }} {% endfor %}",
      "posts/none.md": "---\ntags: posts\ndate: 2026-01-04\npermalink: false\n---\n",
      "posts.njk": "{% for p in collections.posts %}{{ (p | mentions).length }}{% twtxtMentions p %};{% endfor %}",
      "liquid.liquid": `{% assign found = "/posts/quinces/" | mentions %}{{ found.size }}`,
      "tree.njk": `{% set c = "/posts/quinces/" | conversation %}{{ c.replies.length }} {{ c.mentions[0].text }}`,
    };
    const built = await build(server, { files });
    expect(built.read("own/index.html")).toBe("bob1 bob2 |hello 1");
    expect(built.read("liquid/index.html")).toBe("1");
    expect(built.read("tree/index.html")).toBe("0 hello 1");
    expect(built.read("all/index.html")).not.toContain("mentions");
    expect(built.texts().join()).not.toContain("mentions");
    expect(built.read("posts/index.html").split(";")[2]).toBe("0");
    expect(names(built.read("posts/index.html"))).toEqual(["bob1"]);
  });

  it("do not override the site's own filter", async () => {
    const server = await liveSite(() => [mention(1)]);
    const built = await build(server, {
      files: { ...FILES, "own.njk": `{{ "x" | mentions }}` },
      config: "config.addFilter('mentions', (text) => 'mine ' + text);",
    });
    expect(built.read("own/index.html")).toBe("mine x");
  });

  it("use the words of the site", async () => {
    const server = await liveSite(() => [mention(2, { type: "like" }), mention(1)]);
    const words = `{ title: "Erwähnungen", older: "Ältere", likeOf: "mag <das> {page}" }`;
    const built = await build(server, {
      options: options(server, `lang: "de", mentions: { perPage: 1, words: ${words} }`),
    });
    const page = built.read("mentions/index.html");
    expect(page).toContain('<html lang="de">');
    expect(page).toContain('<h1 class="twtxt-title">Erwähnungen</h1>');
    expect(page).toMatch(/<span class="twtxt-verb">mag &lt;das&gt; <a [^>]*><cite/);
    expect(page).toContain('data-text-likeOf="mag &lt;das&gt; {page}" data-text-repostOf="hat {page} geteilt"');
    expect(page).toContain('rel="next">Ältere</a>');
  });

  it("are not part of the twt if a post lists them in its body", async () => {
    const server = await liveSite((url) => [mention(1, { target: `${url}/posts/own/`, text: "*buy* [this](x) now" })]);
    const body = "Before {% twtxtMentions %} after.\n\n{% twtxtMentions %}\n";
    const built = await build(server, {
      files: { ...FILES, "posts/own.md": post({ date: "2026-01-05", tags: "posts" }, body) },
    });
    expect(built.read("posts/own/index.html")).toContain("*buy* [this](x) now");
    expect(built.texts().at(-1)).toMatch(/^Before\s+after\.$/);
  });

  it("use the layout from the option, and their text is not run as a template", async () => {
    const hostile = `{{ 7 * 7 }}{% set x = 1 %}<script>alert(1)</script>\n# not Markdown`;
    const server = await liveSite(() => [
      mention(1, {
        text: hostile,
        author: { name: `<b>"'</b>{{ nick }}`, url: "javascript:alert(1)", photo: "javascript:alert(1)" },
        source: `https://bob.example/"onmouseover="alert(1)`,
      }),
    ]);
    const files = { ...FILES, "_includes/base.njk": "<html><body>BASE {{ title }} {{ content | safe }}</body></html>" };
    const built = await build(server, { files, options: options(server, 'mentions: { layout: "base.njk" }') });
    const page = built.read("mentions/index.html");
    expect(page).toContain("BASE Mentions");
    expect(page).toContain("{{ 7 * 7 }}{% set x = 1 %}&lt;script&gt;alert(1)&lt;/script&gt;<br># not Markdown");
    expect(page).toContain("&lt;b&gt;&quot;'&lt;/b&gt;{{ nick }}");
    expect(page).not.toMatch(/href="javascript|src="javascript|<script>alert|"onmouseover/);
    expect(page).toContain("twtxt-is-mention");
  });

  it.each([
    ["mentions.njk", "mine"],
    ["mentions/index.md", "mine"],
    ["who.njk", "---\npermalink: /mentions/\neleventyExcludeFromCollections: true\n---\nmine"],
    ["who.njk", "---\npermalink: /mentions/index.html\npagination: { data: list, size: 2 }\nlist: [1]\n---\nmine"],
  ])("leave the site's own page unchanged, with a notice: %s %j", async (file, content) => {
    const server = await liveSite(() => [mention(1)]);
    const built = await build(server, {
      files: { ...FILES, [file]: content },
      options: options(server, "mentions: { perPage: 1 }"),
    });
    expect(built.read("mentions/index.html")).toMatch(/^(<p>)?mine/);
    expect(built.has("mentions/2/index.html")).toBe(false);
    expect(built.log).toContain(
      '/mentions/ is a page of your site, so the plugin\'s list of all mentions is left out. To show its content there, use twtxt.mentions; to build it elsewhere, set the option "mentions.pages" to another path.',
    );
  });

  it.each([
    ["/mentions/", "pagination: { data: collections.posts, size: 9 }"],
    ["/mentions/", "eleventyImport: { collections: [posts] }"],
    ["/mentions/2/", ""],
  ])(
    "stop the build, and name the file, where %s belongs to a page that is made too late to be seen: %s",
    async (permalink, data) => {
      const server = await liveSite(() => [mention(2), mention(1)]);
      const built = await buildSite({
        files: { ...FILES, "who.njk": `---\npermalink: ${permalink}\n${data}\n---\nmine` },
        options: options(server, "mentions: { perPage: 1 }"),
      });
      expect(built.exitCode).toBe(1);
      expect(built.log).toContain(
        `./who.njk is already written to ${permalink}. Remove that file, or set the option "mentions.pages" to another path.`,
      );
      expect(built.has("mentions/index.html")).toBe(false);
    },
  );

  it("have pages on any site", async () => {
    const server = await liveSite(() => [mention(1)]);
    const files = { ...FILES, "mentions.png": "", "_data/layout.json": '"post.njk"' };
    const built = await build(server, { files, config: 'return { templateFormats: ["md", "njk"] };' });
    expect(names(built.read("mentions/index.html"))).toEqual(["bob1"]);
    expect(built.read("mentions/index.html").match(/<html/g)).toHaveLength(1);
    expect(built.log).not.toContain("template format");
  });

  it("keep the style of their pages if a site bundles all styles, as the official starter does", async () => {
    const server = await liveSite(() => [mention(1)]);
    const config = 'config.addBundle("css", { toFileDirectory: "dist", bundleHtmlContentFromSelector: "style" });';
    const built = await build(server, { config });
    expect(built.read("mentions/index.html")).toMatch(/<style[^>]*>\s*html \{/);
  });

  it("have no pages if the option is false", async () => {
    const server = await liveSite(() => [mention(1)]);
    const none = await build(server, { options: options(server, "mentions: { pages: false }") });
    expect(none.has("mentions/index.html")).toBe(false);
    expect(none.has("mentions/twtxt-mentions.js")).toBe(true);
  });

  it("come from the last deploy if the list cannot be read, with a warning", async () => {
    const server = await liveSite(() => "down");
    server.pages["/mentions/mentions.json"] = JSON.stringify({ mentions: [mention(7)], next: null });
    const built = await build(server, { flags: { quietMode: true } });
    expect(names(built.read("mentions/index.html"))).toEqual(["bob7"]);
    expect(JSON.parse(built.read("mentions/mentions.json")).mentions).toHaveLength(1);
    expect(built.log).toContain(
      `${server.url}/mentions.json?limit=100 answers 500. This build takes the mentions from the last one.`,
    );
  });

  it("come from the last build if the site's server is down, with a warning", async () => {
    const list = JSON.stringify({ mentions: [mention(8)], next: null });
    const own = createServer((_, response) => response.end(list)).listen(0, "127.0.0.1");
    await once(own, "listening");
    const server = { url: `http://127.0.0.1:${Object(own.address()).port}` };
    const first = await site({ files: FILES, options: options(server, "mentions: { perPage: 1 }") });
    expect(names(first.read("mentions/index.html"))).toEqual(["bob8"]);
    own.close();
    own.closeAllConnections();
    await once(own, "close");

    rmSync(join(first.folder, "_site"), { recursive: true });
    const second = await site({ site: first, files: {}, options: options(server), flags: { quietMode: true } });
    expect(names(second.read("mentions/index.html"))).toEqual(["bob8"]);
    expect(second.log.match(/This build takes the mentions from the last one\./g)).toHaveLength(1);

    const elsewhere = { url: server.url.replace("127.0.0.1", "localhost") };
    const other = await site({ site: first, files: {}, options: options(elsewhere) });
    expect(names(other.read("mentions/index.html"))).toEqual([]);
    expect(other.log).toContain("pages show them only with JavaScript");
  });

  it("come from the last deploy from the point where the live list fails", async () => {
    const all = Array.from({ length: 250 }, (_, n) =>
      mention(n, { received: new Date(Date.parse("2026-11-20T09:00:00Z") - n * 1000).toISOString() }),
    );
    const server = await liveSite((_url, requests) => (requests < 2 ? all : "down"));
    const file = [mention(999, { received: "2026-11-20T09:00:00.000Z" }), ...all.slice(150)];
    server.pages["/mentions/mentions.json"] = JSON.stringify({ mentions: file, next: null });
    const built = await build(server);
    const { mentions } = JSON.parse(built.read("mentions/mentions.json"));
    expect(mentions).toEqual([...all.slice(0, 200), ...all.slice(200)]);
    expect(built.log).toContain(`This build takes the mentions before ${all[199]?.received} from the last one.`);
  });

  it.each([
    ["an error", "down"],
    ["another response", ""],
  ])("are unknown, not empty, if both lists respond with %s: pages have only the component", async (_, text) => {
    const server = await liveSite(() => text);
    if (text === "") server.pages["/mentions.json"] = "<html>";
    const built = await build(server);
    const page = built.read("mentions/index.html");
    expect(page).toContain('<twtxt-mentions src="/mentions.json" ');
    expect(page).toContain('<ol class="twtxt-mentions"></ol>\n<p class="twtxt-none" hidden="">');
    expect(names(page)).toEqual([]);
    expect(built.has("mentions/mentions.json")).toBe(false);
    expect(built.log).toContain("Until a build can read the mentions, pages show them only with JavaScript.");
    expect(built.log, "the options name the host").not.toContain("If your host only serves files");
  });

  it("are unknown, with advice on static hosts if the host was detected", async () => {
    const server = await liveSite(() => "down");
    const files = { ...FILES, "netlify.toml": "" };
    const built = await build(server, { files, options: `{ url: "${server.url}" }` });
    expect(built.log).toContain('If your host only serves files, give the plugin the option host: "static".');
  });

  it("are not requested if the site does not receive them itself", async () => {
    const server = await liveSite(() => [mention(1)]);
    for (const more of ['host: "static"', "mentions: false", 'webmention: "https://elsewhere.example/webmention"']) {
      const built = await build(server, { options: options(server, more) });
      expect(built.has("mentions/index.html")).toBe(false);
      expect(built.read("posts/quinces/index.html")).not.toContain("twtxt-mentions");
    }
    expect(server.requests).toEqual([]);
  });

  it.each([
    ["", LAYOUT, "No effect: the shortcode"],
    ["mentions: { moderate: true }", "", 'No effect: the option "mentions". The'],
    ["mentions: { moderate: true }", LAYOUT, 'No effect: the option "mentions" and the shortcode'],
    ['mentions: { aliases: ["https://old.example/twtxt.txt"] }', "", null],
    ["", "", null],
    ["mentions: false", LAYOUT, null],
    ['webmention: "https://elsewhere.example/webmention"', LAYOUT, null],
    ['host: "node", mentions: { moderate: true }', LAYOUT, null],
  ])(
    "have no effect on a static host, and the build says so once if they are in use: %s %#",
    async (more, layout, note) => {
      const server = await liveSite(() => []);
      const built = await build(server, {
        files: { ...FILES, "_includes/post.njk": layout || "{{ content | safe }}" },
        options: options(server, `host: "static", ${more}`),
      });
      const notes = built.log.match(/No effect: .*/g) ?? [];
      expect(notes).toEqual(note === null ? [] : [expect.stringContaining(note)]);
      if (note !== null) expect(notes[0]).toContain(`The host of this site is "static"`);
      if (note !== null) expect(notes[0]).toContain(`host: "netlify" or host: "node"`);
    },
  );

  it("have their endpoint in the feed and on pages if the site receives them itself", async () => {
    const server = await liveSite(() => []);
    const built = await build(server);
    expect(built.feed().fields.webmention).toEqual([`${server.url}/webmention`]);
    expect(built.read("posts/quinces/index.html")).toContain(`<link rel="webmention" href="${server.url}/webmention">`);
    const elsewhere = await build(server, { options: options(server, 'mentions: { path: "/hook" }') });
    expect(elsewhere.feed().fields.webmention).toEqual([`${server.url}/hook`]);
  });

  it.each([
    ["", ""],
    [" with EleventyHtmlBasePlugin", "config.addPlugin(Base);"],
  ])("have pages with a path prefix%s", async (_, config) => {
    const server = await liveSite(() => "down");
    server.pages["/blog/mentions.json"] = JSON.stringify({
      mentions: [2, 1].map((n) => mention(n, { target: `${server.url}/blog/posts/quinces/` })),
      next: null,
    });
    const built = await build(server, {
      imports: 'import { EleventyHtmlBasePlugin as Base } from "@11ty/eleventy";',
      config: `${config} return { pathPrefix: "/blog/" };`,
      options: options(server, "mentions: { perPage: 1 }"),
    });
    const page = built.read("posts/quinces/index.html");
    expect(names(page)).toEqual(["bob2", "bob1"]);
    expect(page).toContain('<twtxt-mentions src="/blog/mentions.json"');
    expect(page).toContain('<script type="module" src="/blog/mentions/twtxt-mentions.js">');
    expect(built.read("mentions/index.html")).toContain('<a href="/blog/mentions/2/" rel="next">');
    expect(built.read("mentions/index.html")).toContain('<a href="/blog/" rel="home">');
  });

  it("stop the build if the site has its own file at their path", async () => {
    const server = await liveSite(() => []);
    const built = await buildSite({
      files: { ...FILES, "own.njk": "---\npermalink: /mentions/mentions.json\n---\n[]" },
      options: options(server),
    });
    expect(built.exitCode).not.toBe(0);
    expect(built.log).toContain('give the option "mentions.pages" another path');
  });
});

describe("docs/mentions.md", () => {
  const document = readFileSync(new URL("../../docs/mentions.md", import.meta.url), "utf8");

  it("has lines that link only the page of a reply to its parent post", async () => {
    const [, lines = ""] = /```njk\n((?:(?!```)[\s\S])*u-in-reply-to[\s\S]*?)```/.exec(document) ?? [];
    const reply = (replyTo: string, date: string) => post({ date, tags: "posts", layout: "post.njk", replyTo }, "Yes.");
    const built = await site({
      files: {
        ...FILES,
        "_includes/post.njk": `<html><body class="h-entry">${lines}{{ content | safe }}</body></html>`,
        "posts/a.md": reply("abcdefg https://bob.example/twtxt.txt", "2026-01-05T00:00:01Z"),
        "posts/b.md": reply("abcdefg bob https://bob.example/twtxt.txt", "2026-01-05T00:00:02Z"),
        "posts/c.md": reply("abcdefg", "2026-01-05T00:00:03Z"),
      },
    });
    const link = '<a class="u-in-reply-to" href="https://bob.example/twtxt.txt">https://bob.example/twtxt.txt</a>';
    expect(built.read("posts/a/index.html")).toContain(link);
    expect(built.read("posts/b/index.html")).toContain(link);
    for (const name of ["c", "beans"]) expect(built.read(`posts/${name}/index.html`)).not.toContain("u-in-reply-to");
    expect(built.texts().at(-2)).toBe("(#abcdefg) @<bob https://bob.example/twtxt.txt> Yes.");
  });

  it("lists all classes and attributes for CSS and JavaScript", async () => {
    const server = await liveSite((url) => [
      ...(["mention", "reply", "like", "repost", "bookmark"] as const).map((type, n) =>
        mention(n, { type, target: `${url}/posts/quinces/` }),
      ),
    ]);
    const layout = LAYOUT.replace("{% twtxtMentions %}", "{% twtxtReply %}{% twtxtMentions %}");
    const built = await build(server, {
      files: { ...FILES, "_includes/post.njk": layout },
      options: options(server, "mentions: { perPage: 3 }"),
    });
    const pages = ["mentions/index.html", "mentions/2/index.html", "posts/quinces/index.html"].map(built.read).join();
    const classes = [...pages.matchAll(/ class="([^"]*)"/g)].flatMap(([, names = ""]) => names.split(" "));
    const attributes = [...pages.matchAll(/ (data-[a-z-]+)=/g)].map(([, name = ""]) => name);
    expect(new Set(classes).size).toBeGreaterThan(15);
    expect(new Set(attributes).size).toBeGreaterThan(7);
    const [, known = ""] = /### Classes and attributes for CSS and JavaScript\n([\s\S]*?)\n## /.exec(document) ?? [];
    for (const name of [...classes, ...attributes]) {
      expect(known).toContain(name.replace(/^data-text-(?!mention)/, "-"));
    }
  });
});

describe("pictures of authors", () => {
  const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

  it("are shown only with the option avatars", async () => {
    const server = await liveSite((url) => [mention(1, { author: { name: "b", url, photo: `${url}/me.png` } })]);
    const built = await build(server);
    expect(built.read("mentions/index.html")).not.toContain("<img");
    expect(server.requests).not.toContain("/me.png");
  });

  it("are read from this machine for a site that is on this machine, and for no other", async () => {
    const server = await liveSite((url) => [mention(1, { author: { name: "b", url, photo: `${photos.url}/me.png` } })]);
    const photos = await loopbackServer((_, response) => response.end(PNG));
    const avatars = "mentions: { avatars: true }";
    const built = await build(server, { options: options(server, avatars) });
    expect(built.read("mentions/index.html")).toMatch(
      /<img class="u-photo" src="\/mentions\/avatars\/[0-9a-f]{32}\.png"/,
    );
    expect(listLoopbackHosts("https://alice.example", [photos.url])).toEqual([]);
  });

  it("come from the cache, as files of the site that image transforms do not change", async () => {
    const photo = "https://bob.example/me.png";
    const server = await liveSite((url) => [mention(1, { author: { name: "b", url, photo } })]);
    const first = await build(server, { options: options(server, "mentions: { avatars: true }") });
    expect(first.read("mentions/index.html")).not.toContain("<img");

    const { createHash } = await import("node:crypto");
    const name = `${createHash("sha256").update(photo).digest("hex").slice(0, 32)}.png`;
    mkdirSync(join(first.folder, ".eleventy-twtxt/avatars"), { recursive: true });
    writeFileSync(join(first.folder, ".eleventy-twtxt/avatars", name), PNG);
    const again = await build(server, { site: first, options: options(server, "mentions: { avatars: true }") });
    const picture = `<img class="u-photo" src="/mentions/avatars/${name}" alt="" width="40" height="40">`;
    expect(again.read("mentions/index.html")).toContain(picture);
    expect(again.has(`mentions/avatars/${name}`)).toBe(true);

    // Like Eleventy's image transform, which looks for image files among the sources.
    const imageTransform = `config.htmlTransformer.addPosthtmlPlugin("html", () => (tree) =>
      tree.match({ tag: "img" }, (img) => ("eleventy:ignore" in img.attrs ? img : { ...img, attrs: { src: "lost" } })));`;
    const transformed = await build(server, {
      site: first,
      options: options(server, "mentions: { avatars: true }"),
      config: imageTransform,
    });
    expect(transformed.read("mentions/index.html")).toContain(picture);
  });
});

/** The authors' names in a page's lists. */
function names(page: string): string[] {
  return [...page.matchAll(/class="twtxt-name"[^>]*>([^<]*)</g)].map(([, name = ""]) => name);
}
