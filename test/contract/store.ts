// test/contract/store.ts: tests that every implementation of the storage interface passes.
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { update } from "../../plugin/store/json.js";
import type { Store, StreamingStore } from "../../plugin/store/store.js";
import { createBytes, streamContract } from "./streams.js";

const bytes = (text: string) => Uint8Array.from(Buffer.from(text));
const badKey = expect.objectContaining({ code: "bad-store-key" });
const Count = v.number();

const BAD_KEYS = [
  "",
  "../a",
  "a/../b",
  ".tmp/a",
  "/a",
  "a/",
  "a//b",
  "A",
  "a@",
  "a\n",
  "a\0b",
  "a\\b",
  "%2e%2e/a",
  "ä",
  // More than 200 bytes in a segment, and more than 500 in all.
  "a".repeat(201),
  `${"a".repeat(199)}/${"b".repeat(199)}/${"c".repeat(101)}`,
];

/** The value of a key as text; `null` if there is none. */
async function textIn(store: Store, key: string): Promise<string | null> {
  const stored = await store.get(key);
  return stored && Buffer.from(stored.bytes).toString();
}

/** Writes a text. @returns its etag */
async function written(store: Store, key: string, text: string): Promise<string> {
  const etag = await store.put(key, bytes(text));
  expect(etag).toEqual(expect.stringMatching(/./));
  return etag as string;
}

async function* chunksOf(text: string): AsyncGenerator<Uint8Array> {
  yield bytes(text);
}

async function inBatches<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < items.length; start += 50) await Promise.all(items.slice(start, start + 50).map(work));
}

/**
 * @param open - returns the store of a name, which is empty for each test
 * @param manyKeys - more keys than one page of the service's list has
 * @param fill - writes keys into the store of a name; default: through the store
 */
export function storeContract(
  title: string,
  open: (name: string) => Promise<StreamingStore>,
  manyKeys = 250,
  fill?: (name: string, keys: readonly string[]) => void,
): void {
  streamContract(title, open);
  valueContract(title, open);
  keyContract(title, open, manyKeys, fill);
}

