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
    ["no condition", {}, ETAG],
    ["no condition, resource missing", {}, null],
    ["If-Match with the current ETag", { "if-match": '"one"' }, ETAG],
    ["If-Match with several ETags, one of them current", { "if-match": '"two" ,"one",  "three"' }, ETAG],
    ["If-Match: *", { "if-match": "*" }, ETAG],
    ["If-None-Match with other ETags", { "if-none-match": '"two", W/"three"' }, ETAG],
    ["If-None-Match: *, resource missing", { "if-none-match": "*" }, null],
    ["If-None-Match with an ETag, resource missing", { "if-none-match": '"one"' }, null],
    ["If-Match and If-None-Match, both true", { "if-match": '"one"', "if-none-match": '"two"' }, ETAG],
    ["If-Unmodified-Since with the modification time", { "if-unmodified-since": SAME }, ETAG],
    ["If-Unmodified-Since with a later time", { "if-unmodified-since": LATER }, ETAG],
    ["If-Unmodified-Since, resource missing", { "if-unmodified-since": EARLIER }, null],
    ["If-Unmodified-Since with an invalid date", { "if-unmodified-since": "1999" }, ETAG],
    [
      "If-Unmodified-Since with an earlier time, ignored because of If-Match",
      { "if-match": ETAG, "if-unmodified-since": EARLIER },
      ETAG,
    ],
  ])("holds for a write: %s", (_, headers, etag) => {
    const version = etag === null ? null : VERSION;
    for (const method of ["PUT", "POST", "DELETE"]) {
      expect(() => checkConditions(request(method, headers), version)).not.toThrow();
    }
  });

  it.each<[string, Record<string, string>, string | null]>([
    ["If-Match with another ETag", { "if-match": '"two"' }, ETAG],
    ["If-Match with a part of the ETag", { "if-match": '"on"' }, ETAG],
    ["If-Match without quotation marks", { "if-match": "one" }, ETAG],
    ["If-Match with the weak form of the ETag", { "if-match": 'W/"one"' }, ETAG],
    ["If-Match with an empty value", { "if-match": "" }, ETAG],
    ["If-Match with an ETag, resource missing", { "if-match": '"one"' }, null],
    ["If-Match: *, resource missing", { "if-match": "*" }, null],
    ["If-None-Match: *", { "if-none-match": "*" }, ETAG],
    ["If-None-Match with the current ETag", { "if-none-match": '"two", "one"' }, ETAG],
    ["If-None-Match with the weak form of the ETag", { "if-none-match": 'W/"one"' }, ETAG],
    ["If-Unmodified-Since with an earlier time", { "if-unmodified-since": EARLIER }, ETAG],
    [
      "If-Match with another ETag, and a true If-Unmodified-Since",
      { "if-match": '"two"', "if-unmodified-since": SAME },
      ETAG,
    ],
    ["If-Match true, If-None-Match false", { "if-match": '"one"', "if-none-match": '"one"' }, ETAG],
  ])("412 precondition-failed for a write: %s", (_, headers, etag) => {
    const version = etag === null ? null : VERSION;
    for (const method of ["PUT", "POST", "DELETE"]) {
      expect(() => checkConditions(request(method, headers), version)).toThrow(failed);
    }
  });

  it.each<[string, Record<string, string>, string | null, string]>([
    [
      "the resource exists",
      { "if-none-match": "*" },
      ETAG,
      "It already exists: the condition If-None-Match is not met.",
    ],
    ["the ETag differs", { "if-match": '"two"' }, ETAG, "It has changed since: "],
    ["it was modified later", { "if-unmodified-since": EARLIER }, ETAG, "It has changed since: "],
    ["the resource is missing", { "if-match": "*" }, null, "It does not exist: "],
  ])("that fails gives the reason: %s", (_, headers, etag, why) => {
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

describe("a cached copy", () => {
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
  ])("is up to date: %s, by %j", (isFresh, headers) => {
    expect(isNotModified(request("GET", headers), VERSION)).toBe(isFresh);
  });
});
