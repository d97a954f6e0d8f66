// plugin/cli/progress.ts: shows how far long work is, in one line.
import type { Terminal } from "./terminal.js";

export interface Progress {
  /** Counts bytes as done. */
  add(bytes: number): void;
  /** Makes room for lines above the status line. @param write - prints and says them */
  above(write: () => void): void;
  /** Removes the status line. */
  end(): void;
}

const WIDTH = 24;
/** Without a terminal: a line for each tenth, and none for little work. */
const STEPS = 10;
const SMALL_BYTES = 8 * 2 ** 20;

/** @param total - in bytes */
export function progressOf(terminal: Terminal, total: number): Progress {
  let done = 0;
  let step = 0;
  let shown = "";
  const status = statusOf(terminal);
  const show = (line: string) => {
    shown = line;
    status(line);
  };
  return {
    add(bytes) {
      done += bytes;
      const part = total === 0 ? 1 : Math.min(1, done / total);
      if (terminal.isTerminal.stderr) return show(barOf(part, total));
      const reached = Math.floor(part * STEPS);
      if (reached > step && total >= SMALL_BYTES) terminal.say(`${reached * STEPS} % of ${sizeText(total)}`);
      step = reached;
    },
    above(write) {
      status("");
      write();
      status(shown);
    },
    end: () => show(""),
  };
}

/** Shows a status line on a terminal, when it changes. An empty line removes it. */
export function statusOf({ isTerminal, showStatus }: Terminal): (line: string) => void {
  let shown = "";
  return (line) => {
    if (isTerminal.stderr && line !== shown) showStatus(line);
    shown = line;
  };
}

function barOf(part: number, total: number): string {
  const filled = Math.floor(part * WIDTH);
  const percent = String(Math.floor(part * 100)).padStart(3);
  return `[${"#".repeat(filled)}${" ".repeat(WIDTH - filled)}] ${percent} % of ${sizeText(total)}`;
}

const UNITS = ["KiB", "MiB", "GiB"];

/** @example sizeText(1_300_000) // "1.2 MiB" */
export function sizeText(bytes: number): string {
  let size = bytes;
  let unit = "bytes";
  for (const larger of UNITS) {
    if (size < 1024) break;
    size /= 1024;
    unit = larger;
  }
  return unit === "bytes" ? `${bytes} bytes` : `${size.toFixed(1)} ${unit}`;
}
