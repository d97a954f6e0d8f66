import type { ServerResponse } from "node:http";
import { setTimeout } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { shortHash } from "../../../plugin/mentions/send/live-feed.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import { type Fault, faultyStore } from "../../helpers/faulty-store.js";
import { strayed } from "../../helpers/loopback.js";
import { type Answer, MINUTE, type Neighbour, neighbour, outcomes, PAGE, type World, world } from "./outgoing.js";

afterEach(() => expect(strayed).toEqual([]));

const HOUR = 60 * MINUTE;

/** A feed of ten twts that mention Bob, and a store that may fail. */
async function tenTwts() {
  const bob = await neighbour();
  const store = faultyStore(memoryStore());
  const home = await world([bob], { store });
  home.alice.twts = twtsFor(bob);
  return { bob, store, home, folder: `sent/${shortHash(home.alice.feedUrl, 16)}` };
}

function twtsFor(...neighbours: Neighbour[]): World["alice"]["twts"] {
  const mentions = neighbours.map(({ mention }) => mention).join(" ");
  return Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`2026-11-20T08:00:0${at}Z`, mentions]));
}

const sourcesOf = ({ posts }: Neighbour) => posts.map(({ source }) => source).sort();
const all = ({ alice }: World) => Object.keys(alice.twts).map(alice.twt);
const times = (count: number, outcome: string) => Array(count).fill(outcome);

describe("the records", () => {
  it("are one per mention, for each outcome, before and after an edit", async () => {
    const { bob, store, home, folder } = await tenTwts();
    bob.answer = () => ({ status: 500 });
    await home.send();
    expect((await store.keys(`${folder}/retry/`)).length).toBe(10);
    bob.answer = () => ({ status: 202 });
    home.clock.time += HOUR;
    await home.send();
    expect((await store.keys(`${folder}/retry/`)).length).toBe(0);
    const before = await store.keys(`${folder}/done/`);
    expect(before).toHaveLength(10);

    for (const timestamp of Object.keys(home.alice.twts)) home.alice.twts[timestamp] = `edited ${bob.mention}`;
    await home.send();
    const after = await store.keys(`${folder}/done/`);
    expect(after).toHaveLength(10);
    expect(after).not.toEqual(expect.arrayContaining(before.slice(0, 1)));
  });

  it("store-failed with the key: a record is damaged", async () => {
    const { bob, store, home, folder } = await tenTwts();
    bob.answer = () => ({ status: 500 });
    await home.send();
    const [key = ""] = await store.keys(`${folder}/retry/`);
    const record = JSON.parse(Buffer.from((await store.get(key))?.bytes ?? "").toString());
    await store.put(key, Buffer.from(JSON.stringify({ ...record, target: "bob" })));
    home.clock.time += HOUR;
    await expect(home.send()).rejects.toMatchObject({ code: "store-failed", message: expect.stringContaining(key) });
  });

  it("left by a killed run are removed, and nothing is sent for them", async () => {
    const { bob, store, home, folder } = await tenTwts();
    bob.answer = () => ({ status: 500 });
    await home.send();
    bob.answer = () => ({ status: 202 });
    home.clock.time += HOUR;
    store.fail({ when: "before", operation: "delete" });
    await home.send();
    store.repair();
    home.clock.time += HOUR;
    await home.send();
    expect((await store.keys(`${folder}/retry/`)).length).toBe(0);
    expect(await store.keys(`${folder}/done/`)).toHaveLength(10);
    expect((await home.send()).mentions).toEqual([]);
    expect(bob.posts.filter(({ source }) => source === home.alice.twt("2026-11-20T08:00:00Z"))).toHaveLength(2);
  });
});

describe("two concurrent runs", () => {
  it("send each mention once if the second one waits", async () => {
    const { bob, home } = await tenTwts();
    const waits: string[] = [];
    const reports = await Promise.all(
      ["a", "b"].map((name, at) =>
        home.send({ random: () => at / 2, patience: 1000, onWaiting: () => void waits.push(name) }),
      ),
    );
    expect(waits).toHaveLength(1);
    expect(reports.map(({ mentions }) => mentions.length).sort((a, b) => a - b)).toEqual([0, 10]);
    expect(sourcesOf(bob)).toEqual(all(home));
  });

  it("send each mention once if the second one does not wait", async () => {
    const { bob, home } = await tenTwts();
    const ended = await Promise.allSettled([0, 0.5].map((seed) => home.send({ random: () => seed })));
    expect(ended.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(ended.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "already-sending" } });
    expect(sourcesOf(bob)).toEqual(all(home));
  });
});

describe("a run that loses its lease in the middle", () => {
  it("stops, and the next run sends the rest", async () => {
    const { bob, home } = await tenTwts();
    bob.answer = () => {
      if (bob.posts.length === 3) home.clock.time += 31_000;
      return { status: 202 };
    };
    const report = await home.send();
    expect(outcomes(report)).toEqual([...times(3, "new sent 202"), ...times(7, "new waiting")]);
    expect(bob.posts).toHaveLength(3);
    expect(outcomes(await home.send())).toEqual(times(7, "new sent 202"));
    expect(sourcesOf(bob)).toEqual(all(home));
  });
});

