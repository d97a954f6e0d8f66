// test/helpers/temporary-folder.ts: keeps the temporary files of a run in memory, where a file costs a fraction of the processor time.
import { chmodSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

/** Linux keeps the files of this folder in memory. */
const MEMORY = "/dev/shm";
/** Far more than all files of a run. A container may have 64 MiB. */
const NEEDED_BYTES = 4 * 2 ** 30;

/** Called by Vitest before it starts the workers, which inherit the environment. @returns what removes the folder */
export default function setup(): (() => void) | undefined {
  if (process.env.TMPDIR !== undefined || freeBytes() < NEEDED_BYTES) return;
  const folder = mkdtempSync(join(MEMORY, "twtxt-"));
  // Tests that run as root switch to an unprivileged user for a while, who needs access to the folder's contents.
  chmodSync(folder, 0o711);
  process.env.TMPDIR = folder;
  return () => {
    delete process.env.TMPDIR;
    // Chromium may write a file until it has ended.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  };
}

function freeBytes(): number {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize;
  } catch {
    // Other systems have no such folder.
    return 0;
  }
}
