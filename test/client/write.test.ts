import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import matter from "gray-matter";
import { afterEach, describe, expect, it } from "vitest";
import type { GitSite } from "../author/notes/git-site.js";
import { describeInChromium } from "../helpers/chromium.js";
import { loopbackServer } from "../helpers/loopback.js";
import { LOOK_OFTEN, openTab } from "../helpers/tabs.js";
import { expectAccessible, expectFits } from "./looks.js";
import { openPage } from "./open-page.js";
import { shownText, type Visitor, visitorOf } from "./visitor.js";
import { clientOf, fieldOf, published, writer } from "./writer.js";

async function saved(visitor: Visitor, body: string): Promise<{ page: string; file: string }> {
  const { text: page } = await visitor.submit("/write/draft", { body, folder: "notes", next: "save" });
  return { page, file: fieldOf(page, "file") };
}

const holds: string[] = [];

// Also after a failed test: the client, which other hooks end after this one, waits for git.
afterEach(() => {
  for (const file of holds.splice(0)) rmSync(file, { force: true });
});

/** @returns a shell command for a hook of the remote, which runs until `release` is called or the test has ended */
function holdHook({ remote, write }: GitSite, name: string): { command: string; release: () => void } {
  const file = join(remote, name);
  write(`remote/${name}`, "");
  holds.push(file);
  return { command: `while [ -e ${name} ]; do sleep 0.05; done`, release: () => rmSync(file) };
}

