// test/e2e/published-blog.ts: a blog whose author publishes with `git push`: a hook of the bare repository triggers a build,
// `serve` serves the site, and the author has the local web client. Builds and servers run in this process.
import { type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";
import { GIT_ENVIRONMENT } from "../author/notes/git-site.js";
import { command } from "../cli/helpers.js";
import { environmentOf } from "../cli/machine.js";
import { serve } from "../cli/server.js";
import { startedClient } from "../client/client.js";
import { type Build, buildInProcess } from "../helpers/build-in-process.js";
import { type HeldLine, heldLine } from "../helpers/held-line.js";
import { afterAll, afterEach } from "../helpers/hooks.js";
import { loopbackServer } from "../helpers/loopback.js";
import { COMMAND, LOOPBACK_ONLY, REPO } from "../helpers/paths.js";
import { configOf } from "../helpers/site.js";
import { deployedSettings, installDeployHook } from "../hosting/post-receive.js";

const folders: string[] = [];
const clients: ChildProcessWithoutNullStreams[] = [];

afterEach(() => {
  for (const client of clients.splice(0)) client.kill("SIGKILL");
});

afterAll(() => {
  // A killed client may write a file until it has ended.
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});

/** A command that requests a URL, and fails unless the status is 200. */
const REQUEST = `${process.execPath} -e 'require("http").get(process.argv[1], (r) => process.exit(r.statusCode === 200 ? 0 : 1))'`;

export interface PublishedBlogSetup {
  nick: string;
  port: number;
  /** `host:port`s that its server and its author may contact. */
  hosts: readonly string[];
  /** Options of the plugin in addition to the URL, nick and key. */
  options?: Record<string, unknown>;
  /** The files of the site by path, in addition to its configuration. */
  files: Record<string, string | Uint8Array>;
}

export class PublishedBlog {
  readonly url: string;
  readonly host: string;
  /** `alice@127.0.0.1:8080`. */
  readonly address: string;
  /** The author's working folder. */
  readonly folder: string;
  readonly #setup: PublishedBlogSetup;
  readonly #home: string;
  #line: HeldLine | null = null;

  private constructor(setup: PublishedBlogSetup) {
    this.#setup = setup;
    this.host = `127.0.0.1:${setup.port}`;
    this.url = `http://${this.host}`;
    this.address = `${setup.nick}@${this.host}`;
    this.#home = realpathSync(mkdtempSync(join(tmpdir(), `twtxt-${setup.nick}-`)));
    folders.push(this.#home);
    this.folder = join(this.#home, "site");
  }

  /** Creates the key, writes the site, pushes it, and serves the build of the hook. */
  static async start(setup: PublishedBlogSetup): Promise<PublishedBlog> {
    const blog = new PublishedBlog(setup);
    await blog.#createRepository();
    for (const [path, content] of Object.entries(setup.files)) blog.write(path, content);
    await blog.changeKey();
    const args = ["--settings", deployedSettings(blog.#deployed), "--url", blog.url, ...blog.allowing];
    const { url } = await serve({ folder: blog.#deployed }, args, blog.#environment);
    blog.#line = await heldLine(setup.port, Number(new URL(url).port));
    return blog;
  }

  write(path: string, content: string | Uint8Array): void {
    const file = join(this.folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }

  read(path: string): string {
    return readFileSync(join(this.folder, path), "utf8");
  }

  /** Changes a byte of the largest value that the server stores. */
  tamper(): void {
    const store = join(this.#home, "data/eleventy-twtxt/sites");
    const files = readdirSync(store, { recursive: true, encoding: "utf8" }).map((name) => join(store, name));
    const values = files.filter((file) => basename(dirname(file)) === "files");
    const [largest = ""] = values.sort((a, b) => statSync(b).size - statSync(a).size);
    const bytes = readFileSync(largest);
    bytes[bytes.length >> 1] = ~(bytes[bytes.length >> 1] ?? 0);
    writeFileSync(largest, bytes);
  }

  /** Replaces the key with a new one, and publishes the changed configuration. */
  async changeKey(): Promise<void> {
    const file = join(this.#home, `data/eleventy-twtxt/keys/${this.address.replaceAll(":", "+")}.key`);
    rmSync(file, { force: true });
    const created = await this.type("keys", "create", this.address, "--file", file);
    const { nick, options } = this.#setup;
    const own = { url: this.url, nick, host: "node", address: this.address, key: created.trim(), ...options };
    this.write("eleventy.config.js", configOf({ options: JSON.stringify(own), now: null }));
    await this.publish("New key");
  }

  /** Commits all changes, pushes them, and builds the site in the author's folder. */
  async publish(message: string): Promise<void> {
    await this.#git("add .");
    await this.#git("commit --quiet -m", message);
    await this.#git("push --set-upstream origin main");
    const { exitCode, log } = await this.#build(this.folder);
    expect(exitCode, log).toBe(0);
  }

  /** The proxy in front of its server. */
  get line(): HeldLine {
    if (this.#line === null) throw new Error("Start the blog first.");
    return this.#line;
  }

  /** Starts the client. @returns its link */
  async client(): Promise<string> {
    const { folder } = this;
    const hosts = [this.host, ...this.#setup.hosts];
    return (await startedClient({ folder, environment: this.#environment, hosts })).link;
  }

  /** Starts the compiled client in its own process. @returns its link */
  async clientProcess(): Promise<string> {
    const words = ["--import", LOOPBACK_ONLY, COMMAND, "client", "--no-open", ...this.allowing];
    const child = spawn(process.execPath, words, { cwd: this.folder, env: { ...process.env, ...this.#environment } });
    clients.push(child);
    let printed = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (printed += data));
    await expect.poll(() => printed).toMatch(/^http:\S+$/m);
    return /^http:\S+$/m.exec(printed)?.[0] ?? "";
  }

  get #deployed(): string {
    return join(this.#home, "deployed");
  }

  /** The environment of the author and the host: they share a machine, and so a data folder. */
  get #environment(): Record<string, string> {
    return { ...GIT_ENVIRONMENT, ...environmentOf(this.#home) };
  }

  /** The options that let commands connect to its server and the other hosts. */
  get allowing(): string[] {
    return [this.host, ...this.#setup.hosts].flatMap((host) => ["--allow-private-host", host]);
  }

  async #createRepository(): Promise<void> {
    mkdirSync(this.folder);
    mkdirSync(this.#deployed);
    symlinkSync(join(REPO, "node_modules"), join(this.folder, "node_modules"));
    const remote = join(this.#home, "remote.git");
    await this.#git(`init --quiet --bare --initial-branch=main ${remote}`);
    const builder = await loopbackServer(async ({ url = "" }, response) => {
      const { exitCode, log } = await this.#build(url);
      response.writeHead(exitCode === 0 ? 200 : 500).end(log);
    });
    const install = `ln -s ${join(REPO, "node_modules")} .`;
    installDeployHook(remote, this.#deployed, { install, build: `${REQUEST} ${builder.url}$PWD` });
    const { nick } = this.#setup;
    for (const args of [
      "init --quiet --initial-branch=main",
      `config user.name ${nick}`,
      `config user.email ${nick}@${nick}.example`,
      `remote add origin ${remote}`,
    ]) {
      await this.#git(args);
    }
    this.write(".gitignore", "node_modules\n_site\n.eleventy-twtxt\n");
    this.write("package.json", '{ "type": "module" }\n');
  }

  #build(folder: string): Promise<Build> {
    return buildInProcess(folder, this.#environment, { quietMode: true });
  }

  /** Runs git in the author's folder. @param args - separated by spaces */
  async #git(args: string, ...further: string[]): Promise<void> {
    const env = { ...process.env, ...this.#environment };
    await promisify(execFile)("git", [...args.split(" "), ...further], { cwd: this.folder, env });
  }

  /** Runs a command of the plugin. @returns its output */
  async type(...args: string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await command(this.folder, args, { environment: this.#environment });
    expect(exitCode, stderr).toBe(0);
    return stdout;
  }
}
