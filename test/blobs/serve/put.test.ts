import { describe, expect, it } from "vitest";
import { TwtxtError } from "../../../plugin/errors.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import { faultyStore } from "../../helpers/faulty-store.js";
import {
  ALICE,
  alicesBlobs,
  CAROL,
  dump,
  expectRefusal,
  jsonOf,
  propertiesHeader,
  sha256,
  storedBlobs,
} from "../alices-blobs.js";

const MIB = 2 ** 20;
const HEADERS = {
  "content-type": "text/plain",
  "content-disposition": "attachment; filename*=UTF-8''old.txt",
  "blob-public": "?1",
  "blob-properties": propertiesHeader({ colour: "red", created: "2026-11-20T09:00:00Z", sha256: "x", signature: "y" }),
};
const OLD = { Type: "text/plain", Filename: "old.txt", Public: true, Properties: { colour: "red" } };

/** A stream of these chunks that ends, or fails with the error. */
function streamOf(parts: string[], error?: Error): ReadableStream<Uint8Array> {
  const left = [...parts];
  return new ReadableStream({
    pull(controller) {
      const part = left.shift();
      if (part !== undefined) controller.enqueue(Buffer.from(part));
      else if (error) controller.error(error);
      else controller.close();
    },
  });
}

describe("PUT", () => {
  it.each([
    [400, "bad-request", { "content-range": "bytes 0-2/10" }],
    [415, "bad-content-type", { "content-encoding": "gzip" }],
  ])("%i %s: partial or encoded contents replace nothing: %j", async (status, code, headers) => {
    const alice = alicesBlobs();
    await alice.put("a", "old");
    await expectRefusal(alice, () => alice.put("a", "new", headers), status, code);
    expect((await alice.put("a", "new", { "content-encoding": "identity" })).status).toBe(200);
  });

  it.each([
    [201, "a new blob is written without reading a record", 0],
    [200, "a blob is replaced after one read of its record", 1],
  ])("%i: %s", async (status, _what, count) => {
    const store = faultyStore(memoryStore());
    const alice = alicesBlobs({ store });
    if (status === 200) await alice.put("a", "old");
    const reads: string[] = [];
    const get = store.get;
    store.get = (key) => {
      reads.push(key);
      return get(key);
    };
    expect((await alice.put("a", "new")).status).toBe(status);
    expect(reads).toHaveLength(count);
    store.get = get;
    expect(await (await alice.get("a")).text()).toBe("new");
  });

  it.each([
    [200, "a blob that another process has just written is replaced", "old"],
    [201, "a blob that another process has just deleted is written again", null],
  ])("%i: %s", async (status, _what, former) => {
    const store = memoryStore();
    const [alice, other] = [alicesBlobs({ store }), alicesBlobs({ store })];
    await alice.put("b", "fills the listing of the first process");
    await other.put("a", "old");
    if (former === null) await other.delete("a");
    expect((await alice.put("a", "new")).status).toBe(status);
    expect(await (await other.get("a")).text()).toBe("new");
    expect((await storedBlobs(store)).leftovers).toEqual([]);
  });

  it("201: a new blob without metadata gets the defaults", async () => {
    const alice = alicesBlobs();
    const response = await alice.put("a", "one");
    expect(response.status).toBe(201);
    expect(await response.json()).toEqual({
      owner: ALICE.publicKey,
      key: "a",
      size: 3,
      sha256: sha256("one"),
      Type: "application/octet-stream",
      Public: false,
      Filename: "",
      Properties: {},
      created: "2026-11-20T09:00:00.000Z",
      modified: "2026-11-20T09:00:00.000Z",
      shared: null,
    });
    expect(await (await alice.get("a")).text()).toBe("one");
  });

  it("200: metadata that is not sent stays, except the owner's proof", async () => {
    const alice = alicesBlobs();
    await alice.put("a", "one", HEADERS);
    alice.clock.time += 5000;
    const response = await alice.put("a", "two!");
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      ...OLD,
      size: 4,
      created: "2026-11-20T09:00:00.000Z",
      modified: "2026-11-20T09:00:05.000Z",
    });
    expect(await storedBlobs(alice.store)).toMatchObject({ blobs: [{ contents: "two!", size: 4 }], leftovers: [] });
  });

  it.each([
    ["its type", { "content-type": "image/png" }, { Type: "image/png" }],
    [
      "its file name",
      { "content-disposition": "attachment; filename*=UTF-8''%C3%BC%20b.png" },
      { Filename: "\u00fc b.png" },
    ],
    ["its file name by none", { "content-disposition": "attachment" }, { Filename: "" }],
    [
      "its file name, sent in quotes",
      { "content-disposition": 'inline; filename="a\\"b;c.png"' },
      { Filename: 'a"b;c.png' },
    ],
    ["its visibility", { "blob-public": "?0" }, { Public: false, shared: null }],
    ["all properties", { "blob-properties": propertiesHeader({ size: "big" }) }, { Properties: { size: "big" } }],
    ["all properties by none", { "blob-properties": ":e30=:" }, { Properties: {} }],
    [
      "the proof",
      { "blob-properties": propertiesHeader({ created: "now", sha256: "a", signature: "b" }) },
      { Properties: { created: "now", sha256: "a", signature: "b" } },
    ],
  ])("200: replaces %s and keeps the rest", async (_, headers, changes) => {
    const alice = alicesBlobs();
    await alice.put("a", "one", HEADERS);
    const response = await alice.put("a", "two", headers);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ ...OLD, ...changes, sha256: sha256("two") });
    expect((await jsonOf(await alice.list())).blobs).toMatchObject([{ ...OLD, ...changes }]);
  });

  it("201: a blob that is created again after its deletion has none of its old metadata", async () => {
    const alice = alicesBlobs();
    await alice.put("a", "one", HEADERS);
    await alice.delete("a");
    alice.clock.time += 1000;
    const response = await alice.put("a", "two");
    expect(response.status).toBe(201);
    expect(await response.json()).toMatchObject({
      Type: "application/octet-stream",
      Filename: "",
      Public: false,
      Properties: {},
      created: "2026-11-20T09:00:01.000Z",
    });
  });

  it("201: two owners can each have a blob with the same key", async () => {
    const alice = alicesBlobs();
    await alice.put("a", "Alice's");
    expect((await alice.put("a", "Carol's", {}, { signer: CAROL })).status).toBe(201);
    expect(await (await alice.get("a")).text()).toBe("Alice's");
    expect(await (await alice.get("a", { signer: CAROL })).text()).toBe("Carol's");
    await alice.delete("a", { signer: CAROL });
    expect(await (await alice.get("a")).text()).toBe("Alice's");
  });

  it("201: keys that differ only in case are different", async () => {
    const alice = alicesBlobs();
    await alice.put("a.TXT", "large");
    expect((await alice.put("a.txt", "small")).status).toBe(201);
    expect(await (await alice.get("a.TXT")).text()).toBe("large");
  });

  it.each([
    ["with its length", undefined],
    ["without a length", null],
  ])("201: an empty blob, sent %s", async (_, length) => {
    const alice = alicesBlobs();
    expect((await alice.put("a", "", {}, { length })).status).toBe(201);
    const response = await alice.get("a");
    expect([response.status, response.headers.get("content-length"), await response.text()]).toEqual([200, "0", ""]);
    expect((await jsonOf(await alice.list())).blobs).toMatchObject([{ size: 0, sha256: sha256("") }]);
  });

  it("201: every byte is returned, whatever the chunks of the request", async () => {
    const alice = alicesBlobs();
    const all = Buffer.from(Array.from({ length: 70_000 }, (_, at) => (at * 7919) >> 5));
    await alice.put("a", all, {}, { stream: new Blob([all]).stream() as ReadableStream<Uint8Array> });
    expect(Buffer.from(await (await alice.get("a")).arrayBuffer()).equals(all)).toBe(true);
  });
});

