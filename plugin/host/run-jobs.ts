// plugin/host/run-jobs.ts: runs jobs one after the other, each within its share of the time of a run. PROTOCOL 6
import * as v from "valibot";
import type { Clock } from "../clock.js";
import type { Log } from "../http/respond.js";
import { readJson, writeJson } from "../store/json.js";
import type { Store } from "../store/store.js";
import { attempt } from "./work.js";

/** A run starts nothing after this time, because Netlify ends a scheduled function after 30 s. PROTOCOL 6 */
const RUN_MS = 20_000;
/** The names of the jobs that come first in the next run. Stored, because each run on Netlify may be a new process. */
const TURN = "jobs/turn";
const Turn = v.object({ first: v.array(v.string()) });

export interface Job {
  name: string;
  /** Starts nothing new once `isOver` returns true. */
  work(isOver: () => boolean): Promise<unknown>;
}

interface RunOptions {
  store: Store;
  now: Clock;
  log: Log;
  /** Called after each job. */
  onJob?: ((name: string, isDone: boolean) => void) | undefined;
}

/**
 * Runs jobs. Those that the last run had no time for come first. Each gets an equal share of the time that is left, so
 * what one job does not use goes to the later ones. Jobs that used up their share go on while there is time.
 *
 * Logs failures, and the jobs that are left to the next run.
 */
export async function runJobs(jobs: readonly Job[], options: RunOptions): Promise<void> {
  const { now, log } = options;
  const isShared = jobs.length > 1;
  const order = isShared ? await readOrder(jobs, options) : jobs;
  // The process may be killed during the first job, which must then not come first again.
  if (isShared) await writeTurn(order.slice(1), options);
  const started = new Set<Job>();
  const end = now() + RUN_MS;
  let waiting = order;
  while (waiting.length > 0 && now() < end) waiting = await runRound(waiting, { ...options, started, end });

  const leftOut = waiting.filter((job) => !started.has(job));
  if (isShared) await writeTurn(leftOut, options);
  const unfinished = waiting.filter((job) => started.has(job));
  if (unfinished.length > 0) log(`Not finished, the next run goes on: ${listNames(unfinished)}.`);
  if (leftOut.length > 0)
    log(`No time was left for these jobs, which come first in the next run: ${listNames(leftOut)}.`, { level: "warn" });
}

/** @returns the jobs that were not started or not finished */
async function runRound(
  jobs: readonly Job[],
  { now, log, onJob, started, end }: RunOptions & { started: Set<Job>; end: number },
): Promise<Job[]> {
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
      const isDone = await attempt(job.name, () => job.work(isOver), log);
      onJob?.(job.name, isDone);
    }
    if (isCutOff) waiting.push(job);
  }
  return waiting;
}

async function readOrder(jobs: readonly Job[], { store, log }: RunOptions): Promise<readonly Job[]> {
  const stored = await readJson(store, TURN, Turn).catch((error: Error) => {
    log(`The order of the jobs could not be read: ${error.message}`, { level: "error" });
    return null;
  });
  const first = new Set(stored?.value.first);
  return [...jobs.filter(({ name }) => first.has(name)), ...jobs.filter(({ name }) => !first.has(name))];
}

/** A failure only changes the order of the next run. */
async function writeTurn(jobs: readonly Job[], { store, log }: RunOptions): Promise<void> {
  const turn: v.InferOutput<typeof Turn> = { first: jobs.map(({ name }) => name) };
  await writeJson(store, TURN, turn).catch((error: Error) => {
    log(`The order of the jobs could not be stored: ${error.message}`, { level: "error" });
  });
}

function listNames(jobs: readonly Job[]): string {
  return jobs.map(({ name }) => name).join(", ");
}
