// test/e2e/two-blogs.test.ts: two real blogs, served by `eleventy-twtxt serve`, that reply to each other.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { command } from "../cli/helpers.js";
import { serve } from "../cli/server.js";
import { namesIn, repliesIn } from "../helpers/conversation-outline.js";
import { loopbackServer } from "../helpers/loopback.js";
import { freePort } from "../helpers/ports.js";
import { type BuiltSite, post, site } from "../helpers/site.js";

const LAYOUT = `<!doctype html><html><head><title>x</title></head><body>{{ content | safe }}{% twtxtMentions %}</body></html>`;

/** A blog with one note from ten minutes ago. */
class Blog {
  readonly url: string;
  readonly #options: string;
  #built: BuiltSite | undefined;

  constructor(
    nick: string,
    readonly host: string,
    readonly neighbours: readonly string[],
  ) {
    this.url = `http://${host}`;
    this.#options = JSON.stringify({ nick, url: this.url, host: "node" });
  }

  get built(): BuiltSite {
    if (!this.#built) throw new Error("Build the site first.");
    return this.#built;
  }

  async build(files: Record<string, string> = {}): Promise<void> {
    const before = this.#built && { site: this.#built };
    this.#built = await site({ files, options: this.#options, now: new Date().toISOString(), ...before });
  }

  async start(): Promise<void> {
    const date = new Date(Date.now() - 600_000).toISOString();
    const hello = post({ date, tags: "posts", layout: "post.njk" }, "Hello, world");
    await this.build({ "_includes/post.njk": LAYOUT, "posts/hello.md": hello });
    await serve(this.built, ["--port", new URL(this.url).port, ...this.#allowing()]);
  }

  /** Replies to the newest twt of another blog, and builds. @returns the path of the note's page */
  async reply(to: Blog, text: string): Promise<string> {
    const twt = `${to.url}/twtxt.txt#:~:text=${to.built.feed().twts.at(-1)?.timestamp}`;
    const args = ["post", "--reply-to", twt, text, ...this.#allowing()];
    const { stdout, stderr } = await command(this.built.folder, args);
    expect(stdout, stderr).toMatch(/^posts\/\S+\.md\n$/);
    await this.build();
    return `/${stdout.trim().replace(/\.md$/, "/")}`;
  }

  /** Marks the note of a page as deleted, and builds the site. */
  async delete(page: string): Promise<void> {
    const file = join(this.built.folder, page.replace(/\/$/, ".md"));
    writeFileSync(file, readFileSync(file, "utf8").replace("---\n", "---\ntwt: deleted\n"));
    await this.build();
  }

  /** The texts of the mentions that the blog shows, oldest first. */
  async mentions(): Promise<string[]> {
    const { mentions } = (await (await fetch(`${this.url}/mentions.json`)).json()) as { mentions: { text: string }[] };
    return mentions.map(({ text }) => text.replace(/^.* /, "")).reverse();
  }

  async page(path: string): Promise<string> {
    return (await fetch(this.url + path)).text();
  }

  #allowing(): string[] {
    return this.neighbours.flatMap((host) => ["--allow-private-host", host]);
  }
}

it("two blogs show the same nested conversation, and count a like; a deleted reply disappears from both", async () => {
  const fan = await loopbackServer((_, response) => {
    response.setHeader("content-type", "text/html");
    response.end(`<p class="h-entry"><a class="p-author h-card" href="/">Carol</a> likes
      <a class="u-like-of" href="${alice.url}/posts/hello/">this</a></p>`);
  });
  const [first, second] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
  const alice = new Blog("alice", first, [second, fan.host]);
  const bob = new Blog("bob", second, [first]);
  await alice.start();
  await bob.start();

  const congratulation = await bob.reply(alice, "Congratulations!");
  await expect.poll(() => alice.mentions()).toEqual(["Congratulations!"]);
  const answer = await alice.reply(bob, "Thanks!");
  await expect.poll(() => bob.mentions()).toEqual(["Thanks!"]);
  await bob.reply(alice, "Cheers!");
  await expect.poll(() => alice.mentions()).toEqual(["Congratulations!", "Cheers!"]);
  const like = new URLSearchParams({ source: `${fan.url}/1`, target: `${alice.url}/posts/hello/` });
  expect((await fetch(`${alice.url}/webmention`, { method: "POST", body: like })).status).toBe(200);

  await alice.build();
  await bob.build();
  const cheers = { name: "bob", text: "@alice Cheers!", replies: [] };
  const thanks = { name: "alice", text: "@bob Thanks!", replies: [cheers] };
  const onAlices = await alice.page("/posts/hello/");
  expect(repliesIn(onAlices)).toEqual([{ name: "bob", text: "@alice Congratulations!", replies: [thanks] }]);
  expect(repliesIn(await bob.page(congratulation))).toEqual([thanks]);
  expect(namesIn(onAlices, "likes")).toEqual(["Carol"]);

  await alice.delete(answer);
  // Bob's answer keeps the place of the reply, without its text.
  await expect.poll(() => bob.mentions()).toEqual([""]);
  const gone = async () => {
    const response = await fetch(alice.url + answer);
    return [response.status, await response.text()];
  };
  // Bob's site may read the change in the feed before Alice's server has read the new build.
  await expect.poll(gone).toEqual([410, expect.stringContaining("This post was deleted")]);
  expect(repliesIn(await alice.page("/posts/hello/"))).toEqual([
    { name: "bob", text: "@alice Congratulations!", replies: [] },
    cheers,
  ]);
  await bob.build();
  expect(repliesIn(await bob.page(congratulation))).toEqual([{ name: "", text: "", replies: [cheers] }]);
});
