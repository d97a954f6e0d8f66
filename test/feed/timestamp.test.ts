import { describe, expect, it } from "vitest";
import { formatTimestamp, hashedForm, toInstant } from "../../plugin/feed/timestamp.js";

describe("the moment of a timestamp", () => {
  it.each([
    ["2024-01-02T03:04:05Z", "2024-01-02T03:04:05Z"],
    ["2024-01-02t03:04:05z", "2024-01-02T03:04:05Z"],
    ["2024-01-02T03:04Z", "2024-01-02T03:04:00Z"],
    ["2024-01-02T03:04", "2024-01-02T03:04:00Z"],
    ["2024-01-02T03:04:05.999999999Z", "2024-01-02T03:04:05Z"],
    ["2024-01-02T03:04:05+01", "2024-01-02T02:04:05Z"],
    ["2024-01-02T03:04:05+0130", "2024-01-02T01:34:05Z"],
    ["2024-01-01T00:00:00+14:00", "2023-12-31T10:00:00Z"],
    ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"],
  ])("%s is %s", (written, instant) => {
    expect(toInstant(written)).toBe(instant);
  });

  it.each([
    "2023-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2024-04-31T00:00:00Z",
    "2024-00-10T00:00:00Z",
    "2024-13-01T00:00:00Z",
    "2024-01-00T00:00:00Z",
    "2024-01-01T24:00:00Z",
    "2024-01-01T00:60:00Z",
    "2024-01-01T00:00:60Z",
    "2024-01-01T00:00:00+24:00",
    "2024-01-01T00:00:00+01:60",
    "2024-01-01",
    "2024-01-01 00:00:00Z",
    "20240101T000000Z",
    "0000-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-01:00",
    "2024-01-01T00:00:00Zx",
    "yesterday",
    "",
  ])("%s is none", (written) => {
    expect(toInstant(written)).toBeNull();
  });

  it.each([
    ["2024-01-02T03:04:05.5+00:00", "2024-01-02T03:04:05Z"],
    ["2024-01-02T03:04-00:00", "2024-01-02T03:04:00Z"],
    ["2024-01-02T03:04:05.5+0100", "2024-01-02T03:04:05+01:00"],
    ["2024-01-02T03:04:05-09", "2024-01-02T03:04:05-09:00"],
    ["2024-01-02T03:04:05-0000", "2024-01-02T03:04:05Z"],
    ["2024-01-02T03:04", "2024-01-02T03:04:00Z"],
  ])("%s is hashed as %s", (written, hashed) => {
    expect(hashedForm(written)).toBe(hashed);
  });

  it("is written in whole seconds of UTC, and only in the years that a timestamp can hold", () => {
    expect(formatTimestamp(Date.parse("2024-01-02T03:04:05.999Z"))).toBe("2024-01-02T03:04:05Z");
    for (const wrong of [new Date(Number.NaN), 1e15]) {
      expect(() => formatTimestamp(wrong)).toThrow(expect.objectContaining({ code: "bad-timestamp" }));
    }
  });
});
