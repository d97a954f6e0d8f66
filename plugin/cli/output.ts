// plugin/cli/output.ts: tables and progress on the terminal.
import { sizeText } from "../author/amounts.js";
import { typedHints } from "../author/invocation.js";
import type { Outcome } from "../author/outcome.js";
import type { Terminal } from "./terminal.js";

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

/** Breaks a text into lines, at its spaces and line breaks. */
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
  let shown = "";
  const status = createStatusLine(terminal);
  const show = (line: string) => {
    shown = line;
    status(line);
  };
  return {
    /** Counts bytes as done. */
    add(bytes: number) {
      done += bytes;
      const part = total === 0 ? 1 : Math.min(1, done / total);
      if (terminal.isTerminal.stderr) return show(formatBar(part, total));
      const reached = Math.floor(part * STEPS);
      if (reached > step && total >= SMALL_BYTES) terminal.say(`${reached * STEPS} % of ${sizeText(total)}`);
      step = reached;
    },
    /** Shows lines above the status line. @param write - prints them */
    above(write: () => void): void {
      status("");
      write();
      status(shown);
    },
    /** Removes the status line. */
    end: () => show(""),
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
