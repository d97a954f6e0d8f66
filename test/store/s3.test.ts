import { inspect } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { S3StoreOptions } from "../../plugin/store/s3.js";
import type { StreamingStore } from "../../plugin/store/store.js";
import { type Fetch, fetchSafely } from "../../plugin/transport/fetch.js";
import { storeContract } from "../contract/store.js";
import { loopbackServer } from "../helpers/loopback.js";
import { type Fault, refusal, type S3Service, s3Service } from "../helpers/s3-service.js";
import { passLimitsAfter, passTimeLimits, shortenPauses } from "../helpers/time-limits.js";
import { BUILD_MS, startVersitygw, type Versitygw, versitygwLack } from "../helpers/versitygw.js";

const lack = await versitygwLack();
if (lack !== null) process.stderr.write(`SKIPPED: the store in S3 is not tested against versitygw: ${lack}.\n`);

/** One more than a page of the list. */
const MANY_KEYS = 1001;
const IDLE_MS = 10_000;
const text = (value: string) => Buffer.from(value);
const storeFailed = expect.objectContaining({ code: "store-failed" });
const failsWith = (part: string) =>
  expect.objectContaining({ code: "store-failed", message: expect.stringContaining(part) });

async function* parts(...values: string[]): AsyncGenerator<Uint8Array> {
  for (const value of values) yield text(value);
}

/** Every kind of call, with its HTTP method. */
const calls: [string, string, (store: StreamingStore) => Promise<unknown>][] = [
  ["get", "GET", (store) => store.get("a")],
  ["read", "GET", (store) => store.read("a")],
  ["read of a range", "GET", (store) => store.read("a", { first: 1, last: 2 })],
  ["keys", "GET", (store) => store.keys("")],
  ["put", "PUT", (store) => store.put("b", text("two"))],
  ["delete", "DELETE", (store) => store.delete("a")],
];
const conditionalCalls: typeof calls = [
  ["put of a new key", "PUT", (store) => store.put("b", text("two"), { isNew: true })],
  ["put of a version", "PUT", (store) => store.put("a", text("two"), { etag: '"e"' })],
];
/** Calls that are not retried, because their body is a stream. */
const onceCalls: typeof calls = [["write", "PUT", (store) => store.write("b", largeChunks(), LARGE)]];
const allCalls = [
  ...calls,
  ["small write", "PUT", (store: StreamingStore) => store.write("b", parts("t", "wo"), 3)] as const,
  ...conditionalCalls,
  ...onceCalls,
];

/** Too large to be held in memory for another try. */
const LARGE = 5 * 2 ** 20;
async function* largeChunks() {
  for (let left = LARGE; left > 0; left -= 2 ** 20) yield Buffer.alloc(2 ** 20);
}

/** Makes the first PUT fail, and lets another writer write before the second one arrives. */
function beforeRetry(service: S3Service, work: () => Promise<unknown>, fault: Fault): void {
  let puts = 0;
  service.faultOf = (request) => {
    if (!request.startsWith("PUT")) return null;
    puts += 1;
    return puts === 1 ? fault : null;
  };
  service.beforePass = async (request) => {
    if (request.startsWith("PUT") && puts === 2) await work();
  };
}

/** The text in the bucket, read without faults. */
async function stored(service: S3Service, key: string): Promise<string | null> {
  const found = await service.behind().get(key);
  return found && Buffer.from(found.bytes).toString();
}

/** Fakes timers. @returns a function that lets the idle timeout pass */
function idleClock(): () => void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  return () => void vi.advanceTimersByTime(IDLE_MS);
}

/** Applies these faults to the next requests, in order. */
function failing(service: S3Service, method: string, faults: Fault[]): void {
  service.faultOf = (request) => (request.startsWith(method) ? (faults.shift() ?? null) : null);
}

