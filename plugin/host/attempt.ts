// plugin/host/attempt.ts: runs work that nobody waits for.
import type { Log } from "../http/respond.js";

/** Runs `work` and logs its failure: one job that fails does not stop the next. */
export async function attempt(name: string, work: () => Promise<unknown>, log: Log): Promise<void> {
  try {
    await work();
  } catch (error) {
    log(`${name} failed and is tried again within the hour: ${(error as Error).message}`);
  }
}
