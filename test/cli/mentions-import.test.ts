import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { disqusExport, wordpressExport, writeIssoDatabase } from "../helpers/comment-exports.js";
import { repliesIn } from "../helpers/conversation-outline.js";
import { freePort } from "../helpers/ports.js";
import { settingsOf } from "../helpers/receiver.js";
import { site as buildSite, post } from "../helpers/site.js";
import { command } from "./helpers.js";
import { serve, site } from "./server.js";

const data = mkdtempSync(join(tmpdir(), "twtxt-data-"));
afterAll(() => rmSync(data, { recursive: true }));
const environment = { XDG_DATA_HOME: data };

const LAYOUT = `<!doctype html><html><head><title>x</title></head><body>{{ content | safe }}{% twtxtMentions %}</body></html>`;

describe("eleventy-twtxt mentions import", () => {
  it("moves the comments of Disqus to a site under `serve`, whose next build shows the threads", async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const keyFile = join(data, `eleventy-twtxt/keys/alice@127.0.0.1:${port}.key`);
    const { stdout } = await command(data, ["keys", "create", `alice@127.0.0.1:${port}`, "--file", keyFile]);
    const options = { nick: "alice", url, host: "node", key: stdout.trim(), mentions: { comments: true } };
    const files = {
      "_includes/post.njk": LAYOUT,
      "posts/quinces.md": post({ date: "2014-05-01T07:00:00Z", tags: "posts", layout: "post.njk" }, "Quinces"),
      "essays/medlars.md": post({ date: "2014-05-02T07:00:00Z", tags: "posts", layout: "post.njk" }, "Medlars"),
    };
    const built = await buildSite({ files, options: JSON.stringify(options) });
    writeFileSync(join(built.folder, "disqus.xml"), disqusExport());
    const type = (...args: string[]) =>
      command(built.folder, ["mentions", "import", "disqus.xml", ...args, "--identity", keyFile], { environment });

    const dry = await type("--dry-run");
    expect(dry.stdout).toBe(`4  ${url}/posts/quinces/\n`);
    expect(dry.stderr).toBe(
      [
        "disqus.xml: 36 comments: 4 to import, 3 left out (1 deleted, 1 marked as spam, 1 not approved), 29 on 3 pages that your site does not have. Nothing was imported.",
        "  26  https://www.elsewhere.example/posts/medlars.html?utm_source=feed",
        "  2   https://alice.example/about",
        "  1   https://old.example/2014/05/gone/",
        "If such a page has another path now, name both, and import the file again: --move /2014/05/=/posts/\n",
      ].join("\n"),
    );
    const moved = ["--move", "/posts/medlars=/essays/medlars"];
    expect(JSON.parse((await type("--dry-run", "--json", ...moved)).stdout)).toMatchObject({
      pages: [
        { url: `${url}/essays/medlars/`, count: 26 },
        { url: `${url}/posts/quinces/`, count: 4 },
      ],
    });

    await serve(built, ["--port", String(port)]);
    const imported = await type(...moved);
    expect([imported.exitCode, imported.stderr]).toEqual([
      0,
      expect.stringContaining("disqus.xml: 36 comments: 30 imported, "),
    ]);
    expect((await type(...moved)).stderr).toContain("0 imported, 30 that your site has already, ");

    await buildSite({ files, options: JSON.stringify(options), site: built });
    const [first, ...others] = repliesIn(readFileSync(join(built.folder, "_site/posts/quinces/index.html"), "utf8"));
    expect(others).toEqual([]);
    expect(first).toMatchObject({
      ...{ name: "Jürgen Groß", text: "Grüße aus Köln! 🍐 Toll & hier" },
      replies: [
        { name: "Tom & <Jerry>", text: "First lineSecond", replies: [{ name: "Zoë", replies: [] }] },
        { name: "eve", text: "Answer to what was deleted", replies: [] },
      ],
    });
  });

  it("counts the comments of WordPress and isso without a key and without a network", async () => {
    const { folder } = site(settingsOf({ mentions: { comments: true } }));
    writeFileSync(join(folder, "wordpress.xml"), wordpressExport());
    writeIssoDatabase(join(folder, "comments.db"));
    const typed = ["mentions", "import", "wordpress.xml", "comments.db", "--dry-run"];
    const { exitCode, stderr } = await command(folder, typed, { environment });
    expect(exitCode).toBe(0);
    expect(stderr).toContain("wordpress.xml: 37 comments: 4 to import, 4 left out (");
    expect(stderr).toContain("comments.db: 36 comments: 4 to import, 3 left out (");
  });

  it.each([
    [["old.xml"], { comments: false }, "set the option mentions: { comments: true }, build and deploy"],
    [["old.xml", "--move", "/a/"], { comments: true }, "--move: expected two paths, such as /2014/05/=/posts/"],
    [["own.json", "--dry-run"], { comments: true }, "--dry-run is for comments"],
    [["broken.xml", "--dry-run"], { comments: true }, "The XML cannot be read: "],
  ])("exit 1 or 2: import %j", async (args, mentions, message) => {
    const { folder } = site(settingsOf({ mentions }));
    writeFileSync(join(folder, "old.xml"), disqusExport());
    writeFileSync(join(folder, "own.json"), '{"mentions":[]}');
    writeFileSync(join(folder, "broken.xml"), disqusExport().slice(0, 3000));
    const { exitCode, stderr } = await command(folder, ["mentions", "import", ...args], { environment });
    expect([exitCode, stderr]).toEqual([expect.toBeOneOf([1, 2]), expect.stringContaining(message)]);
  });
});
