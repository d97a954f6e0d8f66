import { describe, expect, it } from "vitest";
import * as api from "../plugin/index.js";

describe("the public API", () => {
  it("has these names and no others", () => {
    expect(Object.keys(api).sort()).toEqual([
      "TwtxtError",
      "default",
      "findMentions",
      "findTwts",
      "formatFeed",
      "formatMention",
      "parseFeed",
      "twtHash",
    ]);
  });

  // The examples of the docstrings.
  it("does what its documentation shows", () => {
    expect(api.parseFeed("# nick = bob\n\n2026-01-02T03:04:05Z\thello\n").twts[0]?.text).toBe("hello");
    expect(
      api.formatFeed({ fields: { nick: ["alice"] }, twts: [{ timestamp: "2026-01-02T03:04:05Z", text: "hello" }] }),
    ).toBe("# nick = alice\n\n2026-01-02T03:04:05Z\thello\n");
    expect(
      api.twtHash("https://example.com/twtxt.txt", { timestamp: "2026-07-01T00:00:00Z", text: "Hello World!" }),
    ).toBe("myzxbwxktuvs");
    expect(api.findMentions("hi @<bob https://bob.example/twtxt.txt>")).toEqual([
      { nick: "bob", url: "https://bob.example/twtxt.txt" },
    ]);
    expect(api.formatMention({ nick: "bob", url: "https://bob.example/twtxt.txt" })).toBe(
      "@<bob https://bob.example/twtxt.txt>",
    );
  });
});
