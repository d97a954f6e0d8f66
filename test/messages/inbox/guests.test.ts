import { describe, expect, it } from "vitest";
import { signRequest } from "../../../plugin/http/sign-request.js";
import { formatKey } from "../../../plugin/keys/key.js";
import { guestDocument } from "../../../plugin/messages/inbox/guest-document.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import { hostAt } from "../../helpers/endpoints.js";
import { faultyStore } from "../../helpers/faulty-store.js";
import { identityOf } from "../../helpers/identity.js";
import {
  ALICE,
  type AlicesInbox,
  ARMORED,
  alicesInbox,
  CAROL,
  DAY,
  EVE,
  idOf,
  outcomeOf,
  sealed,
  steppedClock,
  watchedStore,
} from "./alices-inbox.js";

const DANA = identityOf(9, "dana");
const FRED = identityOf(10, "fred");
const INBOX = `https://alice.example/inbox/${DANA.publicKey}`;
const AUTHORS = new Set([ALICE.publicKey, CAROL.publicKey]);
const GUESTS = { authors: AUTHORS, messages: 100, days: 90, hasStreams: true };
const STREAM = { accept: "text/event-stream" };
const never = () => false;

interface Delivered {
  signer?: typeof ALICE | null;
  url?: string;
  method?: string;
}

/** Delivers a message to a guest. */
function deliver(
  alice: AlicesInbox,
  body: Uint8Array,
  { signer = ALICE, url = INBOX, method = "POST" }: Delivered = {},
) {
  const headers = signer ? signRequest({ method, url, body }, signer, alice.clock.time) : {};
  return alice.answer(new Request(url, { method, headers, body: Uint8Array.from(body) }));
}

const status = async (response: Promise<Response>) => (await response).status;
const outcome = async (response: Promise<Response>) => outcomeOf(await response);
const idsOfDana = async (alice: AlicesInbox) =>
  Object(await (await alice.ask("GET", INBOX, { signer: DANA })).json()).map(({ id }: { id: string }) => id);

describe("the discovery document of a guest", () => {
  const ask = (name: string, init: RequestInit = {}) => {
    const handlers = { guest: guestDocument("https://alice.example/inbox") };
    return hostAt(
      "https://alice.example",
      handlers,
    )(new Request(`https://alice.example/.well-known/msg/${name}.json`, init));
  };

  it("200: has the inbox and key for any key, and stores nothing", async () => {
    const answer = await ask(DANA.publicKey);
    expect(await answer.json()).toEqual({ endpoint: INBOX, key: DANA.publicKey });
    expect([answer.status, Object.fromEntries(answer.headers)]).toEqual([
      200,
      {
        "access-control-allow-origin": "*",
        "cache-control": "public, max-age=0",
        "content-type": "application/json",
        etag: expect.stringMatching(/^"[\w-]{43}"$/),
        "x-content-type-options": "nosniff",
      },
    ]);
  });

  it("304 and HEAD: behave as for a static document", async () => {
    const { headers } = await ask(DANA.publicKey);
    const etag = headers.get("etag") ?? "";
    const unchanged = await ask(DANA.publicKey, { headers: { "if-none-match": etag } });
    expect([unchanged.status, unchanged.headers.get("etag")]).toEqual([304, etag]);
    const head = await ask(DANA.publicKey, { method: "HEAD" });
    expect([head.status, head.headers.get("content-type"), await head.text()]).toEqual([200, "application/json", ""]);
    expect((await ask(DANA.publicKey, { method: "OPTIONS" })).status).toBe(204);
    expect((await ask(DANA.publicKey, { method: "POST" })).status).toBe(405);
  });

  it.each([
    ["a user", "bob"],
    ["a key with a wrong checksum", `${DANA.publicKey.slice(0, -1)}${DANA.publicKey.endsWith("q") ? "p" : "q"}`],
    ["a key in upper case", DANA.publicKey.toUpperCase()],
    ["a point of small order", formatKey(new Uint8Array(32))],
    ["a point that is not in canonical form", formatKey(new Uint8Array(32).fill(0xff))],
    ["a point that is not on the curve", formatKey(new Uint8Array(32).fill(2))],
  ])("404 without JSON: %s", async (_, name) => {
    const answer = await ask(name);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([404, "text/plain; charset=utf-8"]);
    expect(await answer.text()).toBe("Not found.\n");
  });
});

