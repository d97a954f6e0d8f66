// plugin/cli/git.ts: the time of a post's first commit.
import { execFile } from "node:child_process";
import { basename, dirname } from "node:path";
import { promisify } from "node:util";
import { toInstant } from "../feed/timestamp.js";

/** When a file was written, or why git cannot tell. */
export type Birth = { timestamp: string } | { why: string };

const run = promisify(execFile);

/**
 * The time of the first commit of a file, renames included.
 *
 * @param file - absolute path
 * @returns the author date in UTC, whole seconds
 */
export async function firstCommit(file: string): Promise<Birth> {
  const git = async (...args: string[]) => (await run("git", args, { cwd: dirname(file) })).stdout;
  try {
    const log = await git(
      ...["-c", "log.showSignature=false", "log", "--follow", "--diff-filter=ACR", "--name-status", "--format=%aI"],
      ...["--", basename(file)],
    );
    const timestamp = birthIn(log);
    if (timestamp === null) return { why: "git has no commit of it" };
    const isShallow = (await git("rev-parse", "--is-shallow-repository")).trim() === "true";
    return isShallow
      ? { why: "this clone lacks the older commits (git fetch --unshallow brings them)" }
      : { timestamp };
  } catch {
    return { why: "git does not know it" };
  }
}

/** The oldest addition, up to a copy: git follows the original too, so a post made from an older one would get its date. */
function birthIn(log: string): string | null {
  let commit: string | null = null;
  let birth: string | null = null;
  for (const line of log.split("\n")) {
    const status = /^([ACR])\d*\t/.exec(line)?.[1];
    if (status === undefined) commit = toInstant(line) ?? commit;
    else if (status !== "R") birth = commit;
    if (status === "C") break;
  }
  return birth;
}
