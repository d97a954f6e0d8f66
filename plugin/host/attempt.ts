// plugin/host/attempt.ts: runs work whose failures are only logged.
import type { Log } from "../http/respond.js";

/** Runs `work` and logs its failure, so that it does not stop the next job. */
export async function attempt(name: string, work: () => Promise<unknown>, log: Log): Promise<void> {
  try {
    await work();
  } catch (error) {
    log(`${name} failed; next try within the hour: ${(error as Error).message}`);
  }
}
