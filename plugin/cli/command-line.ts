// plugin/cli/command-line.ts: the commands: finds one by its name, runs it, and reports errors.
import { misuse, PROGRAM, typedHints, version } from "../author/invocation.js";
import { privateHostAdvice, readPrivateHosts } from "../author/network.js";
import { TwtxtError } from "../errors.js";
import type { Command } from "./command.js";
import { suggestName } from "./options.js";
import { formatTable, type Terminal } from "./terminal.js";

/** Only the module of the command that is called is loaded. */
const COMMANDS = new Map<string, () => Promise<Command>>([
  ["accounts", async () => (await import("./accounts.js")).accounts],
  ["backup", async () => (await import("./backup.js")).backup],
  ["blob", async () => (await import("./blob.js")).blob],
  ["client", async () => (await import("./client.js")).client],
  ["contacts", async () => (await import("./contacts.js")).contacts],
  ["doctor", async () => (await import("./doctor.js")).doctor],
  ["follow", async () => (await import("./follow.js")).follow],
  ["followers", async () => (await import("./follow.js")).followers],
  ["keys", async () => (await import("./keys.js")).keys],
  ["lookup", async () => (await import("./contacts.js")).lookup],
  ["mentions", async () => (await import("./mentions.js")).mentions],
  ["message", async () => (await import("./message.js")).message],
  ["post", async () => (await import("./post.js")).post],
  ["restore", async () => (await import("./backup.js")).restore],
  ["send", async () => (await import("./send.js")).send],
  ["serve", async () => (await import("./serve.js")).serve],
  ["stamp", async () => (await import("./stamp.js")).stamp],
  ["unfollow", async () => (await import("./follow.js")).unfollow],
]);

/**
 * Runs a command line.
 *
 * @param args - without the program's own name
 * @returns the exit code: 0; 1 for a failure; 2 for invalid arguments
 */
export async function runCommandLine(args: string[], terminal: Terminal): Promise<number> {
  try {
    return await dispatch(args, terminal);
  } catch (error) {
    return report(error, terminal);
  }
}

/** Loads all commands, in the order of the help. */
export function allCommands(): Promise<Command[]> {
  return Promise.all([...COMMANDS.values()].map((load) => load()));
}

async function dispatch([first, ...rest]: string[], terminal: Terminal): Promise<number> {
  if (first === undefined) {
    terminal.say(await overview());
    return 2;
  }
  const end = rest.indexOf("--");
  const wantsHelp = rest.slice(0, end < 0 ? rest.length : end).some((arg) => arg === "--help" || arg === "-h");
  if (first === "--version" || first === "-v") terminal.print(version());
  else if (first === "--help" || first === "-h") terminal.print(await overview());
  else if (first === "help") terminal.print(rest[0] ? (await commandNamed(rest[0])).help : await overview());
  else {
    const command = await commandNamed(first);
    if (!wantsHelp) return command.run(rest, terminal);
    terminal.print(command.help);
  }
  return 0;
}

async function commandNamed(name: string): Promise<Command> {
  const load = COMMANDS.get(name);
  if (load) return load();
  if (name.startsWith("-")) throw misuse("", `Options follow the command, but "${name}" comes before it.`);
  const suggestion = suggestName(name, [...COMMANDS.keys(), "help"]);
  throw misuse("", [`There is no command "${name}".`, ...(suggestion === null ? [] : [suggestion])].join(" "));
}

async function overview(): Promise<string> {
  const commands = await allCommands();
  return `Usage: ${PROGRAM} COMMAND [options]

Commands:
${formatTable(commands.map(({ name, summary }) => [`  ${name}`, summary])).join("\n")}

  ${PROGRAM} help COMMAND   prints the help of a command
  ${PROGRAM} --version      prints the version

Example:
  ${PROGRAM} post "Hello from my own site."`;
}

function report(error: unknown, terminal: Terminal): number {
  if (error instanceof TwtxtError) {
    terminal.say(`${PROGRAM}: ${typedHints(error.message)}`);
    const refused = refusedAddress(error);
    if (refused) terminal.say(privateHostAdvice(readPrivateHosts(refused)));
    return error.code === "bad-usage" ? 2 : 1;
  }
  terminal.say(`${PROGRAM}: this is a bug. Please report it to eleventy-plugin-twtxt with these lines:`);
  terminal.say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return 1;
}

/** The `address-refused` behind an error; `null` for none. */
function refusedAddress(error: unknown): TwtxtError | null {
  if (!(error instanceof TwtxtError)) return null;
  return error.code === "address-refused" ? error : refusedAddress(error.cause);
}
