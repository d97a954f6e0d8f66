import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { toVersion } from "../../../plugin/author/draft-version.js";
import { completeNick, typedNick } from "../../../plugin/author/notes/complete-nick.js";
import { findNotified, formatPage, previewTwt } from "../../../plugin/author/notes/compose.js";
import { knownNicks } from "../../../plugin/author/notes/mentionable-feeds.js";
import { postDrafts, type SavedText } from "../../../plugin/author/notes/post-drafts.js";
import { loadSite } from "../../../plugin/author/site.js";
import { createGuard } from "../../../plugin/http/guard.js";
import { blog, testTerminal } from "../../cli/helpers.js";
import { builtSite } from "../../helpers/built-site.js";
import { loopbackServer } from "../../helpers/loopback.js";
import { site as build, post } from "../../helpers/site.js";

const NOW = "2026-11-20T09:30:00Z";
const NOTE = "notes/20261120-093000.md";
const FOLLOW = JSON.stringify([{ nick: "bob", url: "https://bob.example/twtxt.txt" }]);

const machineIn = (folder: string) => testTerminal(folder, NOW);

const BODIES: readonly (readonly [string, string, string?])[] = [
  ["plain text", "Hello from my own site."],
  ["mentions", "Yes, @bob and @<carol https://carol.example/tw.txt>, (@bob) \\@bob `@bob` @dave."],
  [
    "formatting and links",
    "# A *heading*\n\n- [one](/about/)\n- two\n\n> quoted **text**\n\n![a picture](x.jpg) <https://a.example/>",
  ],
  ["code", "    indented\n\n```js\nconst a = 1;\n```"],
  ["HTML", '<details><summary>More</summary>text</details> &amp; <a href="y.html">y</a>'],
  ["a table that needs the parser", "| a | b |\n|---|---|\n| 1 | @bob |"],
  ["a reply", "Quite so.", "abcdefg https://bob.example/twtxt.txt"],
  ["a reply that mentions", "@bob Quite so.", "abcdefg https://bob.example/twtxt.txt"],
  ["a long text", `${"word ".repeat(20_000)}@bob`],
];

describe("the preview of a note's twt", () => {
  it("is the twt that the build writes, byte for byte", async () => {
    const file = (at: number) => `notes/20261120-09300${at}.md`;
    const built = await build({
      files: {
        "notes/notes.json": `{ "tags": "posts" }`,
        "_data/follow.json": FOLLOW,
        ...Object.fromEntries(
          BODIES.map(([, body, replyTo], at) => [
            file(at),
            post({ date: `2026-11-19T09:30:0${at}Z`, ...(replyTo && { replyTo }) }, body),
          ]),
        ),
      },
    });
    const site = await loadSite(machineIn(built.folder));
    const previews = BODIES.map(([, body, replyTo], at) =>
      previewTwt({ body, replyTo }, join(built.folder, file(at)), site),
    );
    const texts = (await Promise.all(previews)).map(({ text }) => text);
    expect(texts).toEqual(built.texts());
  });

  it("has its size, its mentions, and the @names without a followed feed", async () => {
    const { folder } = blog({ followed: { file: "_data/follow.json", option: [] } }, { "_data/follow.json": FOLLOW });
    const site = await loadSite(machineIn(folder));
    const preview = await previewTwt(
      { body: "Grüße, @bob @bob @dave {{ x }}", replyTo: undefined },
      join(folder, NOTE),
      site,
    );
    expect(preview).toEqual({
      text: "Grüße, @<bob https://bob.example/twtxt.txt> @<bob https://bob.example/twtxt.txt> @dave {{ x }}",
      bytes: 96,
      links: [],
      isCut: false,
      mentions: [{ nick: "bob", url: "https://bob.example/twtxt.txt" }],
      unknownMentions: ["@dave"],
      hasTemplateCode: true,
    });
    expect(await previewTwt({ body: " \n", replyTo: undefined }, join(folder, NOTE), site)).toMatchObject({
      text: "",
      bytes: 0,
    });
    expect(await previewTwt({ body: "x ".repeat(70_000), replyTo: undefined }, join(folder, NOTE), site)).toMatchObject(
      { isCut: true },
    );
  });

  it("links to the future page of the note, below the path prefix", async () => {
    const { folder } = blog({
      input: "./src",
      urls: {
        ...(await loadSite(machineIn(blog({}).folder))).settings.urls,
        shared: "https://alice.example/blog/shared",
      },
    });
    expect(formatPage(join(folder, "src", NOTE), await loadSite(machineIn(folder)))).toBe(
      "https://alice.example/blog/notes/20261120-093000/",
    );
  });
});

