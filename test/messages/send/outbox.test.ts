import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { createGuard } from "../../../plugin/http/guard.js";
import { Outbox, type RecipientReport } from "../../../plugin/messages/send/outbox.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import { SqliteStore } from "../../../plugin/store/sqlite.js";
import type { Store } from "../../../plugin/store/store.js";
import { faultyStore } from "../../helpers/faulty-store.js";
import { type LoopbackServer, loopbackServer, strayed } from "../../helpers/loopback.js";
import { DAY, MINUTE, NOW, neighbourhood } from "../neighbourhood.js";

const ID = "1".repeat(64);
const CREATED = "2026-11-20T09:00:00.000Z";
const work = mkdtempSync(join(tmpdir(), "twtxt-outbox-"));

const failsWith = (code: string) => expect.objectContaining({ code });

afterAll(() => rmSync(work, { recursive: true, force: true }));
afterEach(() => expect(strayed).toEqual([]));

/** An inbox with a configurable response that records accepted messages. */
async function inbox(status = 202, headers: Record<string, string> = {}) {
  const answer = { status, headers, asked: 0, got: [] as string[], onAsked: () => {} };
  const server = await loopbackServer(async (request, response) => {
    const body = await text(request);
    answer.asked += 1;
    answer.onAsked();
    if (answer.status < 300) answer.got.push(body);
    if (answer.status > 0) response.writeHead(answer.status, answer.headers).end();
    else response.destroy();
  });
  return Object.assign(server, { answer });
}

interface SenderOptions {
  store?: Store;
  totalMs?: number;
}

/** An author's outbox on a network with these hosts. */
function sender(
  hosts: Record<string, Pick<LoopbackServer, "port">>,
  { store = memoryStore(), totalMs }: SenderOptions = {},
) {
  const clock = { time: NOW };
  const results: RecipientReport[] = [];
  const { ask } = neighbourhood(hosts, totalMs);
  const onResult = (report: RecipientReport) => void results.push(report);
  const outbox = new Outbox({ store, ask, now: () => clock.time, random: () => 0.5, onResult });
  const send = (names: string[], { id = ID, keepCopy = true } = {}) =>
    outbox.send({
      id,
      sealed: `sealed ${id}`,
      recipients: names.map((name) => ({ address: name, endpoint: `http://${name.split("@")[1]}/inbox` })),
      keepCopy,
    });
  return {
    list: () => outbox.list(),
    sent: () => outbox.sent(),
    retry: (options: { all: boolean }) => outbox.retry(options),
    discard: (id: string) => outbox.discard(id),
    ...{ send, clock, results, store },
  };
}

const summaryOf = (reports: readonly Pick<RecipientReport, "address" | "state" | "why">[]) =>
  reports.map(({ address, state, why }) => [address, state, why]);

