import { afterEach, describe, expect, it } from "vitest";
import { memoryStore } from "../../plugin/store/memory.js";
import { type LoopbackServer, loopbackServer, strayed } from "../helpers/loopback.js";
import { names } from "../helpers/names.js";
import { FEED, feedServer, receiver } from "../helpers/receiver.js";
import { neighbour } from "../mentions/send/outgoing.js";

const AT = "2026-11-19T18:40:02Z";
const HELLO = `@<alice ${FEED}> hello`;
const HOUR = 3600_000;

afterEach(() => expect(strayed).toEqual([]));

describe("after a deploy, the links of posts", () => {
  it("are sent, and the log names those with an endpoint", async () => {
    const bob = await neighbour("bob", "HTML");
    const page = (path: string) => `${home.url}/posts/${path}`;
    const home = await loopbackServer(({ url }, response) => {
      if (url === "/twtxt.txt") return response.end(`# nick = alice\n\n${AT}\thello\n`);
      response.setHeader("content-type", "text/html").end(`<a href="${bob.url}/">b</a><a href="${bob.url}/none">n</a>`);
    });
    const links = [`${bob.url}/`, `${bob.url}/none`];
    const alice = receiver({
      feedUrl: `${home.url}/twtxt.txt`,
      pages: { feeds: [], pages: [], twts: [{ timestamp: AT, hashes: [], page: page("hens"), replyTo: null, links }] },
      neighbours: [home, bob],
    });
    await alice.services.afterDeploy();
    expect(bob.posts).toMatchObject([{ source: page("hens"), target: `${bob.url}/` }]);
    expect(alice.log).toEqual([`Link to ${bob.url}/ in your post of ${AT}: sent to ${bob.endpoint}`]);

    const requests = bob.requests.length;
    await alice.services.afterDeploy();
    await alice.services.runScheduled();
    expect(bob.requests).toHaveLength(requests);
  });
});

describe("a site whose domain has a private address on its own server", () => {
  it("reads its feed and its pages there, and sends the mentions and links in them", async () => {
    const bob = await neighbour("bob", "HTML");
    const home = await loopbackServer(({ url }, response) => {
      if (url === "/twtxt.txt") return response.end(`# nick = alice\n\n${AT}\t@<bob ${bob.feedUrl}> hello\n`);
      response.setHeader("content-type", "text/html").end(`<a href="${bob.url}/">b</a>`);
    });
    const url = `http://alice.example:${home.port}`;
    const [page, links] = [`${url}/posts/hens`, [`${bob.url}/`]];
    const alice = receiver({
      feedUrl: `${url}/twtxt.txt`,
      pages: { feeds: [], pages: [], twts: [{ timestamp: AT, hashes: [], page, replyTo: null, links }] },
      neighbours: [bob],
      lookup: names({ "alice.example": ["127.0.0.1"] }),
    });
    await alice.services.afterDeploy();
    expect(bob.posts.map(({ target }) => target).sort()).toEqual([`${bob.url}/`, bob.feedUrl].sort());
  });
});

describe("a build that is not public, such as a preview", () => {
  it("sends and verifies no mention, after a deploy, by schedule or when one is due", async () => {
    const bob = await neighbour("bob", "HTML");
    const feed = `# nick = alice\n\n${AT}\t@<bob ${bob.feedUrl}> hello\n`;
    const home = await loopbackServer((_, response) => response.end(feed));
    const carol = await feedServer({ [AT]: HELLO });
    const alice = receiver({ feedUrl: `${home.url}/twtxt.txt`, neighbours: [home, bob, carol], isLive: false });
    carol.status = 500;
    await alice.mentioned({ source: carol.twt(AT), target: FEED });
    const requests = carol.requests.length;
    carol.status = 200;
    alice.clock.time += 2 * HOUR;

    await alice.services.afterDeploy();
    await alice.services.runScheduled();
    await alice.services.sendDue();
    expect([home.requests, bob.requests, carol.requests.slice(requests)]).toEqual([[], [], []]);
    expect(await alice.store.keys("mentions/pending/")).toHaveLength(1);
  });
});