describe("PUT to a content address", () => {
  const ADDRESS = sha256("right");

  it("201: contents that match it", async () => {
    const alice = alicesBlobs();
    expect((await alice.put(ADDRESS, "right")).status).toBe(201);
    expect(await (await alice.get(ADDRESS)).text()).toBe("right");
  });

  it("400 wrong-content-address: other contents, and the stored blob stays", async () => {
    const alice = alicesBlobs();
    await alice.put(ADDRESS, "right");
    await expectRefusal(alice, () => alice.put(ADDRESS, "wrong"), 400, "wrong-content-address");
  });

  it("401 not-signed: other contents than the signed ones, which match it", async () => {
    const alice = alicesBlobs();
    const send = () => alice.put(ADDRESS, "wrong", {}, { signed: { body: Buffer.from("right") } });
    await expectRefusal(alice, send, 401, "not-signed");
  });

  it.each([ADDRESS.toUpperCase(), ADDRESS.slice(1), `${ADDRESS}0`])("201: %s is not a content address", async (key) => {
    expect((await alicesBlobs().put(key, "wrong")).status).toBe(201);
  });
});

describe("PUT with a condition", () => {
  it.each([
    ["If-Match of another version", { "if-match": `"${"0".repeat(64)}"` }],
    ["If-None-Match: *", { "if-none-match": "*" }],
  ])("412: %s, and the stored blob stays", async (_, headers) => {
    const alice = alicesBlobs();
    await alice.put("a", "one");
    await expectRefusal(alice, () => alice.put("a", "two", headers), 412, "precondition-failed");
  });

  it("412: If-Match of a version before a change of the metadata", async () => {
    const alice = alicesBlobs();
    const etag = (await alice.put("a", "one")).headers.get("etag") ?? "";
    const changed = (await alice.post("a", { Filename: "b" })).headers.get("etag") ?? "";
    expect(changed).not.toBe(etag);
    expect((await alice.put("a", "two", { "if-match": etag })).status).toBe(412);
    expect((await alice.put("a", "two", { "if-match": `"x", ${changed}` })).status).toBe(200);
  });

  it("412: If-None-Match of the current version", async () => {
    const alice = alicesBlobs();
    const etag = (await alice.put("a", "one")).headers.get("etag") ?? "";
    expect((await alice.put("a", "two", { "if-none-match": etag })).status).toBe(412);
    expect((await alice.put("a", "two", { "if-none-match": '"other"' })).status).toBe(200);
  });

  it("412: If-Match for a missing or deleted blob", async () => {
    const alice = alicesBlobs();
    expect((await alice.put("a", "one", { "if-match": "*" })).status).toBe(412);
    expect(await dump(alice.store)).toEqual({});
    const etag = (await alice.put("a", "one", { "if-none-match": "*" })).headers.get("etag") ?? "";
    await alice.delete("a");
    expect((await alice.put("a", "one", { "if-match": etag })).status).toBe(412);
    expect((await alice.put("a", "one", { "if-none-match": "*" })).status).toBe(201);
  });
});

