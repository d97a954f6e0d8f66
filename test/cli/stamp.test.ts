import { chmodSync, lstatSync, readFileSync, statSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { post, site } from "../helpers/site.js";
import { blog, command, undatedBlog } from "./helpers.js";

const AT = "2026-01-02T00:13:37Z";
const DAY = "---\ntitle: A\ndate: 2026-01-02 # day\n---\nbody\n";

describe("eleventy-twtxt stamp", () => {
  it("writes the feed's timestamp, prints a line per file, and changes nothing when repeated", async () => {
    const { folder, read } = undatedBlog({ "posts/a.md": DAY, "posts/b.md": "---\ntitle: B\n---\n" });

    expect(await command(folder, ["stamp"])).toEqual({
      exitCode: 0,
      stdout: `posts/a.md: 2026-01-02 -> ${AT}\nposts/b.md: no date -> ${AT}\n`,
      stderr: "2 posts stamped.\n",
    });
    expect(read("posts/a.md")).toBe(`---\ntitle: A\ndate: ${AT} # day\n---\nbody\n`);
    expect(read("posts/b.md")).toBe(`---\ntitle: B\ndate: ${AT}\n---\n`);

    utimesSync(join(folder, "posts/a.md"), 0, 0);
    expect(await command(folder, ["stamp"])).toEqual({
      exitCode: 0,
      stdout: "",
      stderr:
        "posts/a.md: nothing to do: it has a time of its own\nposts/b.md: nothing to do: it has a time of its own\n0 posts stamped, 2 with nothing to do.\n",
    });
    expect(statSync(join(folder, "posts/a.md")).mtimeMs).toBe(0);
  });

  it("--dry-run lists the changes and writes nothing", async () => {
    const { folder, read, list } = undatedBlog({ "posts/a.md": DAY });
    expect(await command(folder, ["stamp", "--dry-run"])).toEqual({
      exitCode: 0,
      stdout: `posts/a.md: 2026-01-02 -> ${AT}\n`,
      stderr: "1 post would be stamped. Nothing was written.\n",
    });
    expect(read("posts/a.md")).toBe(DAY);
    expect(list("posts")).toEqual(["a.md"]);
  });

  it("says so if every post has a time", async () => {
    const outcome = await command(blog({}).folder, ["stamp"]);
    expect(outcome).toEqual({ exitCode: 0, stdout: "", stderr: "Every post has a time of its own.\n" });
  });

  it("changes only the given files, from any folder", async () => {
    const { folder, read, write } = undatedBlog({ "posts/a.md": DAY, "posts/b.md": DAY });
    write("posts/timed.md", "---\ndate: 2026-01-02T03:04:05Z\n---\n");
    const outcome = await command(join(folder, "posts"), ["stamp", "b.md", "timed.md"]);
    expect(outcome).toEqual({
      exitCode: 0,
      stdout: `b.md: 2026-01-02 -> ${AT}\n`,
      stderr:
        "timed.md: nothing to do: the last build did not list it as a post without a time\n1 post stamped, 1 with nothing to do.\n",
    });
    expect(read("posts/a.md")).toBe(DAY);
  });

  it("exit 2: a given file does not exist", async () => {
    const outcome = await command(undatedBlog({ "a.md": DAY }).folder, ["stamp", "b.md"]);
    expect(outcome).toMatchObject({ exitCode: 2, stdout: "" });
    expect(outcome.stderr).toBe('eleventy-twtxt: stamp: there is no file "b.md". Type: eleventy-twtxt stamp --help\n');
  });

  it("preserves the file's mode and symbolic links", async () => {
    const { folder, read, write, list } = undatedBlog({ "posts/a.md": DAY });
    write("elsewhere/real.md", DAY);
    write(".eleventy-twtxt/settings.json", read(".eleventy-twtxt/settings.json").replace("a.md", "link.md"));
    symlinkSync("../elsewhere/real.md", join(folder, "posts/link.md"));
    chmodSync(join(folder, "elsewhere/real.md"), 0o640);

    expect((await command(folder, ["stamp"])).stdout).toBe(`posts/link.md: 2026-01-02 -> ${AT}\n`);
    expect(lstatSync(join(folder, "posts/link.md")).isSymbolicLink()).toBe(true);
    expect(statSync(join(folder, "elsewhere/real.md")).mode & 0o777).toBe(0o640);
    expect(read("elsewhere/real.md")).toContain(AT);
    expect([list("posts"), list("elsewhere")]).toEqual([["a.md", "link.md"], ["real.md"]]);
  });

  it("says that it has added front matter", async () => {
    const { folder, read } = undatedBlog({ "2026-01-02-a.md": "\uFEFFbody\r\n" });
    const outcome = await command(folder, ["stamp"]);
    expect(outcome).toMatchObject({ exitCode: 0, stdout: `2026-01-02-a.md: no date -> ${AT}\n` });
    expect(outcome.stderr).toContain("2026-01-02-a.md: it had no front matter, so one was added\n");
    expect(read("2026-01-02-a.md")).toBe(`\uFEFF---\r\ndate: ${AT}\r\n---\r\nbody\r\n`);
  });

  it.each([
    ["a.11ty.js", "export const data = { date: '2026-01-02' }", "a script has no front matter"],
    ["json.md", '---json\n{"date":"2026-01-02"}\n---\n', 'its front matter is in "json", not in YAML'],
    [
      "computed.md",
      "---\neleventyComputed:\n  date: x\n---\n",
      "its date is computed, so a date in its front matter has no effect",
    ],
    ["changed.md", "---\ndate: 2026-01-05\n---\n", "its date has changed since the last build; build the site again"],
  ])("exit 1: %s is not changed, other files are stamped", async (name, content, why) => {
    const { folder, read } = undatedBlog({ [name]: content, "z.md": DAY });
    expect(await command(folder, ["stamp"])).toEqual({
      exitCode: 1,
      stdout: `z.md: 2026-01-02 -> ${AT}\n`,
      stderr: `${name}: not changed: ${why}\n1 post stamped, 1 not changed.\n`,
    });
    expect(read(name)).toBe(content);
  });

  it("exit 1: does not change invalid UTF-8, a missing file or a template of several posts", async () => {
    const unstamped = ["latin.md", "gone.md", "pages.njk", "pages.njk"].map((file) => ({ file, timestamp: AT }));
    const { folder, write } = blog({ unstamped }, { "pages.njk": "---\npagination: {}\n---\n" });
    const latin = Buffer.from("---\ntitle: caf\xe9\n---\n", "latin1");
    write("latin.md", latin);

    const outcome = await command(folder, ["stamp"]);
    expect(outcome).toMatchObject({ exitCode: 1, stdout: "" });
    expect(outcome.stderr).toMatch(
      /latin\.md: not changed: it is not UTF-8 text\ngone\.md: not changed: There is no file .*gone\.md\.\npages\.njk: not changed: it makes 2 posts/,
    );
    expect(readFileSync(join(folder, "latin.md"))).toEqual(latin);
  });

  it("keeps a time that was added after the build", async () => {
    const own = "---\ndate: 2026-01-02 11:33\n---\n";
    const { folder, read } = undatedBlog({ "a.md": own });
    expect(await command(folder, ["stamp"])).toMatchObject({ exitCode: 0, stdout: "" });
    expect(read("a.md")).toBe(own);
  });

  it("gives a post with the same second as another one its time in the feed, unless the author has changed it", async () => {
    const shared = "2026-01-02T03:04:05Z";
    const dates = { moved: "2026-01-02 04:04:05 +0100", mended: "2026-01-02T09:00:00Z", "at-midnight": shared };
    const { folder, read } = blog(
      {
        unstamped: [
          { file: "moved.md", timestamp: "2026-01-02T03:04:06Z", shared },
          { file: "mended.md", timestamp: "2026-01-02T03:04:07Z", shared },
          { file: "at-midnight.md", timestamp: "2026-01-03T00:00:00Z", shared },
        ],
      },
      Object.fromEntries(Object.entries(dates).map(([name, date]) => [`${name}.md`, `---\ndate: ${date}\n---\n`])),
    );
    expect(await command(folder, ["stamp"])).toEqual({
      exitCode: 1,
      stdout: "moved.md: 2026-01-02 04:04:05 +0100 -> 2026-01-02T03:04:06Z\n",
      stderr:
        "mended.md: nothing to do: it has a time of its own\nat-midnight.md: not changed: its time in the feed, 2026-01-03T00:00:00Z, would read as a date without a time; give it another one\n1 post stamped, 1 with nothing to do, 1 not changed.\n",
    });
    expect(read("moved.md")).toBe("---\ndate: 2026-01-02T03:04:06Z\n---\n");
    expect((await command(folder, ["stamp", "moved.md"])).stderr).toContain("it has a time of its own");
  });

  it("warns if the time is on another day in UTC", async () => {
    const { folder } = undatedBlog({ "a.md": DAY }, "2026-01-01T13:10:00Z", "Australia/Sydney");
    const outcome = await command(folder, ["stamp"]);
    expect(outcome).toMatchObject({ exitCode: 0, stdout: "a.md: 2026-01-02 -> 2026-01-01T13:10:00Z\n" });
    expect(outcome.stderr).toContain(
      "a.md: in UTC this is another day; check pages and permalinks that show 2026-01-02\n",
    );
  });
});

describe("a real site after stamp", () => {
  it("has no posts with the same second, and the same feed, byte for byte", async () => {
    const date = "2026-01-02T03:04:05Z";
    const built = await site({
      files: {
        "posts/posts.json": '{"tags":"posts","permalink":"/{{ page.fileSlug }}/"}',
        "posts/a.md": post({ title: "A", date }),
        "posts/b.md": post({ title: "B", date }),
        "posts/c.md": post({ title: "C", date: "2026-01-02T03:04:06Z" }),
        "posts/d.md": post({ title: "D", date }),
        "pages/two.njk": `---\ntags: posts\ndate: 2026-01-05T03:04:05Z\nlist: [1, 2]\npagination: { data: list, size: 1, addAllPagesToCollections: true }\npermalink: "/two/{{ pagination.pageNumber }}/"\n---\n`,
      },
    });
    expect(built.log.match(/have the same time/g)).toHaveLength(3);

    const stamped = await command(built.folder, ["stamp"]);
    expect(stamped.stdout).toBe(
      `posts/b.md: ${date} -> 2026-01-02T03:04:07Z\nposts/d.md: ${date} -> 2026-01-02T03:04:08Z\n`,
    );
    expect(stamped.stderr).toContain(
      "pages/two.njk: not changed: it makes 2 posts, and one date would give them all the same second\n",
    );

    const again = await site({ files: { "pages/two.njk": null }, site: built });
    expect(again.log).not.toContain("have the same time");
    const posts = (text: string) => text.split("\n").filter((line) => line.startsWith("2026-01-02"));
    expect(posts(again.read("twtxt.txt"))).toEqual(posts(built.read("twtxt.txt")));
    expect((await command(built.folder, ["stamp"])).stderr).toBe("Every post has a time of its own.\n");
  });

  it("has the same feed, byte for byte, in another time zone", async () => {
    const files = {
      "posts/posts.json": '{"tags":"posts","permalink":"/{{ page.fileSlug }}/"}',
      "posts/day.md": post({ title: "Day", date: "2026-01-02" }),
      "posts/same-day.md": post({ title: "Same day", date: '"2026-01-02"' }, "date: 2026-01-02"),
      "posts/2025-06-07-in-name.md": "Without front matter\n",
      "posts/timed.md": post({ title: "Timed", date: "2026-01-02T03:04:05Z" }),
      "posts/page.njk": "---\r\ntitle: Page\r\ndate: 2024-02-29\r\n---\r\n{{ title }}\r\n",
    };
    const options = '{ timeZone: "America/Los_Angeles" }';
    const built = await site({ files, options });
    const feed = built.read("twtxt.txt") + built.read("twtxt-2024.txt");
    const stamped = await command(built.folder, ["stamp"]);
    expect(stamped).toMatchObject({ exitCode: 0 });
    expect(stamped.stdout.split("\n")).toHaveLength(5);

    const again = await site({ files: {}, options, site: built });
    expect(again.read("twtxt.txt") + again.read("twtxt-2024.txt")).toBe(feed);
    expect(again.feed().twts).toHaveLength(4);
    expect((await command(built.folder, ["stamp"])).stderr).toBe("Every post has a time of its own.\n");
  });
});
