import { setTimeout } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import type { StreamingStore } from "../../plugin/store/store.js";
import { type Fetch, fetchSafely } from "../../plugin/transport/fetch.js";
import { storeContract, valueContract } from "../contract/store.js";
import { type BlobsSite, blobsSite, type Fault } from "../helpers/blobs-server.js";
import { passLimitsAfter, passTimeLimits, shortenPauses } from "../helpers/time-limits.js";

const text = (value: string) => Buffer.from(value);
const storeFailed = expect.objectContaining({ code: "store-failed" });

/** The two stores of a test belong to one site. */
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
const MANY_KEYS = 41;

storeContract("netlify", stores(true), MANY_KEYS);
// Streams of this store are whole values, and lists are the same, whether the server is that of production or of `netlify dev`.
valueContract("netlify dev", stores(false));

/** The text in the store, read without the client. */
async function stored(site: BlobsSite, key: string): Promise<string | null> {
  const found = await site.behind("s").get(key);
  return found && Buffer.from(found.bytes).toString();
}

/** Applies these faults to the next requests, in order. */
function failing(site: BlobsSite, method: string, faults: Fault[]): void {
  site.faultOf = (request) => (request.startsWith(method) ? (faults.shift() ?? null) : null);
}

/** Every kind of call, with its HTTP method. */
const calls: [string, string, (store: StreamingStore) => Promise<unknown>][] = [
  ["get", "GET", (store) => store.get("a")],
  ["keys", "GET", (store) => store.keys("")],
  ["put", "PUT", (store) => store.put("a", text("two"))],
  ["put of a new key", "PUT", (store) => store.put("b", text("two"), { isNew: true })],
  ["delete", "DELETE", (store) => store.delete("a")],
];

describe("a store that is down", () => {
  beforeEach(shortenPauses);

  it("store-failed: every call if no server listens", async () => {
    const nowhere = "http://127.0.0.1:1";
    const store = (await blobsSite()).store("s", { edgeURL: nowhere, uncachedEdgeURL: nowhere });
    const ends = await Promise.allSettled(calls.map(([, , call]) => call(store)));
    expect(ends).toEqual(calls.map(() => ({ status: "rejected", reason: storeFailed })));
  });

  it.each(calls)("store-failed: %s, sent once, if the server never responds", async (_name, _method, call) => {
    const site = await blobsSite();
    site.faultOf = () => {
      passTimeLimits();
      return "silence";
    };
    await expect(call(site.store("s"))).rejects.toThrow(storeFailed);
    expect(site.requests).toHaveLength(1);
  });

  it("store-failed: every call after at most six tries if every connection is cut", async () => {
    const tries = await Promise.all(
      calls.map(async ([name, , call]) => {
        const site = await blobsSite();
        site.faultOf = () => "cut before";
        await expect(call(site.store("s"))).rejects.toThrow(storeFailed);
        expect(await site.behind("s").keys("")).toEqual([]);
        return [name, site.requests.map((request) => request.split(" ")[0])];
      }),
    );
    expect(tries).toEqual(
      calls.map(([name, method]) => [name, Array.from({ length: name === "put of a new key" ? 1 : 6 }, () => method)]),
    );
  });

  it.each([400, 401, 403, 500, 503])("store-failed: a conditional write with the response %i", async (status) => {
    const site = await blobsSite();
    failing(site, "PUT", [status]);
    await expect(site.store("s").put("a", text("one"), { isNew: true })).rejects.toThrow(storeFailed);
    expect(site.requests).toEqual(["PUT s/a"]);
    expect(await stored(site, "a")).toBeNull();
  });

  it("store-failed: the time limit of a call also ends the pause between two tries", async () => {
    const site = await blobsSite();
    site.faultOf = () => 503;
    const fetch: Fetch = async (...request) => passLimitsAfter(await fetchSafely(...request));
    await expect(site.store("s", { fetch }).get("a")).rejects.toThrow(
      expect.objectContaining({ code: "store-failed", message: expect.stringContaining("503") }),
    );
    expect(site.requests).toHaveLength(1);
  });

  it("store-failed: a store without a configured site, token or address", async () => {
    const site = await blobsSite();
    await expect(site.store("s", { siteID: "", token: "" }).get("a")).rejects.toThrow(storeFailed);
    await expect(site.store("s", { uncachedEdgeURL: "" }).get("a")).rejects.toThrow(storeFailed);
  });
});

