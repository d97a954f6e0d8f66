import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withProblemResponses } from "../../../plugin/http/respond.js";
import { listMentions } from "../../../plugin/mentions/inform/list-json.js";
import type { StoredMention } from "../../../plugin/mentions/mention.js";
import { applyEvent, type MentionEvent, toMentionId } from "../../../plugin/mentions/receive/event.js";
import { Journal } from "../../../plugin/mentions/receive/journal.js";
import { packBlock } from "../../../plugin/mentions/receive/json-texts.js";
import { MentionView } from "../../../plugin/mentions/receive/mention-view.js";
import { ReceivedMentions } from "../../../plugin/mentions/receive/received.js";
import { SiteIndex } from "../../../plugin/mentions/receive/site-index.js";
import { listNamedParts, SNAPSHOT } from "../../../plugin/mentions/receive/snapshot.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import type { Store } from "../../../plugin/store/store.js";
import { faultyStore } from "../../helpers/faulty-store.js";
import { recordingStore } from "../../helpers/recording-store.js";
import { runs } from "../../helpers/runs.js";
import { newMention as mention, storedMention } from "../../helpers/stored-mentions.js";

const START = Date.parse("2026-11-20T09:00:00.000Z");

/** The time of event number `n`: a second after the previous one. */
const timeOf = (n: number) => new Date(START + n * 1000).toISOString();
const kept = (n: number, text?: string): MentionEvent => ({
  kind: "kept",
  at: timeOf(n),
  mention: mention(n, text === undefined ? {} : { text }),
});

/** The journal of one process. */
function journalOf(store: Store, now = () => START): Journal {
  return new Journal({ store, now, shownPerHost: 10, log: (line) => expect.fail(line) });
}

async function withEvents(count: number, store: Store = memoryStore(), now = () => START) {
  const writer = journalOf(store, now);
  for (let n = 0; n < count; n += 1) await writer.add(kept(n));
  return { store, writer };
}

/** A store whose lists still contain deleted keys, as in a distributed storage. */
function lagging(store: Store): Store {
  const deleted = new Set<string>();
  return {
    ...store,
    async delete(key) {
      deleted.add(key);
      await store.delete(key);
    },
    async keys(prefix) {
      const stale = [...deleted].filter((key) => key.startsWith(prefix));
      return [...new Set([...(await store.keys(prefix)), ...stale])];
    },
  };
}

const textsOf = (mentions: { values(): Iterable<StoredMention> }) =>
  [...mentions.values()].map(({ author, text, state }) => `${author.name} ${state}: ${text}`).sort();

describe("reading 2,000 new mentions", () => {
  const isOfEvent = (line: string) => line.startsWith("get mentions/events/");

  it("requests each event from the store once, and afterwards one listing", async () => {
    const { store, writer } = await withEvents(2000);
    const { store: seen, operations } = recordingStore(store);
    const reader = journalOf(seen);
    expect((await reader.read()).size).toBe(2000);
    expect(operations.filter(isOfEvent)).toHaveLength(2000);

    operations.length = 0;
    const again = await reader.read();
    expect(operations).toEqual(["keys mentions/events/"]);
    expect(await reader.read()).toBe(again);

    await writer.add(kept(2000));
    operations.length = 0;
    expect((await reader.read()).size).toBe(2001);
    expect(operations.filter(isOfEvent)).toHaveLength(1);
  });

  it("is done once for 50 concurrent requests, and the list is sorted once", async () => {
    const { store } = await withEvents(2000);
    const { store: seen, operations } = recordingStore(store);
    const { list } = new ReceivedMentions({
      journal: journalOf(seen),
      now: () => START,
      onChange: async () => {},
    });
    const pages = await Promise.all(Array.from({ length: 50 }, () => list({ state: "shown", limit: 20 })));
    expect(operations.filter(isOfEvent)).toHaveLength(2000);
    expect(operations).toHaveLength(2000 + 2);
    expect(new Set(pages.map(({ next }) => next)).size).toBe(1);
    expect(pages[0]?.mentions[0]?.author.name).toBe("nick1999");
  });

  it("returns what was stored before the call, even if another read is in progress", async () => {
    const { store, writer } = await withEvents(3);
    const pause: (() => void)[] = [];
    let isSlow = true;
    const reader = journalOf({
      ...store,
      async get(key) {
        const found = await store.get(key);
        if (isSlow) await new Promise<void>((go) => pause.push(go));
        return found;
      },
    });
    const first = reader.read().then(({ size }) => size);
    await expect.poll(() => pause.length).toBe(1);
    await writer.add(kept(3));
    const second = reader.read().then(({ size }) => size);
    isSlow = false;
    for (const go of pause) go();
    expect(await first).toBe(3);
    expect(await second).toBe(4);
  });

  it("includes an event that another process folds during the read", async () => {
    const { store, writer } = await withEvents(2);
    let isFirst = true;
    const reader = journalOf({
      ...store,
      async get(key) {
        if (key.startsWith("mentions/events/") && isFirst) {
          isFirst = false;
          await writer.compact();
        }
        return store.get(key);
      },
    });
    expect((await reader.read()).size).toBe(2);
    expect(isFirst).toBe(false);
  });

  it("includes those of two processes, whichever process folded them", async () => {
    const store = memoryStore();
    const [one, other] = [journalOf(store), journalOf(store)];
    await one.add(kept(1));
    await other.add(kept(2));
    expect(textsOf(await one.read())).toEqual(textsOf(await other.read()));
    await other.compact();
    await other.add({ kind: "forgotten", at: timeOf(3), id: toMentionId(mention(1)) });
    await other.compact();
    expect(textsOf(await one.read())).toEqual(["nick2 shown: hello 2"]);
    expect(await one.holds(mention(1))).toBe(false);
  });
});