describe("delivering to a guest", () => {
  it("202: any author of the site may send, without a daily quota", async () => {
    const alice = alicesInbox({ guests: { ...GUESTS, messages: 20 } });
    for (let n = 0; n < 10; n += 1) expect(await status(deliver(alice, sealed(n)))).toBe(202);
    expect(await status(deliver(alice, ARMORED, { signer: CAROL, method: "PUT" }))).toBe(202);
    expect(await idsOfDana(alice)).toHaveLength(11);
  });

  it.each([
    ["401 not-signed: an unsigned request", null, 401, "not-signed"],
    ["403 not-allowed: an author of another site", EVE, 403, "not-allowed"],
    ["403 not-allowed: the guest", DANA, 403, "not-allowed"],
  ] as const)("%s", async (_, signer, code, reason) => {
    const alice = alicesInbox();
    expect(await outcome(deliver(alice, ARMORED, { signer }))).toEqual({ status: code, code: reason });
    expect(await alice.store.keys("")).toEqual([]);
  });

  it("401 not-signed: a replayed request, or one with a different body", async () => {
    const alice = alicesInbox();
    const headers = signRequest({ method: "POST", url: INBOX, body: sealed(1) }, ALICE, alice.clock.time);
    const post = (body: Uint8Array) =>
      alice.answer(new Request(INBOX, { method: "POST", headers, body: Uint8Array.from(body) }));
    expect(await outcome(post(sealed(2)))).toEqual({ status: 401, code: "not-signed" });
    expect(await status(post(sealed(1)))).toBe(202);
    expect(await outcome(post(sealed(1)))).toEqual({ status: 401, code: "not-signed" });
    expect(await idsOfDana(alice)).toEqual([idOf(sealed(1))]);
  });

  it("400: invalid bodies, as for any inbox", async () => {
    const alice = alicesInbox();
    expect(await outcome(deliver(alice, Buffer.from("hello")))).toEqual({ status: 400, code: "bad-armor" });
    const huge = Buffer.alloc(64 * 1024 + 1);
    expect(await outcome(deliver(alice, huge))).toEqual({ status: 400, code: "too-large" });
  });

  it("503 inbox-full: the 101st message to one guest; other guests are not affected", async () => {
    const alice = alicesInbox();
    for (let n = 0; n < 100; n += 1) expect(await status(deliver(alice, sealed(n)))).toBe(202);
    const answer = await deliver(alice, sealed(100));
    expect(answer.headers.get("retry-after")).toBe("3600");
    expect(await outcomeOf(answer)).toEqual({ status: 503, code: "inbox-full" });
    const url = INBOX.replace(DANA.publicKey, FRED.publicKey);
    expect(await status(deliver(alice, sealed(100), { url }))).toBe(202);
    expect(await idsOfDana(alice)).toHaveLength(100);
  });

  it("503 store-failed: the failure is reported, and a retry succeeds", async () => {
    const store = faultyStore(memoryStore());
    const alice = alicesInbox({ store });
    store.fail({ when: "before", operation: "put", key: "inbox/" });
    expect(await outcome(deliver(alice, sealed(1)))).toEqual({ status: 503, code: "store-failed" });
    store.repair();
    expect(await status(deliver(alice, sealed(1)))).toBe(202);
    expect(await idsOfDana(alice)).toEqual([idOf(sealed(1))]);
  });

  it("is not listed among the authors' new messages", async () => {
    const stored: unknown[] = [];
    const alice = alicesInbox({ onStored: (message) => void stored.push(message) });
    await deliver(alice, sealed(1));
    expect((await alice.news()).flatMap(({ messages }) => messages)).toEqual([]);
    expect(stored).toEqual([{ user: DANA.publicKey, isGuest: true, size: sealed(1).length }]);
  });

  it("404: guests are turned off", async () => {
    const alice = alicesInbox({ guests: null });
    expect(await outcome(deliver(alice, ARMORED))).toEqual({ status: 404, code: "not-found" });
    expect(await status(alice.ask("GET", INBOX, { signer: DANA }))).toBe(404);
  });

  it("404: a name that is not a key", async () => {
    const url = INBOX.replace(DANA.publicKey, formatKey(new Uint8Array(32)));
    expect(await status(deliver(alicesInbox(), ARMORED, { url }))).toBe(404);
  });
});

