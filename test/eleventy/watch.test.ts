import { describe, expect, it, vi } from "vitest";
import { post, site, watchSite } from "../helpers/site.js";

const files = {
  "_includes/base.njk": "<html><head></head><body>{{ content | safe }}<i>{{ (page | twt).text }}</i></body></html>",
  "posts/posts.json": `{ "tags": "posts", "layout": "base.njk" }`,
  "posts/a.md": post({ date: "2024-01-01T00:00:01Z" }, "first note"),
  "posts/b.md": post({ date: "2024-01-02T00:00:01Z" }, "second *note*"),
  "posts/c.md": post({ title: "Titled", date: "2024-01-03T00:00:01Z" }, "with @<bob https://bob.example/twtxt.txt>"),
  "all.njk": "{% for item in collections.posts %}{{ (item | twt).text }};{% endfor %}",
};
const titled = "Titled: https://alice.example/posts/c/ @<bob https://bob.example/twtxt.txt>";

describe("while Eleventy keeps running", () => {
  it.each([
    [["--watch", "--formats=md,njk"]],
    [["--watch", "--incremental"]],
    [["--serve", "--incremental", "--port=0"]],
  ])("%s: the feed follows what is edited, added and removed", async (args) => {
    const built = await site({ files });
    expect(built.texts()).toEqual(["first note", "second *note*", titled]);

    const running = await watchSite(built, args);
    const untilTextsAre = (texts: string[]) => vi.waitFor(() => expect(built.texts()).toEqual(texts), { timeout: 60_000, interval: 100 });
    try {
      running.change({ "posts/b.md": post({ date: "2024-01-02T00:00:01Z" }, "second note, edited") });
      await untilTextsAre(["first note", "second note, edited", titled]);
      expect(built.read("posts/b/index.html")).toContain("<i>second note, edited</i>");

      running.change({ "posts/d.md": post({ date: "2024-01-04T00:00:01Z" }, "a new one") });
      await untilTextsAre(["first note", "second note, edited", titled, "a new one"]);

      running.change({ "posts/c.md": post({ title: "Titled", twt: false, date: "2024-01-03T00:00:01Z" }, "silent") });
      await untilTextsAre(["first note", "second note, edited", "a new one"]);
    } finally {
      await running.stop();
    }
  });
});
