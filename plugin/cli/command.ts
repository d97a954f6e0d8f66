// plugin/cli/command.ts: a command: its options, its words, and the function to run. Its help is generated from these.
import { misuse, PROGRAM } from "../author/invocation.js";
import type { HostChoice } from "../author/machine.js";
import { later } from "../later.js";
import {
  firstWord,
  none,
  type Option,
  type Options,
  readArguments,
  suggestName,
  type ValuesOf,
  type Words,
} from "./options.js";
import { type Terminal, wrapLines } from "./terminal.js";

const privateHosts = later(() => import("../author/private-hosts.js"));

export interface Command {
  name: string;
  /** A few words for the list of commands. */
  summary: string;
  /** Printed by `COMMAND --help`. */
  help: string;
  /**
   * @param args - what follows the command's name
   * @returns the exit code: 0, or 1 for a failure
   * @throws TwtxtError `bad-usage`, which ends with exit code 2
   */
  run(args: readonly string[], terminal: Terminal): Promise<number>;
}

interface About {
  name: string;
  summary: string;
  about: string;
  /** Such as exit codes. */
  notes?: string;
  /** A command line and its output. */
  example: string;
}

/** One of the actions of a command, such as `mentions approve`. */
export interface Action {
  usage: readonly string[];
  help: string;
  options: Options;
  run(where: string, args: readonly string[], terminal: Terminal): Promise<number>;
}

/** An action, by default without words and without options of its own. */
export interface ActionSpec<S extends Options, O extends Options, W> {
  /** What follows the name, such as `FILE [options]`. */
  usage?: string | readonly string[];
  help: string;
  options?: O;
  words?: Words<W>;
  run(values: ValuesOf<S & O>, words: W, terminal: Terminal): Promise<number>;
}

/** @param shared - options of all these actions. @returns a function that creates actions */
export function actionsWith<const S extends Options>(shared: S) {
  return <const O extends Options = Record<never, never>, W = null>(spec: ActionSpec<S, O, W>): Action => {
    const { usage = "", help, words = none as Words<unknown> as Words<W>, run } = spec;
    const options = { ...spec.options, ...shared } as S & O;
    return {
      ...{ usage: [usage].flat(), help, options },
      async run(where, args, terminal) {
        const given = readArguments(where, args, options);
        const read = words.read(given.words, where);
        return run(await withPrivateHosts(given.values, terminal), read, terminal);
      },
    };
  };
}

/** Adds the private hosts that the site's earlier commands were allowed to contact, if the command contacts any. */
async function withPrivateHosts<V extends object>(values: V, terminal: Terminal): Promise<V> {
  if (!("allow-private-host" in values)) return values;
  const { choosePrivateHosts } = await privateHosts();
  return { ...values, "allow-private-host": await choosePrivateHosts(values as HostChoice & V, terminal) };
}

export function command<const O extends Options = Record<never, never>, W = null>(
  spec: About & Omit<ActionSpec<Record<never, never>, O, W>, "help">,
): Command {
  const { name, summary } = spec;
  const { usage, options, run } = actionsWith({})<O, W>({ ...spec, help: summary });
  const usages = usage.map((line) => `${name} ${line}`.trimEnd());
  return { name, summary, help: formatHelp(spec, usages, options), run: (args, terminal) => run(name, args, terminal) };
}

/**
 * A command of several actions: the first word chooses one.
 *
 * @param standard - the action that is run if there is no word
 */
export function toCommand(
  spec: About & { actions: Readonly<Record<string, Action>>; standard?: string; shared: Options },
): Command {
  const { name, summary, actions, standard, shared } = spec;
  const all = Object.values(actions);
  // The shared ones come last in the help.
  const own = Object.fromEntries(all.flatMap(({ options }) => Object.entries(options)));
  const options = { ...Object.fromEntries(Object.entries(own).filter(([option]) => !(option in shared))), ...shared };
  const usages = Object.entries(actions).flatMap(([word, { usage }]) =>
    usage.map((line) => `${name} ${word === standard ? `[${word}]` : word} ${line}`.trimEnd()),
  );
  const help = formatHelp(spec, usages, options, actions);
  return {
    ...{ name, summary, help },
    run(args, terminal) {
      const at = firstWord(args, options);
      const word = (at < 0 ? standard : args[at]) ?? "";
      const chosen = Object.hasOwn(actions, word) ? actions[word] : undefined;
      if (!chosen) {
        const what = word === "" ? "say what to do." : `there is no "${word}".`;
        const words = Object.keys(actions);
        throw misuse(name, `${what} ${suggestName(word, words) ?? `Actions: ${words.join(", ")}.`}`);
      }
      return chosen.run(`${name} ${word}`, at < 0 ? args : args.toSpliced(at, 1), terminal);
    },
  };
}

const COLUMNS = 100;
/** Longer names get a line of their own. */
const NAME_COLUMNS = 18;

function formatHelp(
  { about, notes = "", example }: About,
  usages: readonly string[],
  options: Options,
  actions: Readonly<Record<string, Pick<Action, "help">>> = {},
): string {
  const lines = usages.map((line, at) => `${at === 0 ? "Usage: " : "       "}${PROGRAM} ${line}`);
  const parts = [
    lines,
    wrapLines(COLUMNS, about),
    formatRows(Object.entries(actions).map(([word, { help }]) => [word, help])),
    formatRows(Object.entries(options).map(([name, option]) => [optionName(name, option), option.help])),
    wrapLines(COLUMNS, notes),
    ["Example:", ...example.split("\n").map((line) => `  ${line}`)],
  ].map((part) => part.join("\n"));
  return parts.filter((part) => part !== "").join("\n\n");
}

function optionName(name: string, { kind, short }: Option<unknown>): string {
  return `${short === undefined ? "" : `-${short}, `}--${name}${kind === null ? "" : ` ${kind.name}`}`;
}

function formatRows(rows: readonly (readonly [name: string, help: string])[]): string[] {
  const longest = Math.max(0, ...rows.map(([name]) => name.length).filter((length) => length <= NAME_COLUMNS));
  const indent = " ".repeat(longest + 4);
  return rows.flatMap(([name, help]) => {
    const [first = "", ...others] = wrapLines(COLUMNS - indent.length, help);
    const head = name.length > longest ? [`  ${name}`, indent + first] : [`  ${name.padEnd(longest)}  ${first}`];
    return [...head, ...others.map((line) => indent + line)];
  });
}