describe("the inbox of a guest", () => {
  it("can be listed and emptied by the guest", async () => {
    const alice = alicesInbox();
    await deliver(alice, sealed(1));
    const list = await alice.ask("GET", INBOX, { signer: DANA });
    expect(await list.json()).toMatchObject([{ id: idOf(sealed(1)), created: "2026-11-20T09:00:00.000Z" }]);
    const etag = { "if-none-match": list.headers.get("etag") ?? "" };
    expect(await status(alice.ask("GET", INBOX, { signer: DANA, headers: etag }))).toBe(304);
    const url = `${INBOX}/${idOf(sealed(1))}`;
    expect(await (await alice.ask("DELETE", url, { signer: DANA })).json()).toEqual({ deleted: true });
    expect(await idsOfDana(alice)).toEqual([]);
    await deliver(alice, sealed(1));
    expect(await idsOfDana(alice)).toEqual([]);
  });

  it.each([
    ["another guest", FRED],
    ["the author", ALICE],
  ])("403: %s may not read, subscribe or delete", async (_, signer) => {
    const alice = alicesInbox();
    await deliver(alice, sealed(1));
    for (const [method, path, headers] of [
      ["GET", "", {}],
      ["GET", "", STREAM],
      ["DELETE", `/${idOf(sealed(1))}`, {}],
    ] as const) {
      const answer = alice.ask(method, INBOX + path, { signer, headers });
      expect(await outcome(answer)).toEqual({ status: 403, code: "not-allowed" });
    }
    expect(await idsOfDana(alice)).toHaveLength(1);
  });

  it("stores nothing for a stranger who signs requests with their own key", async () => {
    const alice = alicesInbox();
    const signer = EVE;
    const url = `https://alice.example/inbox/${EVE.publicKey}`;
    const id = idOf(sealed(1));
    const answers = [
      await alice.ask("GET", url, { signer }),
      await alice.ask("DELETE", `${url}/${id}`, { signer }),
      await alice.ask("DELETE", `${url}/x`, { signer }),
      await deliver(alice, ARMORED, { signer, url }),
      await deliver(alice, ARMORED, { signer, url, method: "PUT" }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 404, 403, 403]);
    expect(await alice.store.keys("")).toEqual([]);
  });

  it("stores one nonce for each deleted message, even if the guest repeats the request", async () => {
    const alice = alicesInbox();
    await deliver(alice, sealed(1));
    const before = (await alice.store.keys("nonces/")).length;
    for (let times = 0; times < 3; times += 1) {
      expect(await status(alice.ask("DELETE", `${INBOX}/${idOf(sealed(1))}`, { signer: DANA }))).toBe(200);
    }
    expect((await alice.store.keys("nonces/")).length - before).toBe(1);
  });
});