describe.skipIf(lack !== null)("a store in S3", () => {
  let server: Versitygw;
  beforeAll(async () => {
    server = await startVersitygw();
  }, BUILD_MS);
  beforeEach(shortenPauses);
  afterAll(() => server.end());

  /** A bucket with the value `one` under the key `a`. */
  const serviceWithA = async () => {
    const service = await s3Service(server);
    await service.behind().put("a", text("one"));
    return service;
  };

  const services = new Map<string, S3Service>();
  /** The two stores of a test share a bucket. */
  const open = async (name: string): Promise<StreamingStore> => {
    const test = expect.getState().currentTestName ?? "";
    const service = services.get(test) ?? (await s3Service(server));
    services.set(test, service);
    return service.store({ prefix: `${name}/` });
  };

  /** Writes keys as files of the server, which is faster than a thousand requests. */
  const fill = (name: string, keys: readonly string[]) => {
    const bucket = services.get(expect.getState().currentTestName ?? "")?.bucket ?? "";
    server.fill(
      bucket,
      keys.map((key) => `${name}/${key}`),
    );
  };

  storeContract("s3", open, MANY_KEYS, fill);

  describe("that is down", () => {
    it("store-failed: every call if no server listens", async () => {
      const service = await s3Service(server);
      const store = service.store({ endpoint: "http://127.0.0.1:1" });
      const ends = await Promise.allSettled(allCalls.map(([, , call]) => call(store)));
      expect(ends).toEqual(allCalls.map(() => ({ status: "rejected", reason: storeFailed })));
    });

    it("store-failed: every call, sent once, if the server never responds", async () => {
      const services = await Promise.all(allCalls.map(serviceWithA));
      for (const service of services) service.faultOf = () => "silence";
      const pass = idleClock();
      const ends = Promise.allSettled(
        allCalls.map(async ([, , call], i) => services[i] && (await call(services[i].store({ totalMs: IDLE_MS })))),
      );
      await expect.poll(() => services.map(({ requests }) => requests.length)).toEqual(services.map(() => 1));
      passTimeLimits();
      pass();
      expect(await ends).toEqual(allCalls.map(() => ({ status: "rejected", reason: storeFailed })));
      expect(services.map(({ requests }) => requests.length)).toEqual(services.map(() => 1));
    });

    it("store-failed: after at most six tries, or one of a stream", async () => {
      const faults: Fault[] = [
        "cut before",
        refusal(503, "SlowDown", "Please reduce your request rate."),
        { status: 500, body: "trouble" },
      ];
      // Each call with the first fault, and one with the others.
      const pairs = faults.flatMap((fault, i) =>
        allCalls.slice(0, i === 0 ? undefined : 1).map((call) => ({ fault, call })),
      );
      const tries = await Promise.all(
        pairs.map(async ({ fault, call: [name, method, call] }) => {
          const service = await serviceWithA();
          service.faultOf = () => fault;
          await expect(call(service.store())).rejects.toThrow(storeFailed);
          expect(service.requests.every((request) => request.startsWith(method))).toBe(true);
          expect(await stored(service, "a")).toBe("one");
          expect(await stored(service, "b")).toBeNull();
          return [fault, name, service.requests.length];
        }),
      );
      expect(tries).toEqual(pairs.map(({ fault, call: [name] }) => [fault, name, name === "write" ? 1 : 6]));
    });

    it("store-failed: the time limit of a call also ends the pause between two tries, and the message has the last response", async () => {
      const service = await serviceWithA();
      service.faultOf = () => refusal(503, "SlowDown", "Please reduce your request rate.");
      const fetch: Fetch = async (...request) => passLimitsAfter(await fetchSafely(...request));
      await expect(service.store({ fetch }).get("a")).rejects.toThrow(
        failsWith("status 503 (SlowDown: Please reduce your request rate.)"),
      );
      expect(service.requests).toHaveLength(1);
    });
  });

  describe("that fails briefly", () => {
    it.each<[string, Fault]>([
      ["the connection is cut", "cut before"],
      ["the response is lost", "cut after"],
      ["the server is overloaded", refusal(503, "SlowDown")],
    ])("gets a retry if %s", async (_name, fault) => {
      const service = await serviceWithA();
      const store = service.store();
      failing(service, "GET", [fault]);
      expect((await store.get("a"))?.bytes).toEqual(Uint8Array.from(text("one")));
      failing(service, "GET", [fault, fault]);
      expect(await store.keys("")).toEqual(["a"]);
      failing(service, "GET", [fault]);
      expect(await new Response(await store.read("a", { first: 1, last: 2 })).text()).toBe("ne");
      failing(service, "PUT", [fault]);
      const etag = await store.put("a", text("two"));
      expect(await service.behind().get("a")).toEqual({ bytes: Uint8Array.from(text("two")), etag });
      failing(service, "DELETE", [fault]);
      await store.delete("a");
      expect(await stored(service, "a")).toBeNull();
    });

    it.each([
      [409, "ConditionalRequestConflict"],
      [429, "TooManyRequests"],
    ])("%i %s means that nothing was written: even a conditional write is retried", async (status, code) => {
      const service = await serviceWithA();
      failing(service, "PUT", [refusal(status, code), refusal(status, code)]);
      expect(await service.store().put("b", text("two"), { isNew: true })).not.toBeNull();
      expect(service.requests).toEqual(["PUT b", "PUT b", "PUT b"]);
      expect(await stored(service, "b")).toBe("two");
    });

    it("store-failed: a conflict that does not end", async () => {
      const service = await serviceWithA();
      service.faultOf = () => refusal(409, "ConditionalRequestConflict");
      await expect(service.store().put("b", text("two"), { isNew: true })).rejects.toThrow(
        failsWith("409 (ConditionalRequestConflict"),
      );
      expect(await stored(service, "b")).toBeNull();
    });

    it.each(onceCalls)("store-failed: a large %s with a lost response is not retried", async (_name, method, call) => {
      const service = await serviceWithA();
      failing(service, method, ["cut after"]);
      await expect(call(service.store())).rejects.toThrow(storeFailed);
      expect(service.requests).toHaveLength(1);
    });

    it("store-failed: a refused write of a stream cannot be retried, and the message has the reason", async () => {
      const service = await serviceWithA();
      failing(service, "PUT", [refusal(409, "OperationAborted")]);
      await expect(service.store().write("b", largeChunks(), LARGE)).rejects.toThrow(
        failsWith("409 (OperationAborted"),
      );
      expect(service.requests).toEqual(["PUT b"]);
      expect(await stored(service, "b")).toBeNull();
    });

    it("retries a small write of a stream", async () => {
      const service = await serviceWithA();
      failing(service, "PUT", [refusal(503, "SlowDown"), "cut before"]);
      await service.store().write("b", parts("t", "wo"), 3);
      expect(service.requests).toEqual(["PUT b", "PUT b", "PUT b"]);
      expect(await stored(service, "b")).toBe("two");
    });

    describe("during a conditional write", () => {
      const etagOfA = async (service: S3Service) => (await service.behind().get("a"))?.etag ?? "";

      it.each<[string, Fault]>([
        ["refused", refusal(503, "SlowDown")],
        ["without a response", "cut before"],
        ["with a lost response", "cut after"],
        ["stored, and answered with an error", "stored, then 503"],
      ])("stores the value once if a try is %s", async (_name, fault) => {
        const service = await serviceWithA();
        const etag = await etagOfA(service);
        failing(service, "PUT", [fault]);
        const written = await service.store().put("a", text("two"), { etag });
        expect(await service.behind().get("a")).toEqual({ bytes: Uint8Array.from(text("two")), etag: written });
        failing(service, "PUT", [fault]);
        const added = await service.store().put("b", text("two"), { isNew: true });
        expect(await service.behind().get("b")).toEqual({ bytes: Uint8Array.from(text("two")), etag: added });
        expect(await service.store().put("b", text("three"), { isNew: true })).toBeNull();
      });

      it("tells a conflict with another writer if the first try was refused", async () => {
        const service = await serviceWithA();
        const etag = await etagOfA(service);
        beforeRetry(service, () => service.behind().put("a", text("other")), refusal(503, "SlowDown"));
        expect(await service.store().put("a", text("two"), { etag })).toBeNull();
        beforeRetry(service, () => service.behind().put("b", text("other")), refusal(503, "SlowDown"));
        expect(await service.store().put("b", text("two"), { isNew: true })).toBeNull();
        expect([await stored(service, "a"), await stored(service, "b")]).toEqual(["other", "other"]);
      });

      it("store-failed: another writer replaced the value, which may have been written before", async () => {
        const service = await serviceWithA();
        const etag = await etagOfA(service);
        beforeRetry(service, () => service.behind().put("a", text("other")), "cut after");
        await expect(service.store().put("a", text("two"), { etag })).rejects.toThrow(storeFailed);
        beforeRetry(service, () => service.behind().delete("b"), "cut after");
        expect(await service.store().put("b", text("two"), { isNew: true })).not.toBeNull();
        expect(await stored(service, "b")).toBe("two");
      });
    });

    it("store-failed: a write of a stream whose connection is cut stores nothing", async () => {
      const service = await serviceWithA();
      failing(service, "PUT", ["cut in the middle of the request"]);
      let consumed = 0;
      async function* chunks() {
        for (; consumed < 2 ** 31; consumed += 65_536) yield Buffer.alloc(65_536);
      }
      await expect(service.store().write("b", chunks(), 2 ** 31)).rejects.toThrow(storeFailed);
      expect(service.requests).toEqual(["PUT b"]);
      expect(await stored(service, "b")).toBeNull();
      expect(consumed).toBeLessThan(2 ** 27);
    });
  });

  it.each([
    ["ahead", 3600_000],
    ["behind", -3600_000],
  ])("signs with the time of the service if the clock of this machine is an hour %s", async (_name, offset) => {
    const service = await serviceWithA();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + offset });
    onTestFinished(() => void vi.useRealTimers());
    const store = service.store();
    expect(await store.put("b", text("two"), { isNew: true })).not.toBeNull();
    expect(service.requests).toEqual(["PUT b", "PUT b"]);
    expect(await store.keys("")).toEqual(["a", "b"]);
    expect(service.requests).toHaveLength(3);
  });

  describe("that refuses requests", () => {
    it("store-failed: every call with a wrong secret, which no error contains", async () => {
      const service = await serviceWithA();
      const store = service.store({ secretAccessKey: "some/other+secret=of=mine" });
      const errors = await Promise.all(allCalls.map(([, , call]) => call(store).catch((thrown: unknown) => thrown)));
      expect(errors).toEqual(allCalls.map(() => failsWith("403 (SignatureDoesNotMatch")));
      expect(errors).toEqual(allCalls.map(() => failsWith("check the access key and its secret")));
      expect(inspect(errors, { depth: null, showHidden: true })).not.toContain("other+secret");
      expect(await stored(service, "a")).toBe("one");
      expect(await stored(service, "b")).toBeNull();
    });

    it.each<[string, Partial<S3StoreOptions>, string]>([
      ["an unknown access key", { accessKeyId: "nobody" }, "404 (XAdminUserNotFound"],
      ["another region", { region: "us-west-2" }, 'the region "us-west-2" is wrong'],
      ["a missing bucket, which is not an empty one", { bucket: "nowhere" }, "404 (NoSuchBucket"],
    ])("store-failed: every call with %s", async (_name, options, message) => {
      const service = await serviceWithA();
      const ends = await Promise.allSettled(allCalls.map(([, , call]) => call(service.store(options))));
      expect(ends).toEqual(allCalls.map(() => ({ status: "rejected", reason: failsWith(message) })));
    });

    it.each<[string, Fault]>([
      ["200 from another program", { status: 200, body: "<html>Welcome!</html>" }],
      ["404 from another program", { status: 404, body: "<html>Not found</html>" }],
      ["404 without a body", { status: 404 }],
      ["a redirect without a body", { status: 301, headers: { location: "/elsewhere" } }],
      ["400", { status: 400, body: "x".repeat(1_000_000) }],
    ])("store-failed: every call with the response %s", async (_name, fault) => {
      const service = await serviceWithA();
      service.faultOf = () => fault;
      const ends = await Promise.allSettled(allCalls.map(([, , call]) => call(service.store())));
      expect(ends).toEqual(allCalls.map(() => ({ status: "rejected", reason: storeFailed })));
      expect(service.requests).toHaveLength(allCalls.length);
    });

    it("store-failed: 412 for a request without a condition", async () => {
      const service = await serviceWithA();
      service.faultOf = () => refusal(412, "PreconditionFailed");
      const ends = await Promise.allSettled(calls.map(([, , call]) => call(service.store())));
      expect(ends).toEqual(calls.map(() => ({ status: "rejected", reason: failsWith("412 (PreconditionFailed") })));
    });

    it("store-failed: a redirect is not followed, because signatures are for one server", async () => {
      const other = await loopbackServer((_request, response) => response.end("one"));
      const service = await serviceWithA();
      service.faultOf = () => ({ status: 307, headers: { location: other.url } });
      const ends = await Promise.allSettled(allCalls.map(([, , call]) => call(service.store())));
      expect(ends).toEqual(allCalls.map(() => ({ status: "rejected", reason: storeFailed })));
      expect(other.requests).toEqual([]);
    });

    it("store-failed: the quoted response is short, without control characters", async () => {
      const service = await serviceWithA();
      service.faultOf = () => refusal(400, "Bad", `first&#27;[31msecond${"x".repeat(5000)}`);
      await expect(service.store().get("a")).rejects.toThrow(
        expect.objectContaining({ message: expect.stringMatching(/\(Bad: first \[31msecondx{200,300}\)\.$/) }),
      );
      service.faultOf = () => refusal(400, "Bad", "x".repeat(5000));
      await expect(service.store().get("a")).rejects.toThrow(
        expect.objectContaining({ message: expect.stringMatching(/^.{100,400}$/) }),
      );
    });
  });

  describe("with an incomplete or wrong response", () => {
    it("store-failed: a truncated value", async () => {
      const service = await serviceWithA();
      service.faultOf = () => "cut in the middle of the answer";
      await expect(service.store().get("a")).rejects.toThrow(storeFailed);
      const reader = (await service.store().read("a"))?.getReader();
      await expect(new Response(streamOf(reader)).text()).rejects.toThrow(storeFailed);
    });

    it("store-failed: a download that stalls until the idle timeout", async () => {
      const service = await serviceWithA();
      service.faultOf = () => "silence in the middle of the answer";
      const fetch: Fetch = async (...request) => passLimitsAfter(await fetchSafely(...request));
      await expect(service.store({ fetch }).get("a")).rejects.toThrow(storeFailed);
      const pass = idleClock();
      const reader = (await service.store({ totalMs: IDLE_MS }).read("a"))?.getReader();
      expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("o");
      const rest = reader?.read();
      await expect.poll(() => vi.getTimerCount()).toBe(1);
      pass();
      await expect(rest).rejects.toThrow(failsWith(`no data for ${IDLE_MS / 1000} s`));
    });

    it("store-failed: a truncated list, or one with a failed page", async () => {
      const service = await s3Service(server);
      server.fill(
        service.bucket,
        Array.from({ length: MANY_KEYS }, (_, i) => `k/${i}`),
      );
      service.faultOf = (request) => (request.includes("continuation-token") ? refusal(403, "AccessDenied") : null);
      await expect(service.store().keys("k/")).rejects.toThrow(failsWith("AccessDenied"));
      service.faultOf = () => "cut in the middle of the answer";
      await expect(service.store().keys("k/")).rejects.toThrow(storeFailed);
      service.faultOf = () => null;
      service.requests.length = 0;
      expect(new Set(await service.store().keys("k/")).size).toBe(MANY_KEYS);
      expect(service.requests).toHaveLength(2);
    });

    it.each<[string, Fault]>([
      ["without an etag", "no etag"],
      ["with a weak etag, which no condition matches", { status: 200, headers: { etag: 'W/"e"' } }],
    ])("store-failed: a response %s", async (_name, fault) => {
      const service = await serviceWithA();
      service.faultOf = () => fault;
      const store = service.store();
      await expect(store.get("a")).rejects.toThrow(failsWith("no etag"));
      await expect(store.read("a")).rejects.toThrow(failsWith("no etag"));
      await expect(store.put("b", text("two"))).rejects.toThrow(failsWith("no etag"));
      await expect(store.put("c", text("two"), { isNew: true })).rejects.toThrow(failsWith("no etag"));
      await expect(store.write("d", parts("two"), 3)).rejects.toThrow(failsWith("no etag"));
    });

    it.each<[string, Fault]>([
      ["the whole value", "no range"],
      ["another range", { status: 206, headers: { etag: '"e"', "content-range": "bytes 1-9/10" }, body: "123456789" }],
    ])("store-failed: %s instead of the requested range", async (_name, fault) => {
      const service = await serviceWithA();
      service.faultOf = () => fault;
      await expect(service.store().read("a", { first: 1, last: 2 })).rejects.toThrow(storeFailed);
    });
  });

  describe("in a bucket with other objects", () => {
    it("has all its keys under its prefix, and signs every character of keys and prefixes", async () => {
      const service = await s3Service(server);
      const all = "abcdefghijklmnopqrstuvwxyz0123456789._-";
      const prefix = `${all}/0.-_/`;
      const store = service.store({ prefix });
      const keys = [`${all}/${all}`, "0", "9..-__", "a/b/c/d/e/f"];
      for (const key of keys) {
        const etag = await store.put(key, text(key), { isNew: true });
        expect(await store.get(key)).toEqual({ bytes: Uint8Array.from(text(key)), etag });
        expect(await new Response(await store.read(key)).text()).toBe(key);
        expect(await store.put(key, text("other"), { isNew: true })).toBeNull();
        expect(await store.keys(key)).toEqual([key]);
      }
      expect((await service.behind().keys("")).sort()).toEqual(keys.map((key) => prefix + key).sort());
      for (const key of keys) await store.delete(key);
      await store.write(`${all}/x`, parts(all), all.length);
      expect(await service.behind().keys("")).toEqual([`${prefix}${all}/x`]);
    });

    it("ignores objects that are not keys or not under its prefix", async () => {
      const service = await serviceWithA();
      const foreign = ["/Not-A-Key", "/with%20space", "/%C3%A4", "/amp%26lt%3Cgt%3E", "/percent%25zz", "/folder/"];
      for (const path of foreign) expect((await service.fetch(path, { method: "PUT" })).status).toBe(200);
      await service.behind({ prefix: "twtxt/" }).put("b", text("two"));
      await service.behind().put("twtxt-preview/c", text("three"));
      expect((await service.store().keys("")).sort()).toEqual(["a", "twtxt-preview/c", "twtxt/b"]);
      expect(await service.store({ prefix: "twtxt/" }).keys("")).toEqual(["b"]);
    });
  });

  it("sends one request for each call", async () => {
    const service = await s3Service(server);
    const store = service.store({ endpoint: `${service.url}/` });
    const etag = (await store.put("a/b", text("one"))) ?? "";
    await store.put("a/b", text("two"), { etag });
    await store.get("a/b");
    await store.write("c", parts("th", "ree"), 5);
    await new Response(await store.read("c")).text();
    await store.keys("a/");
    await store.delete("a/b");
    expect(service.requests).toEqual([
      "PUT a/b",
      "PUT a/b",
      "GET a/b",
      "PUT c",
      "GET c",
      "GET ?list-type=2&encoding-type=url&prefix=a%2F",
      "DELETE a/b",
    ]);
  });

  it("sends no request for an invalid etag: `*` would match any value", async () => {
    const service = await serviceWithA();
    for (const etag of ["*", "", "e", 'W/"e"', '"e", "f"', '"e\n"']) {
      expect(await service.store().put("a", text("two"), { etag })).toBeNull();
    }
    expect(service.requests).toEqual([]);
    expect(await stored(service, "a")).toBe("one");
  });
});

function streamOf(reader: ReadableStreamDefaultReader<Uint8Array> | undefined): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const read = await reader?.read();
      if (!read || read.done) controller.close();
      else controller.enqueue(read.value);
    },
  });
}
