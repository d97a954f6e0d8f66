#!/usr/bin/env node
// plugin/cli/main.ts: the command `eleventy-twtxt`.
import { runCommandLine } from "./command-line.js";
import { processTerminal } from "./terminal.js";

void runCommandLine(process.argv.slice(2), processTerminal()).then((exitCode) => {
  // A pending DNS lookup would keep the process alive for half a minute.
  const leave = () => process.exit(exitCode);
  // Errors of stdout are reported after its write callbacks.
  process.stdout.write("", () => process.stderr.write("", () => setImmediate(leave)));
});
