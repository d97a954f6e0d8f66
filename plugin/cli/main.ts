#!/usr/bin/env node
// plugin/cli/main.ts: the command `eleventy-twtxt`.
import { runCommandLine } from "./command-line.js";
import { processTerminal } from "./terminal.js";

void runCommandLine(process.argv.slice(2), processTerminal()).then((exitCode) => {
  // Not process.exit(), which would cut off what stdout has not written yet.
  process.exitCode = exitCode;
});
