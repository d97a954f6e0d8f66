import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { CommentImport } from "../../../plugin/author/comments/comment-import.js";
import { openExport } from "../../../plugin/author/comments/open-export.js";
import { parseFeed } from "../../../plugin/feed/feed.js";
import { twtHash } from "../../../plugin/feed/hash.js";
import { signRequest } from "../../../plugin/http/sign-request.js";
import type { ImportedMention } from "../../../plugin/mentions/receive/import-mentions.js";
import type { PublicMention } from "../../../plugin/site/mention-list.js";
import {
  disqusExport,
  OLD_COMMENTS,
  OLD_PAGES,
  type OldComment,
  wordpressExport,
  writeIssoDatabase,
} from "../../helpers/comment-exports.js";
import { ALICE, comment, decide, managed } from "../../helpers/commenter.js";
import { PAGE, PAGES, type Receiver, receiver, settingsOf, TWT } from "../../helpers/receiver.js";

const folder = mkdtempSync(join(tmpdir(), "twtxt-exports-"));
afterAll(() => rmSync(folder, { recursive: true }));

const MEDLARS = "https://alice.example/posts/medlars/";
const ABOUT = "https://alice.example/about/";
const pages = {
  ...PAGES,
  origins: ["https://old.example"],
  pages: [...PAGES.pages, MEDLARS, ABOUT],
  twts: [TWT, { ...TWT, timestamp: "2026-10-05T07:12:30Z", hashes: ["mmmmmmm", "mmmmmmmmmmmm"], page: MEDLARS }],
};
const published = { settings: settingsOf({ key: ALICE.publicKey, mentions: { comments: true } }), pages };

function site(): Receiver {
  return receiver({ key: ALICE.publicKey, mentions: { comments: true }, pages });
}

const WRITERS = {
  Disqus: (comments?: readonly OldComment[]) => write("disqus.xml", disqusExport(comments)),
  WordPress: (comments?: readonly OldComment[]) => write("wordpress.xml", wordpressExport(comments)),
  isso(comments?: readonly OldComment[]) {
    writeIssoDatabase(join(folder, "isso.db"), comments);
    return join(folder, "isso.db");
  },
};
const FORMATS = Object.keys(WRITERS) as (keyof typeof WRITERS)[];

function write(name: string, content: string | Uint8Array): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

async function read(file: string, moves: { from: string; to: string }[] = []) {
  const comments = await openExport(file);
  if (!comments) throw new Error("This is no export of comments.");
  const found = await CommentImport.read(published, comments, moves);
  const mentions: ImportedMention[] = [];
  for await (const mention of found.mentions()) mentions.push(mention);
  return { found, mentions };
}

async function send(alice: Receiver, mentions: readonly object[]) {
  const url = "https://alice.example/api/v1/mentions/import";
  const body = Buffer.from(JSON.stringify({ mentions }));
  const headers = { "content-type": "application/json" };
  const signed = { ...headers, ...signRequest({ method: "POST", url, headers, body }, ALICE, alice.clock.time) };
  const response = await alice.answer(new Request(url, { method: "POST", headers: signed, body }));
  return { status: response.status, json: await response.json() };
}

/** What a page shows. */
async function shown(alice: Receiver, page: string): Promise<PublicMention[]> {
  const url = `https://alice.example/mentions.json?limit=100&target=${encodeURIComponent(page)}`;
  return Object(await (await alice.answer(new Request(url))).json()).mentions;
}

/** The words of a comment, and those of what it answers. */
function outline(mentions: readonly PublicMention[]): Record<string, string> {
  const words = ({ html }: PublicMention) =>
    (html ?? "")
      .replace(/<[^>]+>/g, " ")
      .trim()
      .replace(/\s+/g, " ");
  const named = new Map(mentions.map((mention) => [mention.hash, words(mention)]));
  return Object.fromEntries(mentions.map((one) => [words(one), named.get(one.replyTo) ?? one.replyTo ?? "the page"]));
}

