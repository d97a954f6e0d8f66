import { EventEmitter, once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { S3Store, type S3StoreOptions } from "../../plugin/store/s3.js";
import { loopbackServer } from "../helpers/loopback.js";

const MIB = 1 << 20;
const ETAG = '"e"';
const storeFailed = expect.objectContaining({ code: "store-failed" });
const badOption = expect.objectContaining({ code: "bad-option" });

function storeAt(endpoint: string, options?: Partial<S3StoreOptions>) {
  const access = { region: "eu-central-1", accessKeyId: "tester", secretAccessKey: "secret" };
  return new S3Store({ endpoint, bucket: "bucket", ...access, ...options });
}

/** As many bytes as that, a MiB at a time, and how many of them have been taken. */
function source(size: number) {
  const seen = { taken: 0, isLeft: false };
  async function* chunks() {
    try {
      for (; seen.taken < size; seen.taken += MIB) yield new Uint8Array(MIB);
    } finally {
      seen.isLeft = true;
    }
  }
  return { seen, chunks: chunks() };
}

describe("a value on its way to S3", () => {
  it("is sent with its length, unsigned like what a proxy may change, and under the path of the endpoint", async () => {
    const requests: { request: IncomingMessage; body: Buffer }[] = [];
    const server = await loopbackServer(async (request, response) => {
      requests.push({ request, body: await buffer(request) });
      response.writeHead(200, { etag: ETAG }).end();
    });
    const { chunks } = source(3 * MIB);
    await storeAt(`${server.url}/storage/v1/s3/`, { prefix: "twtxt/" }).write("a/b", chunks, 3 * MIB);
    const [{ request, body } = { request: undefined, body: null }] = requests;
    expect(request?.url).toBe("/storage/v1/s3/bucket/twtxt/a/b");
    expect(body).toHaveLength(3 * MIB);
    expect(request?.headers).toMatchObject({
      "content-length": String(3 * MIB),
      "accept-encoding": "identity",
      "x-amz-content-sha256": "UNSIGNED-PAYLOAD",
      authorization: expect.stringContaining("SignedHeaders=host;x-amz-content-sha256;x-amz-date,"),
    });
    expect(request?.headers).not.toHaveProperty("transfer-encoding");
  });

  it("store-failed: is taken no faster than it goes, and given up where it stands still", async () => {
    const server = await loopbackServer(() => {});
    const { seen, chunks } = source(1024 * MIB);
    await expect(storeAt(server.url, { totalMs: 1000 }).write("a", chunks, 1024 * MIB)).rejects.toThrow(
      expect.objectContaining({
        code: "store-failed",
        message: expect.stringContaining("no data for 1000 ms"),
      }),
    );
    expect(seen.taken).toBeLessThan(64 * MIB);
    await expect.poll(() => seen.isLeft).toBe(true);
  });

  it("store-failed: is given up where no connection is made, though nothing of it has been taken", async () => {
    const { seen, chunks } = source(MIB);
    const fetch = (_url: unknown, init?: RequestInit) =>
      new Promise<Response>((_resolve, reject) => {
        const giveUp = () => reject(init?.signal?.reason);
        init?.signal?.addEventListener("abort", giveUp);
        if (init?.signal?.aborted) giveUp();
      });
    await expect(storeAt("https://s3.example", { fetch, totalMs: 100 }).write("a", chunks, MIB)).rejects.toThrow(
      storeFailed,
    );
    expect(seen.taken).toBe(0);
  });

  it("store-failed: is not done where it is said to be before all of it is there", async () => {
    const server = await loopbackServer((request, response) => {
      request.once("data", () => response.writeHead(200, { etag: ETAG }).end());
    });
    const { seen, chunks } = source(1024 * MIB);
    await expect(storeAt(server.url).write("a", chunks, 1024 * MIB)).rejects.toThrow(storeFailed);
    expect(seen.taken).toBeLessThan(1024 * MIB);
    await expect.poll(() => seen.isLeft).toBe(true);
  });

  it.each([
    ["more", 3 * MIB - 1],
    ["fewer", 3 * MIB + 1],
    ["some where there were none", 0],
  ])("store-failed: has %s bytes than were said; the server never has as many as it waits for", async (_name, size) => {
    const received: (Buffer | null)[] = [];
    const ended = new EventEmitter();
    const server = await loopbackServer(async (request, response) => {
      received.push(await buffer(request).catch(() => null));
      response.writeHead(200, { etag: ETAG }).end();
      ended.emit("request");
    });
    await expect(storeAt(server.url).write("a", source(3 * MIB).chunks, size)).rejects.toThrow(
      expect.objectContaining({ code: "store-failed", message: expect.stringContaining(`${size} bytes`) }),
    );
    if (server.asked.length > received.length) await once(ended, "request");
    expect(received.every((body) => body === null)).toBe(true);
  });

  it("throws what its source throws, whatever that is, and is not sent as a whole", async () => {
    const received: (Buffer | null)[] = [];
    const server = await loopbackServer(async (request) => {
      received.push(await buffer(request).catch(() => null));
    });
    for (const why of [new Error("not a hash of it"), undefined]) {
      async function* chunks() {
        yield* source(3 * MIB).chunks;
        throw why;
      }
      await expect(storeAt(server.url).write("a", chunks(), 3 * MIB)).rejects.toBe(why);
    }
    await expect.poll(() => received).toEqual([null, null]);
  });
});

describe("a value on its way from S3", () => {
  it("is asked for no faster than it is read, and no more once nobody reads it", async () => {
    const { seen, chunks } = source(1024 * MIB);
    const closed = new EventEmitter();
    const server = await loopbackServer((_request, response) => {
      response.writeHead(200, { etag: ETAG, "content-length": 1024 * MIB });
      response.on("close", () => closed.emit("closed"));
      Readable.from(chunks).pipe(response);
    });
    const reader = (await storeAt(server.url).read("a"))?.getReader();
    for (let read = 0; read < 8 * MIB; ) read += (await reader?.read())?.value?.length ?? 0;
    const end = once(closed, "closed");
    await reader?.cancel();
    await end;
    expect(seen.taken).toBeLessThan(64 * MIB);
  });
});

describe("the options of a store in S3", () => {
  it.each([
    "",
    "s3.example",
    "ftp://s3.example",
    "https://user:password@s3.example",
    "https://s3.example?x=1",
    "https://s3.example#x",
  ])("bad-option: the endpoint %j, which is not repeated: it may hold a password", (endpoint) => {
    expect(() => storeAt(endpoint)).toThrow(badOption);
    expect(() => storeAt(endpoint)).not.toThrow(/password@|x=1/);
  });

  it.each(["", "..", "a/b", "a b", "bücket", "x?y"])("bad-option: the bucket %j", (bucket) => {
    expect(() => storeAt("https://s3.example", { bucket })).toThrow(badOption);
  });

  it.each(["twtxt", "/", "/twtxt/", "Twtxt/", "a//", "../", ".a/", "a b/"])("bad-option: the prefix %j", (prefix) => {
    expect(() => storeAt("https://s3.example", { prefix })).toThrow(badOption);
  });

  it("can have a fetch of their own, which is given every request", async () => {
    const asked: string[] = [];
    const fetch = async (url: Parameters<typeof globalThis.fetch>[0], init?: RequestInit) => {
      asked.push(`${init?.method} ${url}`);
      return new Response(null, { status: 204 });
    };
    await storeAt("https://s3.example", { fetch }).delete("a");
    expect(asked).toEqual(["DELETE https://s3.example/bucket/a"]);
  });
});
