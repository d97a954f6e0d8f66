import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { memoryStore } from "../../../plugin/store/memory.js";
import { SqliteStore } from "../../../plugin/store/sqlite.js";
import type { Store, StreamingStore } from "../../../plugin/store/store.js";
import { faultyStore } from "../../helpers/faulty-store.js";
import { ARMORED, alicesInbox, BINARY, DAY, INBOX, idOf, outcomeOf, sealed } from "./alices-inbox.js";

const KiB = 1024;
const ROOMY = 64 * KiB * KiB;
const SENDERS = "inbox/alice/senders/";
const work = mkdtempSync(join(tmpdir(), "twtxt-inbox-"));
afterAll(() => rmSync(work, { recursive: true, force: true }));

const STORES: [string, () => StreamingStore][] = [
  ["memory", memoryStore],
  ["files", () => new SqliteStore(mkdtempSync(join(work, "store-")))],
];

const base64 = (body: Uint8Array) => Buffer.from(body).toString("base64");

/** All keys and values of a store as one string. */
async function dump(store: Store): Promise<string> {
  const keys = await store.keys("");
  const values = await Promise.all(keys.map(async (key) => Buffer.from((await store.get(key))?.bytes ?? "")));
  return [...keys, ...values.map((value) => value.toString("latin1"))].join("\n");
}

/** Other encodings that open too: longer length fields, unknown items in a packet. */
function variantsOf(binary: Buffer): Buffer[] {
  const header = binary.subarray(2, 2 + (binary[1] ?? 0));
  const packet = binary.subarray(2 + header.length + 1);
  const heads = [
    [0xc5, 0, header.length],
    [0xc6, 0, 0, 0, header.length],
  ];
  const packets = [[0xdc, 0, 2], [0xdd, 0, 0, 0, 2], [0x93], [0x94], [0xdc, 0, 3]].map((start) => {
    const more = Math.max(0, ((start.at(-1) ?? 0) & 0x0f) - 2);
    return Buffer.concat([Buffer.from(start), packet, Buffer.alloc(more, 0xc0)]);
  });
  return heads.flatMap((head) => packets.map((one) => Buffer.concat([Buffer.from(head), header, one])));
}

