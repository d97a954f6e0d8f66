import { describe, expect, it, vi } from "vitest";
import {
  applyEvent,
  type MentionEvent,
  type NewMention,
  toMentionVersion,
} from "../../../plugin/mentions/receive/event.js";
import { Journal } from "../../../plugin/mentions/receive/journal.js";
import { MentionView } from "../../../plugin/mentions/receive/mention-view.js";
import { ReceivedMentions } from "../../../plugin/mentions/receive/received.js";
import { deletedTwt, type TwtLike } from "../../../plugin/site/conversation.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import type { Store } from "../../../plugin/store/store.js";
import { faultyStore } from "../../helpers/faulty-store.js";
import { recordingStore } from "../../helpers/recording-store.js";
import { newMention as mention } from "../../helpers/stored-mentions.js";

const FEED = "https://alice.example/twtxt.txt";
const AT = "2026-01-02T03:04:05Z";
const PAGE = "https://alice.example/posts/quinces/";

/** Removes the stored mentions from a source. @returns whether there were any */
async function removeSource(received: ReceivedMentions, source: string, timestamps = [AT]): Promise<boolean> {
  const found = await received.findClaimed({ source, timestamps, target: { url: FEED, kind: "feed" } });
  for (const { id } of found) await received.remove(id);
  return found.length > 0;
}

function blog(store: Store = memoryStore(), start = "2026-11-20T09:00:00.000Z", twts: readonly TwtLike[] = []) {
  let time = Date.parse(start);
  let changes = 0;
  const log: string[] = [];
  const now = () => {
    time += 1000;
    return time;
  };
  const book = new Journal({ store, now, shownPerHost: 3, log: (line) => void log.push(line), twts });
  const received = new ReceivedMentions({
    journal: book,
    now,
    onChange: async () => {
      changes += 1;
    },
  });
  return {
    store,
    received,
    log,
    changes: () => changes,
    wait: (hours: number) => {
      time += hours * 3600_000;
    },
    shown: async () =>
      (await received.list({ state: "shown", limit: 1000 })).mentions.map(
        ({ author, text }) => `${author.name}: ${text}`,
      ),
  };
}

describe("two machines whose clocks differ by five minutes", () => {
  const AHEAD = "2026-11-20T09:05:00.000Z";

  async function twoMachines() {
    const store = memoryStore();
    const ahead = blog(store, AHEAD);
    await ahead.received.keep(mention(1));
    const alice = blog(store);
    const { id = "" } = (await alice.received.list({ limit: 1 })).mentions[0] ?? {};
    expect(await alice.shown()).toEqual(["nick1: hello 1"]);
    return { store, ahead, alice, id };
  }

  it.each<[string, (received: ReceivedMentions, id: string) => Promise<unknown>]>([
    ["rejects", (received, id) => received.moderate(id, "rejected", null)],
    ["forgets", (received, id) => received.forget((one) => one.id === id)],
    ["removes", (received, id) => received.remove(id)],
    ["holds", (received, id) => received.moderate(id, "held", null)],
  ])("agree at once that the later one %s a mention of the earlier one", async (_, decide) => {
    const { store, ahead, alice, id } = await twoMachines();
    await decide(alice.received, id);
    expect([await alice.shown(), await ahead.shown()]).toEqual([[], []]);
    await ahead.received.journal.compact();
    expect(await blog(store).shown()).toEqual([]);
  });

  it("agree on the last of several decisions", async () => {
    const { ahead, alice, id } = await twoMachines();
    await alice.received.moderate(id, "rejected", null);
    await ahead.received.moderate(id, "held", null);
    await alice.received.moderate(id, "shown", null);
    expect([await alice.shown(), await ahead.shown()]).toEqual([["nick1: hello 1"], ["nick1: hello 1"]]);
    await alice.received.keep(mention(1, { text: "changed" }));
    expect(await ahead.shown()).toEqual(["nick1: changed"]);
  });

  it("record the time of their own clock for other mentions", async () => {
    const { alice } = await twoMachines();
    await alice.received.keep(mention(2));
    const { mentions } = await alice.received.list({ limit: 2 });
    expect(mentions.map(({ received }) => received < AHEAD)).toEqual([false, true]);
  });
});

