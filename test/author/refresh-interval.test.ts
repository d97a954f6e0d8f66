import { expect, it } from "vitest";
import { RefreshInterval } from "../../plugin/author/refresh-interval.js";

it("one caller may refresh in each interval, also after a manual refresh, and after the clock is set back", () => {
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
