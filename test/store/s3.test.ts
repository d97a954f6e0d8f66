import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import type { S3StoreOptions } from "../../plugin/store/s3.js";
import type { StreamingStore } from "../../plugin/store/store.js";
import { storeContract } from "../contract/store.js";
import { loopbackServer } from "../helpers/loopback.js";
import { type Fault, refusal, type S3Service, s3Service } from "../helpers/s3-service.js";
import { passLimitsAfter, passTimeLimits } from "../helpers/time-limits.js";
import { BUILD_MS, startVersitygw, type Versitygw, versitygwLack } from "../helpers/versitygw.js";

const lack = await versitygwLack();
if (lack !== null) process.stderr.write(`SKIPPED: the store in S3 is not tested against versitygw: ${lack}.\n`);

/** One more than a page of the list has. */
const MANY_KEYS = 1001;
const IDLE_MS = 10_000;
const NOT_S3: Fault = { status: 200, body: "<html>Welcome!</html>" };
const text = (value: string) => Buffer.from(value);
const storeFailed = expect.objectContaining({ code: "store-failed" });
const failsWith = (part: string) =>
  expect.objectContaining({ code: "store-failed", message: expect.stringContaining(part) });

async function* parts(...values: string[]): AsyncGenerator<Uint8Array> {
  for (const value of values) yield text(value);
}

/** Every kind of call, and the method that it is made with. */
const calls: [string, string, (store: StreamingStore) => Promise<unknown>][] = [
  ["get", "GET", (store) => store.get("a")],
  ["read", "GET", (store) => store.read("a")],
  ["read of a part", "GET", (store) => store.read("a", { first: 1, last: 2 })],
  ["keys", "GET", (store) => store.keys("")],
  ["put", "PUT", (store) => store.put("b", text("two"))],
  ["delete", "DELETE", (store) => store.delete("a")],
];
/** Those that are not repeated where they may have happened. */
const onceCalls: typeof calls = [
  ["put of a new key", "PUT", (store) => store.put("b", text("two"), { isNew: true })],
  ["put of a version", "PUT", (store) => store.put("a", text("two"), { etag: '"e"' })],
  ["write", "PUT", (store) => store.write("b", parts("t", "wo"), 3)],
];
const allCalls = [...calls, ...onceCalls];

/** The text that is really stored. */
async function stored(service: S3Service, key: string): Promise<string | null> {
  const found = await service.behind().get(key);
  return found && Buffer.from(found.bytes).toString();
}

/** The idle limit passes when a test says so. @returns what lets it pass */
function idleClock(): () => void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  return () => void vi.advanceTimersByTime(IDLE_MS);
}

/** Fails these requests in their order, and no more. */
function failing(service: S3Service, method: string, faults: Fault[]): void {
  service.faultOf = (asked) => (asked.startsWith(method) ? (faults.shift() ?? null) : null);
}