it("a clock that is set back gives its time to later mentions of the process", async () => {
  const { received, wait } = blog();
  wait(100 * 24);
  await received.keep(mention(1));
  wait(-100 * 24);
  await received.keep(mention(2));
  const times = (await received.list({ limit: 2 })).mentions.map((one) => one.received.slice(0, 10));
  expect(times).toEqual(["2027-02-28", "2026-11-20"]);
});

describe("the list of a page", () => {
  const page = "https://alice.example/posts/quinces/";
  const answer = { timestamp: "2026-11-20T08:00:00Z", hashes: ["ownhash"], page: null, replyTo: "hashof1" };

  it("has the whole conversation: replies to replies, and to the author's replies without a page", async () => {
    const { received } = blog(memoryStore(), "2026-11-20T09:00:00.000Z", [answer]);
    const reply = (n: number, change: Partial<NewMention>) => received.keep(mention(n, { type: "reply", ...change }));
    await reply(1, { under: page, hash: "hashof1long1", hashV1: "hashof1" });
    await reply(2, { subject: "hashof1" });
    await reply(3, { subject: "ownhash" });
    await reply(4, { subject: "unknown" });
    await received.keep(mention(5, { subject: "hashof1" }));

    const { mentions } = await received.list({ state: "shown", target: page, limit: 10 });
    expect(mentions.map(({ author }) => author.name)).toEqual(["nick3", "nick2", "nick1"]);
  });

  it("has a reply from another page's conversation as a mention", async () => {
    const { received } = blog();
    const other = "https://alice.example/posts/beans/";
    await received.keep(mention(1, { type: "reply", under: other, hash: "hashof1long1", hashV1: "hashof1" }));
    await received.keep(mention(2, { type: "reply", subject: "hashof1", target: page }));
    await received.keep(mention(3, { type: "reply", subject: "unknown", target: page }));
    const typesOn = async (target: string) =>
      (await received.list({ state: "shown", target, limit: 10 })).mentions.map(
        ({ author, type }) => `${author.name} ${type}`,
      );
    expect(await typesOn(page)).toEqual(["nick3 reply", "nick2 mention"]);
    expect(await typesOn(other)).toEqual(["nick2 reply", "nick1 reply"]);
  });

  it("has the replies to a deleted reply of the author", async () => {
    const gone = deletedTwt({ page: "https://alice.example/posts/answer/", replyTo: "hashof1" });
    const { received } = blog(memoryStore(), "2026-11-20T09:00:00.000Z", [gone]);
    await received.keep(mention(1, { type: "reply", under: page, hash: "hashof1long1", hashV1: "hashof1" }));
    await received.keep(mention(2, { type: "reply", subject: "ownhash", under: gone.page }));
    const { mentions } = await received.list({ state: "shown", target: page, limit: 10 });
    expect(mentions.map(({ author }) => author.name)).toEqual(["nick2", "nick1"]);
  });

  it("has the replies to a reply that is no longer shown, and its place only on request", async () => {
    const { received } = blog();
    await received.keep(mention(1, { type: "reply", under: page, hash: "hashof1", hashV1: "hashof1" }));
    await received.keep(mention(2, { type: "reply", subject: "hashof1" }));
    const [first] = (await received.list({ target: page, limit: 10 })).mentions.slice(-1);
    await received.moderate(first?.id ?? "", "rejected", null);
    const listed = async (withPlaces: boolean) =>
      (await received.list({ state: "shown", target: page, limit: 10, withPlaces })).mentions.map(({ state }) => state);
    expect(await listed(false)).toEqual(["shown"]);
    expect(await listed(true)).toEqual(["shown", "rejected"]);
  });
});

describe("a list", () => {
  it("reads none of the replies that are not shown, however many, unless something answers them", async () => {
    const { received } = blog();
    const reply = (n: number, change: Partial<NewMention> = {}) =>
      received.keep(mention(n, { type: "reply", hash: `hash${n}`, hashV1: `hash${n}`, hold: "always", ...change }));
    await reply(1);
    await reply(2, { subject: "hash1", hold: "never" });
    for (let n = 3; n < 40; n += 1) await reply(n);
    const view = await received.journal.read();
    const { read } = view;
    let reads = 0;
    view.read = (entry) => {
      reads += 1;
      return read.call(view, entry);
    };
    const { mentions } = await received.list({ state: "shown", limit: 100, withPlaces: true });
    expect(mentions.map(({ state, author }) => [state, author.name])).toEqual([
      ["shown", "nick2"],
      ["held", "nick1"],
    ]);
    expect(reads).toBeLessThan(6);
  });
});

