// test/demo/process.ts: runs and ends the programs of the demo.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { freePort } from "../helpers/ports.js";

/** A running program. */
export interface Running {
  /** Its output. */
  printed(): string;
  /** Ends it, and waits for its exit. */
  end(): Promise<void>;
}

const running = new Set<Running>();

/** Runs a Node.js program to its end, and prints its output unless it is quiet. @returns its standard output */
export async function run(
  args: string[],
  folder: string,
  environment: Record<string, string>,
  isQuiet = false,
): Promise<string> {
  const child = spawn(process.execPath, args, { cwd: folder, env: { ...process.env, ...environment } });
  let data = "";
  child.stdout.on("data", (text) => {
    data += text;
    if (!isQuiet) process.stdout.write(text);
  });
  if (!isQuiet) child.stderr.pipe(process.stdout, { end: false });
  const code = await new Promise((resolve) => child.on("close", resolve));
  if (code !== 0) throw new Error(`It ended with exit code ${code}.`);
  return data;
}

/** Waits until a program prints that it is ready. */
export async function start(child: ChildProcessWithoutNullStreams, prefix: string, isUp: RegExp): Promise<Running> {
  let printed = "";
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (text) => {
      printed += text;
      process.stdout.write(String(text).replace(/^(?=.)/gm, prefix));
    });
  }
  const program: Running = {
    printed: () => printed,
    async end() {
      running.delete(program);
      child.kill("SIGTERM");
      await ended;
    },
  };
  running.add(program);
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  await until(`${prefix}is up`, async () => {
    if (isOver) throw new Error(`It ended unexpectedly:\n${printed}`);
    return isUp.test(printed);
  });
  return program;
}

/** Resolves at Ctrl-C or another signal to end. The servers get the same signal, and shut down cleanly. */
export function ctrlC(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {}, 60_000);
    const end = () => {
      clearInterval(timer);
      resolve();
    };
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, end);
  });
}

/** Ends all running programs. */
export async function endAll(): Promise<void> {
  await Promise.all([...running].map((program) => program.end()));
}

/** Waits for a condition, at most two minutes. */
export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 120_000;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`Timeout after two minutes: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Free ports. */
export function freePorts(count: number): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, freePort));
}
