import { setTimeout } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { StreamingStore } from "../../plugin/store/store.js";
import { storeContract } from "../contract/store.js";
import { type BlobsSite, blobsSite, type Fault } from "../helpers/blobs-server.js";
import { passLimitsAfter, passTimeLimits } from "../helpers/time-limits.js";

const text = (value: string) => Buffer.from(value);
const storeFailed = expect.objectContaining({ code: "store-failed" });

/** The two stores of one test are of one site. */
function stores(isProduction: boolean): (name: string) => Promise<StreamingStore> {
  const sites = new Map<string, BlobsSite>();
  return async (name) => {
    const test = expect.getState().currentTestName ?? "";
    const site = sites.get(test) ?? (await blobsSite(isProduction));
    sites.set(test, site);
    return site.store(name);
  };
}

/** Three pages of the list, see blobs-server.ts. */
const MANY_KEYS = 50;

storeContract("netlify", stores(true), MANY_KEYS);
storeContract("netlify dev", stores(false), MANY_KEYS);

/** The text that is really stored. */
async function stored(site: BlobsSite, key: string): Promise<string | null> {
  const found = await site.behind("s").get(key);
  return found && Buffer.from(found.bytes).toString();
}

/** Fails these requests in their order, and no more. */
function failing(site: BlobsSite, method: string, faults: Fault[]): void {
  site.faultOf = (asked) => (asked.startsWith(method) ? (faults.shift() ?? null) : null);
}

/** Every kind of call, by the method that it is made with. */
const calls: [string, string, (store: StreamingStore) => Promise<unknown>][] = [
  ["get", "GET", (store) => store.get("a")],
  ["keys", "GET", (store) => store.keys("")],
  ["put", "PUT", (store) => store.put("a", text("two"))],
  ["put of a new key", "PUT", (store) => store.put("b", text("two"), { isNew: true })],
  ["delete", "DELETE", (store) => store.delete("a")],
];

describe("a store that is down", () => {
  it("store-failed: every call, where nobody listens", async () => {
    const nowhere = "http://127.0.0.1:1";
    const store = (await blobsSite()).store("s", { edgeURL: nowhere, uncachedEdgeURL: nowhere });
    const ends = await Promise.allSettled(calls.map(([, , call]) => call(store)));
    expect(ends).toEqual(calls.map(() => ({ status: "rejected", reason: storeFailed })));
  });

  it.each(calls)(
    "store-failed: %s, where nobody answers: asked once, until the time is over",
    async (_name, _method, call) => {
      const site = await blobsSite();
      site.faultOf = () => {
        passTimeLimits();
        return "silence";
      };
      await expect(call(site.store("s"))).rejects.toThrow(storeFailed);
      expect(site.asked).toHaveLength(1);
    },
  );

  it.each(calls)("store-failed: %s, where every connection is cut: at most three tries", async (name, method, call) => {
    const site = await blobsSite();
    site.faultOf = () => "cut before";
    await expect(call(site.store("s"))).rejects.toThrow(storeFailed);
    expect(site.asked.map((asked) => asked.split(" ")[0])).toEqual(
      Array.from({ length: name === "put of a new key" ? 1 : 3 }, () => method),
    );
    expect(await site.behind("s").keys("")).toEqual([]);
  });

  it.each([400, 401, 403, 500, 503])("store-failed: a conditional write that is answered with %i", async (status) => {
    const site = await blobsSite();
    failing(site, "PUT", [status]);
    await expect(site.store("s").put("a", text("one"), { isNew: true })).rejects.toThrow(storeFailed);
    expect(site.asked).toEqual(["PUT s/a"]);
    expect(await stored(site, "a")).toBeNull();
  });

  it("store-failed: a pause between two tries ends with the time of the call", async () => {
    const site = await blobsSite();
    site.faultOf = () => 503;
    const { fetch } = globalThis;
    vi.stubGlobal("fetch", async (...request: Parameters<typeof fetch>) => passLimitsAfter(await fetch(...request)));
    onTestFinished(() => void vi.unstubAllGlobals());
    await expect(site.store("s").get("a")).rejects.toThrow(
      expect.objectContaining({ code: "store-failed", message: expect.stringContaining("503") }),
    );
    expect(site.asked).toHaveLength(1);
  });

  it("store-failed: a store that nobody has said where to find", async () => {
    const site = await blobsSite();
    await expect(site.store("s", { siteID: "", token: "" }).get("a")).rejects.toThrow(storeFailed);
    await expect(site.store("s", { uncachedEdgeURL: "" }).get("a")).rejects.toThrow(storeFailed);
  });
});