describe("a delivery", () => {
  it.each([
    ["armored", ARMORED, "POST", "text/plain"],
    ["binary", BINARY, "POST", "application/octet-stream"],
    ["with PUT", ARMORED, "PUT", "application/x-www-form-urlencoded"],
    ["without a content type", BINARY, "PUT", ""],
    ["64 KiB long", sealed(1, 64 * KiB), "POST", "text/plain"],
  ])("202: a message is stored as received, %s", async (_, body, method, type) => {
    const alice = alicesInbox();
    const headers: Record<string, string> = type === "" ? {} : { "content-type": type };
    expect((await alice.send(body, { method, headers })).status).toBe(202);
    const id = idOf(body === ARMORED ? BINARY : body);
    expect(await alice.items()).toEqual([{ id, created: "2026-11-20T09:00:00.000Z", payload: base64(body) }]);
  });

  it("202: the message is stored before the response, and another process can read it", async () => {
    const folder = mkdtempSync(join(work, "store-"));
    expect((await alicesInbox({ store: new SqliteStore(folder) }).send(ARMORED)).status).toBe(202);
    const again = alicesInbox({ store: new SqliteStore(folder) });
    expect(await again.items()).toMatchObject([{ id: idOf(BINARY), payload: base64(ARMORED) }]);
  });

  it("202: a repeated message, armored or not, is stored once, as first received", async () => {
    const alice = alicesInbox();
    await alice.receive(ARMORED, ARMORED, BINARY);
    const quoted = Buffer.from(ARMORED.toString().replaceAll(" ", "\n> "));
    await alice.receive(quoted);
    expect(await alice.items()).toMatchObject([{ id: idOf(BINARY), payload: base64(ARMORED) }]);
  });

  it("202: ten MessagePack encodings and the shortest one count as one message, which stays deleted", async () => {
    const alice = alicesInbox();
    const variants = variantsOf(BINARY);
    await alice.receive(...variants, BINARY, ARMORED);
    expect(await alice.items()).toMatchObject([{ id: idOf(BINARY), payload: base64(variants[0] ?? Buffer.alloc(0)) }]);
    await alice.delete(idOf(BINARY));
    await alice.receive(BINARY, ARMORED, ...variants.toReversed());
    expect(await alice.ids()).toEqual([]);
    expect(await alice.store.keys("inbox/alice/messages/")).toEqual([]);
  });

  it("202: a message with a re-encoded header is a different one, because it does not open", async () => {
    const alice = alicesInbox();
    const header = BINARY.subarray(2, 2 + (BINARY[1] ?? 0));
    // An array of six items with a length of two bytes.
    const longer = Buffer.concat([Buffer.from([0xdc, 0, 6]), header.subarray(1)]);
    const other = Buffer.concat([Buffer.from([0xc4, longer.length]), longer, BINARY.subarray(2 + header.length)]);
    await alice.receive(other, BINARY);
    expect((await alice.ids()).toSorted()).toEqual([idOf(other), idOf(BINARY)].toSorted());
  });

  it.each(STORES)("202: six concurrent deliveries of one message store it once (%s)", async (_, open) => {
    const alice = alicesInbox({ store: open() });
    const answers = await Promise.all(Array.from({ length: 6 }, () => alice.send(ARMORED)));
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202, 202]);
    expect(await alice.ids()).toEqual([idOf(BINARY)]);
  });

  it("202: one message that two processes store at the same moment, in two forms, is stored once", async () => {
    const store = memoryStore();
    const other = alicesInbox({ store });
    other.clock.step(5);
    const racing: Store = {
      ...store,
      async put(key, bytes, condition) {
        if (key.startsWith("inbox/alice/messages/")) await other.receive(BINARY);
        return store.put(key, bytes, condition);
      },
    };
    expect((await alicesInbox({ store: racing }).send(ARMORED)).status).toBe(202);
    expect(await store.keys("inbox/alice/messages/")).toHaveLength(1);
    expect(await other.items()).toMatchObject([{ id: idOf(BINARY), payload: base64(ARMORED) }]);
  });

  it("202: two records of one message, which a bucket may have for an hour, are listed once and deleted together", async () => {
    const alice = alicesInbox();
    const leaveTwo = async () => {
      await alice.receive(ARMORED);
      const [key = ""] = await alice.store.keys("inbox/alice/messages/");
      await alice.store.put(
        key.replace(/\d{15}/, (time) => `${time.slice(0, -4)}9999`),
        BINARY,
      );
    };
    await leaveTwo();
    expect(await alice.items()).toMatchObject([{ id: idOf(BINARY), payload: base64(ARMORED) }]);
    await alice.sweep(() => false);
    expect(await alice.store.keys("inbox/alice/messages/")).toHaveLength(1);
    await leaveTwo();
    expect(await alice.delete(idOf(BINARY))).toMatchObject({ status: 200 });
    expect(await alice.store.keys("inbox/alice/messages/")).toEqual([]);
  });

  it.each(STORES)(
    "202: twenty messages in one millisecond are all stored, each with its own time (%s)",
    async (_, open) => {
      const alice = alicesInbox({ store: open() });
      const bodies = Array.from({ length: 20 }, (_, n) => sealed(n));
      const answers = await Promise.all(bodies.map((body) => alice.send(body)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
      expect((await alice.ids()).toSorted()).toEqual(bodies.map(idOf).toSorted());
      expect(new Set((await alice.items()).map(({ created }) => created)).size).toBe(20);
    },
  );

  it("202: each user has a separate inbox", async () => {
    const alice = alicesInbox();
    await alice.send(sealed(1));
    await alice.send(sealed(2), { url: INBOX.replace(/alice$/, "carol") });
    expect(await alice.ids()).toEqual([idOf(sealed(1))]);
    expect(await alice.news()).toMatchObject([
      { user: "alice", messages: [{ id: idOf(sealed(1)) }] },
      { user: "carol", messages: [{ id: idOf(sealed(2)) }] },
    ]);
  });

  it.each([
    ["an empty body", "", {}, "bad-message"],
    ["plain text", "hello", {}, "bad-armor"],
    ["half a message", BINARY.subarray(0, 200), {}, "bad-message"],
    ["a message with an extra byte", Buffer.concat([BINARY, Buffer.from([0])]), {}, "bad-message"],
    ["truncated armor", ARMORED.subarray(0, 200), {}, "bad-armor"],
    ["armor around something else", "BEGIN SALTPACK ENCRYPTED MESSAGE. 0. END SALTPACK ENCRYPTED MESSAGE.", {}, null],
    ["more than 64 KiB", sealed(1, 64 * KiB + 1), {}, "too-large"],
    ["more than 64 KiB according to Content-Length", "", { "content-length": "65537" }, "too-large"],
    ["a compressed message", BINARY, { "content-encoding": "gzip" }, "bad-request"],
    ["a message in an unknown encoding", BINARY, { "content-encoding": "x-none" }, "bad-request"],
  ])("400: %s", async (_, body, headers, code) => {
    const alice = alicesInbox();
    const outcome = await outcomeOf(await alice.send(body, { headers: headers as Record<string, string> }));
    expect(outcome).toEqual({ status: 400, code: code ?? expect.stringMatching(/^bad-(armor|message)$/) });
    expect(await alice.store.keys("")).toEqual([]);
  });

  it.each([" Identity", ""])("202: the Content-Encoding %j means no encoding", async (encoding) => {
    expect((await alicesInbox().send(BINARY, { headers: { "content-encoding": encoding } })).status).toBe(202);
  });

  it.each(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"])(
    "404: %s for an unknown user",
    async (method) => {
      const alice = alicesInbox();
      for (const path of ["bob", "Alice", "", "alice/x/y", "bob/x"]) {
        const response = await alice.ask(method, `https://alice.example/inbox/${path}`, { signer: null });
        expect(response.status).toBe(404);
      }
    },
  );
});

