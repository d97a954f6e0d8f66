// test/contract/streams.ts: tests of streams that every implementation of the storage interface passes.
import { createCipheriv } from "node:crypto";
import { describe, expect, it } from "vitest";
import { TwtxtError } from "../../plugin/errors.js";
import type { Range, StreamingStore } from "../../plugin/store/store.js";

/** Half a MiB, enough for several chunks. */
const SOME = 1 << 19;
const badKey = expect.objectContaining({ code: "bad-store-key" });

/** Bytes without a repeated sequence, so that a wrong order shows. */
export function createBytes(size: number): Uint8Array {
  const zeros = Buffer.alloc(16);
  return Uint8Array.from(createCipheriv("aes-128-ctr", zeros, zeros).update(Buffer.alloc(size)));
}

/** Cuts a value at these offsets. Each chunk has its own buffer, because a store takes ownership of it. */
async function* cut(value: Uint8Array, ...ends: number[]): AsyncGenerator<Uint8Array> {
  let start = 0;
  for (const end of ends) {
    yield value.slice(start, end);
    start = end;
  }
}

async function* inPartsOf(bytes: number, value: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < value.length; start += bytes) yield value.slice(start, start + bytes);
}

async function* failingAfter(before: AsyncIterable<Uint8Array>, error: Error): AsyncGenerator<Uint8Array> {
  yield* before;
  throw error;
}

/** The rest of a stream. */
async function rest(reader: ReadableStreamDefaultReader<Uint8Array> | undefined): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for (;;) {
    const read = await reader?.read();
    if (!read || read.done) return Buffer.concat(chunks);
    chunks.push(read.value);
  }
}

/** Whether a stream of the key has exactly these bytes, or this range of them. */
async function isRead(store: StreamingStore, key: string, value: Uint8Array, range?: Range): Promise<boolean> {
  const stream = await store.read(key, range);
  const part = range ? value.subarray(range.first, range.last + 1) : value;
  return stream !== null && (await rest(stream.getReader())).equals(part);
}

async function isGot(store: StreamingStore, key: string, value: Uint8Array): Promise<boolean> {
  const stored = await store.get(key);
  return stored !== null && Buffer.from(stored.bytes).equals(value);
}

