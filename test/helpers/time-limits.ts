// test/helpers/time-limits.ts: the time limits of `AbortSignal.timeout`, which pass only when a test says so.
//
// So no limit of the software ends a test on a busy machine, and a test of a limit does not depend on its speed: it lets
// the limit pass when something has happened, such as the arrival of a request. Other processes have their real limits.
import { afterEach } from "./hooks.js";

const pending = new Set<AbortController>();

afterEach(() => pending.clear());

/** Replaces `AbortSignal.timeout` in this process. */
export function holdTimeLimits(): void {
  AbortSignal.timeout = () => {
    const limit = new AbortController();
    pending.add(limit);
    return limit.signal;
  };
}

/** All time limits that were set since the test began pass now. */
export function passTimeLimits(): void {
  for (const limit of pending) limit.abort(new DOMException("The time limit has passed.", "TimeoutError"));
  pending.clear();
}

/** The time limits pass as soon as the receiver of an answer has seen it. */
export function passLimitsAfter(answer: Response): Response {
  setImmediate(passTimeLimits);
  return answer;
}