describe("an answer that is lost", () => {
  it("store-failed: a conditional write has happened, and is not repeated: its own success would look like a conflict", async () => {
    const site = await blobsSite();
    failing(site, "PUT", ["cut after"]);
    await expect(site.store("s").put("a", text("one"), { isNew: true })).rejects.toThrow(storeFailed);
    expect(site.asked).toEqual(["PUT s/a"]);
    expect(await stored(site, "a")).toBe("one");

    const etag = (await site.store("s").get("a"))?.etag ?? "";
    failing(site, "PUT", ["cut after"]);
    await expect(site.store("s").put("a", text("two"), { etag })).rejects.toThrow(storeFailed);
    expect(await stored(site, "a")).toBe("two");
  });

  it("a write without a condition is repeated, and done", async () => {
    const site = await blobsSite();
    failing(site, "PUT", ["cut after"]);
    const etag = await site.store("s").put("a", text("one"));
    expect(site.asked).toEqual(["PUT s/a", "PUT s/a"]);
    expect(await site.store("s").get("a")).toMatchObject({ etag });
    expect(await stored(site, "a")).toBe("one");
  });

  it("what is read or deleted is asked for again", async () => {
    const site = await blobsSite();
    await site.store("s").put("a", text("one"));
    failing(site, "GET", ["cut after", 503]);
    expect((await site.store("s").get("a"))?.bytes).toEqual(Uint8Array.from(text("one")));
    failing(site, "GET", [500]);
    expect(await site.store("s").keys("")).toEqual(["a"]);
    failing(site, "DELETE", ["cut after"]);
    await site.store("s").delete("a");
    expect(await stored(site, "a")).toBeNull();
  });

  it.each([409, 429])("%i says that nothing was written: even a conditional write is tried again", async (status) => {
    const site = await blobsSite();
    failing(site, "PUT", [status]);
    expect(await site.store("s").put("a", text("one"), { isNew: true })).not.toBeNull();
    expect(site.asked).toEqual(["PUT s/a", "PUT s/a"]);
    expect(await stored(site, "a")).toBe("one");
  });
});

describe("half an answer", () => {
  it("store-failed: a value that is cut off", async () => {
    const site = await blobsSite();
    await site.store("s").put("a", text("one".repeat(1000)));
    site.faultOf = () => "cut in the middle";
    await expect(site.store("s").get("a")).rejects.toThrow(storeFailed);
  });

  it("store-failed: a list without one of its later pages", async () => {
    const site = await blobsSite();
    const behind = site.behind("s");
    await Promise.all(Array.from({ length: MANY_KEYS }, (_, i) => behind.put(`k/${i}`, text("x"))));
    site.faultOf = (asked) => (asked.includes("cursor") ? 403 : null);
    await expect(site.store("s").keys("k/")).rejects.toThrow(storeFailed);
    site.faultOf = () => null;
    expect(await site.store("s").keys("k/")).toHaveLength(MANY_KEYS);
  });

  it.each([
    ["without a condition", undefined],
    ["with one", { isNew: true } as const],
  ])("store-failed: a write %s that is answered without an etag", async (_name, condition) => {
    const site = await blobsSite();
    failing(site, "PUT", ["no etag"]);
    await expect(site.store("s").put("a", text("one"), condition)).rejects.toThrow(storeFailed);
    expect(await stored(site, "a")).toBe("one");
  });
});

describe("the requests of a call", () => {
  it("are one each where etags come with values", async () => {
    const site = await blobsSite();
    const store = site.store("s");
    const etag = await store.put("a/b", text("one"));
    expect((await store.get("a/b"))?.etag).toBe(etag);
    await store.keys("a/");
    await store.delete("a/b");
    expect(site.asked).toEqual(["PUT s/a/b", "GET s/a/b", "GET s?prefix=a%2F", "DELETE s/a/b"]);
  });

  it("ask for the etag before the value where only lists tell it, so that it is never too new", async () => {
    const site = await blobsSite(false);
    const store = site.store("s");
    const first = await store.put("a", text("one"));
    // The local server makes etags of the time of a write, and two of one moment would have the same.
    await setTimeout(50);
    site.asked.length = 0;
    // Somebody writes after the list and before the value.
    let reads = 0;
    const between: Promise<unknown>[] = [];
    site.faultOf = (asked) => {
      if (asked === "GET s/a" && ++reads === 2) between.push(site.behind("s").put("a", text("two")));
      return null;
    };
    const found = await store.get("a");
    expect(site.asked).toEqual(["GET s/a", "GET s?prefix=a", "GET s/a"]);
    expect(found?.etag).toBe(first);
    await Promise.all(between);
    expect(await store.put("a", text("three"), { etag: found?.etag ?? "" })).toBeNull();
    expect(await stored(site, "a")).toBe("two");
  });

  it("never show what others have put into the store and is no key", async () => {
    const site = await blobsSite();
    await site.store("s").put("a", text("one"));
    const foreign = await fetch(`${site.url}/site/site:s/Not-A-Key`, {
      method: "PUT",
      headers: { authorization: "Bearer token" },
      body: "x",
    });
    expect(foreign.status).toBe(200);
    expect(await site.store("s").keys("")).toEqual(["a"]);
  });
});
