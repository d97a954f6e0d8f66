#!/usr/bin/env node
// plugin/cli/main.ts: the command `eleventy-twtxt`.
import { runCommandLine } from "./command-line.js";
import { processTerminal } from "./terminal.js";

void runCommandLine(process.argv.slice(2), processTerminal()).then((exitCode) => {
  // Once all is written. A name that nobody resolves would keep the process for half a minute.
  process.stdout.write("", () => process.stderr.write("", () => process.exit(exitCode)));
});
