// test/host/timeline.test.ts: the timeline that a host reads and serves.
import { afterEach, describe, expect, it, vi } from "vitest";
import { twtHash } from "../../plugin/feed/hash.js";
import { withHtml } from "../../plugin/host/refresh-timeline.js";
import { SiteHost } from "../../plugin/host/site-host.js";
import type { Timeline } from "../../plugin/site/timeline.js";
import { eventually } from "../helpers/eventually.js";
import { loopbackServer, strayed } from "../helpers/loopback.js";
import { PAGES, type ReceiverOptions, receiver, settingsOf } from "../helpers/receiver.js";

const MINUTE = 60_000;
const URL_OF_LIST = "https://alice.example/timeline.json";
const FEED = "2026-11-19T10:00:01Z\tIt *rains*.\n";

afterEach(() => {
  vi.useRealTimers();
  expect(strayed).toEqual([]);
});

/** Alice's site, which follows bob. */
async function alice(change: (url: string) => ReceiverOptions = () => ({})) {
  const bob = { status: 200, body: FEED };
  const agents: (string | undefined)[] = [];
  const server = await loopbackServer((request, response) => {
    agents.push(request.headers["user-agent"]);
    const etag = `"${bob.body.length}"`;
    const isKnown = bob.status === 200 && request.headers["if-none-match"] === etag;
    response.writeHead(isKnown ? 304 : bob.status, { etag }).end(isKnown ? "" : bob.body);
  });
  const follow = [{ nick: "bob", url: `${server.url}/twtxt.txt` }];
  const home = receiver({ follow, neighbours: [server], ...change(`${server.url}/twtxt.txt`) });
  const get = (init: RequestInit = {}) => home.answer(new Request(URL_OF_LIST, init));
  const list = async (): Promise<Timeline> => (await get()).json() as Promise<Timeline>;
  return { ...home, bob, agents, server, get, list };
}

it("converts texts in slices, so that the server answers requests in the meantime", async () => {
  const seen: string[] = [];
  setTimeout(() => seen.push("timer"), 1);
  const twt = {
    source: "https://bob.example/",
    author: { name: "bob", url: "https://bob.example/", photo: null },
    isOwn: false,
  };
  const text = "*a* `b` https://bob.example/ ".repeat(30);
  const twts = Array.from({ length: 20 }, (_, n) => ({
    ...twt,
    text: `${n} ${text}`,
    hash: `${n}`,
    hashV1: `${n}`,
    replyTo: null,
    published: FEED.slice(0, 20),
  }));
  const converted = await withHtml(twts);
  seen.push("timeline");
  expect(seen).toEqual(["timer", "timeline"]);
  expect(converted.map(({ html }) => html.startsWith("<p>"))).toEqual(Array(20).fill(true));
});

