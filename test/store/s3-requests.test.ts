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

/** Chunks of one MiB, and how many bytes of them were consumed. A source that nobody starts to read has nothing to end. */
function source(size: number) {
  const seen = { consumed: 0, isEnded: true };
  async function* chunks() {
    seen.isEnded = false;
    try {
      for (; seen.consumed < size; seen.consumed += MIB) yield new Uint8Array(MIB);
    } finally {
      seen.isEnded = true;
    }
  }
  return { seen, chunks: chunks() };
}

describe("an upload to S3", () => {
  it("has a Content-Length, an unsigned payload and the path of the endpoint", async () => {
    const requests: { request: IncomingMessage; body: Buffer }[] = [];
    const server = await loopbackServer(async (request, response) => {
      requests.push({ request, body: await buffer(request) });
      response.writeHead(200, { etag: ETAG }).end();
    });
    const { chunks } = source(5 * MIB);
    await storeAt(`${server.url}/storage/v1/s3/`, { prefix: "twtxt/" }).write("a/b", chunks, 5 * MIB);
    const [{ request, body } = { request: undefined, body: null }] = requests;
    expect(request?.url).toBe("/storage/v1/s3/bucket/twtxt/a/b");
    expect(body).toHaveLength(5 * MIB);
    expect(request?.headers).toMatchObject({
      "content-length": String(5 * MIB),
      "accept-encoding": "identity",
      "x-amz-content-sha256": "UNSIGNED-PAYLOAD",
      authorization: expect.stringContaining("SignedHeaders=host;x-amz-content-sha256;x-amz-date,"),
    });
    expect(request?.headers).not.toHaveProperty("transfer-encoding");
  });

  it("store-failed: reads its source no faster than it is sent, and gives up after the idle timeout", async () => {
    const server = await loopbackServer(() => {});
    const { seen, chunks } = source(1024 * MIB);
    await expect(storeAt(server.url, { totalMs: 1000 }).write("a", chunks, 1024 * MIB)).rejects.toThrow(
      expect.objectContaining({
        code: "store-failed",
        message: expect.stringContaining("no data for 1 s"),
      }),
    );
    expect(seen.consumed).toBeLessThan(64 * MIB);
    await expect.poll(() => seen.isEnded).toBe(true);
  });

  it("store-failed: gives up if no connection is made, before it has read its source", async () => {
    const { seen, chunks } = source(5 * MIB);
    const fetch = (_url: unknown, init?: RequestInit) =>
      new Promise<Response>((_resolve, reject) => {
        const giveUp = () => reject(init?.signal?.reason);
        init?.signal?.addEventListener("abort", giveUp);
        if (init?.signal?.aborted) giveUp();
      });
    await expect(storeAt("https://s3.example", { fetch, totalMs: 100 }).write("a", chunks, 5 * MIB)).rejects.toThrow(
      storeFailed,
    );
    expect(seen.consumed).toBe(0);
  });

  it("ends its source, even if fetch fails without another read of the body", async () => {
    const { seen, chunks } = source(9 * MIB);
    const fetch = async (_url: unknown, init?: RequestInit): Promise<Response> => {
      await new Response(init?.body).body?.getReader().read();
      throw new Error("no response");
    };
    await expect(storeAt("https://s3.example", { fetch }).write("a", chunks, 9 * MIB)).rejects.toThrow(storeFailed);
    await expect.poll(() => seen).toMatchObject({ isEnded: true });
    expect(seen.consumed).toBeGreaterThan(0);
  });

  it("store-failed: does not succeed if the server responds before it has the whole value", async () => {
    const server = await loopbackServer((request, response) => {
      request.once("data", () => response.writeHead(200, { etag: ETAG }).end());
    });
    const { seen, chunks } = source(1024 * MIB);
    await expect(storeAt(server.url).write("a", chunks, 1024 * MIB)).rejects.toThrow(storeFailed);
    expect(seen.consumed).toBeLessThan(1024 * MIB);
    await expect.poll(() => seen.isEnded).toBe(true);
  });

  it.each([
    ["more bytes than its size", 5 * MIB - 1],
    ["fewer bytes than its size", 5 * MIB + 1],
    ["bytes although its size is 0", 0],
  ])("store-failed: has %s; the server never receives a complete request", async (_name, size) => {
    const received: (Buffer | null)[] = [];
    const ended = new EventEmitter();
    const server = await loopbackServer(async (request, response) => {
      received.push(await buffer(request).catch(() => null));
      response.writeHead(200, { etag: ETAG }).end();
      ended.emit("request");
    });
    await expect(storeAt(server.url).write("a", source(5 * MIB).chunks, size)).rejects.toThrow(
      expect.objectContaining({ code: "store-failed", message: expect.stringContaining(`${size} bytes`) }),
    );
    if (server.requests.length > received.length) await once(ended, "request");
    expect(received.every((body) => body === null)).toBe(true);
  });

  it("throws whatever its source throws, and is not completed", async () => {
    const received: (Buffer | null)[] = [];
    const server = await loopbackServer(async (request) => {
      received.push(await buffer(request).catch(() => null));
    });
    for (const error of [new Error("not a hash of it"), undefined]) {
      async function* chunks() {
        yield* source(5 * MIB).chunks;
        throw error;
      }
      await expect(storeAt(server.url).write("a", chunks(), 5 * MIB)).rejects.toBe(error);
    }
    await expect.poll(() => received).toEqual([null, null]);
  });
});

describe("a download from S3", () => {
  it("is read no faster than its consumer reads it, and not after the consumer stops", async () => {
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
    expect(seen.consumed).toBeLessThan(64 * MIB);
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
  ])("bad-option: the endpoint %j, which the message does not repeat: it may contain a password", (endpoint) => {
    expect(() => storeAt(endpoint)).toThrow(badOption);
    expect(() => storeAt(endpoint)).not.toThrow(/password@|x=1/);
  });

  it.each(["", "..", "a/b", "a b", "bücket", "x?y"])("bad-option: the bucket %j", (bucket) => {
    expect(() => storeAt("https://s3.example", { bucket })).toThrow(badOption);
  });

  it.each(["twtxt", "/", "/twtxt/", "Twtxt/", "a//", "../", ".a/", "a b/"])("bad-option: the prefix %j", (prefix) => {
    expect(() => storeAt("https://s3.example", { prefix })).toThrow(badOption);
  });

  it("can have a custom fetch, which sends every request", async () => {
    const requests: string[] = [];
    const fetch = async (url: Parameters<typeof globalThis.fetch>[0], init?: RequestInit) => {
      requests.push(`${init?.method} ${url}`);
      return new Response(null, { status: 204 });
    };
    await storeAt("https://s3.example", { fetch }).delete("a");
    expect(requests).toEqual(["DELETE https://s3.example/bucket/a"]);
  });
});
