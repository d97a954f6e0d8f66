// test/cli/server.ts: `eleventy-twtxt serve`, in this process or in a separate one.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { expect, vi } from "vitest";
import { type HostSettings, type PublishedSite, parsePublishedSite, type SitePages } from "../../plugin/site/site.js";
import { WriteThread } from "../../plugin/store/write-thread.js";
import { hostFile } from "../helpers/built-site.js";
import { afterEach } from "../helpers/hooks.js";
import { COMMAND, LOOPBACK_ONLY } from "../helpers/paths.js";
import { PAGES, settingsOf } from "../helpers/receiver.js";
import { type Blog, blog, dataEnvironment, longCommand, type RunningCommand } from "./helpers.js";

export { freePort } from "../helpers/ports.js";

const running: RunningCommand[] = [];
const children: ChildProcessWithoutNullStreams[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await Promise.all(running.splice(0).map((command) => command.end()));
  vi.mocked(WriteThread.prototype.commit).mockRestore?.();
});

export interface Server {
  url: string;
  /** Its output so far. */
  output(): string;
  /** Ends it as SIGTERM does. @returns its exit code */
  end(): Promise<number | null>;
}

export interface ServerProcess extends Server {
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Alice's site after a build. Her feed cannot be reached, so nothing is sent. */
export function site(settings: Partial<HostSettings> = {}, pages: SitePages = PAGES): Blog {
  const host = { ...settingsOf({}), ...settings };
  return blog(host, {
    ...hostFile({ settings: host, pages }),
    ".eleventy-twtxt/published/twtxt.txt": "# nick = alice\n",
    "_site/index.html": "home",
    "package.json": "{}",
  });
}

/** Changes the files of the last production build, as the next build does. */
export function rebuild(blog: Pick<Blog, "read" | "write">, change: (site: PublishedSite) => PublishedSite): void {
  const changed = change(parsePublishedSite(blog.read(".eleventy-twtxt/host.json")));
  for (const [path, content] of Object.entries(hostFile(changed))) blog.write(path, content);
}

/**
 * Runs `eleventy-twtxt serve ARGS` in this process. It commits in the main thread, as when no thread can be started: a thread
 * would take two thirds of the processor time of a short test.
 */
export async function serve(
  { folder }: Pick<Blog, "folder">,
  args: string[] = [],
  environment: Record<string, string> = {},
): Promise<Server> {
  vi.spyOn(WriteThread.prototype, "commit").mockRejectedValue({ code: "MODULE_NOT_FOUND" });
  const command = longCommand(folder, ["serve", "--port", "0", ...args], { environment });
  running.push(command);
  const output = () => command.printed.stdout + command.printed.stderr;
  return { url: await urlIn(output), output, end: command.end };
}

interface ProcessSetup {
  /** The limit of file descriptors of the process. */
  maxFiles?: number;
  /** A program with arguments that runs the command. */
  within?: string[];
  environment?: Record<string, string>;
  /** The file of the command; default: the compiled one. */
  command?: string;
  /** Modules that the process loads first. */
  imports?: readonly string[];
}

/**
 * Runs `eleventy-twtxt serve ARGS` in a separate process, which can connect only to this machine.
 */
export async function serveProcess(
  { folder }: Pick<Blog, "folder">,
  args: string[] = [],
  { maxFiles, within = [], environment, command = COMMAND, imports = [] }: ProcessSetup = {},
): Promise<ServerProcess> {
  const first = [LOOPBACK_ONLY, ...imports].flatMap((module) => ["--import", module]);
  const words = [...within, process.execPath, ...first, command, "serve", "--port", "0", ...args];
  const limited =
    maxFiles === undefined ? words : ["sh", "-c", 'ulimit -n "$0"; exec "$@"', String(maxFiles), ...words];
  return serveCommand(limited, { folder, environment: { ...dataEnvironment(folder), ...environment } });
}

/** Runs a command that becomes `eleventy-twtxt serve`. */
export async function serveCommand(
  [program = "", ...args]: readonly string[],
  { folder, environment }: { folder: string; environment: Record<string, string> },
): Promise<ServerProcess> {
  const child = spawn(program, args, { cwd: folder, env: { ...process.env, ...environment } });
  children.push(child);
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (data) => {
      printed += data;
    });
  }
  const output = () => printed;
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  return {
    url: await urlIn(output),
    output,
    end(signal = "SIGTERM") {
      child.kill(signal);
      return ended;
    },
  };
}

/** Waits until a server prints the URL of its feed, maybe after that of the site whose private hosts it remembers. */
async function urlIn(output: () => string): Promise<string> {
  const url = /http:\/\/[^/\s]+(?=\/\S*twtxt\.txt)/;
  await expect.poll(output).toMatch(url);
  return url.exec(output())?.[0] ?? "";
}
