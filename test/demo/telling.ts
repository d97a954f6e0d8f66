// test/demo/telling.ts: how the demo tells what happens.
import { styleText } from "node:util";

/** Begins a paragraph of the story. */
export function tell(text: string): void {
  const heading = `== ${text}`;
  console.log(`\n${process.stdout.isTTY ? styleText("bold", heading) : heading}`);
}

export function show(what: string, text: string): void {
  console.log(`\n[${what}]\n${text.trim().replace(/^/gm, "  ")}`);
}

/** Ends the story where it goes otherwise. */
export function check(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(`It is not so: ${what}.`);
  console.log(`\nIt is so: ${what}.`);
}
