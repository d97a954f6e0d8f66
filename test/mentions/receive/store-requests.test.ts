import { beforeAll, describe, expect, it } from "vitest";
import { memoryStore } from "../../../plugin/store/memory.js";
import type { StreamingStore } from "../../../plugin/store/store.js";
import { FEED, type FeedServer, feedServer, type Receiver, receiver } from "../../helpers/receiver.js";

const COUNT = 20;
const TIMES = Array.from({ length: 2 * COUNT }, (_, n) => new Date(Date.UTC(2026, 0, 2) + n * 1000));
const stampOf = (n: number) => `${TIMES[n]?.toISOString().slice(0, 19)}Z`;

/** A store that counts its requests. */
function countingStore(store: StreamingStore) {
  const counter = { requests: 0 };
  const counted = new Proxy(store, {
    get(target, name: keyof StreamingStore) {
      const operation = target[name] as ((...values: unknown[]) => unknown) | undefined;
      return (...values: unknown[]) => {
        counter.requests += 1;
        return operation?.apply(target, values);
      };
    },
  });
  return { store: counted, counter };
}

describe.each([
  ["a host without a limit of verification time", false],
  ["Netlify", true],
])("a mention on %s", (_, isMetered) => {
  let bob: FeedServer;
  const { store, counter } = countingStore(memoryStore());
  let processes: Receiver[];
  beforeAll(async () => {
    bob = await feedServer(Object.fromEntries(TIMES.map((_, n) => [stampOf(n), `@<alice ${FEED}> hello ${n}`])));
    processes = Array.from({ length: 4 }, () => receiver({ store, neighbours: [bob], isMetered }));
    for (const [n, alice] of processes.entries()) {
      await alice.mentions();
      // The list of blocked sources is read once a minute.
      await alice.mentioned({ source: bob.twt(stampOf(COUNT + 1 + n)), target: FEED });
    }
  });

  it("takes at most 4 requests, also with four processes", async () => {
    for (let n = 0; n < COUNT; n += 1) {
      counter.requests = 0;
      const alice = processes[n % processes.length];
      expect(await alice?.mentioned({ source: bob.twt(stampOf(n)), target: FEED })).toMatchObject({ status: 200 });
      expect(counter.requests).toBeLessThanOrEqual(4);
    }
  });

  it("takes one request for the list, if the process has received it itself", async () => {
    const [alice] = processes;
    await alice?.mentions();
    await alice?.mentioned({ source: bob.twt(stampOf(COUNT)), target: FEED });
    for (let n = 0; n < 2; n += 1) {
      counter.requests = 0;
      await alice?.mentions();
      expect(counter.requests).toBe(1);
    }
  });
});
