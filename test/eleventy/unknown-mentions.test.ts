import { describe, expect, it } from "vitest";
import { post, site } from "../helpers/site.js";

describe("a text that looks like a mention but names no known feed", () => {
  it("is reported with its post, and stays visible on the page", async () => {
    const built = await site({
      files: {
        "posts/posts.json": '{"tags":"posts"}',
        "posts/a.md": post({ date: "2026-11-16T08:00:00Z" }, "Ask @bob, or @bob's sister @<carol>. Hi @eve!"),
        "posts/b.md": post({ date: "2026-11-17T08:00:00Z" }, "@bob and @<dave dave.example/tw.txt>"),
        "posts/c.md": post({ date: "2026-11-18T08:00:00Z", title: "T", twt: '"front @<mallory>"' }, "x"),
        "about.md": "@frank",
      },
      options: `{ follow: [{ nick: "eve", url: "https://eve.example/twtxt.txt" }] }`,
    });
    expect(built.log).toContain(
      `No one is notified of @bob (./posts/a.md and 1 post more), @<carol> (./posts/a.md), @<dave dave.example/tw.txt> (./posts/b.md), @<mallory> (./posts/c.md): the feed is unknown. Write @<bob https://bob.example/twtxt.txt> with the right URL, or follow the feed (npx eleventy-twtxt follow URL) and write @bob. If it is not a mention, write \\@bob.`,
    );
    expect(built.read("posts/a/index.html")).toContain("sister @&lt;carol&gt;.");
    expect(built.texts()[0]).toContain("sister @\\<carol>. Hi @<eve https://eve.example/twtxt.txt>!");
  });

  it("is no annotation that a post has in its code", async () => {
    const built = await site({
      files: {
        "posts/posts.json": '{"tags":"posts"}',
        "posts/a.md": post({ date: "2026-11-19T08:00:00Z" }, "Write @Autowired above, @media and @for, @bob."),
        "posts/b.md": post(
          { date: "2010-01-01T08:00:00Z" },
          "```java\n@Autowired\n```\n\nAnd `@media print`.\n\n    @for $i from 1\n",
        ),
      },
    });

    expect(built.log).toContain("No one is notified of @bob (./posts/a.md): ");
  });

  it("is named only in posts of the last seven days: no one would be notified of older ones", async () => {
    const built = await site({
      files: {
        "posts/posts.json": '{"tags":"posts"}',
        "posts/new.md": post({ date: "2026-11-14T08:00:00Z" }, "Hi @bob"),
        "posts/old.md": post({ date: "2026-11-12T08:00:00Z" }, "Hi @bob, hi @carol"),
      },
    });
    expect(built.log).toContain("of @bob (./posts/new.md): ");
  });

  it("is not found in escaped text, code, links, addresses and package names", async () => {
    const built = await site({
      files: {
        "posts/posts.json": '{"tags":"posts"}',
        "posts/a.md": post(
          { date: "2026-11-16T08:00:00Z" },
          "\\@bob `@bob` [@bob](/x/) a@bob.example @11ty/eleventy @bob@mastodon.example a@b 3 @ 4 https://x.example/@bob x@<b>y</b> @<em>z</em>\n\n```css\n@media print\n```",
        ),
      },
    });
    expect(built.log).not.toContain("No one is notified");
    expect(built.read("posts/a/index.html")).toContain("@<em>z</em>");
  });
});
