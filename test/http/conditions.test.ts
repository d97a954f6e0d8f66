import { describe, expect, it } from "vitest";
import { checkConditions, isNotModified } from "../../plugin/http/conditions.js";

const ETAG = '"one"';
const SAME = "Fri, 20 Nov 2026 09:00:00 GMT";
const LATER = "Fri, 20 Nov 2026 09:00:01 GMT";
const EARLIER = "Fri, 20 Nov 2026 08:59:59 GMT";
const VERSION = { etag: ETAG, modified: new Date("2026-11-20T09:00:00.700Z") };
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
    ["If-Unmodified-Since of when it was changed", { "if-unmodified-since": SAME }, ETAG],
    ["If-Unmodified-Since of later", { "if-unmodified-since": LATER }, ETAG],
    ["If-Unmodified-Since of nothing", { "if-unmodified-since": EARLIER }, null],
    ["If-Unmodified-Since that is no date", { "if-unmodified-since": "1999" }, ETAG],
    ["If-Unmodified-Since where If-Match says more", { "if-match": ETAG, "if-unmodified-since": EARLIER }, ETAG],
  ])("holds for a write: %s", (_, headers, etag) => {
    const version = etag === null ? null : VERSION;
    for (const method of ["PUT", "POST", "DELETE"]) {
      expect(() => checkConditions(request(method, headers), version)).not.toThrow();
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
    ["If-Unmodified-Since of earlier", { "if-unmodified-since": EARLIER }, ETAG],
    [
      "If-Match of another version and a date that is right",
      { "if-match": '"two"', "if-unmodified-since": SAME },
      ETAG,
    ],
    ["both, of which one does not hold", { "if-match": '"one"', "if-none-match": '"one"' }, ETAG],
  ])("412 precondition-failed for a write: %s", (_, headers, etag) => {
    const version = etag === null ? null : VERSION;
    for (const method of ["PUT", "POST", "DELETE"]) {
      expect(() => checkConditions(request(method, headers), version)).toThrow(failed);
    }
  });

  it.each<[string, Record<string, string>, string | null, string]>([
    [
      "something is there",
      { "if-none-match": "*" },
      ETAG,
      "It already exists: the condition If-None-Match is not met.",
    ],
    ["another version is there", { "if-match": '"two"' }, ETAG, "It has changed since: "],
    ["it was changed later", { "if-unmodified-since": EARLIER }, ETAG, "It has changed since: "],
    ["nothing is there", { "if-match": "*" }, null, "It does not exist: "],
  ])("that fails says why: %s", (_, headers, etag, why) => {
    expect(() => checkConditions(request("PUT", headers), etag === null ? null : VERSION)).toThrow(why);
  });

  it.each(["GET", "HEAD"])("is checked against ETag or modification time for %s", (method) => {
    expect(() => checkConditions(request(method, { "if-unmodified-since": SAME }), VERSION)).not.toThrow();
    expect(() => checkConditions(request(method, { "if-unmodified-since": EARLIER }), VERSION)).toThrow(failed);
    expect(() => checkConditions(request(method, { "if-none-match": "*" }), VERSION)).not.toThrow();
    expect(() =>
      checkConditions(request(method, { "if-match": '"one"', "if-none-match": ETAG }), VERSION),
    ).not.toThrow();
    expect(() => checkConditions(request(method, { "if-match": '"two"' }), VERSION)).toThrow(failed);
  });
});

describe("a copy", () => {
  it.each<[boolean, Record<string, string>]>([
    [false, {}],
    [true, { "if-none-match": ETAG }],
    [true, { "if-none-match": `"two", W/${ETAG}` }],
    [true, { "if-none-match": "*" }],
    [false, { "if-none-match": '"two"' }],
    [false, { "if-none-match": "" }],
    [true, { "if-modified-since": SAME }],
    [true, { "if-modified-since": LATER }],
    [false, { "if-modified-since": EARLIER }],
    [true, { "if-modified-since": "Friday, 20-Nov-26 09:00:00 GMT" }],
    [true, { "if-modified-since": "Fri Nov 20 09:00:00 2026" }],
    [false, { "if-modified-since": "Fri Nov 20 08:59:59 2026" }],
    [false, { "if-modified-since": "one day" }],
    [false, { "if-modified-since": "2099" }],
    [false, { "if-modified-since": "2099-11-21" }],
    [false, { "if-modified-since": "whatever 2099" }],
    [false, { "if-modified-since": "Fri, 20 Nov 2099 09:00:00 +0200" }],
    [false, { "if-none-match": '"two"', "if-modified-since": SAME }],
    [true, { "if-none-match": ETAG, "if-modified-since": "Thu, 19 Nov 2026 09:00:00 GMT" }],
  ])("is known: %s, by %j", (isKnown, headers) => {
    expect(isNotModified(request("GET", headers), VERSION)).toBe(isKnown);
  });
});