describe("a received mention", () => {
  it("is listed newest first, a page at a time", async () => {
    const { received } = blog();
    for (let n = 0; n < 5; n += 1) await received.keep(mention(n));

    const first = await received.list({ limit: 2 });
    const second = await received.list({ limit: 2, after: first.next ?? "" });
    const third = await received.list({ limit: 2, after: second.next ?? "" });
    expect([first, second, third].flatMap(({ mentions }) => mentions.map(({ author }) => author.name))).toEqual([
      "nick4",
      "nick3",
      "nick2",
      "nick1",
      "nick0",
    ]);
    expect(third.next).toBeNull();
  });

  it("bad-request: a cursor that the list has not returned", async () => {
    const { received } = blog();
    for (let n = 0; n < 3; n += 1) await received.keep(mention(n));
    const { next } = await received.list({ limit: 1 });
    if (next === null) throw new Error("There is no cursor.");
    const [time = "", id = ""] = next.split("_");
    for (const after of ["x", "", `${time}_${"0".repeat(32)}`, `2026-11-20T00:00:00.000Z_${id}`, next.toUpperCase()]) {
      await expect(received.list({ limit: 2, after })).rejects.toMatchObject({ code: "bad-request" });
    }
    // A cursor stays valid when its mention is no longer shown.
    await received.moderate(id, "rejected", null);
    expect((await received.list({ limit: 9, after: next })).mentions).toHaveLength(2);
  });

  it("is listed once if another process received a mention in the same millisecond", async () => {
    const { received, store } = blog();
    await received.keep(mention(1));
    await blog(store).received.keep(mention(2));

    const first = await received.list({ limit: 1 });
    const second = await received.list({ limit: 1, after: first.next ?? "" });
    const [one, other] = [...first.mentions, ...second.mentions];
    expect(one?.received).toBe(other?.received);
    expect([one?.author.name, other?.author.name].sort()).toEqual(["nick1", "nick2"]);
    expect(second.next).toBeNull();
  });

  it("is stored once when sent repeatedly, with its newest text and its first time", async () => {
    const { received, shown } = blog();
    await received.keep(mention(1));
    const [first] = (await received.list({ limit: 1 })).mentions;
    await Promise.all([received.keep(mention(1)), received.keep(mention(1, { text: "changed" }))]);

    expect(await shown()).toEqual(["nick1: changed"]);
    expect((await received.list({ limit: 1 })).mentions[0]?.received).toBe(first?.received);
  });

  it("is listed under its target and under its post", async () => {
    const { received } = blog();
    await received.keep(mention(1, { under: PAGE }));
    await received.keep(mention(2, { target: PAGE }));
    await received.keep(mention(3));
    const of = async (target: string) =>
      (await received.list({ target, limit: 9 })).mentions.map(({ author }) => author.name);
    expect(await of(PAGE)).toEqual(["nick2", "nick1"]);
    expect(await of(FEED)).toEqual(["nick3", "nick1"]);
  });

  it("is held if it is the fourth from a host in a day, unless the host is allowed", async () => {
    const { received, wait, shown } = blog();
    const ofOneHost = (n: number, change: Partial<NewMention> = {}) =>
      received.keep(mention(1, { instant: `2026-01-02T03:04:0${n}Z`, text: String(n), ...change }));
    for (let n = 1; n <= 5; n += 1) await ofOneHost(n);
    await ofOneHost(6, { hold: "never" });
    expect(await shown()).toEqual(["nick1: 6", "nick1: 3", "nick1: 2", "nick1: 1"]);
    expect((await received.list({ state: "held", limit: 9 })).mentions.map(({ text }) => text)).toEqual(["5", "4"]);

    wait(24);
    await ofOneHost(7);
    expect((await shown())[0]).toBe("nick1: 7");
  });

  it("is held if each mention needs approval, and shown once approved", async () => {
    const { received, shown } = blog();
    await received.keep(mention(1, { hold: "always" }));
    expect(await shown()).toEqual([]);
    const [held] = (await received.list({ state: "held", limit: 9 })).mentions;

    expect(await received.moderate(held?.id ?? "", "shown", null)).toMatchObject({ state: "shown" });
    await received.keep(mention(1, { hold: "always" }));
    expect(await shown()).toEqual(["nick1: hello 1"]);
    expect(await received.moderate("0".repeat(32), "shown", null)).toBeNull();
  });

  it.each([
    ["text", { text: "changed" }],
    ["name", { author: { name: "changed", url: "https://host1.example/twtxt.txt", photo: null } }],
    [
      "picture",
      { author: { name: "nick1", url: "https://host1.example/twtxt.txt", photo: "https://host1.example/x.png" } },
    ],
    ["URL of its author", { author: { name: "nick1", url: "https://changed.example/", photo: null } }],
  ])("with a changed %s is held again if mentions need approval, and otherwise stays shown", async (_, change) => {
    const { received, shown } = blog();
    for (const [n, hold] of [
      [1, "always"],
      [2, "when many"],
      [3, "never"],
    ] as const) {
      await received.keep(mention(n, { hold }));
    }
    const [held] = (await received.list({ state: "held", limit: 9 })).mentions;
    await received.moderate(held?.id ?? "", "shown", null);
    expect(await shown()).toHaveLength(3);

    await received.keep(mention(1, { hold: "always", ...change }));
    expect((await received.list({ state: "held", limit: 9 })).mentions).toMatchObject([{ id: held?.id, ...change }]);
    for (const [n, hold] of [
      [2, "when many"],
      [3, "never"],
    ] as const) {
      await received.keep(mention(n, { hold, text: "changed" }));
    }
    expect(await shown()).toEqual(["nick3: changed", "nick2: changed"]);
  });

  it("is not shown by an approval of an earlier version, even if the two happen at the same time", async () => {
    const { received, shown, store } = blog();
    await received.keep(mention(1, { hold: "always" }));
    const [held] = (await received.list({ state: "held", limit: 9 })).mentions;
    if (!held) throw new Error("No mention is held.");
    const seen = toMentionVersion(held);
    await received.keep(mention(1, { hold: "always", text: "changed" }));
    await expect(received.moderate(held.id, "shown", seen)).rejects.toMatchObject({ code: "precondition-failed" });

    // Another process checked the version before the change.
    const at = "2026-11-20T10:00:00.000Z";
    const late = new Journal({ store, now: () => Date.parse(at), shownPerHost: 3, log: () => {} });
    await late.add({ kind: "moderated", at, id: held.id, state: "shown", version: seen });
    expect(await shown()).toEqual([]);
    await late.add({ kind: "moderated", at, id: held.id, state: "rejected", version: seen });
    expect((await received.list({ state: "rejected", limit: 9 })).mentions).toHaveLength(1);
  });

  it("stays rejected when it is sent again, even after its source removed it for a while", async () => {
    const { received, shown } = blog();
    await received.keep(mention(1));
    const [{ id = "" } = {}] = (await received.list({ limit: 1 })).mentions;
    await received.moderate(id, "rejected", null);
    await removeSource(received, mention(1).identity);
    await received.keep(mention(1));

    expect(await shown()).toEqual([]);
    expect((await received.list({ state: "rejected", limit: 9 })).mentions).toHaveLength(1);
  });

  it("is removed by the posted URL, and by the URL that it redirects to", async () => {
    const { received, shown } = blog();
    await received.keep(mention(1, { given: "https://host1.example/short" }));
    expect(await removeSource(received, "https://host1.example/short")).toBe(true);
    expect(await shown()).toEqual([]);

    // Anyone can redirect to another author's feed and later remove the redirect.
    await received.keep(mention(1, { given: "https://mallory.example/r" }));
    expect(await removeSource(received, "https://mallory.example/r")).toBe(false);
    // A different spelling of the same second may be a different twt.
    const spelled = ["2026-01-02T03:04:05.500Z"];
    expect(await removeSource(received, mention(1).identity, spelled)).toBe(false);
    expect(await removeSource(received, mention(1).identity)).toBe(true);

    await received.keep(mention(1));
    expect(await removeSource(received, mention(2).identity)).toBe(false);
    expect(await removeSource(received, mention(1).identity, [])).toBe(false);
    expect(await shown()).toEqual(["nick1: hello 1"]);
  });

  it("is forgotten completely: the same mention is new again", async () => {
    const { received, shown } = blog();
    await received.keep(mention(1));
    await received.keep(mention(2));
    const [{ id = "" } = {}] = (await received.list({ limit: 1 })).mentions;
    await received.moderate(id, "rejected", null);
    expect(await received.forget(({ author }) => author.name === "nick2")).toBe(1);
    expect(await shown()).toEqual(["nick1: hello 1"]);
    await received.keep(mention(2));
    expect(await shown()).toEqual(["nick2: hello 2", "nick1: hello 1"]);
  });

  it("is one mention if its page is served over http and https", async () => {
    const { received } = blog();
    for (const identity of ["https://host1.example/p", "http://host1.example/p"]) {
      await received.keep(mention(1, { identity, instant: null, timestamp: null, published: null }));
    }
    expect((await received.list({ limit: 9 })).mentions).toMatchObject([{ identity: "https://host1.example/p" }]);
  });

  it("is listed under both posts that it names", async () => {
    const { received } = blog();
    const [first, second] = [PAGE, "https://alice.example/posts/pears/"];
    await received.keep(mention(1, { target: first, about: first }));
    await received.keep(mention(1, { target: second, about: first, under: first }));
    for (const target of [first, second]) {
      expect((await received.list({ target, limit: 9 })).mentions).toHaveLength(1);
    }
  });

  it("is held again if an edit moved it to another post", async () => {
    const { received, shown } = blog();
    await received.keep(mention(1, { hold: "always" }));
    const [{ id = "" } = {}] = (await received.list({ limit: 1 })).mentions;
    await received.moderate(id, "shown", null);
    await received.keep(mention(1, { hold: "always", under: PAGE, about: PAGE }));
    expect(await shown()).toEqual([]);
  });

  it("is held again if its page now answers another post", async () => {
    const { received, shown } = blog();
    const page = { hold: "always", instant: null, timestamp: null } as const;
    await received.keep(mention(1, { ...page, subject: PAGE }));
    const [{ id = "" } = {}] = (await received.list({ limit: 1 })).mentions;
    await received.moderate(id, "shown", null);
    expect(await shown()).toHaveLength(1);
    await received.keep(mention(1, { ...page, subject: "https://carol.example/answer/" }));
    expect(await shown()).toEqual([]);
  });

  it("stays approved if it is sent from a page and then from its feed", async () => {
    const { received, shown } = blog();
    const identity = "https://host1.example/p/";
    await received.keep(mention(1, { hold: "always", identity, instant: null, timestamp: null }));
    const [{ id = "" } = {}] = (await received.list({ limit: 1 })).mentions;
    await received.moderate(id, "shown", null);
    await received.keep(mention(1, { hold: "always" }));
    expect(await shown()).toEqual(["nick1: hello 1"]);
  });

  it("is known if it is stored unchanged, in any state, and not known if a field differs", async () => {
    const { received } = blog();
    expect(await received.journal.holds(mention(1))).toBe(false);
    await received.keep(mention(1, { hold: "always" }));
    await received.keep(mention(2));
    for (const isCompacted of [false, true]) {
      expect(await received.journal.holds(mention(1))).toBe(true);
      expect(await received.journal.holds(mention(1, { text: "changed" }))).toBe(false);
      expect(await received.journal.holds(mention(1, { under: PAGE, about: PAGE }))).toBe(false);
      expect(await received.journal.holds(mention(1, { under: PAGE }))).toBe(true);
      expect(await received.journal.holds(mention(1, { author: { name: "x", url: FEED, photo: null } }))).toBe(false);
      expect(await received.journal.holds(mention(1, { target: PAGE }))).toBe(false);
      expect(await received.journal.holds(mention(3))).toBe(false);
      if (!isCompacted) await received.journal.compact();
    }
    const [{ id = "" } = {}] = (await received.list({ state: "held", limit: 1 })).mentions;
    await received.moderate(id, "rejected", null);
    expect(await received.journal.holds(mention(1))).toBe(true);
    await received.forget(() => true);
    expect(await received.journal.holds(mention(1))).toBe(false);
  });

  it("is found by reading each event once", async () => {
    const store = memoryStore();
    const { received } = blog(store);
    for (let n = 0; n < 50; n += 1) await received.keep(mention(n));
    const { store: watched, operations } = recordingStore(store);
    const { received: reader } = blog(watched);
    for (const n of [7, 8]) expect(await reader.journal.holds(mention(n))).toBe(true);
    expect(operations.filter((line) => line.startsWith("get mentions/events/"))).toHaveLength(50);
  });

  it("reports a change only if something changed", async () => {
    const { received, changes } = blog();
    await received.keep(mention(1));
    expect(changes()).toBe(1);
    await received.forget(() => false);
    await removeSource(received, "https://nobody.example/", []);
    expect(changes()).toBe(1);
  });
});

