import { getEventListeners } from "node:events";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { nodeServer } from "../../../plugin/host/node-server.js";
import { signRequest } from "../../../plugin/http/sign-request.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import { endpoint } from "../../helpers/endpoints.js";
import { faultyStore } from "../../helpers/faulty-store.js";
import {
  ALICE,
  type AlicesInbox,
  alicesInbox,
  CAROL,
  INBOX,
  idOf,
  outcomeOf,
  SECOND,
  sealed,
  steppedClock,
  watchedStore,
} from "./alices-inbox.js";

const MESSAGES = "inbox/alice/messages/";
const HEARTBEAT = ": still here\n\n";

async function subscribe(alice: AlicesInbox, { url = INBOX, headers = {} } = {}) {
  const response = await alice.ask("GET", url, { headers: { accept: "text/event-stream", ...headers } });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  const reader = response.body?.getReader();
  /** The next chunk of the stream; `null` at its end. */
  const next = async () => {
    const part = await reader?.read();
    return part?.value ? Buffer.from(part.value).toString() : null;
  };
  expect(await next()).toBe("retry: 1000\n\n");
  return { response, next, cancel: () => reader?.cancel() };
}

/** Resolves when the stream has sent everything and waits. */
async function untilIdle({ clock }: AlicesInbox): Promise<void> {
  for (let turn = 0; turn < 1000 && clock.sleepers.size === 0; turn += 1) await setImmediate();
  expect(clock.sleepers.size).toBe(1);
}

function eventOf(number: number, created: string): string {
  const id = idOf(sealed(number));
  const payload = Buffer.from(sealed(number)).toString("base64");
  return `id: ${created}-${id}\nevent: message\ndata: ${JSON.stringify({ id, created, payload })}\n\n`;
}

/** Stores a message directly, as another process would, with this time. */
function storeDirectly({ store }: AlicesInbox, number: number, created: string) {
  const time = String(Date.parse(created)).padStart(15, "0");
  return store.put(`${MESSAGES}${time}-${idOf(sealed(number))}-${sealed(number).length}`, sealed(number));
}

