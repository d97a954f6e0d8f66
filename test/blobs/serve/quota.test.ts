import { describe, expect, it } from "vitest";
import type { BlobLimits } from "../../../plugin/blobs/serve/quota.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import type { StreamingStore } from "../../../plugin/store/store.js";
import { alicesBlobs, CAROL, dump, jsonOf, outcomeOf } from "../alices-blobs.js";

const EXCEEDED = { status: 507, code: "quota-exceeded" };

function limited(count: number, bytes: number) {
  return alicesBlobs({ limits: { count, bytes, maxBytes: 1000 } });
}

async function keysOf(alice: ReturnType<typeof limited>): Promise<string[]> {
  const { blobs } = await jsonOf(await alice.list());
  return blobs.map(({ key }: { key: string }) => key).sort();
}

describe("507 quota-exceeded", () => {
  it("names the exceeded limit and its option, and nothing changes", async () => {
    const alice = alicesBlobs({ limits: { count: 2, bytes: 2 ** 20, maxBytes: 2 ** 20 } });
    await alice.put("a", "x".repeat(2 ** 19));
    await alice.put("b", "x".repeat(2 ** 19));
    const before = await dump(alice.store);
    const response = await alice.put("c", "");
    expect(response.status).toBe(507);
    expect(await response.json()).toEqual({
      status: 507,
      code: "quota-exceeded",
      detail:
        "This upload would exceed the limit of 2 blobs. Delete some blobs, or raise the site's option blobs: { count }.",
    });
    expect((await jsonOf(await alice.put("a", "x".repeat(2 ** 19 + 1)))).detail).toBe(
      "This upload would exceed the limit of 1 MiB in all. Delete some blobs, or raise the site's option blobs: { megabytes }.",
    );
    expect(await dump(alice.store)).toEqual(before);
  });

  it("is exact to the last blob and byte, and deleted blobs free their space", async () => {
    const alice = limited(3, 100);
    expect((await alice.put("a", "x".repeat(60))).status).toBe(201);
    expect(await outcomeOf(await alice.put("b", "x".repeat(41)))).toEqual(EXCEEDED);
    expect((await alice.put("b", "x".repeat(40))).status).toBe(201);
    expect((await alice.put("c", "")).status).toBe(201);
    expect(await outcomeOf(await alice.put("d", ""))).toEqual(EXCEEDED);
    await alice.delete("a");
    expect((await alice.put("d", "x".repeat(60))).status).toBe(201);
    expect(await keysOf(alice)).toEqual(["b", "c", "d"]);
  });

  it("counts a blob that is replaced once, by its new size", async () => {
    const alice = limited(1, 100);
    await alice.put("a", "x".repeat(100));
    expect((await alice.put("a", "y".repeat(100))).status).toBe(200);
    expect(await outcomeOf(await alice.put("a", "z".repeat(101)))).toEqual(EXCEEDED);
    expect((await alice.put("a", "z".repeat(10))).status).toBe(200);
    expect((await alice.put("a", "z".repeat(100))).status).toBe(200);
  });

  it("applies to puts only: blobs of a full owner can be changed and read", async () => {
    const alice = limited(1, 3);
    await alice.put("a", "one");
    expect((await alice.post("a", { Filename: "b" })).status).toBe(200);
    expect(await (await alice.get("a")).text()).toBe("one");
  });

  it("does not refuse replacements of the same size after the limits were lowered", async () => {
    const { store } = limited(3, 100);
    const before = alicesBlobs({ store });
    for (const key of ["a", "b", "c"]) await before.put(key, "one");
    const alice = alicesBlobs({ store, limits: { count: 1, bytes: 3, maxBytes: 10 } });
    expect((await alice.put("a", "two")).status).toBe(200);
    expect((await alice.put("b", "2")).status).toBe(200);
    expect(await outcomeOf(await alice.put("c", "three"))).toEqual(EXCEEDED);
    expect(await keysOf(alice)).toEqual(["a", "b", "c"]);
  });

  it("counts each owner separately", async () => {
    const alice = limited(1, 3);
    await alice.put("a", "one");
    expect((await alice.put("a", "one", {}, { signer: CAROL })).status).toBe(201);
    expect(await outcomeOf(await alice.put("b", "", {}, { signer: CAROL }))).toEqual(EXCEEDED);
  });

  it("frees the space that a failed put has reserved", async () => {
    const alice = limited(1, 3);
    for (let tries = 0; tries < 5; tries += 1) {
      const response = await alice.put("a", "one", {}, { signed: { body: Buffer.from("two") } });
      expect(response.status).toBe(401);
    }
    expect((await alice.put("a", "one")).status).toBe(201);
  });
});

describe("two processes", () => {
  function twoProcesses() {
    const store = memoryStore();
    const clock = { time: Date.parse("2026-11-20T09:00:00Z") };
    const limits = { count: 2, bytes: 10, maxBytes: 10 };
    return { clock, first: alicesBlobs({ store, clock, limits }), second: alicesBlobs({ store, clock, limits }) };
  }

  it("count each other's blobs", async () => {
    const { first, second } = twoProcesses();
    await first.put("a", "one");
    await second.put("b", "two");
    expect(await outcomeOf(await first.put("c", "3"))).toEqual(EXCEEDED);
    expect(await outcomeOf(await second.put("d", "4"))).toEqual(EXCEEDED);
  });

  it("use the space at once that the other one has freed", async () => {
    const { first, second } = twoProcesses();
    await first.put("a", "one");
    await first.put("b", "two");
    expect(await outcomeOf(await second.put("c", "3"))).toEqual(EXCEEDED);
    await first.delete("a");
    expect((await second.put("c", "3")).status).toBe(201);
  });
});

