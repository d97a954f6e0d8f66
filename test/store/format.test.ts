import { describe, expect, it, vi } from "vitest";
import { withFormatCheck } from "../../plugin/store/format.js";
import { memoryStore } from "../../plugin/store/memory.js";
import { storeContract } from "../contract/store.js";

storeContract("memory with a format check", async () => withFormatCheck(memoryStore(), "the bucket alice"));

describe("the format of a bucket or of Netlify Blobs", () => {
  it("store-failed: data of a newer version is left untouched, and the package is to be updated", async () => {
    const inner = memoryStore();
    await inner.put("format", Buffer.from("2"));
    await inner.put("a", Buffer.from("one"));
    const store = withFormatCheck(inner, "the bucket alice");
    const newer = "The data in the bucket alice was written by a newer version: update the package";
    await expect(store.get("a")).rejects.toThrow(newer);
    await expect(store.put("a", Buffer.from("two"))).rejects.toThrow(newer);
    await expect(store.delete("a")).rejects.toThrow(newer);
    await expect(store.keys("")).rejects.toThrow(newer);
    await expect(store.read("a")).rejects.toThrow(newer);
    await expect(store.write("a", ReadableStream.from([Buffer.from("two")]), 3)).rejects.toThrow(newer);
    await expect(store.list("", { limit: 1 })).rejects.toThrow(newer);
    await expect(store.survey("a/", "b")).rejects.toThrow(newer);
    expect(await inner.keys("")).toEqual(["format", "a"]);
    expect((await inner.get("a"))?.bytes.toString()).toBe(Buffer.from("one").join());
  });

  it("is read once, and again after an outage", async () => {
    const inner = memoryStore();
    const get = vi.spyOn(inner, "get").mockRejectedValueOnce(new Error("down"));
    const store = withFormatCheck(inner, "the bucket alice");
    await expect(store.keys("")).rejects.toThrow("down");
    for (let i = 0; i < 5; i += 1) await store.keys("");
    expect(get).toHaveBeenCalledTimes(2);
  });
});