describe.each(FORMATS)("an export of %s", (format) => {
  it("becomes comments of guests: with threads, names, sites and dates, and only the approved ones", async () => {
    const alice = site();
    const { found, mentions } = await read(WRITERS[format]());
    const isOnDisqus = format === "Disqus";
    expect(Object.fromEntries(found.byPage)).toEqual({ [PAGE]: 4, [MEDLARS]: 26, [ABOUT]: 2 });
    expect([...found.withoutPage]).toEqual([[expect.stringMatching(/\/2014\/05\/gone\/$/), 1]]);
    expect(Object.fromEntries(found.leftOut)).toEqual(
      format === "isso"
        ? { deleted: 2, "not approved": 1 }
        : {
            ...{ deleted: 1, "marked as spam": 1, "not approved": 1 },
            ...(format === "WordPress" && { "by pingback or trackback": 1 }),
          },
    );
    expect(await send(alice, mentions)).toEqual({ status: 200, json: { imported: 32, known: 0, ignored: 0 } });

    const quinces = await shown(alice, PAGE);
    const greeting = "Grüße aus Köln! 🍐 Toll &#x26; hier".replace("&#x26;", "&amp;");
    expect(outline(quinces)).toEqual({
      [greeting]: "abcdefghijkl",
      "First line Second": greeting,
      "三 👩‍👩‍👧 ]]&gt; &amp;amp;": "First line Second",
      "Answer to what was deleted": greeting,
    });
    const [first] = quinces.filter(({ author }) => author.name === "Jürgen Groß");
    expect(first).toMatchObject({
      source: expect.stringMatching(
        /^https:\/\/alice\.example\/guests\/anon-[0-9a-f]{16}\.txt#:~:text=2014-05-06T07:01:08Z$/,
      ),
      ...{ target: PAGE, type: "reply", published: "2014-05-06T07:01:08Z", received: "2014-05-06T07:01:08.000Z" },
      author: { guest: true, photo: null, ...(!isOnDisqus && { page: "https://juergen.example/%C3%BCber?a=1&b=2" }) },
    });
    expect(first?.html).toContain("<strong>Toll</strong>");
    expect(first?.html).toContain('<a href="https://example.org/?a=1&amp;b=2" rel="nofollow ugc noopener">hier</a>');
    const names = quinces.map(({ author: { name, page } }) => [name, page]);
    expect(names).toContainEqual(["Tom & <Jerry>", isOnDisqus ? undefined : "https://tom.example/"]);
    expect(names).toContainEqual(["eve", undefined]);
    expect(outline(await shown(alice, ABOUT))).toEqual({ "About you": "the page", "About me": "About you" });
    const medlars = await shown(alice, MEDLARS);
    expect(medlars.find(({ text }) => text.endsWith("Nameless"))?.author).toEqual({
      ...{ name: "guest", url: expect.any(String), photo: null, guest: true },
    });
    expect(outline(medlars)).toMatchObject({ "Text 0": "Nameless", "Text 1": "Text 0", "Text 24": "Text 23" });
  });

  it("stores and sends no address: no e-mail, no network", async () => {
    const alice = site();
    const { mentions } = await read(WRITERS[format]());
    expect(JSON.stringify(mentions)).not.toMatch(/@mail\.example|198\.51\.100|203\.0\.113|steal/);
    await send(alice, mentions);
    const stored = await Promise.all((await alice.store.keys("")).map((key) => alice.store.get(key)));
    const bytes = Buffer.concat(stored.map((one) => one?.bytes ?? Buffer.alloc(0))).toString();
    expect(bytes).toContain("Reader 24");
    expect(bytes).not.toMatch(/@mail\.example|198\.51\.100|203\.0\.113|steal/);
  });

  it("is imported once, also after an interruption, and stays as the author has decided", async () => {
    const alice = site();
    const { mentions } = await read(WRITERS[format]());
    expect((await send(alice, mentions.slice(0, 10))).json).toEqual({ imported: 10, known: 0, ignored: 0 });
    const [one] = await managed(alice, "shown");
    await decide(alice, one?.id, "rejected");
    const keys = await alice.store.keys("");
    expect((await send(alice, mentions)).json).toEqual({ imported: 22, known: 10, ignored: 0 });
    const again = (await read(WRITERS[format](), [{ from: "/posts/quinces/", to: "/posts/medlars/" }])).mentions;
    const between = (await alice.store.keys("")).length;
    expect((await send(alice, again)).json).toEqual({ imported: 0, known: 32, ignored: 0 });
    expect((await alice.store.keys("")).length).toBeLessThanOrEqual(between + 1);
    expect(keys.length).toBeLessThan(between);
    expect(await managed(alice, "rejected")).toMatchObject([{ id: one?.id }]);
  });
});