describe("deleted events that are still listed", () => {
  it("are ignored once folded, even by a process that has them in memory", async () => {
    const store = lagging(memoryStore());
    const [one, other] = [journalOf(store), journalOf(store)];
    await one.add(kept(1));
    expect(textsOf(await one.read())).toEqual(["nick1 shown: hello 1"]);

    await other.compact();
    await other.add({ kind: "forgotten", at: timeOf(2), id: toMentionId(mention(1)) });
    await journalOf(store).compact();
    expect(await store.keys("mentions/events/2")).toHaveLength(2);
    expect(textsOf(await one.read())).toEqual([]);
    expect(await one.holds(mention(1))).toBe(false);
    await one.compact();
    expect(textsOf(await other.read())).toEqual([]);
  });

  it("do not hide an event that is added while a first read compares the snapshot", async () => {
    const store = lagging(memoryStore());
    const { writer } = await withEvents(2, store);
    await writer.compact();
    await writer.compact();
    let reads = 0;
    const reader = journalOf({
      ...store,
      async get(key) {
        if (key === SNAPSHOT) reads += 1;
        if (key === SNAPSHOT && reads === 2) await reader.add(kept(2));
        return store.get(key);
      },
    });
    expect((await reader.read()).size).toBe(3);
    expect(reads).toBe(2);
  });

  it("are applied once, with any sequence of steps in several processes", async () => {
    const step = fc.record({
      process: fc.nat({ max: 2 }),
      what: fc.constantFrom("kept", "changed", "removed", "rejected", "approved", "forgotten", "compact", "compact"),
      n: fc.nat({ max: 4 }),
      readers: fc.subarray([0, 1, 2]),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const store = lagging(memoryStore());
        const processes = [journalOf(store), journalOf(store), journalOf(store)] as const;
        const events: MentionEvent[] = [];
        for (const [i, { process, what, n, readers }] of steps.entries()) {
          const before = modelOf(events);
          const event = eventOf(what, n, timeOf(i));
          if (event) events.push(event);
          const one = processes[process as 0];
          const reading = readers.map((reader) => processes[reader as 0].read());
          await (event ? one.add(event) : one.compact());
          const allowed = [before, modelOf(events)];
          for (const found of await Promise.all(reading)) expect(allowed).toContainEqual(textsOf(found));
          for (const each of processes.filter((_, at) => at !== process)) {
            expect(textsOf(await each.read())).toEqual(modelOf(events));
            expect(await each.holds(mention(n))).toBe(modelOf(events).some((text) => text.endsWith(`: hello ${n}`)));
          }
        }
      }),
      { numRuns: runs(40) },
    );
  });

  function eventOf(what: string, n: number, at: string): MentionEvent | null {
    const id = toMentionId(mention(n));
    switch (what) {
      case "kept":
        return { kind: "kept", at, mention: mention(n) };
      case "changed":
        return { kind: "kept", at, mention: mention(n, { text: `changed ${n}` }) };
      case "rejected":
        return { kind: "moderated", at, id, state: "rejected", version: null };
      case "approved":
        return { kind: "moderated", at, id, state: "shown", version: null };
      case "removed":
      case "forgotten":
        return { kind: what, at, id };
      default:
        return null;
    }
  }

  function modelOf(events: readonly MentionEvent[]): string[] {
    const view = new MentionView([]);
    for (const event of events) applyEvent(view, event, 10);
    return textsOf(view);
  }
});