describe("sending a message", () => {
  it("delivers it to all recipients, and stores only a sealed copy", async () => {
    const bob = await inbox();
    const carol = await inbox(200);
    const alice = sender({ "bob.example": bob, "carol.example": carol });
    const reports = await alice.send(["bob@bob.example", "carol@carol.example"]);
    expect(summaryOf(reports)).toEqual([
      ["bob@bob.example", "delivered", null],
      ["carol@carol.example", "delivered", null],
    ]);
    expect([bob.answer.got, carol.answer.got]).toEqual([[`sealed ${ID}`], [`sealed ${ID}`]]);
    expect(await alice.list()).toEqual([]);
    expect(await alice.sent()).toEqual([
      { id: ID, created: CREATED, sealed: `sealed ${ID}`, to: ["bob@bob.example", "carol@carol.example"] },
    ]);
    expect(summaryOf(alice.results)).toEqual(expect.arrayContaining(summaryOf(reports)));
  });

  it("stores nothing without `keepCopy`", async () => {
    const alice = sender({ "bob.example": await inbox() });
    await alice.send(["bob@bob.example"], { keepCopy: false });
    expect(await alice.store.keys("")).toEqual([]);
  });

  it("delivers it once to a shared inbox", async () => {
    const bob = await inbox();
    const alice = sender({ "bob.example": bob });
    const reports = await alice.send(["bob@bob.example", "ben@bob.example"]);
    expect(reports.map(({ state }) => state)).toEqual(["delivered", "delivered"]);
    expect(bob.answer.asked).toBe(1);
    expect((await alice.sent())[0]?.to).toEqual(["bob@bob.example", "ben@bob.example"]);
  });

  it("stores it before the first request", async () => {
    const store = memoryStore();
    const seen: string[][] = [];
    const bob = await loopbackServer(async (_request, response) => {
      seen.push(await store.keys(""));
      response.writeHead(202).end();
    });
    await sender({ "bob.example": bob }, { store }).send(["bob@bob.example"]);
    expect(seen).toEqual([[`outbox/${ID}`]]);
  });

  it("store-failed: sends no request if the message cannot be stored", async () => {
    const bob = await inbox();
    const store = faultyStore(memoryStore());
    store.fail({ when: "before", operation: "put" });
    const alice = sender({ "bob.example": bob }, { store });
    await expect(alice.send(["bob@bob.example"])).rejects.toThrow(failsWith("store-failed"));
    expect(bob.answer.asked).toBe(0);
  });

  it("delivers to at most four inboxes at once", async () => {
    const waiting: (() => void)[] = [];
    let maxWaiting = 0;
    const slow = await loopbackServer((_request, response) => {
      waiting.push(() => response.writeHead(202).end());
      maxWaiting = Math.max(maxWaiting, waiting.length);
      // All four have arrived. A fifth one has time to arrive before they are answered.
      if (waiting.length === 4) setTimeout(() => waiting.splice(0).forEach((go) => void go()), 50);
    });
    const names = Array.from({ length: 8 }, (_, number) => `bob${number}.example`);
    const alice = sender(Object.fromEntries(names.map((name) => [name, slow])));
    await alice.send(names.map((name) => `bob@${name}`));
    expect(maxWaiting).toBe(4);
    expect((await alice.sent())[0]?.to).toHaveLength(8);
  });
});

