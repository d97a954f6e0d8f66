import { execFile } from "node:child_process";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseFeed } from "../../plugin/feed/feed.js";
import { namesIn, repliesIn } from "../helpers/conversation-outline.js";
import { freePort, netlifyDev, newSite, type RunningNetlify, type Site, until } from "./local-netlify.js";

const LAYOUT = `<!doctype html><html><head><title>x</title></head><body>{{ content | safe }}{% twtxtMentions %}</body></html>`;
const run = promisify(execFile);

/** A blog of one note, whose built pages and functions `netlify dev` serves. */
class Blog {
  readonly #site: Site;
  readonly url: string;
  #running: RunningNetlify | undefined;

  private constructor(site: Site, url: string) {
    this.#site = site;
    this.url = url;
  }

  static async create(nick: string, port: number): Promise<Blog> {
    const url = `http://localhost:${port}`;
    const date = new Date(Date.now() - 600_000).toISOString();
    const site = await newSite({
      "netlify.toml": `[build]\n  publish = "_site"\n[dev]\n  framework = "#static"\n`,
      "eleventy.config.js": `import twtxt from "eleventy-plugin-twtxt";
export default (config) => config.addPlugin(twtxt, ${JSON.stringify({ url, nick, host: "netlify" })});
`,
      "_includes/post.njk": LAYOUT,
      "posts/hello.md": `---\ndate: ${date}\ntags: posts\nlayout: post.njk\n---\nHello, world\n`,
    });
    return new Blog(site, url);
  }

  async start(allowed: readonly string[]): Promise<void> {
    await this.#type("@11ty/eleventy/cmd.cjs", "--quiet");
    const hosts = { TWTXT_ALLOW_PRIVATE_HOSTS: allowed.join(" ") };
    this.#running = await netlifyDev(this.#site, Number(new URL(this.url).port), hosts);
  }

  async end(): Promise<void> {
    await this.#running?.stop();
    this.#site.remove();
  }

  /** Replies to the newest twt of another blog, builds, and does what Netlify does after a deploy. @returns the note's page */
  async reply(to: Blog, text: string): Promise<string> {
    const feedUrl = `${to.url}/twtxt.txt`;
    const newest = parseFeed(await (await fetch(feedUrl)).text()).twts.at(-1);
    const args = ["post", text, "--reply-to", `${feedUrl}#:~:text=${newest?.timestamp}`];
    const allowed = ["--allow-private-host", new URL(to.url).host];
    const file = await this.#type("eleventy-plugin-twtxt/dist/cli/main.js", ...args, ...allowed);
    const page = `/${file.trim().replace(/\.md$/, "/")}`;
    await this.build();
    await until(() => this.#knows(page));
    await until(() => this.#deployed());
    return page;
  }

  async build(): Promise<void> {
    await this.#type("@11ty/eleventy/cmd.cjs", "--quiet");
  }

  async page(path: string): Promise<string> {
    return (await fetch(this.url + path)).text();
  }

  /** Waits until the blog lists this many mentions. */
  async lists(count: number): Promise<void> {
    await until(async () => (await this.#json("/mentions.json")).mentions?.length === count);
  }

  mention(source: string, target: string): Promise<Response> {
    const body = new URLSearchParams({ source, target: this.url + target });
    return fetch(`${this.url}/webmention`, { method: "POST", body });
  }

  /** Whether the function that receives mentions was loaded again after a build. */
  async #knows(page: string): Promise<boolean> {
    const { code } = (await (await this.mention("http://127.0.0.1:1/", page)).json()) as { code: string };
    return code === "address-refused";
  }

  async #deployed(): Promise<boolean> {
    const time = new Date().toISOString();
    const payload = { id: "1", state: "ready", context: "dev", created_at: time, published_at: time };
    const answer = await fetch(`${this.url}/.netlify/functions/twtxt-deploy-succeeded`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-netlify-event": "deploy_succeeded" },
      body: JSON.stringify({ payload, site: { id: "1" } }),
    });
    return answer.ok;
  }

  async #json(path: string): Promise<{ mentions?: unknown[] }> {
    return (await (await fetch(this.url + path)).json()) as { mentions?: unknown[] };
  }

  async #type(program: string, ...args: string[]): Promise<string> {
    const { folder } = this.#site;
    const env = { ...process.env, XDG_DATA_HOME: join(folder, "data"), NO_COLOR: "1" };
    const words = [join(folder, "node_modules", program), ...args];
    return (await run(process.execPath, words, { cwd: folder, env })).stdout;
  }
}

let alice: Blog;
let bob: Blog;
let fan: Server;

beforeAll(async () => {
  fan = createServer((_, response) => {
    response.setHeader("content-type", "text/html");
    response.end(`<p class="h-entry"><a class="p-author h-card" href="/">Carol</a> likes
      <a class="u-like-of" href="${alice.url}/posts/hello/">this</a></p>`);
  });
  await new Promise<void>((resolve) => fan.listen(0, "127.0.0.1", resolve));
  alice = await Blog.create("alice", await freePort());
  bob = await Blog.create("bob", await freePort());
  const hosts = [...[alice, bob].map(({ url }) => new URL(url).host), new URL(fanUrl()).host];
  await alice.start(hosts);
  await bob.start(hosts);
});
afterAll(async () => {
  await Promise.all([alice?.end(), bob?.end()]);
  fan?.close();
});

function fanUrl(): string {
  return `http://127.0.0.1:${(fan.address() as AddressInfo).port}/1`;
}

it("two blogs under netlify dev show the whole conversation, nested alike, and count a like", async () => {
  const congratulation = await bob.reply(alice, "Congratulations!");
  await alice.lists(1);
  await alice.reply(bob, "Thanks!");
  await bob.lists(1);
  await bob.reply(alice, "Cheers!");
  await alice.lists(2);
  expect((await alice.mention(fanUrl(), "/posts/hello/")).status).toBe(200);

  await alice.build();
  await bob.build();
  const cheers = { name: "bob", text: "@alice Cheers!", replies: [] };
  const thanks = { name: "alice", text: "@bob Thanks!", replies: [cheers] };
  const onAlices = await alice.page("/posts/hello/");
  expect(repliesIn(onAlices)).toEqual([{ name: "bob", text: "@alice Congratulations!", replies: [thanks] }]);
  expect(repliesIn(await bob.page(congratulation))).toEqual([thanks]);
  expect(namesIn(onAlices, "likes")).toEqual(["Carol"]);
});
