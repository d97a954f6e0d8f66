// test/helpers/time-limits.ts: makes the time limits of `AbortSignal.timeout` pass only when a test calls for it.
//
// So no time limit of the product fails a test on a busy machine, and a test of a limit does not depend on speed: it lets
// the limit pass after an event, such as the arrival of a request. Other processes have their real limits.
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";
import { afterEach } from "./hooks.js";

const pending = new Set<AbortController>();
const { setTimeout: pause } = timers;

afterEach(() => {
  pending.clear();
  replacePause(pause);
});

/** Makes the pauses of `node:timers/promises` a hundred times shorter until the end of the test. */
export function shortenPauses(): void {
  replacePause((milliseconds = 0, ...given) => pause(milliseconds / 100, ...given));
}

function replacePause(next: typeof pause): void {
  if (timers.setTimeout === next) return;
  timers.setTimeout = next;
  syncBuiltinESMExports();
}

/** Replaces `AbortSignal.timeout` in this process. */
export function holdTimeLimits(): void {
  AbortSignal.timeout = () => {
    const limit = new AbortController();
    pending.add(limit);
    return limit.signal;
  };
}

/** Lets all time limits pass that were set since the start of the test. */
export function passTimeLimits(): void {
  for (const limit of pending) limit.abort(new DOMException("The time limit has passed.", "TimeoutError"));
  pending.clear();
}

/** Lets the time limits pass as soon as the receiver has seen the response. */
export function passLimitsAfter(answer: Response): Response {
  setImmediate(passTimeLimits);
  return answer;
}