describe("a long journal", () => {
  const eventsIn = async (store: Store) => (await store.keys("mentions/events/2")).length;

  it("is folded without waiting for the hourly run, and not before", async () => {
    const { store, writer } = await withEvents(299);
    await writer.compactIfLong();
    expect(await eventsIn(store)).toBe(299);
    await writer.add(kept(299));
    await writer.compactIfLong();
    expect(await eventsIn(store)).toBe(0);
    expect((await journalOf(store).read()).size).toBe(300);
  });

  it("is folded by one process at a time, and later by any", async () => {
    const { store } = await withEvents(300);
    let written = 0;
    const counting: Store = {
      ...store,
      async put(key, ...rest) {
        if (key.startsWith("mentions/parts/")) written += 1;
        return store.put(key, ...rest);
      },
    };
    const processes = Array.from({ length: 8 }, () => journalOf(counting));
    await Promise.all(processes.map((each) => each.read()));
    await Promise.all(processes.map((each) => each.compactIfLong()));
    expect(written).toBe(1);
    expect(await eventsIn(store)).toBe(0);

    for (let n = 300; n < 600; n += 1) await processes[7]?.add(kept(n));
    await processes[7]?.compactIfLong();
    expect(written).toBe(2);
    expect((await processes[0]?.read())?.size).toBe(600);
  });

  it("is not folded for a minute after a failure, even if it is read often", async () => {
    const store = faultyStore(memoryStore());
    let time = START;
    const { writer: reader } = await withEvents(300, store, () => time);
    store.fail({ when: "before", operation: "put", key: "mentions/parts/", times: 1 });
    await expect(reader.compactIfLong()).rejects.toThrow("The store was down");
    time += 59_999;
    await reader.compactIfLong();
    expect(await eventsIn(store)).toBe(300);
    time += 1;
    await reader.compactIfLong();
    expect(await eventsIn(store)).toBe(0);
  });

  it("is folded by another process some minutes after the folding process was killed", async () => {
    const { store, writer } = await withEvents(300);
    await new Promise<void>((begun) => {
      const killed = journalOf({
        ...store,
        put: (key, ...rest) =>
          key.startsWith("mentions/parts/") ? new Promise(() => begun()) : store.put(key, ...rest),
      });
      void killed.read().then(() => killed.compactIfLong());
    });
    await writer.compactIfLong();
    expect(await eventsIn(store)).toBe(300);
    // Until then, its clock may be behind, and it may renew its lease.
    const later = journalOf(store, () => START + 6 * 60_000);
    await later.read();
    await later.compactIfLong();
    expect(await eventsIn(store)).toBe(0);
  });
});

describe("a damaged snapshot", () => {
  const truncated = async (store: Store, key: string) => {
    const bytes = (await store.get(key))?.bytes ?? new Uint8Array();
    await store.put(key, bytes.subarray(0, bytes.length / 2));
  };
  const damages: Record<string, (store: Store, part: string) => Promise<unknown>> = {
    "a truncated index": (store) => truncated(store, SNAPSHOT),
    "an index without parts": (store) => store.put(SNAPSHOT, Buffer.from('{"version":1,"folded":[]}')),
    "a truncated part": truncated,
    "a part with other contents": (store, part) =>
      store.put(part, packBlock([Buffer.from(JSON.stringify(storedMention()))])),
    "a missing part": (store, part) => store.delete(part),
  };

  it.each(Object.entries(damages))("503, and a log line with instructions: %s", async (_name, damage) => {
    const { store, writer } = await withEvents(3);
    await writer.compact();
    const [part = ""] = await store.keys("mentions/parts/");
    const files = await store.keys("");
    await damage(store, part);

    const { list } = new ReceivedMentions({
      journal: journalOf(store),
      now: () => START,
      onChange: async () => {},
    });
    const log: string[] = [];
    const handler = withProblemResponses(
      listMentions({ list, siteIndex: new SiteIndex({ feeds: [], pages: [], twts: [] }), cacheTag: "mentions" }),
      (line) => void log.push(line),
    );
    const response = await handler(new Request("https://alice.example/mentions.json"), { address: "", params: {} });
    expect([response.status, JSON.parse(String(response.body))]).toEqual([
      503,
      expect.objectContaining({ code: "store-failed" }),
    ]);
    expect(log).toEqual([
      expect.stringMatching(/^A request failed: .*mentions\/.* Restore the site's data from a backup/),
    ]);

    await expect(journalOf(store).compact()).rejects.toMatchObject({ code: "store-failed" });
    expect(files).toEqual(expect.arrayContaining(await store.keys("")));
  });

  it("without a list of parts names none for a backup", () => {
    expect(listNamedParts(Buffer.from('{"version":1,"parts":5,"folded":[]}'))).toEqual([]);
    expect(listNamedParts(Buffer.from('{"version":1,"parts":["a"],"folded":[]}'))).toEqual(["a"]);
  });
});
