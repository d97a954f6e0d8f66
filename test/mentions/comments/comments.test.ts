import { describe, expect, it } from "vitest";
import { parseFeed } from "../../../plugin/feed/feed.js";
import { twtHash } from "../../../plugin/feed/hash.js";
import { toSiteUrl } from "../../../plugin/mentions/comments/comment-fields.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import type { StreamingStore } from "../../../plugin/store/store.js";
import { ALICE, COMMENTS, comment, commentRequest, DANA, decide, EVE, managed, own } from "../../helpers/commenter.js";
import { faultyStore } from "../../helpers/faulty-store.js";
import { HOSTILE_TEXTS, SOME_HOSTILE_TEXTS } from "../../helpers/hostile-texts.js";
import { loopbackServer } from "../../helpers/loopback.js";
import { mailbox } from "../../helpers/mailbox.js";
import { PAGE, PAGES, type Receiver, type ReceiverOptions, receiver, TWT } from "../../helpers/receiver.js";

const FEED_OF_DANA = `https://alice.example/guests/${DANA.publicKey}.txt`;
const OTHER_POST = "https://alice.example/posts/medlars/";

function site({ mentions = {}, ...others }: ReceiverOptions = {}): Receiver {
  return receiver({ key: ALICE.publicKey, mentions: { comments: true, ...mentions }, ...others });
}

/** Fails every call after a number of them, as the store of a process that was killed. */
function dyingStore(disk: StreamingStore, calls: number): StreamingStore {
  const store = faultyStore(disk);
  let left = calls;
  return new Proxy(store, {
    get(target, name: keyof StreamingStore) {
      return (...values: never[]) => {
        left -= 1;
        if (left < 0) target.fail({ when: "before" });
        return (target[name] as (...given: never[]) => unknown)(...values);
      };
    },
  });
}

async function outcome(answer: ReturnType<typeof comment>): Promise<string> {
  const { status, json } = await answer;
  return [status, json.code ?? json.state].join(" ");
}

async function feed(alice: Receiver, url = FEED_OF_DANA) {
  const response = await alice.answer(new Request(url));
  return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
}

