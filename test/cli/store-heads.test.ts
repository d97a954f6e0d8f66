import { describe, expect, it } from "vitest";
import { STORE_HEADS } from "../../plugin/cli/backup.js";
import { concatChunks } from "../../plugin/store/chunks.js";
import { type CopyTarget, copyConsistently } from "../../plugin/store/copy.js";
import { memoryStore } from "../../plugin/store/memory.js";
import type { StreamingStore } from "../../plugin/store/store.js";
import { alicesBlobs, storedBlobs } from "../blobs/alices-blobs.js";
import { FEED, feedServer, receiver } from "../helpers/receiver.js";

const AT = "2026-11-19T18:40:0";
const HELLO = `@<alice ${FEED}> hello`;

/** A store that runs `act` once, just before the first read of a key with this prefix. */
function withInterruption(
  inner: StreamingStore,
  operation: "get" | "read",
  prefix: string,
  act: () => Promise<unknown>,
) {
  let isDone = false;
  const before = async (called: string, key: string) => {
    if (isDone || called !== operation || !key.startsWith(prefix)) return;
    isDone = true;
    await act();
  };
  const store: StreamingStore = {
    ...inner,
    get: (key) => before("get", key).then(() => inner.get(key)),
    read: (key, range) => before("read", key).then(() => inner.read(key, range)),
  };
  return { store, isDone: () => isDone };
}

/** The store restored from a backup. */
async function restored(store: StreamingStore): Promise<StreamingStore> {
  const copy = memoryStore();
  const keys = new Set<string>();
  const target: CopyTarget = {
    has: (key) => keys.has(key),
    async add(key, { open }) {
      const chunks = await open();
      if (!chunks) return false;
      await copy.put(key, await concatChunks(chunks));
      keys.add(key);
      return true;
    },
    drop(prefix) {
      for (const key of keys) if (key.startsWith(prefix)) keys.delete(key);
    },
  };
  await copyConsistently(store, STORE_HEADS, target, () => {});
  for (const key of await copy.keys("")) if (!keys.has(key)) await copy.delete(key);
  return copy;
}

describe("a backup while blobs change", () => {
  it.each(["get", "read"] as const)("contains the contents of each of its records (%s)", async (operation) => {
    const inner = memoryStore();
    const alice = alicesBlobs({ store: inner });
    for (const key of ["a", "b", "c"]) await alice.put(key, `old ${key}`);
    const prefix = operation === "get" ? "blobs/records/" : "blobs/contents/";
    const { store, isDone } = withInterruption(inner, operation, prefix, async () => {
      for (const key of ["a", "b"]) await alice.put(key, `new ${key}`);
      await alice.delete("c");
      await alice.put("d", "later");
    });
    const { blobs } = await storedBlobs(await restored(store));
    expect(isDone()).toBe(true);
    const contents = blobs.flatMap((blob) => ("contents" in blob ? [blob.contents] : [])).sort();
    // It may or may not contain a blob that was stored meanwhile.
    expect(contents.filter((text) => text !== "later")).toEqual(["new a", "new b"]);
  });

  it("reads a record again if its contents are replaced after it was read", async () => {
    const inner = memoryStore();
    const alice = alicesBlobs({ store: inner });
    await alice.put("a", "first");
    let isReplaced = false;
    const store: StreamingStore = {
      ...inner,
      async get(key) {
        const found = await inner.get(key);
        if (!isReplaced && key.startsWith("blobs/records/")) {
          isReplaced = true;
          await alice.put("a", "second");
        }
        return found;
      },
    };
    const { blobs } = await storedBlobs(await restored(store));
    expect(blobs).toMatchObject([{ key: "a", contents: "second" }]);
  });
});

describe("a backup while mentions are compacted", () => {
  it.each([
    ["before its first event is read", "read", "mentions/events/"],
    ["before its snapshot is read", "get", "mentions/snapshot"],
  ] as const)("contains each mention once, and no removed one: %s", async (_, operation, prefix) => {
    const bob = await feedServer({ [`${AT}1Z`]: HELLO, [`${AT}2Z`]: HELLO, [`${AT}3Z`]: HELLO });
    const inner = memoryStore();
    const site = receiver({ store: inner, neighbours: [bob] });
    const send = (second: number) => site.mentioned({ source: bob.twt(`${AT}${second}Z`), target: FEED });
    expect((await send(1)).status).toBe(200);
    await site.services.runScheduled();
    expect((await send(2)).status).toBe(200);

    const { store, isDone } = withInterruption(inner, operation, prefix, async () => {
      expect((await send(3)).status).toBe(200);
      await site.services.runScheduled();
      bob.twts = { [`${AT}2Z`]: HELLO, [`${AT}3Z`]: HELLO };
      expect((await send(1)).status).toBe(200);
      await site.services.runScheduled();
      await site.services.runScheduled();
    });
    const copy = await restored(store);
    expect(isDone()).toBe(true);
    const sources = (await receiver({ store: copy }).mentions()).map(({ source }) => source).sort();
    expect(sources).toEqual([bob.twt(`${AT}2Z`), bob.twt(`${AT}3Z`)]);
  });

  it("contains a mention that was verified during the backup", async () => {
    const bob = await feedServer({ [`${AT}1Z`]: HELLO });
    const inner = memoryStore();
    const site = receiver({ store: inner, neighbours: [bob] });
    bob.status = 500;
    expect((await site.mentioned({ source: bob.twt(`${AT}1Z`), target: FEED })).status).toBe(202);
    bob.status = 200;
    const { store, isDone } = withInterruption(inner, "read", "mentions/pending/", async () => {
      expect((await site.mentioned({ source: bob.twt(`${AT}1Z`), target: FEED })).status).toBe(200);
      site.clock.time += 2 * 3600_000;
      await site.services.runScheduled();
    });
    const copy = await restored(store);
    expect(isDone()).toBe(true);
    expect(await receiver({ store: copy }).mentions()).toHaveLength(1);
  });
});
