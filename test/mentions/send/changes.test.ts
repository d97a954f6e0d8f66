import { afterEach, describe, expect, it } from "vitest";
import { shortHash } from "../../../plugin/mentions/send/live-feed.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import { faultyStore } from "../../helpers/faulty-store.js";
import { strayed } from "../../helpers/loopback.js";
import { badAnswer, DAY, DAYS_6, DAYS_8, neighbour, outcomes, PAGE, TODAY, world, worldWithBob } from "./outgoing.js";

afterEach(() => expect(strayed).toEqual([]));

describe("an edit", () => {
  it("is sent once, with the current reference to the twt", async () => {
    const { bob, home } = await worldWithBob();
    home.alice.twts = { [TODAY]: `hi ${bob.mention}` };
    await home.send();
    home.alice.twts = { [TODAY]: `hello ${bob.mention}` };
    expect(outcomes(await home.send())).toEqual(["changed sent 202"]);
    expect((await home.send()).mentions).toEqual([]);
    home.alice.twts = { [TODAY]: `hi ${bob.mention}` };
    expect(outcomes(await home.send())).toEqual(["changed sent 202"]);
    expect((await home.send()).mentions).toEqual([]);
    expect(bob.posts).toHaveLength(3);
  });

  it("that mentions another feed is sent to both", async () => {
    const bob = await neighbour("bob");
    const carol = await neighbour("carol");
    const home = await world([bob, carol]);
    home.alice.twts = { [TODAY]: `hi ${bob.mention}` };
    await home.send();
    home.alice.twts = { [TODAY]: `hi ${carol.mention}` };
    expect(outcomes(await home.send()).sort()).toEqual(["gone sent 202", "new sent 202"]);
    expect(bob.posts).toHaveLength(2);
    expect(bob.posts[1]).toEqual(bob.posts[0]);
    expect((await home.send()).mentions).toEqual([]);
  });

  it("that its receiver refused is ignored: the receiver has the first text until its removal is sent", async () => {
    const { bob, home } = await worldWithBob();
    home.alice.twts = { [TODAY]: `hi ${bob.mention}` };
    await home.send();
    home.alice.twts = { [TODAY]: `hello ${bob.mention}` };
    bob.answer = () => ({ status: 400 });
    expect(outcomes(await home.send({ findPage: () => null }))).toEqual(["changed failed 400"]);
    expect((await home.send()).mentions).toEqual([]);
    home.alice.twts = {};
    bob.answer = () => ({ status: 200 });
    expect(outcomes(await home.send())).toEqual(["gone sent 200"]);
    expect(await home.store.keys(`sent/${shortHash(home.alice.feedUrl, 16)}/done/`)).toEqual([]);
  });

  it("back to the first text is sent, even if the run before could not remove its record", async () => {
    const bob = await neighbour();
    const store = faultyStore(memoryStore());
    const home = await world([bob], { store });
    home.alice.twts = { [TODAY]: `hi ${bob.mention}` };
    await home.send();
    home.alice.twts = { [TODAY]: `hello ${bob.mention}` };
    store.fail({ when: "before", operation: "delete" });
    expect((await home.send()).troubles).toEqual([expect.stringContaining("delete")]);
    store.repair();
    expect((await home.send()).mentions).toEqual([]);
    home.alice.twts = { [TODAY]: `hi ${bob.mention}` };
    expect(outcomes(await home.send())).toEqual(["changed sent 202"]);
    expect(bob.posts).toHaveLength(3);
  });

  it("before the first text has a response is sent immediately, with its own attempts", async () => {
    const { bob, home } = await worldWithBob();
    home.alice.twts = { [TODAY]: `hi ${bob.mention}` };
    bob.answer = () => ({ status: 500 });
    for (let tries = 1; tries < 8; tries += 1) {
      const [mention] = (await home.send()).mentions;
      home.clock.time = Date.parse(mention?.next ?? "");
    }
    home.alice.twts = { [TODAY]: `hello ${bob.mention}` };
    expect(outcomes(await home.send())).toEqual(["changed retry 500"]);
  });
});