describe("a comment", () => {
  it("202: waits for approval, and is then shown as a reply by a guest under the post", async () => {
    const alice = site();
    const { status, json } = await comment(alice, { text: "What a harvest!", name: "Dana", site: "dana.example" });
    expect([status, json]).toEqual([
      202,
      { id: expect.stringMatching(/^[0-9a-f]{32}$/), guest: DANA.publicKey, state: "held" },
    ]);
    expect(await alice.mentions(PAGE)).toEqual([]);
    expect((await feed(alice)).status).toBe(404);

    expect(await decide(alice, json.id, "shown")).toBe(200);
    expect(await alice.mentions(PAGE)).toMatchObject([
      {
        source: `${FEED_OF_DANA}#:~:text=2026-11-20T09:00:00Z`,
        target: PAGE,
        type: "reply",
        author: { name: "Dana", url: FEED_OF_DANA, page: "https://dana.example/", photo: null, guest: true },
        html: "<p>What a harvest!</p>",
        replyTo: "abcdefghijkl",
        published: "2026-11-20T09:00:00Z",
      },
    ]);
  });

  it("is a twt of the guest's feed, which answers the post and mentions its author", async () => {
    const alice = site();
    const { json } = await comment(alice, { text: "First line\r\n\r\nThird\tline", name: "Dana von Bob" });
    await decide(alice, json.id, "shown");
    const { status, type, text } = await feed(alice);
    expect([status, type]).toEqual([200, "text/plain; charset=utf-8"]);
    const { header, twts } = parseFeed(text);
    expect(header).toMatchObject({ nick: ["Dana-von-Bob"], url: [FEED_OF_DANA], description: ["alice.example"] });
    expect(twts).toMatchObject([
      {
        timestamp: "2026-11-20T09:00:00Z",
        text: "(#abcdefghijkl) @<alice https://alice.example/twtxt.txt> First line\u2028\u2028Third line",
        subject: "abcdefghijkl",
      },
    ]);
    const [shown] = await alice.mentions();
    expect(shown?.hash).toBe(twtHash(FEED_OF_DANA, twts[0] ?? (TWT as never)));
  });

  it("answers a reply by its hash, and a reply of the author", async () => {
    const ownReply = {
      ...TWT,
      timestamp: "2026-11-19T00:00:00Z",
      hashes: ["zzzzzzz", "zzzzzzzzzzzz"],
      page: OTHER_POST,
      replyTo: "abcdefghijkl",
    };
    const alice = site({ pages: { ...PAGES, pages: [...PAGES.pages, OTHER_POST], twts: [TWT, ownReply] } });
    const first = await comment(alice, { text: "One", name: "Dana" });
    await decide(alice, first.json.id, "shown");
    const hash = (await alice.mentions(PAGE))[0]?.hash ?? "";

    const second = await comment(alice, { text: "Two", "reply-to": hash.toUpperCase() }, { signer: EVE });
    await decide(alice, second.json.id, "shown");
    const third = await comment(alice, { text: "Three", "reply-to": "zzzzzzzzzzzz" }, { signer: EVE });
    expect(third.json.state).toBe("shown");
    const texts = (await alice.mentions(PAGE)).map(({ text, replyTo }) => [replyTo, text]);
    expect(texts).toEqual([
      ["zzzzzzzzzzzz", "(#zzzzzzzzzzzz) @<alice https://alice.example/twtxt.txt> Three"],
      [hash, `(#${hash}) @<Dana ${FEED_OF_DANA}> Two`],
      ["abcdefghijkl", "(#abcdefghijkl) @<alice https://alice.example/twtxt.txt> One"],
    ]);
    expect(await own(alice)).toMatchObject([{ text: "One", state: "shown", answers: 1 }]);
    expect(await outcome(comment(alice, { text: "Four", "reply-to": "nonsense" }))).toBe("400 bad-request");
  });

  it("that the site has answered leaves its empty place when it is deleted", async () => {
    const store = memoryStore();
    const before = site({ store });
    const { json } = await comment(before, { text: "One" });
    await decide(before, json.id, "shown");
    const [{ hash } = { hash: "" }] = await before.mentions(PAGE);
    const answer = { ...TWT, timestamp: "2026-11-20T10:00:00Z", hashes: ["zzzzzzz"], page: OTHER_POST, replyTo: hash };
    const alice = site({ store, pages: { ...PAGES, pages: [...PAGES.pages, OTHER_POST], twts: [TWT, answer] } });
    await comment(alice, null, { method: "DELETE", url: `${COMMENTS}/${json.id}` });
    expect(await alice.mentions(PAGE)).toMatchObject([{ isRemoved: true, text: "", hash }]);
  });

  it("answers a reply from a page by its URL: in its own feed, it answers the post", async () => {
    const page = await loopbackServer((_, response) => {
      response.setHeader("content-type", "text/html");
      response.end(`<article class="h-entry"><a class="p-author h-card" href="/">Carol</a>
<a class="u-in-reply-to" href="${PAGE}">This</a><p class="e-content">Mine are medlars.</p></article>`);
    });
    const alice = site({ neighbours: [page] });
    const source = `${page.url}/medlars`;
    expect((await alice.mentioned({ source, target: PAGE })).status).toBe(200);
    const url = `${COMMENTS}?${new URLSearchParams({ target: PAGE, "reply-to": source })}`;
    const asked = await alice.answer(new Request(url, { headers: { accept: "text/html" } }));
    const form = await asked.text();
    expect([asked.status, form]).toEqual([200, expect.stringContaining("<h1>Your reply to Carol</h1>")]);
    expect(form).toContain(`<input name="reply-to" type="hidden" value="${source}">`);

    const { json } = await comment(alice, { text: "Bletted?", "reply-to": source });
    await decide(alice, json.id, "shown");
    const edited = await comment(alice, { text: "Bletted yet?" }, { url: `${COMMENTS}/${json.id}` });
    expect(edited.status).toBe(200);
    const [answer] = await alice.mentions(PAGE);
    expect(answer).toMatchObject({ replyTo: source, text: "(#abcdefghijkl) Bletted yet?" });
    expect((await own(alice))[0]).toMatchObject({ text: "Bletted yet?", replyTo: source });
  });

  it("a page for a reply that is not shown, or a closed post, says so in the language of the post or of the site", async () => {
    const ofSite = { mentions: { comments: { closeAfterDays: 1 } }, lang: "de" };
    const french = { ...PAGES, twts: [{ ...TWT, lang: "fr" }] };
    const url = `${COMMENTS}?${new URLSearchParams({ target: PAGE, "reply-to": "abcdefghijkl" })}`;
    for (const [pages, parts] of [
      [PAGES, ['<html lang="de">', "Die Kommentare sind geschlossen.", "Dein Kommentar wurde nicht"]],
      [french, ['<html lang="fr">', "Les commentaires sont fermés.", "Votre commentaire n’a pas été"]],
    ] as const) {
      const alice = site({ ...ofSite, pages });
      const answer = await alice.answer(new Request(url, { headers: { accept: "text/html" } }));
      const text = await answer.text();
      expect(answer.status).toBe(403);
      for (const part of parts) expect(text).toContain(part);
    }
  });

  it("a page in another language says so in that language for a reply that is gone, and for what cannot be sent", async () => {
    const alice = site({ lang: "de" });
    const url = `${COMMENTS}?${new URLSearchParams({ target: PAGE, "reply-to": "aaaaaaaaaaaa" })}`;
    const gone = await alice.answer(new Request(url, { headers: { accept: "text/html" } }));
    expect([gone.status, await gone.text()]).toEqual([400, expect.stringContaining("ist nicht mehr da.</p>")]);
    const wrong = await comment(alice, { text: "Hallo", site: "ftp://x" }, { isForm: true });
    expect(wrong.text).toContain("<p>Prüfe deine Eingaben: ");
    expect(wrong.text).not.toMatch(/lang="en"|The web site/);
  });

  it("303: a form without JavaScript is unsigned, held, and answered by the post", async () => {
    const alice = site();
    const { status, headers } = await comment(alice, { text: "By hand", name: "Dana" }, { isForm: true });
    expect([status, headers.get("location")]).toEqual([303, `${PAGE}#twtxt-comment-held`]);
    const [held] = await managed(alice, "held");
    expect(held).toMatchObject({ author: { name: "Dana", guest: true } });
    expect(held?.author.url).toMatch(/^https:\/\/alice\.example\/guests\/anon-[0-9a-f]{16}\.txt$/);
    await decide(alice, held?.id, "shown");
    expect((await feed(alice, held?.author.url)).text).toContain("By hand");
    expect((await comment(alice, { text: "By hand again", name: "Dana" }, { isForm: true })).status).toBe(303);
    expect(await managed(alice, "held")).toHaveLength(1);
  });

  it("400 for a form: the page keeps what was typed, in the site's layout", async () => {
    const endpointPage = '<title>Alice</title><div class="twtxt-answer"></div>';
    const alice = site({ pages: { ...PAGES, endpointPage } });
    const typed = { text: "<b>\nlong & winding", name: 'D"ana', site: "ftp://x" };
    const { status, text, headers } = await comment(alice, typed, { isForm: true });
    expect([status, headers.get("content-type")]).toEqual([400, "text/html; charset=utf-8"]);
    expect(text).toContain("<title>Alice</title>");
    expect(text).toContain("\n&lt;b&gt;\nlong &amp; winding</textarea>");
    for (const value of ["D&quot;ana", "ftp://x", PAGE]) expect(text).toContain(`value="${value}"`);
    expect(await managed(alice, "held")).toEqual([]);
  });

  it.each([
    ["404 not-found", "a page that is no post", { target: "https://alice.example/" }],
    ["404 not-found", "another site", { target: "https://bob.example/" }],
    ["404 not-found", "no target", { target: "" }],
    ["400 bad-request", "an empty text", { text: " \u200b\n" }],
    ["400 bad-request", "2,001 characters", { text: "🍐".repeat(2001) }],
    ["400 bad-request", "a site that is no web site", { site: "javascript:alert(1)" }],
    ["400 bad-request", "a filled hidden field", { subject: "buy" }],
    ["400 bad-request", "less than two seconds after the page was opened", { seconds: "1.9" }],
    ["400 bad-request", "a number", { text: 1 as unknown as string }],
  ])("%s: %s", async (expected, _, fields) => {
    const alice = site();
    expect(await outcome(comment(alice, { text: "Hello", ...fields }))).toBe(expected);
    expect(await outcome(comment(alice, { text: "Hello", ...fields }, { signer: null }))).toBe(expected);
    expect(await managed(alice, "held")).toEqual([]);
  });

  it("2,000 characters fit, and a name is cut at 60", async () => {
    const alice = site();
    await comment(alice, { text: "🍐".repeat(2000), name: "x".repeat(61) });
    expect((await own(alice))[0]).toMatchObject({ text: "🍐".repeat(2000), name: "x".repeat(60) });
  });

  it("403 comments-closed: by front matter, and after a number of days", async () => {
    const closed = site({ pages: { ...PAGES, closed: [PAGE] } });
    expect(await outcome(comment(closed, { text: "Hello" }))).toBe("403 comments-closed");
    const old = site({ mentions: { comments: { closeAfterDays: 30 } } });
    expect(await outcome(comment(old, { text: "Hello" }))).toBe("403 comments-closed");
    const open = site({ mentions: { comments: { closeAfterDays: 60 } } });
    expect(await outcome(comment(open, { text: "Hello" }))).toBe("202 held");
  });

  it("409 same-comment: the same words again, signed or not", async () => {
    const alice = site();
    for (const signer of [DANA, null]) {
      expect(await outcome(comment(alice, { text: "Again" }, { signer }))).toBe("202 held");
      expect(await outcome(comment(alice, { text: "Again" }, { signer }))).toBe("409 same-comment");
    }
    expect(await managed(alice, "held")).toHaveLength(2);
  });

  it("two comments of one second have different times", async () => {
    const alice = site();
    await Promise.all(["One", "Two", "Three"].map((text) => comment(alice, { text })));
    expect((await own(alice)).map(({ published }) => published)).toEqual([
      "2026-11-20T09:00:00Z",
      "2026-11-20T09:00:01Z",
      "2026-11-20T09:00:02Z",
    ]);
  });

  it("two comments of one second that two processes take are both kept, with different times", async () => {
    const store = memoryStore();
    const answers = [site({ store }), site({ store })].map((alice, n) => comment(alice, { text: `Process ${n}` }));
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([202, 202]);
    const kept = await own(site({ store }));
    expect(kept.map(({ text }) => text).sort()).toEqual(["Process 0", "Process 1"]);
    expect(kept.map(({ published }) => published).sort()).toEqual(["2026-11-20T09:00:00Z", "2026-11-20T09:00:01Z"]);
  });

  it("tells the author and purges the CDN", async () => {
    const alice = site();
    const { json } = await comment(alice, { text: "Hello" });
    expect(alice.log.at(-1)).toContain("It waits for your approval");
    alice.purged.length = 0;
    await decide(alice, json.id, "shown");
    expect(alice.purged).toEqual(["twtxt-mentions"]);
  });
});

