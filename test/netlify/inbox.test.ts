import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { inbox } from "../../netlify/functions/inbox.js";
import { signRequest } from "../../plugin/http/sign-request.js";
import type { HostSettings, SitePages } from "../../plugin/site/site.js";
import type { BlobsSite } from "../helpers/blobs-server.js";
import { netlifyBlobs, siteOf } from "../helpers/netlify-site.js";
import { telephone } from "../helpers/telephone.js";
import { ALICE, ARMORED, EVE, sealed } from "../messages/inbox/alices-inbox.js";

const PRODUCTION = { deploy: { context: "production" }, ip: "192.0.2.1" };
const PREVIEW = { deploy: { context: "deploy-preview" }, ip: "192.0.2.1" };

let blobs: BlobsSite;
let settings: HostSettings;
let pages: SitePages;

beforeEach(async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  blobs = await netlifyBlobs();
  ({ settings, pages } = siteOf("https://alice.example", { key: ALICE.publicKey, inbox: { messages: 20 } }));
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const URL_OF_INBOX = "https://alice.example/inbox/alice";
const deliver = (
  body: Uint8Array,
  context: typeof PRODUCTION & { waitUntil?(work: Promise<void>): void } = PRODUCTION,
) => inbox(settings, pages)(new Request(URL_OF_INBOX, { method: "POST", body: Buffer.from(body) }), context);
const ask = (headers: Record<string, string> = {}, signer = ALICE, context = PRODUCTION) => {
  const signed = signRequest({ method: "GET", url: URL_OF_INBOX, headers }, signer, Date.now());
  return inbox(settings, pages)(new Request(URL_OF_INBOX, { headers: signed }), context);
};

describe("the function inbox on Netlify", () => {
  it("202: stores a message in the site's Netlify Blobs, and lists it only for its owner", async () => {
    expect((await deliver(ARMORED)).status).toBe(202);
    const list = await ask();
    expect(await list.json()).toEqual([
      { id: expect.any(String), created: expect.any(String), payload: ARMORED.toString("base64") },
    ]);
    expect((await ask({ "if-none-match": list.headers.get("etag") ?? "" })).status).toBe(304);
    expect((await ask({}, EVE)).status).toBe(403);
    expect(blobs.requests.some((asked) => asked.includes(" twtxt"))).toBe(true);
  });

  it("406: offers no event stream, which is billed by the second, unless the site has turned it on", async () => {
    expect((await ask({ accept: "text/event-stream" })).status).toBe(406);
    ({ settings, pages } = siteOf("https://alice.example", { key: ALICE.publicKey, inbox: { subscribe: true } }));
    const stream = await ask({ accept: "text/event-stream" });
    expect(stream.status).toBe(200);
    await stream.body?.cancel();
  });

  it("429: counts requests by the client's address in Netlify's context", async () => {
    const from = async (ip: string, number: number) => (await deliver(sealed(number), { ...PRODUCTION, ip })).status;
    expect([await from("192.0.2.1", 1), await from("192.0.2.1", 2), await from("192.0.2.1", 3)]).toEqual([
      202, 202, 429,
    ]);
    expect(await from("2001:db8::1", 3)).toBe(202);
  });

  it("notifies the owner after the response, while waitUntil keeps the function alive", async () => {
    const phone = await telephone();
    vi.stubEnv("TWTXT_WEBHOOK_URL", phone.url);
    const later: Promise<void>[] = [];
    const waitUntil = (work: Promise<void>) => void later.push(work);
    expect((await deliver(ARMORED, { ...PRODUCTION, waitUntil })).status).toBe(202);
    await Promise.all(later);
    expect(phone.notes).toEqual([expect.stringMatching(/^1 new sealed message\./)]);

    await Promise.all([deliver(sealed(1), { ...PREVIEW, waitUntil }), ...later]);
    await Promise.all(later);
    expect(phone.notes).toHaveLength(1);
  });

  it("stores messages of a preview separately", async () => {
    await deliver(ARMORED, PREVIEW);
    expect(await (await ask()).json()).toEqual([]);
  });

  it("503 with Retry-After: the store is down", async () => {
    vi.unstubAllEnvs();
    const answer = await deliver(ARMORED);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "60"]);
  });
});