describe("twenty puts at once", () => {
  const TWENTY = Array.from({ length: 20 }, (_, at) => `key-${at}`);

  it.each([
    ["blobs", 7, 1000],
    ["bytes", 100, 70],
  ])("fill the quota exactly: %s", async (_, count, bytes) => {
    const alice = limited(count, bytes);
    const responses = await Promise.all(TWENTY.map((key) => alice.put(key, "0123456789")));
    const statuses = responses.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(7).fill(201), ...Array(13).fill(507)]);
    expect(await keysOf(alice)).toHaveLength(7);
  });
});

/** A store whose first operation on a key with this prefix waits for `release`. */
function heldStore(operation: "put" | "write", start: string) {
  const inner = memoryStore();
  let release = () => {};
  let isHeld = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const held = new Promise<void>((resolve) => {
    isHeld = resolve;
  });
  let isFirst = true;
  const waiting = async (key: string) => {
    if (!isFirst || !key.startsWith(start)) return;
    isFirst = false;
    isHeld();
    await gate;
  };
  const store: StreamingStore = {
    ...inner,
    async put(key, bytes, condition) {
      if (operation === "put") await waiting(key);
      return inner.put(key, bytes, condition);
    },
    async write(key, chunks, size) {
      if (operation === "write") await waiting(key);
      await inner.write(key, chunks, size);
    },
  };
  return { store, inner, held, release };
}

/** Puts a blob and waits until its store operation is held; `stored` blobs are there before. */
async function holdPut(
  [key, text]: readonly [string, string],
  [operation, start]: readonly ["put" | "write", string],
  limits: BlobLimits,
  stored: Readonly<Record<string, string>> = {},
) {
  const { store, inner, held, release } = heldStore(operation, start);
  const before = alicesBlobs({ store: inner, limits });
  for (const [name, contents] of Object.entries(stored)) await before.put(name, contents);
  const alice = alicesBlobs({ store, limits });
  const putting = alice.put(key, text);
  await held;
  const finish = async () => {
    release();
    return (await putting).status;
  };
  return { alice, finish };
}

describe("a second put during the first one", () => {
  const PLACES = [
    ["before its contents are written", "write", "blobs/contents/"],
    ["after they are", "put", "blobs/records/"],
  ] as const;

  const FULL = { a: "one", b: "two" };

  it.each(PLACES)("is accepted if both fit, %s", async (_, ...place) => {
    const { alice, finish } = await holdPut(["a", "one"], place, { count: 2, bytes: 6, maxBytes: 10 });
    expect((await alice.put("b", "two")).status).toBe(201);
    expect(await finish()).toBe(201);
    expect(await keysOf(alice)).toEqual(["a", "b"]);
  });

  it.each(PLACES)("is refused if only one fits, %s", async (_, ...place) => {
    for (const limits of [
      { count: 1, bytes: 10, maxBytes: 10 },
      { count: 9, bytes: 5, maxBytes: 10 },
    ]) {
      const { alice, finish } = await holdPut(["a", "one"], place, limits);
      expect(await outcomeOf(await alice.put("b", "two"))).toEqual(EXCEEDED);
      expect(await finish()).toBe(201);
      expect(await keysOf(alice)).toEqual(["a"]);
    }
  });

  it.each(PLACES)("is accepted if both replace blobs of the same size in a full quota, %s", async (_, ...place) => {
    const { alice, finish } = await holdPut(["a", "ONE"], place, { count: 2, bytes: 6, maxBytes: 10 }, FULL);
    expect((await alice.put("b", "TWO")).status).toBe(200);
    expect(await finish()).toBe(200);
    expect((await alice.put("c", "")).status).toBe(507);
    expect(await (await alice.get("a")).text()).toBe("ONE");
  });

  it.each(PLACES)("may use the rest of the quota while another blob is replaced, %s", async (_, ...place) => {
    const { alice, finish } = await holdPut(["a", "ONE"], place, { count: 2, bytes: 7, maxBytes: 10 }, FULL);
    expect(await outcomeOf(await alice.put("b", "12345"))).toEqual(EXCEEDED);
    expect((await alice.put("b", "1234")).status).toBe(200);
    expect(await finish()).toBe(200);
  });
});

describe("a replacement in progress", () => {
  const LIMITS = { count: 1, bytes: 10, maxBytes: 10 };
  const holdReplacement = () => holdPut(["a", "9876543210"], ["write", "blobs/contents/"], LIMITS, { a: "0123456789" });

  it("counts in full, also after the blob that it replaces is deleted", async () => {
    const { alice, finish } = await holdReplacement();
    expect((await alice.delete("a")).status).toBe(200);
    expect(await outcomeOf(await alice.put("b", "0123456789"))).toEqual(EXCEEDED);
    expect(await outcomeOf(await alice.put("b", ""))).toEqual(EXCEEDED);
    expect(await finish()).toBe(201);
    expect(await keysOf(alice)).toEqual(["a"]);
  });

  it("leaves no space for a second one of the same blob in a full quota", async () => {
    const { alice, finish } = await holdReplacement();
    expect(await outcomeOf(await alice.put("a", "again"))).toEqual(EXCEEDED);
    expect(await finish()).toBe(200);
    expect((await alice.put("a", "again")).status).toBe(200);
  });
});
