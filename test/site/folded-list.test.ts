import { describe, expect, it } from "vitest";
import { divideList, foldText } from "../../plugin/site/folded-list.js";

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const once = () => 1;

describe("a list of mentions", () => {
  it("shows the newest 20 of a conversation, whose newest come last, and of other mentions, whose newest come first", () => {
    expect(divideList(numbers(136), "conversation", once)).toEqual({
      shown: numbers(136).slice(116),
      folded: numbers(116),
    });
    expect(divideList(numbers(136), "mentions", once)).toEqual({ shown: numbers(20), folded: numbers(136).slice(20) });
    expect(divideList(numbers(20), "conversation", once)).toEqual({ shown: numbers(20), folded: [] });
    expect(foldText(116, { moreItems: "Show {count} more" })).toBe("Show 116 more");
  });

  it("shows the newest thread whole, however many replies it has, and counts replies as mentions", () => {
    expect(divideList([3, 8, 9, 7], "conversation", (count) => count)).toEqual({ shown: [9, 7], folded: [3, 8] });
    expect(divideList([1, 50], "conversation", (count) => count)).toEqual({ shown: [50], folded: [1] });
  });

  it("shows 6 names of a row", () => {
    expect(divideList(numbers(40), "names", once).shown).toEqual(numbers(6));
  });
});
