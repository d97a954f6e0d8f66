// site-example/start/blog.ts: builds and serves a blog on this machine, and runs commands for its author.
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { compile } from "../../build/compile.js";
import { runCommandLine } from "../../plugin/cli/command-line.js";
import { processTerminal, type Terminal } from "../../plugin/cli/terminal.js";
import type { HeldPort } from "./held-port.js";

/** The root of this repository. */
export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const TSX = ["--import", pathToFileURL(join(ROOT, "node_modules/tsx/dist/loader.mjs")).href];
const ELEVENTY = join(ROOT, "node_modules/@11ty/eleventy/cmd.cjs");
const COMMAND_LINE = join(ROOT, "plugin/cli/main.ts");
/** The compiled plugin: its pages in the browser load bundled scripts, which the sources do not have. */
const COMPILED = join(ROOT, ".start-build");
const CONFIG = "eleventy.config.ts";
const TIMEOUT_MS = 90_000;

export interface BlogOptions {
  nick: string;
  port: HeldPort;
  /** The folder with the blog's sources. */
  folder: string;
  /** The absolute path of the Eleventy configuration. */
  config: string;
  /** The port of the other blog, with which this one exchanges mentions. */
  neighbourPort: number;
}

export class Blog {
  readonly nick: string;
  readonly url: string;
  readonly feedUrl: string;
  readonly folder: string;
  readonly #port: HeldPort;
  readonly #neighbour: string;
  readonly #environment: Record<string, string>;
  readonly #terminal: Terminal;
  readonly #children = new Map<ChildProcess, Promise<number | null>>();
  #isStopping = false;

  constructor({ nick, port, folder, config, neighbourPort }: BlogOptions) {
    this.nick = nick;
    this.folder = folder;
    this.url = `http://localhost:${port.port}`;
    this.feedUrl = `${this.url}/twtxt.txt`;
    this.#port = port;
    this.#neighbour = `localhost:${neighbourPort}`;
    // Keeps the author's data in this folder on every platform.
    this.#environment = {
      ...{ SITE_URL: this.url, NEIGHBOUR_URL: `http://${this.#neighbour}` },
      ...{ HOME: folder, XDG_DATA_HOME: join(folder, "data"), APPDATA: join(folder, "data") },
    };
    this.#terminal = {
      ...processTerminal(),
      folder,
      environment: { ...process.env, ...this.#environment },
      isTerminal: { stdin: false, stdout: false, stderr: false },
      ended: () => new Promise(() => {}),
    };
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
    writeFileSync(join(folder, CONFIG), `export { default } from ${JSON.stringify(pathToFileURL(config).href)};\n`);
  }

  /** `user@domain` */
  get address(): string {
    return `${this.nick}@localhost:${this.#port.port}`;
  }

  /**
   * Runs a command of the plugin, and prints it as if typed.
   *
   * @returns the printed data, without the last line end
   */
  async run(...args: string[]): Promise<string> {
    console.log(`\n${this.nick}$ eleventy-twtxt ${args.map(quoted).join(" ")}`);
    const printed: string[] = [];
    const messages: string[] = [];
    const print = (line: string) => void printed.push(line);
    const say = (line: string) => void messages.push(line);
    const exitCode = await runCommandLine(args, { ...this.#terminal, print, say });
    if (exitCode !== 0) throw new Error([`The command failed with exit code ${exitCode}.`, ...messages].join("\n"));
    for (const line of printed) console.log(line);
    return printed.join("\n");
  }

  /** The options of commands that send requests to the other blog. */
  get network(): string[] {
    return ["--allow-private-host", this.#neighbour];
  }

  /** Creates the author's key. The next build publishes an address with it. */
  async createKey(): Promise<void> {
    this.#environment.SITE_KEY = await this.run("keys", "create", this.address, "--file", "author.key");
  }

  async build(): Promise<void> {
    const { output, ended } = this.#start([ELEVENTY, `--config=${CONFIG}`, "--quiet"]);
    if ((await ended) !== 0) throw new Error(`The build of ${this.nick}'s blog failed.\n${output.text}`);
  }

  /** Starts the server. Resolves when it listens. */
  async serve(): Promise<void> {
    const where = ["--host", "localhost", "--port", String(this.#port.port), "--store", "store"];
    await this.#port.release();
    const { output, ended } = this.#start([COMMAND_LINE, "serve", ...where, ...this.network]);
    let hasEnded = false;
    void ended.then(() => {
      hasEnded = true;
    });
    await until(`${this.nick}'s server listens`, async () => {
      if (hasEnded) throw new Error(`The server of ${this.nick}'s blog ended unexpectedly.\n${output.text}`);
      return output.text.includes("/twtxt.txt");
    });
  }

  /** Starts the web client of the author, and prints each further link of it. @returns the link that opens it, once */
  async startClient(): Promise<string> {
    await compile(COMPILED);
    const command = [join(COMPILED, "cli/main.js"), "client", "--no-open"];
    const { output, child } = this.#start([...command, "--identity", "author.key", ...this.network]);
    let link: string | undefined;
    await until(`${this.nick}'s client listens`, async () => {
      link = /http:\/\/127\.0\.0\.1:\d+\/open\?\S+/.exec(output.text)?.[0];
      return link !== undefined;
    });
    child.stderr.on("data", (data) => {
      for (const line of String(data)
        .split("\n")
        .filter((line) => line.includes("/open?")))
        console.log(line);
    });
    return link ?? "";
  }

  /** Stops the running processes and waits for them. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const child of this.#children.keys()) child.kill("SIGTERM");
    await Promise.all(this.#children.values());
  }

  /** Starts a process in its own process group, so that Ctrl-C stops it only through {@link stop}. */
  #start(args: string[]) {
    if (this.#isStopping) throw new Error("Stopping.");
    const child = spawn(process.execPath, [...TSX, ...args], {
      cwd: this.folder,
      env: { ...process.env, ...this.#environment },
      stdio: ["ignore", "pipe", "pipe"],
      detached: process.platform !== "win32",
    });
    const output = { text: "" };
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (data) => {
        output.text += data;
      });
    }
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    this.#children.set(child, ended);
    void ended.then(() => this.#children.delete(child));
    return { child, output, ended };
  }
}

/** Waits for a condition, at most 90 seconds. */
export async function until(condition: string, isMet: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + TIMEOUT_MS;
  while (!(await isMet())) {
    if (Date.now() > end) throw new Error(`Timeout after ${TIMEOUT_MS / 1000} s: ${condition}.`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function quoted(word: string): string {
  return /^[\w./:=@#~-]+$/.test(word) ? word : `"${word.replaceAll("\n", " ")}"`;
}
