import { describe, expect, it } from "vitest";
import { nextAttempt, parseRetryAfter } from "../../plugin/http/retry.js";

const NOW = Date.parse("2026-11-20T09:00:00Z");
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** The times of all attempts, in milliseconds after the first. */
function attempts(random: number): number[] {
  const times = [NOW];
  for (let now: number | null = NOW; now !== null; ) {
    now = nextAttempt({ attempts: times.length, first: NOW }, null, now, () => random);
    if (now !== null) times.push(now);
  }
  return times.map((time) => time - NOW);
}

describe("the next attempt", () => {
  it.each([0, 0.5, 0.999])("comes after growing pauses, at most 8 times in 3 days (random %d)", (random) => {
    const times = attempts(random);
    const pauses = times.slice(1).map((time, at) => time - (times[at] ?? 0));
    expect(times).toHaveLength(8);
    expect(pauses.slice(0, -1)).toEqual(pauses.slice(0, -1).toSorted((a, b) => a - b));
    expect(times.at(-1)).toBeGreaterThan(2 * DAY);
    expect(times.at(-1)).toBeLessThanOrEqual(3 * DAY);
  });

  it("comes as long as it is the eighth, at the last moment of the three days", () => {
    const next = (attempts: number, now: number) => nextAttempt({ attempts, first: NOW }, null, now, () => 0.5);
    expect([next(7, NOW + 3 * DAY - 1), next(8, NOW + 3 * DAY - 1)]).toEqual([NOW + 3 * DAY, null]);
    const atEnd = nextAttempt({ attempts: 1, first: NOW }, NOW + 3 * DAY, NOW, () => 0.5);
    expect(atEnd).toBe(NOW + 3 * DAY);
  });

  it("has jitter, so that simultaneous failures are not retried simultaneously", () => {
    const first = (random: number) => nextAttempt({ attempts: 1, first: NOW }, null, NOW, () => random);
    expect([first(0), first(0.5)]).toEqual([NOW + 8 * MINUTE, NOW + 10 * MINUTE]);
  });

  it("waits for Retry-After or the schedule, whichever is later", () => {
    const next = (minutes: number) => nextAttempt({ attempts: 1, first: NOW }, NOW + minutes * MINUTE, NOW, () => 0.5);
    expect([next(1), next(300)]).toEqual([NOW + 10 * MINUTE, NOW + 300 * MINUTE]);
  });

  it.each([
    ["8 attempts", { attempts: 8, first: NOW }, null, NOW],
    ["3 days", { attempts: 2, first: NOW }, null, NOW + 3 * DAY],
    ["a Retry-After beyond 3 days", { attempts: 1, first: NOW }, NOW + 3 * DAY + 1, NOW],
  ])("does not exist after %s", (_, tried, notBefore, now) => {
    expect(nextAttempt(tried, notBefore, now, () => 0.5)).toBeNull();
  });
});

describe("Retry-After", () => {
  it.each([
    ["120", NOW + 2 * MINUTE],
    [" 0 ", NOW],
    ["Fri, 20 Nov 2026 10:00:00 GMT", NOW + 60 * MINUTE],
    ["Friday, 20-Nov-26 10:00:00 GMT", NOW + 60 * MINUTE],
    ["-5", null],
    ["1.5", null],
    ["soon", null],
    ["Fri, 99 Nov 2026 10:00:00 GMT", null],
    ["99999999999999999999", null],
    ["", null],
    [undefined, null],
  ])("%j", (value, expected) => {
    expect(parseRetryAfter(value, NOW)).toBe(expected);
  });
});
