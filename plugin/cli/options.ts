// plugin/cli/options.ts: the command line: options, each declared once with its kind, help and default; the words between them; and ids.
import { parseArgs } from "node:util";
import { closestMatch } from "leven";
import { misuse } from "../author/invocation.js";
import { NO_HOSTS } from "../author/machine.js";
import { TwtxtError } from "../errors.js";
import { parseAddress } from "../keys/address.js";
import { canParseUrl } from "../url.js";

export interface Kind<T> {
  /** The placeholder of the value in the help, such as `FILE`. */
  name: string;
  /** With an article and an example: `an address such as bob@bob.example`. */
  expected: string;
  /** @returns `null` for an invalid text @throws TwtxtError with the reason why it is invalid */
  parse(text: string): T | null;
}

/** An option of a command. `T` is the type of its value for the command, the default included. */
export interface Option<T> {
  /** `null` for a flag. */
  kind: Kind<unknown> | null;
  help: string;
  short?: string;
  /** @param given - the parsed values in order; empty if the option was not typed */
  value(given: readonly unknown[]): T;
}

/** The options of a command by name, without the dashes. */
export type Options = Readonly<Record<string, Option<unknown>>>;

export type ValuesOf<O extends Options> = { [Name in keyof O]: O[Name] extends Option<infer T> ? T : never };

export function flag(help: string): Option<boolean> {
  return { kind: null, help, value: (given) => given.length > 0 };
}

/** An option with a value; `undefined` if it was not typed. The last one wins. */
export function option<T>(kind: Kind<T>, help: string, short?: string): Option<T | undefined> {
  return { kind, help, value: (given) => given.at(-1) as T | undefined, ...(short !== undefined && { short }) };
}

/** An option with a default, which the help shows. */
export function withDefault<T>(kind: Kind<T>, standard: T, help: string): Option<T> {
  const value = (given: readonly unknown[]) => (given.length > 0 ? (given.at(-1) as T) : standard);
  return { kind, help: `${help} (default ${standard})`, value };
}

export function repeatable<T>(kind: Kind<T>, help: string): Option<T[]> {
  const parse = (value: string) => {
    const parsed = kind.parse(value);
    if (parsed === null && value.includes(",")) throw new TwtxtError("bad-usage", "repeat the option for each value.");
    return parsed;
  };
  return { kind: { ...kind, parse }, help: `${help}; can be repeated`, value: (given) => [...given] as T[] };
}

export function text(name: string, expected: string): Kind<string> {
  return { name, expected, parse: (value) => value };
}

export function number(least: number, most: number, name = "N"): Kind<number> {
  const isInRange = (value: string) => /^\d{1,9}$/.test(value) && Number(value) >= least && Number(value) <= most;
  const expected = `a number from ${least} to ${most}`;
  return { name, expected, parse: (value) => (isInRange(value) ? Number(value) : null) };
}

export function choice<const T extends string>(name: string, words: readonly T[]): Kind<T> {
  const expected = `one of ${words.join(", ")}`;
  return { name, expected, parse: (value) => words.find((word) => word === value) ?? null };
}

/** @param example - such as `https://alice.example/twtxt.txt` */
export function url(example: string): Kind<string> {
  const isUrl = (value: string) => /^https?:\/\/[^/]/i.test(value) && canParseUrl(value);
  return { name: "URL", expected: `a URL such as "${example}"`, parse: (value) => (isUrl(value) ? value : null) };
}

/** @param example - such as `bob@bob.example` */
export function address(example: string): Kind<string> {
  return { name: "ADDRESS", expected: `an address such as ${example}`, parse: parseAddress };
}

export const FILE = text("FILE", "a file");
export const FOLDER = text("DIR", "a folder");

const HOST_AND_PORT = /^(\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?):(\d{1,5})$/;

/** `host:port`, as the guard takes it, or {@link NO_HOSTS}. PROTOCOL 6 */
export const HOST: Kind<string> = {
  name: "HOST:PORT",
  expected: "a host and a port, such as 127.0.0.1:8080",
  parse(value) {
    if (value === NO_HOSTS) return NO_HOSTS;
    const [, host, port] = HOST_AND_PORT.exec(value.toLowerCase()) ?? [];
    return host !== undefined && Number(port) >= 1 && Number(port) <= 65_535 ? `${host}:${Number(port)}` : null;
  },
};

export const JSON_OPTION = { json: flag("prints JSON") };
export const SETTINGS_OPTION = {
  settings: option(FILE, "the settings of the site (default .eleventy-twtxt/settings.json)"),
};
export const HOSTS_OPTION = {
  "allow-private-host": repeatable(
    HOST,
    `a host in your own network that may be contacted; remembered for a site on this machine, until you type ${NO_HOSTS}`,
  ),
};

