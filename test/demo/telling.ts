// test/demo/telling.ts: prints the story of the demo.
import { styleText } from "node:util";

/** Prints a heading of the story. */
export function tell(text: string): void {
  const heading = `== ${text}`;
  console.log(`\n${process.stdout.isTTY ? styleText("bold", heading) : heading}`);
}

export function show(what: string, text: string): void {
  console.log(`\n[${what}]\n${text.trim().replace(/^/gm, "  ")}`);
}

/** Prints that a check passed, or ends the story with an error. */
export function check(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(`Check failed: ${what}.`);
  console.log(`\nChecked: ${what}.`);
}
