import { describe, expect, it } from "vitest";
import { memoryStore } from "../../../plugin/store/memory.js";
import { type Fault, faultyStore } from "../../helpers/faulty-store.js";
import { ALICE, alicesBlobs, DAY, dump, jsonOf, outcomeOf, sha256, storedBlobs } from "../alices-blobs.js";

const HOUR = 3600_000;
const FAILED = { status: 503, code: "store-failed" };
const never = () => false;

/** The store operations of a change. */
const STEPS: [string, Pick<Fault, "operation" | "key">][] = [
  ["the record is read", { operation: "get", key: "blobs/records/" }],
  ["the contents are counted", { operation: "survey", key: "blobs/contents/" }],
  ["the contents are written", { operation: "write" }],

  ["the nonce is looked up", { operation: "get", key: "nonces/" }],
  ["the record is written", { operation: "put", key: "blobs/records/" }],
  ["former contents are deleted", { operation: "delete", key: "blobs/contents/" }],
];
const FAULTS = (["before", "after"] as const).flatMap((when) => STEPS.map(([step, at]) => [when, step, at] as const));

async function failing() {
  const store = faultyStore(memoryStore());
  const alice = alicesBlobs({ store });
  await alice.put("a", "one", { "content-type": "text/plain" });
  return { store, alice };
}

type World = Awaited<ReturnType<typeof failing>>["alice"];

/** The list and the contents, which must be consistent. */
async function seen(alice: World) {
  const { blobs } = await jsonOf(await alice.list());
  const response = await alice.get("a");
  if (response.status === 404) return { blobs, contents: null };
  expect(response.headers.get("content-type")).toBe(blobs[0].Type);
  const contents = await response.text();
  expect(sha256(contents)).toBe(blobs[0].sha256);
  return { blobs, contents };
}

const CHANGES: [string, (alice: World) => Promise<Response>, before: object, after: object | null][] = [
  [
    "PUT",
    (alice) => alice.put("a", "two!", { "content-type": "image/png" }),
    { contents: "one", Type: "text/plain" },
    { contents: "two!", Type: "image/png" },
  ],
  [
    "POST",
    (alice) => alice.post("a", { Type: "image/png" }),
    { contents: "one", Type: "text/plain" },
    { contents: "one", Type: "image/png" },
  ],
  ["DELETE", (alice) => alice.delete("a"), { contents: "one", Type: "text/plain" }, null],
];

describe.each(CHANGES)("%s, when the store fails", (_, change, before, after) => {
  it.each(FAULTS)("%s %s: the blob is the old or the new one, never a mix", async (when, __, at) => {
    const { store, alice } = await failing();
    store.fail({ when, ...at, times: 1 });
    const response = await change(alice);
    store.repair();

    const { blobs, contents } = await seen(alice);
    const now = contents === null ? null : { contents, Type: blobs[0].Type };
    expect([before, after]).toContainEqual(now);
    if (response.status === 200) expect(now).toEqual(after);
    else expect(await outcomeOf(response)).toEqual(FAILED);

    const again = await change(alice);
    expect([200, after === null || after === now ? 404 : 200]).toContain(again.status);
    expect((await seen(alice)).contents).toBe(after === null ? null : Object(after).contents);

    alice.clock.time += DAY;
    await alice.sweep(never);
    const { blobs: stored, leftovers } = await storedBlobs(alice.store);
    expect(leftovers).toEqual([]);
    expect(stored).toHaveLength(1);
    expect((await seen(alice)).contents).toBe(after === null ? null : Object(after).contents);
  });
});

