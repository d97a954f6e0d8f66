import { describe, expect, it } from "vitest";
import { signRequest } from "../../../plugin/http/sign-request.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import { faultyStore } from "../../helpers/faulty-store.js";
import {
  type AlicesInbox,
  alicesInbox,
  CAROL,
  EVE,
  INBOX,
  idOf,
  outcomeOf,
  SECOND,
  sealed,
  watchedStore,
} from "./alices-inbox.js";

const MESSAGES = "inbox/alice/messages/";

/** Stores messages directly, a second apart. */
async function filledInbox(count: number, size = 300): Promise<AlicesInbox> {
  const alice = alicesInbox();
  for (let n = 0; n < count; n += 1) {
    const body = sealed(n, size);
    const created = String(alice.clock.time + n * SECOND).padStart(15, "0");
    await alice.store.put(`${MESSAGES}${created}-${idOf(body)}-${size}`, body);
  }
  return alice;
}

/** The ids of each page, following the links. */
async function pages(alice: AlicesInbox, start = INBOX): Promise<string[][]> {
  const response = await alice.ask("GET", start);
  const ids = Array.from(Object(await response.json()) as { id: string }[], ({ id }) => id);
  const [, next] = /^<([^>]+)>; rel="next"$/.exec(response.headers.get("link") ?? "") ?? [];
  return next === undefined ? [ids] : [ids, ...(await pages(alice, next))];
}

function idsOf(start: number, end: number, size = 300): string[] {
  return Array.from({ length: end - start }, (_, n) => idOf(sealed(start + n, size)));
}

describe("reading an inbox", () => {
  it.each([
    ["an unsigned request", "not-signed", { signer: null }],
    ["an expired signature", "wrong-clock", { signedAt: Date.parse("2026-11-20T08:53:00Z") }],
    ["a signature dated tomorrow", "wrong-clock", { signedAt: Date.parse("2026-11-21T09:00:00Z") }],
  ])("401: %s", async (_, code, options) => {
    const alice = await filledInbox(1);
    for (const headers of [{}, { accept: "text/event-stream" }]) {
      const response = await alice.ask("GET", INBOX, { ...options, headers });
      expect(await outcomeOf(response)).toEqual({ status: 401, code });
    }
    expect((await alice.ask("HEAD", INBOX, options)).status).toBe(401);
  });

  it("401: a signature for another host, inbox or method", async () => {
    const alice = await filledInbox(1);
    for (const [method, url] of [
      ["GET", INBOX.replace("alice.example", "bob.example")],
      ["GET", INBOX.replace(/alice$/, "carol")],
      ["GET", `${INBOX}?limit=1`],
      ["HEAD", INBOX],
    ] as const) {
      const headers = signRequest({ method, url }, CAROL, alice.clock.time);
      const response = await alice.answer(new Request(INBOX, { headers }));
      expect(await outcomeOf(response)).toEqual({ status: 401, code: "not-signed" });
    }
  });

  it("403: an unknown key, or another author of the site", async () => {
    const alice = await filledInbox(1);
    for (const signer of [EVE, CAROL]) {
      expect(await outcomeOf(await alice.ask("GET", INBOX, { signer }))).toEqual({ status: 403, code: "not-allowed" });
    }
    expect(await alice.ids()).toHaveLength(1);
  });
});

