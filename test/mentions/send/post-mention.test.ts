import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { PATIENT_MS } from "../../helpers/longest.js";
import { strayed } from "../../helpers/loopback.js";
import { DAY, MINUTE, outcomes, PAGE, TODAY, worldWithBob } from "./outgoing.js";

afterEach(() => expect(strayed).toEqual([]));

describe("a response", () => {
  it.each([200, 201, 202, 204, 299])("of %i is a success", async (status) => {
    const { bob, home } = await worldWithBob();
    bob.answer = () => ({ status });
    home.alice.twts = { [TODAY]: bob.mention };
    expect(outcomes(await home.send())).toEqual([`new sent ${status}`]);
    expect((await home.send()).mentions).toEqual([]);
    expect(bob.posts).toHaveLength(1);
  });

  it.each([301, 302, 303, 304, 307])("of %i that is not followed is final, after one POST", async (status) => {
    const { bob, home } = await worldWithBob();
    bob.answer = () => ({ status, headers: status === 307 ? {} : { location: "/webmention?other" } });
    home.alice.twts = { [TODAY]: bob.mention };
    expect(outcomes(await home.send())).toEqual([`new failed ${status}`]);
    expect((await home.send()).mentions).toEqual([]);
    expect(bob.posts).toHaveLength(1);
  });

  it.each([307, 308])("of %i is followed with method and body", async (status) => {
    const { bob, home } = await worldWithBob();
    bob.answer = ({ path }) => (path === "/moved" ? { status: 201 } : { status, headers: { location: "/moved" } });
    home.alice.twts = { [TODAY]: bob.mention };
    expect(outcomes(await home.send())).toEqual(["new sent 201"]);
    const [first, second] = bob.posts;
    expect(second).toEqual({ ...first, path: "/moved" });
  });

  it.each([
    ["feed field", 400],
    ["Link header", 404],
    ["HTML", 415],
  ] as const)("of 4xx is followed by one try of the other form, for an endpoint from a %s", async (method, status) => {
    const { bob, home } = await worldWithBob(method);
    bob.answer = () => ({ status, headers: { "content-type": "text/plain" }, body: "no\u001b[1m such\nthing" });
    home.alice.twts = { [TODAY]: bob.mention };
    expect((await home.send()).mentions).toMatchObject([
      { outcome: "failed", status, why: `it answers ${status}, "no [1m such thing"`, next: null },
    ]);
    const forms = [home.alice.twt(TODAY), PAGE];
    expect(bob.posts.map(({ source }) => source)).toEqual(method === "feed field" ? forms : forms.reverse());
    expect((await home.send()).mentions).toEqual([]);
    expect(bob.posts).toHaveLength(2);
  });

  it("to the other form of the source is remembered for the endpoint", async () => {
    const { bob, home } = await worldWithBob("Link header");
    bob.answer = ({ source }) => ({ status: source === PAGE ? 400 : 202 });
    home.alice.twts = { [TODAY]: bob.mention };
    expect(outcomes(await home.send())).toEqual(["new sent 202"]);
    expect(bob.posts).toHaveLength(2);

    const later = "2026-11-20T08:30:00Z";
    home.alice.twts[later] = bob.mention;
    expect(outcomes(await home.send())).toEqual(["new sent 202"]);
    expect(bob.posts.slice(2).map(({ source }) => source)).toEqual([home.alice.twt(later)]);
  });

  it.each([429, 503])("of %i is retried after its Retry-After, and not before", async (status) => {
    const { bob, home } = await worldWithBob();
    home.alice.twts = { [TODAY]: bob.mention };
    bob.answer = () => ({ status, headers: { "retry-after": "7200" } });
    expect((await home.send()).mentions).toMatchObject([{ outcome: "retry", next: "2026-11-20T11:00:00.000Z" }]);

    home.clock.time += 120 * MINUTE - 1;
    bob.answer = () => ({ status, headers: { "retry-after": "Fri, 20 Nov 2026 17:00:00 GMT" } });
    expect((await home.send()).mentions).toMatchObject([{ outcome: "waiting", next: "2026-11-20T11:00:00.000Z" }]);
    home.clock.time += 1;
    expect((await home.send()).mentions).toMatchObject([{ outcome: "retry", next: "2026-11-20T17:00:00.000Z" }]);

    home.clock.time = Date.parse("2026-11-20T17:00:00Z");
    bob.answer = () => ({ status: 200 });
    expect(outcomes(await home.send())).toEqual(["new sent 200"]);
    expect(bob.posts).toHaveLength(3);
  });

  it.each(["500", "a broken connection", "silence"])("of %s is retried, with 8 attempts in 3 days", async (kind) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { bob, home } = await worldWithBob();
    home.alice.twts = { [TODAY]: bob.mention };
    bob.answer = (_, response) => {
      if (kind === "500") return { status: 500 };
      if (kind === "a broken connection") response.destroy();
      else vi.advanceTimersByTime(PATIENT_MS);
      return undefined;
    };
    const pauses: number[] = [];
    for (let tries = 1; tries < 8; tries += 1) {
      const [mention] = (await home.send()).mentions;
      expect(mention).toMatchObject({ outcome: "retry" });
      const next = Date.parse(mention?.next ?? "");
      pauses.push(next - home.clock.time);
      home.clock.time = next;
    }
    expect((await home.send()).mentions).toMatchObject([{ outcome: "failed", next: null }]);
    expect(bob.posts).toHaveLength(8);
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
    expect(pauses[0]).toBe(10 * MINUTE);
    const all = pauses.reduce((sum, pause) => sum + pause, 0);
    expect(all).toBeGreaterThan(2 * DAY);
    expect(all).toBeLessThanOrEqual(3 * DAY);

    home.clock.time += 30 * DAY;
    expect((await home.send()).mentions).toEqual([]);
    expect(bob.posts).toHaveLength(8);
  });

  it("with an error during discovery is retried, and nothing is posted", async () => {
    const { bob, home } = await worldWithBob();
    home.alice.twts = { [TODAY]: bob.mention };
    bob.status = 503;
    bob.headers = { "retry-after": "3600" };
    expect((await home.send()).mentions).toMatchObject([{ outcome: "retry", next: "2026-11-20T10:00:00.000Z" }]);
    bob.status = 200;
    home.clock.time += 60 * MINUTE;
    expect(outcomes(await home.send())).toEqual(["new sent 202"]);
    expect(bob.posts).toHaveLength(1);
  });
});