describe("a damaged event", () => {
  const KEY = "mentions/events/20261120085900000-0-0";
  const kept = { kind: "kept", at: "2026-11-20T08:59:00.000Z", mention: mention(9) };
  const broken: [string, string][] = [
    ["cut off", JSON.stringify(kept).slice(0, 100)],
    ["empty", ""],
    ["not an object", "null"],
    ["of an unknown kind", JSON.stringify({ kind: "painted", at: kept.at })],
    ["without a mention", JSON.stringify({ kind: "kept", at: kept.at })],
    ["with a source that is not a URL", JSON.stringify({ ...kept, mention: { ...kept.mention, identity: "x" } })],
    ["with an invalid time", JSON.stringify({ ...kept, at: "soon" })],
  ];

  it.each(broken)("is skipped and logged once, and other mentions are listed: %s", async (_, text) => {
    const { received, store, shown, log } = blog();
    await store.put(KEY, Buffer.from(text));
    await received.keep(mention(1));
    const reads = vi.spyOn(store, "get");
    expect(await shown()).toEqual(["nick1: hello 1"]);
    expect(await shown()).toEqual(["nick1: hello 1"]);
    expect(log).toEqual([expect.stringContaining(KEY)]);
    expect(reads.mock.calls.filter(([key]) => key === KEY)).toHaveLength(1);

    expect(await received.journal.compact()).toBe(1);
    expect(await shown()).toEqual(["nick1: hello 1"]);
    expect(await store.keys("mentions/events/2")).toEqual([KEY]);
    expect(log).toHaveLength(1);
  });

  it("is distinguished from a failed read, after which nothing is listed", async () => {
    const store = faultyStore(memoryStore());
    const { received, shown, log } = blog(store);
    await received.keep(mention(1));
    await received.keep(mention(2));
    store.fail({ when: "before", operation: "get", key: "mentions/events/", times: 1 });
    await expect(shown()).rejects.toMatchObject({ code: "store-failed" });
    expect(log).toEqual([]);
    expect(await shown()).toHaveLength(2);
  });
});

