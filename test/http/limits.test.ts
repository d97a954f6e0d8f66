// test/http/limits.test.ts: the numbers of http/ that no other test of this folder needs.
import { Readable } from "node:stream";
import { describe, expect, it, vi } from "vitest";
import { boundedBody, OVERHEAD_BYTES } from "../../plugin/http/bounded-body.js";
import { certificatePins } from "../../plugin/http/certificate-pins.js";
import { listNetworks, SHARES } from "../../plugin/http/client-networks.js";
import { DailyShares } from "../../plugin/http/daily-shares.js";
import { FEED_BYTES, firstEndpoint, parseInSlices } from "../../plugin/http/feed-file.js";
import { createGuard, type GuardedRequest, type GuardedResponse } from "../../plugin/http/guard.js";
import { isExpired } from "../../plugin/http/nonces.js";
import { LOG_LENGTH, oneLine } from "../../plugin/http/one-line.js";
import { post } from "../../plugin/http/post.js";
import { mentionPages } from "../../plugin/http/read-mention-list.js";
import { type Signer, signRequest } from "../../plugin/http/sign-request.js";
import { siteApi } from "../../plugin/http/site-api.js";
import { TimeSlices } from "../../plugin/http/time-slices.js";
import { memoryStore } from "../../plugin/store/memory.js";

const NOW = Date.parse("2026-11-20T09:00:00Z");
const DAY = 24 * 3600_000;
const SIGNER: Signer = { publicKey: "kex1", sign: () => new Uint8Array(64) };
/** Nothing listens there. */
const OWN = "http://127.0.0.1:64999/";

/** A client whose requests all get this response. */
function respondingWith(text: string, headers: Record<string, string> = {}) {
  const requests: GuardedRequest[] = [];
  const bytes = vi.fn(async () => Buffer.from(text));
  const response = { status: 200, headers, bytes, close: () => {} } as Partial<GuardedResponse> as GuardedResponse;
  return {
    requests,
    bytes,
    ask: async (_url: string, request: GuardedRequest) => {
      requests.push(request);
      return response;
    },
  };
}

describe("a sender", () => {
  it("has a tenth of a limit, and the /48 of an IPv6 one three tenths", () => {
    expect(SHARES).toBe(10);
    expect(listNetworks("2001:db8:1:2").map(({ shares }) => shares)).toEqual([1, 3]);
  });

  it("is counted with a salt of 16 bytes and IDs of 32 bytes", async () => {
    const store = memoryStore();
    const limits = { messages: 100, bytes: 100 };
    const shares = new DailyShares({ store, now: () => NOW, root: "inbox", limits });
    await shares.claim(await shares.findFolders("inbox/alice", [{ network: "192.0.2.1", shares: 1 }]));
    expect((await store.get("inbox-salts/2026-11-20"))?.bytes).toHaveLength(16);
    expect(await store.keys("inbox/")).toEqual([expect.stringMatching(/\/[0-9a-f]{64}-0$/)]);
  });
});

it("a signature is valid for a minute after it has expired", () => {
  expect([isExpired(NOW / 1000 - 60, NOW), isExpired(NOW / 1000 - 61, NOW)]).toEqual([false, true]);
});

it("a nonce has 16 bytes", () => {
  const { "signature-input": input = "" } = signRequest({ method: "GET", url: "https://alice.example/" }, SIGNER, NOW);
  expect(Buffer.from(/nonce="(.*?)"/.exec(input)?.[1] ?? "", "base64")).toHaveLength(16);
});

describe("an answer of the author's own site", () => {
  const askOwn = (length: number) => {
    const fetch = async () => new Response(new Uint8Array(length));
    const ask = siteApi({ root: "https://alice.example/api/v1", signer: SIGNER, now: () => NOW, fetch });
    return ask({ method: "GET", path: "/site" });
  };

  it("has 8 MiB of text", async () => {
    const [whole, larger] = await Promise.all([askOwn(8 * 1024 * 1024), askOwn(8 * 1024 * 1024 + 1)]);
    expect(await whole.text()).toHaveLength(8 * 1024 * 1024);
    await expect(larger.text()).rejects.toMatchObject({ code: "too-large" });
  });

  it("has 70 seconds", async () => {
    expect(await timersOf(() => askOwn(1))).toContain(70_000);
  });
});

