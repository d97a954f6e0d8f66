import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { SiteHost } from "../../plugin/host/site-host.js";
import { LedgerList } from "../../plugin/mentions/send/ledger.js";
import { writeJson } from "../../plugin/store/json.js";
import { strayed } from "../helpers/loopback.js";
import { PAGES, receiver, settingsOf } from "../helpers/receiver.js";
import { shortenPauses } from "../helpers/time-limits.js";
import { type Alice, alice, DAYS_6, MINUTE, type Neighbour, neighbour, TODAY } from "../mentions/send/outgoing.js";

const folder = mkdtempSync(join(tmpdir(), "twtxt-site-host-"));
const running: SiteHost[] = [];

afterAll(() => rmSync(folder, { recursive: true, force: true }));

afterEach(async () => {
  await Promise.all(running.splice(0).map((host) => host.end()));
  vi.useRealTimers();
  expect(strayed).toEqual([]);
});

/** Alice's site as `serve` runs it, with timers that tests advance. */
function served(home: Alice, bob: Neighbour) {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { services, store, clock, log } = receiver({ feedUrl: home.feedUrl, neighbours: [home, bob] });
  const pauses: (number | null)[] = [];
  const untilNextSend = () => {
    const pause = services.untilNextSend();
    pauses.push(pause);
    return pause;
  };
  const site = { settings: settingsOf({ feedUrl: home.feedUrl }), pages: PAGES };
  const file = join(folder, "host.json");
  writeFileSync(file, "{}");
  const host = new SiteHost({
    site,
    file,
    read: async () => site,
    make: () => ({ ...services, untilNextSend }),
    log: (line) => void log.push(line),
  });
  running.push(host);
  const ledger = new LedgerList(store, home.feedUrl);
  return {
    host,
    store,
    clock,
    log,
    list: async () => (await ledger.page({ after: null, limit: 100 })).mentions,
    /** Waits for the end of the Nth job. */
    async pauseAfter(work: number): Promise<number | null | undefined> {
      await vi.waitUntil(() => pauses.length >= work, 60_000);
      return pauses[work - 1];
    },
    /** Advances the clock and fires the timers that are due. */
    async pass(milliseconds: number) {
      clock.time += milliseconds;
      await vi.advanceTimersByTimeAsync(milliseconds);
    },
  };
}

describe("a mention that failed once", () => {
  it("is retried at the announced time, without a build and before the next scheduled run", async () => {
    const home = await alice();
    const bob = await neighbour();
    home.twts = { [TODAY]: `hi ${bob.mention}` };
    bob.answer = () => ({ status: bob.posts.length === 1 ? 500 : 202 });
    const { host, list, clock, pauseAfter, pass } = served(home, bob);

    host.begin();
    const pause = (await pauseAfter(1)) ?? 0;
    expect(pause).toBeGreaterThan(5 * MINUTE);
    expect(pause).toBeLessThan(15 * MINUTE);
    expect(await list()).toMatchObject([
      { outcome: "waiting", why: "it answers 500", next: new Date(clock.time + pause).toISOString() },
    ]);

    await pass(pause - MINUTE);
    expect(bob.posts).toHaveLength(1);
    await pass(MINUTE);
    expect(await pauseAfter(2)).toBeNull();
    expect(bob.posts).toHaveLength(2);
    expect(await list()).toMatchObject([{ outcome: "sent", status: 202 }]);
  });

  it("is not retried before its server's Retry-After", async () => {
    const home = await alice();
    const bob = await neighbour();
    home.twts = { [TODAY]: `hi ${bob.mention}` };
    bob.answer = () => ({ status: 429, headers: { "retry-after": "2400" } });
    const { host, pauseAfter } = served(home, bob);
    host.begin();
    expect(await pauseAfter(1)).toBe(40 * MINUTE);
  });
});

describe("a mention that was not sent yet", () => {
  it("because the run ran out of time is sent a minute later", async () => {
    const home = await alice();
    const bob = await neighbour();
    const { host, list, clock, pauseAfter, pass } = served(home, bob);
    home.twts = { [TODAY]: bob.mention, [DAYS_6]: bob.mention };
    bob.answer = () => {
      clock.time += 21_000;
      return { status: 202 };
    };
    host.begin();
    expect(await pauseAfter(1)).toBe(MINUTE);
    expect(bob.posts).toHaveLength(1);
    await pass(MINUTE);
    expect(await pauseAfter(2)).toBeNull();
    expect(await list()).toMatchObject([{ outcome: "sent" }, { outcome: "sent" }]);
  });

  it("because a killed run still held the lease is sent a minute later", async () => {
    const home = await alice();
    const bob = await neighbour();
    home.twts = { [TODAY]: bob.mention };
    const { host, list, store, clock, log, pauseAfter, pass } = served(home, bob);
    await writeJson(store, "sent/lease", { holder: "killed", until: clock.time + MINUTE / 2 });
    // The second run watches the lease for ten seconds, in case that its holder has another clock.
    shortenPauses();
    host.begin();
    expect(await pauseAfter(1)).toBe(MINUTE);
    expect(log).toContain("Another run is sending mentions. This one leaves them to it.");
    expect(log.join()).not.toContain("failed");
    await pass(MINUTE);
    expect(await pauseAfter(2)).toBeNull();
    expect(await list()).toMatchObject([{ outcome: "sent" }]);
  });
});