describe("a deleted twt", () => {
  it("is sent once more, with its original source", async () => {
    const { bob, home } = await worldWithBob("Link header");
    home.alice.twts = { "2026-11-20T07:00:00Z": "hello", [TODAY]: bob.mention };
    await home.send();
    delete home.alice.twts[TODAY];
    expect(outcomes(await home.send({ findPage: () => null }))).toEqual(["gone sent 202"]);
    expect(bob.posts.map(({ source }) => source)).toEqual([PAGE, PAGE]);
    expect((await home.send()).mentions).toEqual([]);
  });

  it("is not sent to a receiver that never accepted it", async () => {
    const { bob, home } = await worldWithBob();
    bob.answer = () => ({ status: 400 });
    home.alice.twts = { [TODAY]: bob.mention };
    await home.send({ findPage: () => null });
    home.alice.twts = {};
    expect((await home.send()).mentions).toEqual([]);
    expect(bob.posts).toHaveLength(1);
  });

  it("is sent to a receiver that then refuses it as missing, which is not a failure", async () => {
    const { bob, home } = await worldWithBob();
    home.alice.twts = { [TODAY]: bob.mention };
    await home.send();
    home.alice.twts = {};
    bob.answer = () => ({ status: 400 });
    expect(outcomes(await home.send())).toEqual(["gone sent 400"]);
    expect((await home.send()).mentions).toEqual([]);
    expect(bob.posts).toHaveLength(2);
  });

  it("is sent if the response to it was lost, since the receiver may have it", async () => {
    const { bob, home } = await worldWithBob();
    bob.answer = (_, response) => void response.destroy();
    home.alice.twts = { [TODAY]: bob.mention };
    expect(outcomes(await home.send())).toEqual(["new retry"]);
    home.alice.twts = {};
    home.clock.time += DAY;
    bob.answer = () => ({ status: 200 });
    expect(outcomes(await home.send())).toEqual(["gone sent 200"]);
    expect((await home.send()).mentions).toEqual([]);
    expect(bob.posts).toHaveLength(2);
  });
});

describe("archives", () => {
  const MOVED = "2025-12-31T23:00:00Z";

  /** A twt that was sent when it was new and is now in an archive. */
  async function moved() {
    const { bob, home } = await worldWithBob();
    home.clock.time = Date.parse("2026-01-01T00:00:00Z");
    home.alice.twts = { [MOVED]: `hi ${bob.mention}` };
    expect(outcomes(await home.send())).toEqual(["new sent 202"]);
    home.clock.time = Date.parse("2027-01-02T00:00:00Z");
    home.alice.twts = { "2027-01-01T00:00:00Z": "a new year" };
    home.alice.archives = {
      "twtxt-2025.txt": { [MOVED]: `hi ${bob.mention}` },
      "twtxt-2024.txt": { "2024-05-05T00:00:00Z": `long ago ${bob.mention}` },
    };
    return { bob, home };
  }

  it("receive a twt without sending anything, and are read only until that twt", async () => {
    const { bob, home } = await moved();
    expect(await home.send()).toMatchObject({ mentions: [], troubles: [] });
    expect(bob.posts).toHaveLength(1);
    expect(home.alice.requests.slice(1)).toEqual(["/twtxt.txt", "/twtxt-2025.txt"]);
  });

  it("are read completely for a deleted twt, which is sent", async () => {
    const { bob, home } = await moved();
    delete home.alice.archives["twtxt-2025.txt"]?.[MOVED];
    expect(outcomes(await home.send())).toEqual(["gone sent 202"]);
    expect(bob.posts[1]).toEqual(bob.posts[0]);
  });

  it("contain an edit, which is sent", async () => {
    const { bob, home } = await moved();
    home.alice.archives["twtxt-2025.txt"] = { [MOVED]: `hello ${bob.mention}` };
    expect(outcomes(await home.send())).toEqual(["changed sent 202"]);
    expect((await home.send()).mentions).toEqual([]);
  });

  it.each(["404", "500", "a page", "a broken connection"])("that respond with %s cause no removals", async (kind) => {
    const { bob, home } = await moved();
    home.alice.twts["2027-01-01T10:00:00Z"] = `news ${bob.mention}`;
    home.alice.answers["/twtxt-2025.txt"] = (response) => badAnswer(kind, response);
    const report = await home.send();
    expect(outcomes(report)).toEqual(["new sent 202"]);
    expect(report.troubles).toEqual([expect.stringContaining("No removals were sent")]);
    expect(bob.posts.map(({ source }) => source)).toEqual([
      home.alice.twt(MOVED),
      home.alice.twt("2027-01-01T10:00:00Z"),
    ]);

    home.alice.answers = {};
    expect((await home.send()).mentions).toEqual([]);
  });

  it("that cannot be read do not delay mentions in the feed itself", async () => {
    const { bob, home } = await moved();
    home.alice.twts["2027-01-01T10:00:00Z"] = `news ${bob.mention}`;
    await home.send();
    home.alice.twts["2027-01-01T10:00:00Z"] = "news";
    home.alice.answers["/twtxt-2025.txt"] = (response) => badAnswer("404", response);
    expect(outcomes(await home.send())).toEqual(["gone sent 202"]);
    expect(bob.posts[2]).toEqual(bob.posts[1]);
  });

  it("that form a loop are read once", async () => {
    const { home } = await moved();
    delete home.alice.archives["twtxt-2025.txt"]?.[MOVED];
    const text = "# prev = abcdefg twtxt-2025.txt\n\n2026-05-05T00:00:00Z\tround\n";
    home.alice.answers["/twtxt-2025.txt"] = (response) => void response.end(text);
    const report = await home.send();
    expect(report).toMatchObject({ mentions: [], troubles: [expect.stringContaining("form a loop")] });
    expect(home.alice.requests.slice(1)).toEqual(["/twtxt.txt", "/twtxt-2025.txt"]);
  });
});

