// plugin/host/work.ts: asynchronous work: in the background, with a timeout, and with failures that are only logged.
import type { Log } from "../http/respond.js";
import type { ServiceOptions } from "./service-options.js";

/** Tracks work that goes on after an answer, so that a host can wait for it before it exits. */
export class BackgroundWork {
  readonly #running = new Set<Promise<unknown>>();

  /** @param work - handles its own errors */
  readonly add = (work: Promise<unknown>): void => {
    this.#running.add(work);
    void work.finally(() => this.#running.delete(work));
  };

  /** Resolves when all work has ended, including work added meanwhile. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}

/** Runs `work` and logs its failure, so that the next job still runs. @returns whether it succeeded */
export async function attempt(name: string, work: () => Promise<unknown>, log: Log): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    log(`${name} failed; the next scheduled run tries again: ${(error as Error).message}`, { level: "error" });
    return false;
  }
}

/** Purges a tag from the CDN, if there is one. @param old - what the CDN still serves after a failure, for the log */
export async function purgeTag({ purge, log }: Pick<ServiceOptions, "purge" | "log">, tag: string, old: string) {
  await purge?.(tag).catch(({ message }: Error) => log(`The CDN still serves ${old}: ${message}`, { level: "warn" }));
}

/** The result of `work`. Rejects with `timeoutError` if it takes longer than this many milliseconds. */
export async function withTimeout<T>(work: Promise<T>, milliseconds: number, timeoutError: Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(timeoutError), milliseconds);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}
