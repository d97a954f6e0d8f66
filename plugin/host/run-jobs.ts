// plugin/host/run-jobs.ts: runs jobs one after the other, each within its share of the time of a run. PROTOCOL 6
import * as v from "valibot";
import { type Clock, type JobRun, ObservedClock, observeClock } from "../clock.js";
import type { Log } from "../http/respond.js";
import { readJson, writeJson } from "../store/json.js";
import type { Store } from "../store/store.js";
import { attempt } from "./work.js";

/** A run starts nothing after this time, because Netlify ends a scheduled function after 30 s. PROTOCOL 6 */
const RUN_MS = 20_000;
/** What a run leaves for the next one, which on Netlify is often a new process. */
const KEY = "jobs/last-run";
const LastRun = v.object({
  /** The names of the jobs that come first in the next run. */
  first: v.array(v.string()),
  clock: ObservedClock,
});
export type LastRun = v.InferOutput<typeof LastRun>;

export interface Job {
  name: string;
  /** Whether it removes what is outdated, and is left out of a run whose clock has just jumped. */
  isRemoval?: boolean;
  work(run: JobRun): Promise<unknown>;
}

interface RunOptions {
  store: Store;
  now: Clock;
  log: Log;
  /** The run that this process completed last: then its record is neither read nor written before the next one. */
  memory?: { last: LastRun | null };
  onJob?: ((name: string, isDone: boolean) => void) | undefined;
}

/**
 * Runs jobs. Those that the last run had no time for come first. Each gets an equal share of the time that is left, so
 * what one job does not use goes to the later ones. Jobs that used up their share go on while there is time.
 *
 * Logs failures, and the jobs that are left to the next run.
 */
export async function runJobs(jobs: readonly Job[], options: RunOptions): Promise<void> {
  const { now, log, memory = { last: null } } = options;
  const known = memory.last;
  const last = known ?? (await readLastRun(options));
  const clock = observeClock(last?.clock ?? null, now());
  const hasJumped = last !== null && clock.steadySince !== last.clock.steadySince;
  const first = new Set(last?.first);
  const due = jobs.filter(({ isRemoval }) => !(isRemoval && hasJumped));
  const order = [...due.filter(({ name }) => first.has(name)), ...due.filter(({ name }) => !first.has(name))];
  // The process may be killed during the first job, which must then not come first in each run of a new process.
  if (!known) await writeLastRun({ first: listNames(order.slice(1)), clock }, options);
  const started = new Set<Job>();
  const end = now() + RUN_MS;
  let waiting: readonly Job[] = order;
  while (waiting.length > 0 && now() < end) {
    waiting = await runRound(waiting, { ...options, started, end, steadySince: clock.steadySince });
  }

  const leftOut = listNames(waiting.filter((job) => !started.has(job)));
  memory.last = { first: leftOut, clock };
  await writeLastRun(memory.last, options);
  const unfinished = listNames(waiting.filter((job) => started.has(job)));
  if (unfinished.length > 0) log(`Not finished, the next run goes on: ${unfinished.join(", ")}.`);
  if (leftOut.length > 0) {
    log(`No time was left for these jobs, which come first in the next run: ${leftOut.join(", ")}.`, { level: "warn" });
  }
}

/** Runs one job, which has the time of a whole run. Logs its failure. */
export async function runJob(job: Job, options: RunOptions): Promise<void> {
  const start = options.now();
  await runOne(job, { isOver: () => options.now() >= start + RUN_MS, steadySince: start }, options);
}

async function runOne({ name, work }: Job, run: JobRun, { log, onJob }: RunOptions): Promise<void> {
  const isDone = await attempt(name, () => work(run), log);
  onJob?.(name, isDone);
}

/** @returns the jobs that were not started or not finished */
async function runRound(
  jobs: readonly Job[],
  options: RunOptions & { started: Set<Job>; end: number; steadySince: number },
): Promise<Job[]> {
  const { now, started, end, steadySince } = options;
  const waiting: Job[] = [];
  for (const [i, job] of jobs.entries()) {
    const start = now();
    const share = start + (end - start) / (jobs.length - i);
    let isCutOff = start >= end;
    const isOver = () => {
      isCutOff ||= now() >= share;
      return isCutOff;
    };
    if (!isCutOff) {
      started.add(job);
      await runOne(job, { isOver, steadySince }, options);
    }
    if (isCutOff) waiting.push(job);
  }
  return waiting;
}

async function readLastRun({ store, log }: RunOptions): Promise<LastRun | null> {
  const stored = await readJson(store, KEY, LastRun).catch((error: Error) => {
    log(`The last run of the jobs could not be read: ${error.message}`, { level: "error" });
    return null;
  });
  return stored?.value ?? null;
}

/** A failure only changes the order of the next run, and delays what expires. */
async function writeLastRun(run: LastRun, { store, log }: RunOptions): Promise<void> {
  await writeJson(store, KEY, run).catch((error: Error) => {
    log(`The run of the jobs could not be recorded: ${error.message}`, { level: "error" });
  });
}

function listNames(jobs: readonly Job[]): string[] {
  return jobs.map(({ name }) => name);
}