export const IDENTITY_OPTION = { identity: option(FILE, "the file with your key, if it is not in the default place") };
export const AUTHOR_OPTIONS = {
  as: option(address("alice@alice.example"), "which of your addresses, if this machine has several keys"),
  ...IDENTITY_OPTION,
  ...SETTINGS_OPTION,
};
export const URL_OPTION = {
  url: option(url("http://localhost:8080"), "another URL to reach your site at, such as a local server"),
};
export const SITE_API_OPTIONS = { ...JSON_OPTION, ...URL_OPTION, ...IDENTITY_OPTION, ...SETTINGS_OPTION };
export const OWN_SITE_OPTIONS = { ...JSON_OPTION, ...AUTHOR_OPTIONS, ...URL_OPTION, ...HOSTS_OPTION };

export type OwnSiteValues = ValuesOf<typeof OWN_SITE_OPTIONS>;

/** A message about an ambiguous prefix shows this many more characters of each id. */
const MORE_CHARACTERS = 4;

const SHOWN_LENGTH = 8;

/** An id as it is shown; can be typed too. */
export function shortId(id: string): string {
  return id.slice(0, SHOWN_LENGTH);
}

/**
 * The first characters of a hexadecimal id.
 *
 * @param least - how many characters are needed
 * @param most - the length of a whole id
 */
export function idPrefix(least: number, most: number, expected: string): Kind<string> {
  const pattern = new RegExp(`^[0-9a-f]{${least},${most}}$`, "i");
  return { name: "ID", expected, parse: (text) => (pattern.test(text) ? text.toLowerCase() : null) };
}

/**
 * The only id that starts with a prefix.
 *
 * @param short - shortens an id for the message
 * @returns `undefined` for none
 * @throws TwtxtError `not-found` for several
 */
export function completeId(prefix: string, ids: readonly string[], short = shortId): string | undefined {
  const found = ids.filter((id) => id.startsWith(prefix));
  if (found.length <= 1) return found[0];
  const shown = found.map((id) => id.slice(0, Math.max(short(id).length, prefix.length + MORE_CHARACTERS)));
  throw new TwtxtError("not-found", `${prefix} is ambiguous: ${shown.join(", ")}. Type more characters.`);
}

/**
 * The only one whose id starts with a prefix.
 *
 * @param what - such as "message in your inbox"
 * @throws TwtxtError `not-found` for none, and for several
 */
export function oneByPrefix<T extends { id: string }>(prefix: string, all: readonly T[], what: string): T {
  const ids = all.map(({ id }) => id);
  const found = all[ids.indexOf(completeId(prefix, ids) ?? "")];
  if (found === undefined) throw new TwtxtError("not-found", `No ${what} has an id that starts with ${prefix}.`);
  return found;
}

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
  const config = Object.fromEntries(
    Object.entries(options).map(([name, { kind, short }]) => [
      name,
      { type: kind === null ? ("boolean" as const) : ("string" as const), ...(short !== undefined && { short }) },
    ]),
  );
  return parseArgs({ args: [...args], options: config, strict: false, tokens: true }).tokens;
}

type OptionToken = Extract<ReturnType<typeof tokenize>[number], { kind: "option" }>;

function optionValue(where: string, token: OptionToken, options: Options): unknown {
  const { name, rawName, value, inlineValue } = token;
  const option = Object.hasOwn(options, name) ? options[name] : undefined;
  if (!option) {
    const suggestion = name.length > 1 ? suggestName(name, Object.keys(options), "--") : null;
    const hint = suggestion ?? 'Put "--" before an argument that starts with "-".';
    throw misuse(where, `there is no option "${rawName}". ${hint}`);
  }
  if (option.kind === null) {
    if (value !== undefined) throw misuse(where, `${rawName} takes no value, got "${value}".`);
    return true;
  }
  const isMissing = value === undefined || (!inlineValue && value.startsWith("-") && value !== "-");
  if (isMissing) throw misuse(where, `${rawName} needs a value.`);
  return parsed(option.kind, value, where, `${rawName}: `);
}

/** Suggests the name that was probably meant: one that starts with the word, or the most similar one. @returns `null` for none */
export function suggestName(word: string, names: readonly string[], dashes = ""): string | null {
  const nearest = names.find((name) => name.startsWith(word)) ?? closestMatch(word, names, { maxDistance: 3 });
  return word === "" || nearest === undefined ? null : `Did you mean "${dashes}${nearest}"?`;
}
