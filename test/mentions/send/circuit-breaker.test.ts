import { afterEach, describe, expect, it } from "vitest";
import { loopbackServer, strayed } from "../../helpers/loopback.js";
import { DAY, MINUTE, type Neighbour, NOW, outcomes, TODAY, world, worldWithBob } from "./outgoing.js";

afterEach(() => expect(strayed).toEqual([]));

/** Four twts that mention Bob. */
async function fourTwts() {
  const { bob, home } = await worldWithBob();
  home.alice.twts = Object.fromEntries([0, 1, 2, 3].map((at) => [`2026-11-20T08:00:0${at}Z`, `hi ${bob.mention}`]));
  return { bob, home };
}

const lookUps = ({ requests: asked }: Neighbour) => asked.filter((path) => path === "/twtxt.txt").length;

describe("a host that requests a pause", () => {
  it.each([429, 503])(
    "with %i and Retry-After gets no more requests in the run, and all its mentions wait as long",
    async (status) => {
      const { bob, home } = await fourTwts();
      bob.answer = () => ({ status, headers: { "retry-after": "7200" } });
      const report = await home.send();
      expect(outcomes(report)).toEqual([`new retry ${status}`, "new retry", "new retry", "new retry"]);
      expect(report.mentions.map(({ next }) => next)).toEqual(Array(4).fill("2026-11-20T11:00:00.000Z"));
      expect(bob.posts).toHaveLength(1);

      home.clock.time += 120 * MINUTE;
      bob.answer = () => ({ status: 202 });
      expect(outcomes(await home.send())).toEqual(Array(4).fill("new sent 202"));
      expect(bob.posts).toHaveLength(5);
    },
  );

  it("during discovery gets no more requests", async () => {
    const { bob, home } = await fourTwts();
    bob.status = 429;
    bob.headers = { "retry-after": "7200" };
    const report = await home.send();
    expect(report.mentions.map(({ next }) => next)).toEqual(Array(4).fill("2026-11-20T11:00:00.000Z"));
    expect(lookUps(bob)).toBe(1);
  });

  it("and accepts one mention in each run loses no mentions", async () => {
    const { bob, home } = await worldWithBob();
    const times = Array.from({ length: 20 }, (_, at) => `2026-11-20T08:00:${String(at).padStart(2, "0")}Z`);
    home.alice.twts = Object.fromEntries(times.map((time) => [time, bob.mention]));
    let isFirst = true;
    bob.answer = () => {
      const status = isFirst ? 202 : 429;
      isFirst = false;
      return { status, headers: { "retry-after": "60" } };
    };
    for (let run = 0; run < 40; run += 1) {
      await home.send();
      isFirst = true;
      home.clock.time += 60 * MINUTE;
    }
    const keys = await home.store.keys("sent/");
    expect(keys.filter((key) => key.endsWith("-s"))).toHaveLength(20);
    expect(keys.filter((key) => /retry|-f$/.test(key))).toEqual([]);
  });
});

describe("a host that does not respond", () => {
  it("gets one request in a run, and its other mentions keep their attempts", async () => {
    const { bob, home } = await fourTwts();
    bob.answer = (_, response) => void response.destroy();
    const report = await home.send();
    expect(outcomes(report)).toEqual(Array(4).fill("new retry"));
    expect(bob.posts).toHaveLength(1);

    const countSources = () => new Set(bob.posts.map(({ source }) => source)).size;
    for (let run = 0; run < 60; run += 1) {
      home.clock.time += 60 * MINUTE;
      await home.send();
    }
    expect(countSources()).toBe(4);
    expect(bob.posts.length).toBeLessThanOrEqual(4 * 8);
    bob.answer = () => ({ status: 202 });
    home.clock.time = NOW + 3 * DAY;
    const results = outcomes(await home.send());
    expect(results.length).toBeGreaterThan(0);
    expect(new Set(results)).toEqual(new Set(["new sent 202"]));
  });

  it("is abandoned after 3 days", async () => {
    const { bob, home } = await fourTwts();
    bob.answer = (_, response) => void response.destroy();
    for (let run = 0; run < 5; run += 1) {
      await home.send();
      home.clock.time += 3 * DAY;
    }
    expect((await home.send()).mentions).toEqual([]);
    expect((await home.store.keys("sent/")).filter((key) => key.endsWith("-f"))).toHaveLength(4);
  });
});

describe("an unreachable host", () => {
  it("is reported instead of a URL if another of its targets was requested", async () => {
    const dead = await loopbackServer((_, response) => void response.destroy());
    const home = await world([dead]);
    home.alice.twts = { [TODAY]: `@<bob ${dead.url}/bob.txt> and @<carol ${dead.url}/carol.txt>` };
    const { mentions } = await home.send();
    expect(dead.requests).toHaveLength(1);
    expect(mentions.map(({ target, why }) => [target, why])).toEqual([
      [`${dead.url}/bob.txt`, expect.stringContaining(`${dead.url}/bob.txt could not be reached: `)],
      [`${dead.url}/carol.txt`, expect.stringMatching(`^${dead.host} could not be reached: `)],
    ]);
  });
});

describe("a host that responds with 500", () => {
  it("gets a request for each mention, since others may succeed", async () => {
    const { bob, home } = await fourTwts();
    bob.answer = () => ({ status: bob.posts.length === 1 ? 500 : 202 });
    expect(outcomes(await home.send())).toEqual(["new retry 500", ...Array(3).fill("new sent 202")]);
  });
});
