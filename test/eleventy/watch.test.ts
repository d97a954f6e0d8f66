import { describe, expect, it } from "vitest";
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

describe("while Eleventy is watching", () => {
  it.each([
    [["--watch", "--formats=md,njk"]],
    [["--watch", "--incremental", "--ignore-initial"]],
    [["--serve", "--incremental", "--port=0"]],
  ])("%s: the feed reflects edited, added and removed posts", async (args) => {
    const built = await site({ files });
    expect(built.texts()).toEqual(["first note", "second *note*", titled]);

    const running = await watchSite(built, args);
    const textsAre = (texts: string[]) => () => expect(built.texts()).toEqual(texts);
    try {
      const edited = "second note, edited";
      await running.change(
        { "posts/b.md": post({ date: "2024-01-02T00:00:01Z" }, edited) },
        textsAre(["first note", edited, titled]),
      );
      expect(built.read("posts/b/index.html")).toContain(`<i>${edited}</i>`);

      const added = { "posts/d.md": post({ date: "2024-01-04T00:00:01Z" }, "a new one") };
      await running.change(added, textsAre(["first note", edited, titled, "a new one"]));

      const silenced = { "posts/c.md": post({ title: "Titled", twt: false, date: "2024-01-03T00:00:01Z" }, "silent") };
      await running.change(silenced, textsAre(["first note", edited, "a new one"]));
    } finally {
      await running.stop();
    }
  });
});
