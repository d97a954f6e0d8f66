// test/demo/blog.ts: a small blog in its own folder, with the package installed.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Running, run, start } from "./process.js";

export const repo = fileURLToPath(new URL("../../", import.meta.url));

/** The host of the blogs. */
export type HostName = "node" | "netlify";

export interface Blog {
  nick: string;
  url: string;
  port: number;
  folder: string;
  feedUrl: string;
  /** Runs a command in the blog's folder, and prints it. @returns its output */
  type(command: string[], environment?: Record<string, string>): Promise<string>;
  /** Runs a command of the plugin with `--json`, without printing it. @returns the parsed output */
  ask(command: string[]): Promise<unknown>;
  build(): Promise<void>;
  /** Waits until the host serves the latest build; by default, returns at once. */
  takenOver(): Promise<void>;
  /** Adds options of the plugin to the configuration. */
  configure(options: Record<string, unknown>): void;
}

const LAYOUT = `---
layout: base.njk
---
<article class="h-entry">
<div class="e-content">{{ content | safe }}</div>
<a class="p-author h-card" href="/">{{ twtxt.nick }}</a> <a class="u-url" href="{{ page.url }}"><time class="dt-published" datetime="{{ page.date.toISOString() }}">{{ page.date.toISOString() }}</time></a>
</article>
{% twtxtSyndication %}
{% twtxtMentions %}
`;

const BASE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>{{ title or twtxt.nick }}</title></head>
<body>{{ content | safe }}</body>
</html>
`;

const COMMANDS: Record<string, string> = {
  eleventy: join(repo, "node_modules/@11ty/eleventy/cmd.cjs"),
  "eleventy-twtxt": join(repo, "dist/cli/main.js"),
};

const folders: string[] = [];

/** Removes the blogs, since their folders contain keys. */
export function removeBlogs(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** Creates a blog that uses the packages of this repository. */
export function blog(nick: string, port: number, host: HostName, files: Record<string, string>): Blog {
  const folder = mkdtempSync(join(tmpdir(), `twtxt-demo-${nick}-`));
  folders.push(folder);
  const url = `http://127.0.0.1:${port}`;
  installPackages(folder);
  const options: Record<string, unknown> = { url, nick, host };
  const all: Record<string, string> = {
    "package.json": '{ "type": "module" }\n',
    "eleventy.config.js": configOf(options),
    "_includes/base.njk": BASE,
    "_includes/post.njk": LAYOUT,
    "posts/posts.json": '{ "layout": "post.njk", "tags": "posts" }\n',
    "index.njk": '---\nlayout: base.njk\n---\n<h1 class="h-card">{{ twtxt.nick }}</h1>\n',
    ...(host === "netlify" && { "netlify.toml": '[build]\ncommand = "eleventy"\npublish = "_site"\n' }),
    ...files,
  };
  for (const [path, content] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }

  // The folder for the author's own data.
  const own = { XDG_DATA_HOME: join(folder, "data") };
  const type = async ([program = "", ...args]: string[], environment: Record<string, string> = {}) => {
    console.log(`\n${nick}$ ${[program, ...args.map(quoted)].join(" ")}`);
    return run([COMMANDS[program] ?? program, ...args], folder, { ...own, ...environment });
  };
  const made: Blog = {
    nick,
    url,
    port,
    folder,
    feedUrl: `${url}/twtxt.txt`,
    type,
    ask: async (command) =>
      JSON.parse(await run([join(repo, "dist/cli/main.js"), ...command, "--json"], folder, own, true)),
    build: async () => {
      await type(["eleventy", "--quiet"]);
      await made.takenOver();
    },
    takenOver: async () => {},
    configure: (further) => {
      Object.assign(options, further);
      writeFileSync(join(folder, "eleventy.config.js"), configOf(options));
    },
  };
  return made;
}

function configOf(options: Record<string, unknown>): string {
  const lines = Object.entries(options).map(([name, value]) => `    ${name}: ${JSON.stringify(value)},\n`);
  return `import twtxt from "eleventy-plugin-twtxt";

export default function (config) {
  config.addPassthroughCopy("pictures");
  config.addPlugin(twtxt, {
${lines.join("")}  });
}
`;
}

/** Serves a blog with `eleventy-twtxt serve`. */
export function serve(blog: Blog, args: string[], environment: Record<string, string> = {}): Promise<Running> {
  return startCommand(blog, ["serve", "--port", String(blog.port), ...args], environment, /twtxt\.txt/);
}

/** Starts the web client of a blog, which prints its link. */
export function openClient(blog: Blog, args: string[]): Promise<Running> {
  return startCommand(blog, ["client", "--no-open", ...args], {}, /Ctrl-C ends the client/);
}

/** The link of a web client. */
export function readLink(client: Running): string {
  return /http:\S+\/open\?token=\S+/.exec(client.printed())?.[0] ?? "";
}

/** Starts a command of the plugin that runs until it is stopped. */
function startCommand(
  { nick, folder }: Blog,
  command: string[],
  environment: Record<string, string>,
  isUp: RegExp,
): Promise<Running> {
  console.log(`\n${nick}$ eleventy-twtxt ${command.join(" ")}`);
  const child = spawn(process.execPath, [join(repo, "dist/cli/main.js"), ...command], {
    cwd: folder,
    env: { ...process.env, XDG_DATA_HOME: join(folder, "data"), ...environment },
  });
  return start(child, `${nick}: `, isUp);
}

function installPackages(folder: string): void {
  const packages = join(folder, "node_modules");
  mkdirSync(packages);
  for (const name of readdirSync(join(repo, "node_modules"))) {
    if (!name.startsWith(".")) symlinkSync(join(repo, "node_modules", name), join(packages, name));
  }
  symlinkSync(repo, join(packages, "eleventy-plugin-twtxt"));
}

function quoted(word: string): string {
  return /^[\w./:=@-]+$/.test(word) ? word : `"${word}"`;
}
