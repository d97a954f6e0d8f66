import { expect, it } from "vitest";
import { RefreshInterval } from "../../plugin/author/refresh-interval.js";

it("an interval lets one of its callers read, also after a read in between, and after the clock was set back", () => {
  const clock = { time: 1000 };
  const interval = new RefreshInterval(100, () => clock.time);
  const claimsAt = (time: number) => {
    clock.time = time;
    return [interval.claim(), interval.claim()];
  };
  expect(claimsAt(1000)).toEqual([true, false]);
  expect(claimsAt(1099)).toEqual([false, false]);
  expect(claimsAt(1100)).toEqual([true, false]);
  clock.time = 1150;
  interval.restart();
  expect(claimsAt(1249)).toEqual([false, false]);
  expect(claimsAt(500)).toEqual([true, false]);
});