describe("a trusted reader", () => {
  it("is shown at once after one approved comment, unless there are three links, or a source or word of block", async () => {
    const alice = site({ mentions: { block: ["spam.example", "casino"] } });
    const { json } = await comment(alice, { text: "First" });
    expect(await outcome(comment(alice, { text: "Too early" }))).toBe("202 held");
    await decide(alice, json.id, "shown");
    expect(await outcome(comment(alice, { text: "Second https://a.example www.b.example" }))).toBe("202 shown");
    expect(await outcome(comment(alice, { text: "https://a.example https://b.example www.c.example" }))).toBe(
      "202 held",
    );
    expect(await outcome(comment(alice, { text: "see https://www.spam.example/x." }))).toBe("202 held");
    expect(await outcome(comment(alice, { text: "My site", site: "https://spam.example/" }))).toBe("202 held");
    expect(await outcome(comment(alice, { text: "See spam.example." }))).toBe("202 held");
    expect(await outcome(comment(alice, { text: "Casinos have no (casino)" }))).toBe("202 held");
    expect(await outcome(comment(alice, { text: "Mallory" }, { signer: EVE }))).toBe("202 held");
    expect(await outcome(comment(alice, { text: "Unsigned" }, { signer: null }))).toBe("202 held");
  });

  it("is never trusted with trust: 0 or moderate: true, and later with trust: 2", async () => {
    for (const mentions of [{ comments: { trust: 0 } }, { moderate: true }]) {
      const never = site({ mentions });
      await decide(never, (await comment(never, { text: "First" })).json.id, "shown");
      expect(await outcome(comment(never, { text: "Second" }))).toBe("202 held");
    }
    const later = site({ mentions: { comments: { trust: 2 } } });
    await decide(later, (await comment(later, { text: "First" })).json.id, "shown");
    const second = await comment(later, { text: "Second" });
    expect(second.json.state).toBe("held");
    await decide(later, second.json.id, "shown");
    expect(await outcome(comment(later, { text: "Third" }))).toBe("202 shown");
  });

  it("400 blocked: a guest whose feed the author blocks", async () => {
    const alice = site({ mentions: { block: [FEED_OF_DANA] } });
    expect(await outcome(comment(alice, { text: "Hello" }))).toBe("400 blocked");
    expect(await outcome(comment(alice, { text: "Hello" }, { signer: EVE }))).toBe("202 held");
  });
});

