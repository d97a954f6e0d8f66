import { describe, expect, it } from "vitest";
import { parseHtml } from "../../plugin/http/parse-html.js";
import { TimeSlices } from "../../plugin/http/time-slices.js";

describe("a long computation", () => {
  it("lets timers and other requests run", async () => {
    const seen: string[] = [];
    setTimeout(() => seen.push("timer"), 1);
    await new TimeSlices().filter(Array.from({ length: 200_000 }, String), (text) => URL.canParse(text));
    seen.push("computation");
    expect(seen).toEqual(["timer", "computation"]);
  });

  it("has the same result as without slices", async () => {
    const slices = new TimeSlices();
    const numbers = Array.from({ length: 100_000 }, (_, n) => n);
    expect(await slices.map(new Set(numbers), (n) => n)).toEqual(numbers);
    expect(await slices.filter(numbers, (n) => n % 50_000 === 1)).toEqual([1, 50_001]);
    expect([await slices.some(numbers, (n) => n === 99_999), await slices.some(numbers, (n) => n < 0)]).toEqual([
      true,
      false,
    ]);
  });

  it("unreachable: ends at its deadline", async () => {
    const page = '<a href="x">'.repeat(100_000);
    const deadline = new AbortController();
    const slices = new TimeSlices(deadline.signal);
    setImmediate(() => deadline.abort());
    await expect(parseHtml(page, slices)).rejects.toMatchObject({ code: "unreachable" });
  });
});
