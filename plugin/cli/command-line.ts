// plugin/cli/command-line.ts: finds the command that is called, runs it, and says what went wrong.
import { TwtxtError } from "../errors.js";
import { FOR_PRIVATE_HOSTS } from "./allowed-hosts.js";
import { type Command, misuse, nearestOf } from "./command.js";
import { PROGRAM } from "./invocation.js";
import type { Terminal } from "./terminal.js";
import { version } from "./version.js";

/** Each command is loaded when it is called, so that a small one stays quick. */
const COMMANDS = new Map<string, () => Promise<Command>>([
  ["backup", () => import("./backup.js")],
  ["blob", () => import("./blob.js")],
  ["contacts", () => import("./contacts.js")],
  ["doctor", () => import("./doctor.js")],
  ["keys", () => import("./keys.js")],
  ["lookup", () => import("./lookup.js")],
  ["mentions", () => import("./mentions.js")],
  ["message", () => import("./message.js")],
  ["post", () => import("./post.js")],
  ["restore", () => import("./restore.js")],
  ["send", () => import("./send.js")],
  ["serve", () => import("./serve.js")],
  ["stamp", () => import("./stamp.js")],
]);

/**
 * Runs a command line.
 *
 * @param args - without the program's own name
 * @returns the exit code: 0; 1 where something failed; 2 where the arguments cannot be meant
 */
export async function runCommandLine(args: string[], terminal: Terminal): Promise<number> {
  try {
    return await dispatch(args, terminal);
  } catch (error) {
    return report(error, terminal);
  }
}

async function dispatch([first, ...rest]: string[], terminal: Terminal): Promise<number> {
  if (first === undefined) {
    terminal.say(await overview());
    return 2;
  }
  if (first === "--version" || first === "-v") terminal.print(version());
  else if (first === "--help" || first === "-h") terminal.print(await overview());
  else if (first === "help")
    terminal.print(rest[0] === undefined ? await overview() : (await commandNamed(rest[0])).help);
  else {
    const command = await commandNamed(first);
    if (!asksForHelp(rest)) return command.run(rest, terminal);
    terminal.print(command.help);
  }
  return 0;
}

async function commandNamed(name: string): Promise<Command> {
  const load = COMMANDS.get(name);
  if (load) return load();
  if (name.startsWith("-")) throw misuse(`"${name}" stands before a command; options go behind it.`);
  const nearest = nearestOf(name, [...COMMANDS.keys(), "help"]);
  throw misuse(`There is no command "${name}".${nearest ? ` Did you mean "${nearest}"?` : ""}`);
}

function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return args.slice(0, end < 0 ? args.length : end).some((arg) => arg === "--help" || arg === "-h");
}

async function overview(): Promise<string> {
  const commands = await Promise.all([...COMMANDS.values()].map((load) => load()));
  const width = Math.max(...commands.map(({ name }) => name.length));
  return `Usage: ${PROGRAM} COMMAND [options]

Commands:
${commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`).join("\n")}

  ${PROGRAM} help COMMAND   tells more of one
  ${PROGRAM} --version      prints the version

Example:
  ${PROGRAM} post "Hello from my own site."`;
}

function report(error: unknown, terminal: Terminal): number {
  if (error instanceof TwtxtError) {
    terminal.say(`${PROGRAM}: ${error.message}`);
    if (isRefusedAddress(error)) terminal.say(FOR_PRIVATE_HOSTS);
    return error.code === "bad-usage" ? 2 : 1;
  }
  terminal.say(
    `${PROGRAM}: this is a mistake in the program. Please report it to eleventy-plugin-twtxt with these lines:`,
  );
  terminal.say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return 1;
}

function isRefusedAddress(error: unknown): boolean {
  return error instanceof TwtxtError && (error.code === "address-refused" || isRefusedAddress(error.cause));
}