describe("a subscription", () => {
  it("406: the host does not support event streams, for signed requests", async () => {
    const alice = alicesInbox({ subscribe: null });
    const headers = { accept: "text/event-stream" };
    expect(await outcomeOf(await alice.ask("GET", INBOX, { headers }))).toEqual({
      status: 406,
      code: "not-acceptable",
    });
    expect((await alice.ask("GET", INBOX, { headers, signer: null })).status).toBe(401);
    expect((await alice.ask("GET", INBOX, { headers, signer: CAROL })).status).toBe(403);
  });

  it("sends stored messages, then new ones immediately", async () => {
    const alice = alicesInbox();
    await alice.receive(sealed(1), sealed(2));
    const stream = await subscribe(alice);
    expect(Object.fromEntries(stream.response.headers)).toMatchObject({
      "cache-control": "private, no-store",
      vary: "accept",
    });
    expect(await stream.next()).toBe(eventOf(1, "2026-11-20T09:00:00.000Z"));
    expect(await stream.next()).toBe(eventOf(2, "2026-11-20T09:00:00.001Z"));
    const third = stream.next();
    await untilIdle(alice);
    await alice.send(sealed(3));
    expect(await third).toBe(eventOf(3, "2026-11-20T09:00:00.002Z"));
    const fourth = stream.next();
    await untilIdle(alice);
    await alice.send(sealed(4));
    expect(await fourth).toBe(eventOf(4, "2026-11-20T09:00:00.003Z"));
    await stream.cancel();
  });

  it("sends a message that arrives during a listing, without waiting for the next one", async () => {
    const store = memoryStore();
    let duringListing = async () => {};
    const alice = alicesInbox({
      store: {
        ...store,
        async list(prefix, range) {
          const keys = await store.list(prefix, range);
          const work = duringListing;
          duringListing = async () => {};
          await work();
          return keys;
        },
      },
    });
    const stream = await subscribe(alice);
    duringListing = async () => void (await alice.send(sealed(1)));
    expect(await stream.next()).toBe(eventOf(1, "2026-11-20T09:00:00.000Z"));
    await stream.cancel();
  });

  it("lists messages again when one arrives for its user, but not for other users", async () => {
    const { listings, ...store } = watchedStore(memoryStore());
    const alice = alicesInbox({ store });
    const stream = await subscribe(alice);
    const first = stream.next();
    await untilIdle(alice);
    listings.length = 0;
    expect((await alice.send(sealed(1), { url: "https://alice.example/inbox/carol" })).status).toBe(202);
    await setImmediate();
    expect(listings.filter((listing) => listing.startsWith(MESSAGES))).toEqual([]);
    await alice.send(sealed(2));
    expect(await first).toBe(eventOf(2, "2026-11-20T09:00:00.000Z"));
    await stream.cancel();
  });

  it("sends a message from another process after the next listing", async () => {
    const alice = alicesInbox();
    const stream = await subscribe(alice);
    const first = stream.next();
    await untilIdle(alice);
    await alicesInbox({ store: alice.store, clock: alice.clock }).send(sealed(1));
    await setImmediate();
    expect(alice.clock.sleepers.size).toBe(1);
    alice.clock.step(5 * SECOND);
    expect(await first).toBe(eventOf(1, "2026-11-20T09:00:00.000Z"));
    await stream.cancel();
  });

  it("sends each message once, even one stored late with an earlier time", async () => {
    const alice = alicesInbox();
    await storeDirectly(alice, 1, "2026-11-20T08:59:58.000Z");
    const stream = await subscribe(alice);
    expect(await stream.next()).toBe(eventOf(1, "2026-11-20T08:59:58.000Z"));
    const late = stream.next();
    await untilIdle(alice);
    await storeDirectly(alice, 2, "2026-11-20T08:59:50.000Z");
    alice.clock.step(5 * SECOND);
    expect(await late).toBe(eventOf(2, "2026-11-20T08:59:50.000Z"));
    const then = stream.next();
    await untilIdle(alice);
    await alice.send(sealed(3));
    expect(await then).toBe(eventOf(3, "2026-11-20T09:00:05.000Z"));
    await stream.cancel();
  });

  it.each([
    ["Last-Event-ID", (cursor: string) => ({ headers: { "last-event-id": cursor } })],
    ["?after=", (cursor: string) => ({ url: `${INBOX}?after=${encodeURIComponent(cursor)}` })],
    [
      "Last-Event-ID rather than ?after=",
      (cursor: string) => ({
        url: `${INBOX}?after=${encodeURIComponent(`2026-11-20T07:00:00.000Z-${idOf(sealed(1))}`)}`,
        headers: { "last-event-id": cursor },
      }),
    ],
  ])("resumes a minute before %s", async (_, where) => {
    const alice = alicesInbox();
    await storeDirectly(alice, 1, "2026-11-20T08:57:59.999Z");
    await storeDirectly(alice, 2, "2026-11-20T08:58:00.000Z");
    await storeDirectly(alice, 4, "2026-11-20T08:59:30.000Z");
    const stream = await subscribe(alice, where(`2026-11-20T08:59:00.000Z-${idOf(sealed(3))}`));
    expect(await stream.next()).toBe(eventOf(2, "2026-11-20T08:58:00.000Z"));
    expect(await stream.next()).toBe(eventOf(4, "2026-11-20T08:59:30.000Z"));
    await stream.cancel();
  });

  it("sends a heartbeat after 15 seconds, and ends after its maximum duration", async () => {
    const clock = steppedClock();
    const alice = alicesInbox({ clock, subscribe: { streamMs: 40 * SECOND, lookMs: 60 * SECOND, sleep: clock.sleep } });
    const stream = await subscribe(alice);
    for (const expected of [HEARTBEAT, HEARTBEAT, null]) {
      const next = stream.next();
      await untilIdle(alice);
      clock.step(expected === null ? 10 * SECOND - 1 : 15 * SECOND - 1);
      await setImmediate();
      expect(clock.sleepers.size).toBe(1);
      clock.step(1);
      expect(await next).toBe(expected);
    }
    expect(clock.sleepers.size).toBe(0);
  });

  it("stops between two messages when its maximum duration is over", async () => {
    const alice = alicesInbox();
    await alice.receive(sealed(1), sealed(2), sealed(3));
    const stream = await subscribe(alice);
    expect(await stream.next()).toBe(eventOf(1, "2026-11-20T09:00:00.000Z"));
    alice.clock.step(50 * SECOND);
    expect(await stream.next()).toBeNull();
  });

  it("ends at shutdown, whether it is idle, has a slow reader or has just started", async () => {
    const host = new AbortController();
    const alice = alicesInbox({ signal: host.signal });
    await alice.receive(sealed(1), sealed(2));
    const waiting = await subscribe(alice);
    await waiting.next();
    await waiting.next();
    const end = waiting.next();
    const slow = await subscribe(alice);
    await slow.next();
    await untilIdle(alice);
    host.abort();
    expect([await end, await slow.next()]).toEqual([null, null]);
    expect(await (await subscribe(alice)).next()).toBeNull();
    expect(alice.clock.sleepers.size).toBe(0);
    expect(getEventListeners(host.signal, "abort")).toEqual([]);
  });

  it("leaves no timer or listener after its reader disconnects", async () => {
    const host = new AbortController();
    const { listings, ...store } = watchedStore(memoryStore());
    const alice = alicesInbox({ signal: host.signal, store });
    const waiting = await subscribe(alice);
    const end = waiting.next();
    await untilIdle(alice);
    await waiting.cancel();
    expect(await end).toBeNull();
    const idle = await subscribe(alice);
    await idle.cancel();
    expect(alice.clock.sleepers.size).toBe(0);
    expect(getEventListeners(host.signal, "abort")).toEqual([]);

    listings.length = 0;
    await alice.send(sealed(1));
    alice.clock.step(60 * SECOND);
    await setImmediate();
    expect(listings).toEqual([]);
  });

  it("streams over a connection, and ends when the connection closes", async () => {
    const alice = alicesInbox();
    const server = await nodeServer({
      port: 0,
      host: "127.0.0.1",
      origin: "https://alice.example",
      findEndpoint: () => endpoint(alice.answer),
      serveFile: () => {},
      rateLimit: () => null,
      trustedProxies: 0,
      log: () => {},
    });
    const headers = { accept: "text/event-stream" };
    const connection = new AbortController();
    const response = await fetch(`http://127.0.0.1:${server.port}/inbox/alice`, {
      headers: signRequest({ method: "GET", url: INBOX, headers }, ALICE, alice.clock.time),
      signal: connection.signal,
    });
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? "").toString()).toBe("retry: 1000\n\n");
    await expect.poll(() => alice.clock.sleepers.size).toBe(1);
    await alice.send(sealed(1));
    expect(Buffer.from((await reader?.read())?.value ?? "").toString()).toBe(eventOf(1, "2026-11-20T09:00:00.000Z"));
    await expect.poll(() => alice.clock.sleepers.size).toBe(1);
    connection.abort();
    await expect.poll(() => alice.clock.sleepers.size).toBe(0);
    await server.close();
  });

  it("does not send a message that was deleted before its turn", async () => {
    const alice = alicesInbox();
    await alice.receive(sealed(1), sealed(2), sealed(3));
    const stream = await subscribe(alice);
    expect(await stream.next()).toBe(eventOf(1, "2026-11-20T09:00:00.000Z"));
    await alice.delete(idOf(sealed(2)));
    expect(await stream.next()).toBe(eventOf(3, "2026-11-20T09:00:00.002Z"));
    await stream.cancel();
  });

  it("503: the store fails at the start; a later failure ends the stream, and a new stream is complete", async () => {
    const store = faultyStore(memoryStore());
    const alice = alicesInbox({ store });
    store.fail({ when: "before", operation: "list" });
    const refused = await alice.ask("GET", INBOX, { headers: { accept: "text/event-stream" } });
    expect(await outcomeOf(refused)).toEqual({ status: 503, code: "store-failed" });
    store.repair();

    const stream = await subscribe(alice);
    const next = stream.next();
    await untilIdle(alice);
    store.fail({ when: "before", operation: "list", times: 1 });
    alice.clock.step(5 * SECOND);
    await expect(next).rejects.toMatchObject({ code: "store-failed" });
    expect(alice.clock.sleepers.size).toBe(0);
    await alice.receive(sealed(1));
    const again = await subscribe(alice);
    expect(await again.next()).toMatch(idOf(sealed(1)));
    await again.cancel();
  });

  it("HEAD: returns the headers of GET and starts no stream", async () => {
    const alice = alicesInbox();
    const response = await alice.ask("HEAD", INBOX, { headers: { accept: "text/event-stream" } });
    expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([
      200,
      "text/event-stream",
      "",
    ]);
  });

  it.each([
    ["?limit=5", {}],
    ["?after=x", {}],
    ["", { "last-event-id": "x" }],
  ])("400: %s %j", async (query, headers) => {
    const response = await alicesInbox().ask("GET", INBOX + query, {
      headers: { accept: "text/event-stream", ...headers } as Record<string, string>,
    });
    expect(await outcomeOf(response)).toEqual({ status: 400, code: "bad-request" });
  });
});