describe("a retry", () => {
  beforeEach(shortenPauses);

  it("store-failed: does not follow a conditional write whose response is lost: its own success would look like a conflict", async () => {
    const site = await blobsSite();
    failing(site, "PUT", ["cut after"]);
    await expect(site.store("s").put("a", text("one"), { isNew: true })).rejects.toThrow(storeFailed);
    expect(site.requests).toEqual(["PUT s/a"]);
    expect(await stored(site, "a")).toBe("one");

    const etag = (await site.store("s").get("a"))?.etag ?? "";
    failing(site, "PUT", ["cut after"]);
    await expect(site.store("s").put("a", text("two"), { etag })).rejects.toThrow(storeFailed);
    expect(await stored(site, "a")).toBe("two");
  });

  it("follows an unconditional write whose response is lost", async () => {
    const site = await blobsSite();
    failing(site, "PUT", ["cut after"]);
    const etag = await site.store("s").put("a", text("one"));
    expect(site.requests).toEqual(["PUT s/a", "PUT s/a"]);
    expect(await site.store("s").get("a")).toMatchObject({ etag });
    expect(await stored(site, "a")).toBe("one");
  });

  it("follows a failed read or deletion", async () => {
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

  it.each([409, 429])("follows %i even for a conditional write, because nothing was written", async (status) => {
    const site = await blobsSite();
    failing(site, "PUT", [status]);
    expect(await site.store("s").put("a", text("one"), { isNew: true })).not.toBeNull();
    expect(site.requests).toEqual(["PUT s/a", "PUT s/a"]);
    expect(await stored(site, "a")).toBe("one");
  });
});

describe("an incomplete response", () => {
  it("store-failed: a truncated value", async () => {
    const site = await blobsSite();
    await site.store("s").put("a", text("one".repeat(1000)));
    site.faultOf = () => "cut in the middle";
    await expect(site.store("s").get("a")).rejects.toThrow(storeFailed);
  });

  it("store-failed: a list with a failed page", async () => {
    const site = await blobsSite();
    const behind = site.behind("s");
    await Promise.all(Array.from({ length: MANY_KEYS }, (_, i) => behind.put(`k/${i}`, text("x"))));
    site.faultOf = (request) => (request.includes("cursor") ? 403 : null);
    await expect(site.store("s").keys("k/")).rejects.toThrow(storeFailed);
    site.faultOf = () => null;
    expect(await site.store("s").keys("k/")).toHaveLength(MANY_KEYS);
  });

  it.each([
    ["without a condition", undefined],
    ["with a condition", { isNew: true } as const],
  ])("store-failed: a write %s whose response has no etag", async (_name, condition) => {
    const site = await blobsSite();
    failing(site, "PUT", ["no etag"]);
    await expect(site.store("s").put("a", text("one"), condition)).rejects.toThrow(storeFailed);
    expect(await stored(site, "a")).toBe("one");
  });
});

describe("the requests of a call", () => {
  it("are one per call if responses with values have etags", async () => {
    const site = await blobsSite();
    const store = site.store("s");
    const etag = await store.put("a/b", text("one"));
    expect((await store.get("a/b"))?.etag).toBe(etag);
    await store.keys("a/");
    await store.delete("a/b");
    expect(site.requests).toEqual(["PUT s/a/b", "GET s/a/b", "GET s?prefix=a%2F", "DELETE s/a/b"]);
  });

  it("read the etag before the value if only lists have it, so that it is never newer than the value", async () => {
    const site = await blobsSite(false);
    const store = site.store("s");
    const first = await store.put("a", text("one"));
    // The local server derives etags from the time of a write: two in the same millisecond would be equal.
    await setTimeout(50);
    site.requests.length = 0;
    // Another client writes after the list and before the value is read.
    let reads = 0;
    const between: Promise<unknown>[] = [];
    site.faultOf = (request) => {
      if (request === "GET s/a" && ++reads === 2) between.push(site.behind("s").put("a", text("two")));
      return null;
    };
    const found = await store.get("a");
    expect(site.requests).toEqual(["GET s/a", "GET s?prefix=a", "GET s/a"]);
    expect(found?.etag).toBe(first);
    await Promise.all(between);
    expect(await store.put("a", text("three"), { etag: found?.etag ?? "" })).toBeNull();
    expect(await stored(site, "a")).toBe("two");
  });

  it("ignore entries of other programs that are not keys", async () => {
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
