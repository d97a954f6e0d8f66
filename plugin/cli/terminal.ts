// plugin/cli/terminal.ts: the one place for input, output, environment, clock and working directory.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { type Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { TwtxtError } from "../errors.js";

/** What a command has of the machine. A test hands in one of its own. */
export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The working directory, absolute. */
  readonly folder: string;
  /** Whether a person reads or types there; a file or a pipe is no terminal. */
  readonly isTerminal: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
  /** How many characters a line of stdout has room for; `null` where it is no terminal. */
  columns(): number | null;
  /** Milliseconds since 1970. */
  now(): number;
  /** Writes a line of data, on stdout. */
  print(line: string): void;
  /** Writes a line of talk, on stderr. */
  say(line: string): void;
  /** Shows a line on stderr that the next one, or what is said next, takes the place of; an empty one is none. */
  showStatus(line: string): void;
  /** Writes data that are no text, on stdout. @throws TwtxtError `bad-file` where they cannot be written */
  write(chunks: AsyncIterable<Uint8Array>): Promise<void>;
  /** All of standard input; `null` where a person sits there. */
  readInput(): Promise<string | null>;
  /** Standard input as it comes. */
  input(): AsyncIterable<Uint8Array>;
  /**
   * Asks a person a question, and reads one line.
   *
   * @returns the line; `null` where the person breaks it off with Ctrl-C or Ctrl-D
   */
  ask(question: string): Promise<string | null>;
  /**
   * Reads lines that a person types without their being shown.
   *
   * @param promptFor - what is asked for next, seeing all lines so far; `null` where they are enough
   * @returns the lines; `null` where the person has broken it off
   */
  readSecret(promptFor: (typed: string) => string | null): Promise<string | null>;
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

/** The standard streams of a terminal. */
export interface Streams {
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean; columns?: number };
  stderr: Writable & { isTTY?: boolean };
}

/** The terminal of this process. */
export function processTerminal(): Terminal {
  let isWriting = false;
  process.stdout.on("error", (error) => {
    if (!isWriting) leave(error);
  });
  const terminal = streamTerminal(process, { environment: process.env, folder: process.cwd() });
  return {
    ...terminal,
    async write(chunks) {
      isWriting = true;
      await terminal.write(chunks);
      isWriting = false;
    },
  };
}

/** A terminal on these streams. */
export function streamTerminal(
  streams: Streams,
  { environment, folder }: Pick<Terminal, "environment" | "folder">,
): Terminal {
  const { stdin, stdout, stderr } = streams;
  return {
    environment,
    folder,
    isTerminal: { stdin: stdin.isTTY === true, stdout: stdout.isTTY === true, stderr: stderr.isTTY === true },
    columns: () => stdout.columns ?? null,
    now: Date.now,
    print: (line) => void stdout.write(`${shownSafely(line)}\n`),
    say: (line) => void stderr.write(`${shownSafely(line)}\n`),
    showStatus: (line) => void stderr.write(`\r\x1b[K${shownSafely(line)}`),
    write: (chunks) => pipeline(chunks, stdout, { end: false }).catch(checkOutput),
    readInput: async () => (stdin.isTTY ? null : text(stdin)),
    input: () => stdin,
    ask: (question) => ask(question, streams),
    readSecret: (promptFor) => readSecret(promptFor, streams),
    open,
    ended,
  };
}

function ended(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve());
  });
}

/** Controls but for tab and line feed, marks and overrides of direction, and line separators that are no line feed. */
const UNSAFE = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * A text as a terminal may have it: what strangers write, and a name of a file, may hold what it takes for a command.
 *
 * @example shownSafely("a\u202eb") // "a\\u202eb", by which a line of JSON stays JSON and means the same
 */
export function shownSafely(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/** The same for what is one line, whatever the name of a file in it. */
export function lineShownSafely(text: string): string {
  return shownSafely(text.replace(/[\t\n]/g, escaped));
}

function escaped(mark: string): string {
  return `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

async function ask(question: string, { stdin, stderr }: Streams): Promise<string | null> {
  const editor = createInterface({ input: stdin, output: stderr, terminal: true, historySize: 0 });
  const lines = editor[Symbol.asyncIterator]();
  editor.setPrompt(shownSafely(question));
  editor.prompt();
  try {
    const { value, done } = await lines.next();
    if (!done) return value;
    stderr.write("\n");
    return null;
  } finally {
    editor.close();
  }
}

/** Node's own line editor keeps Ctrl-C and Backspace working; what it would show goes nowhere. */
async function readSecret(
  promptFor: (typed: string) => string | null,
  { stdin, stderr }: Streams,
): Promise<string | null> {
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const editor = createInterface({ input: stdin, output, terminal: true, historySize: 0 });
  const lines = editor[Symbol.asyncIterator]();
  let typed = "";
  try {
    for (let prompt = promptFor(typed); prompt !== null; prompt = promptFor(typed)) {
      stderr.write(shownSafely(prompt));
      const { value, done } = await lines.next();
      stderr.write("\n");
      if (done) return null;
      typed += `${value}\n`;
    }
    return typed;
  } finally {
    editor.close();
  }
}

/** What was begun is cleared away after it, unlike after {@link leave}. */
function checkOutput(error: NodeJS.ErrnoException): void {
  if (isReaderGone(error)) return;
  throw error.syscall === "write" ? new TwtxtError("bad-file", unwritable(error), { cause: error }) : error;
}

function leave(error: NodeJS.ErrnoException): void {
  if (isReaderGone(error)) process.exit(0);
  process.stderr.write(`eleventy-twtxt: ${unwritable(error)}\n`, () => process.exit(1));
}

/** Who reads us may stop early, as `head` does. */
function isReaderGone(error: NodeJS.ErrnoException): boolean {
  return error.code === "EPIPE";
}

function unwritable(error: NodeJS.ErrnoException): string {
  return `Standard output cannot be written: ${error.message}.`;
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
