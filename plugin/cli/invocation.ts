// plugin/cli/invocation.ts: how a command is typed in this place, for hints.

/** The name of the program, in usage lines and before errors. */
export const PROGRAM = "eleventy-twtxt";

/** The runner of each package manager, by the first word of the user agent that it gives its child processes. */
const RUNNERS = new Map([
  ["npm", "npx"],
  ["pnpm", "pnpm"],
  ["yarn", "yarn"],
  ["bun", "bunx"],
]);

/**
 * A command as this one was started: with `npx` where it was called so, and without where it is installed globally.
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
  // Outside of the site's folder, npx would look for a package of the program's name.
  const isFetched = /[\\/]_npx[\\/]/.test(script);
  const runner = isFetched ? "npx --package eleventy-plugin-twtxt" : RUNNERS.get(manager);
  return `${runner ? `${runner} ` : ""}${PROGRAM} ${words}`;
}
