// test/netlify/site.test.ts: the author's requests for the state and the data of a site on Netlify.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { site } from "../../netlify/functions/site.js";
import { RemoteStore } from "../../plugin/author/remote-store.js";
import { siteApi } from "../../plugin/http/site-api.js";
import type { BlobsSite } from "../helpers/blobs-server.js";
import { netlifyBlobs, siteOf } from "../helpers/netlify-site.js";
import { ALICE } from "../messages/inbox/alices-inbox.js";

const ORIGIN = "https://alice.example";
/** What a function may answer, in binary. */
const MAX_ANSWER = 4_500_000;
const MAX_REQUEST = 6_000_000;

let blobs: BlobsSite;

beforeEach(async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  blobs = await netlifyBlobs();
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** Requests to the function, with the sizes of their bodies. */
function ask(path: string) {
  const { settings, pages } = siteOf(ORIGIN, { key: ALICE.publicKey, blobs: true });
  const sizes: number[] = [];
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const request = new Request(String(url), init);
    const body = await request.clone().arrayBuffer();
    if (body.byteLength > MAX_REQUEST) throw new Error("Netlify passes no such request to a function.");
    const response = await site(settings, pages)(request, { deploy: { context: "production" }, ip: "192.0.2.1" });
    const answer = await response.arrayBuffer();
    sizes.push(answer.byteLength);
    return new Response(answer, { status: response.status, headers: response.headers });
  };
  return { ask: siteApi({ root: ORIGIN + path, signer: ALICE, now: Date.now, fetch }), sizes };
}

describe("the function site on Netlify", () => {
  it("tells the state of the site", async () => {
    await blobs.store("twtxt").put("mentions/one", Buffer.from("1"));
    const state = await (await ask("/api/v1/site").ask({ method: "GET", path: "" })).json();
    expect(state).toMatchObject({ node: process.versions.node, values: 1, sent: {} });
    expect(await (await ask("/api/v1/site").ask({ method: "GET", path: "/sent" })).json()).toEqual({
      mentions: [],
      next: null,
    });
  });

  it("gives and takes all values, in answers and requests that Netlify passes on", async () => {
    const behind = blobs.store("twtxt");
    const values = new Map<string, Uint8Array>();
    for (let n = 0; n < 25; n += 1) values.set(`small/${n}`, Buffer.from(`value ${n}`));
    values.set("large", new Uint8Array(4 * 2 ** 20).fill(7));
    for (const [key, bytes] of values) await behind.put(key, bytes);
    const { ask: request, sizes } = ask("/api/v1/site/data");
    const options = { sleep: async () => {}, signal: new AbortController().signal };
    const remote = new RemoteStore(request, options);
    expect((await remote.keys("")).sort()).toEqual([...values.keys()].sort());
    for (const [key, bytes] of values) {
      const parts = [];
      for await (const part of (await remote.read(key)) ?? []) parts.push(part);
      expect(Buffer.concat(parts).equals(bytes)).toBe(true);
    }
    expect(Math.max(...sizes)).toBeLessThan(MAX_ANSWER);

    await remote.deleteAll([...values.keys()]);
    expect(await remote.keys("")).toEqual([]);
    const small = [...values].filter(([key]) => key.startsWith("small/")).map(([key, bytes]) => ({ key, bytes }));
    await remote.putAll(small);
    const large = values.get("large") ?? new Uint8Array();
    await remote.write("large", ReadableStream.from([large]), large.length);
    expect((await behind.keys("")).filter((key) => !key.startsWith("nonces/"))).toHaveLength(26);
    expect(Buffer.from((await behind.get("large"))?.bytes ?? []).equals(large)).toBe(true);
  });
});
