// plugin/cli/terminal.ts: the one place for input, output, environment, clock and working directory.
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

/** What a command has of the machine. A test hands in one of its own. */
export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The working directory, absolute. */
  readonly folder: string;
  /** Milliseconds since 1970. */
  now(): number;
  /** Writes a line of data, on stdout. */
  print(line: string): void;
  /** Writes a line of talk, on stderr. */
  say(line: string): void;
  /** All of standard input; `null` where a person sits there. */
  readInput(): Promise<string | null>;
  /**
   * Runs a program in the foreground, on a file.
   *
   * @param command - as in $EDITOR: a program, perhaps with arguments
   * @returns its exit code
   */
  open(command: string, file: string): Promise<number>;
  /** Fulfilled when somebody wants the program to end: SIGTERM, or Ctrl-C. A second time ends it at once. */
  ended(): Promise<void>;
}

/** The terminal of this process. */
export function processTerminal(): Terminal {
  process.stdout.on("error", leaveQuietly);
  return {
    environment: process.env,
    folder: process.cwd(),
    now: Date.now,
    print: (line) => void process.stdout.write(`${shown(line)}\n`),
    say: (line) => void process.stderr.write(`${shown(line)}\n`),
    readInput: async () => (process.stdin.isTTY ? null : text(process.stdin)),
    open,
    ended,
  };
}

function ended(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve());
  });
}

/** A name of a file may hold what a terminal takes for a command. */
function shown(line: string): string {
  return line.replace(
    /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g,
    (control) => `\\x${control.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
}

/** Who reads us may stop early, as `head` does. */
function leaveQuietly(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
}

/** By a shell, as git does it, since $EDITOR may hold arguments and quotes; the file is never part of the shell's text. */
function open(command: string, file: string): Promise<number> {
  const isWindows = process.platform === "win32";
  const child = isWindows
    ? spawn(`${command} "${file}"`, { shell: true, stdio: "inherit" })
    : spawn("/bin/sh", ["-c", `${command} "$@"`, command, file], { stdio: "inherit" });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exitCode) => resolve(exitCode ?? 1));
  });
}
