import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { post, site } from "../helpers/site.js";

const KEY = "kex132yw8ht5p8cetl2jmvknewjawt9xwzdlrk2pyxlnwjyqrdq0dawqqph077";
const ON = "mentions: { comments: true }";

const files = {
  "_includes/base.njk":
    "<!doctype html><html lang=\"{{ lang or 'en' }}\"><head></head><body>{{ content | safe }}{% twtxtMentions %}</body></html>",
  "posts/open.md": post({ date: "2026-11-18T03:04:05Z", tags: "posts", layout: "base.njk" }, "open"),
  "posts/closed.md": post(
    { date: "2026-11-18T04:04:05Z", tags: "posts", layout: "base.njk", comments: false },
    "closed",
  ),
  "posts/old.md": post({ date: "2026-08-18T04:04:05Z", tags: "posts", layout: "base.njk", lang: "de" }, "old"),
  "posts/other.md": post({ date: "2026-11-18T05:04:05Z", tags: "posts", layout: "base.njk", lang: "pt" }, "other"),
  "about.md": post({ layout: "base.njk" }, "about"),
};

const SECTION = /<twtxt-comments[\s\S]*<\/twtxt-comments>/;

async function blog(options: string) {
  const built = await site({ files, options: `{ host: "node", ${options} }` });
  const section = (path: string) => SECTION.exec(built.read(`${path}/index.html`))?.[0] ?? null;
  return { built, section };
}

describe("the form for comments", () => {
  it("is a plain form under each post, folded, beside the one for the reader's own site", async () => {
    const { built, section } = await blog(`key: "${KEY}", ${ON}`);
    const form = section("posts/open");
    expect(form).toContain('<form class="twtxt-write" method="post" action="https://alice.example/comments">');
    expect(form).toContain('<input name="target" type="hidden" value="https://alice.example/posts/open/">');
    expect(form).toContain('<form class="twtxt-form" method="post" action="https://alice.example/webmention">');
    expect(form?.match(/<details>/g)).toHaveLength(2);
    expect(form).not.toContain("data-words");
    const page = built.read("posts/open/index.html");
    expect(page).toContain('<script type="module" src="/mentions/twtxt-comments.js"></script>');
    expect(page.match(/class="twtxt-form"/g)).toHaveLength(1);
    expect(section("about")).toBeNull();
    for (const name of ["twtxt-comments.js", "twtxt-comments-form.js"])
      expect(built.has(`mentions/${name}`)).toBe(true);
    expect(built.log).not.toContain("comments");
  });

  it("has a field for a mail address with the option mail only, which the script shows if the site sends mail, and so has the contact page", async () => {
    const off = await blog(`key: "${KEY}", ${ON}`);
    const on = await blog(`key: "${KEY}", mentions: { comments: { mail: true } }, inbox: { guests: { mail: true } }`);
    for (const [{ built }, isOn] of [
      [off, false],
      [on, true],
    ] as const) {
      for (const path of ["posts/open/index.html", "contact/index.html"]) {
        expect(/<label hidden="">[^<]+<input name="mail" type="email"/.test(built.read(path))).toBe(isOn);
        expect(built.read(path).includes('name="mail"')).toBe(isOn);
        expect(built.read(path).includes('data-answers="/answers"')).toBe(isOn);
      }
    }
    expect(on.section("posts/old")).toContain("Sag mir per E-Mail, wenn es eine Antwort gibt (freiwillig)");
  });

  it("has the words of the page's language, and those that the author sets", async () => {
    const { built, section } = await blog(
      `lang: "en", key: "${KEY}", mentions: { comments: { words: { comment: "Say something" } } }`,
    );
    expect(section("posts/open")).toContain("<summary>Say something</summary>");
    const german = section("posts/old");
    expect(german).toContain("<summary>Kommentar schreiben</summary>");
    expect(german).toContain('lang="de"');
    const other = built.read("posts/other/index.html");
    for (const name of ["mentions", "comments"]) expect(other).toMatch(new RegExp(`<twtxt-${name} [^>]* lang="en"`));
    expect(other).toMatch(/<form class="twtxt-form"[^>]* lang="en"/);
    expect(section("posts/open")).not.toContain("lang=");
    expect(german).toContain("&quot;replyTo&quot;:&quot;Deine Antwort an {name}&quot;");
    const { pages } = JSON.parse(readFileSync(join(built.folder, ".eleventy-twtxt/host.json"), "utf8"));
    const languages = pages.twts.map(({ page, lang }: { page: string; lang?: string }) => [
      new URL(page).pathname,
      lang,
    ]);
    expect(Object.fromEntries(languages)).toEqual({
      ...{ "/posts/open/": undefined, "/posts/closed/": undefined },
      ...{ "/posts/old/": "de", "/posts/other/": "pt" },
    });
  });

  it("says that a post is closed, which its host knows, too", async () => {
    const { built, section } = await blog(`key: "${KEY}", mentions: { comments: { closeAfterDays: 30 } }`);
    expect(section("posts/open")).toContain('name="text"');
    for (const [path, words] of [
      ["posts/closed", "Comments are closed."],
      ["posts/old", "Die Kommentare sind geschlossen."],
    ] as const) {
      expect(section(path)).toContain(words);
      expect(section(path)).not.toContain('name="text"');
    }
    const { pages } = JSON.parse(readFileSync(join(built.folder, ".eleventy-twtxt/host.json"), "utf8"));
    expect(pages.closed).toEqual(["https://alice.example/posts/closed/"]);
  });

  it("costs a site without the option nothing; the build names the option once there is a key", async () => {
    for (const [options, isNamed] of [
      [`key: "${KEY}"`, true],
      [`key: "${KEY}", mentions: { comments: false }`, false],
      ["", false],
    ] as const) {
      const { built, section } = await blog(options);
      expect(section("posts/open")).toBeNull();
      expect(built.read("posts/old/index.html")).not.toMatch(/comment|data-text-(?:guest|waits)/);
      expect(built.has("mentions/twtxt-comments.js")).toBe(false);
      expect(built.log.includes("mentions: { comments: true }")).toBe(isNamed);
    }
  });

  it("has no effect without a key, and the build says so", async () => {
    const { built, section } = await blog(ON);
    expect(section("posts/open")).toBeNull();
    expect(built.log).toContain('No effect: the option "mentions.comments"');
  });

  it("posts to the endpoint below a path prefix, also if a plugin adds the prefix to all links", async () => {
    for (const plugin of ["", "config.addPlugin(HtmlBasePlugin);"]) {
      const built = await site({
        files,
        options: `{ host: "node", key: "${KEY}", ${ON} }`,
        imports: 'import { HtmlBasePlugin } from "@11ty/eleventy";',
        config: `${plugin} return { pathPrefix: "/blog/" };`,
      });
      const form = SECTION.exec(built.read("posts/open/index.html"))?.[0] ?? "";
      expect(form).toContain('action="https://alice.example/blog/comments"');
      expect(form).toContain('data-endpoint="/blog/comments"');
      expect(form).toContain('data-target="https://alice.example/blog/posts/open/"');
    }
  });
});
