import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { SqliteStore } from "../../../plugin/store/sqlite.js";
import { openDatabase } from "../../../plugin/store/sqlite-driver.js";
import { Rows } from "../../../plugin/store/sqlite-rows.js";
import type { Store } from "../../../plugin/store/store.js";
import { alicesInbox, INBOX, idOf, SECOND, sealed } from "./alices-inbox.js";

const work = mkdtempSync(join(tmpdir(), "twtxt-inbox-costs-"));
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** A store that records its calls; those of listings with the number of keys that they return. */
function recordingStore(inner: Store): { store: Store; calls: string[] } {
  const calls: string[] = [];
  const recorded = <A extends unknown[], R>(name: string, call: (...values: A) => Promise<R>) => {
    return async (...values: A): Promise<R> => {
      const result = await call.apply(inner, values);
      calls.push(Array.isArray(result) ? `${name} ${result.length}` : name);
      return result;
    };
  };
  const store: Store = {
    get: recorded("get", inner.get),
    put: recorded("put", inner.put),
    delete: recorded("delete", inner.delete),
    keys: recorded("keys", inner.keys),
    list: recorded("list", inner.list),
    survey: recorded("survey", inner.survey),
  };
  return { store, calls };
}

/** What each request asks of a store with so many messages, a second apart. */
async function callsOf(count: number): Promise<Record<string, string[]>> {
  const inner = new SqliteStore(join(work, String(count)));
  const { store, calls } = recordingStore(inner);
  const alice = alicesInbox({ store, limits: { messages: 100_000, bytes: 2 ** 40, retentionDays: null } });
  const body = sealed(0);
  const keys = Array.from({ length: count }, (_, n) => {
    const id = n.toString(16).padStart(64, "0");
    return `inbox/alice/messages/${String(alice.clock.time - (count - n) * SECOND).padStart(15, "0")}-${id}-${body.length}`;
  });
  await Promise.all(keys.map((key) => inner.put(key, body)));
  const during = async (work: () => Promise<unknown>) => {
    calls.length = 0;
    await work();
    return [...calls];
  };
  const middle = `${new Date(alice.clock.time - (count / 2) * SECOND).toISOString()}-${"0".repeat(64)}`;
  await alice.receive(sealed(1));
  const newest = `${new Date(alice.clock.time - 1).toISOString()}-${idOf(sealed(1))}`;

  const page = await during(() => alice.ids());
  const later = await during(() => alice.items(`${INBOX}?limit=10&after=${encodeURIComponent(middle)}`));
  const delivery = await during(() => alice.send(sealed(2)));
  const repeat = await during(() => alice.send(sealed(2)));
  const deletion = await during(() => alice.delete(idOf(sealed(1))));
  const stream = await alice.ask("GET", `${INBOX}?after=${encodeURIComponent(newest)}`, {
    headers: { accept: "text/event-stream" },
  });
  const reader = stream.body?.getReader();
  await reader?.read();
  const waiting = (async () => {
    while (!(await reader?.read())?.done);
  })();
  const untilIdle = async () => {
    while (alice.clock.sleepers.size === 0) await setImmediate();
  };
  await untilIdle();
  const poll = await during(async () => {
    alice.clock.step(5 * SECOND);
    await untilIdle();
  });
  await reader?.cancel();
  await waiting;
  inner.close();
  return { page, later, delivery, repeat, deletion, poll };
}

describe("what a request asks of the store", () => {
  it("is the same with 100 and with 2,000 messages", async () => {
    const [few, many] = [await callsOf(100), await callsOf(2000)];
    expect(many).toEqual(few);
    expect(many.page?.[0]).toBe("list 101");
    // The messages of the last minute, since one may be stored late.
    expect(many.poll).toEqual(["list 60"]);
  });

  it("is found by an index of the database, without a scan", () => {
    const database = openDatabase(join(work, "100", "store.db"));
    const prepared = new Set<string>();
    const rows = new Rows({
      exec: (sql) => database.exec(sql),
      prepare(sql) {
        prepared.add(sql);
        return database.prepare(sql);
      },
      close() {},
    });
    rows.list("a/", { limit: 1 });
    rows.list("a/", { limit: 1, isReversed: true });
    rows.survey("a/", "");
    const plans = [...prepared].flatMap((sql) => database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all());
    const details = plans.map(({ detail }) => String(detail));
    expect(details.filter((detail) => detail.startsWith("SEARCH "))).toHaveLength(4);
    // The rows of a page are found by the index, and then joined into one.
    expect(details.filter((detail) => /^SCAN (?!\(subquery)/.test(detail))).toEqual([]);
    database.close();
  });
});