describe("a guest whom the author rejects", () => {
  it("400 blocked: after three rejected comments and no approved one, until one is approved", async () => {
    const alice = site();
    const sent = [];
    for (const text of ["One", "Two", "Three"]) sent.push(await comment(alice, { text }));
    await decide(alice, sent[0]?.json.id, "rejected");
    await decide(alice, sent[1]?.json.id, "rejected");
    expect(await outcome(comment(alice, { text: "Four" }))).toBe("202 held");
    await decide(alice, sent[2]?.json.id, "rejected");
    expect(await outcome(comment(alice, { text: "Five" }))).toBe("400 blocked");
    await decide(alice, sent[0]?.json.id, "shown");
    expect(await outcome(comment(alice, { text: "Six" }))).toBe("202 shown");
  });
});

describe("a guest whom the author blocks", () => {
  const block = async (alice: Receiver, state: "rejected" | "held") => {
    const url = `https://alice.example/api/v1/mentions?source=${encodeURIComponent(FEED_OF_DANA)}`;
    const sent = { method: "POST" as const, url, signer: ALICE };
    return (await comment(alice, { state }, sent)).json;
  };

  it("400 blocked: for good, also after an approval, in other processes within a minute, until it is undone", async () => {
    const store = memoryStore();
    const alice = site({ store });
    await decide(alice, (await comment(alice, { text: "One" })).json.id, "shown");
    const other = site({ store });
    expect(await outcome(comment(other, { text: "Two" }))).toBe("202 shown");
    expect(await block(alice, "rejected")).toEqual({ rejected: 2 });
    expect(await outcome(comment(alice, { text: "Three" }))).toBe("400 blocked");
    other.clock.time += 61_000;
    expect(await outcome(comment(other, { text: "Three" }))).toBe("400 blocked");
    const [first] = await managed(alice, "rejected");
    expect(await outcome(comment(alice, { text: "Edited" }, { url: `${COMMENTS}/${first?.id}` }))).toBe("200 rejected");
    expect(await outcome(comment(alice, { text: "Three" }, { signer: EVE }))).toBe("202 held");
    await block(alice, "held");
    expect(await outcome(comment(alice, { text: "Four" }))).toBe("202 held");
  });
});

