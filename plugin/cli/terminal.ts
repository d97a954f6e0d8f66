// plugin/cli/terminal.ts: input and output of commands: the streams, tables and progress; environment, clock and working directory.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { type Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { sizeText } from "../author/amounts.js";
import { PROGRAM, typedHints } from "../author/invocation.js";
import type { Machine } from "../author/machine.js";
import type { Outcome } from "../author/outcome.js";
import { TwtxtError } from "../errors.js";
import { type Sleep, sleep } from "../store/retry.js";

/** The machine with a terminal. {@link Machine.say} writes on stderr. */
export interface Terminal extends Machine {
  /** Whether each stream is a terminal, and not a file or a pipe. */
  readonly isTerminal: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
  readonly sleep: Sleep;
  /** The width of stdout in characters; `null` if it is not a terminal. */
  columns(): number | null;
  /** Writes a line of data, on stdout. */
  print(line: string): void;
  /** Shows a status line on stderr, which the next line replaces; an empty one removes it. */
  showStatus(line: string): void;
  /** Writes binary data, on stdout. @throws TwtxtError `bad-file` if they cannot be written */
  write(chunks: AsyncIterable<Uint8Array>): Promise<void>;
  /** All of standard input; `null` if it is a terminal. */
  readInput(): Promise<string | null>;
  input(): AsyncIterable<Uint8Array>;
  /**
   * Asks a question, and reads one line.
   *
   * @returns the line; `null` after Ctrl-C or Ctrl-D
   */
  ask(question: string): Promise<string | null>;
  /**
   * Reads typed lines without echoing them.
   *
   * @param promptFor - the next prompt for the lines so far; `null` ends the input
   * @returns the lines; `null` after Ctrl-C or Ctrl-D
   */
  readSecret(promptFor: (typed: string) => string | null): Promise<string | null>;
  /**
   * Runs a program in the foreground, on a file.
   *
   * @param command - a program, perhaps with arguments, like the value of $EDITOR
   * @returns its exit code
   */
  open(command: string, file: string): Promise<number>;
}

export interface Streams {
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean; columns?: number };
  stderr: Writable & { isTTY?: boolean };
}

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
    sleep,
    print: (line) => void stdout.write(`${shownSafely(line)}\n`),
    say: (line) => void stderr.write(`${shownSafely(line)}\n`),
    showStatus: (line) => void stderr.write(`\r\x1b[K${shownSafely(line)}`),
    // Unlike {@link leave}, allows the command to clean up.
    write: (chunks) =>
      pipeline(chunks, stdout, { end: false }).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "EPIPE") return;
        throw error.syscall === "write" ? new TwtxtError("bad-file", unwritable(error), { cause: error }) : error;
      }),
    readInput: async () => (stdin.isTTY ? null : text(stdin)),
    input: () => stdin,
    ask: async (question) => {
      const typed = await readLines((line) => (line === "" ? question : null), streams, false);
      return typed?.slice(0, -1) ?? null;
    },
    readSecret: (promptFor) => readLines(promptFor, streams, true),
    open,
    ended: () =>
      new Promise((resolve) => {
        for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve());
      }),
  };
}

/** Whether questions reach the author, and answers the command. */
export function canAsk({ isTerminal }: Pick<Terminal, "isTerminal">): boolean {
  return isTerminal.stdin && isTerminal.stderr;
}

/** Asks a question whose answer is no unless the author types yes. */
export async function isConfirmed(question: string, { ask }: Pick<Terminal, "ask">): Promise<boolean> {
  return /^\s*y(es)?\s*$/i.test((await ask(`${question} [y/N] `)) ?? "");
}

/** Control characters except tab and line feed, direction marks and overrides, and other line separators. */
const UNSAFE = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Escapes control characters, which texts of strangers and file names may contain.
 *
 * @example shownSafely("a\u202eb") // "a\\u202eb": a line of JSON stays JSON and means the same
 */
