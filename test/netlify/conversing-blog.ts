// test/netlify/conversing-blog.ts: a blog with one note that replies to another blog, served by `netlify dev` or `eleventy-twtxt serve`.
import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";
import { parseFeed } from "../../plugin/feed/feed.js";
import { freePort } from "../helpers/ports.js";
import { deploySucceeded, netlifyDev, newSite, type RunningNetlify, type Site, until } from "./local-netlify.js";

const LAYOUT = `<!doctype html><html><head><title>x</title></head><body>{{ content | safe }}{% twtxtMentions %}</body></html>`;
const ELEVENTY = "@11ty/eleventy/cmd.cjs";
const COMMAND = "eleventy-plugin-twtxt/dist/cli/main.js";
const run = promisify(execFile);

export interface BlogSetup {
  nick: string;
  host: "netlify" | "node";
  /** Further options of the plugin. */
  options?: object;
}

export class ConversingBlog {
  readonly url: string;
  readonly #site: Site;
  readonly #host: BlogSetup["host"];
  #running: Pick<RunningNetlify, "reloaded" | "stop"> = { reloaded: async () => {}, stop: async () => {} };

  private constructor(site: Site, url: string, host: BlogSetup["host"]) {
    this.#site = site;
    this.url = url;
    this.#host = host;
  }

  static async create({ nick, host, options }: BlogSetup): Promise<ConversingBlog> {
    const url = `http://127.0.0.1:${await freePort()}`;
    const date = new Date(Date.now() - 600_000).toISOString();
    const site = newSite({
      "netlify.toml": `[build]\n  publish = "_site"\n[dev]\n  framework = "#static"\n`,
      "eleventy.config.js": `import twtxt from "eleventy-plugin-twtxt";
export default (config) => config.addPlugin(twtxt, ${JSON.stringify({ url, nick, host, ...options })});
`,
      "_includes/post.njk": LAYOUT,
      "posts/hello.md": `---\ndate: ${date}\ntags: posts\nlayout: post.njk\n---\nHello, world\n`,
    });
    return new ConversingBlog(site, url, host);
  }

  /** Builds the site and starts its host. @param allowed - hosts on this machine to which it may connect */
  async start(allowed: readonly string[]): Promise<void> {
    await this.build();
    if (this.#host === "netlify") {
      const hosts = { TWTXT_ALLOW_PRIVATE_HOSTS: allowed.join(" ") };
      this.#running = await netlifyDev(this.#site, Number(new URL(this.url).port), hosts);
    } else {
      this.#running = { ...this.#running, stop: await this.#startServe(allowed) };
    }
  }

  async end(): Promise<void> {
    await this.#running.stop();
    this.#site.remove();
  }

  /** Replies to the newest twt of another blog, and publishes the reply. @returns the note's page */
  async reply(to: ConversingBlog, text: string): Promise<string> {
    const feedUrl = `${to.url}/twtxt.txt`;
    const newest = parseFeed(await to.page("/twtxt.txt")).twts.at(-1);
    const args = ["post", text, "--reply-to", `${feedUrl}#:~:text=${newest?.timestamp}`];
    const { stdout } = await this.#type(COMMAND, ...args, "--allow-private-host", new URL(to.url).host);
    const page = `/${stdout.trim().replace(/\.md$/, "/")}`;
    await this.build();
    // `serve` detects a build, and sends its mentions without a request.
    if (this.#host === "netlify") expect((await deploySucceeded(this.url)).status).toBe(200);
    return page;
  }

  /** Runs `eleventy-twtxt`. @returns its output */
  async command(...args: string[]): Promise<string> {
    const { stdout, stderr } = await this.#type(COMMAND, ...args);
    return stdout + stderr;
  }

  async build(): Promise<void> {
    await this.#type(ELEVENTY, "--quiet");
    await this.#running.reloaded();
  }

  async page(path: string): Promise<string> {
    return (await fetch(this.url + path)).text();
  }

  /** Waits until the blog lists this many mentions. */
  async lists(count: number): Promise<void> {
    await until(async () => JSON.parse(await this.page("/mentions.json")).mentions?.length === count);
  }

  mention(source: string, target: string): Promise<Response> {
    const body = new URLSearchParams({ source, target: this.url + target });
    return fetch(`${this.url}/webmention`, { method: "POST", body });
  }

  async #startServe(allowed: readonly string[]): Promise<() => Promise<void>> {
    const allowing = allowed.flatMap((host) => ["--allow-private-host", host]);
    const words = [this.#packaged(COMMAND), "serve", "--port", new URL(this.url).port, ...allowing];
    const child = spawn(process.execPath, words, { ...this.#place(), stdio: "ignore" });
    const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
    const stop = () => {
      child.kill();
      return ended;
    };
    try {
      await until(
        async () => (await fetch(`${this.url}/mentions.json`)).ok,
        () => child.exitCode !== null,
      );
      return stop;
    } catch (error) {
      await stop();
      throw error;
    }
  }

  #type(program: string, ...args: string[]): Promise<{ stdout: string; stderr: string }> {
    return run(process.execPath, [this.#packaged(program), ...args], this.#place());
  }

  get folder(): string {
    return this.#site.folder;
  }

  #packaged(program: string): string {
    return join(this.#site.folder, "node_modules", program);
  }

  #place() {
    const { folder } = this.#site;
    return { cwd: folder, env: { ...process.env, XDG_DATA_HOME: join(folder, "data"), NO_COLOR: "1" } };
  }
}
