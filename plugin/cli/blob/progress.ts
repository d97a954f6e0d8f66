// plugin/cli/blob/progress.ts: how far it is, in one line for all files.
import type { Terminal } from "../terminal.js";
import { sizeText } from "./shown.js";

export interface Progress {
  /** So many bytes more have gone by. */
  add(bytes: number): void;
  /** Makes room for lines above it. @param tell - prints and says them */
  above(tell: () => void): void;
  /** Takes the line away. */
  end(): void;
}

const WIDTH = 24;
/** Where nobody looks on: a line at each tenth, and none for what is small. */
const STEPS = 10;
const SMALL_BYTES = 8 * 2 ** 20;

/** @param total - bytes that will go by */
export function progressOf(terminal: Terminal, total: number): Progress {
  let done = 0;
  let shown = "";
  let step = 0;
  const { isTerminal, say, showStatus } = terminal;

  const show = (line: string) => {
    if (line !== shown) showStatus(line);
    shown = line;
  };

  return {
    add(bytes) {
      done += bytes;
      const part = total === 0 ? 1 : Math.min(1, done / total);
      if (isTerminal.stderr) return show(barOf(part, total));
      const reached = Math.floor(part * STEPS);
      if (reached > step && total >= SMALL_BYTES) say(`${reached * STEPS} % of ${sizeText(total)}`);
      step = reached;
    },
    above(tell) {
      const before = shown;
      if (isTerminal.stderr) show("");
      tell();
      if (isTerminal.stderr) show(before);
    },
    end() {
      if (isTerminal.stderr) show("");
    },
  };
}

function barOf(part: number, total: number): string {
  const filled = Math.floor(part * WIDTH);
  const percent = String(Math.floor(part * 100)).padStart(3);
  return `[${"#".repeat(filled)}${" ".repeat(WIDTH - filled)}] ${percent} % of ${sizeText(total)}`;
}
