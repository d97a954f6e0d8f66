// test/http/followed-feeds.test.ts: the newest twts of followed feeds.
import type { RequestListener } from "node:http";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { type KeptFeed, parseKeptFeeds, readFollowedFeeds, twtsOfFeeds } from "../../plugin/http/followed-feeds.js";
import { type Ask, createGuard, type GuardOptions } from "../../plugin/http/guard.js";
import { selectTwts } from "../../plugin/site/timeline.js";
import { LONGEST_MS } from "../helpers/longest.js";
import { loopbackRoute, loopbackServer } from "../helpers/loopback.js";
import { passTimeLimits } from "../helpers/time-limits.js";

const NOW = Date.parse("2026-03-01T00:00:00Z");
const AGENT = "eleventy-plugin-twtxt/1.2.3 (+https://alice.example/twtxt.txt; @alice)";
const FEED =
  "# nick = bob\n# url = https://bob.example/twtxt.txt\n\n2026-01-02T03:04:05Z\thello\n2026-01-03T03:04:05Z\t(#abcdefg) yes\n";

/** A server of one feed, and a function that reads the feed. */
async function followed(listener: RequestListener, guard: Partial<GuardOptions> = {}) {
  const requests: Record<string, string | string[] | undefined>[] = [];
  const { url: origin, host } = await loopbackServer((request, response) => {
    requests.push(request.headers);
    listener(request, response);
  });
  const limits = { totalMs: LONGEST_MS, firstByteMs: LONGEST_MS };
  const ask = createGuard({ userAgent: AGENT, allowPrivateHosts: [host], ...limits, ...guard });
  const url = `${origin}/twtxt.txt`;
  const state = { known: [] as KeptFeed[], now: NOW };
  const read = async (signal = new AbortController().signal) => {
    const parts = { ask, now: () => state.now, signal };
    const feeds = await readFollowedFeeds([{ nick: "bob", url }], state.known, parts);
    state.known = parseKeptFeeds(JSON.parse(JSON.stringify(feeds.flatMap(({ kept }) => kept ?? []))));
    return { reason: feeds[0]?.reason, kept: feeds[0]?.kept ?? null, twts: twtsOfFeeds(feeds) };
  };
  return { read, requests, state, url };
}

async function* inOne(body: Uint8Array) {
  yield body;
}

const close = () => {};

const textsOf = ({ twts }: { twts: { text: string }[] }) => twts.map(({ text }) => text);
const numbersOf = (read: { twts: { text: string }[] }) => textsOf(read).map((text) => Number.parseInt(text, 10));