export function shownSafely(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/** The same for one line with a file name in it. */
export function lineShownSafely(text: string): string {
  return shownSafely(text.replace(/[\t\n]/g, escaped));
}

function escaped(mark: string): string {
  return `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/**
 * Reads lines with Node's line editor, which handles Ctrl-C and Backspace.
 *
 * @param isSecret - whether to discard what the editor shows
 */
async function readLines(
  promptFor: (typed: string) => string | null,
  { stdin, stderr }: Streams,
  isSecret: boolean,
): Promise<string | null> {
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() });
  const output = isSecret ? hidden : stderr;
  const editor = createInterface({ input: stdin, output, terminal: true, historySize: 0 });
  const lines = editor[Symbol.asyncIterator]();
  let typed = "";
  try {
    for (let prompt = promptFor(typed); prompt !== null; prompt = promptFor(typed)) {
      if (isSecret) stderr.write(shownSafely(prompt));
      editor.setPrompt(shownSafely(prompt));
      editor.prompt();
      const { value, done } = await lines.next();
      if (isSecret || done) stderr.write("\n");
      if (done) return null;
      typed += `${value}\n`;
    }
    return typed;
  } finally {
    editor.close();
  }
}

/** EPIPE: the reader closed the pipe, as head(1) does. */
function leave(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit(0);
  process.stderr.write(`${PROGRAM}: ${unwritable(error)}\n`, () => process.exit(1));
}

function unwritable(error: NodeJS.ErrnoException): string {
  return `Standard output cannot be written: ${error.message}.`;
}

/** Uses a shell, as git does, because $EDITOR may contain arguments and quotes. The file name is never part of the script. */
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

/** From Hangul on, most characters take two columns. */
const FIRST_WIDE = 0x1100;
const TAB = 8;

/**
 * Aligns the columns of a table, two spaces between them.
 *
 * @example formatTable([["a", "x"], ["bcd", "y"]]) // ["a    x", "bcd  y"]
 */
export function formatTable(rows: readonly (readonly string[])[]): string[] {
  return alignedRows(rows).map((row) => row.trimEnd());
}

/**
 * As {@link formatTable}, with the last column padded too.
 *
 * @param widest - the maximum width of a column; a wider cell, such as a long name of a stranger, overflows
 */
export function alignedRows(rows: readonly (readonly string[])[], widest = Number.POSITIVE_INFINITY): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.min(widest, Math.max(...rows.map((row) => measureWidth(row[column] ?? "")))),
  );
  return rows.map((row) => row.map((cell, column) => padded(cell, widths[column] ?? 0)).join("  "));
}

export function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - measureWidth(text)));
}

/** The width of a text in columns, or a few more, because combining marks count too. */
export function measureWidth(text: string): number {
  let width = 0;
  for (const character of text) {
    width += character === "\t" ? TAB : (character.codePointAt(0) ?? 0) >= FIRST_WIDE ? 2 : 1;
  }
  return width;
}

/** Prints data: as JSON with `--json`, else as lines. */
export function printData(
  data: unknown,
  lines: readonly string[],
  { json }: { json: boolean },
  { print }: Pick<Terminal, "print">,
): void {
  for (const line of json ? [JSON.stringify(data, null, 2)] : lines) print(line);
}

/** Tells the result of an action. @returns the exit code */
export function reportOutcome({ text, isFailure = false }: Outcome, { say }: Pick<Terminal, "say">): number {
  say(typedHints(text));
  return isFailure ? 1 : 0;
}

export function wrapLines(columns: number, text: string): string[] {
  return text.split("\n").flatMap((line) => breakLine(columns, line).map((part) => part.trimEnd()));
}

/** @param byWords - whether to break a line after its last space, if it has one */
export function breakLine(room: number, line: string, byWords = true): string[] {
  const parts: string[] = [];
  let part = "";
  let width = 0;
  for (const character of line) {
    const added = measureWidth(character);
    // A space at the end may be outside.
    if (width + added > room && !(character === " " && width === room)) {
      const end = byWords ? part.lastIndexOf(" ") + 1 || part.length : part.length;
      parts.push(part.slice(0, end));
      part = part.slice(end);
      width = measureWidth(part);
    }
    part += character;
    width += added;
  }
  return [...parts, part];
}

export type Progress = ReturnType<typeof createProgress>;

const WIDTH = 24;
/** Without a terminal: a line for each tenth, but none for small sizes. */
const STEPS = 10;
const SMALL_BYTES = 8 * 2 ** 20;

/** @param total - in bytes */
export function createProgress(terminal: Terminal, total: number) {
  let done = 0;
  let step = 0;
  const status = createStatusLine(terminal);
  const readPart = () => (total === 0 ? 1 : Math.min(1, done / total));
  return {
    /** Counts bytes as done. */
    add(bytes: number) {
      done += bytes;
      if (terminal.isTerminal.stderr) return status(formatBar(readPart(), total));
      const reached = Math.floor(readPart() * STEPS);
      if (reached > step && total >= SMALL_BYTES) terminal.say(`${reached * STEPS} % of ${sizeText(total)}`);
      step = reached;
    },
    /** Shows lines above the status line. @param write - prints them */
    above(write: () => void): void {
      status("");
      write();
      if (done > 0) status(formatBar(readPart(), total));
    },
    end: () => status(""),
  };
}

/** Shows a status line on a terminal if it has changed. An empty line removes it. */
export function createStatusLine({ isTerminal, showStatus }: Terminal): (line: string) => void {
  let shown = "";
  return (line) => {
    if (isTerminal.stderr && line !== shown) showStatus(line);
    shown = line;
  };
}

function formatBar(part: number, total: number): string {
  const filled = Math.floor(part * WIDTH);
  const percent = String(Math.floor(part * 100)).padStart(3);
  return `[${"#".repeat(filled)}${" ".repeat(WIDTH - filled)}] ${percent} % of ${sizeText(total)}`;
}