describe("compaction", () => {
  async function withMany(count: number) {
    const made = blog();
    for (let n = 0; n < count; n += 1) await made.received.keep(mention(n));
    return made;
  }

  it("does not change the list, and leaves no events", async () => {
    const { received, store } = await withMany(40);
    const before = await received.list({ limit: 100 });
    expect(await received.journal.compact()).toBe(40);
    expect(await received.list({ limit: 100 })).toEqual(before);
    expect(await store.keys("mentions/events/2")).toEqual([]);
    expect(await store.keys("mentions/")).toEqual([
      expect.stringMatching(/^mentions\/parts\//),
      "mentions/snapshot",
      expect.stringMatching(/^mentions\/events\/snapshot-/),
    ]);
  });

  it("does nothing if there are no events", async () => {
    const { received, store } = await withMany(3);
    await received.journal.compact();
    await received.journal.compact();
    const keys = await store.keys("");
    const { etag } = (await store.get("mentions/snapshot")) ?? {};
    expect(await received.journal.compact()).toBe(0);
    expect(await store.keys("")).toEqual(keys);
    expect((await store.get("mentions/snapshot"))?.etag).toBe(etag);
  });

  it("continues with later events", async () => {
    const { received, shown } = await withMany(3);
    await received.journal.compact();
    await received.keep(mention(1, { text: "changed" }));
    await received.keep(mention(9));
    await removeSource(received, mention(0).identity);
    const expected = ["nick9: hello 9", "nick2: hello 2", "nick1: changed"];
    expect(await shown()).toEqual(expected);
    expect(await received.journal.compact()).toBe(3);
    expect(await shown()).toEqual(expected);
  });

  it("preserves how many mentions a host had shown that day", async () => {
    const { received, shown, wait } = blog();
    const ofOneHost = (n: number) => received.keep(mention(1, { instant: `2026-01-02T03:04:0${n}Z`, text: String(n) }));
    for (let n = 1; n <= 3; n += 1) await ofOneHost(n);
    await received.journal.compact();
    await ofOneHost(4);
    expect(await shown()).toEqual(["nick1: 3", "nick1: 2", "nick1: 1"]);

    wait(24);
    await ofOneHost(5);
    expect((await shown())[0]).toBe("nick1: 5");
  });

  it("loses nothing if two processes compact while mentions arrive", async () => {
    const { received, shown } = await withMany(30);
    await Promise.all([
      received.journal.compact(),
      received.keep(mention(50)),
      received.journal.compact(),
      received.keep(mention(51)),
      received.journal.compact(),
    ]);
    await received.journal.compact();
    expect((await shown()).length).toBe(32);
  });

  /** A store that fails after this many writes and deletes, as if the process were killed. */
  function failingAfter(store: Store, operations: number): Store {
    let left = operations;
    const spend = () => {
      left -= 1;
      if (left < 0) throw new Error("The process was killed here.");
    };
    return {
      ...store,
      async put(...args) {
        spend();
        return store.put(...args);
      },
      async delete(key) {
        spend();
        return store.delete(key);
      },
    };
  }

  it("loses and repeats nothing, at whichever step it is killed", async () => {
    const { received, store, shown } = await withMany(10);
    await received.journal.compact();
    await removeSource(received, mention(3).identity);
    await received.keep(mention(4, { text: "changed" }));
    await received.keep(mention(20));
    const expected = await shown();

    let isDone = false;
    for (let operations = 0; !isDone; operations += 1) {
      const { received: dying } = blog(failingAfter(store, operations), "2026-11-21T09:00:00.000Z");
      isDone = await dying.journal.compact().then(
        () => true,
        () => false,
      );
      expect(await shown()).toEqual(expected);
    }
    await received.journal.compact();
    expect(await shown()).toEqual(expected);
  });

  it("removes unreferenced parts once they are a day old", async () => {
    const { received, store, wait } = await withMany(2);
    const orphan = `mentions/parts/${Date.parse("2026-11-20T08:00:00Z")}-orphan`;
    await store.put(orphan, Buffer.from("x"));
    await received.journal.compact();
    expect(await store.keys("mentions/parts/")).toContain(orphan);
    wait(25);
    await received.keep(mention(7));
    await received.journal.compact();
    expect(await store.keys("mentions/parts/")).not.toContain(orphan);
  });

  it("reads many mentions with a few requests", async () => {
    const store = memoryStore();
    const { received } = blog(store);
    for (let n = 0; n < 2000; n += 1) await received.keep(mention(n));
    await received.journal.compact();
    const { store: counted, operations } = recordingStore(store);
    const { mentions } = await blog(counted).received.list({ limit: 100 });
    expect(mentions).toHaveLength(100);
    expect(operations.length).toBeLessThanOrEqual(3);
  });
});

describe("events", () => {
  it("for unknown mentions change nothing", () => {
    const view = new MentionView([]);
    const at = "2026-11-20T09:00:00.000Z";
    const events: MentionEvent[] = [
      { kind: "removed", at, id: "x" },
      { kind: "moderated", at, id: "x", state: "shown", version: null },
      { kind: "forgotten", at, id: "x" },
    ];
    for (const event of events) applyEvent(view, event, 10);
    expect(view.size).toBe(0);
  });
});
