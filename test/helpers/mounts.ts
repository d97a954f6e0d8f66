// test/helpers/mounts.ts: processes that see a disk of their own, in a mount namespace.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Why processes cannot have a disk of their own; `null` if they can. */
export const mountLack = findLack();
if (mountLack !== null) console.error(`SKIPPED: full and read-only disks were not tried, since ${mountLack}.`);

function findLack(): string | null {
  const folder = mkdtempSync(join(tmpdir(), "twtxt-mount-"));
  try {
    execFileSync("unshare", ["-m", "mount", "--bind", folder, folder], { stdio: "ignore" });
    return null;
  } catch {
    return "this user may not mount";
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * A program that runs another one after some commands of a shell, in a mount namespace.
 *
 * @param script - with the arguments `$1`, `$2`, ...
 */
export function afterMounts(script: string, ...words: string[]): string[] {
  const run = `count=${words.length}; ${script}; shift $count; exec "$@"`;
  return ["unshare", "-m", "sh", "-c", run, "sh", ...words];
}
