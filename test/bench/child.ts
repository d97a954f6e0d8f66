// test/bench/child.ts: child processes that end with the benchmark.
import { spawn } from "node:child_process";

export interface ChildOptions {
  cwd?: string;
  env?: Record<string, string>;
  /** Ends the process at once. */
  stop: AbortSignal;
}

/**
 * Ends a process or a browser if the benchmark is stopped.
 *
 * @returns a function that ends it now. Each row calls it, because all rows share the signal and its limit of listeners
 */
export function endOnStop<Ended>(stop: AbortSignal, end: () => Ended): () => Ended {
  stop.addEventListener("abort", end);
  return () => {
    stop.removeEventListener("abort", end);
    return end();
  };
}

/** The time limit of a process; none takes nearly as long. */
const LONGEST = 15 * 60_000;

/**
 * Runs Node.
 *
 * @returns the standard output, and the wall time in milliseconds
 * @throws Error with the output, if the process fails
 */
export function runNode(args: string[], { cwd, env, stop }: ChildOptions): Promise<{ output: string; wall: number }> {
  return new Promise((resolve, reject) => {
    if (stop.aborted) return reject(new Error("stopped"));
    const start = performance.now();
    const child = spawn(process.execPath, args, {
      cwd,
      env: { ...process.env, ...env },
      timeout: LONGEST,
      killSignal: "SIGKILL",
    });
    const end = endOnStop(stop, () => child.kill("SIGKILL"));
    let output = "";
    let complaints = "";
    child.stdout.on("data", (data) => (output += data));
    child.stderr.on("data", (data) => (complaints += data));
    child.on("error", reject);
    child.on("close", (code) => {
      end();
      if (code === 0) resolve({ output, wall: performance.now() - start });
      else reject(new Error(stop.aborted ? "stopped" : `node ${args.join(" ")} failed:\n${output}${complaints}`));
    });
  });
}

/** A running server. */
export interface Child {
  port: number;
  pid: number;
  end(): void;
}

/**
 * Starts a server in its own process, so that its work is not measured as ours. It sends its port as a message, and ends
 * when it is disconnected.
 */
export function startServer(args: string[], stop: AbortSignal): Promise<Child> {
  return new Promise((resolve, reject) => {
    if (stop.aborted) return reject(new Error("stopped"));
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
    const end = endOnStop(stop, () => void child.kill("SIGKILL"));
    child.on("error", reject);
    child.on("exit", () => reject(new Error(stop.aborted ? "stopped" : `node ${args.join(" ")} ended.`)));
    child.on("message", (port) => resolve({ port: Number(port), pid: Number(child.pid), end }));
  });
}
