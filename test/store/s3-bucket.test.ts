import { describe, expect, it } from "vitest";
import { listPage, listQuery } from "../../plugin/store/s3-bucket.js";

const list = (inner: string) => `<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>bucket</Name><Prefix/>${inner}</ListBucketResult>
`;
const contents = (key: string) =>
  `<Contents><Key>${key}</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified><Size>3</Size></Contents>`;
const END = "<IsTruncated>false</IsTruncated>";
const MORE = "<IsTruncated>true</IsTruncated>";

describe("a page of a list", () => {
  it("has its keys, encoded or not", () => {
    const xml = list(END + contents("a%2Fb") + contents("a/c.d") + contents("%C3%A4+x"));
    expect(listPage(xml)).toEqual({ keys: ["a/b", "a/c.d", "ä+x"], next: null });
  });

  it("leaves out keys that cannot be decoded", () => {
    expect(listPage(list(END + contents("100%zz") + contents("a")))).toEqual({ keys: ["a"], next: null });
  });

  it("can be the last one, and empty", () => {
    expect(listPage(list(END))).toEqual({ keys: [], next: null });
  });

  it.each([
    ["1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=", "1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM="],
    ["a&amp;b&lt;c&gt;d&quot;e&apos;f", "a&b<c>d\"e'f"],
    ["&#34;&#x26;&#xE4;&#x1F600;", '"&ä😀'],
    ["&amp;lt;", "&lt;"],
    ["&nothing;&#x110000;", "&nothing;&#x110000;"],
  ])("has the token of the next one: %s", (token, next) => {
    const xml = list(`${MORE}<NextContinuationToken>${token}</NextContinuationToken>${contents("a")}`);
    expect(listPage(xml)).toEqual({ keys: ["a"], next });
    expect(listQuery({ prefix: "a/", startAfter: undefined, limit: 1000, next })).toMatchObject({
      prefix: "a/",
      "continuation-token": next,
    });
  });

  it.each([
    ["nothing", ""],
    ["an HTML page", "<html>Welcome!</html>"],
    ["a truncated list", list(END + contents("a")).slice(0, -10)],
    ["a list without IsTruncated", list(contents("a"))],
    ["a list with more pages but no token", list(MORE + contents("a"))],
  ])("cannot be parsed from %s", (_name, xml) => {
    expect(() => listPage(xml)).toThrow(/list of keys is incomplete/);
  });
});