describe("a full inbox", () => {
  it("503 inbox-full: by message count; stored messages stay, repeats are accepted, a deletion makes room", async () => {
    const alice = alicesInbox({ limits: { messages: 2, bytes: ROOMY, retentionDays: null } });
    await alice.send(sealed(1), { from: "192.0.2.1" });
    await alice.send(sealed(2), { from: "192.0.2.2" });
    const refused = await alice.send(sealed(3), { from: "192.0.2.3" });
    expect(refused.headers.get("retry-after")).toBe("3600");
    expect(await outcomeOf(refused)).toEqual({ status: 503, code: "inbox-full" });
    expect((await alice.send(sealed(1))).status).toBe(202);
    expect((await alice.ids()).toSorted()).toEqual([idOf(sealed(1)), idOf(sealed(2))].toSorted());
    expect(await alice.news()).toMatchObject([{ fullness: 1 }, { fullness: 0 }]);
    expect(alice.log).toEqual([]);

    await alice.delete(idOf(sealed(1)));
    alice.clock.step(3600_000);
    expect((await alice.send(sealed(3), { from: "192.0.2.3" })).status).toBe(202);
    expect(await alice.items()).toMatchObject([{}, { id: idOf(sealed(3)), created: "2026-11-20T10:00:00.000Z" }]);
  });

  it("503 inbox-full: by size, while a smaller message still fits", async () => {
    const alice = alicesInbox({ limits: { messages: 1000, bytes: 2500, retentionDays: null } });
    await alice.send(sealed(1, 1000), { from: "192.0.2.1" });
    await alice.send(sealed(2, 1000), { from: "192.0.2.2" });
    const refused = await outcomeOf(await alice.send(sealed(3, 501), { from: "192.0.2.3" }));
    expect(refused).toEqual({ status: 503, code: "inbox-full" });
    expect((await alice.send(sealed(3, 500), { from: "192.0.2.3" })).status).toBe(202);
    expect(await alice.ids()).toHaveLength(3);
  });
});