describe("a store that fails", () => {
  it.each(["get", "keys", "put"] as const)("immediately, in %s, prevents all sending", async (operation) => {
    const { bob, store, home } = await tenTwts();
    store.fail({ when: "before", operation });
    await expect(home.send()).rejects.toMatchObject({ code: "store-failed" });
    expect(bob.posts).toEqual([]);
    store.repair();
    expect(outcomes(await home.send())).toEqual(times(10, "new sent 202"));
  });

  it("before it records a mention ends the run; the next one repeats that mention and continues", async () => {
    const { bob, store, home, folder } = await tenTwts();
    store.fail({ when: "before", operation: "put", key: `${folder}/done/` });
    const report = await home.send();
    expect(report.troubles).toEqual([expect.stringContaining("The store was down before put of")]);
    expect(outcomes(report)).toEqual(times(9, "new waiting"));
    expect(bob.posts).toHaveLength(1);

    store.repair();
    expect(outcomes(await home.send())).toEqual(times(10, "new sent 202"));
    expect(sourcesOf(bob).slice(1)).toEqual(all(home));
  });

  it("after it records a mention ends the run; the next one repeats none", async () => {
    const { bob, store, home, folder } = await tenTwts();
    store.fail({ when: "after", operation: "put", key: `${folder}/done/` });
    expect((await home.send()).troubles).not.toEqual([]);
    store.repair();
    expect(outcomes(await home.send())).toEqual(times(9, "new sent 202"));
    expect(sourcesOf(bob)).toEqual(all(home));
  });

  it.each([
    { when: "before", times: 3 },
    { when: "after", times: 3 },
  ] satisfies Fault[])("a few times, $when its write, is retried, and no mention is repeated", async (fault) => {
    const { bob, store, home, folder } = await tenTwts();
    store.fail({ ...fault, operation: "put", key: `${folder}/done/` });
    const report = await home.send();
    expect(report.troubles).toEqual([]);
    expect(outcomes(report)).toEqual(times(10, "new sent 202"));
    expect((await home.send()).mentions).toEqual([]);
    expect(sourcesOf(bob)).toEqual(all(home));
  });

  it.each(["before", "after"] as const)("%s it records an attempt loses no mention", async (when) => {
    const { bob, store, home, folder } = await tenTwts();
    bob.answer = () => ({ status: 500 });
    store.fail({ when, operation: "put", key: `${folder}/retry/` });
    expect((await home.send()).troubles).not.toEqual([]);
    store.repair();
    bob.answer = () => ({ status: 202 });
    home.clock.time += HOUR;
    await home.send();
    expect(new Set(sourcesOf(bob))).toEqual(new Set(all(home)));
    expect(bob.posts).toHaveLength(11);
  });

  it("when it records the form of an endpoint loses no mention", async () => {
    const { bob, store, home } = await tenTwts();
    bob.answer = ({ source }) => ({ status: source === PAGE ? 202 : 400 });
    store.fail({ when: "before", operation: "put", key: "sent/forms/" });
    const report = await home.send();
    expect(report.troubles).toEqual([]);
    expect(outcomes(report)).toEqual(times(10, "new sent 202"));
    expect((await home.send()).mentions).toEqual([]);
  });

  it("when it deletes the record of a removed mention sends the removal again", async () => {
    const { bob, store, home } = await tenTwts();
    await home.send();
    home.alice.twts = {};
    store.fail({ when: "before", operation: "delete" });
    expect((await home.send()).troubles).not.toEqual([]);
    store.repair();
    await home.send();
    expect((await home.send()).mentions).toEqual([]);
    expect(bob.posts).toHaveLength(10 + 1 + 10);
  });
});

describe("slow hosts", () => {
  it("that do not respond delay no others: all others are sent first", async () => {
    const quick = [await neighbour("a"), await neighbour("b"), await neighbour("c")];
    const slow = [await neighbour("x"), await neighbour("y"), await neighbour("z")];
    const home = await world([...quick, ...slow]);
    home.alice.twts = twtsFor(...slow, ...quick);
    const waiting: ((answer: Answer) => void)[] = [];
    for (const host of slow) host.answer = () => new Promise((resolve) => void waiting.push(resolve));

    let reported = 0;
    const report = await home.send({
      onMention: ({ outcome }) => {
        reported += 1;
        if (reported < 30) expect(outcome).toBe("sent");
        if (reported >= 30) {
          for (const host of slow) host.answer = () => ({ status: 202 });
          for (const answer of waiting.splice(0)) answer({ status: 202 });
        }
      },
    });
    expect(report.mentions.slice(0, 30).map(({ target }) => target)).toEqual(
      expect.not.arrayContaining(slow.map(({ feedUrl }) => feedUrl)),
    );
    expect(outcomes(report)).toEqual(times(60, "new sent 202"));
  });

  it("get one request at a time, after the previous one is recorded", async () => {
    const { bob, store, home } = await tenTwts();
    let atOnce = 0;
    let most = 0;
    bob.answer = async (_, response: ServerResponse) => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      response.on("close", () => {
        atOnce -= 1;
      });
      const recorded = (await store.keys("sent/")).filter((key) => key.includes("/done/")).length;
      expect(recorded).toBe(bob.posts.length - 1);
      await setTimeout(1);
      return { status: 202 };
    };
    expect(outcomes(await home.send())).toEqual(times(10, "new sent 202"));
    expect(most).toBe(1);
  });
});