describe("a guest's own comments", () => {
  const at = (id: string | undefined) => `${COMMENTS}/${id}`;

  it("200: an edit keeps place and time, and is held again unless trusted", async () => {
    const alice = site({ mentions: { comments: { trust: 2 } } });
    const { json } = await comment(alice, { text: "Frist", name: "Dana" });
    await decide(alice, json.id, "shown");
    const [before] = await alice.mentions(PAGE);
    alice.clock.time += 60_000;
    const edited = await comment(alice, { text: "First", name: "D." }, { url: at(json.id) });
    expect([edited.status, edited.json]).toEqual([200, { id: json.id, guest: DANA.publicKey, state: "held" }]);
    expect(await alice.mentions(PAGE)).toEqual([]);
    await decide(alice, json.id, "shown");
    const [after] = await alice.mentions(PAGE);
    expect(after).toMatchObject({
      source: before?.source,
      replyTo: "abcdefghijkl",
      html: "<p>First</p>",
      author: { name: "D." },
    });
    expect(after?.former).toContain(before?.hash);
    const atom = await alice.answer(new Request("https://alice.example/mentions.atom"));
    expect(await atom.text()).toContain("<updated>2026-11-20T09:01:00.000Z</updated>");
  });

  it("200: an edit by a trusted reader stays shown; a held or rejected comment stays as it is", async () => {
    const alice = site();
    const { json } = await comment(alice, { text: "First" });
    await decide(alice, json.id, "shown");
    expect(await outcome(comment(alice, { text: "First!" }, { url: at(json.id) }))).toBe("200 shown");
    const other = await comment(alice, { text: "Links: https://a.example https://b.example https://c.example" });
    await decide(alice, other.json.id, "rejected");
    expect(await outcome(comment(alice, { text: "No links" }, { url: at(other.json.id) }))).toBe("200 rejected");
  });

  it("200: a deletion removes the words for good, from the store too, and keeps the place of an answered one", async () => {
    const alice = site();
    const { json } = await comment(alice, { text: "A regrettable sentence", name: "Dana" });
    await decide(alice, json.id, "shown");
    const hash = (await alice.mentions(PAGE))[0]?.hash ?? "";
    await decide(alice, (await comment(alice, { text: "Well", "reply-to": hash }, { signer: EVE })).json.id, "shown");
    expect((await comment(alice, null, { method: "DELETE", url: at(json.id) })).status).toBe(200);
    expect(await alice.mentions(PAGE)).toMatchObject([{ html: "<p>Well</p>" }, { text: "", isRemoved: true }]);
    expect(await own(alice)).toEqual([]);
    expect((await feed(alice)).status).toBe(404);
    await alice.services.runScheduled();
    const stored = await Promise.all((await alice.store.keys("")).map(async (key) => alice.store.get(key)));
    expect(Buffer.concat(stored.map((one) => one?.bytes ?? Buffer.alloc(0))).includes("regrettable")).toBe(false);
    expect((await comment(alice, null, { method: "DELETE", url: at(json.id) })).status).toBe(404);
  });

  it("200: a rejected comment can be deleted, too", async () => {
    const alice = site();
    const { json } = await comment(alice, { text: "Spam" });
    await decide(alice, json.id, "rejected");
    expect((await comment(alice, null, { method: "DELETE", url: at(json.id) })).status).toBe(200);
    expect(await managed(alice, "rejected")).toEqual([]);
  });

  it("403 not-allowed: another guest edits, deletes or lists them; the author is another guest, too", async () => {
    const alice = site();
    const { json } = await comment(alice, { text: "Mine" });
    for (const signer of [EVE, ALICE]) {
      expect(await outcome(comment(alice, { text: "Yours" }, { url: at(json.id), signer }))).toBe("403 not-allowed");
      expect(await outcome(comment(alice, null, { method: "DELETE", url: at(json.id), signer }))).toBe(
        "403 not-allowed",
      );
      const url = `${COMMENTS}?guest=${DANA.publicKey}`;
      expect(await outcome(comment(alice, null, { method: "GET", url, signer }))).toBe("403 not-allowed");
    }
    expect(await own(alice)).toMatchObject([{ text: "Mine" }]);
  });

  it("401 not-signed: without a signature, with a forged one, and for a replayed request", async () => {
    const alice = site();
    const { json } = await comment(alice, { text: "Mine" });
    for (const method of ["POST", "DELETE"] as const) {
      const fields = method === "POST" ? { text: "Yours" } : null;
      expect(await outcome(comment(alice, fields, { method, url: at(json.id), signer: null }))).toBe("401 not-signed");
    }
    const forged = commentRequest(alice, { target: PAGE, text: "Forged" })();
    const body = JSON.stringify({ target: PAGE, text: "Another text" });
    const changed = new Request(COMMENTS, { method: "POST", headers: forged.headers, body });
    expect((await alice.answer(changed)).status).toBe(401);
    const edit = commentRequest(alice, { text: "Edited" }, { url: at(json.id) });
    expect((await alice.answer(edit())).status).toBe(200);
    await comment(alice, { text: "Edited again" }, { url: at(json.id) });
    alice.clock.time += 1000;
    expect((await alice.answer(edit())).status).toBe(401);
    alice.clock.time += 600_000;
    expect((await alice.answer(edit())).status).toBe(401);
    expect(await own(alice)).toMatchObject([{ text: "Edited again" }]);
  });

  it("404 not-found: unknown ids, and mentions that are no comments", async () => {
    const alice = site();
    expect(await outcome(comment(alice, { text: "x" }, { url: at("0".repeat(32)) }))).toBe("404 not-found");
    expect(await outcome(comment(alice, null, { method: "DELETE", url: at("%00") }))).toBe("404 not-found");
  });
});

