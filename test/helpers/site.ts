// test/helpers/site.ts: a small real blog, built by the real Eleventy.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, vi } from "vitest";
import { type ParsedFeed, parseFeed } from "../../plugin/feed/feed.js";
import { type BuildFlags, buildInProcess } from "./build-in-process.js";
import { afterAll } from "./hooks.js";
import { LONGEST_MS } from "./longest.js";
import { COMPILED, LOOPBACK_ONLY, REPO } from "./paths.js";

const folders: string[] = [];
const CONFIG = "eleventy.config.js";
const ENVIRONMENT = { NO_COLOR: "1", FORCE_COLOR: "0", NETLIFY: "" };

export interface SiteSetup {
  /** Files by path, which are added to the folder. `null` removes a file. */
  files: Record<string, string | null>;
  /** The options of the plugin as JavaScript source; `url` and `nick` have defaults. */
  options?: string;
  /** Further lines of the configuration function, with `config` in scope; may return Eleventy's own configuration. */
  config?: string;
  /** Code before the configuration function, such as imports. */
  imports?: string;
  /** The clock of the build; `null` for that of the machine. */
  now?: string | null;
  flags?: BuildFlags;
  /** Arguments of Eleventy's command line. With them, Eleventy runs in a child process. */
  args?: string[];
  /** An earlier site to build again. */
  site?: BuiltSite;
  /** The folder of another version of Eleventy, which then runs in a child process. */
  eleventy?: string;
}

export interface BuiltSite {
  folder: string;
  exitCode: number | null;
  /** Eleventy's output. */
  log: string;
  /** Reads a file of the output by its path; throws if it does not exist. */
  read(path: string): string;
  has(path: string): boolean;
  /** `/twtxt.txt`, parsed. */
  feed(): ParsedFeed;
  /** The texts of `/twtxt.txt`, oldest first. */
  texts(): string[];
}

afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Builds a site with the plugin from source. `output` is `_site` unless the configuration says otherwise. */
export async function buildSite(setup: SiteSetup): Promise<BuiltSite> {
  const folder = setup.site?.folder ?? newFolder();
  writeSite(folder, { "package.json": `{"type":"module"}`, [CONFIG]: configOf(setup), ...setup.files });
  const { exitCode, log } =
    setup.args || setup.eleventy
      ? await runEleventy(folder, setup)
      : await buildInProcess(folder, ENVIRONMENT, setup.flags);
  return builtSite(folder, exitCode, log);
}

/** Like {@link buildSite}, but throws Eleventy's output if the build fails. */
export async function site(setup: SiteSetup): Promise<BuiltSite> {
  const built = await buildSite(setup);
  if (built.exitCode !== 0) throw new Error(`The build failed:\n${built.log}`);
  return built;
}

/** Front matter and body. */
export function post(data: Record<string, unknown>, body = ""): string {
  const lines = Object.entries(data).map(
    ([key, value]) => `${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return `---\n${lines.join("\n")}\n---\n${body}\n`;
}

function builtSite(folder: string, exitCode: number | null, log: string, output = "_site"): BuiltSite {
  const read = (path: string) => readFileSync(join(folder, output, path), "utf8");
  return {
    folder,
    exitCode,
    log,
    read,
    has: (path) => existsSync(join(folder, output, path)),
    feed: () => parseFeed(read("twtxt.txt")),
    texts: () => parseFeed(read("twtxt.txt")).twts.map(({ text }) => text),
  };
}

/** The configuration of a site with the plugin from source. */
export function configOf({
  options = "{}",
  config = "",
  imports = "",
  now = "2026-11-20T12:00:00Z",
}: Omit<SiteSetup, "files">): string {
  return `import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { definePlugin } from ${JSON.stringify(join(COMPILED, "plugin.js"))};
${imports}
const twtxt = definePlugin(() => ({
  now: ${now === null ? "Date.now" : `() => Date.parse(${JSON.stringify(now)})`},
  root: process.cwd(),
  environment: {},
  version: "0.0.0",
  packageFolder: ${JSON.stringify(REPO)},
  htmlReader: () => createRequire(import.meta.url)(${JSON.stringify(join(COMPILED, "text/text-from-html.js"))}),
  readAsset: (file) => readFile(${JSON.stringify(join(COMPILED, "browser/"))} + file, "utf8"),
}));
export default function (config) {
  config.addPlugin(twtxt, { url: "https://alice.example", nick: "alice", ...${options} });
${config}
}
`;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "twtxt-site-"));
  folders.push(folder);
  symlinkSync(join(REPO, "node_modules"), join(folder, "node_modules"));
  return folder;
}

function writeSite(folder: string, files: Record<string, string | null>): void {
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path);
    if (content === null) rmSync(file, { force: true });
    else {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
    }
  }
}

export interface RunningSite {
  /** Eleventy's output so far. */
  log(): string;
  /** Writes files, and waits until a check of the output passes. */
  change(files: Record<string, string | null>, isRight: () => void): Promise<void>;
  /** @returns Eleventy's output */
  stop(): Promise<string>;
}

/** Keeps Eleventy running on a built site, with `--watch` or `--serve` among the arguments. */
export async function watchSite(built: BuiltSite, args: string[]): Promise<RunningSite> {
  const child = startEleventy(built.folder, { args });
  let log = "";
  child.stdout.on("data", (data) => (log += data));
  child.stderr.on("data", (data) => (log += data));
  await expect.poll(() => log).toMatch(/Watching…|Server at/);
  return {
    log: () => log,
    async change(files, isRight) {
      // A watcher that is still starting can miss a change, so the files are written again.
      for (let tries = 0; ; tries += 1) {
        writeSite(built.folder, files);
        try {
          return await vi.waitFor(isRight, { timeout: 1000, interval: 50 });
        } catch (error) {
          if (tries === 99) throw new Error(`${error}\n${log}`);
        }
      }
    },
    stop: () =>
      new Promise((resolve) => {
        child.on("close", () => resolve(log));
        child.kill();
      }),
  };
}

function startEleventy(folder: string, { args = [], eleventy }: Pick<SiteSetup, "args" | "eleventy">) {
  const program = join(eleventy ?? join(REPO, "node_modules/@11ty/eleventy"), "cmd.cjs");
  return spawn(process.execPath, ["--import", LOOPBACK_ONLY, program, `--config=${CONFIG}`, ...args], {
    cwd: folder,
    env: { ...process.env, ...ENVIRONMENT },
    timeout: LONGEST_MS,
  });
}

function runEleventy(folder: string, setup: SiteSetup) {
  const child = startEleventy(folder, setup);
  let log = "";
  child.stdout.on("data", (data) => (log += data));
  child.stderr.on("data", (data) => (log += data));
  return new Promise<{ exitCode: number | null; log: string }>((resolve) =>
    child.on("close", (exitCode) => resolve({ exitCode, log })),
  );
}