describe("a mention in a reply to a twt that is known", () => {
  const HASH = "abcdefghijkl";
  const LATER = "2026-11-20T08:30:00Z";
  const THEIRS = "2026-11-18T08:00:00.5+01:00";

  async function replies(target: "accepted" | "refused", method: "feed field" | "Link header" = "feed field") {
    const { bob, home } = await worldWithBob(method);
    bob.answer = (post) => ({ status: target === "refused" && post.target.includes("#") ? 400 : 202 });
    const findTwt = async (url: string, hash: string) => (url === bob.feedUrl && hash === HASH ? THEIRS : null);
    home.alice.twts = { [TODAY]: `(#${HASH}) ${bob.mention} yes` };
    const send = () => home.send({ findTwt });
    return { bob, home, send, reference: `${bob.feedUrl}#:~:text=${THEIRS}` };
  }

  it("is posted with a reference to that twt as its target, to the endpoint in a feed", async () => {
    const { bob, send, reference } = await replies("accepted");
    expect(outcomes(await send())).toEqual(["new sent 202"]);
    expect(bob.posts.map(({ target }) => target)).toEqual([reference]);
  });

  it("is posted with the feed's URL after a 4xx to the reference, which is remembered", async () => {
    const { bob, home, send, reference } = await replies("refused");
    expect(outcomes(await send())).toEqual(["new sent 202"]);
    expect(bob.posts.map(({ target }) => target)).toEqual([reference, bob.feedUrl]);
    expect(new Set(bob.posts.map(({ source }) => source))).toEqual(new Set([home.alice.twt(TODAY)]));

    home.alice.twts = { ...home.alice.twts, [LATER]: `(#${HASH}) ${bob.mention} and no` };
    expect(outcomes(await send())).toEqual(["new sent 202"]);
    expect(bob.posts.slice(2).map(({ target }) => target)).toEqual([bob.feedUrl]);
  });

  it("is posted with the feed's URL if the endpoint is in a header, or the answered twt is not known", async () => {
    const inHeader = await replies("accepted", "Link header");
    await inHeader.send();
    const unknown = await replies("accepted");
    unknown.home.alice.twts = { [TODAY]: `(#zzzzzzz) ${unknown.bob.mention}` };
    await unknown.send();
    for (const { bob } of [inHeader, unknown]) expect(bob.posts.map(({ target }) => target)).toEqual([bob.feedUrl]);
  });
});
