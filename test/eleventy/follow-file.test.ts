import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { buildSite, post, site } from "../helpers/site.js";

const NOTE = {
  "posts/posts.json": `{ "tags": "posts" }`,
  "posts/a.md": post({ date: "2024-01-01T00:00:01Z" }, "to @bob"),
};
const BOB = { nick: "bob", url: "https://bob.example/twtxt.txt" };
const CAROL = { nick: "carol", url: "https://carol.example/tw.txt" };
const OPTION = `{ follow: [${JSON.stringify(CAROL)}] }`;

const listOf = (...feeds: unknown[]) => JSON.stringify(feeds, null, 2);

describe("_data/follow.json", () => {
  it("lists feeds to follow without the option, and may have extra fields for templates", async () => {
    const built = await site({
      files: {
        ...NOTE,
        "_data/follow.json": listOf({ ...BOB, note: "writes about bread" }),
        "blogroll.njk":
          "{% for feed in follow %}{{ feed.nick }}: {{ feed.note }}{% endfor %};{{ twtxt.follow | dump | safe }}",
      },
    });
    expect(built.feed().header.follow).toEqual(["bob https://bob.example/twtxt.txt"]);
    expect(built.texts()).toEqual(["to @<bob https://bob.example/twtxt.txt>"]);
    expect(built.read("blogroll/index.html")).toBe(`bob: writes about bread;${JSON.stringify([BOB])}`);
  });

  it("is merged with the option without duplicates, and the commands can tell which feeds are in the option", async () => {
    const built = await site({ files: { ...NOTE, "_data/follow.json": listOf(CAROL, BOB) }, options: OPTION });
    expect(built.feed().header.follow).toEqual([
      "carol https://carol.example/tw.txt",
      "bob https://bob.example/twtxt.txt",
    ]);
    const settings = JSON.parse(readFileSync(join(built.folder, ".eleventy-twtxt/settings.json"), "utf8"));
    expect(settings).toMatchObject({ follow: [CAROL, BOB], followed: { file: "_data/follow.json", option: [CAROL] } });
  });

  it("is read from the site's configured data folder", async () => {
    const built = await site({
      files: {
        "src/posts/posts.json": NOTE["posts/posts.json"],
        "src/posts/a.md": NOTE["posts/a.md"],
        "src/data/follow.json": `\uFEFF${listOf(BOB)}`,
      },
      config: `return { dir: { input: "src", data: "data" } };`,
    });
    expect(built.texts()).toEqual(["to @<bob https://bob.example/twtxt.txt>"]);
  });

  it.each([
    ["invalid JSON", "[", /_data\/follow\.json: expected JSON, a list such as \[\{ "nick": "bob", .* \}\]: .*JSON/],
    [
      "not a list",
      "{}",
      /_data\/follow\.json: expected a list such as \[.*\], got \{\}\. This file lists the feeds that you follow. If yours has another purpose, rename it\./,
    ],
    [
      "a link",
      listOf(BOB, "https://bob.example"),
      /_data\/follow\.json\[1\]: expected an object such as .*, got "https:\/\/bob\.example"/,
    ],
    [
      "a nick with a space",
      listOf({ ...BOB, nick: "the bob" }),
      /_data\/follow\.json\[0\]\.nick: expected a nick without spaces .*, got "the bob"/,
    ],
    [
      "without a URL",
      listOf({ nick: "bob" }),
      /_data\/follow\.json\[0\]\.url: expected an object such as .*, got nothing/,
    ],
    [
      "a nick twice",
      listOf(BOB, { ...CAROL, nick: "bob" }),
      /_data\/follow\.json: expected a list with each nick only once, got "bob" twice/,
    ],
    [
      "the nick of another feed",
      listOf({ ...BOB, nick: "carol" }),
      /_data\/follow\.json: the option "follow" has another feed with the nick "carol"/,
    ],
  ])("stops the build with an error: %s", async (_, content, sentence) => {
    const built = await buildSite({ files: { ...NOTE, "_data/follow.json": content }, options: OPTION });
    expect(built.exitCode).toBe(1);
    expect(built.log).toMatch(sentence);
    expect(built.has("twtxt.txt")).toBe(false);
  });
});
