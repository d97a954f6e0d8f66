import { describe, expect, it } from "vitest";
import { type AlicesBlobs, alicesBlobs, expectRefusal, outcomeOf } from "../alices-blobs.js";

const TEXT = "0123456789";
const THOUSAND = `bytes=${Array.from({ length: 1000 }, (_, at) => `${at}-${at}`).join(",")}`;

/** Two ways to read a blob: signed by the owner, and unsigned at the shared URL. */
const READERS: [string, (alice: AlicesBlobs, headers: Record<string, string>, method?: string) => Promise<Response>][] =
  [
    ["the owner", (alice, headers, method = "GET") => (method === "GET" ? alice.get : alice.head)("a", { headers })],
    ["a visitor", (alice, headers, method = "GET") => alice.getShared("a", headers, method)],
  ];

async function withBlob(contents = TEXT) {
  const alice = alicesBlobs();
  const response = await alice.put("a", contents, { "content-type": "text/plain", "blob-public": "?1" });
  return { alice, etag: response.headers.get("etag") ?? "" };
}

/** Status, content-range, content-length and body. */
async function partOf(response: Response) {
  const { headers } = response;
  return [response.status, headers.get("content-range"), headers.get("content-length"), await response.text()];
}

describe.each(READERS)("a range, for %s", (_, read) => {
  it.each([
    ["bytes=0-0", "bytes 0-0/10", "0"],
    ["bytes=2-4", "bytes 2-4/10", "234"],
    ["bytes=0-9", "bytes 0-9/10", TEXT],
    ["bytes=9-9", "bytes 9-9/10", "9"],
    ["bytes=7-", "bytes 7-9/10", "789"],
    ["bytes=0-", "bytes 0-9/10", TEXT],
    ["bytes=7-99", "bytes 7-9/10", "789"],
    ["bytes=-3", "bytes 7-9/10", "789"],
    ["bytes=-10", "bytes 0-9/10", TEXT],
    ["bytes=-99", "bytes 0-9/10", TEXT],
    ["BYTES=2-4", "bytes 2-4/10", "234"],
  ])("206: %s", async (range, contentRange, part) => {
    const { alice, etag } = await withBlob();
    const response = await read(alice, { range });
    expect(response.headers.get("etag")).toBe(etag);
    expect(response.headers.get("content-type")).toBe("text/plain");
    expect(await partOf(response)).toEqual([206, contentRange, String(part.length), part]);
  });

  it.each(["bytes=10-", "bytes=10-10", "bytes=99-100", "bytes=-0"])(
    "416 range-not-satisfiable: %.20s",
    async (range) => {
      const { alice } = await withBlob();
      const response = await read(alice, { range });
      expect(response.headers.get("content-range")).toBe("bytes */10");
      expect(response.headers.get("cache-control")).toBe("no-store");
      expect(response.headers.get("netlify-cache-tag")).toBeNull();
      expect(await outcomeOf(response)).toEqual({ status: 416, code: "range-not-satisfiable" });
    },
  );

  it.each(["bytes=0-", "bytes=0-0", "bytes=-5"])("416: %s of an empty blob", async (range) => {
    const { alice } = await withBlob("");
    const response = await read(alice, { range });
    expect([response.status, response.headers.get("content-range")]).toEqual([416, "bytes */0"]);
  });

  it.each([
    ...["lines=0-1", "", "bytes", "0-1", "bytes=4-2", "bytes=", "bytes=-", "bytes=a-b", "bytes=1 - 2", "bytes=--1"],
    ...["bytes=0x1-2", "bytes=0-0,", "bytes=0-1,3-4", THOUSAND],
  ])("200: the whole blob for an invalid range, another unit or several ranges: %.20s", async (range) => {
    const { alice } = await withBlob();
    expect(await partOf(await read(alice, { range }))).toEqual([200, null, "10", TEXT]);
  });

  it("200: HEAD ignores a range", async () => {
    const { alice } = await withBlob();
    for (const range of ["bytes=2-4", "bytes=99-"]) {
      expect(await partOf(await read(alice, { range }, "HEAD"))).toEqual([200, null, "10", ""]);
    }
  });
});

