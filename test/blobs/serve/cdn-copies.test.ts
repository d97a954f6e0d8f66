import { describe, expect, it } from "vitest";
import { memoryStore } from "../../../plugin/store/memory.js";
import type { StreamingStore } from "../../../plugin/store/store.js";
import { faultyStore } from "../../helpers/faulty-store.js";
import { ALICE, alicesBlobs, CAROL, cdn, dump, jsonOf, tagOf } from "../alices-blobs.js";

const PUBLIC = { "blob-public": "?1" };
const TAG = tagOf(ALICE.publicKey, "a");
const NOTE = "The CDN could not be purged. It may serve the old blob for up to an hour.";
const never = () => false;

async function withPublic() {
  const network = cdn();
  const alice = alicesBlobs({ purge: network.purge });
  await alice.put("a", "one", PUBLIC);
  return { alice, network };
}

type World = Awaited<ReturnType<typeof withPublic>>["alice"];

const CHANGES: [string, (alice: World) => Promise<Response>][] = [
  ["replaced", (alice) => alice.put("a", "two")],
  ["replaced by a private one", (alice) => alice.put("a", "two", { "blob-public": "?0" })],
  ["made private", (alice) => alice.post("a", { Public: false })],
  ["given another name", (alice) => alice.post("a", { Filename: "b" })],
  ["deleted", (alice) => alice.delete("a")],
];

describe("the CDN's copies of a public blob", () => {
  it.each(CHANGES)("are purged before the response when it is %s, and once more in the next run", async (_, change) => {
    const { alice, network } = await withPublic();
    expect(network.purged).toEqual([]);
    const json = await jsonOf(await change(alice));
    expect(network.purged).toEqual([TAG]);
    expect(json).not.toHaveProperty("purged");
    expect(json).not.toHaveProperty("note");
    await alice.purgeAgain(never);
    expect(network.purged).toEqual([TAG, TAG]);
    await alice.purgeAgain(never);
    expect(network.purged).toEqual([TAG, TAG]);
  });

  it.each(CHANGES)("that cannot be purged when it is %s are reported, and purged in a later run", async (_, change) => {
    const { alice, network } = await withPublic();
    network.isDown = true;
    const response = await change(alice);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ key: "a", purged: false, note: NOTE });
    expect(alice.slept).toEqual([200, 1000]);
    expect(network.purged).toEqual([TAG, TAG, TAG]);
    expect(alice.log).toEqual([`The CDN still serves an old copy of a blob (${TAG}): The CDN is down.`]);

    await alice.purgeAgain(never);
    expect(network.purged).toHaveLength(6);
    network.isDown = false;
    await alice.purgeAgain(never);
    await alice.purgeAgain(never);
    expect(network.purged).toHaveLength(7);
    expect(Object.keys(await dump(alice.store)).filter((key) => key.startsWith("blobs/purges/"))).toEqual([]);
  });

  it("are purged in a later run, even if a run happened during the change", async () => {
    const network = cdn();
    const inner = memoryStore();
    let isArmed = false;
    const store: StreamingStore = {
      ...inner,
      async put(key, bytes, condition) {
        if (isArmed && key.startsWith("blobs/records/")) {
          await alice.purgeAgain(never);
          network.isDown = true;
        }
        return inner.put(key, bytes, condition);
      },
    };
    const alice = alicesBlobs({ store, purge: network.purge });
    await alice.put("a", "one", PUBLIC);
    isArmed = true;
    expect(await jsonOf(await alice.post("a", { Public: false }))).toMatchObject({ purged: false });
    network.isDown = false;
    network.purged.length = 0;
    await alice.purgeAgain(never);
    expect(network.purged).toEqual([TAG]);
  });

  it("do not exist if it was private, and nothing is purged", async () => {
    const { alice, network } = await withPublic();
    await alice.put("b", "one");
    await alice.put("b", "two");
    await alice.post("b", { Public: true });
    await alice.put("c", "one");
    await alice.delete("c");
    await alice.put("a", "Carol's", {}, { signer: CAROL });
    await alice.delete("a", { signer: CAROL });
    await alice.purgeAgain(never);
    expect(network.purged).toEqual([]);
  });

  it("are not purged by a refused change", async () => {
    const { alice, network } = await withPublic();
    const headers = { "if-match": '"x"' };
    await alice.put("a", "two", headers);
    await alice.post("a", { Filename: "b" }, headers);
    await alice.post("a", { Filename: "../b" });
    await alice.delete("a", { headers });
    await alice.purgeAgain(never);
    expect(network.purged).toEqual([]);
  });

  it("are purged one by one until the time is over", async () => {
    const { alice, network } = await withPublic();
    for (const key of ["b", "c"]) await alice.put(key, "one", PUBLIC);
    for (const key of ["a", "b", "c"]) await alice.delete(key);
    network.purged.length = 0;
    await alice.purgeAgain(() => true);
    expect(network.purged).toEqual([]);
    let checks = 0;
    await alice.purgeAgain(() => ++checks > 2);
    expect(network.purged).toHaveLength(2);
    await alice.purgeAgain(never);
    expect(new Set(network.purged).size).toBe(3);
  });

  it("do not exist without a CDN", async () => {
    const alice = alicesBlobs();
    await alice.put("a", "one", PUBLIC);
    expect(await jsonOf(await alice.post("a", { Public: false }))).not.toHaveProperty("purged");
    expect(Object.keys(await dump(alice.store)).filter((key) => key.startsWith("blobs/purges/"))).toEqual([]);
  });
});

describe("if the store fails", () => {
  it.each([
    ["before the purge is recorded", { when: "before", operation: "put", key: "blobs/purges/" }],
    ["after the purge was recorded", { when: "after", operation: "put", key: "blobs/purges/" }],
    ["before the record is written", { when: "before", operation: "put", key: "blobs/records/" }],
    ["after the record was written", { when: "after", operation: "put", key: "blobs/records/" }],
    ["before the contents are deleted", { when: "before", operation: "delete", key: "blobs/contents/" }],
    ["after the contents were deleted", { when: "after", operation: "delete", key: "blobs/contents/" }],
  ] as const)("%s, the CDN serves no old copy after the next run", async (_, fault) => {
    for (const [, change] of CHANGES) {
      const network = cdn();
      const store = faultyStore(memoryStore());
      const alice = alicesBlobs({ store, purge: network.purge });
      const etag = (await alice.put("a", "one", PUBLIC)).headers.get("etag");
      store.fail(fault);
      const { status } = await change(alice);
      store.repair();
      const isChanged = (await alice.getShared("a")).headers.get("etag") !== etag;
      expect([200, 503]).toContain(status);
      expect(isChanged || status === 503).toBe(true);
      await alice.purgeAgain(never);
      if (isChanged) expect(network.purged).toContain(TAG);
    }
  });
});