describe("the room to write in, without JavaScript", () => {
  it("shows the twt that the build would write for a draft, and keeps the draft for the next client", async () => {
    const { alice, client } = await writer();
    alice.write("_data/follow.json", `[{ "nick": "bob", "url": "https://bob.example/twtxt.txt" }]`);
    const visitor = await visitorOf(client, "/write");
    const { text } = await visitor.submit("/write/draft", {
      body: "Yes, @bob <script>\r\n@dave",
      replyTo: "abcdefg https://bob.example/twtxt.txt",
    });
    expect(text).toContain("(#abcdefg) Yes, @&lt;bob https://bob.example/twtxt.txt&gt;");
    expect(text).toContain("you follow no feed with this name: @dave");
    expect(text).not.toContain("<script>\n");
    expect(text).toMatch(/<time datetime="[^"]+">\d+ \w+ \d{4}, \d\d:\d\d<\/time>/);
    const again = await visitorOf(await clientOf(alice), "/write");
    expect((await again.get("/write")).text).toContain("Yes, @bob &lt;script&gt;</a>");
    const id = fieldOf(text, "id");
    expect((await again.submit("/write/delete", { id })).text).toContain("The draft is deleted.");
    expect((await again.get("/write")).text).not.toContain("Yes, @bob");
  });

  it("shows who would be notified, and how their endpoints were found, only on request", async () => {
    const bob = await loopbackServer((_, response) => response.end("# nick = bob\n# webmention = /hook\n"));
    const { client } = await writer([bob.host]);
    const visitor = await visitorOf(client, "/write");
    const body = `@<bob ${bob.url}/twtxt.txt> hello [page](${bob.url}/page)`;
    await visitor.submit("/write/draft", { body });
    expect(bob.requests).toEqual([]);
    const { text } = await visitor.submit("/write/draft", { body, next: "notified" });
    expect(text).toContain(`At ${bob.url}/hook (named in the feed)`);
    expect(shownText(text)).toContain(
      `Link to ${bob.url}/page Not notified: its author is notified of mentions, not of links`,
    );
  });

  it("shows the text and the author of the replied-to twt, also in a draft, and explains the field", async () => {
    const feed = "# nick = bob\n2026-01-02T03:04:05Z\thello *all* <script>\n";
    const bob = await loopbackServer((_, response) => response.end(feed));
    const { client } = await writer([bob.host]);
    const visitor = await visitorOf(client, "/write");
    const source = `${bob.url}/twtxt.txt#:~:text=2026-01-02T03:04:05Z`;
    const { text: byTime } = await visitor.get(`/write?reply-to=${encodeURIComponent(source)}`);
    const replyTo = fieldOf(byTime, "replyTo");
    expect(replyTo).toMatch(new RegExp(`^[a-z2-7]{7} bob ${bob.url}/twtxt.txt$`));
    const { text: byHash } = await visitor.get(`/write?reply-to=${encodeURIComponent(replyTo)}`);
    const fields = { body: "Yes", replyTo, answered: fieldOf(byHash, "answered") };
    const { text: draft } = await visitor.submit("/write/draft", fields);
    const named = encodeURIComponent(replyTo.replace(" bob ", " Robert "));
    const withoutNick = encodeURIComponent(replyTo.replace(" bob ", " "));
    for (const name of [named, withoutNick]) {
      const { text } = await visitor.get(`/write?reply-to=${name}`);
      expect(fieldOf(text, "replyTo")).toBe(replyTo);
    }
    for (const page of [byTime, byHash, draft]) {
      expect(shownText(page)).toContain("You reply to bob : hello all &lt;script&gt; Your note");
      expect(page).toContain("<em>all</em>");
    }
    const { text: other } = await visitor.submit("/write/draft", {
      ...fields,
      replyTo: `abcdefg ${bob.url}/twtxt.txt`,
    });
    expect(draft).not.toContain('rare" open');
    expect(other).toContain('rare" open');
    expect(other).not.toContain("You reply to");
    expect(shownText(other)).toContain("The hash of the twt and the URL of its feed, such as abcdefg");
    const status = "https://mastodon.example/@carol/110000000000000001";
    const { text: answer } = await visitor.get(`/write?reply-to=${encodeURIComponent(status)}`);
    expect(fieldOf(answer, "replyTo")).toBe(status);
    expect(shownText(answer)).toContain("stands on your site alone: nothing is posted at mastodon.example, because");
    const page = encodeURIComponent("https://carol.example/post/?{{code}}");
    expect((await visitor.get(`/write?reply-to=${page}`)).text).toContain("https://carol.example/post/?%7B%7Bcode}}");
  });

  it("says where an answer to a post on Mastodon or Bluesky goes, also in a draft", async () => {
    const { alice, client } = await writer();
    const settings = JSON.parse(alice.read(".eleventy-twtxt/settings.json"));
    alice.write(".eleventy-twtxt/settings.json", JSON.stringify({ ...settings, syndicate: ["mastodon"] }));
    const visitor = await visitorOf(client, "/write");
    const note = "https://notes.example/notes/9abc";
    const said = async (url: string) => {
      const { text } = await visitor.get(`/write?reply-to=${encodeURIComponent(url)}&on=network`);
      return shownText(text);
    };
    expect(await said("https://mastodon.example/@carol/110000000000000001")).toContain(
      "After you publish it, your account on Mastodon answers the post at mastodon.example.",
    );
    expect(await said(note)).toContain("answers the post at notes.example, if its server finds it there.");
    expect(await said("https://bsky.app/profile/did:plc:carol/post/3k2a")).toContain(
      "nothing is posted at bsky.app, because the option syndicate does not name &quot;bluesky&quot;.",
    );
    const { text: draft } = await visitor.submit("/write/draft", { body: "Yes", replyTo: note });
    expect(draft).not.toContain('rare" open');
    expect(shownText(draft)).toContain(`You reply to ${note} . After you publish it`);
  });

  it("saves the post, shows the commands, and after a confirmation publishes it and shows their output", async () => {
    const { alice, client } = await writer();
    const visitor = await visitorOf(client, "/write");
    const { page, file } = await saved(visitor, "Hello from the browser.");
    expect(page).toContain(`Saved: ${file}`);
    expect(alice.read(file)).toContain("\nHello from the browser.\n");
    expect(page).toContain(`git add -- ${file}`);
    expect(alice.published()).toEqual(["first"]);
    expect((await visitor.get("/write")).text).not.toContain("Hello");

    const text = await published(visitor, { file, shown: fieldOf(page, "shown") });
    expect(text).toContain(`${file} is published to origin/main.`);
    const url = `https://alice.example/${file.replace(/\.md$/, "/")}`;
    expect(text).toContain(`<a href="${url}">${url}</a>`);
    expect(text).toContain("main -&gt; main");
    expect(shownText(text)).toContain("It is online as soon as your host has built and deployed the site.");
    expect(text).toContain('<a href="/health">Health</a> shows what was sent');
    expect(alice.published()).toEqual(["Hello from the browser.", "first"]);
  });

  it("offers the same as the command post: the file that would be written, and another folder, which is remembered", async () => {
    const { alice, client } = await writer();
    const visitor = await visitorOf(client, "/write");
    const { text: draft } = await visitor.submit("/write/draft", { body: "Hello" });
    expect(shownText(draft)).toMatch(
      /Saved now, it would be notes\/\d{8}-\d{6}\.md : --- date: \S+ tags: - posts --- Hello/,
    );
    const { text } = await visitor.submit("/write/draft", {
      ...{ body: "Hello", folder: "notes", newFolder: " blog/short ", next: "save" },
    });
    expect(fieldOf(text, "file")).toMatch(/^blog\/short\/\d{8}-\d{6}\.md$/);
    expect(alice.list("blog/short")).toHaveLength(1);
    expect((await visitor.get("/write")).text).toContain('<option value="blog/short">blog/short</option><option');
  });

  it("writes an article with a title and tags, whose twt has its title and link, into a file of that name", async () => {
    const { alice, client } = await writer();
    const visitor = await visitorOf(client, "/write");
    const fields = {
      body: "They are ripe.",
      title: ' Quinces: "again" ',
      tags: "jam, posts,, winter jam",
      folder: "notes",
    };
    const { text: draft } = await visitor.submit("/write/draft", fields);
    expect(shownText(draft)).toContain(
      "In your feed Quinces: &quot;again&quot;: https://alice.example/notes/quinces-again/ ",
    );
    expect(fieldOf(draft, "title")).toBe('Quinces: "again"');
    expect(draft).toContain("Quinces: &quot;again&quot;</a>");
    for (const file of ["notes/quinces-again.md", "notes/quinces-again-2.md"]) {
      const { text } = await visitor.submit("/write/draft", { ...fields, next: "save" });
      expect(fieldOf(text, "file")).toBe(file);
      expect(text).toContain("git commit --only -m &#39;Quinces: &quot;again&quot;&#39;");
      const { data, content } = matter(alice.read(file), {});
      expect(data).toMatchObject({ title: 'Quinces: "again"', tags: ["posts", "jam", "winter jam"] });
      expect(content.trim()).toBe("They are ripe.");
    }
  });

  it("publishes in the background, one post at a time, with the output of git so far; the client's end waits for it", async () => {
    const { alice, client } = await writer();
    const build = holdHook(alice, "build");
    alice.hook("pre-receive", `echo building the site; ${build.command}`, "remote");
    const visitor = await visitorOf(client, "/write");
    const { page, file } = await saved(visitor, "Hello");
    const other = await saved(visitor, "Another note");
    const fields = { file, shown: fieldOf(page, "shown") };
    expect((await visitor.submit("/write/publish", fields)).text).toContain("<h2>Publishing…</h2>");
    await expect.poll(async () => (await visitor.get("/write/publication")).text).toContain("building the site");
    expect((await visitor.submit("/write/publish", fields)).text).toContain("<h2>Publishing…</h2>");
    const { text } = await visitor.submit("/write/publish", { file: other.file, shown: fieldOf(other.page, "shown") });
    expect(text).toContain(`${other.file} is not published yet: another post is. Publish it after that.`);

    const closed = client.close();
    await expect.poll(() => client.printed).toEqual([`Waiting for git, which is publishing ${file} to origin/main.`]);
    expect(alice.published()).toEqual(["first"]);
    build.release();
    await closed;
    expect(client.printed.at(-1)).toBe(`${file} is published to origin/main.`);
    expect(alice.published()).toEqual(["Hello", "first"]);
  });

  it("publishes only what the page showed: no other commits, and not without the commands", async () => {
    const { alice, client } = await writer();
    const visitor = await visitorOf(client, "/write");
    const { page, file } = await saved(visitor, "Hello");
    alice.git("commit", "--quiet", "--allow-empty", "-m", "a secret draft");
    for (const shown of [fieldOf(page, "shown"), ""]) {
      const { text } = await visitor.submit("/write/publish", { file, shown });
      expect(text).toContain("Nothing was published: the repository has changed since the page was shown.");
      expect(text).toContain("<li>a secret draft</li>");
    }
    expect(alice.published()).toEqual(["first"]);
  });

  it("publishes the changed list of followed feeds with the post, and shows why, unless the author excludes it", async () => {
    const { alice, client } = await writer();
    alice.write("_data/follow.json", "[]");
    const visitor = await visitorOf(client, "/write");
    const { page, file } = await saved(visitor, "Hello");
    expect(page).toContain(`git add -- ${file} _data/follow.json`);
    expect(shownText(page)).toContain(
      "_data/follow.json , will be published, too, so that the build of your deploy knows",
    );
    const without = `/write/publish?file=${encodeURIComponent(file)}&follow=no`;
    expect(page).toContain(`href="${without.replace("&", "&amp;")}"`);
    const { text } = await visitor.get(without);
    expect(text).toContain(`git add -- ${file}\n`);
    expect(shownText(text)).toContain("_data/follow.json , will not be published.");
    const fields = { file, follow: fieldOf(text, "follow"), shown: fieldOf(text, "shown") };
    expect(await published(visitor, fields)).toContain("is published to origin/main.");
    expect(alice.git("status", "--porcelain", "--untracked-files=all")).toBe("?? _data/follow.json");
  });

  it.each<[string, (alice: GitSite) => void, string, string]>([
    [
      "a hook at the remote",
      ({ hook }) => hook("pre-receive", "echo closed today; exit 1", "remote"),
      "origin/main refused the push",
      "closed today",
    ],
    [
      "commits that the remote has in addition",
      ({ git, folder, remote }) => {
        git("clone", "--quiet", remote, "data/other");
        const there = ["-C", join(folder, "data/other"), "-c", "user.name=B", "-c", "user.email=b@b.example"];
        git(...there, "commit", "--quiet", "--allow-empty", "-m", "other");
        git(...there, "push", "--quiet");
      },
      "origin/main has commits that you do not have. Get them with git pull --rebase",
      "[rejected]",
    ],
    [
      "a hook of the site",
      ({ hook }) => hook("pre-commit", "echo spelling mistake; exit 1"),
      "A hook of your repository (pre-commit or commit-msg) may refuse it. Correct it, then publish again. Nothing was published.",
      "spelling mistake",
    ],
    [
      "another git command",
      ({ write }) => write(".git/index.lock", ""),
      "Another git command is running in the repository, or one was killed.",
      "index.lock': File exists",
    ],
  ])(
    "says what to do when git refuses, with its output, and keeps the post: %s",
    async (_, change, sentence, output) => {
      const { alice, client } = await writer();
      change(alice);
      const visitor = await visitorOf(client, "/write");
      const { page, file } = await saved(visitor, "Hello");
      const text = await published(visitor, { file, shown: fieldOf(page, "shown") });
      expect(shownText(text)).toContain(sentence);
      expect(text.replaceAll("&#39;", "'")).toContain(output);
      expect(text).toContain(`href="/write/publish?file=${encodeURIComponent(file)}">`);
      expect(existsSync(join(alice.folder, file))).toBe(true);
    },
  );

  it.each<[string, (alice: GitSite) => void, string]>([
    ["on no branch", ({ git }) => void git("checkout", "--quiet", "--detach"), "git switch main"],
    ["without a remote", ({ git }) => void git("remote", "remove", "origin"), "git remote add origin URL"],
    [
      "without a name",
      ({ git }) => {
        git("config", "--unset", "user.name");
        git("config", "--unset", "user.email");
        git("config", "user.useConfigOnly", "true");
      },
      "git config --global user.name",
    ],
    ["during a merge", (alice) => alice.write(".git/MERGE_HEAD", alice.git("rev-parse", "HEAD")), "git merge --abort"],
    ["outside a repository", ({ folder }) => rmSync(join(folder, ".git"), { recursive: true }), "is not in a git repo"],
  ])("shows no commands but what to do first: %s", async (_, change, sentence) => {
    const { alice, client } = await writer();
    change(alice);
    const { page, file } = await saved(await visitorOf(client, "/write"), "Hello");
    expect(page).toContain(sentence);
    expect(page).not.toContain("Run these commands");
    expect(existsSync(join(alice.folder, file))).toBe(true);
  });

  it("publishes no other file, saves no post without a text, a twt or a folder of the site, and keeps the draft", async () => {
    const { alice, client } = await writer();
    const visitor = await visitorOf(client, "/write");
    for (const file of ["../../etc/passwd", ".eleventy-twtxt/settings.json", "notes/none.md"]) {
      const { text } = await visitor.get(`/write/publish?file=${encodeURIComponent(file)}`);
      expect(text, file).toContain('class="notice failure"');
      expect(text, file).not.toContain("git add");
    }
    for (const [form, sentence] of [
      [{ body: " ", folder: "notes" }, "The note is empty."],
      [{ body: "x", replyTo: "bob", folder: "notes" }, "does not name a twt"],
      [{ body: "x", folder: "../" }, "is not below"],
      [{ body: "x", folder: "notes", newFolder: "/tmp" }, "is not below"],
    ] as const) {
      const { text } = await visitor.submit("/write/draft", { ...form, next: "save" });
      expect(text).toContain(sentence);
      expect(fieldOf(text, "id"), sentence).not.toBe("");
    }
    expect(alice.git("status", "--porcelain")).toBe("");
  });

  it("leaves no empty draft: neither after a save without a text nor after a picture that is refused", async () => {
    const { client } = await writer();
    const visitor = await visitorOf(client, "/write");
    const replyTo = "abcdefg bob https://bob.example/twtxt.txt";
    for (const next of ["save", "notified", ""]) {
      const { text } = await visitor.submit("/write/draft", { body: " ", replyTo, next });
      expect(fieldOf(text, "replyTo")).toBe(replyTo);
    }
    const bad = { field: "picture", name: "x.png", bytes: Buffer.from("no picture"), type: "image/png" };
    const { text } = await visitor.upload("/write/draft", { body: "" }, [bad]);
    expect(text).toContain("x.png ");
    expect(text).not.toContain("Drafts</h2>");
  });
});

