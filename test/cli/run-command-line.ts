// test/cli/run-command-line.ts: runs the command line in this process, which can connect only to this machine in the meantime.
import { runCommandLine as run } from "../../plugin/cli/command-line.js";
import { refuseStrangers } from "../helpers/loopback-sockets.mjs";

export async function runCommandLine(...parameters: Parameters<typeof run>): ReturnType<typeof run> {
  const allowStrangers = refuseStrangers();
  try {
    return await run(...parameters);
  } finally {
    allowStrangers();
  }
}
