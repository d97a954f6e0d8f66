import { rmSync } from "node:fs";
import matter from "gray-matter";
import { describe, expect, it } from "vitest";
import { twtHash } from "../../plugin/feed/hash.js";
import { loopbackServer } from "../helpers/loopback.js";
import { site } from "../helpers/site.js";
import { blog, command, testTerminal } from "./helpers.js";
import { runCommandLine } from "./run-command-line.js";

const NOON = "2026-11-20T09:30:00.789Z";
const NOTES = { folders: ["./notes"], hasAny: true, like: null, tags: ["posts"], layout: null };

describe("eleventy-twtxt post", () => {
  it("writes a note and prints its path", async () => {
    const { folder, read, list } = blog({});
    const start = Math.floor(Date.now() / 1000) * 1000;
    const outcome = await command(folder, ["post", "Hello @<bob https://bob.example/twtxt.txt>"]);

    expect(outcome).toMatchObject({ exitCode: 0 });
    expect(outcome.stdout).toMatch(/^notes\/\d{8}-\d{6}\.md\n$/);
    expect(outcome.stderr).toBe("Look at it with npx @11ty/eleventy --serve, then deploy it.\n");
    const [name = ""] = list("notes");
    const date = name.replace(/^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)\.md$/, "$1-$2-$3T$4:$5:$6Z");
    expect(Date.parse(date)).toBeGreaterThanOrEqual(start);
    expect(Date.parse(date)).toBeLessThanOrEqual(Date.now());
    expect(read(`notes/${name}`)).toBe(
      `---\ndate: ${date}\ntags:\n  - posts\n---\nHello @<bob https://bob.example/twtxt.txt>\n`,
    );
  });

  it("takes the text from standard input", async () => {
    const { folder, read } = blog({ host: "netlify" });
    const outcome = await command(folder, ["post"], { input: "one\r\n\r\n--- two\n\n" });
    expect(read(outcome.stdout.trim())).toMatch(/\n---\none\n\n--- two\n$/);
    expect(outcome.stderr).toContain("git push");
  });

  it("suggests a separate folder for the preview, so that serve does not publish its drafts", async () => {
    const { folder } = blog({ host: "node" });
    expect((await command(folder, ["post", "Hello"])).stderr).toBe(
      "Look at it with npx @11ty/eleventy --serve --output=_preview, then publish it with npx @11ty/eleventy.\n",
    );
  });

  it.each([
    ["no text", ["post"], 'post: expected a text, such as "Hello from my own site.".'],
    ["white space", ["post", " \n"], 'post: expected a text, such as "Hello from my own site.".'],
    ["words without quotes", ["post", "Hello", "world"], "post: expected one text, in quotes, got 2 arguments."],
    [
      "no editor",
      ["post", "x", "--edit"],
      "post: --edit needs the name of your editor in $VISUAL or $EDITOR, such as EDITOR=nano.",
    ],
  ])("2 bad-usage: %s", async (_, args, message) => {
    const { folder, list } = blog({});
    const outcome = await command(folder, args);
    expect(outcome).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: `eleventy-twtxt: ${message} Type: eleventy-twtxt post --help\n`,
    });
    expect(list(".")).toEqual([".eleventy-twtxt"]);
  });

  it("a text that looks like front matter stays text", async () => {
    const { folder, read } = blog({});
    const { stdout } = await command(folder, ["post", "--", "---\ntitle: no title\n---\nbody"]);
    expect(matter(read(stdout.trim()), {})).toMatchObject({
      data: { tags: ["posts"] },
      content: "---\ntitle: no title\n---\nbody\n",
    });
    expect(matter(read(stdout.trim()), {}).data).not.toHaveProperty("title");
  });

  it("takes tags and layout from the last note", async () => {
    const notes = { ...NOTES, like: "./notes/old.md", tags: ["notes", "posts"] };
    const old = "---\ntags: [notes, topic, posts]\nlayout: note.njk\ntitle: Old\npermalink: /x/\n---\nold\n";
    const { folder, read } = blog({ notes }, { "notes/old.md": old });
    const { stdout } = await command(folder, ["post", "new"]);
    expect(matter(read(stdout.trim()), {}).data).toEqual({
      date: expect.any(Date),
      tags: ["notes", "posts"],
      layout: "note.njk",
    });
  });

  it("writes no tags if the last note gets them from its folder", async () => {
    const notes = { ...NOTES, like: "./notes/old.md" };
    const { folder, read } = blog({ notes }, { "notes/old.md": "old\n" });
    const { stdout } = await command(folder, ["post", "new"]);
    expect(read(stdout.trim())).toMatch(/^---\ndate: \S+Z\n---\nnew\n$/);
  });

  it("runs no JavaScript of the last note, and says which tags it uses instead", async () => {
    const notes = { ...NOTES, like: "./notes/old.md" };
    const { folder, read } = blog({ notes }, { "notes/old.md": "---js\n(() => { process.exit(9) })()\n---\n" });
    const outcome = await command(folder, ["post", "new"]);
    expect(outcome.exitCode).toBe(0);
    expect(outcome.stderr).toContain(
      'The note does not take its tags and layout from notes/old.md: its front matter is in "js"',
    );
    expect(matter(read(outcome.stdout.trim()), {}).data.tags).toEqual(["posts"]);
  });

  it("--dry-run prints the note and writes no file", async () => {
    const { folder, list } = blog({});
    const terminal = testTerminal(folder, NOON);
    expect(await runCommandLine(["post", "--dry-run", "hello"], terminal)).toBe(0);
    expect(terminal.stdout).toEqual(["---\ndate: 2026-11-20T09:30:00Z\ntags:\n  - posts\n---\nhello"]);
    expect(terminal.stderr).toEqual(["notes/20261120-093000.md would be written. Nothing was written."]);
    expect(list(".")).toEqual([".eleventy-twtxt"]);
  });

  it("never writes the time of another post, nor midnight", async () => {
    const { folder, list, read } = blog(
      {},
      { "notes/20261120-093000-article.njk": "", "notes/20261120-093001.md": "" },
    );
    for (const text of ["one", "two"]) await runCommandLine(["post", text], testTerminal(folder, NOON));
    await runCommandLine(["post", "three"], testTerminal(folder, "2026-11-21T00:00:00Z"));

    expect(list("notes").slice(-3)).toEqual(["20261120-093002.md", "20261120-093003.md", "20261121-000001.md"]);
    expect(read("notes/20261120-093003.md")).toBe("---\ndate: 2026-11-20T09:30:03Z\ntags:\n  - posts\n---\ntwo\n");
  });

  it("concurrent commands do not overwrite each other's notes", async () => {
    const { folder, list, read } = blog({});
    const texts = Array.from({ length: 20 }, (_, i) => `note ${i}`);
    await Promise.all(texts.map((text) => runCommandLine(["post", text], testTerminal(folder, NOON))));
    const bodies = list("notes").map((name) => matter(read(`notes/${name}`), {}).content.trim());
    expect(bodies.sort()).toEqual(texts.sort());
  });

  it("1 bad-file: the folder cannot be written", async () => {
    const { folder } = blog({}, { notes: "a file" });
    const { exitCode, stderr } = await command(folder, ["post", "x"]);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^eleventy-twtxt: E[A-Z]+: .*notes.*\.\n$/);
  });

  it("--edit opens the new file, with the editor's arguments and spaces in the path", async () => {
    const { folder, read } = blog({ notes: { ...NOTES, folders: ["my notes"], tags: [] } });
    const environment = { VISUAL: `"${process.execPath}" -e 'fs.appendFileSync(process.argv[1], "edited\\n")'` };
    const outcome = await command(folder, ["post", "--edit"], { environment });
    expect(outcome).toMatchObject({ exitCode: 0 });
    expect(read(outcome.stdout.replace("\n", ""))).toMatch(/^---\ndate: \S+\n---\n\nedited\n$/);
  });

  it("1: the editor fails, and the note is saved", async () => {
    const { folder, read } = blog({});
    const outcome = await command(folder, ["post", "x", "--edit"], { environment: { EDITOR: "false" } });
    expect(outcome).toMatchObject({ exitCode: 1, stderr: "The editor exited with code 1. The note was saved.\n" });
    expect(read(outcome.stdout.trim())).toContain("\nx\n");
  });
});

