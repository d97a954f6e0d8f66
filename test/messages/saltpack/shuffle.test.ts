import { describe, expect, it } from "vitest";
import { shuffled } from "../../../plugin/messages/saltpack/saltpack.js";
import { scripted } from "./vectors.js";

describe("any order", () => {
  it("is each as likely: all that two bytes can say for three items", () => {
    const counts = new Map<string, number>();
    // 255 is asked for again, since 256 is no multiple of 3.
    for (let first = 0; first < 255; first += 1) {
      for (let second = 0; second < 256; second += 1) {
        const order = shuffled(["a", "b", "c"], scripted(...[first, second, 0].map((byte) => Uint8Array.of(byte))));
        counts.set(order.join(""), (counts.get(order.join("")) ?? 0) + 1);
      }
    }
    expect([...counts.keys()].sort()).toEqual(["abc", "acb", "bac", "bca", "cab", "cba"]);
    expect(new Set(counts.values())).toEqual(new Set([(255 * 256) / 6]));
  });

  it("takes no byte that would favour the first items", () => {
    const bytes = [255, 255, 2, 1, 0].map((byte) => Uint8Array.of(byte));
    expect(shuffled(["a", "b", "c"], scripted(...bytes))).toEqual(["c", "b", "a"]);
  });

  it("leaves what it was given as it is", () => {
    const items = ["a", "b"];
    expect(shuffled(items, () => Uint8Array.of(1))).toEqual(["b", "a"]);
    expect(items).toEqual(["a", "b"]);
    expect(shuffled([], () => Uint8Array.of(0))).toEqual([]);
  });
});
