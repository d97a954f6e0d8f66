// plugin/author/notes/git.ts: runs git on the author's machine.
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { TwtxtError } from "../../errors.js";
import type { Machine } from "../machine.js";

/** How much of the output is passed on; the rest is cut, because the server of a remote can send any amount. */
const MAX_OUTPUT = 64 * 1024;
/** For a remote or a hook that never ends. */
const MAX_MS = 5 * 60_000;

export interface GitRun {
  /** Called with each line of the output as it comes, without its end. */
  onOutput?: ((line: string) => void) | undefined;
  /** Ends the command, and with it the programs that it started. */
  signal?: AbortSignal | undefined;
}

interface GitResult {
  exitCode: number;
  /** Standard output, without the line end after it. */
  stdout: string;
  /** Both streams in the order in which they came. */
  output: string;
}

/** Runs git in a folder. Nothing can be typed into it: a command that would ask for a password fails instead. */
export type Git = (args: readonly string[], run?: GitRun) => Promise<GitResult>;

/**
 * @param folder - absolute
 * @returns a function that throws TwtxtError `not-published` if git is not installed, or does not end
 */
export function openGit(folder: string, { environment }: Pick<Machine, "environment">): Git {
  const env = {
    ...environment,
    GIT_TERMINAL_PROMPT: "0",
    GIT_LITERAL_PATHSPECS: "1",
    // Messages in English. LC_ALL would change the encoding of hooks, too.
    LANGUAGE: "en",
  };
  return async (args, { onOutput = () => {}, signal } = {}) => {
    // In a session of its own, ssh has no terminal to ask on, and hooks can be ended with git.
    const child = spawn("git", [...args], { cwd: folder, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    const collected = readOutput(child, onOutput);
    const end = () => endGroup(child.pid);
    const timer = setTimeout(end, MAX_MS);
    signal?.addEventListener("abort", end, { once: true });
    try {
      const [exitCode = null]: (number | null)[] = await once(child, "close").catch((error: Error) => {
        throw notStarted(error, folder);
      });
      if (exitCode === null) throw new TwtxtError("not-published", `git ${args[0]} was ended before it was done.`);
      return { exitCode, ...collected, stdout: collected.stdout.replace(/\r?\n$/, "") };
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
    }
  };
}

/** Passes each line of output on as it comes. @returns what has come so far */
function readOutput({ stdout, stderr }: Record<"stdout" | "stderr", Readable>, onLine: (line: string) => void) {
  const collected = { stdout: "", output: "" };
  for (const stream of [stdout, stderr]) {
    let unfinished = "";
    stream.setEncoding("utf8").on("data", (text: string) => {
      const part = text.slice(0, Math.max(0, MAX_OUTPUT - collected.output.length));
      collected.output += part;
      if (stream === stdout) collected.stdout += part;
      const lines = (unfinished + part).split("\n");
      unfinished = lines.pop() ?? "";
      for (const line of lines) onLine(line);
    });
    stream.on("end", () => {
      if (unfinished !== "") onLine(unfinished);
    });
  }
  return collected;
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid);
  } catch (error) {
    // ESRCH: it has just ended. Windows has no groups of processes.
    if (Object(error).code !== "ESRCH") process.kill(pid);
  }
}

function notStarted(error: Error, folder: string): TwtxtError {
  const why =
    Object(error).code === "ENOENT"
      ? "git is not installed, or not in your PATH. Install it from https://git-scm.com, or publish the way you deploy your site."
      : `git cannot be run in ${folder}: ${error.message}.`;
  return new TwtxtError("not-published", why, { cause: error });
}