describe("an undelivered message", () => {
  it.each<[string, number, string, unknown]>([
    ["400", 400, "failed", "it answers 400"],
    ["413", 413, "failed", "it answers 413"],
    ["500", 500, "waiting", "it answers 500"],
    ["503", 503, "waiting", "it answers 503"],
    ["no response", 0, "waiting", expect.stringContaining("could not be reached")],
  ])("stays in the outbox: %s, while another recipient has it", async (_name, status, state, why) => {
    const bob = await inbox(status);
    const carol = await inbox();
    const alice = sender({ "bob.example": bob, "carol.example": carol });
    await alice.send(["bob@bob.example", "carol@carol.example"]);
    const [entry, ...others] = await alice.list();
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ id: ID, created: CREATED, sealed: `sealed ${ID}` });
    expect(summaryOf(entry?.recipients ?? [])).toEqual([
      ["bob@bob.example", state, why],
      ["carol@carol.example", "delivered", null],
    ]);
    expect((await alice.sent()).map(({ to }) => to)).toEqual([["carol@carol.example"]]);
  });

  it("stays in the outbox if an inbox does not respond", async () => {
    const alice = sender({ "bob.example": await loopbackServer(() => {}) }, { totalMs: 150 });
    expect(summaryOf(await alice.send(["bob@bob.example"]))).toEqual([
      ["bob@bob.example", "waiting", expect.stringContaining("could not be reached")],
    ]);
    expect(await alice.list()).toHaveLength(1);
    expect(await alice.sent()).toEqual([]);
  });

  it("is retried when due, with the same bytes, only for recipients who lack it", async () => {
    const bob = await inbox(500);
    const carol = await inbox();
    const alice = sender({ "bob.example": bob, "carol.example": carol });
    const [first] = await alice.send(["bob@bob.example", "carol@carol.example"]);
    expect(first?.next).toBe(NOW + 10 * MINUTE);

    alice.clock.time = NOW + 10 * MINUTE - 1;
    expect(await alice.retry({ all: false })).toEqual([]);
    alice.clock.time = NOW + 10 * MINUTE;
    expect(await alice.retry({ all: false })).toMatchObject([{ attempts: 2, next: NOW + 35 * MINUTE }]);
    bob.answer.status = 202;
    expect(await alice.retry({ all: false })).toEqual([]);
    alice.clock.time = NOW + 35 * MINUTE;
    expect(summaryOf(await alice.retry({ all: false }))).toEqual([["bob@bob.example", "delivered", null]]);
    expect(bob.answer.got).toEqual([`sealed ${ID}`]);
    expect(carol.answer.asked).toBe(1);
    expect(await alice.list()).toEqual([]);
    expect((await alice.sent())[0]?.to).toEqual(["bob@bob.example", "carol@carol.example"]);
  });

  it.each([429, 503])("is not retried before Retry-After: %i", async (status) => {
    const alice = sender({ "bob.example": await inbox(status, { "retry-after": "7200" }) });
    expect(await alice.send(["bob@bob.example"])).toMatchObject([{ state: "waiting", next: NOW + 120 * MINUTE }]);
    alice.clock.time = NOW + 120 * MINUTE - 1;
    expect(await alice.retry({ all: false })).toEqual([]);
  });

  it("is retried even if the clock was years ahead at the failed attempt", async () => {
    const bob = await inbox(500);
    const alice = sender({ "bob.example": bob });
    alice.clock.time = NOW + 3650 * DAY;
    await alice.send(["bob@bob.example"]);
    alice.clock.time = NOW;
    bob.answer.status = 202;
    expect(await alice.retry({ all: false })).toMatchObject([{ state: "delivered" }]);
    expect(bob.answer.got).toEqual([`sealed ${ID}`]);
  });

  it("is marked failed after eight attempts in three days, and stays in the outbox", async () => {
    const bob = await inbox(500);
    const alice = sender({ "bob.example": bob });
    let [report] = await alice.send(["bob@bob.example"]);
    while (report?.next) {
      alice.clock.time = report.next;
      [report] = await alice.retry({ all: false });
    }
    expect(report).toMatchObject({ state: "failed", attempts: 8, why: "it answers 500" });
    expect(bob.answer.asked).toBe(8);
    expect(alice.clock.time).toBeLessThan(NOW + 3 * DAY);
    alice.clock.time += 30 * DAY;
    expect(await alice.retry({ all: false })).toEqual([]);
    expect(await alice.list()).toMatchObject([{ id: ID }]);
  });

  it("does not delay others: an unresponsive inbox gets one request per run", async () => {
    const bob = await inbox(500);
    const carol = await inbox(500);
    const alice = sender({ "bob.example": bob, "carol.example": carol });
    const ids = ["1", "2", "3"].map((digit) => digit.repeat(64));
    for (const id of ids) await alice.send(["bob@bob.example", "carol@carol.example"], { id });
    bob.answer.status = 0;
    carol.answer.status = 202;
    alice.clock.time += DAY;
    expect((await alice.retry({ all: false })).map(({ state }) => state)).toEqual([
      "waiting",
      "delivered",
      "delivered",
      "delivered",
    ]);
    expect([bob.answer.asked, carol.answer.asked]).toEqual([4, 6]);

    bob.answer.status = 202;
    expect(await alice.retry({ all: false })).toMatchObject([
      { id: ids[1], attempts: 1 },
      { id: ids[2], attempts: 1 },
    ]);
    expect((await alice.list()).map(({ id }) => id)).toEqual([ids[0]]);
  });

  it("is retried immediately with `all`, even if it was marked failed", async () => {
    const bob = await inbox(400);
    const carol = await inbox(503, { "retry-after": "7200" });
    const alice = sender({ "bob.example": bob, "carol.example": carol });
    await alice.send(["bob@bob.example", "carol@carol.example"]);
    bob.answer.status = 500;
    alice.clock.time = NOW + 30 * DAY;
    const reports = await alice.retry({ all: true });
    expect(reports).toMatchObject([
      { address: "bob@bob.example", state: "waiting", attempts: 1, first: NOW + 30 * DAY },
      { address: "carol@carol.example", state: "failed", attempts: 2 },
    ]);
    bob.answer.status = 202;
    carol.answer.status = 202;
    await alice.retry({ all: true });
    expect(await alice.list()).toEqual([]);
  });

  it("can be discarded by the author, and the copy of delivered messages stays", async () => {
    const alice = sender({ "bob.example": await inbox(400), "carol.example": await inbox() });
    await alice.send(["bob@bob.example"]);
    const other = "2".repeat(64);
    await alice.send(["bob@bob.example", "carol@carol.example"], { id: other });
    expect((await alice.list()).map(({ id }) => id)).toEqual([ID, other]);
    expect(await alice.discard(ID)).toBe(true);
    expect(await alice.discard(ID)).toBe(false);
    expect(await alice.discard(other)).toBe(true);
    expect(await alice.list()).toEqual([]);
    expect(await alice.sent()).toMatchObject([{ id: other, to: ["carol@carol.example"] }]);
  });
});

