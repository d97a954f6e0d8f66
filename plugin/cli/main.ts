#!/usr/bin/env node
// plugin/cli/main.ts: the command `eleventy-twtxt`.
import { runCommandLine } from "./command-line.js";
import { processTerminal } from "./terminal.js";

void runCommandLine(process.argv.slice(2), processTerminal()).then((exitCode) => {
  // Once all is written. A name that nobody resolves would keep the process for half a minute.
  const leave = () => process.exit(exitCode);
  // That stdout has failed is told after its callbacks.
  process.stdout.write("", () => process.stderr.write("", () => setImmediate(leave)));
});
