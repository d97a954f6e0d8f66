// plugin/cli/arguments.ts: parses the arguments of a command: options, and the words between them.
import { parseArgs } from "node:util";
import { closestMatch } from "leven";
import { misuse } from "../author/invocation.js";
import { TwtxtError } from "../errors.js";
import type { Kind, Option, Options, ValuesOf } from "./options.js";

/** The words of a command line: the arguments that are not options. */
export interface Words<W> {
  /**
   * @param where - the command, with its action, for messages
   * @throws TwtxtError `bad-usage`
   */
  read(words: readonly string[], where: string): W;
}

export const none: Words<null> = {
  read([word], where) {
    if (word !== undefined) throw misuse(where, `expected no arguments, got "${word}".`);
    return null;
  },
};

export function zeroOrMore<T>(kind: Kind<T>): Words<T[]> {
  return { read: (words, where) => words.map((word) => parsed(kind, word, where)) };
}

export function oneOrMore<T>(kind: Kind<T>): Words<[T, ...T[]]> {
  return {
    read([first, ...others], where) {
      if (first === undefined) throw misuse(where, `expected ${kind.expected}.`);
      return [parsed(kind, first, where), ...zeroOrMore(kind).read(others, where)];
    },
  };
}

export function one<T>(kind: Kind<T>): Words<T> {
  return {
    read(words, where) {
      if (words.length > 1) throw misuse(where, `expected ${kind.expected}, got ${words.length} arguments.`);
      return oneOrMore(kind).read(words, where)[0];
    },
  };
}

/** One word, or `null` for none. */
export function optional<T>(kind: Kind<T>): Words<T | null> {
  return { read: (words, where) => (words.length === 0 ? null : one(kind).read(words, where)) };
}

/** One word, and perhaps another of another kind. */
export function oneAndOptional<A, B>(first: Kind<A>, second: Kind<B>): Words<[A, B | null]> {
  return {
    read: (words, where) => [one(first).read(words.slice(0, 1), where), optional(second).read(words.slice(1), where)],
  };
}

/** @param label - of an option, such as `--port: ` */
function parsed<T>(kind: Kind<T>, value: string, where: string, label = ""): T {
  let result: T | null;
  try {
    result = kind.parse(value);
  } catch (error) {
    if (error instanceof TwtxtError) throw misuse(where, `${label}"${value}": ${error.message}`);
    throw error;
  }
  if (result === null) throw misuse(where, `${label}expected ${kind.expected}, got "${value}".`);
  return result;
}

/**
 * Reads the options of a command.
 *
 * @param where - the command, with its action, for messages
 * @throws TwtxtError `bad-usage`; the message suggests an option, or says which value is expected
 */
export function readArguments<const O extends Options>(
  where: string,
  args: readonly string[],
  options: O,
): { values: ValuesOf<O>; words: string[] } {
  const given = new Map<string, unknown[]>();
  const words: string[] = [];
  for (const token of tokenize(args, options)) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    given.set(token.name, [...(given.get(token.name) ?? []), optionValue(where, token, options)]);
  }
  const values = Object.entries(options).map(([name, { value }]) => [name, value(given.get(name) ?? [])]);
  return { values: Object.fromEntries(values) as ValuesOf<O>, words };
}

/** @returns the index of the first word in a command line; -1 for none */
export function firstWord(args: readonly string[], options: Options): number {
  return tokenize(args, options).find(({ kind }) => kind === "positional")?.index ?? -1;
}

function tokenize(args: readonly string[], options: Options) {
  const config = Object.fromEntries(Object.entries(options).map(([name, option]) => [name, toParserOption(option)]));
  return parseArgs({ args: [...args], options: config, strict: false, tokens: true }).tokens;
}

function toParserOption({ kind, short }: Option<unknown>) {
  return { type: kind === null ? ("boolean" as const) : ("string" as const), ...(short !== undefined && { short }) };
}

interface OptionToken {
  name: string;
  rawName: string;
  value: string | undefined;
  inlineValue: boolean | undefined;
}

function optionValue(where: string, token: OptionToken, options: Options): unknown {
  const { name, rawName, value, inlineValue } = token;
  const option = Object.hasOwn(options, name) ? options[name] : undefined;
  if (!option) throw noSuchOption(where, token, Object.keys(options));
  if (option.kind === null) {
    if (value !== undefined) throw misuse(where, `${rawName} takes no value, got "${value}".`);
    return true;
  }
  const isMissing = value === undefined || (!inlineValue && value.startsWith("-") && value !== "-");
  if (isMissing) throw misuse(where, `${rawName} needs a value.`);
  return parsed(option.kind, value, where, `${rawName}: `);
}

function noSuchOption(where: string, { name, rawName }: OptionToken, names: string[]): TwtxtError {
  const suggestion = name.length > 1 ? suggestName(name, names, "--") : null;
  const hint = suggestion ?? 'Put "--" before an argument that starts with "-".';
  return misuse(where, `there is no option "${rawName}". ${hint}`);
}

/** Suggests the name that was probably meant: one that starts with the word, or the most similar one. @returns `null` for none */
export function suggestName(word: string, names: readonly string[], dashes = ""): string | null {
  const nearest = names.find((name) => name.startsWith(word)) ?? closestMatch(word, names, { maxDistance: 3 });
  return word === "" || nearest === undefined ? null : `Did you mean "${dashes}${nearest}"?`;
}