describe("the preview of notifications", () => {
  const NO_MENTIONS = builtSite("https://alice.example").settings.mentions;

  it("includes linked pages, unless the note mentions them or the option mentions.links is off", async () => {
    const body = `[a](https://a.example/#x) https://b.example/ [own](/about) \`[c](https://c.example/)\`
[a](https://a.example/) [d](https://d.example/twtxt.txt) @<d https://d.example/twtxt.txt>`;
    const linksWith = async (links: boolean) => {
      const { folder } = blog({ mentions: { ...NO_MENTIONS, links } });
      return previewTwt({ body, replyTo: undefined }, join(folder, NOTE), await loadSite(machineIn(folder)));
    };
    expect((await linksWith(true)).links).toEqual(["https://a.example/#x"]);
    expect((await linksWith(false)).links).toEqual([]);
  });

  it("has the endpoint that sending uses, or the reason why there is none", async () => {
    const server = await loopbackServer((request, response) => {
      if (request.url === "/twtxt.txt") response.end("# nick = bob\n# webmention = /hook\n2026-01-02T03:04:05Z\thi\n");
      else if (request.url === "/page") response.setHeader("link", '</wm>; rel="webmention"').end("<p>page");
      else response.writeHead(request.url === "/gone" ? 410 : 200).end("<p>nothing");
    });
    const ask = createGuard({ userAgent: "test", allowPrivateHosts: [server.host] });
    const mentions = ["/twtxt.txt", "/page", "/gone", "/none"].map((path) => ({ nick: "x", url: server.url + path }));
    const { folder } = blog({ mentions: { ...NO_MENTIONS, block: ["blocked.example"] } });
    const site = await loadSite(machineIn(folder));
    const guest = `${site.settings.urls.guestFeeds}/anon-0123456789abcdef.txt`;
    const found = await findNotified(
      {
        mentions: [
          ...[...mentions, { nick: "y", url: "http://127.0.0.1:8089/" }],
          ...[
            { nick: "z", url: "ftp://z.example/" },
            { nick: "Dana", url: guest },
          ],
        ],
        links: [`${server.url}/page`, `${server.url}/twtxt.txt`, "https://blocked.example/"],
      },
      { site, ask, now: () => Date.parse(NOW) },
    );
    expect(found.map(({ endpoint, method, why }) => [endpoint?.replace(server.url, ""), method, why])).toEqual([
      ["/hook", "feed field", null],
      ["/wm", "Link header", null],
      [undefined, null, expect.stringContaining("410")],
      [undefined, null, "no endpoint in the feed, its headers or its site"],
      [undefined, null, expect.stringContaining("its address is not public")],
      [undefined, null, "feeds are read over http, https, gemini and gopher only, not ftp://"],
      [undefined, null, "a guest, who reads the answer on your page"],
      ["/wm", "Link header", null],
      [undefined, null, "its author is notified of mentions, not of links"],
      [undefined, null, "blocked by the option mentions.block"],
    ]);
  });
});