describe.each(READERS)("a condition, for %s", (_, read) => {
  it.each(["GET", "HEAD"])("304: %s with If-None-Match of the current version", async (method) => {
    const { alice, etag } = await withBlob();
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
      const response = await read(alice, { "if-none-match": known, range: "bytes=99-" }, method);
      expect([response.status, await response.text()]).toEqual([304, ""]);
      expect(response.headers.get("etag")).toBe(etag);
      expect(response.headers.get("last-modified")).toBe("Fri, 20 Nov 2026 09:00:00 GMT");
    }
    expect((await read(alice, { "if-none-match": '"x"' }, method)).status).toBe(200);
  });

  it("200: If-None-Match of a version before a change of the metadata", async () => {
    const { alice, etag } = await withBlob();
    await alice.post("a", { Filename: "b" });
    expect((await read(alice, { "if-none-match": etag })).status).toBe(200);
  });

  it.each(["GET", "HEAD"])("412: %s with If-Match of another version", async (method) => {
    const { alice, etag } = await withBlob();
    expect((await read(alice, { "if-match": etag }, method)).status).toBe(200);
    expect((await read(alice, { "if-match": "*" }, method)).status).toBe(200);
    for (const required of ['"x"', `W/${etag}`, ""]) {
      expect((await read(alice, { "if-match": required, "if-none-match": etag }, method)).status).toBe(412);
    }
  });
});

describe("a condition that no signature covers", () => {
  const PART = { range: "bytes=2-4" };

  it("If-Range of this version: the range; of another version or a date: the whole blob", async () => {
    const { alice, etag } = await withBlob();
    expect((await alice.getShared("a", { ...PART, "if-range": etag })).status).toBe(206);
    expect((await alice.get("a", { headers: { ...PART, "if-range": etag } })).status).toBe(206);
    for (const other of ['"x"', `W/${etag}`, "Fri, 20 Nov 2026 09:00:00 GMT"]) {
      const headers = { ...PART, "if-range": other };
      const all = [200, null, "10", TEXT];
      expect(await partOf(await alice.getShared("a", headers))).toEqual(all);
      expect(await partOf(await alice.get("a", { headers }))).toEqual(all);
    }
  });

  it.each([
    ["Fri, 20 Nov 2026 09:00:00 GMT", 304],
    ["Fri, 20 Nov 2026 09:00:01 GMT", 304],
    ["Fri, 20 Nov 2026 08:59:59 GMT", 200],
    ["yesterday", 200],
    ["", 200],
  ])("If-Modified-Since %j: %d", async (since, status) => {
    const { alice } = await withBlob();
    const headers = { "if-modified-since": since };
    expect((await alice.getShared("a", headers)).status).toBe(status);
    expect((await alice.getShared("a", headers, "HEAD")).status).toBe(status);
    expect((await alice.get("a", { headers })).status).toBe(status);
  });

  it("If-Unmodified-Since of an earlier time: 412, and nothing changes", async () => {
    const { alice } = await withBlob();
    const headers = { "if-unmodified-since": "Fri, 20 Nov 2026 08:59:59 GMT" };
    const [put, remove] = [() => alice.put("a", "two", headers), () => alice.delete("a", { headers })];
    for (const send of [put, remove, () => alice.get("a", { headers }), () => alice.getShared("a", headers)])
      await expectRefusal(alice, send, 412, "precondition-failed");
  });

  it("If-Modified-Since is ignored next to If-None-Match", async () => {
    const { alice } = await withBlob();
    const headers = { "if-modified-since": "Fri, 20 Nov 2026 09:00:00 GMT", "if-none-match": '"x"' };
    expect((await alice.getShared("a", headers)).status).toBe(200);
  });

  it("If-Modified-Since of a Last-Modified that was rounded down to a second: 304", async () => {
    const clock = { time: Date.parse("2026-11-20T09:00:00.999Z") };
    const alice = alicesBlobs({ clock });
    await alice.put("a", TEXT, { "blob-public": "?1" });
    const since = (await alice.getShared("a")).headers.get("last-modified") ?? "";
    expect(since).toBe("Fri, 20 Nov 2026 09:00:00 GMT");
    expect((await alice.getShared("a", { "if-modified-since": since })).status).toBe(304);
  });
});

describe("a response to the owner", () => {
  it.each([
    ["", "attachment"],
    ["plain.txt", "attachment; filename*=UTF-8''plain.txt"],
    ["it's (a) *.txt", "attachment; filename*=UTF-8''it%27s%20%28a%29%20%2A.txt"],
    ['a"b;c=\u00e9\u{1f600}', "attachment; filename*=UTF-8''a%22b%3Bc%3D%C3%A9%F0%9F%98%80"],
  ])("has the file name %j as in RFC 8187, always as an attachment", async (filename, disposition) => {
    const alice = alicesBlobs();
    await alice.put("a", TEXT, { "content-type": "text/plain" });
    await alice.post("a", { Filename: filename });
    expect((await alice.get("a")).headers.get("content-disposition")).toBe(disposition);
  });
});
