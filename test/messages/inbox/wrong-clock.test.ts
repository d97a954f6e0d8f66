import { describe, expect, it } from "vitest";
import { signRequest } from "../../../plugin/http/sign-request.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import { identityOf } from "../../helpers/identity.js";
import { receiver } from "../../helpers/receiver.js";
import { ALICE, alicesInbox, DAY, idOf, sealed, steppedClock } from "./alices-inbox.js";

const DANA = identityOf(9, "dana");
const GUEST = `https://alice.example/inbox/${DANA.publicKey}`;
const AUTHOR = "https://alice.example/inbox/alice";
const RIGHT = Date.parse("2026-11-20T09:00:00Z");

/** Alice's site with its jobs, in a new process. Its author writes to Dana, whose messages are kept for 90 days. */
function startSite(store = memoryStore(), time = RIGHT) {
  const guests = { messages: 100, days: 90 };
  const inbox = { users: ["alice"], messages: 100, megabytes: 1, retentionDays: 90, subscribe: null, guests };
  const feedUrl = "http://127.0.0.1:9/twtxt.txt";
  const site = receiver({ store, feedUrl, key: ALICE.publicKey, inbox });
  site.clock.time = time;
  const write = async (number: number) => {
    const body = Uint8Array.from(sealed(number));
    const headers = signRequest({ method: "POST", url: GUEST, body }, ALICE, site.clock.time);
    expect((await site.answer(new Request(GUEST, { method: "POST", headers, body }))).status).toBe(202);
    expect((await site.answer(new Request(AUTHOR, { method: "POST", body }))).status).toBe(202);
  };
  const count = async () => {
    const keys = (await store.keys("inbox/")).filter((key) => key.includes("/messages/"));
    return {
      guest: keys.filter((key) => key.includes("/kex1")).length,
      author: keys.filter((key) => key.includes("/alice/")).length,
    };
  };
  return { ...site, store, write, count, run: () => site.services.runScheduled() };
}

/** Days with a scheduled run every other day. */
async function passDays(site: ReturnType<typeof startSite>, days: number): Promise<void> {
  for (let left = days; left > 0; left -= 2) {
    site.clock.time += Math.min(left, 2) * DAY;
    await site.run();
  }
}

describe("messages of 90 days", () => {
  it.each([
    ["before and while it was 200 days behind", 2],
    ["while it was 200 days behind", 0],
  ])("stay after the clock was set right if they were sent %s, and expire 90 days later", async (_, before) => {
    const site = startSite();
    if (before > 0) await site.run();
    for (let n = 0; n < before; n += 1) await site.write(n);
    site.clock.time -= 200 * DAY;
    await site.run();
    for (let n = before; n < 5; n += 1) await site.write(n);
    site.clock.time = RIGHT;
    await site.run();
    expect(await site.count()).toEqual({ guest: 5, author: 5 });
    await passDays(site, 89);
    expect(await site.count()).toEqual({ guest: 5, author: 5 });
    await passDays(site, 2);
    expect(await site.count()).toEqual({ guest: 0, author: 0 });
  });

  it("stay if the process was started with a clock 100 days ahead, and when it is right again", async () => {
    const first = startSite();
    await first.run();
    for (let n = 0; n < 5; n += 1) await first.write(n);
    const second = startSite(first.store, RIGHT + 100 * DAY);
    await second.run();
    second.clock.time += 3600_000;
    await second.run();
    expect(await second.count()).toEqual({ guest: 5, author: 5 });
    const third = startSite(first.store, RIGHT + DAY);
    await third.run();
    await passDays(third, 88);
    expect(await third.count()).toEqual({ guest: 5, author: 5 });
    await passDays(third, 4);
    expect(await third.count()).toEqual({ guest: 0, author: 0 });
  });

  it("stay if the first run of a new version finds them, and expire 90 days later", async () => {
    const site = startSite();
    await site.write(1);
    site.clock.time += 91 * DAY;
    await site.run();
    expect(await site.count()).toEqual({ guest: 1, author: 1 });
    await passDays(site, 91);
    expect(await site.count()).toEqual({ guest: 0, author: 0 });
  });
});

it("a signed request is not accepted again after the clock was ahead for a run", async () => {
  const site = startSite();
  await site.run();
  const body = Uint8Array.from(sealed(1));
  const headers = signRequest({ method: "POST", url: GUEST, body }, ALICE, RIGHT);
  const send = async () => (await site.answer(new Request(GUEST, { method: "POST", headers, body }))).status;
  expect(await send()).toBe(202);
  for (const time of [RIGHT + 100 * DAY, RIGHT + 60_000]) {
    site.clock.time = time;
    await site.run();
  }
  expect(await send()).toBe(401);
  site.clock.time += 26 * 3600_000;
  await site.run();
  expect(await site.store.keys("nonces/")).toEqual([]);
});

describe("what came after a message", () => {
  const readAfter = async (site: ReturnType<typeof alicesInbox>, cursor: string | null) => {
    const url = cursor === null ? AUTHOR : `${AUTHOR}?after=${encodeURIComponent(cursor)}`;
    const items: { id: string; created: string }[] = Object(await (await site.ask("GET", url)).json());
    const last = items.at(-1);
    return { ids: items.map(({ id }) => id), cursor: last ? `${last.created}-${last.id}` : cursor };
  };

  it.each([
    ["stays", false],
    ["is deleted", true],
  ])("is listed after the clock was set back by 100 days, if the message %s", async (_, isDeleted) => {
    const store = memoryStore();
    const ahead = alicesInbox({ store });
    ahead.clock.step(100 * DAY);
    await ahead.receive(sealed(1), sealed(2));
    const { ids, cursor } = await readAfter(ahead, null);
    if (isDeleted) for (const id of ids) await ahead.delete(id);

    ahead.clock.step(-100 * DAY);
    await ahead.receive(sealed(3));
    const next = await readAfter(ahead, cursor);
    expect(next.ids).toEqual([idOf(sealed(3))]);
    if (isDeleted) await ahead.delete(idOf(sealed(3)));

    const restarted = alicesInbox({ store });
    await restarted.receive(sealed(4));
    expect((await readAfter(restarted, next.cursor)).ids).toEqual([idOf(sealed(4))]);
  });

  it("is listed, whichever of two machines stored it, if one clock is five minutes ahead", async () => {
    const store = memoryStore();
    const clocks = [steppedClock(), steppedClock()] as const;
    clocks[1].step(5 * 60_000);
    const machines = clocks.map((clock) => alicesInbox({ store, clock }));
    const reader = alicesInbox({ store, clock: clocks[0] });
    let cursor: string | null = null;
    for (let n = 0; n < 12; n += 1) {
      for (const clock of clocks) clock.step(700);
      await machines[n % 2]?.receive(sealed(n));
      const next = await readAfter(reader, cursor);
      expect(next.ids).toEqual([idOf(sealed(n))]);
      cursor = next.cursor;
    }
  });
});
