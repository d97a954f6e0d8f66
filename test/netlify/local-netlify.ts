// test/netlify/local-netlify.ts: sites with the package installed, and Netlify's command line.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { transformSync } from "esbuild";
import { freePort } from "../helpers/ports.js";

const run = promisify(execFile);
const repo = fileURLToPath(new URL("../../", import.meta.url));

/** Netlify's command line. */
export const NETLIFY = join(repo, "test/netlify/node_modules/netlify-cli/bin/run.js");

/** The contents of the package's tarball, unpacked before the tests. */
export const PACKED = join(repo, ".cache/netlify/package");

/** Without these options it prompts the user, opens a browser, and downloads programs. */
export const NETLIFY_DEV = ["dev", "--offline", "--no-open", "--internal-disable-edge-functions"];

/** The time in which `netlify dev` loads changed functions again, even on a slow machine. */
const RELOAD_MS = 20_000;

/** The environment of Netlify's command line: without the user's settings, and without telemetry. */
const environment = (home: string) => ({
  PATH: process.env.PATH,
  HOME: home,
  CI: "1",
  NO_COLOR: "1",
  npm_config_offline: "true",
});

export interface Site {
  folder: string;
  /** Writes files by their path. */
  write(files: Record<string, string>): void;
  remove(): void;
}

/** Creates a project with the package installed. */
export function newSite(files: Record<string, string>): Site {
  const folder = mkdtempSync(join(tmpdir(), "twtxt-netlify-"));
  installPackage(folder);
  const site: Site = {
    folder,
    write(more) {
      for (const [path, content] of Object.entries(more)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), content);
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
  site.write({ "package.json": `{ "name": "blog", "private": true, "type": "module" }`, ...files });
  return site;
}

/** Creates the example of this repository as a site with the package installed. */
export function exampleSite(files: Record<string, string>, configuration: string): Site {
  const { code } = transformSync(configuration, { loader: "ts" });
  const site = newSite({
    "eleventy.config.js": code.replace(/import \{ twtxt \} from ".*";/, `import twtxt from "eleventy-plugin-twtxt";`),
    ...files,
  });
  cpSync(join(repo, "site-example"), join(site.folder, "site-example"), { recursive: true });
  return site;
}

/** Creates a blog with one post, for {@link netlifyDev}. @param options - the options of the plugin */
export async function devSite(options: object, post: string): Promise<Site> {
  const port = await freePort();
  return newSite({
    "netlify.toml": `[build]
  publish = "_site"
[dev]
  framework = "#custom"
  command = "npx @11ty/eleventy --serve --port=${port}"
  targetPort = ${port}
`,
    "eleventy.config.js": `import twtxt from "eleventy-plugin-twtxt";
export default function (config) {
  config.addPlugin(twtxt, ${JSON.stringify(options)});
}
`,
    "posts/posts.json": `{ "tags": "posts" }`,
    "posts/hello.md": post,
  });
}

/** Links the dependencies from this repository, so that nothing is downloaded. */
function installPackage(folder: string): void {
  const modules = join(folder, "node_modules");
  mkdirSync(modules);
  for (const name of readdirSync(join(repo, "node_modules"))) {
    symlinkSync(join(repo, "node_modules", name), join(modules, name));
  }
  cpSync(PACKED, join(modules, "eleventy-plugin-twtxt"), { recursive: true });
}

/** Runs a command. @returns its output @throws Error with its output if it fails */
export async function netlify(site: Site, args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await run(NETLIFY, args, { cwd: site.folder, env: environment(site.folder) });
  return stdout + stderr;
}

export interface RunningNetlify {
  url: string;
  /**
   * Waits until it has loaded the functions of the latest build. Requests meanwhile may fail.
   *
   * @param page - the path of a page that this build has, if the build may not have ended
   */
  reloaded(page?: string): Promise<void>;
  stop(): Promise<void>;
}

/** Starts `netlify dev` on a port, and waits until it responds. @param path - what it must serve */
export async function netlifyDev(
  site: Site,
  port: number,
  variables: Record<string, string>,
  path = "/mentions.json",
): Promise<RunningNetlify> {
  // Two instances that start at the same time could choose the same default port for the static server.
  const ports = ["--port", String(port), "--staticServerPort", String(await freePort())];
  const child = spawn(NETLIFY, [...NETLIFY_DEV, ...ports], {
    cwd: site.folder,
    env: { ...environment(site.folder), ...variables },
    // It starts other processes, so the whole process group is stopped.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  child.stdout.on("data", (data) => (log += data));
  child.stderr.on("data", (data) => (log += data));
  const url = `http://localhost:${port}`;
  const stop = () => stopGroup(child);
  try {
    await until(
      async () => (await fetch(url + path)).ok,
      () => child.exitCode !== null,
    );
    return { url, reloaded: watchReloads(site.folder, () => log), stop };
  } catch (error) {
    await stop();
    throw new Error(`netlify dev did not start:\n${log}`, { cause: error });
  }
}

/**
 * @param folder - a site whose functions `netlify dev` has loaded
 * @param printed - the output of `netlify dev` so far
 * @returns waits until it has loaded the functions of the latest build
 */
export function watchReloads(folder: string, printed: () => string): RunningNetlify["reloaded"] {
  const functions = join(folder, ".netlify/v1/functions");
  const shared = join(functions, "twtxt-host.json");
  const times = (text: string) => printed().split(text).length - 1;
  let loaded = existsSync(shared) && readFileSync(shared, "utf8");
  let reloads = 0;
  return async (page = "") => {
    await until(async () => readFileSync(shared, "utf8").includes(page));
    const latest = readFileSync(shared, "utf8");
    if (latest === loaded) return;
    loaded = latest;
    let touched = Date.now();
    const expected = reloads + readdirSync(functions).filter((name) => name.endsWith(".mjs")).length;
    await until(async () => {
      reloads = times("Reloaded function");
      // It may drop a change, and reads the file again when its time changes.
      if (reloads < expected && Date.now() > touched + RELOAD_MS) {
        touched = Date.now();
        utimesSync(shared, new Date(), new Date());
      }
      return reloads >= expected && reloads === times("Reloading function");
    });
  };
}

/**
 * Calls the function that runs after a deploy, as Netlify does.
 *
 * @returns the response of the function; the command line passes it an event only under its old name
 */
export function deploySucceeded(url: string): Promise<Response> {
  const time = new Date().toISOString();
  const payload = { id: "1", state: "ready", context: "dev", created_at: time, published_at: time };
  return fetch(`${url}/.netlify/functions/twtxt-deploy-succeeded`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-netlify-event": "deploy_succeeded" },
    body: JSON.stringify({ payload, site: { id: "1" } }),
  });
}

/** Polls until the condition holds. */
export async function until(isSo: () => Promise<boolean>, isHopeless = () => false): Promise<void> {
  for (let tries = 0; tries < 300 && !isHopeless(); tries += 1) {
    if (await isSo().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error("Timeout: the condition was not met.");
}

async function stopGroup(child: ChildProcess): Promise<void> {
  if (child.pid === undefined) return;
  const ended = child.exitCode === null ? new Promise((resolve) => child.once("close", resolve)) : null;
  try {
    // It may have ended before the processes that it started.
    process.kill(-child.pid, "SIGTERM");
  } catch (error) {
    if (Object(error).code !== "ESRCH") throw error;
  }
  await ended;
}
