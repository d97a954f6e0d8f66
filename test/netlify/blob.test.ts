import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { blobs as blob } from "../../netlify/functions/blobs.js";
import { signRequest } from "../../plugin/http/sign-request.js";
import type { HostSettings, SitePages } from "../../plugin/site/site.js";
import type { BlobsSite } from "../helpers/blobs-server.js";
import { netlifyBlobs, siteOf } from "../helpers/netlify-site.js";
import { ALICE, EVE } from "../messages/inbox/alices-inbox.js";

const PRODUCTION = { deploy: { context: "production" }, ip: "192.0.2.1" };
const LOCAL = { deploy: { context: "dev" }, ip: "127.0.0.1" };
const URL_OF_BLOB = "https://alice.example/api/v1/blob/hello";
const SHARED = `https://alice.example/shared/${ALICE.publicKey}/hello`;

let blobs: BlobsSite;
let settings: HostSettings;
let pages: SitePages;

beforeEach(async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  blobs = await netlifyBlobs();
  ({ settings, pages } = siteOf("https://alice.example", { key: ALICE.publicKey, blobs: { maxMegabytes: 100 } }));
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

function ask(method: string, { url = URL_OF_BLOB, headers = {}, body, by = ALICE, context = PRODUCTION }: Asked = {}) {
  const signed = signRequest({ method, url, headers, ...(body && { body }) }, by, Date.now());
  const request = new Request(url, { method, headers: signed, ...(body && { body: new Uint8Array(body) }) });
  return blob(settings, pages)(request, context);
}

interface Asked {
  url?: string;
  headers?: Record<string, string>;
  body?: Buffer;
  by?: typeof ALICE;
  context?: typeof PRODUCTION;
}

const read = (url = SHARED) => blob(settings, pages)(new Request(url), PRODUCTION);

describe("the function blob on Netlify", () => {
  it("201, 200: stores a blob in the site's Netlify Blobs, and serves it, also from the CDN, while it is public", async () => {
    const put = await ask("PUT", {
      headers: { "blob-public": "?1", "content-type": "text/plain" },
      body: Buffer.from("hello"),
    });
    expect([put.status, await put.json()]).toMatchObject([201, { key: "hello", shared: SHARED }]);
    expect(blobs.requests.some((asked) => asked.includes(" twtxt/blobs/records/"))).toBe(true);

    const shown = await read();
    expect([shown.status, await shown.text()]).toEqual([200, "hello"]);
    expect(shown.headers.get("netlify-cdn-cache-control")).toContain("s-maxage=3600");
    expect(shown.headers.get("netlify-cache-tag")).toMatch(/^twtxt-blob-[0-9a-f]{32}$/);
  });

  it("responds at the prefixed path, also if a proxy has removed the prefix", async () => {
    const root = "https://alice.example/blog";
    ({ settings, pages } = siteOf(root, { key: ALICE.publicKey, blobs: true }));
    const url = `${root}/api/v1/blob/hello`;
    const plain = url.replace("/blog", "");
    const headers = signRequest(
      { method: "PUT", url, headers: { "blob-public": "?1" }, body: Buffer.from("hello") },
      ALICE,
      Date.now(),
    );
    const put = await blob(settings, pages)(
      new Request(plain, { method: "PUT", headers, body: new Uint8Array(Buffer.from("hello")) }),
      PRODUCTION,
    );
    const { shared } = Object(await put.json());
    expect([put.status, shared]).toEqual([201, `${root}/shared/${ALICE.publicKey}/hello`]);
    for (const place of [shared, shared.replace("/blog", "")]) expect(await (await read(place)).text()).toBe("hello");
  });

  it("413: accepts at most 4 MiB, even if the site's options allow more", async () => {
    const put = await ask("PUT", { body: Buffer.alloc(4 * 2 ** 20 + 1) });
    expect([put.status, await put.json()]).toMatchObject([413, { code: "body-too-large" }]);
    expect(blobs.requests.some((asked) => asked.startsWith("PUT"))).toBe(false);
  });

  it("purged false: makes a blob private at once even if the CDN cannot be purged", async () => {
    await ask("PUT", { headers: { "blob-public": "?1" }, body: Buffer.from("hello") });
    const answer = await ask("POST", {
      headers: { "content-type": "application/json" },
      body: Buffer.from('{"Public":false}'),
    });
    expect([answer.status, await answer.json()]).toMatchObject([
      200,
      { Public: false, purged: false, note: expect.stringContaining("an hour") },
    ]);
    expect((await read()).status).toBe(404);
  });

  it("403: stores no blob for another key", async () => {
    expect((await ask("PUT", { by: EVE, body: Buffer.from("hello") })).status).toBe(403);
    expect(blobs.requests).toEqual([]);
  });

  it("stores blobs of a preview separately", async () => {
    const preview = { deploy: { context: "deploy-preview" }, ip: "192.0.2.1" };
    expect((await ask("PUT", { body: Buffer.from("hello"), context: preview })).status).toBe(201);
    expect((await ask("GET")).status).toBe(404);
    expect((await ask("GET", { context: preview })).status).toBe(200);
  });

  it.each([".html", ".htm", "/index.html", "/index.htm"])(
    "404: responds to the repeated request of netlify dev with %s as to the first one, but not in production",
    async (ending) => {
      vi.stubEnv("NETLIFY_DEV", "true");
      const signed = signRequest({ method: "GET", url: URL_OF_BLOB }, ALICE, Date.now());
      const again = () => new Request(URL_OF_BLOB + ending, { headers: signed });
      expect((await blob(settings, pages)(again(), LOCAL)).status).toBe(404);
      expect((await blob(settings, pages)(again(), PRODUCTION)).status).toBe(401);
    },
  );

  it("stores no blob if the configuration of a bucket is incomplete, and names the missing variable", async () => {
    vi.stubEnv("TWTXT_S3_BUCKET", "alice");
    await expect(ask("PUT", { body: Buffer.from("hello") })).rejects.toThrow("TWTXT_S3_ENDPOINT");
    expect(blobs.requests).toEqual([]);
  });
});
