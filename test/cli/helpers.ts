// test/cli/helpers.ts: runs the command in a folder with the files of a build.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable, Writable } from "node:stream";
import { streamTerminal, type Terminal } from "../../plugin/cli/terminal.js";
import type { SiteSettings } from "../../plugin/site/site.js";
import { sleep } from "../../plugin/store/retry.js";
import { builtSite, settingsFile } from "../helpers/built-site.js";
import { afterAll } from "../helpers/hooks.js";
import { LONGEST_MS } from "../helpers/longest.js";
import { COMMAND } from "../helpers/paths.js";
import { runCommandLine } from "./run-command-line.js";

const folders: string[] = [];

afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

export interface Blog {
  folder: string;
  read(path: string): string;
  write(path: string, content: string | Uint8Array): void;
  list(path: string): string[];
}

const SETTINGS: SiteSettings = {
  ...builtSite("https://alice.example", { host: "static" }).settings,
  notes: { folders: ["./notes"], hasAny: true, like: null, tags: ["posts"], layout: null },
};

/** A folder after a build; `settings` is `null` for a folder without a build. */
export function blog(settings: Partial<SiteSettings> | null, files: Record<string, string> = {}): Blog {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "twtxt-cli-")));
  folders.push(folder);
  const made: Blog = {
    folder,
    read: (path) => readFileSync(join(folder, path), "utf8"),
    write: (path, content) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    },
    list: (path) => readdirSync(join(folder, path)).sort(),
  };
  const left = settings && settingsFile({ ...SETTINGS, ...settings });
  for (const [path, content] of Object.entries({ ...left, ...files })) made.write(path, content);
  return made;
}

/** A blog with posts without a time, as the build lists them. */
export function undatedBlog(
  files: Record<string, string>,
  timestamp: string | null = "2026-01-02T00:13:37Z",
  timeZone = "UTC",
): Blog {
  return blog({ timeZone, unstamped: Object.keys(files).map((path) => ({ file: `./${path}`, timestamp })) }, files);
}

export interface Outcome {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

/** Environment variables that put the data folder into a folder of the test. */
export function dataEnvironment(folder: string): Record<string, string> {
  return { XDG_DATA_HOME: join(folder, "data") };
}

/** The folder of a site's data with {@link dataEnvironment}, relative to the test's folder. */
export const ALICES_DATA = "data/eleventy-twtxt/sites/alice.example/store";

interface CommandOptions {
  /** All of standard input. */
  input?: string;
  environment?: Record<string, string>;
}

/** Runs `eleventy-twtxt ARGS` in this process. */
export async function command(folder: string, args: string[], circumstances: CommandOptions = {}): Promise<Outcome> {
  const { terminal, printed } = printingTerminal(folder, circumstances);
  const exitCode = await runCommandLine(args, terminal);
  return { exitCode, ...printed };
}

/** Runs a command in this process until `end` is called. @param given - parts of the terminal to replace */
export function longCommand(
  folder: string,
  args: string[],
  circumstances: CommandOptions = {},
  given: Partial<Terminal> = {},
): RunningCommand {
  const { terminal, printed } = printingTerminal(folder, circumstances);
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const exitCode = runCommandLine(args, { ...terminal, ...given, ended: () => ended });
  return {
    printed,
    exitCode,
    end() {
      end();
      return exitCode;
    },
  };
}

/** A running command, and its output so far. */
export interface RunningCommand {
  printed: Pick<Outcome, "stdout" | "stderr">;
  exitCode: Promise<number>;
  /** Ends it as Ctrl-C and SIGTERM do. @returns its exit code */
  end(): Promise<number>;
}

function printingTerminal(folder: string, { input = "", environment = {} }: CommandOptions) {
  const printed = { stdout: "", stderr: "" };
  const stream = (name: keyof typeof printed) =>
    new Writable({
      write(chunk, _encoding, done) {
        printed[name] += chunk;
        done();
      },
    });
  const terminal = streamTerminal(
    { stdin: Readable.from([Buffer.from(input)]), stdout: stream("stdout"), stderr: stream("stderr") },
    { environment: environmentIn(folder, environment), folder },
  );
  return { terminal, printed };
}

function environmentIn(folder: string, given: Record<string, string>) {
  return { ...process.env, ...dataEnvironment(folder), VISUAL: "", EDITOR: "", ...given };
}

/** Runs `eleventy-twtxt ARGS` in a separate process. */
export function commandProcess(
  folder: string,
  args: string[],
  { input = "", environment = {} }: CommandOptions = {},
): Promise<Outcome> {
  const env = environmentIn(folder, environment);
  const child = spawn(process.execPath, [COMMAND, ...args], { cwd: folder, env, timeout: LONGEST_MS });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (data) => {
    stdout += data;
  });
  child.stderr.on("data", (data) => {
    stderr += data;
  });
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  return new Promise((resolve) => child.on("close", (exitCode) => resolve({ exitCode, stdout, stderr })));
}

/** A terminal with a fixed clock, for what cannot be tested with a process. */
export function testTerminal(
  folder: string,
  now: string,
  input: string | null = null,
  isSeen = false,
): Terminal & { stdout: string[]; stderr: string[] } {
  const stdout: string[] = [];
  const stderr: string[] = [];
  return {
    stdout,
    stderr,
    environment: { HOME: folder },
    folder,
    isTerminal: { stdin: isSeen, stdout: isSeen, stderr: isSeen },
    columns: () => (isSeen ? 80 : null),
    now: () => Date.parse(now),
    sleep,
    print: (line) => void stdout.push(line),
    say: (line) => void stderr.push(line),
    showStatus: () => {},
    write: async () => {},
    readInput: async () => input,
    input: async function* () {
      yield Buffer.from(input ?? "");
    },
    ask: async () => null,
    readSecret: async () => null,
    open: async () => 0,
    ended: async () => {},
  };
}