describe("the completion of @nick", () => {
  const known = knownNicks(
    [{ nick: "bob", url: "https://bob.example/twtxt.txt" }],
    [
      { nick: "Bobby", url: "https://bobby.example/tw.txt" },
      { nick: "robert", url: "https://bob.example/twtxt.txt" },
      { nick: "two words", url: "https://two.example/" },
      { nick: null, url: "https://none.example/" },
      { nick: "evil", url: "javascript:alert(1)" },
    ],
  );

  it("writes the nick of a followed feed, and the full mention of another feed", () => {
    expect(completeNick("@bo", known).map(({ written }) => written)).toEqual([
      "@bob",
      "@<Bobby https://bobby.example/tw.txt>",
    ]);
  });

  it("suggests no feed twice, and no feed that cannot be mentioned", () => {
    expect(completeNick("", known).map(({ nick }) => nick)).toEqual(["bob", "Bobby"]);
  });

  it("suggests nicks that start with the input, then nicks and hosts that contain it", () => {
    expect(completeNick("BB", known).map(({ nick }) => nick)).toEqual(["Bobby"]);
    expect(completeNick("obby.ex", known).map(({ nick }) => nick)).toEqual(["Bobby"]);
  });

  it.each([
    ["@", ""],
    ["Hello (@bo", "bo"],
    ["line\n@bö-b.", "bö-b."],
    ["alice@bob", null],
    ["https://x.example/@bob", null],
    ["@bob ", null],
    ["\\@bob", null],
  ])("starts after an @ that is not part of an address: %j", (text, nick) => {
    expect(typedNick(text)).toBe(nick);
  });

  it("writes only nicks that the build resolves to the same feed, and no template code", async () => {
    const urlOf = (name: string) => `https://${name}.example/twtxt.txt`;
    const nicks = ["bob", "bob.", "a/b", "*a*", "_b_", "o\\p", "é", "x&amp;y", "{{config}}", "{%x%}", "a,b"];
    const followed = nicks.map((nick, at) => ({ nick, url: urlOf(`f${at}`) }));
    const { folder } = blog({ followed: { file: "_data/follow.json", option: followed } });
    const site = await loadSite(machineIn(folder));
    const others = nicks.map((nick, at) => ({ nick, url: urlOf(`o${at}`) }));
    const all = knownNicks(followed, [...others, { nick: "t", url: "https://t.example/{{config}}" }]);
    expect(all.map(({ nick }) => nick)).not.toContain("{{config}}");
    expect(all).toHaveLength(2 * (nicks.length - 2));
    for (const { written, url } of all) {
      const { mentions } = await previewTwt(
        { body: `Hi ${written} you`, replyTo: undefined },
        join(folder, NOTE),
        site,
      );
      expect([written, mentions.map((mention) => mention.url)]).toEqual([written, [url]]);
    }
  });
});

describe("drafts", () => {
  const reply = "abcdefg https://bob.example/twtxt.txt";

  /** The first request of a page to save a draft. */
  function typed(body: string, more: Partial<SavedText> = {}): SavedText {
    const empty = { title: "", tags: "", replyTo: null, answered: null, seen: "" };
    return { ...empty, id: randomUUID(), body, page: randomUUID(), edit: 1, ...more };
  }

  async function draftsOf(folder = blog({}).folder) {
    const clock = { now: Date.parse(NOW) };
    const machine = { ...machineIn(folder), now: () => clock.now };
    const site = await loadSite(machine);
    return { clock, site, machine, drafts: () => postDrafts(site, machine) };
  }

  it("are listed again after a crash, newest first, until they are deleted", async () => {
    const { clock, drafts } = await draftsOf();
    const first = await drafts().save(typed("one"));
    clock.now += 1000;
    const second = await drafts().save(typed("two", { replyTo: reply }));
    expect(await drafts().list()).toEqual([second, first]);
    clock.now += 1000;
    const again = await drafts().save(typed("one, edited", { id: first.id, seen: toVersion(first) }));
    expect(again.id).toBe(first.id);
    expect((await drafts().list()).map(({ body }) => body)).toEqual(["one, edited", "two"]);
    await drafts().delete(first.id);
    await drafts().delete("../../../x");
    expect(await drafts().list()).toEqual([second]);
  });

  it("are separate for each site, and replace an invalid id", async () => {
    const { site, machine, drafts } = await draftsOf();
    expect((await drafts().save(typed("one", { id: "../../../x" }))).id).toMatch(/^[0-9a-f-]{36}$/);
    const other = { ...site, settings: { ...site.settings, feedUrl: "https://alice.example/other.txt" } };
    expect(await postDrafts(other, machine).list()).toEqual([]);
  });

  it("are not overwritten by a page with an older version: its text becomes a separate draft", async () => {
    const { drafts } = await draftsOf();
    const first = await drafts().save(typed("one"));
    const [left, right] = [toVersion(first), toVersion(first)].map((seen) => typed("", { id: first.id, seen }));
    await drafts().save({ ...left, body: "left" } as SavedText);
    const moved = await drafts().save({ ...right, body: "right" } as SavedText);
    expect(moved.id).not.toBe(first.id);
    await drafts().save({ ...right, id: moved.id, seen: toVersion(moved), edit: 2, body: "right, again" } as SavedText);
    expect((await drafts().list()).map(({ body }) => body).sort()).toEqual(["left", "right, again"]);
  });

  it("keep the last text of a page if its requests arrive out of order or get no response", async () => {
    const { drafts } = await draftsOf();
    const page = typed("1");
    for (const edit of [1, 3, 2]) await drafts().save({ ...page, edit, body: `text ${edit}` });
    expect((await drafts().list()).map(({ id, body }) => [id, body])).toEqual([[page.id, "text 3"]]);
  });
});