describe("an imported comment", () => {
  it("is a twt of its guest's feed, which readers answer, and counts for no limit of today", async () => {
    const alice = receiver({
      key: ALICE.publicKey,
      mentions: { comments: { perDay: 10 }, limits: { shownPerHost: 1 } },
      pages,
    });
    await send(alice, (await read(WRITERS.Disqus())).mentions);
    const [newest] = await shown(alice, MEDLARS);
    const feedUrl = newest?.author.url ?? "";
    const { twts, header } = parseFeed(await (await alice.answer(new Request(feedUrl))).text());
    expect(header.nick).toEqual(["Reader-24"]);
    expect(twts.map((twt) => twtHash(feedUrl, twt))).toEqual([newest?.hash]);
    expect(twts[0]?.subject).toBe(newest?.replyTo);
    const answer = await comment(alice, { target: MEDLARS, text: "Still here?", "reply-to": newest?.hash ?? "" });
    expect([answer.status, answer.json.state]).toEqual([202, "held"]);
    expect(alice.log.filter((line) => line.includes("2014"))).toEqual([]);
  });

  it("comes back from the output of `mentions export`, as do the comments of readers", async () => {
    const alice = site();
    await send(alice, (await read(WRITERS.Disqus())).mentions);
    await decide(
      alice,
      (await comment(alice, { text: "Signed https://dana.example/", name: "Dana" })).json.id,
      "shown",
    );
    const before = await shown(alice, PAGE);
    const exported = await managed(alice, "shown");
    const restored = site();
    const own = exported.map(({ id, version, state, under, title, ...mention }: Record<string, unknown>) => mention);
    expect((await send(restored, own)).json).toEqual({ imported: 33, known: 0, ignored: 0 });
    const words = (mentions: readonly PublicMention[]) =>
      mentions.map(({ source, text, html, replyTo, hash }) => [source, text, html, replyTo, hash]);
    expect(words(await shown(restored, PAGE))).toEqual(words(before));
  });

  it.each([
    ["a site without comments", { key: ALICE.publicKey }, {}],
    ["a feed that is no guest's", {}, { source: "https://alice.example/twtxt.txt#:~:text=2014-05-06T07:01:08Z" }],
    [
      "another site's guest",
      {},
      { source: `https://mallory.example/guests/anon-${"0".repeat(16)}.txt#:~:text=2014-05-06T07:01:08Z` },
    ],
    ["no twt", {}, { source: `https://alice.example/guests/anon-${"0".repeat(16)}.txt` }],
    ["another site's page", {}, { target: "https://elsewhere.example/" }],
    ["the feed", {}, { target: "https://alice.example/twtxt.txt" }],
  ])("is ignored: %s", async (_, options, changed) => {
    const alice = "key" in options ? receiver({ key: ALICE.publicKey, pages }) : site();
    const [mention] = (await read(WRITERS.Disqus())).mentions;
    expect((await send(alice, [{ ...mention, ...changed }])).json).toEqual({ imported: 0, known: 0, ignored: 1 });
  });
});

describe("the page of a comment", () => {
  const one = (link: string, id = "") =>
    disqusExport([{ id: 1, page: "gone", name: "x", html: "x", time: "2014-05-06T07:00:00Z" }])
      .replace(OLD_PAGES.gone, link)
      .replaceAll("<id></id>", `<id>${id}</id>`);

  it.each([
    ["https://alice.example/posts/medlars/", MEDLARS],
    ["http://old.example/posts/medlars", MEDLARS],
    ["https://old.example/posts/medlars.html", MEDLARS],
    ["https://old.example/posts/medlars/index.html?utm_source=x", MEDLARS],
    ["http://localhost:4000//posts/medlars/#disqus_thread", MEDLARS],
    ["https://old.example/2014/05/medlars/", MEDLARS],
    ["https://old.example/?p=7", null],
    ["https://alice.example/twtxt.txt", null],
    ["javascript:alert(1)", null],
    ["", null],
  ])("%s is %s", async (link, page) => {
    const { mentions } = await read(write("one.xml", one(link)), [{ from: "/2014/05/", to: "/posts/" }]);
    expect(mentions.map(({ target }) => target)).toEqual(page === null ? [] : [page]);
  });

  it.each(["posts/medlars", "/posts/medlars/", "218 https://alice.example/posts/medlars/"])(
    "is found by the identifier %s of a thread of Disqus",
    async (id) => {
      const { mentions } = await read(write("one.xml", one("https://old.example/?p=218", id)));
      expect(mentions.map(({ target }) => target)).toEqual([MEDLARS]);
    },
  );
});

