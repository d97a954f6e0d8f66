import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { noSuchRange, parseRange } from "../../plugin/http/conditions.js";
import { runs } from "../helpers/runs.js";

describe("a Range header", () => {
  it.each<[string | null, number, object | "none" | null]>([
    [null, 10, null],
    ["", 10, null],
    ["lines=0-1", 10, null],
    ["bytes", 10, null],
    ["0-1", 10, null],
    ["bytes=0-0", 10, { first: 0, last: 0 }],
    ["bytes=3-5", 10, { first: 3, last: 5 }],
    ["Bytes=3-5", 10, { first: 3, last: 5 }],
    ["bytes=003-005", 10, { first: 3, last: 5 }],
    ["bytes=3-", 10, { first: 3, last: 9 }],
    ["bytes=9-", 10, { first: 9, last: 9 }],
    ["bytes=3-999999999999999", 10, { first: 3, last: 9 }],
    ["bytes=-1", 10, { first: 9, last: 9 }],
    ["bytes=-10", 10, { first: 0, last: 9 }],
    ["bytes=-11", 10, { first: 0, last: 9 }],
    ["bytes=10-", 10, "none"],
    ["bytes=10-12", 10, "none"],
    ["bytes=-0", 10, "none"],
    ["bytes=5-3", 10, null],
    ["bytes=0-", 0, "none"],
    ["bytes=0-0", 0, "none"],
    ["bytes=-1", 0, "none"],
    ["bytes=", 10, null],
    ["bytes=-", 10, null],
    ["bytes=1", 10, null],
    ["bytes=1-2-3", 10, null],
    ["bytes=1 -2", 10, null],
    ["bytes= 1-2", 10, null],
    ["bytes=+1-2", 10, null],
    ["bytes=1e0-2", 10, null],
    ["bytes=\u0661-\u0662", 10, null],
    ["bytes=0-1,2-3", 10, null],
    ["bytes=0-1, 4-5 ,-1,20-", 10, null],
    [`bytes=0-0${",0-0".repeat(16)}`, 10, null],
    ["bytes=0-1,x", 10, null],
    ["bytes=0-1,", 10, null],
    ["bytes=0-9223372036854775807", 10, { first: 0, last: 9 }],
    ["bytes=-9223372036854775807", 10, { first: 0, last: 9 }],
    ["bytes=9223372036854775807-", 10, "none"],
    [`bytes=${"0-0,".repeat(1000)}0-0`, 10, null],
    [`bytes=0-${"9".repeat(1000)}`, 10, { first: 0, last: 9 }],
  ])("%.30s of %d bytes", (header, size, range) => {
    expect(parseRange(header, size)).toEqual(range);
  });

  it("is parsed as a range within the resource; an invalid one is ignored", () => {
    const number = fc.option(fc.nat(20).map(String), { nil: "" });
    fc.assert(
      fc.property(number, number, fc.nat(12), (first, last, size) => {
        const all = Array.from({ length: size }, (_, at) => at);
        const range = parseRange(`bytes=${first}-${last}`, size);
        const wanted = first === "" ? all.slice(Math.max(size - Number(last), 0)) : all.slice(Number(first));
        const upTo = first === "" || last === "" ? wanted : wanted.filter((at) => at <= Number(last));
        const isInvalid = first === "" ? last === "" : last !== "" && Number(first) > Number(last);
        const isNone = upTo.length === 0;
        expect(range).toEqual(isInvalid ? null : isNone ? "none" : { first: upTo[0], last: upTo.at(-1) });
      }),
      { seed: 9110, numRuns: runs(200) },
    );
  });

  it("416: a range outside the resource; the response has the size", async () => {
    const response = noSuchRange(10);
    expect(response.status).toBe(416);
    expect(response.headers["content-range"]).toBe("bytes */10");
    expect(JSON.parse(String(response.body))).toMatchObject({ code: "range-not-satisfiable" });
  });
});