describe("the etag of a blob", () => {
  it("changes with its contents and each field of its metadata, and only with them", async () => {
    const alice = alicesBlobs();
    const contents = { body: "one", headers: HEADERS };
    const variants = [
      contents,
      { ...contents, body: "two" },
      ...[
        { "content-type": "text/html" },
        { "content-disposition": "attachment; filename*=UTF-8''new.txt" },
        { "blob-public": "?0" },
        { "blob-properties": propertiesHeader({ colour: "blue" }) },
        { "blob-properties": propertiesHeader({ colours: "red" }) },
        { "blob-properties": propertiesHeader({}) },
      ].map((headers) => ({ ...contents, headers: { ...HEADERS, ...headers } })),
    ];
    const etags: (string | null)[] = [];
    for (const { body, headers } of variants) etags.push((await alice.put("a", body, headers)).headers.get("etag"));
    expect(new Set(etags).size).toBe(variants.length);
    for (const etag of etags) expect(etag).toMatch(/^"[0-9a-f]{64}"$/);

    alice.clock.time += 1000;
    expect((await alice.put("a", "one", HEADERS)).headers.get("etag")).toBe(etags[0]);
    const properties = { signature: "y", sha256: "x", created: "2026-11-20T09:00:00Z", colour: "red" };
    const again = await alice.put("a", "one", { ...HEADERS, "blob-properties": propertiesHeader(properties) });
    expect(again.headers.get("etag")).toBe(etags[0]);
  });
});

