import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addToJsonList, removeFromJsonList } from "../../../plugin/author/timeline/followed-feeds.js";

const NEW = { nick: "new", url: "https://new.example/" };

describe("a hand-edited JSON list", () => {
  it.each([
    ["an empty list", "[]\n", '[\n  { "nick": "new", "url": "https://new.example/" }\n]\n'],
    [
      "entries on one line",
      '[{ "a": 1 }, { "a": 2 }]',
      '[{ "a": 1 }, { "a": 2 }, { "nick": "new", "url": "https://new.example/" }]',
    ],
    ["compact JSON", '[{"a":1}]', '[{"a":1}, {"nick":"new","url":"https://new.example/"}]'],
    [
      "a line for each entry",
      '\uFEFF[\n\t{ "a": "[{\\"" },\n\t{ "a": [1, 2] }\n]\n',
      '\uFEFF[\n\t{ "a": "[{\\"" },\n\t{ "a": [1, 2] },\n\t{ "nick": "new", "url": "https://new.example/" }\n]\n',
    ],
    [
      "a line for each field",
      '[\r\n    {\r\n        "a": 1\r\n    }\r\n]\r\n',
      '[\r\n    {\r\n        "a": 1\r\n    },\r\n    {\r\n        "nick": "new",\r\n        "url": "https://new.example/"\r\n    }\r\n]\r\n',
    ],
  ])("gets a new entry in the format of its last one: %s", (_, before, after) => {
    expect(addToJsonList(before, NEW)).toBe(after);
  });

  it.each([
    ["the first", [0], '[\n  { "b":   2 },\n\n  3\n]\n'],
    ["one in the middle", [1], '[\n  { "a": 1, "x": ["]"] },\n\n  3\n]\n'],
    ["the last", [2], '[\n  { "a": 1, "x": ["]"] },\n  { "b":   2 }\n]\n'],
    ["two", [0, 2], '[\n  { "b":   2 }\n]\n'],
    ["all", [0, 1, 2], "[]\n"],
  ])("loses an entry, and the others do not change: %s", (_, positions, after) => {
    expect(removeFromJsonList('[\n  { "a": 1, "x": ["]"] },\n  { "b":   2 },\n\n  3\n]\n', positions)).toBe(after);
  });

  it("keeps its other entries, with any content and indentation", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 5 }), fc.nat(8), fc.nat(4), (list, space, at) => {
        const json = JSON.stringify(list, null, space);
        expect(JSON.parse(addToJsonList(json, NEW))).toEqual([...JSON.parse(json), NEW]);
        expect(JSON.parse(removeFromJsonList(json, [at]))).toEqual(JSON.parse(json).toSpliced(at, 1));
      }),
    );
  });
});
