import { describe, expect, it } from "vitest";
import { freshUntil } from "../../plugin/http/retry.js";

const NOW = Date.parse("2026-11-20T09:00:00Z");
const SECOND = 1000;
const DAY = 24 * 60 * 60 * SECOND;

describe("the freshness of a response", () => {
  it.each([
    ["its max-age", { "cache-control": "public, Max-Age=60" }, 60],
    ["its max-age in quotes", { "cache-control": 'max-age="60"' }, 60],
    ["the first of two max-age", { "cache-control": "max-age=60, max-age=120" }, 60],
    ["its max-age, not s-maxage", { "cache-control": "s-maxage=5, max-age=60" }, 60],
    ["max-age minus Age", { "cache-control": "max-age=60", age: "20" }, 40],
    ["the time until Expires", { expires: "Fri, 20 Nov 2026 09:01:00 GMT" }, 60],
    [
      "the time from Date to Expires, by the server's clock",
      { expires: "Fri, 20 Nov 2026 12:01:00 GMT", date: "Fri, 20 Nov 2026 12:00:00 GMT" },
      60,
    ],
    ["its max-age, not Expires", { "cache-control": "max-age=60", expires: "0" }, 60],
    ["at most a day", { "cache-control": "max-age=31536000" }, DAY / SECOND],
    ["at most a day, for any number", { "cache-control": `max-age=${"9".repeat(400)}` }, DAY / SECOND],
  ])("is %s", (_name, headers, seconds) => {
    expect(freshUntil(headers, NOW)).toBe(NOW + seconds * SECOND);
  });

  it.each([
    ["no header", {}],
    ["no-store", { "cache-control": "max-age=60, no-store" }],
    ["no-cache", { "cache-control": "no-cache, max-age=60" }],
    ["max-age is 0", { "cache-control": "max-age=0", expires: "Fri, 20 Nov 2026 09:01:00 GMT" }],
    ["max-age is not a number", { "cache-control": "max-age=-60" }],
    ["only s-maxage, for shared caches", { "cache-control": "s-maxage=60" }],
    ["Age is max-age", { "cache-control": "max-age=60", age: "60" }],
    ["Expires is in the past", { expires: "Fri, 20 Nov 2026 08:59:00 GMT" }],
    ["Expires is not a date", { expires: "0" }],
  ])("is unknown: %s", (_name, headers) => {
    expect(freshUntil(headers, NOW)).toBeNull();
  });
});
