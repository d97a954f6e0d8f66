import { describe, expect, it } from "vitest";
import {
  API,
  alicesBlobs,
  expectRefusal,
  jsonOf,
  outcomeOf,
  propertiesHeader,
  sha256,
  storedBlobs,
} from "../alices-blobs.js";

const PROOF = { created: "2026-11-20T09:00:00Z", sha256: "x", signature: "y" };
const HEADERS = {
  "content-type": "text/plain",
  "content-disposition": "attachment; filename*=UTF-8''old.txt",
  "blob-public": "?1",
  "blob-properties": propertiesHeader({ colour: "red", ...PROOF }),
};
const OLD = { Type: "text/plain", Filename: "old.txt", Public: true, Properties: { colour: "red" } };

async function withBlob() {
  const alice = alicesBlobs();
  const etag = (await alice.put("a", "one", HEADERS)).headers.get("etag") ?? "";
  alice.clock.time += 1000;
  return { alice, etag };
}

describe("POST", () => {
  it.each([
    ["only the proof, which is removed", {}, {}],
    ["the type", { Type: "text/html; charset=utf-8" }, { Type: "text/html; charset=utf-8" }],
    ["the file name", { Filename: "neu \u{1f600}.txt" }, { Filename: "neu \u{1f600}.txt" }],
    ["the file name to none", { Filename: "" }, { Filename: "" }],
    ["the visibility", { Public: false }, { Public: false, shared: null }],
    ["all properties", { Properties: { a: "1", b: "" } }, { Properties: { a: "1", b: "" } }],
    ["all properties to none", { Properties: {} }, { Properties: {} }],
    ["the proof", { Properties: PROOF }, { Properties: PROOF }],
    [
      "everything, in names of any case",
      { type: "a/b", FILENAME: "c", pUBLIC: false, properties: { d: "e" } },
      { Type: "a/b", Filename: "c", Public: false, Properties: { d: "e" } },
    ],
  ])("200: changes %s, and keeps the rest and the contents", async (_, sent, changes) => {
    const { alice } = await withBlob();
    const response = await alice.post("a", sent);
    expect(response.status).toBe(200);
    const json = await response.json();
    expect(json).toMatchObject({
      ...OLD,
      ...changes,
      size: 3,
      sha256: sha256("one"),
      created: "2026-11-20T09:00:00.000Z",
      modified: "2026-11-20T09:00:01.000Z",
    });
    expect((await jsonOf(await alice.list())).blobs).toEqual([json]);
    expect(await storedBlobs(alice.store)).toMatchObject({ blobs: [{ contents: "one" }], leftovers: [] });
  });

  it("200: If-Match of the current version; the response has the etag of the new one", async () => {
    const { alice, etag } = await withBlob();
    const response = await alice.post("a", { Filename: "b" }, { "if-match": etag });
    expect(response.status).toBe(200);
    expect(response.headers.get("etag")).not.toBe(etag);
    expect((await alice.head("a")).headers.get("etag")).toBe(response.headers.get("etag"));
  });

  it.each([
    ["If-Match of another version", { "if-match": '"x"' }],
    ["If-None-Match: *", { "if-none-match": "*" }],
  ])("412: %s, and nothing changes", async (_, headers) => {
    const { alice } = await withBlob();
    await expectRefusal(alice, () => alice.post("a", { Filename: "b" }, headers), 412, "precondition-failed");
  });

  it.each([
    ["an unknown field", { Type: "a/b", Size: 3 }, "bad-metadata"],
    ["a field twice, in two cases", { Type: "a/b", type: "c/d" }, "bad-metadata"],
    ["an invalid type", { Type: "text" }, "bad-metadata"],
    ["a type that is not a string", { Type: null }, "bad-metadata"],
    ["a file name that is not a string", { Filename: 1 }, "bad-metadata"],
    ["a path", { Filename: "../a" }, "bad-metadata"],
    ["Public as a string", { Public: "true" }, "bad-metadata"],
    ["a list as properties", { Properties: [] }, "bad-metadata"],
    ["a property that is a number", { Properties: { a: 1 } }, "bad-metadata"],
    ["a list", [], "bad-request"],
    ["a string", "Type", "bad-request"],
    ["nothing", null, "bad-request"],
  ])("400: %s, and nothing changes", async (_, sent, code) => {
    const { alice } = await withBlob();
    await expectRefusal(alice, () => alice.post("a", sent), 400, code);
  });

  it.each([
    ["no type", {}],
    ["a form", { "content-type": "application/x-www-form-urlencoded" }],
    ["another JSON type", { "content-type": "application/ld+json" }],
  ])("415 bad-content-type: %s", async (_, headers) => {
    const { alice } = await withBlob();
    const send = () => alice.send("POST", `${API}/a`, { body: '{"Filename":"b"}', headers });
    await expectRefusal(alice, send, 415, "bad-content-type");
  });

  it("200: JSON with parameters and in capitals is JSON", async () => {
    const { alice } = await withBlob();
    const response = await alice.post("a", { Filename: "b" }, { "content-type": "Application/JSON ; charset=utf-8" });
    expect(response.status).toBe(200);
  });

  it("413 body-too-large: more than 64 KiB, with and without Content-Length; 64 KiB are read", async () => {
    const { alice } = await withBlob();
    const body = `{"Filename":"b"}${" ".repeat(64 * 1024)}`;
    const headers = { "content-type": "application/json" };
    const url = `${API}/a`;
    for (const length of [undefined, null]) {
      const response = await alice.send("POST", url, { body: body.slice(0, 64 * 1024 + 1), headers, length });
      expect(await outcomeOf(response)).toEqual({ status: 413, code: "body-too-large" });
    }
    expect((await alice.send("POST", url, { body: body.slice(0, 64 * 1024), headers })).status).toBe(200);
  });
});

describe("DELETE", () => {
  it("200: contents and metadata are deleted before the response, also at the shared URL, and later requests get 404", async () => {
    const { alice } = await withBlob();
    expect((await alice.getShared("a")).status).toBe(200);
    const response = await alice.delete("a");
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ key: "a", sha256: sha256("one"), shared: null });
    expect(await storedBlobs(alice.store)).toEqual({ blobs: [{ isDeleted: true }], leftovers: [] });
    for (const again of [
      alice.get("a"),
      alice.head("a"),
      alice.delete("a"),
      alice.post("a", {}),
      alice.getShared("a"),
    ]) {
      expect((await again).status).toBe(404);
    }
    expect(await jsonOf(await alice.list())).toEqual({ blobs: [], next: null });
  });

  it("412: the condition does not hold; 200 if it does", async () => {
    const { alice, etag } = await withBlob();
    for (const headers of [{ "if-match": '"x"' }, { "if-none-match": "*" }, { "if-none-match": etag }])
      await expectRefusal(alice, () => alice.delete("a", { headers }), 412, "precondition-failed");
    expect((await alice.delete("a", { headers: { "if-match": etag } })).status).toBe(200);
  });

  it("404: a missing blob, with any condition", async () => {
    const { alice } = await withBlob();
    for (const headers of [{ "if-match": "*" }, { "if-none-match": "*" }]) {
      expect((await alice.delete("b", { headers })).status).toBe(404);
      expect((await alice.post("b", {}, headers)).status).toBe(404);
    }
  });

  it("413: a request with a body deletes nothing", async () => {
    const { alice } = await withBlob();
    await expectRefusal(alice, () => alice.delete("a", { body: "x" }), 413, "body-too-large");
  });
});
