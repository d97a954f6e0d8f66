import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { Collection } from "../../plugin/store/collection.js";
import { memoryStore } from "../../plugin/store/memory.js";

async function twoNotes() {
  const store = memoryStore();
  const notes = new Collection(store, "notes/", v.object({ text: v.string() }));
  await notes.write("1", { text: "one" });
  await notes.update("2", (old) => old ?? { text: "two" });
  await store.put("others/1", Buffer.from("{}"));
  return { store, notes };
}

describe("a collection of values", () => {
  it("has those of its folder", async () => {
    const { notes } = await twoNotes();
    expect((await notes.list()).map(({ text }) => text).sort()).toEqual(["one", "two"]);
    expect((await notes.ids()).sort()).toEqual(["1", "2"]);
    expect(await notes.getAll(["2", "3"])).toEqual([{ text: "two" }]);
    expect([await notes.get("1"), await notes.get("3")]).toEqual([{ text: "one" }, null]);
  });

  it("says whether a value that it forgets existed", async () => {
    const { notes } = await twoNotes();
    expect([await notes.forget("1"), await notes.forget("1")]).toEqual([true, false]);
    expect(await notes.list()).toEqual([{ text: "two" }]);
  });

  it("store-failed: is not listed with a damaged value, unless the reader can do without it", async () => {
    const { store, notes } = await twoNotes();
    await store.put("notes/1", Buffer.from("{"));
    await expect(notes.list()).rejects.toMatchObject({ code: "store-failed" });
    const damaged: string[] = [];
    expect(await notes.list(({ message }) => damaged.push(message))).toEqual([{ text: "two" }]);
    expect(damaged).toHaveLength(1);
  });
});