describe("concurrent deliveries", () => {
  it.each(STORES)("503 inbox-full: thirty concurrent senders stay within the limit (%s)", async (_, open) => {
    const alice = alicesInbox({ store: open(), limits: { messages: 5, bytes: ROOMY, retentionDays: null } });
    const send = (n: number) => alice.send(sealed(n), { from: `192.0.2.${n}` });
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => send(n)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(5).fill(202), ...Array(25).fill(503)]);
    expect(await alice.ids()).toHaveLength(5);
  });

  it("202: repeats of one message count once", async () => {
    const alice = alicesInbox({ limits: { messages: 2, bytes: ROOMY, retentionDays: null } });
    const bodies = [sealed(1), sealed(1), sealed(1), sealed(2), sealed(1)];
    const answers = await Promise.all(bodies.map((body, n) => alice.send(body, { from: `192.0.2.${n}` })));
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202]);
    expect(await alice.ids()).toHaveLength(2);
  });
});

describe("the quota of one address", () => {
  const limits = { messages: 30, bytes: ROOMY, retentionDays: null };

  it("429: more than a tenth of the messages per day, including deleted ones; other addresses and repeats are accepted", async () => {
    const alice = alicesInbox({ limits });
    await alice.receive(sealed(1), sealed(1), sealed(2), sealed(3));
    await alice.delete(idOf(sealed(2)));
    const refused = await alice.send(sealed(4));
    expect(Number(refused.headers.get("retry-after"))).toBe(15 * 3600);
    expect(await outcomeOf(refused)).toEqual({ status: 429, code: "too-many-requests" });
    expect((await alice.send(sealed(3))).status).toBe(202);
    expect((await alice.send(sealed(5), { from: "2001:db8:0:1" })).status).toBe(202);
    expect((await alice.send(sealed(4), { url: INBOX.replace(/alice$/, "carol") })).status).toBe(202);
    expect((await alice.ids()).toSorted()).toEqual([1, 3, 5].map((n) => idOf(sealed(n))).toSorted());

    alice.clock.step(15 * 3600_000);
    expect((await alice.send(sealed(4))).status).toBe(202);
  });

  it("429: more than three tenths of the messages from the /64s of one IPv6 /48", async () => {
    const alice = alicesInbox({ limits });
    const send = async (n: number, from: string) => (await alice.send(sealed(n), { from })).status;
    for (let n = 0; n < 9; n += 1) expect(await send(n, `2001:db8:1:${n}`)).toBe(202);
    expect(await send(9, "2001:db8:1:9")).toBe(429);
    expect(await send(9, "2001:db8:2:9")).toBe(202);
  });

  it("429: more than a tenth of the bytes, except for a first message", async () => {
    const alice = alicesInbox({ limits: { messages: 1000, bytes: 10_000, retentionDays: null } });
    expect((await alice.send(sealed(1, 2000))).status).toBe(202);
    expect((await alice.send(sealed(2, 300))).status).toBe(429);
    expect((await alice.send(sealed(3, 500), { from: "192.0.2.2" })).status).toBe(202);
    expect((await alice.send(sealed(4, 500), { from: "192.0.2.2" })).status).toBe(202);
    expect((await alice.send(sealed(5, 300), { from: "192.0.2.2" })).status).toBe(429);
    expect(await alice.ids()).toHaveLength(3);
  });

  it("429: a refused message does not count, so that a smaller one still fits", async () => {
    const alice = alicesInbox({ limits: { messages: 1000, bytes: 10_000, retentionDays: null } });
    expect((await alice.send(sealed(1, 600))).status).toBe(202);
    expect((await alice.send(sealed(2, 401))).status).toBe(429);
    expect((await alice.send(sealed(3, 400))).status).toBe(202);
    expect(await alice.ids()).toHaveLength(2);
  });

  it("is shared by two processes that start the day at the same time", async () => {
    const store = memoryStore();
    const hosts = [1, 2].map(() => alicesInbox({ store }));
    await Promise.all(hosts.map((host, n) => host.send(sealed(n))));
    const digests = (await store.keys(SENDERS)).map((key) => key.split("/")[4]);
    expect([digests.length, new Set(digests).size]).toEqual([2, 1]);
  });

  it("429: thirty concurrent messages stay within the quota", async () => {
    const alice = alicesInbox({ limits });
    await alice.receive(sealed(100), sealed(101));
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => alice.send(sealed(n))));
    expect(answers.filter(({ status }) => status === 202).length).toBeLessThanOrEqual(1);
    expect((await alice.ids()).length).toBeLessThanOrEqual(3);
  });

  it("429: two processes share the quota", async () => {
    const store = memoryStore();
    const [first, second] = [alicesInbox({ store, limits }), alicesInbox({ store, limits })];
    await first.send(sealed(1));
    await second.send(sealed(2));
    expect((await first.send(sealed(3))).status).toBe(202);
    for (const host of [first, second]) expect((await host.send(sealed(4))).status).toBe(429);
  });

  it("counts only stored messages, not invalid or refused ones", async () => {
    const alice = alicesInbox({ limits: { ...limits, bytes: 2000 } });
    await alice.send(sealed(1, 1000), { from: "192.0.2.2" });
    for (let n = 0; n < 5; n += 1) {
      expect((await alice.send("hello")).status).toBe(400);
      expect((await alice.send(sealed(n, 1500))).status).toBe(503);
    }
    expect((await alice.send(sealed(9, 300))).status).toBe(202);
  });

  it("stores no address, and no digest after the day", async () => {
    const alice = alicesInbox();
    const address = "198.51.100.77";
    expect((await alice.send(BINARY, { from: address })).status).toBe(202);
    expect(await alice.store.keys(SENDERS)).toHaveLength(1);
    expect(await dump(alice.store)).not.toContain(address);
    await alice.sweep(() => false);
    expect(await alice.store.keys(SENDERS)).toHaveLength(1);

    alice.clock.step(DAY);
    await alice.sweep(() => false);
    expect(await alice.store.keys("inbox-s")).toEqual([]);
    expect(await alice.store.keys(SENDERS)).toEqual([]);
    expect(await alice.ids()).toHaveLength(1);
  });
});

