import { mkdtempSync, rmSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Journal } from "../../../plugin/mentions/receive/journal.js";
import { SqliteStore } from "../../../plugin/store/sqlite.js";
import { loopbackServer } from "../../helpers/loopback.js";
import { FEED, type FeedServer, feedServer, type Receiver, receiver } from "../../helpers/receiver.js";
import { newMention } from "../../helpers/stored-mentions.js";

const HELLO = `@<alice ${FEED}> hello`;
const PATIENT = { interval: 5 };
const EVE = "192.0.2.66";
const CAROL = "192.0.2.7";
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function folderStore() {
  const folder = mkdtempSync(join(tmpdir(), "twtxt-store-"));
  folders.push(folder);
  return new SqliteStore(folder);
}

/** Distinct seconds of one day. */
function timesOf(count: number): string[] {
  return Array.from(
    { length: count },
    (_, n) => `2026-11-19T00:${String((n / 60) | 0).padStart(2, "0")}:${String(n % 60).padStart(2, "0")}Z`,
  );
}

/** Sends Bob's twts concurrently, distributed over these services of one site. */
function sendAll(bob: FeedServer, times: readonly string[], services: readonly Receiver[]) {
  return Promise.all(
    times.map((time, n) => services[n % services.length]?.mentioned({ source: bob.twt(time), target: FEED })),
  );
}

describe("many concurrent mentions", () => {
  it.each([1, 2])(
    "200, 202 or 429, never 503, and none lost: a burst of 60, %i services on one store",
    async (count) => {
      const times = timesOf(60);
      const bob = await feedServer(Object.fromEntries(times.map((time) => [time, HELLO])));
      const store = folderStore();
      const services = Array.from({ length: count }, () => receiver({ store, neighbours: [bob] }));
      const statuses = (await sendAll(bob, times, services)).map((answer) => answer?.status);
      const countOf = (status: number) => statuses.filter((one) => one === status).length;

      expect(statuses.filter((status) => ![200, 202, 429].includes(Number(status)))).toEqual([]);
      expect(await store.keys("mentions/events/")).toHaveLength(countOf(200));
      expect(await store.keys("mentions/pending/")).toHaveLength(countOf(202));
      expect(services.flatMap(({ log }) => log).filter((line) => !line.startsWith("New mention"))).toEqual([]);
    },
  );

  it("202, pending: a mention that waited five seconds for a slot; its source is not requested", async () => {
    const open: ServerResponse[] = [];
    const bob = await loopbackServer((_, response) => void open.push(response));
    const alice = receiver({ neighbours: [bob] });
    const [late = "", ...times] = timesOf(4);
    const mention = (time: string, n: number) =>
      alice.mentioned({ source: `${bob.url}/tw.txt#:~:text=${time}`, target: FEED }, `192.0.2.${n}`);
    const answers = times.map(mention);
    await expect.poll(() => open.length, PATIENT).toBe(3);

    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const answer = mention(late, 9);
      await expect.poll(() => vi.getTimerCount(), PATIENT).toBe(1);
      vi.advanceTimersByTime(5000);
      expect((await answer).status).toBe(202);
    } finally {
      vi.useRealTimers();
    }
    expect(bob.requests).toHaveLength(3);
    expect(await alice.store.keys("mentions/pending/")).toHaveLength(1);
    for (const response of open) response.end();
    await Promise.all(answers);
  });
});

describe("many mentions from another process", () => {
  it("are folded into the snapshot by a process that only reads the list", async () => {
    const alice = receiver();
    const other = new Journal({
      store: alice.store,
      now: Date.now,
      shownPerHost: 10,
      log: (line) => expect.fail(line),
    });
    for (let n = 0; n < 300; n += 1) {
      await other.add({ kind: "kept", at: new Date(n).toISOString(), mention: newMention(n) });
    }
    expect(await alice.mentions()).toHaveLength(20);
    await alice.settled();
    expect(await alice.store.keys("mentions/events/2")).toEqual([]);
    expect((await alice.mentions())[0]).toMatchObject({ text: "hello 299" });
    expect(alice.log).toEqual([]);
  });
});

describe("slow sources of one sender", () => {
  const times = timesOf(20);

  /** Alice's site, and a server with two names that takes ten seconds of her clock per response. */
  async function slowSources(options: { isMetered: boolean }) {
    const lines = times.map((time) => `${time}\t${HELLO}\n`).join("");
    const server = await loopbackServer((_, response) => {
      alice.clock.time += 10_000;
      response.writeHead(200, { "content-type": "text/plain" }).end(lines);
    });
    const [bob, carol] = ["127.0.0.1", "localhost"].map((name) => ({ host: `${name}:${server.port}` }));
    const alice = receiver({ neighbours: [bob, carol].flatMap((one) => one ?? []), ...options });
    const send = async (source: { host: string } | undefined, n: number, address: string) => {
      const form = { source: `http://${source?.host}/tw.txt#:~:text=${times[n]}`, target: FEED };
      return (await alice.mentioned(form, address)).status;
    };
    return { server, bob, carol, send };
  }

  it("202 for their sender and host after a tenth of the daily limit, 200 for others", async () => {
    const { server, bob, carol, send } = await slowSources({ isMetered: true });
    for (let n = 0; n < 10; n += 1) expect(await send(bob, n, EVE)).toBe(200);
    expect([await send(bob, 10, EVE), await send(carol, 11, EVE), await send(bob, 12, CAROL)]).toEqual([202, 202, 202]);
    expect(server.requests).toHaveLength(10);
    expect(await send(carol, 13, CAROL)).toBe(200);
  });

  it("200 for all on an unmetered host, which has no daily limit", async () => {
    const { bob, send } = await slowSources({ isMetered: false });
    for (const n of times.keys()) expect(await send(bob, n, EVE)).toBe(200);
  });
});