describe("the first run", () => {
  it("skips mentions older than a week, with their later edits, and sends newer ones", async () => {
    const { bob, home } = await worldWithBob();
    home.alice.twts = { [DAYS_8]: `old ${bob.mention}`, [DAYS_6]: `young ${bob.mention}` };
    const report = await home.send();
    expect(outcomes(report)).toEqual(["new sent 202"]);
    expect(report.leftAlone).toBe(1);
    expect(bob.posts.map(({ source }) => source)).toEqual([home.alice.twt(DAYS_6)]);

    home.alice.twts[DAYS_8] = `edited ${bob.mention}`;
    expect(await home.send()).toMatchObject({ mentions: [], leftAlone: null });
    delete home.alice.twts[DAYS_8];
    expect((await home.send()).mentions).toEqual([]);
    expect(bob.posts).toHaveLength(1);
  });

  it("skips mentions that are a week older than the newest twt if the clock is in 1970", async () => {
    const { bob, home } = await worldWithBob();
    home.clock.time = 0;
    home.alice.twts = { [DAYS_8]: `old ${bob.mention}`, [TODAY]: `young ${bob.mention}` };
    expect(await home.send()).toMatchObject({ leftAlone: 1 });
    expect(bob.posts.map(({ source }) => source)).toEqual([home.alice.twt(TODAY)]);
  });

  it("is the first one that finds a twt: old posts imported into an empty site are not sent", async () => {
    const { bob, home } = await worldWithBob();
    await home.send();
    home.alice.twts = { [DAYS_8]: `old ${bob.mention}` };
    expect(await home.send()).toMatchObject({ mentions: [], leftAlone: 1 });
    expect(bob.posts).toEqual([]);
  });

  it("counts even if it was interrupted: mentions that were new then are sent at any later time", async () => {
    const { bob, home } = await worldWithBob();
    home.alice.twts = { [DAYS_8]: `old ${bob.mention}`, [DAYS_6]: `young ${bob.mention}` };
    const cut = await home.send({ isOver: () => true });
    expect(outcomes(cut)).toEqual(["new waiting"]);
    expect(bob.requests).toEqual([]);
    home.clock.time += 30 * DAY;
    expect(outcomes(await home.send())).toEqual(["new sent 202"]);
    expect(bob.posts.map(({ source }) => source)).toEqual([home.alice.twt(DAYS_6)]);
  });

  it("with a backfill of N also sends the newest N, archives included, and the next backfill continues from there", async () => {
    const { bob, home } = await worldWithBob();
    const old = "2024-01-01T00:00:00Z";
    const older = "2023-01-01T00:00:00Z";
    home.alice.twts = { "2025-03-01T00:00:00Z": "no mention", [DAYS_8]: `old ${bob.mention}` };
    home.alice.archives = { "a.txt": { [older]: bob.mention, [old]: bob.mention } };
    const takeSources = () =>
      bob.posts
        .splice(0)
        .map(({ source }) => source)
        .sort();

    expect(await home.send()).toMatchObject({ mentions: [], leftAlone: 1 });
    expect((await home.send({ backfill: 2, isDryRun: true })).mentions).toHaveLength(2);
    expect(takeSources()).toEqual([]);
    await home.send({ backfill: 2 });
    expect(takeSources()).toEqual([home.alice.twt(old), home.alice.twt(DAYS_8)]);
    await home.send();
    expect(takeSources()).toEqual([]);

    await home.send({ backfill: 5, isOver: () => true });
    expect(takeSources()).toEqual([]);
    await home.send();
    expect(takeSources()).toEqual([home.alice.twt(older)]);
  });
});
