// plugin/cli/command.ts: what a command is, and how its arguments are read.
import { type ParseArgsConfig, parseArgs } from "node:util";
import { closestMatch } from "leven";
import { TwtxtError } from "../errors.js";
import { typed } from "./invocation.js";
import type { Terminal } from "./terminal.js";

/** A command: a module of this folder, loaded when it is called. */
export interface Command {
  name: string;
  /** What it does, in a few words, for the list of commands. */
  summary: string;
  /** All that `COMMAND --help` prints, an example included. */
  help: string;
  /**
   * @param args - what stands behind the command's name
   * @returns the exit code: 0, or 1 where something could not be done
   * @throws TwtxtError `bad-usage` for arguments that cannot be meant, which ends with 2
   */
  run(args: string[], terminal: Terminal): Promise<number>;
}

type Options = NonNullable<ParseArgsConfig["options"]>;
type Arguments<T extends Options> = ReturnType<
  typeof parseArgs<{ options: typeof COMMON & T; allowPositionals: true }>
>;

/** What every command that knows the site understands. */
const COMMON = { settings: { type: "string" } } as const satisfies Options;

/**
 * Reads the arguments of a command.
 *
 * @param name - the command's, for the messages
 * @param options - those of its own, as for `parseArgs`
 * @throws TwtxtError `bad-usage`, naming the nearest option there is
 */
export function readArguments<T extends Options>(name: string, args: string[], options: T): Arguments<T> {
  const known: typeof COMMON & T = { ...COMMON, ...options };
  const { tokens } = parseArgs({ args, options: known, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind === "option")
      checkOption(name, token, Object.hasOwn(known, token.name) ? known[token.name]?.type : undefined, known);
  }
  return parseArgs({ args, options: known, allowPositionals: true });
}

interface OptionToken {
  name: string;
  rawName: string;
  value: string | undefined;
  inlineValue: boolean | undefined;
}

function checkOption(
  command: string,
  token: OptionToken,
  type: "string" | "boolean" | undefined,
  known: Options,
): void {
  const { rawName, value, inlineValue } = token;
  if (type === undefined) {
    const nearest = token.name.length > 1 ? nearestOf(token.name, Object.keys(known)) : undefined;
    const hint = nearest ? ` Did you mean "--${nearest}"?` : ` What begins with "-" and is no option goes behind "--".`;
    throw misuse(`${command}: there is no option "${rawName}".${hint}`, command);
  }
  if (type === "boolean" && value !== undefined)
    throw misuse(`${command}: ${rawName} takes no value, got "${value}".`, command);
  const isMissing = value === undefined || (!inlineValue && value.startsWith("-") && value !== "-");
  if (type === "string" && isMissing) throw misuse(`${command}: ${rawName} needs a value.`, command);
}

/** The name that was probably meant, if any is near: rather one that begins so. */
export function nearestOf(word: string, names: readonly string[]): string | undefined {
  return names.find((name) => name.startsWith(word)) ?? closestMatch(word, names, { maxDistance: 3 });
}

/** One of the things that a command does; its name stands behind the command's. */
export type Action = (args: string[], terminal: Terminal) => Promise<number>;

/**
 * Runs a command of several actions.
 *
 * @param actions - each is loaded when it is called
 */
export async function runAction(
  command: string,
  actions: ReadonlyMap<string, () => Promise<Action>>,
  [word = "", ...args]: string[],
  terminal: Terminal,
): Promise<number> {
  const load = actions.get(word);
  if (!load) throw noSuchAction(command, word, [...actions.keys()]);
  return (await load())(args, terminal);
}

export function noSuchAction(command: string, word: string, actions: readonly string[]): TwtxtError {
  const what = word === "" ? "it needs to know what to do." : `there is no "${word}".`;
  const nearest = word === "" ? undefined : nearestOf(word, actions);
  const hint = nearest ? `Did you mean "${nearest}"?` : `Say ${actions.join(", ")}.`;
  return misuse(`${command}: ${what} ${hint}`, command);
}

/** What was typed cannot be meant: says so, and what to type. */
export function misuse(what: string, command?: string): TwtxtError {
  return new TwtxtError("bad-usage", `${what} Type: ${typed(command ? `${command} --help` : "--help")}`);
}