describe("an unusual file", () => {
  it("is read compressed, as Disqus sends it", async () => {
    expect((await read(write("disqus.xml.gz", gzipSync(disqusExport())))).mentions).toHaveLength(32);
  });

  it("is read in UTF-16, as some editors save it", async () => {
    const little = Buffer.from(`\ufeff${disqusExport()}`, "utf16le");
    for (const bytes of [little, Buffer.from(little).swap16()]) {
      expect((await read(write("utf-16.xml", bytes))).mentions).toHaveLength(32);
    }
  });

  it("has comments that answer each other, or themselves, or nothing that is there", async () => {
    const at = (n: number) => ({ page: "medlars" as const, name: "x", html: `x${n}`, time: `2014-05-06T07:00:0${n}Z` });
    const comments = [
      { id: 1, parent: 2, ...at(1) },
      { id: 2, parent: 1, ...at(2) },
      { id: 3, parent: 3, ...at(3) },
      { id: 4, parent: 77, ...at(4) },
      { id: 5, parent: 2, ...at(5), page: "quinces" as const },
    ];
    const alice = site();
    await send(alice, (await read(WRITERS.Disqus(comments))).mentions);
    expect(outline(await shown(alice, MEDLARS))).toEqual({
      x1: "x2",
      x2: "mmmmmmmmmmmm",
      x3: "mmmmmmmmmmmm",
      x4: "mmmmmmmmmmmm",
    });
    expect(outline(await shown(alice, PAGE))).toEqual({ x5: "abcdefghijkl" });
  });

  it("has a long text, which is cut, an invalid date and an empty text, which are left out", async () => {
    const at = { page: "medlars" as const, name: "x", time: "2014-05-06T07:00:00Z" };
    const comments = [
      { id: 1, ...at, html: "long words ".repeat(1000) },
      { id: 2, ...at, html: "x", time: "yesterday" },
      { id: 3, ...at, html: "<script>x</script>" },
      { id: 4, ...at, html: "🍐".repeat(6000) },
      { id: 5, ...at, html: "&lt;<b>&amp;</b><i>&amp;</i>".repeat(6000) },
    ];
    const { found, mentions } = await read(WRITERS.WordPress(comments));
    expect([found.cut, Object.fromEntries(found.leftOut)]).toEqual([
      2,
      { "without text or date": 2, "by pingback or trackback": 1 },
    ]);
    expect((await send(site(), mentions)).json).toMatchObject({ imported: 3 });
  });

  it("has entities, which are not expanded, and a lone &", async () => {
    const lols = Array.from({ length: 9 }, (_, n) => `<!ENTITY lol${n + 1} "${`&lol${n};`.repeat(10)}">`).join("");
    const doctype = `<!DOCTYPE disqus [<!ENTITY lol0 "lol">${lols}<!ENTITY file SYSTEM "file:///etc/passwd">]>`;
    const comments = [{ id: 1, page: "quinces" as const, name: "x", html: "x", time: "2014-05-06T07:00:00Z" }];
    const xml = disqusExport(comments)
      .replace("<disqus ", `${doctype}<disqus `)
      .replace("<![CDATA[<p>x</p>]]>", "&lol9; &file; &nbsp;&#x1F350; & so on");
    const { mentions } = await read(write("entities.xml", xml));
    expect(mentions[0]?.text).toMatch(/> &lol9; &file; 🍐 & so on$/);
  });

  it.each([
    ["deep nesting", `<disqus>${"<a>".repeat(200_000)}`],
    ["a huge attribute", `<disqus a="${"x".repeat(1_000_000)}`],
    ["many attributes", `<disqus ${Array.from({ length: 100_000 }, (_, n) => `a${n}=""`).join(" ")}>`],
    ["only ampersands", `<disqus>${"& ".repeat(150_000)}</disqus>`],
    ["a huge name", `<disqus><${"x".repeat(1_000_000)}`],
    ["a truncated file", disqusExport().slice(0, -200)],
    ["another format", "<html><body>Not found</body></html>"],
    ["no XML", "<disqus> < </disqus>"],
  ])("bad-file: %s", async (_, xml) => {
    await expect(read(write("hostile.xml", xml))).rejects.toMatchObject({ code: "bad-file" });
  });

  it("bad-file: another database, and a damaged archive", async () => {
    writeIssoDatabase(join(folder, "other.db"), []);
    const { openDatabase } = await import("../../../plugin/store/sqlite-driver.js");
    const database = openDatabase(join(folder, "other.db"));
    database.exec("DROP TABLE comments");
    database.close();
    await expect(read(join(folder, "other.db"))).rejects.toMatchObject({ code: "bad-file" });
    await expect(read(write("x.gz", gzipSync(disqusExport()).subarray(0, 500)))).rejects.toMatchObject({
      code: "bad-file",
    });
    expect(OLD_COMMENTS.filter(({ state }) => !state)).toHaveLength(33);
  });
});