/** The contract without streams and lists, for a store in which they are the same as under another title. */
export function valueContract(title: string, open: (name: string) => Promise<StreamingStore>): void {
  describe(`${title}: a value`, () => {
    it("is read as it was written", async () => {
      const store = await open("values");
      for (const value of [
        new Uint8Array(),
        Uint8Array.from({ length: 256 }, (_, i) => i),
        createBytes(100_000),
        // A view of a larger buffer.
        Uint8Array.from([9, 1, 2, 3, 9]).subarray(1, 4),
      ]) {
        const etag = await store.put("a/b", value);
        const stored = await store.get("a/b");
        expect(Buffer.from(stored?.bytes ?? bytes("none")).equals(value)).toBe(true);
        expect(stored?.etag).toBe(etag);
      }
    });

    it("does not change with the buffers that were passed to put or returned by get", async () => {
      const store = await open("values");
      const value = bytes("before");
      await store.put("a", value);
      value.fill(0);
      (await store.get("a"))?.bytes.fill(0);
      expect(await textIn(store, "a")).toBe("before");
    });

    it("is null for a key without a value, also next to a key with the same prefix", async () => {
      const store = await open("values");
      await written(store, "a/bc", "here");
      expect(await store.get("a/b")).toBeNull();
      expect(await store.get("nowhere/at/all")).toBeNull();
    });

    it("is replaced and gets a new etag", async () => {
      const store = await open("values");
      const first = await written(store, "a", "one");
      const second = await written(store, "a", "two");
      expect(second).not.toBe(first);
      expect(await textIn(store, "a")).toBe("two");
      expect((await store.get("a"))?.etag).toBe(second);
    });

    it("is never read in part while it is replaced", async () => {
      const store = await open("values");
      const texts = Array.from({ length: 5 }, (_, i) => String(i).repeat(70_000));
      await written(store, "a", texts[0] ?? "");
      let isWriting = true;
      const writeAll = async () => {
        for (const text of texts) await written(store, "a", text);
      };
      const writing = writeAll().finally(() => {
        isWriting = false;
      });
      let latest = 0;
      while (isWriting) {
        const seen = texts.indexOf((await textIn(store, "a")) ?? "nothing");
        expect(seen).toBeGreaterThanOrEqual(latest);
        latest = seen;
      }
      await writing;
      expect(await textIn(store, "a")).toBe(texts.at(-1));
    });

    it("is from one of 10 concurrent writers without a condition, and all writes succeed", async () => {
      const store = await open("values");
      const texts = Array.from({ length: 10 }, (_, i) => String(i).repeat(1000));
      const etags = await Promise.all(texts.map((text) => store.put("a", bytes(text))));
      expect(etags).not.toContain(null);
      const stored = await store.get("a");
      const winner = texts.indexOf(Buffer.from(stored?.bytes ?? []).toString());
      expect(stored?.etag).toBe(etags[winner]);
    });
  });

  describe(`${title}: a condition`, () => {
    it("isNew writes only if the key has no value", async () => {
      const store = await open("conditions");
      expect(await store.put("a", bytes("first"), { isNew: true })).toEqual(expect.any(String));
      expect(await store.put("a", bytes("second"), { isNew: true })).toBeNull();
      expect(await textIn(store, "a")).toBe("first");
    });

    it("etag replaces only that version", async () => {
      const store = await open("conditions");
      const first = await written(store, "a", "one");
      const second = await store.put("a", bytes("two"), { etag: first });
      expect(second).toEqual(expect.any(String));
      expect(await store.put("a", bytes("three"), { etag: first })).toBeNull();
      expect(await textIn(store, "a")).toBe("two");
      expect(await store.put("a", bytes("three"), { etag: second as string })).not.toBeNull();
      expect(await textIn(store, "a")).toBe("three");
    });

    it("etag never matches if it is empty or unknown, with or without a value", async () => {
      const store = await open("conditions");
      await written(store, "a", "one");
      for (const etag of ["", "unknown"]) {
        expect(await store.put("a", bytes("two"), { etag })).toBeNull();
        expect(await store.put("b", bytes("two"), { etag })).toBeNull();
      }
      expect(await textIn(store, "a")).toBe("one");
      expect(await store.get("b")).toBeNull();
    });

    it("isNew lets one of 10 concurrent writers succeed, and the others get null", async () => {
      const store = await open("conditions");
      const etags = await Promise.all(
        Array.from({ length: 10 }, (_, i) => store.put("a", bytes(`writer ${i}`), { isNew: true })),
      );
      expect(etags.filter((etag) => etag !== null)).toHaveLength(1);
      expect(await textIn(store, "a")).toBe(`writer ${etags.findIndex((etag) => etag !== null)}`);
    });

    it("etag lets one of 10 concurrent writers succeed, and the others get null", async () => {
      const store = await open("conditions");
      const etag = await written(store, "a", "one");
      const etags = await Promise.all(
        Array.from({ length: 10 }, (_, i) => store.put("a", bytes(`writer ${i}`), { etag })),
      );
      expect(etags.filter((etag) => etag !== null)).toHaveLength(1);
      expect(await textIn(store, "a")).toBe(`writer ${etags.findIndex((etag) => etag !== null)}`);
    });

    it("loses none of 4 concurrent increments", async () => {
      const store = await open("conditions");
      const counts = await Promise.all(
        Array.from({ length: 4 }, () => update(store, "count", Count, (old) => (old ?? 0) + 1)),
      );
      expect(await textIn(store, "count")).toBe("4");
      expect(counts.sort((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 4 }, (_, i) => i + 1));
    });
  });

  describe(`${title}: a deletion`, () => {
    it("removes only its key", async () => {
      const store = await open("deletions");
      await written(store, "a/b", "one");
      await written(store, "a/bc", "two");
      await store.delete("a/b");
      expect(await store.get("a/b")).toBeNull();
      expect(await store.keys("")).toEqual(["a/bc"]);
      expect(await textIn(store, "a/bc")).toBe("two");
    });

    it("of a missing key succeeds and changes nothing", async () => {
      const store = await open("deletions");
      await store.delete("a/b");
      await written(store, "a/b", "one");
      await store.delete("a/c");
      await store.delete("b");
      expect(await textIn(store, "a/b")).toBe("one");
    });

    it("invalidates the etag, even if the key is written again", async () => {
      const store = await open("deletions");
      const etag = await written(store, "a", "one");
      await store.delete("a");
      expect(await store.put("a", bytes("two"), { etag })).toBeNull();
      expect(await store.get("a")).toBeNull();
      expect(await store.put("a", bytes("another"), { isNew: true })).not.toBeNull();
      expect(await store.put("a", bytes("two"), { etag })).toBeNull();
      expect(await textIn(store, "a")).toBe("another");
    });
  });

  it(`${title}: two stores are separate`, async () => {
    const [one, two] = [await open("one"), await open("two")];
    await written(one, "a", "one");
    expect(await two.get("a")).toBeNull();
    expect(await two.keys("")).toEqual([]);
    await written(two, "a", "two");
    await one.delete("a");
    expect(await textIn(two, "a")).toBe("two");
  });
}

