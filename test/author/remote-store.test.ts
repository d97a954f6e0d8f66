// test/author/remote-store.test.ts: the store of a site over signed requests.
import { describe, expect, it } from "vitest";
import { RemoteStore } from "../../plugin/author/remote-store.js";
import { siteDataHandlers } from "../../plugin/host/site-data.js";
import { siteApi } from "../../plugin/http/site-api.js";
import { memoryStore } from "../../plugin/store/memory.js";
import type { StreamingStore } from "../../plugin/store/store.js";
import { hostAt } from "../helpers/endpoints.js";
import { identityOf } from "../helpers/identity.js";
import { settingsOf } from "../helpers/receiver.js";

const ALICE = identityOf(2);
const ORIGIN = "https://alice.example";
const now = () => Date.parse("2026-11-20T09:00:00Z");

/** Alice's store over HTTP, in front of this one. */
function remote(store: StreamingStore, given: { signer?: typeof ALICE; failing?: (count: number) => boolean } = {}) {
  const { signer = ALICE, failing = () => false } = given;
  const settings = settingsOf({ key: ALICE.publicKey });
  const respond = hostAt(ORIGIN, siteDataHandlers({ settings, store, authority: "alice.example", now }), () => {});
  const sizes: number[] = [];
  const pauses: number[] = [];
  let count = 0;
  const fetch: typeof globalThis.fetch = async (url, init) => {
    count += 1;
    if (failing(count)) throw new TypeError("fetch failed", { cause: { code: "ECONNRESET" } });
    const request = new Request(String(url), init);
    const response = await respond(request);
    const body = await response.arrayBuffer();
    sizes.push(body.byteLength);
    return new Response(body, { status: response.status, headers: response.headers });
  };
  const ask = siteApi({ root: `${ORIGIN}/api/v1/site/data`, signer, now, fetch });
  const sleep = async (milliseconds: number) => void pauses.push(milliseconds);
  return {
    store: new RemoteStore(ask, { sleep, signal: new AbortController().signal }),
    sizes,
    pauses,
    requests: () => count,
  };
}

describe("the store of a site over HTTP", () => {
  it("lists all keys, those with a prefix too, and has no value for another key", async () => {
    const behind = memoryStore();
    const names = [...Array(5100).keys()].map((n) => `many/${n}`);
    for (const name of [...names, "other"]) await behind.put(name, new Uint8Array());
    const { store } = remote(behind);
    expect((await store.keys("")).sort()).toEqual([...names, "other"].sort());
    expect((await store.keys("many/")).sort()).toEqual(names.sort());
    expect([await store.get("none"), await store.read("none"), await store.hashAll(["none"])]).toEqual([
      null,
      null,
      [null],
    ]);
  });

  it("has no answer larger than 4.5 MB, and reads small values together", async () => {
    const behind = memoryStore();
    for (let n = 0; n < 300; n += 1) await behind.put(`small/${n}`, Buffer.from(`value ${n}`));
    for (let n = 0; n < 9; n += 1) await behind.put(`middle/${n}`, new Uint8Array(900_000).fill(n));
    await behind.put("large", new Uint8Array(7_000_000).fill(7));
    const { store, sizes, requests } = remote(behind);
    let bytes = 0;
    for (const key of (await store.keys("")).sort()) {
      for await (const chunk of (await store.read(key)) ?? []) bytes += chunk.length;
    }
    expect(bytes).toBe(7_000_000 + 9 * 900_000 + [...Array(300).keys()].join("").length + 300 * "value ".length);
    expect(Math.max(...sizes)).toBeLessThan(4_500_000);
    expect(requests()).toBeLessThan(12);
  });

  it("repeats requests that were cut off, and gives up after five", async () => {
    const behind = memoryStore();
    await behind.put("a", Buffer.from("one"));
    const flaky = remote(behind, { failing: (count) => count % 3 !== 0 });
    expect(Buffer.from((await flaky.store.get("a"))?.bytes ?? []).toString()).toBe("one");
    expect(flaky.pauses).toEqual([500, 2000]);
    const down = remote(behind, { failing: () => true });
    await expect(down.store.get("a")).rejects.toMatchObject({ code: "unreachable" });
    expect(down.requests()).toBe(5);
  });

  it("refuses every key but that of the first author, and writes only what matches its hash", async () => {
    const behind = memoryStore();
    await behind.put("a", Buffer.from("one"));
    const eve = remote(behind, { signer: identityOf(3) }).store;
    for (const work of [
      () => eve.keys(""),
      () => eve.get("a"),
      () => eve.putAll([{ key: "a", bytes: Buffer.from("x") }]),
      () => eve.deleteAll(["a"]),
    ]) {
      await expect(work()).rejects.toMatchObject({ code: "not-allowed" });
    }
    expect(Buffer.from((await behind.get("a"))?.bytes ?? []).toString()).toBe("one");
  });

  it("leaves no trace of reads, and shows no used nonces", async () => {
    const behind = memoryStore();
    const { store } = remote(behind);
    await store.putAll([{ key: "a", bytes: Buffer.from("one") }]);
    const before = await behind.keys("");
    expect(before.filter((key) => key.startsWith("nonces/"))).toHaveLength(1);
    expect(await store.keys("")).toEqual(["a"]);
    await store.get("a");
    await store.hashAll(["a", "b"]);
    expect(await behind.keys("")).toEqual(before);
  });
});