describeInChromium("the room to write in, in a browser", () => {
  it("fits all widths with a reply, unknown names, endpoints and drafts, and axe finds no violations", async () => {
    const feed = `# nick = bob\n# webmention = /hook\n2026-01-02T03:04:05Z\t${"Do you *really* mean this? ".repeat(8)}\n`;
    const bob = await loopbackServer((_, response) => response.end(feed));
    const { client } = await writer([bob.host]);
    const visitor = await visitorOf(client, "/write");
    const source = encodeURIComponent(`${bob.url}/twtxt.txt#:~:text=2026-01-02T03:04:05Z`);
    const { text } = await visitor.get(`/write?reply-to=${source}`);
    const fields = { answered: fieldOf(text, "answered"), replyTo: fieldOf(text, "replyTo") };
    const body = `I do, @dave. [See](http://127.0.0.1:9/${"long.".repeat(20)}) ${"word ".repeat(30)}`;
    const { text: draft } = await visitor.submit("/write/draft", { ...fields, body });
    const tab = await openPage(
      client,
      `/write?draft=${fieldOf(draft, "id")}&notified=yes`,
      openTab({ script: LOOK_OFTEN }),
    );
    for (const summary of await tab.locator("summary").all()) await summary.click();
    await tab.getByRole("heading", { name: "Who will be notified" }).waitFor();
    await expectAccessible(tab, "write-reply");
  });

  it("scrolls a long output of git with the keyboard, and goes on showing it meanwhile", async () => {
    const { alice, client } = await writer();
    const [build, deploy] = [holdHook(alice, "build"), holdHook(alice, "deploy")];
    alice.hook("pre-receive", `seq 200; ${build.command}; echo built; ${deploy.command}`, "remote");
    const visitor = await visitorOf(client, "/write");
    const { page, file } = await saved(visitor, "Hello");
    await visitor.post("/write/publish", { file, shown: fieldOf(page, "shown") });
    const tab = await openPage(client, "/write/publication", openTab({ script: LOOK_OFTEN }));
    const output = tab.getByRole("region", { name: "Output of git" });
    await output.getByText("remote: 200").waitFor();
    await expectAccessible(tab, "publication");
    await output.focus();
    await tab.keyboard.press("PageDown");
    await expect.poll(() => output.evaluate((region) => region.scrollTop)).toBeGreaterThan(0);
    build.release();
    await output.getByText("remote: built").waitFor();
    expect(await output.evaluate((region) => region.matches(":focus") && region.scrollTop > 0)).toBe(true);
    deploy.release();
    await tab.getByRole("heading", { name: "Published" }).waitFor();
  });

  it("works with only the keyboard, fits all widths, and axe finds no violations", async () => {
    const { alice, client } = await writer();
    const tab = await openPage(client, "/write");
    await tab.keyboard.press("n");
    await tab.keyboard.type("Hello by **keyboard**, @dave");
    await tab.getByRole("button", { name: "Save draft and preview" }).press("Enter");
    await tab.getByRole("heading", { name: "In your feed" }).waitFor();
    await expectAccessible(tab, "write");
    await tab.getByRole("button", { name: "Save as a post" }).press("Enter");
    await tab.getByRole("heading", { name: "Publish" }).waitFor();
    await expectAccessible(tab, "publish");
    await tab.keyboard.press("?");
    expect(await tab.locator("#keys dt:visible").allTextContents()).toEqual(["?"]);
    await tab.keyboard.press("Escape");
    await tab.getByRole("button", { name: "Run these commands" }).press("Enter");
    await tab.getByRole("heading", { name: "Published" }).waitFor();
    await expectFits(tab, "published");
    expect(alice.published()).toEqual(["Hello by **keyboard**, @dave", "first"]);
  });
});
