// plugin/client/background-run.ts: work in the background, numbers for the navigation, and what is opened when a page first needs it.
import { RefreshInterval } from "../author/refresh-interval.js";
import type { Clock } from "../clock.js";
import { once } from "../later.js";
import type { ClientContext } from "./notices.js";
import { faultText } from "./page-parts.js";

interface BackgroundWork<Result, Subject> {
  subject: Subject | null;
  /** Ends early when the client ends. */
  results: AsyncIterable<Result> | ((add: (result: Result) => void) => Promise<void>);
}

/** Runs work in the background, one run at a time, and has the results of the last run. */
export class BackgroundRun<Result, Subject = null> {
  /** The subject of the last run; `null` before the first run, and for runs that all have the same subject. */
  subject: Subject | null = null;
  results: Result[] = [];
  /** Milliseconds since 1970; `null` before the first run. */
  startedAt: number | null = null;
  isRunning = false;
  /** Why it stopped early, in sentences. */
  fault: string | null = null;
  done: Promise<void> = Promise.resolve();

  constructor(private readonly context: Pick<ClientContext, "machine" | "ending">) {}

  /** Resolves when the run has begun, or at once if one is in progress. @throws the error of `open` */
  async start(open: () => Promise<BackgroundWork<Result, Subject>>): Promise<void> {
    if (this.isRunning) return;
    this.isRunning = true;
    try {
      const { subject, results } = await open();
      Object.assign(this, { subject, results: [], startedAt: this.context.machine.now(), fault: null });
      this.done = this.#collect(results);
    } catch (error) {
      this.isRunning = false;
      throw error;
    }
  }

  async #collect(results: BackgroundWork<Result, Subject>["results"]): Promise<void> {
    const { machine, ending } = this.context;
    const add = (result: Result) => void this.results.push(result);
    try {
      if (typeof results === "function") return await results(add);
      for await (const result of results) {
        add(result);
        if (ending.aborted) return;
      }
    } catch (error) {
      this.fault = faultText(error, machine);
    } finally {
      this.isRunning = false;
    }
  }
}

const EVERY_MS = 60_000;

/** A number that the navigation shows. No page waits for it: a page shows the number that was read last, and asks for a newer one once a minute. */
export class BackgroundCount {
  readonly #interval: RefreshInterval;
  #count = 0;

  /** @param read - if it fails, the number stays: the page of the room says why */
  constructor(
    private readonly read: () => Promise<number>,
    private readonly context: { machine: { now: Clock }; ending: AbortSignal },
  ) {
    this.#interval = new RefreshInterval(EVERY_MS, context.machine.now);
  }

  /** The last known number; 0 before the first one. */
  get current(): number {
    if (!this.context.ending.aborted && this.#interval.claim()) {
      void this.read().then(
        (count) => this.set(count),
        () => {},
      );
    }
    return this.#count;
  }

  set(count: number): void {
    this.#count = count;
    this.#interval.restart();
  }
}

/**
 * @param work - opens it. The signal ends what was opened when it is out of date
 * @param isCurrent - checked each time it is needed; default: it stays current
 * @returns `open` opens it once, and again after a failure or if it is out of date; `opened` has it, or `null`
 */
export function openOnce<T>(
  work: (outdated: AbortSignal) => Promise<T>,
  isCurrent: (opened: T) => Promise<boolean> = async () => true,
) {
  let opened: T | null = null;
  let outdated = new AbortController();
  const start = () =>
    once(async () => {
      outdated = new AbortController();
      opened = await work(outdated.signal);
      return opened;
    });
  let current = start();
  return {
    async open(): Promise<T> {
      const former = opened;
      if (former !== null && !(await isCurrent(former)) && opened === former) {
        outdated.abort();
        opened = null;
        current = start();
      }
      return current();
    },
    opened: () => opened,
  };
}