describe("the event stream of a guest", () => {
  it("sends stored messages, then new ones as they arrive", async () => {
    const alice = alicesInbox();
    await deliver(alice, sealed(1));
    const response = await alice.ask("GET", INBOX, { signer: DANA, headers: STREAM });
    const reader = response.body?.getReader();
    const next = async () => Buffer.from((await reader?.read())?.value ?? []).toString();
    expect(await next()).toBe("retry: 1000\n\n");
    expect(await next()).toContain(idOf(sealed(1)));
    const nextEvent = next();
    await deliver(alice, sealed(2));
    expect(await nextEvent).toContain(idOf(sealed(2)));
    await reader?.cancel();
  });

  it("406: more than 100 are open; authors can still subscribe, and a closed stream makes room", async () => {
    const alice = alicesInbox();
    const open = (signer: typeof DANA) =>
      alice.ask("GET", `https://alice.example/inbox/${signer.publicKey}`, { signer, headers: STREAM });
    const strangers = Array.from({ length: 100 }, (_, n) => identityOf(n + 20, "eve"));
    const streams = await Promise.all(strangers.map(open));
    expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await outcome(open(DANA))).toEqual({ status: 406, code: "not-acceptable" });
    const authors = await alice.ask("GET", "https://alice.example/inbox/alice", { headers: STREAM });
    expect(authors.status).toBe(200);

    await streams[0]?.body?.cancel();
    const again = await open(DANA);
    expect(again.status).toBe(200);
    expect(await status(open(FRED))).toBe(406);
    for (const { body } of [...streams.slice(1), again, authors]) await body?.cancel();
    const head = (signer: typeof DANA) =>
      alice.ask("HEAD", `https://alice.example/inbox/${signer.publicKey}`, { signer, headers: STREAM });
    expect(new Set((await Promise.all(strangers.map(head))).map(({ status }) => status))).toEqual(new Set([200]));
    expect(await status(head(DANA))).toBe(200);
  });

  it("406: guest streams are turned off, but authors may subscribe", async () => {
    const alice = alicesInbox({ guests: { ...GUESTS, hasStreams: false } });
    expect(await status(alice.ask("GET", INBOX, { signer: DANA, headers: STREAM }))).toBe(406);
    const authors = await alice.ask("GET", "https://alice.example/inbox/alice", { headers: STREAM });
    expect(authors.status).toBe(200);
    await authors.body?.cancel();
  });
});

describe("the sweep of guest inboxes", () => {
  it("deletes messages after 90 days, and their records 90 days later", async () => {
    const alice = alicesInbox();
    await deliver(alice, sealed(1));
    alice.clock.step(90 * DAY);
    await deliver(alice, sealed(2));
    await alice.sweep(never);
    expect(await idsOfDana(alice)).toHaveLength(2);
    alice.clock.step(1);
    await alice.sweep(never);
    expect(await idsOfDana(alice)).toEqual([idOf(sealed(2))]);
    for (let period = 0; period < 8; period += 1) {
      alice.clock.step(30 * DAY);
      await alice.sweep(never);
    }
    expect(await alice.store.keys("inbox/")).toEqual([]);
  });

  it("continues after guests were turned off, and skips an author whose name starts like a key", async () => {
    const store = memoryStore();
    const clock = steppedClock();
    await deliver(alicesInbox({ store, clock }), sealed(1));
    const users = new Map([["kex1fan", CAROL.publicKey]]);
    const later = alicesInbox({ store, clock, guests: null, users });
    await later.send(sealed(2), { url: "https://alice.example/inbox/kex1fan" });
    clock.step(91 * DAY);
    await later.sweep(never);
    expect((await store.keys("inbox/")).filter((key) => key.includes("/messages/"))).toEqual([
      expect.stringMatching(/^inbox\/kex1fan\//),
    ]);
  });

  it("lists keys once for all inboxes without expired messages", async () => {
    const alice = alicesInbox();
    const keys = [DANA, FRED].map(({ publicKey }) => `https://alice.example/inbox/${publicKey}`);
    for (const url of keys) await deliver(alice, sealed(1), { url });
    const { store, clock } = alice;
    const watched = watchedStore(store);
    await alicesInbox({ store: watched, clock, users: new Map() }).sweep(never);
    expect(watched.listings).toEqual(["inbox"]);
  });
});