describe("after a restart that allows a private host", () => {
  it("sends a mention that was not sent before, once", async () => {
    const bob = await neighbour("bob", "HTML");
    const feed = `# nick = alice\n\n${AT}\t@<bob ${bob.feedUrl}> hello\n`;
    const home = await loopbackServer((_, response) => response.end(feed));
    const store = memoryStore();
    const started = (neighbours: LoopbackServer[]) => receiver({ feedUrl: `${home.url}/twtxt.txt`, store, neighbours });
    const first = started([home]);
    await first.services.afterDeploy();
    expect(first.log).toEqual([expect.stringContaining("not sent")]);
    expect(bob.requests).toEqual([]);

    const second = started([home, bob]);
    await second.services.afterDeploy();
    await second.services.afterDeploy();
    expect(bob.posts).toHaveLength(1);
  });
});

describe("six sources that trickle for 10 s", () => {
  it("do not stop the other jobs, and the log says what is left to the next run", async () => {
    const bob = await feedServer({ [AT]: HELLO });
    const slow = await Promise.all([1, 2, 3, 4, 5, 6].map(() => tricklingServer(() => alice.clock)));
    const follow = [{ nick: "bob", url: bob.feedUrl }];
    const alice = receiver({ neighbours: [bob, ...slow], follow });
    for (const { url } of slow) await alice.mentioned({ source: `${url}/twtxt.txt#:~:text=${AT}`, target: FEED });
    await alice.mentioned({ source: bob.twt(AT), target: FEED });
    const expired = "nonces/1-0";
    await alice.store.put(expired, new Uint8Array());
    expect(await alice.store.keys("mentions/pending/")).toHaveLength(6);
    alice.clock.time += 2 * HOUR;
    const begin = alice.clock.time;
    const asked = slow.flatMap(({ requests }) => requests).length;

    await alice.services.runScheduled();
    expect(alice.clock.time - begin).toBe(20_000);
    expect(slow.flatMap(({ requests }) => requests).length - asked).toBe(2);
    expect(await alice.store.keys("mentions/events/2")).toEqual([]);
    expect(await alice.store.keys(expired)).toEqual([]);
    expect(alice.jobs).toEqual([
      "Sending mentions",
      "Compacting the list of mentions",
      "Notifying you",
      "Requesting a rebuild",
      "Purging blobs from the CDN",
      "Removing used nonces",
      "Removing expired messages",
      "Removing unused contents of blobs",
      "Reading the followed feeds",
      "Verifying mentions",
    ]);
    expect(alice.log).toContainEqual("Not finished, the next run goes on: Verifying mentions.");
  });
});

describe("one sender with many slow sources", () => {
  const EVE = "192.0.2.66";

  it("fills a tenth of the pending mentions, then gets 429; another sender is still accepted", async () => {
    const slow = await Promise.all([1, 2, 3].map(() => tricklingServer(() => alice.clock)));
    const alice = receiver({ neighbours: slow, mentions: { limits: { pending: 20 } } });
    const send = ({ url }: LoopbackServer, address: string) =>
      alice.mentioned({ source: `${url}/twtxt.txt#:~:text=${AT}`, target: FEED }, address);
    const [a, b, c] = slow as [LoopbackServer, LoopbackServer, LoopbackServer];
    expect(await send(a, EVE)).toMatchObject({ status: 202 });
    expect(await send(b, EVE)).toMatchObject({ status: 202 });
    expect(await send(c, EVE)).toMatchObject({ status: 429, code: "too-many-pending" });
    expect(await send(a, EVE)).toMatchObject({ status: 202 });
    expect(await send(c, "192.0.2.7")).toMatchObject({ status: 202 });
    expect(await alice.store.keys("mentions/pending/")).toHaveLength(3);
  });

  it("does not delay the mention of another sender, which has the second turn", async () => {
    const slow = await Promise.all([1, 2, 3, 4, 5, 6].map(() => tricklingServer(() => alice.clock)));
    const bob = await feedServer({ [AT]: HELLO });
    const alice = receiver({ neighbours: [bob, ...slow] });
    bob.status = 500;
    for (const { url } of slow) await alice.mentioned({ source: `${url}/twtxt.txt#:~:text=${AT}`, target: FEED }, EVE);
    await alice.mentioned({ source: bob.twt(AT), target: FEED }, "192.0.2.7");
    bob.status = 200;
    alice.clock.time += 2 * HOUR;
    await alice.services.runScheduled();
    expect(await alice.mentions()).toHaveLength(1);
    expect(await alice.store.keys("mentions/pending/")).toHaveLength(6);
  });
});

