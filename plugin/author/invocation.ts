// plugin/author/invocation.ts: the program's name and version, and how users type its commands, for hints.
import { readFileSync } from "node:fs";
import { TwtxtError } from "../errors.js";

/** The name of the program, in usage lines and before errors. */
export const PROGRAM = "eleventy-twtxt";

export function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return String(Object(manifest).version);
}

/** Sent with each request. */
export function userAgent(): string {
  return `eleventy-plugin-twtxt/${version()}`;
}

/** The runner of each package manager, by the first word of `npm_config_user_agent`. */
const RUNNERS = new Map([
  ["npm", "npx"],
  ["pnpm", "pnpm"],
  ["yarn", "yarn"],
  ["bun", "bunx"],
]);

/**
 * A command line that starts like this one: with `npx` if npx started it, without if it is installed globally.
 *
 * @param words - what follows the program's name
 * @param script - the file that Node runs
 * @example typed("message retry") // "npx eleventy-twtxt message retry"
 */
export function typed(
  words: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
  script = process.argv[1] ?? "",
): string {
  const [manager = ""] = (environment.npm_config_user_agent ?? "").split("/");
  // Outside the site's folder, npx would look for a package with the program's name.
  const isFetched = /[\\/]_npx[\\/]/.test(script);
  const runner = isFetched ? "npx --package eleventy-plugin-twtxt" : RUNNERS.get(manager);
  return `${runner ? `${runner} ` : ""}${PROGRAM} ${words}`;
}

/** Adds the program to hints from modules without a command line, such as `contacts accept bob@bob.example` in backticks. */
export function typedHints(text: string): string {
  return text.replace(/`((?:blob|contacts|keys|message) [^`]+)`/g, (_, words: string) => `\`${typed(words)}\``);
}

/**
 * An error in the command line, with the command that prints the help.
 *
 * @param where - the command, perhaps with its action; empty for none
 */
export function misuse(where: string, what: string): TwtxtError {
  const [command = ""] = where.split(" ");
  const help = typed(command === "" ? "--help" : `${command} --help`);
  return new TwtxtError("bad-usage", `${where === "" ? "" : `${where}: `}${what} Type: ${help}`);
}