describe("a followed feed", () => {
  it("is read with a follower's User-Agent, newest twt first, with hashes and subjects", async () => {
    const { read, requests, url } = await followed((_, response) => response.end(FEED));
    const { reason, kept, twts } = await read();
    expect(reason).toBeNull();
    expect(kept).toMatchObject({ url, read: "2026-03-01T00:00:00Z" });
    expect(twts).toMatchObject([
      { source: `${url}#:~:text=2026-01-03T03:04:05Z`, author: { name: "bob", url }, replyTo: "abcdefg", isOwn: false },
      { published: "2026-01-02T03:04:05Z", text: "hello", replyTo: null, hash: expect.stringMatching(/^[a-z2-7]{7}$/) },
    ]);
    expect(requests[0]?.["user-agent"]).toBe(AGENT);
  });

  it("names its author's page and those of its twts, also from the cache", async () => {
    const { read, url } = await followed((request, response) => {
      const isKnown = request.headers["if-none-match"] === '"1"';
      response.writeHead(isKnown ? 304 : 200, { etag: '"1"' });
      const origin = `http://${request.headers.host}`;
      response.end(isKnown ? "" : `# link = Blog ${origin}/about/\n2026-01-02T03:04:05Z\tHens: ${origin}/hens/\n`);
    });
    const pages = { url: new URL("/hens/", url).href, author: { url, page: new URL("/about/", url).href } };
    expect((await read()).twts).toMatchObject([pages]);
    expect((await read()).twts).toMatchObject([pages]);
  });

  it("is not transferred again if unchanged, and counts as read", async () => {
    const date = "Thu, 01 Jan 2026 00:00:00 GMT";
    const { read, requests, state } = await followed((request, response) => {
      const isKnown = request.headers["if-none-match"] === '"1"' && request.headers["if-modified-since"] === date;
      response.writeHead(isKnown ? 304 : 200, { etag: '"1"', "last-modified": date }).end(isKnown ? "" : FEED);
    });
    const first = await read();
    state.now += 60_000;
    expect(await read()).toEqual({ ...first, kept: { ...first.kept, read: "2026-03-01T00:01:00Z" } });
    expect(requests).toHaveLength(2);
  });

  it("has all twts of the same second", async () => {
    const lines = ["one", "two", "three"].map((text) => `2026-01-02T03:04:05Z\t${text}\n`);
    const { read } = await followed((_, response) => response.end(lines.join("")));
    const { twts } = await read();
    expect(
      selectTwts(twts, [], "2026-03-01T00:00:00Z")
        .map(({ text }) => text)
        .sort(),
    ).toEqual(["one", "three", "two"]);
  });

  it("is read at another URL after a redirect", async () => {
    const { read } = await followed((request, response) => {
      if (request.url === "/twtxt.txt") response.writeHead(301, { location: "/new.txt" }).end();
      else response.end(FEED);
    });
    expect(textsOf(await read())).toEqual(["(#abcdefg) yes", "hello"]);
  });

  it.each([
    ["gone", "is gone", (response) => response.writeHead(410).end()],
    ["gone", "is not found", (response) => response.writeHead(404).end()],
    ["failed", "is an error", (response) => response.writeHead(500).end()],
    ["failed", "redirects to itself", (response) => response.writeHead(302, { location: "/twtxt.txt" }).end()],
    ["failed", "is damaged gzip", (response) => response.writeHead(200, { "content-encoding": "gzip" }).end("x")],
    ["noFeed", "is a page", (response) => response.end("<!doctype html><p>Gone")],
    ["noFeed", "is a text without twts", (response) => response.end("hello")],
    ["unreachable", "is cut off", (response) => response.destroy()],
    ["unreachable", "redirects to a private address", (response) => redirectTo("http://10.0.0.1/", response)],
  ] satisfies [string, string, (response: Parameters<RequestListener>[1]) => unknown][])(
    "%s: its last known twts remain if it %s",
    async (reason, _, fail) => {
      let isDown = false;
      const { read, state } = await followed((_, response) => void (isDown ? fail(response) : response.end(FEED)), {
        route: loopbackRoute,
      });
      const first = await read();
      isDown = true;
      state.now += 60_000;
      expect(await read()).toEqual({ ...first, reason });
    },
  );

  it("slow: is abandoned after two seconds", async () => {
    const limits = vi.spyOn(AbortSignal, "timeout");
    const { read, requests } = await followed(() => passTimeLimits());
    expect(await read()).toEqual({ reason: "slow", kept: null, twts: [] });
    expect([requests.length, limits.mock.calls]).toEqual([1, [[2000]]]);
    limits.mockRestore();
  });

  it("slow: is abandoned when the time for all feeds is over", async () => {
    const stop = new AbortController();
    const { read } = await followed(() => stop.abort(new DOMException("The time is over.", "TimeoutError")));
    expect(await read(stop.signal)).toEqual({ reason: "slow", kept: null, twts: [] });
  });

  it("unreachable: is not requested at a private address", async () => {
    const { read, requests } = await followed((_, response) => response.end(FEED), { allowPrivateHosts: [] });
    expect(await read()).toEqual({ reason: "unreachable", kept: null, twts: [] });
    expect(requests).toEqual([]);
  });

  it("is read in full if its cache is damaged", async () => {
    const { read, requests, state, url } = await followed((_, response) => response.end(FEED));
    for (const damaged of [null, "x", { url }, { ...(await read()).kept, etag: 5 }]) {
      state.known = parseKeptFeeds([damaged]);
      expect((await read()).twts).toHaveLength(2);
    }
    expect(requests.filter((headers) => headers["if-none-match"])).toEqual([]);
  });

  it("is read again if its ETag is not a valid header value", async () => {
    const { read } = await followed((_, response) => response.writeHead(200, { etag: '"\u00e9"' }).end(FEED));
    await read();
    expect(await read()).toMatchObject({ reason: null, kept: { etag: null } });
  });

  it("has texts of at most 1,000 characters without control characters, for lines of any length", async () => {
    const long = `2026-01-02T03:04:05Z\ta\u2028b\u0007\u202e ${"x".repeat(400_000)}\n`;
    const { read } = await followed((_, response) => response.end(long));
    const [text = ""] = textsOf(await read());
    expect(text.slice(0, 6)).toBe("a\nb xx");
    expect(text).toHaveLength(1000);
    expect(text.endsWith("…")).toBe(true);
  });

  it("has at most 10 twts from the future, the nearest ones", async () => {
    const lines = Array.from({ length: 300 }, (_, i) => `${iso(NOW + (i - 150) * 60_000)}\t${i}\n`);
    const { read } = await followed((_, response) => response.end(lines.join("")));
    const numbers = numbersOf(await read());
    expect(numbers).toEqual(Array.from({ length: 100 }, (_, i) => 160 - i));
  });
});

