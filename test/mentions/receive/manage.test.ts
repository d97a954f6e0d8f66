import { hash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { signRequest } from "../../../plugin/http/sign-request.js";
import type { Identity } from "../../../plugin/keys/identity.js";
import { JsonTexts, packBlock } from "../../../plugin/mentions/receive/json-texts.js";
import type { ManagedMention } from "../../../plugin/mentions/receive/managed-mention.js";
import { readWebmentionExport } from "../../../plugin/mentions/receive/webmention-io.js";
import { identityOf } from "../../helpers/identity.js";
import { loopbackServer } from "../../helpers/loopback.js";
import {
  FEED,
  feedServer,
  PAGE,
  PAGES,
  type Receiver,
  type ReceiverOptions,
  receiver,
} from "../../helpers/receiver.js";

const API = "https://alice.example/api/v1/mentions";
const AT = "2026-11-19T18:40:02Z";
/** A mention that another service has received. */
const EXPORTED = {
  ...{ source: "https://gone.example/1", target: PAGE, type: "mention", text: "Quite so.", published: null },
  author: { name: "Bob", url: "https://gone.example/", photo: null },
  received: "2024-03-02T09:05:00Z",
};
const HELLO = `@<alice ${FEED}> hello`;

const ALICE = identityOf(1);
const EVE = identityOf(2);

/** Alice's site, and Alice at her terminal. */
function managed(options: ReceiverOptions = {}) {
  const alice = receiver({ key: ALICE.publicKey, ...options });
  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    signer: Identity | null = ALICE,
    conditions: Record<string, string> = {},
  ) => {
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const request = { method, url: API + path, headers: conditions, ...(bytes && { body: bytes }) };
    const headers = signer ? signRequest(request, signer, alice.clock.time) : {};
    const response = await alice.answer(new Request(request.url, { method, headers, ...(bytes && { body: bytes }) }));
    return { status: response.status, json: Object(await response.json()) };
  };
  const list = async (state: string) => (await ask("GET", `?state=${state}`)).json.mentions as ManagedMention[];
  const decide = (mention: ManagedMention | undefined, state: string) =>
    ask("POST", `/${mention?.id}`, { state }, ALICE, { "if-match": `"${mention?.version}"` });
  return { ...alice, ask, list, decide };
}

async function withMentions(options: ReceiverOptions = {}, count = 2) {
  const times = Array.from({ length: count }, (_, n) => AT.replace("02Z", `${String(n + 10)}Z`));
  const bob = await feedServer(Object.fromEntries(times.map((time) => [time, HELLO])));
  const alice = managed({ neighbours: [bob], ...options });
  for (const time of times) {
    await alice.mentioned({ source: bob.twt(time), target: FEED });
    alice.clock.time += 1000;
  }
  return { alice, bob, times };
}