it("a compressed body may be 64 KiB larger than its limit, and is read in pieces of 16 KiB", async () => {
  expect(OVERHEAD_BYTES).toBe(64 * 1024);
  const body = Readable.from([Buffer.alloc(40_000)]);
  const pieces: number[] = [];
  for await (const { length } of boundedBody(body, undefined, 40_000, new AbortController().signal))
    pieces.push(length);
  expect(pieces).toEqual([16_384, 16_384, 7232]);
});

it("a list of mentions is read in 1,000 pages of up to a mebibyte", async () => {
  const { ask, requests } = respondingWith('{"mentions":[],"next":"a"}');
  const pages = mentionPages(ask, "https://bob.example/mentions.json", new AbortController().signal);
  let count = 0;
  for await (const _ of pages) count += 1;
  expect([count, requests[0]?.maxBytes]).toEqual([1000, 1024 * 1024]);
});

it("a line of untrusted text has 200 characters, or 2,000 in a log", () => {
  expect(oneLine("a".repeat(201))).toBe(`${"a".repeat(200)}…`);
  expect(LOG_LENGTH).toBe(2000);
});

it.each([
  [65_536, 1],
  [65_537, 0],
])("the response to a POST of %i bytes is read %i times", async (length, times) => {
  const { ask, requests, bytes } = respondingWith("", { "content-length": String(length) });
  await post(ask, "https://bob.example/webmention", {}, () => NOW);
  expect([bytes.mock.calls.length, requests[0]?.maxBytes]).toEqual([times, 65_536]);
});

describe("a feed", () => {
  it("has 8 MiB, and a header in its first 16,384 characters", async () => {
    expect(FEED_BYTES).toBe(8 * 1024 * 1024);
    const nickAt = async (place: number) => {
      const { header } = await parseInSlices(`#${" ".repeat(place - 2)}\n# nick = bob\n`, new TimeSlices());
      return header.nick?.[0];
    };
    expect([await nickAt(16_384 - 12), await nickAt(16_384)]).toEqual(["bob", undefined]);
  });

  it("has an endpoint of up to 2,048 characters", () => {
    const endpoint = (length: number) => "https://bob.example/".padEnd(length, "a");
    expect([2048, 2049].map((length) => firstEndpoint([endpoint(length)], "https://bob.example/"))).toEqual([
      endpoint(2048),
      null,
    ]);
  });
});

it.each([
  [30, false],
  [31, true],
])("another certificate of a gemini server that was not seen for %i days is accepted: %s", async (days, isAccepted) => {
  let now = NOW;
  const check = certificatePins(memoryStore(), () => now);
  const certificate = { expires: NOW + 365 * DAY, isAuthorized: false };
  await check("bob.example:1965", { ...certificate, fingerprint: "one" });
  now += days * DAY;
  const checked = check("bob.example:1965", { ...certificate, fingerprint: "two" });
  expect(await checked.then(() => true).catch(() => false)).toBe(isAccepted);
});

it.each([
  ["another site has 10 seconds", { userAgent: "test" }, "https://10.0.0.1/", 10_000],
  ["the own site has 5 seconds until its first byte", { userAgent: "test", ownUrl: OWN }, OWN, 5000],
])("a request to %s", async (_name, options, url, milliseconds) => {
  const ask = createGuard(options);
  const times = await timersOf(() => ask(url, { maxBytes: 1 }).catch(() => {}));
  expect(times).toContain(milliseconds);
});

/** The milliseconds of the timers that this starts. */
async function timersOf(work: () => Promise<unknown>): Promise<unknown[]> {
  const timer = vi.spyOn(globalThis, "setTimeout");
  await work();
  const times = timer.mock.calls.map(([, milliseconds]) => milliseconds);
  timer.mockRestore();
  return times;
}