describe.skipIf(lack !== null)("a store in S3", () => {
  let server: Versitygw;
  beforeAll(async () => {
    server = await startVersitygw();
  }, BUILD_MS);
  afterAll(() => server.end());

  /** A bucket in which `a` is `one`. */
  const serviceWithA = async () => {
    const service = await s3Service(server);
    await service.behind().put("a", text("one"));
    return service;
  };

  const services = new Map<string, S3Service>();
  /** The two stores of one test are parts of one bucket. */
  const open = async (name: string): Promise<StreamingStore> => {
    const test = expect.getState().currentTestName ?? "";
    const service = services.get(test) ?? (await s3Service(server));
    services.set(test, service);
    return service.store({ prefix: `${name}/` });
  };

  /** A thousand requests would take longer than files. */
  const fill = (name: string, keys: readonly string[]) => {
    const bucket = services.get(expect.getState().currentTestName ?? "")?.bucket ?? "";
    server.fill(
      bucket,
      keys.map((key) => `${name}/${key}`),
    );
  };

  storeContract("s3", open, MANY_KEYS, fill);

  describe("that is down", () => {
    it("store-failed: every call, where nobody listens", async () => {
      const service = await s3Service(server);
      const store = service.store({ endpoint: "http://127.0.0.1:1" });
      const ends = await Promise.allSettled(allCalls.map(([, , call]) => call(store)));
      expect(ends).toEqual(allCalls.map(() => ({ status: "rejected", reason: storeFailed })));
    });

    it("store-failed: every call, where nobody answers: asked once, until the time is over", async () => {
      const services = await Promise.all(allCalls.map(serviceWithA));
      for (const service of services) service.faultOf = () => "silence";
      const pass = idleClock();
      const ends = Promise.allSettled(
        allCalls.map(async ([, , call], i) => services[i] && (await call(services[i].store({ totalMs: IDLE_MS })))),
      );
      await expect.poll(() => services.map(({ asked }) => asked.length)).toEqual(services.map(() => 1));
      passTimeLimits();
      pass();
      expect(await ends).toEqual(allCalls.map(() => ({ status: "rejected", reason: storeFailed })));
      expect(services.map(({ asked }) => asked.length)).toEqual(services.map(() => 1));
    });

    it.each<[string, Fault]>([
      ["every connection is cut", "cut before"],
      ["every answer is that it is overloaded", refusal(503, "SlowDown", "Please reduce your request rate.")],
      ["every answer is an error of its own", { status: 500, body: "trouble" }],
    ])("store-failed: where %s: at most three tries, and one of what may have happened", async (_name, fault) => {
      const tries = await Promise.all(
        allCalls.map(async ([name, method, call]) => {
          const service = await serviceWithA();
          service.faultOf = () => fault;
          await expect(call(service.store())).rejects.toThrow(storeFailed);
          expect(service.asked.every((asked) => asked.startsWith(method))).toBe(true);
          expect(await stored(service, "a")).toBe("one");
          expect(await stored(service, "b")).toBeNull();
          return [name, service.asked.length];
        }),
      );
      expect(tries).toEqual([...calls.map(([name]) => [name, 3]), ...onceCalls.map(([name]) => [name, 1])]);
    });

    it("store-failed: a pause between two tries ends with the time of the call, and the answer before it is told", async () => {
      const service = await serviceWithA();
      service.faultOf = () => refusal(503, "SlowDown", "Please reduce your request rate.");
      const fetch = async (...request: Parameters<typeof globalThis.fetch>) =>
        passLimitsAfter(await globalThis.fetch(...request));
      await expect(service.store({ fetch }).get("a")).rejects.toThrow(
        failsWith("status 503 (SlowDown: Please reduce your request rate.)"),
      );
      expect(service.asked).toHaveLength(1);
    });
  });

  describe("that has a short trouble", () => {
    it.each<[string, Fault]>([
      ["the connection is cut", "cut before"],
      ["the answer is lost", "cut after"],
      ["it is overloaded", refusal(503, "SlowDown")],
    ])("is asked again where %s", async (_name, fault) => {
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
    ])("%i %s says that nothing was written: even a conditional write is tried again", async (status, code) => {
      const service = await serviceWithA();
      failing(service, "PUT", [refusal(status, code), refusal(status, code)]);
      expect(await service.store().put("b", text("two"), { isNew: true })).not.toBeNull();
      expect(service.asked).toEqual(["PUT b", "PUT b", "PUT b"]);
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

    it.each(onceCalls)(
      "store-failed: %s, of which the answer is lost, is not repeated",
      async (_name, method, call) => {
        const service = await serviceWithA();
        failing(service, method, ["cut after"]);
        await expect(call(service.store())).rejects.toThrow(storeFailed);
        expect(service.asked).toHaveLength(1);
      },
    );

    it("store-failed: a value that is written in parts and refused cannot be sent again, and why is told", async () => {
      const service = await serviceWithA();
      failing(service, "PUT", [refusal(409, "OperationAborted")]);
      await expect(service.store().write("b", parts("t", "wo"), 3)).rejects.toThrow(failsWith("409 (OperationAborted"));
      expect(service.asked).toEqual(["PUT b"]);
      expect(await stored(service, "b")).toBeNull();
    });

    it("store-failed: a conditional write has happened, and its own success would look like a conflict", async () => {
      const service = await serviceWithA();
      failing(service, "PUT", ["cut after"]);
      const etag = (await service.store().get("a"))?.etag ?? "";
      await expect(service.store().put("a", text("two"), { etag })).rejects.toThrow(storeFailed);
      expect(await stored(service, "a")).toBe("two");
    });

    it("store-failed: a value that is written in parts and cut on its way is not there", async () => {
      const service = await serviceWithA();
      failing(service, "PUT", ["cut in the middle of the request"]);
      let taken = 0;
      async function* chunks() {
        for (; taken < 2 ** 31; taken += 65_536) yield Buffer.alloc(65_536);
      }
      await expect(service.store().write("b", chunks(), 2 ** 31)).rejects.toThrow(storeFailed);
      expect(service.asked).toEqual(["PUT b"]);
      expect(await stored(service, "b")).toBeNull();
      expect(taken).toBeLessThan(2 ** 27);
    });
  });

  describe("that refuses", () => {
    it.each(allCalls)("store-failed: %s, with a wrong secret; the secret is not told", async (_name, _method, call) => {
      const service = await serviceWithA();
      const secretAccessKey = "some/other+secret=of=mine";
      const error = await call(service.store({ secretAccessKey })).catch((thrown: unknown) => thrown);
      expect(error).toEqual(failsWith("403 (SignatureDoesNotMatch"));
      expect(error).toEqual(failsWith("check the access key and its secret"));
      expect(inspect(error, { depth: null, showHidden: true })).not.toContain("other+secret");
      expect(await stored(service, "a")).toBe("one");
      expect(await stored(service, "b")).toBeNull();
    });

    it.each<[string, Partial<S3StoreOptions>, string]>([
      ["an access key that nobody has", { accessKeyId: "nobody" }, "404 (XAdminUserNotFound"],
      ["another region", { region: "us-west-2" }, 'the region "us-west-2" is wrong'],
      ["a bucket that is not there, which is not taken for an empty one", { bucket: "nowhere" }, "404 (NoSuchBucket"],
    ])("store-failed: every call, for %s", async (_name, options, why) => {
      const service = await serviceWithA();
      const ends = await Promise.allSettled(allCalls.map(([, , call]) => call(service.store(options))));
      expect(ends).toEqual(allCalls.map(() => ({ status: "rejected", reason: failsWith(why) })));
    });

    it.each<[string, Fault]>([
      ["404 of something else", { status: 404, body: "<html>Not found</html>" }],
      ["404 without a word", { status: 404 }],
      ["a redirect without a word", { status: 301, headers: { location: "/elsewhere" } }],
      ["400", { status: 400, body: "x".repeat(1_000_000) }],
    ])("store-failed: every call that is answered with %s", async (_name, fault) => {
      const service = await serviceWithA();
      service.faultOf = () => fault;
      const ends = await Promise.allSettled(allCalls.map(([, , call]) => call(service.store())));
      expect(ends).toEqual(allCalls.map(() => ({ status: "rejected", reason: storeFailed })));
      expect(service.asked).toHaveLength(allCalls.length);
    });

    it("store-failed: a condition that does not hold where none was made", async () => {
      const service = await serviceWithA();
      service.faultOf = () => refusal(412, "PreconditionFailed");
      const ends = await Promise.allSettled(calls.map(([, , call]) => call(service.store())));
      expect(ends).toEqual(calls.map(() => ({ status: "rejected", reason: failsWith("412 (PreconditionFailed") })));
    });

    it("store-failed: a redirect, which is not followed: signatures are for one server", async () => {
      const other = await loopbackServer((_request, response) => response.end("one"));
      const service = await serviceWithA();
      service.faultOf = () => ({ status: 307, headers: { location: other.url } });
      const ends = await Promise.allSettled(allCalls.map(([, , call]) => call(service.store())));
      expect(ends).toEqual(allCalls.map(() => ({ status: "rejected", reason: storeFailed })));
      expect(other.asked).toEqual([]);
    });

    it("store-failed: what is said is short, and has no control characters", async () => {
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

  describe("that answers half", () => {
    it.each(allCalls)("store-failed: %s, answered by something else with 200", async (_name, _method, call) => {
      const service = await serviceWithA();
      service.faultOf = () => NOT_S3;
      await expect(call(service.store())).rejects.toThrow(storeFailed);
    });

    it("store-failed: a value that is cut off", async () => {
      const service = await serviceWithA();
      service.faultOf = () => "cut in the middle of the answer";
      await expect(service.store().get("a")).rejects.toThrow(storeFailed);
      const reader = (await service.store().read("a"))?.getReader();
      await expect(new Response(streamOf(reader)).text()).rejects.toThrow(storeFailed);
    });

    it("store-failed: a value that stands still on its way, once somebody has waited for long enough", async () => {
      const service = await serviceWithA();
      service.faultOf = () => "silence in the middle of the answer";
      const fetch = async (...request: Parameters<typeof globalThis.fetch>) =>
        passLimitsAfter(await globalThis.fetch(...request));
      await expect(service.store({ fetch }).get("a")).rejects.toThrow(storeFailed);
      const pass = idleClock();
      const reader = (await service.store({ totalMs: IDLE_MS }).read("a"))?.getReader();
      expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("o");
      const rest = reader?.read();
      await expect.poll(() => vi.getTimerCount()).toBe(1);
      pass();
      await expect(rest).rejects.toThrow(failsWith(`no data for ${IDLE_MS} ms`));
    });

    it("store-failed: a list that is cut off, or without one of its later pages", async () => {
      const service = await s3Service(server);
      server.fill(
        service.bucket,
        Array.from({ length: MANY_KEYS }, (_, i) => `k/${i}`),
      );
      service.faultOf = (asked) => (asked.includes("continuation-token") ? refusal(403, "AccessDenied") : null);
      await expect(service.store().keys("k/")).rejects.toThrow(failsWith("AccessDenied"));
      service.faultOf = () => "cut in the middle of the answer";
      await expect(service.store().keys("k/")).rejects.toThrow(storeFailed);
      service.faultOf = () => null;
      service.asked.length = 0;
      expect(new Set(await service.store().keys("k/")).size).toBe(MANY_KEYS);
      expect(service.asked).toHaveLength(2);
    });

    it.each<[string, Fault]>([
      ["without an etag", "no etag"],
      ["with a weak one, which holds for nothing", { status: 200, headers: { etag: 'W/"e"' } }],
    ])("store-failed: what is answered %s", async (_name, fault) => {
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
      ["all of it", "no range"],
      ["another part", { status: 206, headers: { etag: '"e"', "content-range": "bytes 1-9/10" }, body: "123456789" }],
    ])("store-failed: %s in place of the part that was asked for", async (_name, fault) => {
      const service = await serviceWithA();
      service.faultOf = () => fault;
      await expect(service.store().read("a", { first: 1, last: 2 })).rejects.toThrow(storeFailed);
    });
  });

  describe("with others in the same bucket", () => {
    it("keeps to its prefix, and signs it and keys of all characters that there are", async () => {
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

    it("never shows what is no key or not below its prefix", async () => {
      const service = await serviceWithA();
      const foreign = ["/Not-A-Key", "/with%20space", "/%C3%A4", "/amp%26lt%3Cgt%3E", "/percent%25zz", "/folder/"];
      for (const path of foreign) expect((await service.fetch(path, { method: "PUT" })).status).toBe(200);
      await service.behind({ prefix: "twtxt/" }).put("b", text("two"));
      await service.behind().put("twtxt-preview/c", text("three"));
      expect((await service.store().keys("")).sort()).toEqual(["a", "twtxt-preview/c", "twtxt/b"]);
      expect(await service.store({ prefix: "twtxt/" }).keys("")).toEqual(["b"]);
    });
  });

  it("asks once for each call", async () => {
    const service = await s3Service(server);
    const store = service.store({ endpoint: `${service.url}/` });
    const etag = (await store.put("a/b", text("one"))) ?? "";
    await store.put("a/b", text("two"), { etag });
    await store.get("a/b");
    await store.write("c", parts("th", "ree"), 5);
    await new Response(await store.read("c")).text();
    await store.keys("a/");
    await store.delete("a/b");
    expect(service.asked).toEqual([
      "PUT a/b",
      "PUT a/b",
      "GET a/b",
      "PUT c",
      "GET c",
      "GET ?list-type=2&encoding-type=url&prefix=a%2F",
      "DELETE a/b",
    ]);
  });

  it("asks nothing where an etag is none: `*` would hold for whatever is there", async () => {
    const service = await serviceWithA();
    for (const etag of ["*", "", "e", 'W/"e"', '"e", "f"', '"e\n"']) {
      expect(await service.store().put("a", text("two"), { etag })).toBeNull();
    }
    expect(service.asked).toEqual([]);
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