describe("a store that fails", () => {
  it.each(["before", "after"] as const)("loses no message if it fails %s a delivery is recorded", async (when) => {
    const bob = await inbox();
    const store = faultyStore(memoryStore());
    const alice = sender({ "bob.example": bob }, { store });
    bob.answer.onAsked = () => store.fail({ when, operation: "put", times: 1 });
    await expect(alice.send(["bob@bob.example"])).rejects.toThrow(failsWith("store-failed"));
    bob.answer.onAsked = () => {};
    expect(await alice.list()).toHaveLength(1);

    alice.clock.time += 5 * MINUTE;
    await alice.retry({ all: false });
    expect(bob.answer.got).toEqual(Array(when === "before" ? 2 : 1).fill(`sealed ${ID}`));
    expect(await alice.list()).toEqual([]);
    expect(await alice.sent()).toHaveLength(1);
  });

  it("lists no copy twice if it fails before the message leaves the outbox", async () => {
    const store = faultyStore(memoryStore());
    const alice = sender({ "bob.example": await inbox() }, { store });
    store.fail({ when: "before", operation: "delete", times: 1 });
    await expect(alice.send(["bob@bob.example"])).rejects.toThrow(failsWith("store-failed"));
    expect([(await alice.list()).length, (await alice.sent()).length]).toEqual([1, 1]);
    await alice.retry({ all: false });
    expect([(await alice.list()).length, (await alice.sent()).length]).toEqual([0, 1]);
  });

  it("loses no copy if it fails while the copy is stored", async () => {
    const store = faultyStore(memoryStore());
    const bob = await inbox();
    const alice = sender({ "bob.example": bob }, { store });
    store.fail({ when: "before", key: "sent/", operation: "put", times: 1 });
    await expect(alice.send(["bob@bob.example"])).rejects.toThrow(failsWith("store-failed"));
    expect(await alice.sent()).toMatchObject([{ id: ID, to: ["bob@bob.example"] }]);
    expect(await alice.retry({ all: false })).toEqual([]);
    expect(await alice.store.keys("")).toEqual([`sent/${ID}`]);
    expect(bob.answer.asked).toBe(1);
  });
});

