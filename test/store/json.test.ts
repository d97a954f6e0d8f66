import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { readJson, update, writeJson } from "../../plugin/store/json.js";
import { memoryStore } from "../../plugin/store/memory.js";
import type { Store } from "../../plugin/store/store.js";
import { faultyStore } from "../helpers/faulty-store.js";

const Note = v.object({ text: v.string() });
const storeFailed = expect.objectContaining({ code: "store-failed" });

describe("a JSON value", () => {
  it("is read as it was written, with the etag of its version", async () => {
    const store = memoryStore();
    const etag = await writeJson(store, "note", { text: "žluťoučký 🐎" });
    expect(await readJson(store, "note", Note)).toEqual({ value: { text: "žluťoučký 🐎" }, etag });
  });

  it("is null for a missing key", async () => {
    expect(await readJson(memoryStore(), "note", Note)).toBeNull();
  });

  it("is written only if its condition holds", async () => {
    const store = memoryStore();
    expect(await writeJson(store, "note", { text: "one" }, { isNew: true })).not.toBeNull();
    expect(await writeJson(store, "note", { text: "two" }, { isNew: true })).toBeNull();
    expect((await readJson(store, "note", Note))?.value).toEqual({ text: "one" });
  });

  it("counts as none if it is damaged and the reader can do without it, unlike one in a store that is down", async () => {
    const store = faultyStore(memoryStore());
    await store.put("note", Buffer.from("{"));
    const damaged: string[] = [];
    const onDamaged = ({ message }: Error) => void damaged.push(message);
    expect(await readJson(store, "note", Note, onDamaged)).toBeNull();
    expect(damaged).toEqual([expect.stringContaining("The value of note cannot be read")]);
    store.fail({ when: "before", operation: "get" });
    await expect(readJson(store, "note", Note, onDamaged)).rejects.toThrow(storeFailed);
  });

  it("has only the fields of its schema", async () => {
    const store = memoryStore();
    await writeJson(store, "note", { text: "one", more: true });
    expect((await readJson(store, "note", Note))?.value).toEqual({ text: "one" });
  });

  it.each([
    ["truncated", Buffer.from('{"text": "on')],
    ["empty", Buffer.from("")],
    ["of another type", Buffer.from('{"text": 1}')],
    ["not UTF-8", Buffer.from('{"text": "\xff"}', "latin1")],
  ])("store-failed: a stored value that is %s, which stays", async (_name, bytes) => {
    const store = memoryStore();
    await store.put("note", bytes);
    await expect(readJson(store, "note", Note)).rejects.toThrow(storeFailed);
    await expect(update(store, "note", Note, () => ({ text: "new" }))).rejects.toThrow(storeFailed);
    expect(Buffer.from((await store.get("note"))?.bytes ?? [])).toEqual(bytes);
  });

  it("store-failed: the message names the wrong field", async () => {
    const store = memoryStore();
    await writeJson(store, "note", { text: 1 });
    await expect(readJson(store, "note", Note)).rejects.toThrow(/note.*text: .*string/);
  });
});

describe("an update", () => {
  const append = (text: string) => (old: { text: string } | null) => ({ text: (old?.text ?? "") + text });

  it("creates a value, then changes it", async () => {
    const store = memoryStore();
    expect(await update(store, "note", Note, append("a"))).toEqual({ text: "a" });
    expect(await update(store, "note", Note, append("b"))).toEqual({ text: "ab" });
    expect((await readJson(store, "note", Note))?.value).toEqual({ text: "ab" });
  });

  it("writes nothing if the change is null", async () => {
    const store = memoryStore();
    expect(await update(store, "note", Note, () => null)).toBeNull();
    expect(await store.keys("")).toEqual([]);
    const etag = await writeJson(store, "note", { text: "a" });
    expect(await update(store, "note", Note, () => null)).toEqual({ text: "a" });
    expect((await store.get("note"))?.etag).toBe(etag);
  });

  it.each([
    ["changes the value", (store: Store) => writeJson(store, "note", { text: "x" }), "x"],
    ["deletes the value", (store: Store) => store.delete("note"), null],
  ])("starts again from the current value if another process %s", async (_name, interfere, left) => {
    const store = memoryStore();
    await writeJson(store, "note", { text: "a" });
    const seen: (string | null)[] = [];
    const result = await update(store, "note", Note, (old) => {
      if (seen.push(old?.text ?? null) === 1) void interfere(store);
      return append("b")(old);
    });
    expect(seen).toEqual(["a", left]);
    expect(result).toEqual({ text: `${left ?? ""}b` });
    expect((await readJson(store, "note", Note))?.value).toEqual(result);
  });

  it("store-failed: gives up after losing 50 races", async () => {
    const store = { ...memoryStore(), put: async () => null };
    let tries = 0;
    const change = () => ({ text: String(++tries) });
    await expect(update(store, "note", Note, change)).rejects.toThrow(storeFailed);
    expect(tries).toBe(50);
  });

  it("store-failed: a store that is down before the read or write; nothing changes", async () => {
    const store = faultyStore(memoryStore());
    for (const operation of ["get", "put"] as const) {
      store.fail({ operation, when: "before", times: 1 });
      await expect(update(store, "note", Note, append("a"))).rejects.toThrow(storeFailed);
      expect(await store.keys("")).toEqual([]);
    }
    expect(await update(store, "note", Note, append("a"))).toEqual({ text: "a" });
  });

  it("store-failed: a lost response to the write, which happened once", async () => {
    const store = faultyStore(memoryStore());
    store.fail({ operation: "put", key: "note", when: "after" });
    await expect(update(store, "note", Note, append("a"))).rejects.toThrow(storeFailed);
    store.repair();
    expect((await readJson(store, "note", Note))?.value).toEqual({ text: "a" });
  });
});
