import { readFileSync } from "node:fs";
import { mf2 } from "microformats-parser";
import { describe, expect, it } from "vitest";
import { parseHtml, walkElements } from "../../plugin/http/parse-html.js";
import { readEntry } from "../../plugin/mentions/verify/microformats.js";
import { longConversation } from "../helpers/long-conversation.js";
import { loopbackServer } from "../helpers/loopback.js";
import { post, site } from "../helpers/site.js";

const URL_OF_POST = "https://alice.example/posts/hens/";
const TARGET = "https://bob.example/posts/quinces/";

const document = readFileSync(new URL("../../docs/mentions.md", import.meta.url), "utf8");
/** The post layout of the example, without its macros, navigation and base layout. */
const EXAMPLE = readFileSync(new URL("../../site-example/_includes/post.njk", import.meta.url), "utf8").replace(
  /^---[\s\S]*?---\n.*\n|{{ [^}]*(?:when|replyLine)\(.*?\) }}|{% set newer[\s\S]*$/g,
  "",
);
const [, lines = ""] = /<!-- h-entry -->\n```njk\n([\s\S]*?)```/.exec(document) ?? [];

describe("the h-entry lines in docs/mentions.md", () => {
  it("are seven, and give a receiver the author, text and time of a mention", async () => {
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
    const [entry] = [...walkElements(tree)].filter(({ properties }) => Object(properties.className)[0] === "h-entry");
    if (!entry) throw new Error("The page has no h-entry.");

    expect(lines.trim().split("\n")).toHaveLength(7);
    expect(await readEntry(entry, URL_OF_POST, (url) => url === TARGET)).toEqual({
      type: "mention",
      author: { name: "alice", url: "https://alice.example/", photo: null },
      text: "@bob The hens are well.",
      published: "2026-10-04T07:12:30Z",
      replyTo: null,
    });
  });

  it.each([
    ["in docs/mentions.md", `<!doctype html><title>A site</title>\n${lines}`],
    ["of the example", EXAMPLE],
  ])("%s have the replies as comments of the post", async (_, layout) => {
    const alice = await loopbackServer((_, response) => {
      const mentions = longConversation(`${alice.url}/posts/hens/`).filter(({ type }) => type === "reply");
      response.end(JSON.stringify({ mentions, next: null }));
    });
    const built = await site({
      files: {
        "_includes/post.njk": layout,
        "posts/hens.md": post({ title: "Hens", date: "2026-10-04T07:12:30Z", tags: "posts", layout: "post.njk" }),
      },
      options: `{ url: "${alice.url}", host: "node" }`,
    });
    const page = built.read("posts/hens/index.html");
    const [entry, ...others] = mf2(page, { baseUrl: `${alice.url}/posts/hens/` }).items;

    expect(entry?.type).toEqual(["h-entry"]);
    expect(entry?.properties.comment?.length).toBeGreaterThan(2);
    expect(others).toEqual([]);
  });
});