describe("several processes", () => {
  const folder = () => mkdtempSync(join(work, "data-"));
  const startSender = (...args: string[]): ChildProcess => {
    const child = fileURLToPath(new URL("outbox-child.mjs", import.meta.url));
    return spawn(process.execPath, [child, ...args], { stdio: ["ignore", "ignore", "inherit"] });
  };
  const outboxIn = (data: string, hosts: LoopbackServer[], time: number) =>
    new Outbox({
      store: new SqliteStore(data),
      ask: createGuard({ userAgent: "test/1", allowPrivateHosts: hosts.map(({ host }) => host) }),
      now: () => time,
      random: () => 0.5,
    });

  it("lose no message if one is killed between two deliveries, but may repeat one", async () => {
    const data = folder();
    const fast = await inbox();
    let onSlowRequest = () => {};
    const slowRequest = new Promise<void>((resolve) => {
      onSlowRequest = resolve;
    });
    let isUp = false;
    const got: string[] = [];
    const slow = await loopbackServer(async (request, response) => {
      got.push(await text(request));
      if (isUp) response.writeHead(202).end();
      else onSlowRequest();
    });
    const child = startSender(data, ID, String(NOW), `${fast.url}/inbox`, `${slow.url}/inbox`);
    await slowRequest;
    child.kill("SIGKILL");
    await once(child, "close");

    isUp = true;
    const [entry] = await outboxIn(data, [fast, slow], NOW).list();
    expect(entry).toMatchObject({ id: ID, sealed: `sealed ${ID}` });
    expect(entry?.recipients[1]).toMatchObject({ state: "waiting" });
    // A process may still be running, so the claim of a killed one lasts for five minutes.
    expect(await outboxIn(data, [fast, slow], NOW + 5 * MINUTE - 1).retry({ all: false })).toEqual([]);
    const later = outboxIn(data, [fast, slow], NOW + 5 * MINUTE);
    expect((await later.retry({ all: false })).every(({ state }) => state === "delivered")).toBe(true);
    expect(got).toEqual([`sealed ${ID}`, `sealed ${ID}`]);
    expect(await later.list()).toEqual([]);
    expect((await later.sent()).map(({ to }) => to.length)).toEqual([2]);
  });

  it("store all messages that they send concurrently", async () => {
    const data = folder();
    const bob = await inbox();
    const ids = ["1", "2"].map((digit) => digit.repeat(64));
    await Promise.all(ids.map((id) => once(startSender(data, id, String(NOW), `${bob.url}/inbox`), "close")));
    expect(bob.answer.got.sort()).toEqual(ids.map((id) => `sealed ${id}`));
    expect((await outboxIn(data, [bob], NOW).sent()).map(({ id }) => id)).toEqual(ids);
  });

  it("that retry everything concurrently agree on the deliveries", async () => {
    const store = memoryStore();
    const other = await inbox(400);
    let fail = () => {};
    const bob = await loopbackServer((_request, response) => {
      if (bob.requests.length === 2) response.writeHead(202).end();
      else fail = () => response.writeHead(500).end();
    });
    const hosts = { "bob.example": bob, "other.example": other };
    const [first, second] = [sender(hosts, { store }), sender(hosts, { store })];
    const sending = first.send(["bob@bob.example", "ben@other.example"]);
    while ((await second.list())[0]?.recipients[1]?.state !== "failed" || bob.requests.length < 1) {
      await new Promise(setImmediate);
    }
    expect(summaryOf(await second.retry({ all: true }))[0]).toEqual(["bob@bob.example", "delivered", null]);
    fail();
    expect(summaryOf(await sending)[0]).toEqual(["bob@bob.example", "delivered", null]);
    expect((await first.list())[0]?.recipients[0]).toMatchObject({ state: "delivered" });
  });

  it("that retry concurrently deliver once, because one claims the message", async () => {
    const data = folder();
    const bob = await inbox(500);
    const recipients = [{ address: "bob@bob.example", endpoint: `${bob.url}/inbox` }];
    await outboxIn(data, [bob], NOW).send({ id: ID, sealed: "sealed", recipients, keepCopy: false });
    bob.answer.status = 202;
    const outboxes = [1, 2, 3].map(() => outboxIn(data, [bob], NOW + DAY));
    const reports = await Promise.all(outboxes.map((outbox) => outbox.retry({ all: false })));
    expect(reports.flat()).toHaveLength(1);
    expect(bob.answer.got).toEqual(["sealed"]);
    expect(await new SqliteStore(data).keys("")).toEqual([]);
  });
});