function keyContract(
  title: string,
  open: (name: string) => Promise<StreamingStore>,
  manyKeys: number,
  fill?: (name: string, keys: readonly string[]) => void,
): void {
  describe(`${title}: the keys`, () => {
    it("are listed by prefix", async () => {
      const store = await open("keys");
      const keys = ["a/b/c", "a/b/d.e", "a/bc", "a/c", "ab/c", "b"];
      for (const key of keys) await written(store, key, key);
      const found = async (prefix: string) => (await store.keys(prefix)).sort();
      expect(await found("")).toEqual(keys);
      expect(await found("a")).toEqual(["a/b/c", "a/b/d.e", "a/bc", "a/c", "ab/c"]);
      expect(await found("a/")).toEqual(["a/b/c", "a/b/d.e", "a/bc", "a/c"]);
      expect(await found("a/b")).toEqual(["a/b/c", "a/b/d.e", "a/bc"]);
      expect(await found("a/b/")).toEqual(["a/b/c", "a/b/d.e"]);
      expect(await found("a/b/d.")).toEqual(["a/b/d.e"]);
      expect(await found("b")).toEqual(["b"]);
      expect(await found("b/")).toEqual([]);
      expect(await found("a/b/c/d")).toEqual([]);
    });

    it("are none in a new store", async () => {
      expect(await (await open("keys")).keys("")).toEqual([]);
    });

    it("are each listed once, over several pages", async () => {
      const store = await open("keys");
      const keys = Array.from({ length: manyKeys }, (_, i) => `many/${String(i).padStart(4, "0")}`);
      if (fill) fill("keys", [...keys, "other"]);
      else await inBatches([...keys, "other"], (key) => store.put(key, bytes(key)));
      expect((await store.keys("many/")).sort()).toEqual(keys);
    });

    it("are listed in pages, in the order of their bytes", async () => {
      const store = await open("keys");
      const keys = ["a-b/c", "a.b", "a/0", "a/1-x", "a/1.x", "a/1/x", "a/10", "a/a_b", "a/b", "ab", "b"];
      for (const key of keys) await written(store, key, key);
      const below = keys.filter((key) => key.startsWith("a/"));
      expect(await store.list("a/", { limit: 3 })).toEqual(below.slice(0, 3));
      expect(await store.list("a/", { after: below[2], limit: 3 })).toEqual(below.slice(3, 6));
      expect(await store.list("a/", { after: below[5], limit: 3 })).toEqual(["a/b"]);
      expect(await store.list("a/", { after: "a/1-y", limit: 1 })).toEqual(["a/1.x"]);
      expect(await store.list("a/1", { after: "a/0", limit: 9 })).toEqual(["a/1-x", "a/1.x", "a/1/x", "a/10"]);
      expect(await store.list("a/1", { after: "ab", limit: 9 })).toEqual([]);
      expect(await store.list("", { limit: 99 })).toEqual(keys);
      const last = below.toReversed();
      expect(await store.list("a/", { limit: 3, isReversed: true })).toEqual(last.slice(0, 3));
      expect(await store.list("a/", { after: last[2], limit: 3, isReversed: true })).toEqual(last.slice(3, 6));
      expect(await store.list("a/1", { after: "ab", limit: 2, isReversed: true })).toEqual(["a/10", "a/1/x"]);
      expect(await store.list("a/", { after: "a-b", limit: 9, isReversed: true })).toEqual([]);
    });

    it("can have the maximum length", async () => {
      const store = await open("keys");
      const key = `${"a".repeat(200)}/${"b".repeat(200)}/${"c".repeat(98)}`;
      await written(store, key, "long");
      expect(await textIn(store, key)).toBe("long");
      expect(await store.keys(key)).toEqual([key]);
    });

    it("bad-store-key: other names, and prefixes with which no key starts", async () => {
      const store = await open("keys");
      for (const key of BAD_KEYS) {
        await expect(store.get(key), key).rejects.toThrow(badKey);
        await expect(store.put(key, bytes("x")), key).rejects.toThrow(badKey);
        await expect(store.delete(key), key).rejects.toThrow(badKey);
      }
      for (const prefix of ["../", "/", "a//", ".tmp", "A", "a@", "a\n"]) {
        await expect(store.keys(prefix), prefix).rejects.toThrow(badKey);
      }
      expect(await store.keys("")).toEqual([]);
    });
  });

  describe(`${title}: a survey of a folder`, () => {
    const id = (digit: string) => digit.repeat(64);
    const order = (number: number) => String(number).padStart(15, "0");
    const [first, second, other] = [`${order(5)}-${id("a")}-10`, `${id("b")}-x.y-200`, `${order(7)}-${id("a")}-3000`];
    const noEntries = [
      id("c"),
      `${id("C").toLowerCase()}-`,
      `${id("c")}-1x`,
      `${order(1)}-${id("g")}-1`,
      `1-${id("c")}-1`,
      "a-1",
    ];

    it("counts its entries, adds up their numbers, and finds the last one and those with an ID", async () => {
      const store = await open("surveys");
      for (const name of [first, second, ...noEntries, `in/${second}`]) await written(store, `a/b/${name}`, "x");
      await written(store, `a/c/${first}`, "x");
      const none = { count: 0, sum: 0, last: null, found: [] };
      expect(await store.survey("a/b/")).toEqual({ count: 2, sum: 210, last: `a/b/${second}`, found: [] });
      expect(await store.survey("a/b/", id("b"))).toMatchObject({ found: [`a/b/${second}`] });
      expect(await store.survey("a/b/in/")).toMatchObject({ count: 1, sum: 200 });
      expect(await store.survey("a/", id("a"))).toEqual(none);
      expect(await store.survey("a/d/", id("a"))).toEqual(none);
    });

    it("shows writes and deletions of this process at once", async () => {
      const store = await open("surveys");
      const keys = [first, second, other].map((name) => `a/b/${name}`);
      await store.survey("a/b/");
      await Promise.all(keys.map((key) => store.put(key, bytes("x"))));
      await store.put(keys[0] ?? "", bytes("again"));
      await store.put(keys[0] ?? "", bytes("not"), { isNew: true });
      await store.write(`a/b/${id("d")}-4`, chunksOf("four"), 4);
      expect(await store.survey("a/b/", id("a"))).toEqual({
        count: 4,
        sum: 3214,
        last: `a/b/${id("d")}-4`,
        found: [keys[0], keys[2]],
      });
      for (const key of [`a/b/${id("d")}-4`, keys[1], keys[2], "a/b/none"]) await store.delete(key ?? "");
      expect(await store.survey("a/b/", id("a"))).toEqual({ count: 1, sum: 10, last: keys[0], found: [keys[0]] });
      await store.delete(keys[0] ?? "");
      expect(await store.survey("a/b/", id("a"))).toEqual({ count: 0, sum: 0, last: null, found: [] });
    });
  });
}