describe("the timeline of a host", () => {
  it("is updated by the scheduled run, which identifies as a follower and purges the CDN", async () => {
    const { services, list, purged, agents, server } = await alice();
    await services.runScheduled();
    expect(await list()).toMatchObject({
      updated: "2026-11-20T09:00:00Z",
      twts: [
        {
          source: `${server.url}/twtxt.txt#:~:text=2026-11-19T10:00:01Z`,
          author: { name: "bob", photo: null },
          html: "<p>It <em>rains</em>.</p>",
          isOwn: false,
        },
      ],
      unread: [],
    });
    expect(purged).toContain("twtxt-timeline");
    expect(agents).toEqual(["eleventy-plugin-twtxt/0 (+https://alice.example/twtxt.txt; @alice)"]);
  });

  it("has the site's own twts in its conversations", async () => {
    const own = (url: string) => ({
      ...{ source: "https://alice.example/notes/1/", isOwn: true, text: "Here *too*.", hash: "own1", hashV1: "own1" },
      author: { name: "alice", url: "https://alice.example/", photo: null },
      replyTo: twtHash(url, { timestamp: "2026-11-19T10:00:01Z", text: "It *rains*." }),
      published: "2026-11-19T11:00:00Z",
    });
    const { services, list } = await alice((url) => ({
      pages: { ...PAGES, own: [own(url), { ...own(url), source: "https://alice.example/notes/2/", replyTo: null }] },
    }));
    await services.runScheduled();
    const { twts } = await list();
    expect(twts.map(({ text, isOwn }) => [text, isOwn])).toEqual([
      ["Here *too*.", true],
      ["It *rains*.", false],
    ]);
    expect(twts[0]?.html).toBe("<p>Here <em>too</em>.</p>");
  });

  it("does not read a feed again within ten minutes, and then only if it has changed", async () => {
    const { services, list, bob, clock, server } = await alice();
    await services.refreshTimeline();
    clock.time += 9 * MINUTE;
    await services.refreshTimeline();
    expect(server.requests).toHaveLength(1);
    clock.time += MINUTE;
    await services.refreshTimeline();
    expect((await list()).updated).toBe("2026-11-20T09:10:00Z");
    bob.body += "2026-11-20T09:05:00Z\tSun.\n";
    clock.time += 15 * MINUTE;
    await services.refreshTimeline();
    expect((await list()).twts.map(({ text }) => text)).toEqual(["Sun.", "It *rains*."]);
  });

  it("keeps the twts of a feed that is gone, and records since when it is gone", async () => {
    const { services, list, bob, clock } = await alice();
    await services.refreshTimeline();
    bob.status = 410;
    clock.time += 15 * MINUTE;
    await services.refreshTimeline();
    const { twts, unread } = await list();
    expect(twts).toHaveLength(1);
    expect(unread).toMatchObject([{ nick: "bob", reason: "gone", lastRead: "2026-11-20T09:00:00Z" }]);
  });

  it("404 until the first feed is read, so that the page keeps the twts of the build", async () => {
    const { services, get, list, bob, clock, store } = await alice();
    bob.status = 503;
    await services.refreshTimeline();
    expect((await get()).status).toBe(404);
    expect(await store.keys("timeline/")).toEqual([]);
    bob.status = 200;
    clock.time += MINUTE;
    await services.refreshTimeline();
    expect((await list()).twts).toHaveLength(1);
  });

  it("is rebuilt if its stored value is damaged", async () => {
    const { services, list, store, clock, log } = await alice();
    await services.refreshTimeline();
    for (const key of await store.keys("timeline/")) await store.put(key, Buffer.from('{"updated":'));
    clock.time += 15 * MINUTE;
    await services.refreshTimeline();
    expect((await list()).twts).toHaveLength(1);
    expect(log.filter((line) => line.includes("failed"))).toEqual([]);
  });

  it("200, then 304 for the same version; 404 not-found before it was read; 405 for POST", async () => {
    const { services, get } = await alice();
    expect((await get()).status).toBe(404);
    await services.refreshTimeline();
    const answer = await get();
    expect(answer.headers.get("cache-control")).toBe("public, max-age=0, must-revalidate");
    const etag = answer.headers.get("etag") ?? "";
    expect((await get({ headers: { "if-none-match": etag } })).status).toBe(304);
    expect((await get({ method: "POST" })).status).toBe(405);
  });

  it("has no endpoint, no job and no requests without the option", async () => {
    const { services, get, store, server } = await alice(() => ({ follow: undefined }) as never);
    await services.runScheduled();
    await services.refreshTimeline();
    expect((await get()).status).toBe(404);
    expect(await store.keys("timeline/")).toEqual([]);
    expect(server.requests).toEqual([]);
  });
});

describe("a server", () => {
  it("reads the timeline when it starts and every 15 minutes, without a build", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const { services, server, bob, clock, list } = await alice();
    const site = { settings: settingsOf({}), pages: PAGES };
    const host = new SiteHost({ site, file: "", read: async () => site, make: () => services, log: () => {} });
    host.begin();
    await eventually(async () => expect((await list()).twts).toHaveLength(1));
    bob.body += "2026-11-20T09:05:00Z\tSun.\n";
    clock.time += 15 * MINUTE;
    vi.advanceTimersByTime(15 * MINUTE);
    await eventually(async () => expect((await list()).twts).toHaveLength(2));
    await host.end();
    expect(server.requests.length).toBe(2);
  });
});
