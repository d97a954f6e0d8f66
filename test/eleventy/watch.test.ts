import { expect, it } from "vitest";
import { loopbackServer } from "../helpers/loopback.js";
import { type BuiltSite, post, site, watchSite } from "../helpers/site.js";

const files = {
  "_includes/base.njk":
    "<html><head></head><body>{{ content | safe }}<i>{{ (page | twt).text }}</i>{% twtxtMentions %}</body></html>",
  "posts/posts.json": `{ "tags": "posts", "layout": "base.njk" }`,
  "posts/a.md": post({ date: "2024-01-01T00:00:01Z" }, "first note"),
  "posts/b.md": post({ date: "2024-01-02T00:00:01Z" }, "second *note*"),
  "posts/c.md": post({ title: "Titled", date: "2024-01-03T00:00:01Z" }, "with @<bob https://bob.example/twtxt.txt>"),
  "all.njk": "{% for item in collections.posts %}{{ (item | twt).text }};{% endfor %}",
};

it.each([
  ["all of the site", ["--watch", "--formats=md,njk"]],
  ["only changed pages, after no first build", ["--serve", "--incremental", "--ignore-initial", "--port=0"]],
])(
  "while Eleventy is watching and builds %s, the feed reflects edited, added and removed posts and the followed feeds; mentions are requested once",
  async (_, args) => {
    const alice = await loopbackServer((_request, response) => response.end('{ "mentions": [], "next": null }'));
    const built = await site({ files, options: `{ url: "${alice.url}", host: "node" }` });
    const titled = `Titled: ${alice.url}/posts/c/ @<bob https://bob.example/twtxt.txt>`;
    expect(built.texts()).toEqual(["first note", "second *note*", titled]);

    const running = await watchSite(built, args);
    try {
      const edited = "second note, edited";
      await running.change(
        { "posts/b.md": post({ date: "2024-01-02T00:00:01Z" }, edited) },
        expectTexts(built, ["first note", edited, titled]),
      );
      expect(built.read("posts/b/index.html")).toContain(`<i>${edited}</i>`);

      const added = { "posts/d.md": post({ date: "2024-01-04T00:00:01Z" }, "a new one") };
      await running.change(added, expectTexts(built, ["first note", edited, titled, "a new one"]));

      const silenced = { "posts/c.md": post({ title: "Titled", twt: false, date: "2024-01-03T00:00:01Z" }, "silent") };
      await running.change(silenced, expectTexts(built, ["first note", edited, "a new one"]));

      expect(alice.requests).toEqual(["/mentions.json?limit=100", "/mentions.json?limit=100"]);

      for (const url of ["https://carol.example/twtxt.txt", "https://carol.example/c.txt"]) {
        await running.change({ "_data/follow.json": JSON.stringify([{ nick: "carol", url }]) }, () =>
          expect(built.feed().header.follow).toEqual([`carol ${url}`]),
        );
      }
    } finally {
      await running.stop();
    }
  },
);

function expectTexts(built: BuiltSite, texts: readonly string[]): () => void {
  return () => expect(built.texts()).toEqual(texts);
}