describe("the limits of comments", () => {
  it("429 too-many-comments: a network's tenth of a day, then everyone's day; the next day is a new one", async () => {
    const alice = site({ mentions: { comments: { perDay: 30 } } });
    const send = (n: number, address: string) =>
      outcome(comment(alice, { text: `Text ${n}` }, { signer: null, address }));
    for (let n = 0; n < 3; n += 1) expect(await send(n, "192.0.2.1")).toBe("202 held");
    expect(await send(3, "192.0.2.1")).toBe("429 too-many-comments");
    for (let n = 3; n < 30; n += 1) expect(await send(n, `192.0.2.${n}`)).toBe("202 held");
    expect(await send(30, "192.0.2.200")).toBe("429 too-many-comments");
    alice.clock.time += 86_400_000;
    expect(await send(31, "192.0.2.1")).toBe("202 held");
    await alice.services.runScheduled();
    const records = await alice.store.keys("comments");
    expect(records.filter((key) => !key.includes("2026-11-21"))).toEqual([]);
    expect(records.join()).not.toContain("192.0.2");
  });

  it("429: many at once count each other", async () => {
    const alice = site();
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => comment(alice, { text: `Text ${n}` }, { signer: null })),
    );
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(10);
  });

  it("429: many at once count each other in all processes of a site, and none takes more than its share of the day", async () => {
    const store = memoryStore();
    const processes = Array.from({ length: 12 }, () => site({ store }));
    const send = (text: string) =>
      Promise.all(processes.map((alice, n) => outcome(comment(alice, { text: `${text} ${n}` }, { signer: null }))));
    const outcomes = [...(await send("First")), ...(await send("Second"))];
    expect(new Set(outcomes)).toEqual(new Set(["202 held", "429 too-many-comments"]));
    expect((await managed(site({ store }), "held")).length).toBeLessThanOrEqual(10);
  });

  it("a flood from 30 addresses leaves the author a day's number of comments, in two mails that quote fifty, and what is refused stores nothing", async () => {
    const box = await mailbox();
    const environment = {
      TWTXT_SMTP_URL: `smtp://${box.host}:${box.port}?from=blog@alice.example`,
      TWTXT_MAIL_TO: "alice@alice.example",
    };
    const alice = site({ environment, mentions: { comments: { perDay: 60 } } });
    const answers: string[] = [];
    for (let n = 0; n < 120; n += 1) {
      const sent = { signer: null, address: `192.0.2.${n % 30}` };
      answers.push(await outcome(comment(alice, { text: `${n} ${"spam ".repeat(390)}` }, sent)));
    }
    expect(answers.slice(0, 60)).toEqual(Array(60).fill("202 held"));
    expect(answers.slice(60)).toEqual(Array(60).fill("429 too-many-comments"));
    // Of each stored one, the event and its records for the network and for all.
    const keys = await alice.store.keys("");
    expect(keys.filter((key) => key.startsWith("comments/") || key.includes("/events/"))).toHaveLength(180);
    await alice.settled();
    alice.clock.time += 86_400_000;
    await alice.services.runScheduled();
    await alice.settled();
    const subjects = box.mails.map(({ headers }) => headers.subject);
    expect(subjects).toEqual(["1 new mention of alice.example", "59 new mentions of alice.example"]);
    expect(box.mails[1]?.text.match(/^> /gm)).toHaveLength(50);
    expect(box.mails[1]?.text.length).toBeLessThan(50_000);
  });

  it("429: too many are held; a trusted reader still gets through", async () => {
    const alice = site({ mentions: { comments: { held: 3 } } });
    await decide(alice, (await comment(alice, { text: "Trust me" })).json.id, "shown");
    for (let n = 0; n < 3; n += 1) {
      expect(await outcome(comment(alice, { text: `Text ${n}` }, { signer: null, address: `192.0.2.${n}` }))).toBe(
        "202 held",
      );
    }
    expect(await outcome(comment(alice, { text: "Fourth" }, { signer: EVE }))).toBe("429 too-many-pending");
    expect(await outcome(comment(alice, { text: "Trusted" }))).toBe("202 shown");
  });

  it("edits count, too", async () => {
    const alice = site();
    const { json } = await comment(alice, { text: "Text" });
    const edits: string[] = [];
    for (let n = 0; n < 10; n += 1) {
      alice.clock.time += 1000;
      edits.push(await outcome(comment(alice, { text: `Text ${n}` }, { url: `${COMMENTS}/${json.id}` })));
    }
    expect(edits).toEqual([...Array(9).fill("200 held"), "429 too-many-comments"]);
  });

  it("refused comments store nothing", async () => {
    const alice = site({ mentions: { comments: { perDay: 10 } } });
    await comment(alice, { text: "Text" }, { signer: null });
    const before = (await alice.store.keys("")).length;
    for (let n = 0; n < 50; n += 1) await comment(alice, { text: `Text ${n}` }, { signer: n % 2 ? DANA : null });
    expect(await alice.store.keys("")).toHaveLength(before);
  });
});