describe("the scheduled run", () => {
  it("starts with the jobs that the run before had no time for, also in a new process", async () => {
    const store = memoryStore();
    const expired = "nonces/1-0";
    await store.put(expired, new Uint8Array());
    const slowHome = () =>
      loopbackServer((_request, response) => {
        alice.clock.time += 20_000;
        response.writeHead(200, { "content-type": "text/plain" }).end("# nick = alice\n");
      });
    const started = (home: LoopbackServer) => receiver({ feedUrl: `${home.url}/twtxt.txt`, store, neighbours: [home] });
    let alice = started(await slowHome());
    await alice.services.runScheduled();
    expect(await store.keys(expired)).toEqual([expired]);
    expect(alice.log).toEqual([
      expect.stringMatching(
        /^No time was left for these jobs, which come first in the next run: Compacting.*, Verifying mentions\.$/,
      ),
    ]);

    const home = await slowHome();
    alice = started(home);
    await alice.services.runScheduled();
    expect(await store.keys(expired)).toEqual([]);
    expect(home.requests).toEqual(["/twtxt.txt"]);
    expect(alice.log).toEqual([]);
  });

  it.each([
    ["starts the next job after 19.999 s", 19_999, 1],
    ["starts no job after 20 s", 20_000, 0],
  ])("%s", async (_, milliseconds, verified) => {
    const bob = await feedServer({ [AT]: HELLO });
    const home = await loopbackServer((_request, response) => {
      // The run reads the feed of the site first.
      alice.clock.time += milliseconds;
      response.writeHead(200, { "content-type": "text/plain" }).end("# nick = alice\n");
    });
    const alice = receiver({ feedUrl: `${home.url}/twtxt.txt`, neighbours: [home, bob] });
    bob.status = 500;
    await alice.mentioned({ source: bob.twt(AT), target: FEED });
    bob.status = 200;
    alice.clock.time += 2 * HOUR;

    await alice.services.runScheduled();
    expect(home.requests).toEqual(["/twtxt.txt"]);
    expect(await alice.mentions()).toHaveLength(verified);
    expect(await alice.store.keys("mentions/pending/")).toHaveLength(1 - verified);
    expect(alice.log.filter((line) => line.includes("failed"))).toEqual([]);
  });

  describe("and a pending mention whose source may not be asked", () => {
    async function pendingMention() {
      const bob = await feedServer({ [AT]: HELLO });
      const alice = receiver({ neighbours: [bob], mentions: { limits: { verificationSeconds: 1 } } });
      const pass = async (milliseconds: number) => {
        alice.clock.time += milliseconds;
        const day = new Date(alice.clock.time).toISOString().slice(0, 10);
        const spent = { day, parties: { all: 1000 }, slow: {} };
        await alice.store.put("mentions/limits", Buffer.from(JSON.stringify(spent)));
        await alice.services.runScheduled();
      };
      await pass(0);
      expect(await alice.mentioned({ source: bob.twt(AT), target: FEED })).toMatchObject({ status: 202 });
      return { alice, bob, pass, isPending: async () => (await alice.store.keys("mentions/pending/")).length === 1 };
    }

    it("drops it after 48 hours, and not before", async () => {
      const { alice, bob, pass, isPending } = await pendingMention();
      await pass(24 * HOUR);
      await pass(24 * HOUR - 1);
      expect(await isPending()).toBe(true);
      await pass(1);
      expect(await isPending()).toBe(false);
      expect(alice.log).toContainEqual(
        `Dropped a pending mention of ${FEED} in ${bob.feedUrl}. The source could not be verified in time.`,
      );
      expect(bob.requests).toEqual([]);
    });

    it("keeps it when the clock jumps, and drops it 48 hours later", async () => {
      const { pass, isPending } = await pendingMention();
      for (const days of [100, -200, 100]) await pass(days * 24 * HOUR);
      await pass(47 * HOUR);
      expect(await isPending()).toBe(true);
      await pass(HOUR);
      expect(await isPending()).toBe(false);
    });
  });
});

/** A server whose answers begin, take 10 s of the injected clock, and are cut off. */
function tricklingServer(clock: () => { time: number }): Promise<LoopbackServer> {
  return loopbackServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/plain" }).write("# nick = mallory\n", () => {
      clock().time += 10_000;
      response.destroy();
    });
  });
}