describe("an inbox", () => {
  it("200: returns an empty list without messages", async () => {
    const response = await alicesInbox().ask("GET");
    expect([response.status, await response.json()]).toEqual([200, []]);
    expect(response.headers.get("link")).toBeNull();
  });

  it("200: lists messages oldest first, uncacheable, in the same order each time", async () => {
    const alice = alicesInbox();
    await alice.receive(sealed(5), sealed(3), sealed(4));
    const response = await alice.ask("GET");
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "application/json",
      "cache-control": "private, no-store",
      vary: "accept",
      etag: expect.stringMatching(/^"[\w-]{43}"$/),
    });
    const payload = (n: number) => Buffer.from(sealed(n)).toString("base64");
    const listed = [
      { id: idOf(sealed(5)), created: "2026-11-20T09:00:00.000Z", payload: payload(5) },
      { id: idOf(sealed(3)), created: "2026-11-20T09:00:00.001Z", payload: payload(3) },
      { id: idOf(sealed(4)), created: "2026-11-20T09:00:00.002Z", payload: payload(4) },
    ];
    expect(await response.json()).toEqual(listed);
    expect(await alice.items()).toEqual(listed);
  });

  it("200: lists 250 messages on three pages, each once", async () => {
    const alice = await filledInbox(250);
    expect(await pages(alice)).toEqual([idsOf(0, 100), idsOf(100, 200), idsOf(200, 250)]);
    expect(await pages(alice, `${INBOX}?limit=70`)).toEqual([
      idsOf(0, 70),
      idsOf(70, 140),
      idsOf(140, 210),
      idsOf(210, 250),
    ]);
    expect(await pages(alice, `${INBOX}?limit=100`)).toHaveLength(3);
  });

  it("200: lists 250 messages newest first, on three pages, each once", async () => {
    const alice = await filledInbox(250);
    const newest = idsOf(0, 250).toReversed();
    const found = await pages(alice, `${INBOX}?order=newest`);
    expect(found).toEqual([newest.slice(0, 100), newest.slice(100, 200), newest.slice(200)]);
    expect((await pages(alice, `${INBOX}?order=newest&limit=70`)).flat()).toEqual(newest);
    const oldest = encodeURIComponent(`2026-11-20T09:00:00.000Z-${idOf(sealed(0))}`);
    expect(await pages(alice, `${INBOX}?order=newest&after=${oldest}`)).toEqual([[]]);
  });

  it("200: finds messages by the start of their ids, on pages too", async () => {
    const alice = await filledInbox(250);
    const ids = idsOf(0, 250);
    const [first = ""] = ids;
    expect(await pages(alice, `${INBOX}?id=${first.slice(0, 8)}`)).toEqual([[first]]);
    expect(await pages(alice, `${INBOX}?id=${"0".repeat(64)}`)).toEqual([[]]);
    const alike = ids.filter((id) => id.startsWith("a"));
    const found = await pages(alice, `${INBOX}?id=a&limit=4`);
    expect(found.length).toBe(Math.ceil(alike.length / 4));
    expect(found.flat()).toEqual(alike);
  });

  it("200: splits messages of one millisecond between pages, each once", async () => {
    const alice = alicesInbox();
    const bodies = Array.from({ length: 7 }, (_, n) => sealed(n));
    for (const body of bodies) await alice.send(body);
    const found = await pages(alice, `${INBOX}?limit=3`);
    expect(found.map(({ length }) => length)).toEqual([3, 3, 1]);
    expect(found.flat()).toEqual(bodies.map(idOf));
  });

  it("200: keeps a page of large messages below the platform's limit, with at least one message", async () => {
    const size = 64 * 1024;
    const alice = await filledInbox(60, size);
    const response = await alice.ask("GET");
    expect((await response.arrayBuffer()).byteLength).toBeLessThan(4_100_000);
    expect(await pages(alice)).toEqual([idsOf(0, 45, size), idsOf(45, 60, size)]);
    expect(await pages(alice, `${INBOX}?limit=1`)).toHaveLength(60);
  });

  it("200: continues after any item, even a deleted one", async () => {
    const alice = await filledInbox(4);
    const [, second] = await alice.items();
    await alice.delete(second?.id ?? "");
    const after = encodeURIComponent(`${second?.created}-${second?.id}`);
    expect(await pages(alice, `${INBOX}?after=${after}`)).toEqual([idsOf(2, 4)]);
    const last = encodeURIComponent(`2026-11-20T09:00:03.000Z-${idOf(sealed(3))}`);
    expect(await pages(alice, `${INBOX}?after=${last}`)).toEqual([[]]);
  });

  it("200: omits messages that were deleted during the request, and still links to the next page", async () => {
    const store = memoryStore();
    const alice = alicesInbox({
      store: { ...store, get: async (key) => (key.includes(idOf(sealed(2))) ? null : store.get(key)) },
    });
    await alice.receive(sealed(1), sealed(2), sealed(3));
    expect(await pages(alice, `${INBOX}?limit=2`)).toEqual([[idOf(sealed(1))], [idOf(sealed(3))]]);
  });

  it("304: nothing changed; the keys of a page are listed once and no message is read", async () => {
    const store = faultyStore(memoryStore());
    const { listings, ...watched } = watchedStore(store);
    const alice = alicesInbox({ store: watched });
    await alice.receive(sealed(1));
    const etag = (await alice.ask("GET")).headers.get("etag") ?? "";
    store.fail({ when: "before", operation: "get" });
    listings.length = 0;
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
      const response = await alice.ask("GET", INBOX, { headers: { "if-none-match": known } });
      expect([response.status, await response.text(), response.headers.get("etag")]).toEqual([304, "", etag]);
      expect(response.headers.get("cache-control")).toBe("private, no-store");
    }
    expect(listings).toEqual(Array(4).fill(`${MESSAGES} 101`));
  });

  it("200: a message was added or deleted, or the page is another one", async () => {
    const alice = alicesInbox();
    const seen = new Set<string>();
    const look = async (url = INBOX) => {
      const response = await alice.ask("GET", url, { headers: { "if-none-match": [...seen].join(", ") } });
      seen.add(response.headers.get("etag") ?? "");
      return response.status;
    };
    expect(await look()).toBe(200);
    await alice.receive(sealed(1));
    expect(await look(`${INBOX}?limit=1`)).toBe(200);
    await alice.receive(sealed(2));
    expect(await look(`${INBOX}?limit=1`)).toBe(200);
    expect(await look()).toBe(200);
    await alice.delete(idOf(sealed(1)));
    expect(await look()).toBe(200);
    expect(await look()).toBe(304);
  });

  it("HEAD: returns the headers of GET without the messages", async () => {
    const alice = await filledInbox(3);
    const get = await alice.ask("GET", `${INBOX}?limit=2`);
    const head = await alice.ask("HEAD", `${INBOX}?limit=2`);
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect(Object.fromEntries(head.headers)).toEqual(Object.fromEntries(get.headers));
    const etag = get.headers.get("etag") ?? "";
    expect((await alice.ask("HEAD", `${INBOX}?limit=2`, { headers: { "if-none-match": etag } })).status).toBe(304);
  });

  it.each([
    "limit=0",
    "limit=101",
    "limit=1e1",
    "limit=",
    "limit=1&limit=2",
    "after=x",
    `after=2026-13-20T09:00:00.000Z-${"0".repeat(64)}`,
    "colour=red",
    "order=oldest",
  ])("400: ?%s", async (query) => {
    const alice = await filledInbox(1);
    expect(await outcomeOf(await alice.ask("GET", `${INBOX}?${query}`))).toEqual({ status: 400, code: "bad-request" });
  });

  it.each(["list", "get"] as const)("503: the store fails (%s), instead of an empty list", async (operation) => {
    const store = faultyStore(memoryStore());
    const alice = alicesInbox({ store });
    await alice.receive(sealed(1));
    store.fail({ when: "before", operation });
    expect(await outcomeOf(await alice.ask("GET"))).toEqual({ status: 503, code: "store-failed" });
    store.repair();
    expect(await alice.ids()).toEqual([idOf(sealed(1))]);
  });
});
