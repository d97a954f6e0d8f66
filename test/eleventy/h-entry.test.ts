import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { elementsOf, parseHtml } from "../../plugin/http/parse-html.js";
import { readEntry } from "../../plugin/mentions/verify/microformats.js";
import { post, site } from "../helpers/site.js";

const URL_OF_POST = "https://alice.example/posts/hens/";
const TARGET = "https://bob.example/posts/quinces/";

const document = readFileSync(new URL("../../docs/mentions.md", import.meta.url), "utf8");
const [, lines = ""] = /<!-- h-entry -->\n```njk\n([\s\S]*?)```/.exec(document) ?? [];

describe("the h-entry lines in docs/mentions.md", () => {
  it("are six, and give a receiver the author, text and time of a mention", async () => {
    const built = await site({
      files: {
        "_includes/post.njk": `<!doctype html><title>A site</title>\n${lines}`,
        "posts/hens.md": post(
          { date: "2026-10-04T07:12:30Z", tags: "posts", layout: "post.njk" },
          `@<bob ${TARGET}> The hens are well.`,
        ),
      },
    });
    const { tree } = await parseHtml(built.read("posts/hens/index.html"));
    const [entry] = [...elementsOf(tree)].filter(({ properties }) => Object(properties.className)[0] === "h-entry");
    if (!entry) throw new Error("The page has no h-entry.");

    expect(lines.trim().split("\n")).toHaveLength(6);
    expect(await readEntry(entry, URL_OF_POST, (url) => url === TARGET)).toEqual({
      type: "mention",
      author: { name: "alice", url: "https://alice.example/", photo: null },
      text: "@bob The hens are well.",
      published: "2026-10-04T07:12:30Z",
      replyTo: null,
    });
  });
});
