import { describe, expect, it } from "vitest";
import { checkConditions, isCopy } from "../../plugin/http/conditions.js";

const ETAG = '"one"';
const failed = expect.objectContaining({ code: "precondition-failed" });

function request(method: string, headers: Record<string, string>): Request {
  return new Request("https://alice.example/a", { method, headers });
}

describe("a condition", () => {
  it.each<[string, Record<string, string>, string | null]>([
    ["none", {}, ETAG],
    ["none, of nothing", {}, null],
    ["If-Match of this version", { "if-match": '"one"' }, ETAG],
    ["If-Match of several, this one among them", { "if-match": '"two" ,"one",  "three"' }, ETAG],
    ["If-Match of any", { "if-match": "*" }, ETAG],
    ["If-None-Match of another version", { "if-none-match": '"two", W/"three"' }, ETAG],
    ["If-None-Match of any, of nothing", { "if-none-match": "*" }, null],
    ["If-None-Match of a version, of nothing", { "if-none-match": '"one"' }, null],
    ["both", { "if-match": '"one"', "if-none-match": '"two"' }, ETAG],
  ])("holds for a write: %s", (_, headers, etag) => {
    for (const method of ["PUT", "POST", "DELETE"]) {
      expect(() => checkConditions(request(method, headers), etag)).not.toThrow();
    }
  });

  it.each<[string, Record<string, string>, string | null]>([
    ["If-Match of another version", { "if-match": '"two"' }, ETAG],
    ["If-Match of a part of it", { "if-match": '"on"' }, ETAG],
    ["If-Match without quotation marks", { "if-match": "one" }, ETAG],
    ["If-Match of the weak form of this version", { "if-match": 'W/"one"' }, ETAG],
    ["If-Match of nothing that is named", { "if-match": "" }, ETAG],
    ["If-Match of a version, of nothing", { "if-match": '"one"' }, null],
    ["If-Match of any, of nothing", { "if-match": "*" }, null],
    ["If-None-Match of any", { "if-none-match": "*" }, ETAG],
    ["If-None-Match of this version", { "if-none-match": '"two", "one"' }, ETAG],
    ["If-None-Match of the weak form of this version", { "if-none-match": 'W/"one"' }, ETAG],
    ["both, of which one does not hold", { "if-match": '"one"', "if-none-match": '"one"' }, ETAG],
  ])("412 precondition-failed for a write: %s", (_, headers, etag) => {
    for (const method of ["PUT", "POST", "DELETE"]) {
      expect(() => checkConditions(request(method, headers), etag)).toThrow(failed);
    }
  });

  it.each(["GET", "HEAD"])("is If-Match alone for %s", (method) => {
    expect(() => checkConditions(request(method, { "if-none-match": "*" }), ETAG)).not.toThrow();
    expect(() => checkConditions(request(method, { "if-match": '"one"', "if-none-match": ETAG }), ETAG)).not.toThrow();
    expect(() => checkConditions(request(method, { "if-match": '"two"' }), ETAG)).toThrow(failed);
  });
});

describe("a copy", () => {
  const changed = new Date("2026-11-20T09:00:00.700Z");
  const SAME = "Fri, 20 Nov 2026 09:00:00 GMT";

  it.each<[boolean, Record<string, string>]>([
    [false, {}],
    [true, { "if-none-match": ETAG }],
    [true, { "if-none-match": `"two", W/${ETAG}` }],
    [true, { "if-none-match": "*" }],
    [false, { "if-none-match": '"two"' }],
    [false, { "if-none-match": "" }],
    [true, { "if-modified-since": SAME }],
    [true, { "if-modified-since": "Fri, 20 Nov 2026 09:00:01 GMT" }],
    [false, { "if-modified-since": "Fri, 20 Nov 2026 08:59:59 GMT" }],
    [false, { "if-modified-since": "one day" }],
    [false, { "if-none-match": '"two"', "if-modified-since": SAME }],
    [true, { "if-none-match": ETAG, "if-modified-since": "Thu, 19 Nov 2026 09:00:00 GMT" }],
  ])("is known: %s, by %j", (isKnown, headers) => {
    expect(isCopy(request("GET", headers), ETAG, changed)).toBe(isKnown);
  });

  it("is not known by a time where that does not count", () => {
    expect(isCopy(request("GET", { "if-modified-since": SAME }), ETAG)).toBe(false);
    expect(isCopy(request("GET", { "if-none-match": ETAG }), ETAG)).toBe(true);
  });
});