describe("eleventy-twtxt post --reply-to", () => {
  it.each([
    ["#abcdefg  https://bob.example/twtxt.txt", "abcdefg https://bob.example/twtxt.txt"],
    ["abcdefg bob https://bob.example/twtxt.txt", "abcdefg bob https://bob.example/twtxt.txt"],
  ])("writes hash and feed, and the nick if given: %s", async (value, replyTo) => {
    const { folder, read } = blog({});
    const { stdout } = await command(folder, ["post", "Yes", "--reply-to", value]);
    expect(matter(read(stdout.trim()), {}).data.replyTo).toBe(replyTo);
  });

  it("looks up a reference, also in an archive, and writes hash, nick and feed", async () => {
    const bob = await loopbackServer((request, response) => {
      const url = `http://${request.headers.host}/twtxt.txt`;
      const files: Record<string, string> = {
        "/twtxt.txt": `# nick = bob\n# url = ${url}\n# prev = abcdefg twtxt-2025.txt\n\n2026-01-02T03:04:05Z\tHello\n`,
        "/twtxt-2025.txt": `# url = ${url}\n\n2025-01-02T03:04:05Z\tOlder\n`,
      };
      response.writeHead(200, { "content-type": "text/plain" }).end(files[request.url ?? ""]);
    });
    const feedUrl = `${bob.url}/twtxt.txt`;
    const { folder, read } = blog({});
    for (const [timestamp, text] of [
      ["2026-01-02T03:04:05Z", "Hello"],
      ["2025-01-02T03:04:05Z", "Older"],
    ] as const) {
      const reference = `${feedUrl}#:~:text=${timestamp}`;
      const args = ["post", "Yes", "--reply-to", reference, "--allow-private-host", bob.host];
      const { stdout } = await command(folder, args);
      const replyTo = `${twtHash(feedUrl, { timestamp, text })} bob ${feedUrl}`;
      expect(matter(read(stdout.trim()), {}).data.replyTo).toBe(replyTo);
    }
    const args = ["post", "Yes", "--reply-to", `abcdefg ${feedUrl}`, "--allow-private-host", bob.host];
    const { stdout } = await command(folder, args);
    expect(matter(read(stdout.trim()), {}).data.replyTo).toBe(`abcdefg bob ${feedUrl}`);
  });

  it.each([
    ["# nick = not a nick\n", ""],
    ["# nick = not> a nick\n# nick = bob\n", "bob "],
    ["# description = mine\n", ""],
  ])("writes no nick that is invalid in a mention: %j", async (header, nick) => {
    const bob = await loopbackServer((_, response) => {
      response.end(`${header}\n2026-01-02T03:04:05Z\tHello\n`);
    });
    const { folder, read } = blog({});
    const reference = `${bob.url}/twtxt.txt#:~:text=2026-01-02T03:04:05Z`;
    const { stdout } = await command(folder, [
      "post",
      "Yes",
      "--reply-to",
      reference,
      "--allow-private-host",
      bob.host,
    ]);
    expect(matter(read(stdout.trim()), {}).data.replyTo).toMatch(
      new RegExp(`^[a-z2-7]{7} ${nick}${bob.url}/twtxt.txt$`),
    );
  });

  it("1 address-refused: the feed is in a private network; the error names the option to add", async () => {
    const bob = await loopbackServer((_, response) => response.end());
    const { folder, list } = blog({}, { "notes/a.md": "x" });
    const reference = `${bob.url}/twtxt.txt#:~:text=2026-01-02T03:04:05Z`;
    expect(await command(folder, ["post", "Yes", "--reply-to", reference])).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: `eleventy-twtxt: ${bob.url}/twtxt.txt is not requested: its address is not public.\nOnly public servers are contacted. To allow one in your own network, add --allow-private-host ${new URL(bob.url).host}\n`,
    });
    expect(list("notes")).toEqual(["a.md"]);
  });

  it("1 no-such-twt: the feed has no twt of that time, and no note is written", async () => {
    const bob = await loopbackServer((_, response) => {
      response.end("# nick = bob\n\n2026-01-02T03:04:05Z\tHello\n");
    });
    const { folder, list } = blog({}, { "notes/a.md": "x" });
    const reference = `${bob.url}/twtxt.txt#:~:text=2026-01-02T03:04:06Z`;
    const outcome = await command(folder, ["post", "Yes", "--reply-to", reference, "--allow-private-host", bob.host]);
    expect(outcome).toMatchObject({ exitCode: 1, stdout: "" });
    expect(outcome.stderr).toContain("has no twt at 2026-01-02T03:04:06Z");
    expect(list("notes")).toEqual(["a.md"]);
  });

  it.each([
    "abcdefg",
    "abcdefg b<b https://bob.example/twtxt.txt",
    "abc https://bob.example/twtxt.txt",
    "abcdefg bob.example",
    "https://bob.example/#:~:text=x",
  ])("2 bad-usage: %s", async (value) => {
    const outcome = await command(blog({}).folder, ["post", "Yes", "--reply-to", value]);
    expect(outcome).toMatchObject({ exitCode: 2, stdout: "" });
    expect(outcome.stderr).toContain("post: --reply-to: expected a hash and a feed URL, such as");
    expect(outcome.stderr).toContain(`got "${value}".`);
  });
});