describe("a site that dies while it takes a comment", () => {
  it("keeps each comment that it has acknowledged, and takes another one at the next attempt", async () => {
    for (const signer of [DANA, null]) {
      for (let calls = 0; calls < 16; calls += 1) {
        const disk = memoryStore();
        const { status } = await comment(site({ store: dyingStore(disk, calls) }), { text: "Hello" }, { signer });
        const alice = site({ store: disk });
        if (status === 202) expect(await managed(alice, "held")).toHaveLength(1);
        else expect([202, 409]).toContain((await comment(alice, { text: "Hello" }, { signer })).status);
        const kept = await managed(alice, "held");
        expect(kept.map(({ text }) => text.replace(/.* /, ""))).toContain("Hello");
        // Nobody can tell an unsigned repeat that was not counted yet.
        expect(kept.length).toBeLessThanOrEqual(signer ? 1 : 2);
      }
    }
  });
});

describe("hostile comments", () => {
  it("are stored as words in one line of a feed, and as safe HTML", async () => {
    const alice = site({ mentions: { comments: { perDay: 10_000, held: 10_000 } } });
    let count = 0;
    for (const text of SOME_HOSTILE_TEXTS) {
      let answer = await comment(alice, { text, name: text, site: `https://dana.example/${text}` });
      if (answer.status === 400) answer = await comment(alice, { text, name: text, site: "dana.example" });
      const { status, json } = answer;
      // Nothing visible is left, or the same words as before.
      if (status === 400 || status === 409) continue;
      expect(status).toBe(202);
      await decide(alice, json.id, "shown");
      count += 1;
    }
    expect(count).toBeGreaterThan(SOME_HOSTILE_TEXTS.length / 2);
    const { text, status } = await feed(alice);
    const { twts, skippedLines } = parseFeed(text);
    expect([status, twts.length, skippedLines]).toEqual([200, count, 0]);
    for (const twt of twts) expect(twt.subject).toBe("abcdefghijkl");
    const shown = await alice.mentions(PAGE);
    for (const { html, hash, author } of shown) {
      expect(html).not.toMatch(/<(?!\/?(?:p|a|code|em|strong|br)\b)/);
      expect(author.page).toMatch(/^https:\/\/dana\.example\/[!#-;=?-~]*$/);
      expect(author.name).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b\n]/);
      expect(twts.some((twt) => twtHash(FEED_OF_DANA, twt) === hash)).toBe(true);
    }
  });

  it("are no web sites, or sites on the web", () => {
    for (const typed of HOSTILE_TEXTS) expect(toSiteUrl(typed) ?? "https://").toMatch(/^https?:\/\/[!#-;=?-~]*$/);
  });

  it("a guest with the author's name stays a guest", async () => {
    const alice = site();
    const { json } = await comment(alice, { text: "I am Alice", name: "alice\u202e", site: "https://alice.example/" });
    await decide(alice, json.id, "shown");
    expect((await alice.mentions())[0]?.author).toMatchObject({ name: "alice", guest: true });
  });
});

describe("a site without the option", () => {
  it("has no such endpoint", async () => {
    for (const alice of [receiver({ key: ALICE.publicKey }), receiver({ mentions: { comments: true } })]) {
      expect((await comment(alice, { text: "Hello" })).status).toBe(404);
      expect((await feed(alice)).status).toBe(404);
      expect(alice.services.endpointAt("/comments")).toBe(null);
    }
  });
});