describe("managing mentions", () => {
  it("401 and 403: every request needs the author's key", async () => {
    const { alice } = await withMentions();
    for (const [method, path, body] of [
      ["GET", ""],
      ["DELETE", "?source=bob.example"],
      ["POST", "?source=bob.example", { state: "rejected" }],
      ["POST", "/verify", {}],
      ["POST", "/import", { mentions: [] }],
    ] as const) {
      expect((await alice.ask(method, path, body, null)).status).toBe(401);
      expect((await alice.ask(method, path, body, EVE)).status).toBe(403);
    }
    expect(await alice.mentions()).toHaveLength(2);
  });

  it("403: no key is configured", async () => {
    const nobody = receiver();
    const headers = signRequest({ method: "GET", url: API }, ALICE, nobody.clock.time);
    expect((await nobody.answer(new Request(API, { headers }))).status).toBe(403);
  });

  it("200: names the page that a mention is about by its title, before and after a decision", async () => {
    const bob = await feedServer({ [AT]: `Ripe: ${PAGE}` });
    const pages = { ...PAGES, titles: { [PAGE]: "Quinces" } };
    const alice = managed({ neighbours: [bob], pages });
    bob.status = 500;
    await alice.mentioned({ source: bob.twt(AT), target: PAGE });
    expect(await alice.list("pending")).toMatchObject([{ type: null, title: "Quinces" }]);
    bob.status = 200;
    await alice.ask("POST", "/verify");
    const [shown] = await alice.list("shown");
    expect(shown).toMatchObject({ type: "mention", title: "Quinces" });
    expect((await alice.decide(shown, "held")).json).toMatchObject({ state: "held", title: "Quinces" });
  });

  it("200: finds mentions in all states by the start of their ids", async () => {
    const { alice, bob } = await withMentions();
    const [newest, oldest] = await alice.list("shown");
    await alice.decide(oldest, "rejected");
    bob.status = 500;
    await alice.mentioned({ source: bob.twt("2026-11-19T18:41:00Z"), target: FEED });
    const [pending] = await alice.list("pending");
    for (const mention of [newest, { ...oldest, state: "rejected" }, pending]) {
      const start = String(mention?.id).slice(0, 8);
      const found = (await alice.ask("GET", `?id=${start}`)).json;
      expect(found).toMatchObject({ mentions: [{ id: mention?.id, state: mention?.state }], next: null, count: 1 });
    }
    await alice.ask("DELETE", `/${newest?.id}`);
    expect((await alice.ask("GET", `?id=${newest?.id}`)).json).toMatchObject({ mentions: [], count: 0 });
  });

  it("200: rejects what a source has sent and is shown or held, and nothing of others", async () => {
    const { alice, bob } = await withMentions({ mentions: { limits: { shownPerHost: 1 } } });
    expect((await alice.ask("POST", "?source=carol.example", { state: "rejected" })).json).toEqual({ rejected: 0 });
    const { hostname } = new URL(bob.feedUrl);
    expect((await alice.ask("POST", `?source=${hostname}`, { state: "rejected" })).json).toEqual({ rejected: 2 });
    expect([await alice.list("shown"), await alice.list("held")]).toEqual([[], []]);
    expect(await alice.list("rejected")).toHaveLength(2);
    expect((await alice.ask("POST", `?source=${hostname}`, { state: "rejected" })).json).toEqual({ rejected: 0 });
  });

  it("200: lists each state, a page at a time", async () => {
    const { alice, bob, times } = await withMentions({ mentions: { limits: { shownPerHost: 2 } } }, 3);
    bob.status = 500;
    await alice.mentioned({ source: bob.twt("2026-11-19T18:41:00Z"), target: FEED });

    expect(await alice.list("shown")).toMatchObject([
      { source: bob.twt(times[1] ?? "") },
      { source: bob.twt(times[0] ?? "") },
    ]);
    expect(await alice.list("held")).toMatchObject([{ source: bob.twt(times[2] ?? ""), state: "held", text: HELLO }]);
    expect(await alice.list("pending")).toMatchObject([
      { source: bob.twt("2026-11-19T18:41:00Z"), target: FEED, text: null },
    ]);
    expect(await alice.list("rejected")).toEqual([]);

    const first = (await alice.ask("GET", "?limit=1")).json;
    const second = (await alice.ask("GET", `?limit=1&after=${encodeURIComponent(first.next)}`)).json;
    expect([first.mentions[0].source, second.mentions[0].source]).toEqual([
      bob.twt(times[1] ?? ""),
      bob.twt(times[0] ?? ""),
    ]);
    expect(second.next).toBeNull();
  });

  it("200: lists pending mentions a page at a time, newest first", async () => {
    const { alice, bob } = await withMentions({}, 0);
    bob.status = 500;
    const sources = ["10", "11", "12", "13", "14"].map((second) => bob.twt(`2026-11-19T18:41:${second}Z`));
    for (const [n, source] of sources.entries()) {
      // Two mentions in the same millisecond.
      if (n !== 2) alice.clock.time += 1000;
      await alice.mentioned({ source, target: FEED });
    }
    const pages: string[][] = [];
    for (let after: string | null = ""; after !== null; ) {
      const { status, json } = await alice.ask("GET", `?state=pending&limit=2${after}`);
      expect(status).toBe(200);
      pages.push(json.mentions.map(({ source }: ManagedMention) => source));
      after = json.next && `&after=${encodeURIComponent(json.next)}`;
    }
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
    const [fifth, fourth, ...others] = pages.flat();
    expect([fifth, fourth, others.pop()]).toEqual([sources[4], sources[3], sources[0]]);
    expect(new Set(others)).toEqual(new Set([sources[1], sources[2]]));
    expect(await alice.ask("GET", "?state=pending&after=x")).toMatchObject({ status: 400 });
  });

  it.each(["?state=new", "?limit=0", "?limit=2001", "?limit=x", "?colour=red", "?state=shown&state=held", "?after=x"])(
    "400: GET %s",
    async (query) => {
      expect(await managed().ask("GET", query)).toMatchObject({ status: 400, json: { code: "bad-request" } });
    },
  );

  it("200: an approved and a rejected mention keep their state when they are sent again", async () => {
    const { alice, bob, times } = await withMentions({ mentions: { moderate: true } }, 2);
    const [newer, older] = await alice.list("held");
    expect(await alice.decide(newer, "shown")).toMatchObject({
      status: 200,
      json: { state: "shown", version: newer?.version },
    });
    expect(await alice.decide(older, "rejected")).toMatchObject({ status: 200 });
    expect(await alice.mentions()).toMatchObject([{ source: newer?.source }]);
    expect(await alice.mentioned({ source: bob.twt(times[0] ?? ""), target: FEED })).toMatchObject({ status: 200 });
    expect(await alice.mentions()).toHaveLength(1);
    expect(alice.purged.length).toBeGreaterThanOrEqual(4);
  });

  it("200: a reversed decision holds the mention again", async () => {
    const { alice } = await withMentions({ mentions: { moderate: true } }, 1);
    const [held] = await alice.list("held");
    for (const state of ["shown", "rejected"]) {
      expect(await alice.decide(held, state)).toMatchObject({ status: 200, json: { state } });
      expect(await alice.decide(held, "held")).toMatchObject({ status: 200, json: { state: "held" } });
      expect(await alice.list("held")).toEqual([held]);
    }
    expect(await alice.mentions()).toEqual([]);
  });

  it("412: the mention changed after it was listed", async () => {
    const { alice, bob, times } = await withMentions({ mentions: { moderate: true } }, 1);
    const [listed] = await alice.list("held");
    bob.twts = { [times[0] ?? ""]: `${HELLO}, and other words` };
    await alice.mentioned({ source: bob.twt(times[0] ?? ""), target: FEED });

    expect(await alice.decide(listed, "shown")).toMatchObject({ status: 412, json: { code: "precondition-failed" } });
    expect(await alice.mentions()).toEqual([]);
    const [now] = await alice.list("held");
    expect(now?.version).not.toBe(listed?.version);
    expect(await alice.decide(now, "shown")).toMatchObject({ status: 200 });
    expect(await alice.mentions()).toMatchObject([{ text: `${HELLO}, and other words` }]);
  });

  it("428: a decision has no version where each mention needs approval", async () => {
    const { alice } = await withMentions({ mentions: { moderate: true } }, 1);
    const [held] = await alice.list("held");
    for (const conditions of [{}, { "if-match": "*" }]) {
      expect(await alice.ask("POST", `/${held?.id}`, { state: "shown" }, ALICE, conditions)).toMatchObject({
        status: 428,
        json: { code: "precondition-required" },
      });
    }
    expect(await alice.mentions()).toEqual([]);
  });

  it.each([
    ["400", "POST", "/x", { state: "pending" }, 400],
    ["400", "POST", "/x", { state: "shown", more: 1 }, 400],
    ["404", "POST", "/x", { state: "shown" }, 404],
    ["404", "DELETE", "/x", undefined, 404],
    ["405", "PUT", "/x", {}, 405],
    ["405", "GET", "/verify", undefined, 405],
    ["405", "PUT", "", {}, 405],
    ["400", "DELETE", "", undefined, 400],
  ])("%s: %s %s %j", async (_, method, path, body, status) => {
    const { alice } = await withMentions();
    expect((await alice.ask(method, path, body)).status).toBe(status);
    expect(await alice.mentions()).toHaveLength(2);
  });

  it("200: one mention is forgotten, or all from a source, including pending ones", async () => {
    const { alice, bob } = await withMentions({}, 3);
    const [{ id = "" } = {}] = await alice.list("shown");
    expect(await alice.ask("DELETE", `/${id}`)).toMatchObject({ status: 200, json: { forgotten: 1 } });
    expect(await alice.mentions()).toHaveLength(2);

    bob.status = 500;
    await alice.mentioned({ source: bob.twt("2026-11-19T18:41:00Z"), target: FEED });
    const source = encodeURIComponent(bob.feedUrl);
    expect(await alice.ask("DELETE", `?source=${encodeURIComponent("https://carol.example/tw.txt")}`)).toMatchObject({
      json: { forgotten: 0 },
    });
    expect(await alice.ask("DELETE", `?source=${source}`)).toMatchObject({ json: { forgotten: 3 } });
    expect([await alice.mentions(), await alice.list("pending")]).toEqual([[], []]);
  });

  it("200: forgetting a host does not forget the mentions it redirected to", async () => {
    const bob = await feedServer({ [AT]: HELLO });
    const eve = await loopbackServer((_, response) => response.writeHead(302, { location: bob.feedUrl }).end());
    const site = managed({ neighbours: [bob, eve] });
    await site.mentioned({ source: `${eve.url}/r#:~:text=${AT}`, target: FEED });
    expect(await site.mentions()).toMatchObject([{ source: bob.twt(AT) }]);

    expect(await site.ask("DELETE", `?source=${encodeURIComponent(eve.host)}`)).toMatchObject({
      json: { forgotten: 0 },
    });
    expect(await site.mentions()).toHaveLength(1);
  });

  it("200: pending mentions are verified even if the daily limit is used up", async () => {
    const { alice, bob } = await withMentions({}, 0);
    bob.twts = { [AT]: HELLO };
    const spent = JSON.stringify({ day: "2026-11-20", parties: { all: 1_000_000 }, slow: {} });
    await alice.store.put("mentions/limits", Buffer.from(spent));
    expect(await alice.mentioned({ source: bob.twt(AT), target: FEED })).toMatchObject({ status: 202 });
    expect(bob.requests).toEqual([]);
    expect((await alice.ask("POST", "/verify")).json).toEqual({ kept: 1, dropped: 0, waiting: 0 });
    expect(await alice.mentions()).toMatchObject([{ source: bob.twt(AT) }]);
  });

  it("200: pending mentions are verified now", async () => {
    const { alice, bob } = await withMentions({}, 1);
    bob.status = 500;
    await alice.mentioned({ source: bob.twt("2026-11-19T18:41:00Z"), target: FEED });
    await alice.mentioned({ source: bob.twt("2026-11-19T18:42:00Z"), target: FEED });
    bob.status = 200;
    bob.twts = { ...bob.twts, "2026-11-19T18:41:00Z": HELLO };
    expect((await alice.ask("POST", "/verify")).json).toEqual({ kept: 1, dropped: 1, waiting: 0 });
    expect(await alice.mentions()).toHaveLength(2);
    expect(await alice.list("pending")).toEqual([]);
  });

  it("200: verification by the author never drops pending mentions; the scheduled run does", async () => {
    const { alice, bob, times } = await withMentions({}, 1);
    bob.status = 500;
    const source = bob.twt("2026-11-19T18:41:00Z");
    await alice.mentioned({ source, target: FEED });
    for (let n = 0; n < 6; n += 1) {
      expect((await alice.ask("POST", "/verify")).json).toEqual({ kept: 0, dropped: 0, waiting: 1 });
    }
    bob.status = 200;
    bob.twts = { [times[0] ?? ""]: HELLO, "2026-11-19T18:41:00Z": HELLO };
    expect((await alice.ask("POST", "/verify")).json).toEqual({ kept: 1, dropped: 0, waiting: 0 });
  });

  it("200: mentions verified by another service are imported once", async () => {
    const alice = managed();
    const mention = {
      ...{ ...EXPORTED, target: FEED, type: "reply" },
      source: `https://gone.example/tw.txt#:~:text=${AT}`,
      published: "2024-03-02T09:00:00Z",
    };
    const mentions = [mention, { ...mention, source: "https://gone.example/page", target: PAGE }];
    const body = { mentions: [...mentions, { ...mention, target: "https://carol.example/" }] };
    expect((await alice.ask("POST", "/import", body)).json).toEqual({ imported: 2, known: 0, ignored: 1 });
    expect((await alice.ask("POST", "/import", body)).json).toEqual({ imported: 0, known: 2, ignored: 1 });
    expect(await alice.mentions(PAGE)).toMatchObject([{ source: "https://gone.example/page", target: PAGE }]);
    expect(await alice.mentions(FEED)).toMatchObject([
      { source: mention.source, target: FEED, type: "reply", text: "Quite so.", received: "2024-03-02T09:05:00.000Z" },
    ]);
    const wrong = { mentions: [{ ...mention, source: "javascript:alert(1)" }] };
    expect((await alice.ask("POST", "/import", wrong)).status).toBe(400);
  });

  it("200: a page has as many as are asked for, at most 4 MiB", async () => {
    const { alice } = await withMentions({}, 1);
    await alice.services.runScheduled();
    const [part = ""] = await alice.store.keys("mentions/parts/");
    const texts = new JsonTexts();
    const [[json] = []] = texts.readBlocks((await alice.store.get(part))?.bytes ?? Buffer.alloc(0));
    const stored = json && JSON.parse(texts.read(json).toString());
    const many = Array.from({ length: 400 }, (_, n) => {
      const received = new Date(Date.parse(stored.received) - n * 1000).toISOString();
      return JSON.stringify({ ...stored, id: `${n}`.padStart(32, "0"), received, text: "\u20ac".repeat(5000) });
    });
    const bytes = packBlock(many.map(Buffer.from));
    const key = `mentions/parts/0-${hash("sha256", bytes).slice(0, 32)}`;
    await alice.store.put(key, bytes);
    await alice.store.put("mentions/snapshot", Buffer.from(JSON.stringify({ version: 1, parts: [key], folded: [] })));
    const other = managed({ store: alice.store });
    const first = (await other.ask("GET", "?limit=2000")).json;
    expect(first.mentions.length).toBeGreaterThan(200);
    expect(Buffer.byteLength(JSON.stringify(first.mentions))).toBeLessThan(4.1 * 2 ** 20);
    const second = (await other.ask("GET", `?limit=2000&after=${first.next}`)).json;
    const ids = [...first.mentions, ...second.mentions].map(({ id }: ManagedMention) => Number(id));
    expect([ids, second.next]).toEqual([[...ids.keys()], null]);
    expect(ids).toHaveLength(400);
  });

  it("200: all likes of one Mastodon post are imported, although they share its URL", async () => {
    const alice = managed();
    const like = (n: number) => ({
      "wm-source": `https://brid.gy/like/mastodon/@alice@social.example/1/${n}`,
      "wm-target": PAGE,
      "wm-property": "like-of",
      url: `https://social.example/@alice/1#favorited-by-${n}`,
      author: { name: `Bob ${n}`, url: `https://social.example/@bob${n}` },
      content: null,
      published: null,
    });
    const anonymous = { ...like(27), author: { name: "", url: "" } };
    const entries = [...Array.from({ length: 26 }, (_, n) => like(n)), anonymous];
    const { mentions } = readWebmentionExport(entries);
    // The export has one of them twice, which is stored once.
    const body = { mentions: [...mentions, ...mentions.slice(0, 1)] };
    expect((await alice.ask("POST", "/import", body)).json).toEqual({ imported: 27, known: 1, ignored: 0 });
    expect(await alice.list("shown")).toHaveLength(27);
    expect(await alice.mentions(PAGE)).toContainEqual(
      expect.objectContaining({
        source: "https://brid.gy/like/mastodon/@alice@social.example/1/25",
        url: "https://social.example/@alice/1#favorited-by-25",
        author: { name: "Bob 25", url: "https://social.example/@bob25", photo: null },
      }),
    );
    expect((await alice.ask("POST", "/import", { mentions })).json).toEqual({ imported: 0, known: 27, ignored: 0 });
  });

  it("200: mentions of an earlier domain are imported, and moderated, under the pages of the present one", async () => {
    const alice = managed({ pages: { ...PAGES, origins: ["https://old.example"] } });
    const entry = {
      "wm-source": "https://brid.gy/like/1",
      "wm-target": PAGE.replace("alice", "old"),
      "wm-property": "like-of",
    };
    const { mentions } = readWebmentionExport([entry]);
    expect((await alice.ask("POST", "/import", { mentions })).json).toEqual({ imported: 1, known: 0, ignored: 0 });
    expect(await alice.mentions(PAGE)).toMatchObject([{ source: "https://brid.gy/like/1", target: PAGE }]);
    const [like] = await alice.list("shown");
    expect((await alice.decide(like, "rejected")).status).toBe(200);
    expect(await alice.mentions(PAGE)).toEqual([]);
  });

  it("200: an imported reply keeps its links and paragraphs, and nothing else of its HTML", async () => {
    const alice = managed();
    const entry = {
      ...{ "wm-source": "https://brid.gy/comment/1", "wm-target": PAGE, "wm-property": "in-reply-to" },
      content: { html: '<p>Quite <a href="/so" onclick="x()">so</a>.</p><script>alert(1)</script>', text: "Quite so." },
    };
    const { mentions } = readWebmentionExport({ children: [entry] });
    await alice.ask("POST", "/import", { mentions });
    const html = '<p>Quite <a href="https://brid.gy/so" rel="nofollow ugc noopener">so</a>.</p>';
    expect(await alice.mentions(PAGE)).toMatchObject([{ type: "reply", text: "Quite so.", html }]);
  });

  it("200: many imported mentions are folded at once", async () => {
    const alice = managed();
    const mentions = Array.from({ length: 310 }, (_, n) => ({ ...EXPORTED, source: `https://gone.example/${n}` }));
    expect((await alice.ask("POST", "/import", { mentions })).json).toEqual({ imported: 310, known: 0, ignored: 0 });
    await alice.settled();
    expect((await alice.store.keys("mentions/events/")).length).toBeLessThan(300);
    expect(await alice.list("shown")).toHaveLength(100);
  });

  it("200: a mention with a time in the future is stored with the present one", async () => {
    const alice = managed();
    const mentions = [{ ...EXPORTED, received: "2099-01-01T00:00:00Z" }];
    expect(await alice.ask("POST", "/import", { mentions })).toMatchObject({
      status: 200,
      json: { imported: 1, known: 0, ignored: 0 },
    });
    expect(await alice.mentions()).toMatchObject([{ received: "2026-11-20T09:00:00.000Z" }]);
  });

  it("401: a replayed request changes nothing", async () => {
    const { alice }: { alice: Receiver & ReturnType<typeof managed> } = await withMentions();
    const url = `${API}?source=127.0.0.1`;
    const headers = signRequest({ method: "DELETE", url }, ALICE, alice.clock.time);
    const send = () => alice.answer(new Request(url, { method: "DELETE", headers }));
    expect((await send()).status).toBe(200);
    expect((await send()).status).toBe(401);
  });
});
