// test/client/refused-input.test.ts: what the author's browser sends is checked before a file or a server is named by it.
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { blog } from "../cli/helpers.js";
import { geminiServer } from "../helpers/small-web.js";
import { shownText, visitorOf } from "./visitor.js";
import { writer } from "./writer.js";

async function opened(hosts: string[] = []) {
  const { alice, client } = await writer(hosts);
  return { alice, client, visitor: await visitorOf(client, "/write") };
}

describe("a request of the client's own page that names something impossible", () => {
  it("400: files instead of feeds and pages, paths instead of addresses, and a form that is not well-formed", async () => {
    const { client, visitor } = await opened();
    for (const path of [
      `/write?reply-to=${encodeURIComponent("file:///etc/passwd#:~:text=2026-01-02T03:04:05Z")}`,
      `/write?reply-to=${encodeURIComponent("file:///etc/passwd")}`,
      "/messages/with/..%2f",
      "/messages/key/..%2f",
    ]) {
      const page = { status: 400, text: expect.stringContaining("This did not work") };
      expect(await visitor.get(path), path).toMatchObject(page);
    }
    const headers = {
      cookie: visitor.cookie,
      origin: client.origin,
      "content-type": "multipart/form-data; boundary=a",
    };
    const { status } = await client.ask("/write/draft", { method: "POST", headers, body: Buffer.from("--a\r\nx") });
    expect([status, client.printed]).toEqual([400, []]);
  });

  it("400: folders with control characters", async () => {
    const { alice, client, visitor } = await opened();
    for (const folder of ["a\0b", "notes\u001b[31m"]) {
      const { text } = await visitor.submit("/write/draft", { body: "Hello", newFolder: folder, next: "save" });
      expect(shownText(text)).toContain("must not contain control characters");
      const published = await visitor.get(`/write/publish?file=${encodeURIComponent(`${folder}.md`)}`);
      expect(shownText(published.text)).toContain("There is no such post.");
    }
    expect(client.printed).toEqual([]);
    expect(readdirSync(alice.folder)).not.toContain("notes");
  });
});

describe("a note", () => {
  it("is not written into folders of other programs or through a symbolic link out of the project, and stays a draft", async () => {
    const { alice, visitor } = await opened();
    for (const folder of "node_modules/a _site a/.b _preview .cache .eleventy-twtxt .git .git/hooks".split(" ")) {
      mkdirSync(join(alice.folder, folder), { recursive: true });
      const before = readdirSync(join(alice.folder, folder));
      const { text } = await visitor.submit("/write/draft", { body: "Hello", newFolder: folder, next: "save" });
      expect(shownText(text)).toContain(`The folder &quot;${folder}&quot;`);
      expect(readdirSync(join(alice.folder, folder)), folder).toEqual(before);
    }
    const outside = blog(null).folder;
    symlinkSync(outside, join(alice.folder, "linked"));
    symlinkSync(".git", join(alice.folder, "hidden"));
    for (const newFolder of ["linked", "linked/notes", "hidden"]) {
      const { text } = await visitor.submit("/write/draft", { body: "Hello", newFolder, next: "save" });
      expect(shownText(text)).toContain(`The folder &quot;${newFolder}&quot;`);
    }
    expect(readdirSync(outside)).toEqual([]);
    expect((await visitor.get("/write")).text).toContain("Hello</a>");
    symlinkSync(join(alice.folder, "posts"), join(alice.folder, "inside"));
    mkdirSync(join(alice.folder, "posts"), { recursive: true });
    const { text } = await visitor.submit("/write/draft", { body: "Hello", newFolder: "inside", next: "save" });
    expect(shownText(text)).toContain("Saved: inside/");
  });
});

describe("a post", () => {
  it("is neither shown nor changed if it is a symbolic link out of the project, or to a file of another program", async () => {
    const { alice, visitor } = await opened();
    const text = "---\ndate: 2026-01-02T03:04:05Z\n---\nNot a post\n";
    const outside = join(blog(null).folder, "other.md");
    mkdirSync(join(alice.folder, ".git"), { recursive: true });
    mkdirSync(join(alice.folder, "posts"), { recursive: true });
    for (const [name, target] of Object.entries({ linked: outside, hidden: join(alice.folder, ".git/config") })) {
      writeFileSync(target, text);
      symlinkSync(target, join(alice.folder, `posts/${name}.md`));
      const page = await visitor.get(`/write/posts/edit?file=posts/${name}.md`);
      expect(page.status).toBe(404);
      expect(shownText(page.text)).not.toContain("Not a post");
    }
  });
});

describe("the file of followed feeds", () => {
  it.each([true, false])("is not changed through a link out of the project: target exists %s", async (isThere) => {
    const bob = await geminiServer(() => "20 text/plain\r\n# nick = bob\n");
    const { alice, visitor } = await opened([bob.host]);
    const outside = blog(null).folder;
    const target = join(outside, "list.json");
    if (isThere) writeFileSync(target, "[]\n");
    mkdirSync(join(alice.folder, "_data"), { recursive: true });
    symlinkSync(target, join(alice.folder, "_data/follow.json"));
    const { text } = await visitor.submit("/timeline/following", { url: `${bob.url}/twtxt.txt` });
    expect(shownText(text)).toContain("_data/follow.json is a link to a file outside of this project");
    expect(existsSync(target) ? readFileSync(target, "utf8") : null).toBe(isThere ? "[]\n" : null);
  });
});