describe("a failed request", () => {
  it("gets a response without internal details, and is logged", async () => {
    const { store, alice } = await failing();
    store.fail({ when: "before", operation: "get", key: "blobs/" });
    for (const response of [await alice.get("a"), await alice.getShared("a"), await alice.put("a", "two")]) {
      expect(response.headers.get("retry-after")).toBe("60");
      expect(await response.json()).toEqual({
        status: 503,
        code: "store-failed",
        detail: "Internal error. Try again later.",
      });
    }
    expect(alice.log).toHaveLength(3);
    expect(alice.log[0]).toMatch(/^A request failed: The store was down before get of blobs\/records\//);
  });

  it("is refused before its contents are written if its condition fails or the quota is exceeded", async () => {
    const { store } = await failing();
    const alice = alicesBlobs({ store, limits: { count: 1, bytes: 10, maxBytes: 10 } });
    store.fail({ when: "before", operation: "write" });
    expect((await alice.put("a", "two", { "if-none-match": "*" })).status).toBe(412);
    expect((await alice.put("b", "two")).status).toBe(507);
    expect((await alice.put("a", "two")).status).toBe(503);
  });

  it.each([
    ["GET", { operation: "get", key: "blobs/contents/" }],
    ["list", { operation: "list" }],
    ["list", { operation: "get", key: "blobs/records/" }],
  ] as const)("503: %s, and no blob is treated as missing", async (method, at) => {
    const { store, alice } = await failing();
    for (const when of ["before", "after"] as const) {
      store.fail({ when, ...at });
      expect(await outcomeOf(await (method === "list" ? alice.list() : alice.get("a")))).toEqual(FAILED);
      store.repair();
    }
    expect((await seen(alice)).contents).toBe("one");
  });

  it.each([
    ["invalid JSON", "{"],
    ["other fields", '{"isDeleted":false}'],
    ["some of its fields", '{"owner":"kex1","key":"a"}'],
  ])("503: a damaged record, %s, is never treated as missing", async (_, text) => {
    const { alice } = await failing();
    const [record = ""] = await alice.store.keys("blobs/records/");
    await alice.store.put(record, Buffer.from(text));
    const before = Object.entries(await dump(alice.store)).filter(([key]) => key.startsWith("blobs/records/"));
    for (const response of [alice.get("a"), alice.put("a", "two", { "if-none-match": "*" }), alice.delete("a")]) {
      expect(await outcomeOf(await response)).toEqual(FAILED);
    }
    expect(Object.entries(await dump(alice.store))).toEqual(expect.arrayContaining(before));
  });

  it("caused by a damaged record affects no other blob: the list omits it, the log names it, and its contents stay", async () => {
    const { alice } = await failing();
    await alice.put("b", "two");
    const damaged = `blobs/records/${ALICE.publicKey}/${sha256("a")}`;
    await alice.store.put(damaged, Buffer.from("{"));
    const { blobs, next } = await jsonOf(await alice.list());
    expect([blobs.map(({ key }: { key: string }) => key), next]).toEqual([["b"], null]);
    expect(alice.log).toEqual([`A stored blob cannot be read: ${damaged}`]);

    alice.clock.time += 2 * DAY;
    const before = await dump(alice.store);
    await alice.sweep(never);
    expect(await dump(alice.store)).toEqual(before);
  });

  it("503: lost contents can be uploaded again", async () => {
    const { alice } = await failing();
    for (const key of await alice.store.keys("blobs/contents/")) await alice.store.delete(key);
    expect(await outcomeOf(await alice.get("a"))).toEqual(FAILED);
    expect((await alice.head("a")).status).toBe(200);
    expect((await alice.put("a", "two")).status).toBe(200);
    expect((await seen(alice)).contents).toBe("two");
  });
});

describe("sweeping", () => {
  const leftover = (key: string, time: number) =>
    `blobs/contents/${ALICE.publicKey}/${sha256(key)}-${time.toString(36)}.00ff-4`;

  it("deletes contents without a blob once they are a day old, and no others", async () => {
    const { alice } = await failing();
    const start = alice.clock.time;
    alice.clock.time += 2 * DAY;
    await alice.put("young", "two");
    const names = [
      leftover("a", start + DAY),
      leftover("never-there", start + DAY),
      leftover("a", start + DAY + 1),
      leftover("never-there", start + DAY + 1),
    ];
    for (const name of names) await alice.store.put(name, Buffer.from(`left`));
    const before = await dump(alice.store);
    await alice.sweep(never);

    const [first = "", second = "", ...others] = names;
    const { [first]: _a, [second]: _b, ...after } = before;
    expect(await dump(alice.store)).toEqual(after);
    expect(Object.keys(after)).toEqual(expect.arrayContaining(others));
    expect((await seen(alice)).contents).toBe("one");
    expect(await (await alice.get("young")).text()).toBe("two");
  });

  it("leaves unknown keys, and contents of a deleted blob until they are a day old", async () => {
    const { store, alice } = await failing();
    store.fail({ when: "before", operation: "delete", key: "blobs/contents/" });
    expect((await alice.delete("a")).status).toBe(503);
    store.repair();
    const unknown = `blobs/contents/${ALICE.publicKey}/notes.txt`;
    await store.put(unknown, Buffer.from("mine"));
    alice.clock.time += DAY - HOUR;
    await alice.sweep(never);
    expect(await store.keys("blobs/contents/")).toHaveLength(2);
    alice.clock.time += HOUR;
    await alice.sweep(never);
    expect(await store.keys("blobs/contents/")).toEqual([unknown]);
    expect(await jsonOf(await alice.list())).toEqual({ blobs: [], next: null });
  });

  it("first checks blobs with two contents, however many others are old", async () => {
    const { alice } = await failing();
    const start = alice.clock.time;
    for (let at = 0; at < 2000; at += 1) await alice.store.put(leftover(`b${at}`, start), Buffer.from("left"));
    const former = leftover("a", start);
    await alice.store.put(former, Buffer.from("left"));
    alice.clock.time += DAY;
    await alice.sweep(never);
    const left = await alice.store.keys("blobs/contents/");
    expect(left).toHaveLength(2001 + 1 - 99);
    expect(left).not.toContain(former);
    expect(await (await alice.get("a")).text()).toBe("one");
  });

  it("stops when its time is over, and continues in the next run", async () => {
    const { alice } = await failing();
    for (const at of [1, 2, 3]) await alice.store.put(leftover(`b${at}`, alice.clock.time), Buffer.from("left"));
    alice.clock.time += DAY;
    await alice.sweep(() => true);
    expect(await alice.store.keys("blobs/contents/")).toHaveLength(4);
    await alice.sweep(never);
    expect(await alice.store.keys("blobs/contents/")).toHaveLength(1);
  });

  it("fails if the store fails, and deletes nothing that it could not check", async () => {
    const { store, alice } = await failing();
    alice.clock.time += DAY;
    store.fail({ when: "before", operation: "get" });
    await expect(alice.sweep(never)).rejects.toMatchObject({ code: "store-failed" });
    store.repair();
    expect((await seen(alice)).contents).toBe("one");
  });
});