describe("a deleted message", () => {
  it("202: stays deleted for 90 days, armored or not", async () => {
    const alice = alicesInbox();
    await alice.receive(ARMORED);
    await alice.delete(idOf(BINARY));
    for (const body of [ARMORED, BINARY]) expect((await alice.send(body)).status).toBe(202);
    alice.clock.step(90 * DAY);
    await alice.sweep(() => false);
    expect((await alice.send(ARMORED)).status).toBe(202);
    expect(await alice.ids()).toEqual([]);

    alice.clock.step(31 * DAY);
    await alice.sweep(() => false);
    expect(await alice.store.keys("inbox/")).toEqual([]);
  });

  it("202: needs no room when it arrives again", async () => {
    const alice = alicesInbox({ limits: { messages: 1, bytes: ROOMY, retentionDays: null } });
    await alice.receive(ARMORED);
    await alice.delete(idOf(BINARY));
    await alice.send(sealed(1), { from: "192.0.2.2" });
    expect((await alice.send(ARMORED)).status).toBe(202);
    expect((await alice.send(sealed(2), { from: "192.0.2.3" })).status).toBe(503);
    expect(await alice.ids()).toEqual([idOf(sealed(1))]);
  });

  it("202: stays deleted if a replay starts before the deletion and is stored after it", async () => {
    const store = memoryStore();
    const alice = alicesInbox({ store });
    const racing: Store = {
      ...store,
      async put(key, bytes, condition) {
        if (key.startsWith("inbox/alice/messages/")) {
          await alice.receive(ARMORED);
          await alice.delete(idOf(BINARY));
        }
        return store.put(key, bytes, condition);
      },
    };
    expect((await alicesInbox({ store: racing }).send(BINARY)).status).toBe(202);
    expect(await alice.ids()).toEqual([]);
    expect(await store.keys("inbox/alice/messages/")).toEqual([]);
  });

  it("is removed by a sweep if the process stopped during a replay", async () => {
    const store = faultyStore(memoryStore());
    const alice = alicesInbox({ store });
    await alice.receive(ARMORED);
    const [key = ""] = await store.keys("inbox/alice/messages/");
    await alice.delete(idOf(BINARY));
    await store.put(key, ARMORED);
    await alice.sweep(() => false);
    expect(await alice.ids()).toEqual([]);
  });

  it("is accepted as new if it was deleted long ago", async () => {
    const alice = alicesInbox();
    await alice.receive(ARMORED);
    await alice.delete(idOf(BINARY));
    alice.clock.step(130 * DAY);
    await alice.sweep(() => false);
    await alice.receive(ARMORED);
    expect(await alice.ids()).toEqual([idOf(BINARY)]);
  });
});

