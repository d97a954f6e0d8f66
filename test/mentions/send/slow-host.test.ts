import { afterEach, describe, expect, it, vi } from "vitest";
import type { SendReport } from "../../../plugin/mentions/send/send.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import type { Store } from "../../../plugin/store/store.js";
import { faultyStore } from "../../helpers/faulty-store.js";
import { loopbackServer, strayed } from "../../helpers/loopback.js";
import { MINUTE, NOW, outcomes, world } from "./outgoing.js";

const MENTIONS = 30;
const ANSWER_MS = 1000;
const RUN_MS = 20_000;
const HOUR = 60 * MINUTE;

afterEach(() => expect(strayed).toEqual([]));

/** A clock that moves while a slow server responds, and wakes its sleepers. */
function slowClock() {
  const sleepers = new Set<{ until: number; wake: () => void }>();
  return {
    time: NOW,
    pass(milliseconds: number) {
      this.time += milliseconds;
      for (const { until, wake } of sleepers) if (until <= this.time) wake();
    },
    sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
      if (!signal) return Promise.resolve();
      return new Promise((resolve) => {
        const sleeper = { until: this.time + milliseconds, wake: () => sleepers.delete(sleeper) && resolve() };
        sleepers.add(sleeper);
        signal.addEventListener("abort", sleeper.wake);
      });
    },
  };
}

type Clock = ReturnType<typeof slowClock>;

/** A slow server. It declares the endpoint of its feeds, by default its own. */
async function host(clock: Clock, { answerMs = ANSWER_MS, endpoint = "/webmention", headers = {} } = {}) {
  const seen = {
    feeds: [] as string[],
    posts: [] as string[],
    status: 202,
    beforeAnswer: async (): Promise<unknown> => null,
  };
  const server = await loopbackServer(async (request, response) => {
    clock.pass(answerMs);
    const isPost = request.method === "POST";
    (isPost ? seen.posts : seen.feeds).push(request.url ?? "");
    await seen.beforeAnswer();
    if (isPost) response.writeHead(seen.status, { "retry-after": "7200" }).end();
    else response.writeHead(200, headers).end(`# nick = bob\n# webmention = ${endpoint}\n\n`);
  });
  return Object.assign(seen, server);
}

/** A slow endpoint on another host than its feeds, which are all looked up before its first response. */
async function hostWithService(clock: Clock, headers = {}) {
  const service = await host(clock);
  const bob = await host(clock, { answerMs: 0, endpoint: `${service.url}/webmention`, headers });
  service.beforeAnswer = () => vi.waitUntil(() => bob.feeds.length >= MENTIONS, 60_000);
  return { bob, service };
}

type Host = Awaited<ReturnType<typeof host>>;

/** Alice mentions many feeds of one host, one in each twt. */
async function alicesHome(clock: Clock, feeds: Host, others: Host[] = [], store: Store = memoryStore()) {
  const { send, ...made } = await world([feeds, ...others], { store });
  const sleep = clock.sleep.bind(clock);
  const home = { ...made, clock, send: (options = {}) => send({ now: () => clock.time, sleep, ...options }) };
  for (let at = 0; at < MENTIONS; at += 1) {
    const timestamp = new Date(NOW - HOUR + at * 1000).toISOString().replace(".000", "");
    home.alice.twts[timestamp] = `hi @<bob ${feeds.url}/${at}.txt>`;
  }
  return home;
}

type Home = Awaited<ReturnType<typeof alicesHome>>;

/** A scheduled run: it starts nothing after 20 s. The next one is an hour later. */
async function scheduledRun({ clock, send }: Home): Promise<SendReport> {
  const start = clock.time;
  const report = await send({ isOver: () => clock.time >= start + RUN_MS });
  clock.pass(start + HOUR - clock.time);
  return report;
}

const count = (report: SendReport, outcome: string) => outcomes(report).filter((one) => one === outcome).length;

describe("30 mentions of a host that responds in a second", () => {
  it("are sent in three scheduled runs, each before the next endpoint is looked up", async () => {
    const clock = slowClock();
    const bob = await host(clock);
    const home = await alicesHome(clock, bob);

    const sent = [];
    for (let run = 0; run < 3; run += 1) sent.push(count(await scheduledRun(home), "new sent 202"));
    expect(sent).toEqual([10, 10, 10]);
    expect(bob.posts).toHaveLength(MENTIONS);
    expect(bob.feeds).toHaveLength(MENTIONS);
    expect((await scheduledRun(home)).mentions).toEqual([]);
  });

  it("count an attempt for each 500 response, even in the first run", async () => {
    const clock = slowClock();
    const bob = await host(clock);
    bob.status = 500;
    const home = await alicesHome(clock, bob);
    const report = await scheduledRun(home);
    expect(count(report, "new retry 500")).toBe(10);
    expect(count(report, "new waiting")).toBe(MENTIONS - 10);
    expect((await home.store.keys("sent/")).filter((key) => key.includes("/retry/"))).toHaveLength(10);
  });
});

describe("a slow endpoint for many feeds on another host", () => {
  it.each([
    ["no cache header", {}, 0],
    ["a minute of freshness", { "cache-control": "max-age=60" }, 20],
  ])(
    "gets the mentions that a run did not reach in the next run, without another look-up: %s",
    async (_, headers, stored) => {
      const clock = slowClock();
      const { bob, service } = await hostWithService(clock, headers);
      const home = await alicesHome(clock, bob, [service]);

      const sent = [];
      for (let run = 0; run < 3; run += 1) sent.push(count(await scheduledRun(home), "new sent 202"));
      expect(sent).toEqual([20, 10, 0]);
      expect(service.posts).toHaveLength(MENTIONS);
      expect(bob.feeds).toHaveLength(MENTIONS);
      expect(await home.store.keys("sent/endpoints/")).toHaveLength(stored);
    },
  );

  it("that requests a pause gets all mentions later, without another look-up", async () => {
    const clock = slowClock();
    const { bob, service } = await hostWithService(clock);
    const home = await alicesHome(clock, bob, [service]);
    service.status = 429;
    await home.send();
    expect(service.posts).toHaveLength(1);

    service.status = 202;
    clock.pass(3 * HOUR);
    expect(count(await home.send(), "new sent 202")).toBe(MENTIONS);
    // The attempted mention looks up its endpoint again.
    expect(bob.feeds).toHaveLength(MENTIONS + 1);
  });
});

describe("the endpoint of a mention without an attempt", () => {
  it("is used for at most a day", async () => {
    const clock = slowClock();
    const { bob, service } = await hostWithService(clock);
    const home = await alicesHome(clock, bob, [service]);
    await scheduledRun(home);
    clock.pass(NOW + 25 * HOUR - clock.time);
    expect(count(await home.send(), "new sent 202")).toBe(10);
    expect(bob.feeds).toHaveLength(MENTIONS + 10);
  });

  it("is stored for the next run even if this one is killed", async () => {
    const clock = slowClock();
    const store = faultyStore(memoryStore());
    const { bob, service } = await hostWithService(clock);
    const home = await alicesHome(clock, bob, [service], store);
    const { beforeAnswer } = service;
    service.beforeAnswer = async () => {
      await beforeAnswer();
      // A killed process writes nothing.
      if (service.posts.length === 2) store.fail({ when: "before" });
    };
    await home.send();
    expect(service.posts).toHaveLength(2);

    store.repair();
    clock.pass(HOUR);
    expect(count(await home.send(), "new sent 202")).toBe(MENTIONS - 1);
    expect(bob.feeds).toHaveLength(MENTIONS);
  });
});