/** @param open - returns the store of a name, which is empty for each test */
export function streamContract(title: string, open: (name: string) => Promise<StreamingStore>): void {
  const large = createBytes(SOME + 1);
  /** More than the buffers of a connection hold. */
  const unbuffered = createBytes(5 * 2 ** 20 + 1);

  describe(`${title}: a value that is written in chunks`, () => {
    it("is stored as one value", async () => {
      const store = await open("streams");
      const cases: [string, Uint8Array, AsyncIterable<Uint8Array>][] = [
        ["no bytes in no chunk", new Uint8Array(), cut(new Uint8Array())],
        ["no bytes in empty chunks", new Uint8Array(), cut(new Uint8Array(), 0, 0)],
        ["byte by byte", createBytes(300), inPartsOf(1, createBytes(300))],
        ["empty chunks among others", createBytes(1000), cut(createBytes(1000), 0, 1, 1, 999, 1000, 1000)],
        ["a large value in small chunks", large, inPartsOf(10_007, large)],
        ["a large value in two chunks", large, cut(large, SOME / 2, large.length)],
      ];
      for (const [name, value, parts] of cases) {
        await store.write("a/b", parts, value.length);
        expect(await isGot(store, "a/b", value), name).toBe(true);
        expect(await isRead(store, "a/b", value), name).toBe(true);
        expect(await store.keys("")).toEqual(["a/b"]);
        expect(await store.keys("a/b")).toEqual(["a/b"]);
        await store.delete("a/b");
        expect(await store.get("a/b")).toBeNull();
        expect(await store.read("a/b")).toBeNull();
        expect(await store.keys("")).toEqual([]);
      }
    });

    it("has an etag for conditions", async () => {
      const store = await open("streams");
      await store.write("a", cut(createBytes(10), 4, 10), 10);
      const etag = (await store.get("a"))?.etag ?? "";
      expect(await store.put("a", createBytes(5), { isNew: true })).toBeNull();
      expect(await store.put("a", createBytes(5), { etag })).not.toBeNull();
      expect(await isRead(store, "a", createBytes(5))).toBe(true);
    });

    it("is not stored if its chunks fail; the error is thrown, and the key can be written", async () => {
      const store = await open("streams");
      const error = new TwtxtError("body-too-large", "The client sent too much.");
      // At once, in the middle, and after the last byte.
      for (const ends of [[], [SOME / 4, SOME / 2], [SOME / 2, large.length]]) {
        await expect(store.write("a/b", failingAfter(cut(large, ...ends), error), large.length)).rejects.toBe(error);
        expect(await store.get("a/b")).toBeNull();
        expect(await store.read("a/b")).toBeNull();
        expect(await store.keys("")).toEqual([]);
      }
      await store.write("a/b", cut(large, large.length), large.length);
      expect(await isGot(store, "a/b", large)).toBe(true);
    });

    it("is not mixed with others that are written at the same time", async () => {
      const store = await open("streams");
      const values = Array.from({ length: 4 }, (_, i) => createBytes(SOME / 2 + i).fill(i, 0, 1000 * i));
      await Promise.all(values.map((value, i) => store.write(`a/${i}`, inPartsOf(65_537, value), value.length)));
      const areRead = await Promise.all(values.map((value, i) => isRead(store, `a/${i}`, value)));
      expect(areRead).toEqual(values.map(() => true));
    });
  });

  describe(`${title}: a value that is read as a stream`, () => {
    it("is the same whether it was written whole or in chunks", async () => {
      const store = await open("streams");
      await store.put("whole", large);
      await store.write("parts", inPartsOf(100_003, large), large.length);
      expect(await isRead(store, "whole", large)).toBe(true);
      expect(await isRead(store, "parts", large)).toBe(true);
    });

    it("is the requested range", async () => {
      const store = await open("streams");
      await store.write("a", inPartsOf(SOME / 4, large), large.length);
      await store.put("b", large);
      const ranges: [string, number, number][] = [
        ["the first byte", 0, 0],
        ["the last byte", SOME, SOME],
        ["a range in the middle", 100, SOME - 7],
        ["the beginning", 0, SOME / 4 - 1],
        ["the end", SOME - 100, SOME],
        ["all of it", 0, SOME],
      ];
      for (const [name, first, last] of ranges) {
        expect(await isRead(store, "a", large, { first, last }), name).toBe(true);
        expect(await isRead(store, "b", large, { first, last }), name).toBe(true);
      }
    });

    it("is null for a key without a value, also next to a key with the same prefix", async () => {
      const store = await open("streams");
      await store.write("a/bc", cut(createBytes(9), 9), 9);
      expect(await store.read("a/b")).toBeNull();
      expect(await store.read("a/b", { first: 0, last: 0 })).toBeNull();
      expect(await store.read("nowhere/at/all")).toBeNull();
    });

    it("can be cancelled, and a later read gets all of it, also if the key is deleted meanwhile", async () => {
      const store = await open("streams");
      await store.write("a", inPartsOf(2 * SOME, unbuffered), unbuffered.length);
      const cancelled = (await store.read("a"))?.getReader();
      expect((await cancelled?.read())?.value?.length).toBeGreaterThan(0);
      await cancelled?.cancel();
      await (await store.read("a"))?.cancel();

      const reader = (await store.read("a"))?.getReader();
      const first = await reader?.read();
      await store.delete("a");
      expect(await store.get("a")).toBeNull();
      const value = Buffer.concat([first?.value ?? new Uint8Array(), await rest(reader)]);
      expect(value.equals(unbuffered)).toBe(true);
    });

    it("can be read by several readers at the same time", async () => {
      const store = await open("streams");
      await store.write("a", inPartsOf(SOME / 2, large), large.length);
      const readers = [(await store.read("a"))?.getReader(), (await store.read("a"))?.getReader()];
      const first = await readers[0]?.read();
      expect((await rest(readers[1])).equals(large)).toBe(true);
      expect(Buffer.concat([first?.value ?? new Uint8Array(), await rest(readers[0])]).equals(large)).toBe(true);
    });
  });

  it(`${title}: bad-store-key: no stream of a bad key`, async () => {
    const store = await open("streams");
    let isIterated = false;
    const chunks = async function* () {
      isIterated = true;
      yield createBytes(3);
    };
    for (const key of ["", "../a", "a/", "A", "%2e%2e/a"]) {
      await expect(store.write(key, chunks(), 3), key).rejects.toThrow(badKey);
      await expect(store.read(key), key).rejects.toThrow(badKey);
    }
    expect(isIterated).toBe(false);
    expect(await store.keys("")).toEqual([]);
  });
}