describe("a store that fails", () => {
  const MESSAGES = "inbox/alice/messages/";

  it.each([
    ["when the inbox is surveyed", { when: "before", operation: "survey", key: MESSAGES }],
    ["when deleted ids are looked up", { when: "before", operation: "survey", key: "inbox/alice/deleted/" }],
    ["before the salt is written", { when: "before", operation: "put", key: "inbox-salts/" }],
    ["after the salt was written", { when: "after", operation: "put", key: "inbox-salts/" }],
    ["when the sender's quota is read", { when: "before", operation: "survey", key: SENDERS }],
    ["before the message is written", { when: "before", operation: "put", key: MESSAGES }],
  ] as const)("503: %s, nothing is stored, and a retry succeeds", async (_, fault) => {
    for (const [, open] of STORES) {
      const store = faultyStore(open());
      const alice = alicesInbox({ store, limits: { messages: 10, bytes: ROOMY, retentionDays: null } });
      store.fail(fault);
      expect(await outcomeOf(await alice.send(ARMORED))).toEqual({ status: 503, code: "store-failed" });
      store.repair();
      expect(await alice.ids()).toEqual([]);

      expect((await alice.send(ARMORED)).status).toBe(202);
      expect(await alice.ids()).toEqual([idOf(BINARY)]);
    }
  });

  it("503 only after all writes have ended, so that a retry meets none of them", async () => {
    const store = faultyStore(memoryStore());
    const ended: string[] = [];
    const slow: Store = {
      ...store,
      async put(key, bytes, condition) {
        if (key.startsWith("inbox/alice/messages/")) await new Promise((resolve) => setTimeout(resolve, 20));
        const etag = await store.put(key, bytes, condition);
        ended.push(key);
        return etag;
      },
    };
    const alice = alicesInbox({ store: slow });
    store.fail({ when: "before", operation: "put", key: SENDERS });
    expect((await alice.send(ARMORED)).status).toBe(503);
    expect(ended).toContainEqual(expect.stringMatching(/^inbox\/alice\/messages\//));
  });

  it.each(["before", "after"] as const)(
    "503: %s the quota is written, the message may be stored, and a retry stores it once",
    async (when) => {
      for (const [, open] of STORES) {
        const store = faultyStore(open());
        const alice = alicesInbox({ store });
        store.fail({ when, operation: "put", key: SENDERS });
        expect(await outcomeOf(await alice.send(ARMORED))).toEqual({ status: 503, code: "store-failed" });
        store.repair();
        expect((await alice.send(ARMORED)).status).toBe(202);
        expect(await store.keys("inbox/alice/messages/")).toHaveLength(1);
      }
    },
  );

  it("503: a retry finds the message that was already written", async () => {
    for (const [, open] of STORES) {
      const store = faultyStore(open());
      const alice = alicesInbox({ store });
      store.fail({ when: "after", operation: "put", key: MESSAGES });
      const refused = await alice.send(ARMORED);
      expect(refused.headers.get("retry-after")).not.toBeNull();
      expect(await outcomeOf(refused)).toEqual({ status: 503, code: "store-failed" });
      store.repair();

      alice.clock.step(60_000);
      expect((await alice.send(BINARY)).status).toBe(202);
      expect(await alice.items()).toEqual([
        { id: idOf(BINARY), created: "2026-11-20T09:00:00.000Z", payload: base64(ARMORED) },
      ]);
    }
  });
});
