import { describe, expect, it } from "vitest";
import { ALICE, type AlicesBlobs, alicesBlobs, CAROL, jsonOf, outcomeOf, sha256 } from "../alices-blobs.js";

/** The order of a list: by the SHA-256 of the keys, so that changes do not affect it. */
function ordered(keys: readonly string[]): string[] {
  return keys.toSorted((a, b) => (sha256(a) < sha256(b) ? -1 : 1));
}

async function filled(count: number): Promise<{ alice: AlicesBlobs; keys: string[] }> {
  const alice = alicesBlobs();
  const keys = Array.from({ length: count }, (_, at) => `key-${at}`);
  for (const key of keys) await alice.put(key, key);
  return { alice, keys: ordered(keys) };
}

/** The keys of each page, following `next`. */
async function pages(alice: AlicesBlobs, limit: string, between = async () => {}): Promise<string[][]> {
  const found: string[][] = [];
  let after = "";
  for (;;) {
    const { blobs, next } = await jsonOf(await alice.list(`?${limit}${after && `&after=${after}`}`));
    found.push(blobs.map(({ key }: { key: string }) => key));
    if (next === null) return found;
    after = next;
    await between();
  }
}

describe("the list of an owner's blobs", () => {
  it("200: is empty and not cached if there are none", async () => {
    const response = await alicesBlobs().list();
    expect(response.headers.get("cache-control")).toBe("private, no-store");
    expect([response.status, await response.json()]).toEqual([200, { blobs: [], next: null }]);
  });

  it("200: has at most a hundred blobs, each once", async () => {
    const { alice, keys } = await filled(101);
    const found = await pages(alice, "limit=100");
    expect(found.map(({ length }) => length)).toEqual([100, 1]);
    expect(found.flat()).toEqual(keys);
    expect((await jsonOf(await alice.list())).blobs).toHaveLength(100);
  });

  it("200: has those with the newest contents first, and the number and size of all, with `order=newest`", async () => {
    const alice = alicesBlobs();
    const keys = ["d", "a", "c", "b", "e"];
    for (const key of keys) {
      await alice.put(key, key);
      alice.clock.time += 1000;
    }
    await alice.put("a", "replaced");
    expect(await pages(alice, "order=newest&limit=2")).toEqual([["a", "e"], ["b", "c"], ["d"]]);
    await alice.delete("b");
    expect(await pages(alice, "order=newest&limit=10")).toEqual([["a", "e", "c", "d"]]);
    const { count, bytes } = await jsonOf(await alice.list("?order=newest&limit=1"));
    expect({ count, bytes }).toEqual({ count: 4, bytes: "replacedecd".length });
  });

  it.each([
    [1, [1, 1, 1, 1, 1, 1]],
    [4, [4, 2]],
    [5, [5, 1]],
    [6, [6]],
    [7, [6]],
  ])("200: has six blobs in pages of %d", async (limit, lengths) => {
    const { alice, keys } = await filled(6);
    const found = await pages(alice, `limit=${limit}`);
    expect(found.map(({ length }) => length)).toEqual(lengths);
    expect(found.flat()).toEqual(keys);
  });

  it("200: neither omits nor repeats a blob if others are deleted and created between requests for its pages", async () => {
    const { alice, keys } = await filled(12);
    const gone = [keys[0], keys[2], keys[4], keys[7], keys[11]] as string[];
    const left = [...gone];
    const found = await pages(alice, "limit=3", async () => {
      await alice.delete(left.shift() ?? "none");
      await alice.put(`new-${left.length}`, "new");
      await alice.put(keys[5] ?? "", "replaced");
    });
    const stayed = keys.filter((key) => !gone.includes(key));
    expect(found.flat().filter((key) => stayed.includes(key))).toEqual(stayed);
    expect(new Set(found.flat()).size).toBe(found.flat().length);
  });

  it("200: continues after a deleted blob, and is empty if all are deleted", async () => {
    const { alice, keys } = await filled(4);
    const { next } = await jsonOf(await alice.list("?limit=2"));
    await alice.delete(keys[1] ?? "");
    expect((await jsonOf(await alice.list(`?after=${next}`))).blobs).toMatchObject([
      { key: keys[2] },
      { key: keys[3] },
    ]);
    for (const key of [keys[0], keys[2], keys[3]]) await alice.delete(key ?? "");
    expect(await jsonOf(await alice.list(`?after=${next}`))).toEqual({ blobs: [], next: null });
  });

  it("200: has the blobs of the key that signed the request", async () => {
    const { alice } = await filled(2);
    await alice.put("carols", "one", { "blob-public": "?1" }, { signer: CAROL });
    const { blobs } = await jsonOf(await alice.list("", { signer: CAROL }));
    expect(blobs).toMatchObject([{ owner: CAROL.publicKey, key: "carols" }]);
    const mine = await jsonOf(await alice.list());
    expect(mine.blobs.map(({ owner }: { owner: string }) => owner)).toEqual([ALICE.publicKey, ALICE.publicKey]);
  });

  it.each([
    "?limit=0",
    "?limit=101",
    "?limit=-1",
    "?limit=1e1",
    "?limit=010",
    "?limit=",
    "?limit=1&limit=2",
    "?after=",
    "?after=x",
    `?after=${"A".repeat(64)}`,
    `?after=${"0".repeat(63)}`,
    "?owner=kex1",
    "?order=oldest",
    `?order=newest&after=${"0".repeat(64)}`,
    "?Limit=1",
    "?limit=1&x",
  ])("400 bad-request: %s", async (query) => {
    const { alice } = await filled(1);
    expect(await outcomeOf(await alice.list(query))).toEqual({ status: 400, code: "bad-request" });
  });
});
