import { describe, expect, it } from "vitest";
import { shuffled } from "../../../plugin/messages/saltpack/saltpack.js";
import { scripted } from "./vectors.js";

describe("a random order", () => {
  it("gives each order of three items the same probability, over all values of two bytes", () => {
    const counts = new Map<string, number>();
    // 255 is rejected, since 256 is not a multiple of 3.
    for (let first = 0; first < 255; first += 1) {
      for (let second = 0; second < 256; second += 1) {
        const order = shuffled(["a", "b", "c"], scripted(...[first, second, 0].map((byte) => Uint8Array.of(byte))));
        counts.set(order.join(""), (counts.get(order.join("")) ?? 0) + 1);
      }
    }
    expect([...counts.keys()].sort()).toEqual(["abc", "acb", "bac", "bca", "cab", "cba"]);
    expect(new Set(counts.values())).toEqual(new Set([(255 * 256) / 6]));
  });

  it("rejects bytes that would make the first items more likely", () => {
    const bytes = [255, 255, 2, 1, 0].map((byte) => Uint8Array.of(byte));
    expect(shuffled(["a", "b", "c"], scripted(...bytes))).toEqual(["c", "b", "a"]);
  });

  it("does not modify its argument", () => {
    const items = ["a", "b"];
    expect(shuffled(items, () => Uint8Array.of(1))).toEqual(["b", "a"]);
    expect(items).toEqual(["a", "b"]);
    expect(shuffled([], () => Uint8Array.of(0))).toEqual([]);
  });
});