describe("untrusted settings", () => {
  it("1 no-settings: does not look for settings above the project's root", async () => {
    const { folder } = blog({}, { "victim/package.json": "{}" });
    const outcome = await command(`${folder}/victim`, ["post", "x"]);
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toContain(".eleventy-twtxt/settings.json is missing");
  });

  it.each(["/tmp", "../elsewhere", "./notes/../../elsewhere"])(
    "1 no-settings: a folder outside the site, %s",
    async (folder) => {
      const { folder: root, list } = blog({ notes: { ...NOTES, folders: [folder], tags: [] } });
      const outcome = await command(root, ["post", "x"]);
      expect(outcome).toMatchObject({ exitCode: 1, stdout: "" });
      expect(outcome.stderr).toContain("which is outside the site");
      expect(list(".")).toEqual([".eleventy-twtxt"]);
    },
  );

  it("2 bad-usage: escapes control characters of the arguments", async () => {
    const { folder } = blog({});
    const outcome = await command(folder, ["post", "--\u001b]0;owned\u0007"]);
    expect(outcome.exitCode).toBe(2);
    expect(outcome.stderr).not.toMatch(/[\u001b\u0007]/);
  });
});

describe("an empty note", () => {
  it("1: is deleted", async () => {
    const { folder, list } = blog({});
    const outcome = await command(folder, ["post", "--edit"], { environment: { EDITOR: "true" } });
    expect(outcome).toMatchObject({ exitCode: 1, stdout: "", stderr: "The note is empty, and was deleted.\n" });
    expect(list("notes")).toEqual([]);
  });
});

