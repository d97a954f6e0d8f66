import { describe, expect, it } from "vitest";
import { freshUntil } from "../../plugin/http/retry.js";

const NOW = Date.parse("2026-11-20T09:00:00Z");
const SECOND = 1000;
const DAY = 24 * 60 * 60 * SECOND;

describe("how long an answer is fresh", () => {
  it.each([
    ["as long as max-age says", { "cache-control": "public, Max-Age=60" }, 60],
    ["as long as a quoted max-age says", { "cache-control": 'max-age="60"' }, 60],
    ["as long as the first max-age says", { "cache-control": "max-age=60, max-age=120" }, 60],
    ["whatever s-maxage says", { "cache-control": "s-maxage=5, max-age=60" }, 60],
    ["less what it has spent in other caches", { "cache-control": "max-age=60", age: "20" }, 40],
    ["until it expires", { expires: "Fri, 20 Nov 2026 09:01:00 GMT" }, 60],
    [
      "until it expires by the other side's clock",
      { expires: "Fri, 20 Nov 2026 12:01:00 GMT", date: "Fri, 20 Nov 2026 12:00:00 GMT" },
      60,
    ],
    ["as max-age says, whatever Expires does", { "cache-control": "max-age=60", expires: "0" }, 60],
    ["a day at most", { "cache-control": "max-age=31536000" }, DAY / SECOND],
    ["a day at most, of any number", { "cache-control": `max-age=${"9".repeat(400)}` }, DAY / SECOND],
  ])("is %s", (_name, headers, seconds) => {
    expect(freshUntil(headers, NOW)).toBe(NOW + seconds * SECOND);
  });

  it.each([
    ["it does not say", {}],
    ["it is not to be stored", { "cache-control": "max-age=60, no-store" }],
    ["it is to be asked for each time", { "cache-control": "no-cache, max-age=60" }],
    ["max-age is 0", { "cache-control": "max-age=0", expires: "Fri, 20 Nov 2026 09:01:00 GMT" }],
    ["max-age is no number", { "cache-control": "max-age=-60" }],
    ["only caches of many people may keep it", { "cache-control": "s-maxage=60" }],
    ["it is as old as it may get", { "cache-control": "max-age=60", age: "60" }],
    ["it has expired", { expires: "Fri, 20 Nov 2026 08:59:00 GMT" }],
    ["it expires at no date", { expires: "0" }],
  ])("is unknown: %s", (_name, headers) => {
    expect(freshUntil(headers, NOW)).toBeNull();
  });
});
