import { describe, expect, it } from "vitest";
import { interleaveGroups } from "../../../plugin/mentions/receive/verification-queue.js";

describe("groups that take turns", () => {
  const first = ([letter = ""]: string) => letter;

  it.each([
    [[], []],
    [
      ["a1", "a2", "a3", "b1", "b2", "c1"],
      ["a1", "b1", "c1", "a2", "b2", "a3"],
    ],
    [
      ["b1", "a1", "b2"],
      ["b1", "a1", "b2"],
    ],
  ])("%j become %j", (items, expected) => {
    expect(interleaveGroups(items, first)).toEqual(expected);
  });

  it("have turns of their own inside", () => {
    const items = ["a1x", "a2x", "a3y", "b1x"];
    const ordered = interleaveGroups(items, first, (group) => interleaveGroups(group, (name) => name.slice(-1)));
    expect(ordered).toEqual(["a1x", "b1x", "a3y", "a2x"]);
  });
});