describe("the folder of a note", () => {
  /** The content of eleventy-base-blog: articles with a data file of their folder, the newest in its own subfolder. */
  const BASE_BLOG = {
    "content/blog/blog.11tydata.js": 'export default { tags: ["posts"], layout: "post.njk" };\n',
    "content/blog/firstpost.md": "---\ntitle: First\ndate: 2018-05-01\ntags: another tag\n---\nfirst\n",
    "content/blog/thirdpost.md": "---\ntitle: Third\ndate: 2018-08-24\n---\nthird\n",
    "content/blog/fourthpost/fourthpost.md": "---\ntitle: Fourth\ndate: 2018-09-30\n---\nfourth\n",
    "_includes/post.njk": "<main>{{ content | safe }}</main>\n",
  };
  const CONFIG = 'return { dir: { input: "content", includes: "../_includes" } };';

  /** Runs `eleventy-twtxt post ARGS` on a terminal where the author gives these answers. */
  async function postOnTerminal(folder: string, args: string[], answers: (string | null)[] = []) {
    const questions: string[] = [];
    const terminal = testTerminal(folder, NOON, null, true);
    const ask = async (question: string) => {
      questions.push(question);
      return answers.shift() ?? null;
    };
    const exitCode = await runCommandLine(["post", ...args], { ...terminal, ask });
    return { exitCode, stdout: terminal.stdout, stderr: terminal.stderr, questions };
  }

  it("is that of the articles in eleventy-base-blog, after one confirmation for all builds", async () => {
    const built = await site({ files: BASE_BLOG, config: CONFIG });
    const first = await postOnTerminal(built.folder, ["one"], [""]);
    expect(first.questions).toEqual(["Type a number or another folder [content/blog]: "]);
    expect(first.stdout).toEqual(["content/blog/20261120-093000.md"]);
    expect(first.stderr).toContain("Your next notes go into content/blog too. To change that: --folder DIR");

    const again = await site({ files: {}, config: CONFIG, site: built });
    expect(again.texts().at(-1)).toBe("one");
    const second = await postOnTerminal(built.folder, ["two"]);
    expect(second).toMatchObject({ questions: [], stdout: ["content/blog/20261120-093001.md"] });
  });

  it("can be typed at the prompt, and the note still gets its tags and its layout", async () => {
    const built = await site({ files: BASE_BLOG, config: CONFIG });
    const { stdout } = await postOnTerminal(built.folder, ["one"], ["content/log"]);
    expect(stdout).toEqual(["content/log/20261120-093000.md"]);
    const again = await site({ files: {}, config: CONFIG, site: built });
    expect(again.texts().at(-1)).toBe("one");
    expect(again.read("log/20261120-093000/index.html")).toContain("<main><p>one</p>");
  });

  it("is the one given with --folder, also for the next notes", async () => {
    const { folder } = blog({ notes: { ...NOTES, folders: ["a", "b"] } }, { "a/x.md": "x", "b/x.md": "x" });
    expect(await postOnTerminal(folder, ["one", "--folder", "b"])).toMatchObject({ stdout: ["b/20261120-093000.md"] });
    expect(await postOnTerminal(folder, ["two"])).toMatchObject({ questions: [], stdout: ["b/20261120-093001.md"] });
    await postOnTerminal(folder, ["three", "--folder", "a", "--dry-run"]);
    expect(await postOnTerminal(folder, ["four"])).toMatchObject({ questions: [], stdout: ["b/20261120-093002.md"] });
  });

  it("2 bad-usage: two folders and no terminal", async () => {
    const { folder, list } = blog({ notes: { ...NOTES, folders: ["./b", "./a"] } });
    const environment = { HOME: folder, XDG_DATA_HOME: `${folder}/data` };
    const outcome = await command(folder, ["post", "one"], { environment });
    expect(outcome).toMatchObject({ exitCode: 2, stdout: "" });
    expect(outcome.stderr).toContain("there are posts in b, a. Name one once, and it is remembered: --folder b.");
    expect(list(".")).toEqual([".eleventy-twtxt"]);
    const named = await command(folder, ["post", "one", "--folder", "b"], { environment });
    expect(named.stdout).toMatch(/^b\/\d{8}-\d{6}\.md\n$/);
    expect((await command(folder, ["post", "two"], { environment })).stdout).toMatch(/^b\//);
  });

  it("2 bad-usage: no posts and no terminal", async () => {
    const { folder } = blog({ input: "content", notes: { ...NOTES, folders: [], hasAny: false } });
    const outcome = await command(folder, ["post", "one"], { environment: { HOME: folder, XDG_DATA_HOME: folder } });
    expect(outcome).toMatchObject({ exitCode: 2, stdout: "" });
    expect(outcome.stderr).toContain(
      "the site has no posts yet. Name one once, and it is remembered: --folder content/notes.",
    );
  });

  it("2 bad-usage: a folder that Eleventy does not read", async () => {
    const { folder, list } = blog({ input: "content" });
    const { exitCode, stderr } = await postOnTerminal(folder, ["one", "--folder", "notes"]);
    expect(exitCode).toBe(2);
    expect(stderr.join("\n")).toContain(
      'The folder "notes" is not below content, where Eleventy reads your site. Choose another, such as content/notes.',
    );
    expect(list(".")).toEqual([".eleventy-twtxt"]);
  });

  it("1: the prompt is cancelled, and nothing is written", async () => {
    const { folder, list } = blog({ notes: { ...NOTES, folders: ["a", "b"] } });
    const outcome = await postOnTerminal(folder, ["one"], [null]);
    expect(outcome).toMatchObject({ exitCode: 1, stdout: [] });
    expect(outcome.stderr.at(-1)).toBe("Nothing was written.");
    expect(list(".")).toEqual([".eleventy-twtxt"]);
  });

  it("is asked for again if the remembered folder no longer exists", async () => {
    const { folder } = blog({ notes: { ...NOTES, folders: ["a", "b"] } }, { "b/x.md": "x" });
    await postOnTerminal(folder, ["one", "--folder", "gone"]);
    rmSync(`${folder}/gone`, { recursive: true });
    expect((await postOnTerminal(folder, ["two"], ["2"])).stdout).toEqual(["b/20261120-093000.md"]);
  });
});

describe("a note in a real site", () => {
  it("is in the feed with its exact time", async () => {
    const built = await site({
      files: {
        "notes/notes.json": '{"tags":"posts"}',
        "notes/first.md": "---\ndate: 2026-01-02T03:04:05Z\n---\nfirst\n",
      },
    });
    const terminal = testTerminal(built.folder, "2026-11-20T11:30:00Z");
    expect(
      await runCommandLine(["post", "second", "--reply-to", "abcdefg bob https://bob.example/twtxt.txt"], terminal),
    ).toBe(0);
    const again = await site({ files: {}, site: built });

    expect(terminal.stdout).toEqual(["notes/20261120-113000.md"]);
    expect(again.feed().twts).toMatchObject([
      { timestamp: "2026-01-02T03:04:05Z", text: "first" },
      {
        timestamp: "2026-11-20T11:30:00Z",
        subject: "abcdefg",
        mentions: [{ nick: "bob", url: "https://bob.example/twtxt.txt" }],
      },
    ]);
  });
});