const LINE = "x".repeat(1000);
const manyTwts = Array.from({ length: 1000 }, (_, i) => `${iso(Date.UTC(2026, 0, 1, 0, 0, i))}\t${i} ${LINE}\n`);
const newest100 = Array.from({ length: 100 }, (_, i) => 999 - i);

describe("a followed feed of a megabyte", () => {
  it("is read from its end if its newest twt is there", async () => {
    const bytes = Buffer.from(manyTwts.join(""));
    const { read, requests } = await followed((request, response) => {
      const [, length] = /^bytes=-(\d+)$/.exec(request.headers.range ?? "") ?? [];
      response.writeHead(length ? 206 : 200).end(length ? bytes.subarray(-Number(length)) : bytes);
    });
    expect(numbersOf(await read())).toEqual(newest100);
    expect(requests.map(({ range }) => range)).toEqual([undefined, "bytes=-524288"]);
  });

  it("is read from its start if its newest twt is there", async () => {
    const { read, requests } = await followed((_, response) => response.end(manyTwts.toReversed().join("")));
    expect(numbersOf(await read())).toEqual(newest100);
    expect(requests).toHaveLength(1);
  });

  it("has the twts at its start if its server does not support ranges", async () => {
    const { read } = await followed((_, response) => response.end(manyTwts.join("")));
    expect((await read()).twts).toHaveLength(100);
  });
});

describe("many followed feeds", () => {
  it("do not block the event loop: timers run while a large one is parsed", async () => {
    const seen: string[] = [];
    const lines = Array.from(
      { length: 9_000 },
      (_, n) => `${new Date(NOW - n * 1000).toISOString()}\t@<b https://b.example/> ${n}\n`,
    );
    const body = Buffer.from(lines.join(""));
    const ask: Ask = async (url) => {
      setTimeout(() => seen.push("timer"), 1);
      const bytes = async () => body;
      const start = async () => ({ bytes: body, trouble: null });
      return { status: 200, headers: {}, url, asked: [url], body: inOne(body), bytes, start, close };
    };
    const follow = [{ nick: "bob", url: "https://bob.example/twtxt.txt" }];
    const feeds = await readFollowedFeeds(follow, [], { ask, now: () => NOW, signal: new AbortController().signal });
    seen.push("feed");
    expect(seen).toEqual(["timer", "feed"]);
    expect(numbersOf({ twts: twtsOfFeeds(feeds) }).length).toBe(100);
  });

  it("are read 20 at a time, and listed in the order of the follow list", async () => {
    const answers: (() => void)[] = [];
    const ask: Ask = async (url) => {
      await new Promise<void>((resolve) => answers.push(resolve));
      const bytes = Buffer.from(`2026-01-02T03:04:05Z\t${url.slice(-2)}\n`);
      const start = async () => ({ bytes, trouble: null });
      return {
        status: 200,
        headers: {},
        url,
        asked: [url],
        body: inOne(bytes),
        bytes: async () => bytes,
        start,
        close,
      };
    };
    const follow = Array.from({ length: 45 }, (_, n) => ({ nick: `bob${n}`, url: `https://bob.example/${n + 10}` }));
    const reading = readFollowedFeeds(follow, [], { ask, now: () => NOW, signal: new AbortController().signal });
    for (const left of [45, 25, 5]) {
      await vi.waitUntil(() => answers.length > 0);
      // Lets all requests start before the first response.
      await setImmediate();
      expect(answers).toHaveLength(Math.min(left, 20));
      for (const answer of answers.splice(0).reverse()) answer();
    }
    expect(numbersOf({ twts: twtsOfFeeds(await reading) })).toEqual(follow.map((_, n) => n + 10));
  });

  it("are requested in the order of their last successful read, latest first", async () => {
    const { url, host } = await loopbackServer((_, response) => response.end(FEED));
    const guard = createGuard({ userAgent: AGENT, allowPrivateHosts: [host] });
    const order: string[] = [];
    const ask: Ask = (asked, request) => {
      order.push(asked);
      return guard(asked, request);
    };
    const [never, before, last] = ["never", "before", "last"].map((nick) => ({ nick, url: `${url}/${nick}` }));
    const follow = [never, before, last].flatMap((feed) => feed ?? []);
    const known = follow.slice(1).map((feed, i) => ({
      ...{ url: feed.url, etag: null, lastModified: null, twts: [] },
      read: iso(NOW + i * 60_000),
    }));
    await readFollowedFeeds(follow, known, { ask, now: () => NOW, signal: new AbortController().signal });
    expect(order).toEqual([last?.url, before?.url, never?.url]);
  });
});

function redirectTo(location: string, response: Parameters<RequestListener>[1]): void {
  response.writeHead(302, { location }).end();
}

function iso(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}
