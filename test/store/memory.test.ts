import { expect, it } from "vitest";
import { memoryStore } from "../../plugin/store/memory.js";
import { storeContract } from "../contract/store.js";

storeContract("memory", async () => memoryStore());

it("never uses an etag twice, not even for the same bytes", async () => {
  const store = memoryStore();
  const bytes = Buffer.from("same");
  const first = await store.put("a", bytes);
  expect(await store.put("a", bytes)).not.toBe(first);
  await store.delete("a");
  expect(await store.put("a", bytes)).not.toBe(first);
  expect(await store.put("a", bytes, { etag: first ?? "" })).toBeNull();
});