describe("the length of an upload", () => {
  it.each([
    ["a body shorter than its Content-Length", "4", ["one"], 400, "bad-request"],
    ["a body longer than its Content-Length", "2", ["one"], 400, "bad-request"],
    ["a body with Content-Length: 0", "0", ["one"], 400, "bad-request"],
    ["a length with an exponent", "1e1", ["1234567890"], 400, "bad-request"],
    ["a negative length", "-3", ["one"], 400, "bad-request"],
    ["a length in hex", "0x3", ["one"], 400, "bad-request"],
    ["a length with a fraction", "3.0", ["one"], 400, "bad-request"],
    ["an empty length", "", ["one"], 400, "bad-request"],
    ["two lengths", "3, 3", ["one"], 400, "bad-request"],
    ["a length over the limit", "101", ["one"], 413, "body-too-large"],
    ["a length over the range of numbers", "9".repeat(20), ["one"], 400, "bad-request"],
    ["a body over the limit without a Content-Length", null, ["x".repeat(60), "x".repeat(41)], 413, "body-too-large"],
  ])("%s: nothing changes", async (_, length, parts, status, code) => {
    const alice = alicesBlobs({ limits: { count: 10, bytes: 1000, maxBytes: 100 } });
    await alice.put("a", "before", HEADERS);
    const send = () => alice.put("a", parts.join(""), {}, { length, stream: streamOf(parts) });
    await expectRefusal(alice, send, status, code);
  });

  it("201: a body of exactly the limit, with or without a Content-Length", async () => {
    const alice = alicesBlobs({ limits: { count: 10, bytes: 1000, maxBytes: 100 } });
    expect((await alice.put("a", "x".repeat(100))).status).toBe(201);
    expect((await alice.put("b", "x".repeat(100), {}, { length: null })).status).toBe(201);
  });

  it("411 length-required: more than 4 MiB without a Content-Length, and nothing is stored", async () => {
    const alice = alicesBlobs({ limits: { count: 10, bytes: 100 * MIB, maxBytes: 100 * MIB } });
    const most = Buffer.alloc(4 * MIB, "x");
    expect((await alice.put("a", most, {}, { length: null })).status).toBe(201);
    const more = () => alice.put("a", Buffer.alloc(4 * MIB + 1, "x"), {}, { length: null });
    await expectRefusal(alice, more, 411, "length-required");
    expect((await alice.put("a", Buffer.alloc(4 * MIB + 1, "y"))).status).toBe(200);
  });
});

describe("a wrong or incomplete body", () => {
  it.each([
    ["before its first byte", [], "3"],
    ["in the middle", ["on"], "3"],
    ["after its last byte", ["one"], "3"],
    ["in the middle, without a Content-Length", ["on"], null],
  ])("400 bad-request: it is interrupted %s, and contents and metadata stay", async (_, parts, length) => {
    const alice = alicesBlobs();
    await alice.put("a", "before", HEADERS);
    const stream = streamOf(parts, new Error("The connection was lost."));
    const send = () => alice.put("a", "one", { "content-type": "image/png" }, { stream, length });
    await expectRefusal(alice, send, 400, "bad-request");
  });

  it("408 too-slow: its timeout passes, and contents and metadata stay", async () => {
    const alice = alicesBlobs();
    await alice.put("a", "before", HEADERS);
    const stream = streamOf(["o"], new TwtxtError("too-slow", "The body is too slow."));
    await expectRefusal(alice, () => alice.put("a", "one", {}, { stream }), 408, "too-slow");
  });

  it.each([
    ["other bytes of the same length", "two"],
    ["one changed bit", "ond"],
  ])("401 not-signed: %s, and contents and metadata stay", async (_, sent) => {
    const alice = alicesBlobs();
    await alice.put("a", "before", HEADERS);
    for (const length of [undefined, null]) {
      const send = () => alice.put("a", "one", {}, { stream: streamOf([sent]), length });
      await expectRefusal(alice, send, 401, "not-signed");
    }
  });

  it("401 not-signed: the signature does not cover it, and nothing is stored", async () => {
    const alice = alicesBlobs();
    const url = "https://alice.example/api/v1/blob/a";
    const send = () => alice.send("PUT", url, { stream: streamOf(["one"]), length: "3" });
    await expectRefusal(alice, send, 401, "not-signed");
  });
});
