import { readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { twtHash, twtHashes } from "../../../plugin/feed/hash.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import { faultyStore } from "../../helpers/faulty-store.js";
import { PATIENT_MS } from "../../helpers/longest.js";
import { loopbackServer } from "../../helpers/loopback.js";
import { FEED, feedServer, PAGE, type Receiver, type ReceiverOptions, receiver, TWT } from "../../helpers/receiver.js";

const AT = "2026-11-19T18:40:02Z";
const HELLO = `@<alice ${FEED}> hello`;

/** Alice's site, and Bob's feed with a mention of hers, which it sends. */
async function aliceAndBob(options: ReceiverOptions = {}, text = HELLO) {
  const bob = await feedServer({ [AT]: text });
  const alice = receiver({ neighbours: [bob], ...options });
  return { alice, bob, send: () => alice.mentioned({ source: bob.twt(AT), target: FEED }) };
}

describe("receiving a mention", () => {
  it("200: a twt that mentions the feed is stored", async () => {
    const { alice, bob, send } = await aliceAndBob();
    expect(await send()).toMatchObject({ status: 200 });
    expect(await alice.mentions()).toEqual([
      {
        source: bob.twt(AT),
        target: FEED,
        under: null,
        type: "mention",
        author: { name: "bob", url: bob.feedUrl, photo: null },
        text: HELLO,
        html: expect.stringMatching(/^<p>.*<\/p>$/),
        hash: twtHash(bob.feedUrl, { timestamp: AT, text: HELLO }),
        hashV1: twtHashes(bob.feedUrl, { timestamp: AT, text: HELLO }).v1,
        replyTo: null,
        published: AT,
        received: "2026-11-20T09:00:00.000Z",
      },
    ]);
    expect(alice.purged).toEqual(["twtxt-mentions"]);
    expect(alice.log).toEqual([`New mention of ${FEED} in ${bob.twt(AT)}`]);
  });

  it("200: a page that links to a page is stored with its author", async () => {
    const bob = await loopbackServer((_, response) => {
      response.writeHead(200, { "content-type": "text/html" }).end(
        `<div class="h-entry"><a class="p-author h-card" href="/">Bob</a>
         <a class="u-in-reply-to" href="${PAGE}">re</a><p class="e-content">Quite so.</p></div>`,
      );
    });
    const alice = receiver({ neighbours: [bob] });
    expect(await alice.mentioned({ source: `${bob.url}/re`, target: PAGE })).toMatchObject({ status: 200 });
    expect(await alice.mentions(PAGE)).toMatchObject([
      { source: `${bob.url}/re`, target: PAGE, type: "reply", author: { name: "Bob", url: `${bob.url}/` } },
    ]);
  });

  it("200: repeated requests change nothing, in sequence or concurrently", async () => {
    const { alice, send } = await aliceAndBob();
    const answers = await Promise.all(Array.from({ length: 6 }, () => send()));
    answers.push(await send());
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200, 200]);
    expect(await alice.mentions()).toHaveLength(1);
  });

  it("200: a mention of a twt of the site is also listed under its post", async () => {
    const bob = await feedServer({ [AT]: HELLO, "2026-11-19T18:40:03Z": `(#${TWT.hashes[1]}) ${HELLO}` });
    const alice = receiver({ neighbours: [bob] });
    await alice.mentioned({ source: bob.twt(AT), target: `${FEED}#:~:text=${TWT.timestamp}` });
    await alice.mentioned({ source: bob.twt("2026-11-19T18:40:03Z"), target: FEED });
    expect(await alice.mentions(PAGE)).toMatchObject([
      { target: FEED, under: PAGE },
      { target: FEED, under: PAGE },
    ]);
  });

  it("200: an alias and http count as the feed's own URL", async () => {
    const bob = await feedServer({ [AT]: "@<alice http://OLD.example/alice.txt> hello" });
    const alice = receiver({ neighbours: [bob] });
    expect(await alice.mentioned({ source: bob.twt(AT), target: "https://old.example/alice.txt" })).toMatchObject({
      status: 200,
    });
    expect(await alice.mentions()).toMatchObject([{ target: FEED }]);
  });

  it("200 and held: a host's eleventh mention in a day, and with moderation all except from allowed hosts", async () => {
    const times = Array.from({ length: 11 }, (_, n) => `2026-11-19T18:40:${String(n + 10)}Z`);
    const bob = await feedServer(Object.fromEntries(times.map((time) => [time, HELLO])));
    const alice = receiver({ neighbours: [bob] });
    for (const time of times) {
      expect(await alice.mentioned({ source: bob.twt(time), target: FEED })).toMatchObject({ status: 200 });
    }
    expect(await alice.mentions()).toHaveLength(10);

    const careful = receiver({ neighbours: [bob], mentions: { moderate: true } });
    expect(await careful.mentioned({ source: bob.twt(AT.replace("02Z", "10Z")), target: FEED })).toMatchObject({
      status: 200,
    });
    expect(await careful.mentions()).toEqual([]);
    const hint = ". It waits for your approval: npx eleventy-twtxt mentions --state held";
    expect(alice.log.map((line) => line.endsWith(hint))).toEqual([...Array(10).fill(false), true]);
    bob.twts = { ...bob.twts, [times[0] as string]: `${HELLO}, once more` };
    for (const { mentioned } of [alice, careful])
      await mentioned({ source: bob.twt(times[0] as string), target: FEED });
    const changed = `Changed mention of ${FEED} in ${bob.twt(times[0] as string)}`;
    expect(alice.log.at(-1)).toBe(changed);
    expect(careful.log).toEqual([`${changed.replace("Changed", "New")}${hint}`, `${changed}${hint}`]);

    const trusting = receiver({ neighbours: [bob], mentions: { moderate: true, allow: [bob.host] } });
    await trusting.mentioned({ source: bob.twt(AT.replace("02Z", "10Z")), target: FEED });
    expect(await trusting.mentions()).toHaveLength(1);
  });
});

describe("a browser that posts the form", () => {
  const post = async (alice: Receiver, form: { source: string; target: string }) => {
    const request = new Request("https://alice.example/webmention", {
      method: "POST",
      headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8", origin: "https://alice.example" },
      body: new URLSearchParams(form),
    });
    const response = await alice.answer(request);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("content-security-policy")).toMatch(/^default-src 'none'/);
    return { status: response.status, page: await response.text() };
  };

  it("gets a page that confirms the listing", async () => {
    const { alice, bob } = await aliceAndBob();
    const { status, page } = await post(alice, { source: bob.twt(AT), target: FEED });
    expect([status, page.includes("is listed now")]).toEqual([200, true]);
    expect(page).toContain(`<a href="${FEED}">← ${FEED}</a>`);
    expect(await alice.mentions()).toHaveLength(1);
  });

  it("gets a page that reports that the source did not respond", async () => {
    const down = await loopbackServer((_, response) => response.writeHead(503).end());
    const alice = receiver({ neighbours: [down] });
    const { status, page } = await post(alice, { source: `${down.url}/page`, target: PAGE });
    expect([status, page.includes("did not answer")]).toEqual([202, true]);
  });

  it("gets the form again, with escaped values and instructions", async () => {
    const bob = await loopbackServer((_, response) => response.setHeader("content-type", "text/html").end("<p>Hello"));
    const alice = receiver({ neighbours: [bob] });
    const source = `${bob.url}/"><script>alert(1)</script>`;
    const { status, page } = await post(alice, { source, target: PAGE });
    expect(status).toBe(400);
    expect(page).toContain("Add the link to your page");
    expect(page).toContain("&quot;&gt;&lt;script&gt;");
    expect(page).not.toContain("<script>");
  });
});

describe("the recipe for Bridgy", () => {
  it("shows all replies of a day with their authors, since Bridgy's host is allowed", async () => {
    const bridgy = await loopbackServer(({ url }, response) => {
      response.setHeader("content-type", "text/html");
      response.end(`<article class="h-entry"><a class="u-in-reply-to" href="${PAGE}"></a>
        <a class="p-author h-card" href="https://social.example/@carol">Carol</a><p class="e-content">Reply ${url}</p></article>`);
    });
    const [, option = ""] =
      /<!-- bridgy -->\s+```js\s+mentions: (\{.*\}),\n/.exec(readFileSync("docs/mentions.md", "utf8")) ?? [];
    // In this test, the recipe's host is at another address.
    const mentions = JSON.parse(option.replace("allow", '"allow"').replace("brid.gy", bridgy.host));
    const alice = receiver({ neighbours: [bridgy], mentions });
    for (let n = 1; n <= 12; n += 1) {
      const source = `${bridgy.url}/comment/mastodon/${n}`;
      expect(await alice.mentioned({ source, target: PAGE })).toMatchObject({ status: 200 });
    }
    const shown = await alice.mentions(PAGE);
    expect(shown).toHaveLength(12);
    expect(shown[0]).toMatchObject({ type: "reply", author: { name: "Carol", url: "https://social.example/@carol" } });
  });
});

describe("a mention that is sent again", () => {
  it("200: changes with its twt", async () => {
    const { alice, bob, send } = await aliceAndBob();
    await send();
    bob.twts = { [AT]: `${HELLO} again` };
    expect(await send()).toMatchObject({ status: 200 });
    expect(await alice.mentions()).toMatchObject([{ text: `${HELLO} again` }]);
  });

  it.each(["before", "after"])(
    "200: is neither stored nor purged if nothing has changed, %s compaction",
    async (when) => {
      const { alice, send } = await aliceAndBob({}, `(#${TWT.hashes[1]}) ${HELLO}`);
      await send();
      if (when === "after") await alice.services.runScheduled();
      const keys = await alice.store.keys("mentions/events/2");
      expect(keys).toHaveLength(when === "before" ? 1 : 0);

      alice.clock.time += 3600_000;
      for (let n = 0; n < 3; n += 1) {
        expect(await send()).toMatchObject({ status: 200, text: "Mention verified and stored.\n" });
      }
      expect(await alice.store.keys("mentions/events/2")).toEqual(keys);
      expect(alice.purged).toHaveLength(1);
      expect(alice.log.filter((line) => line.startsWith("New mention"))).toHaveLength(1);
      expect(await alice.mentions(PAGE)).toMatchObject([{ received: "2026-11-20T09:00:00.000Z" }]);
    },
  );

  it("200: is stored again if it had been removed", async () => {
    const { alice, bob, send } = await aliceAndBob();
    await send();
    bob.twts = { [AT]: "hello" };
    await send();
    bob.twts = { [AT]: HELLO };
    expect(await send()).toMatchObject({ status: 200 });
    expect(await alice.mentions()).toMatchObject([{ text: HELLO }]);
  });

  it.each([
    ["the twt mentions another feed", (bob: { twts: unknown }) => void Object.assign(bob, { twts: { [AT]: "hello" } })],
    ["the twt is gone", (bob: { twts: unknown }) => void Object.assign(bob, { twts: { "2026-01-01T00:00:00Z": "x" } })],
    ["the feed responds with 404", (bob: { status: number }) => void Object.assign(bob, { status: 404 })],
    ["the feed responds with 410", (bob: { status: number }) => void Object.assign(bob, { status: 410 })],
  ])("200: is removed if %s", async (_, change) => {
    const { alice, bob, send } = await aliceAndBob();
    await send();
    change(bob as never);
    expect(await send()).toMatchObject({ status: 200, text: "Mention removed.\n" });
    expect(alice.log.at(-1)).toBe(`Removed a mention that its source no longer has: ${FEED} in ${bob.twt(AT)}`);
    expect(await alice.mentions()).toEqual([]);
    expect((await send()).status).toBe(400);
  });

  it("400 source-refused: stays if the feed responds with 403", async () => {
    const { alice, bob, send } = await aliceAndBob();
    await send();
    bob.status = 403;
    expect(await send()).toMatchObject({ status: 400, code: "source-refused" });
    expect(await alice.mentions()).toHaveLength(1);
  });

  it("202: stays if the source is unavailable", async () => {
    const { alice, bob, send } = await aliceAndBob();
    await send();
    bob.status = 503;
    expect(await send()).toMatchObject({ status: 202 });
    expect(await alice.mentions()).toHaveLength(1);
  });
});

describe("a mention whose source is unavailable", () => {
  it("202: is pending, and shown once the source responds", async () => {
    const { alice, bob, send } = await aliceAndBob();
    bob.status = 500;
    expect(await send()).toMatchObject({ status: 202 });
    expect(await alice.mentions()).toEqual([]);
    bob.status = 200;
    alice.clock.time += 2 * 3600_000;
    await alice.services.runScheduled();
    expect(await alice.mentions()).toMatchObject([{ source: bob.twt(AT) }]);
    expect(await alice.store.keys("mentions/pending/")).toEqual([]);
  });

  it("202: is dropped if the source later disproves it", async () => {
    const { alice, bob, send } = await aliceAndBob({}, "hello");
    bob.status = 500;
    await send();
    bob.status = 200;
    alice.clock.time += 2 * 3600_000;
    await alice.services.runScheduled();
    expect(await alice.mentions()).toEqual([]);
    expect(await alice.store.keys("mentions/pending/")).toEqual([]);
  });

  it.each([
    ["200", HELLO, 200],
    ["400", "hello", 400],
  ])("202, then %s: is no longer pending after another request was verified or refused", async (_, text, status) => {
    const { alice, bob, send } = await aliceAndBob({}, text);
    bob.status = 500;
    await send();
    expect(await alice.store.keys("mentions/pending/")).toHaveLength(1);
    bob.status = 200;
    expect(await send()).toMatchObject({ status });
    expect(await alice.store.keys("mentions/pending/")).toEqual([]);
  });

  it("202: is dropped and logged after a day of attempts", async () => {
    const { alice, bob, send } = await aliceAndBob();
    bob.status = 500;
    await send();
    for (let hour = 0; hour <= 25; hour += 1) {
      alice.clock.time += 3600_000;
      await alice.services.runScheduled();
    }
    expect(await alice.store.keys("mentions/pending/")).toEqual([]);
    expect(alice.log.filter((line) => line.includes("could not be verified in time"))).toHaveLength(1);
  });

  it("202: a host that timed out is not requested again for an hour", async () => {
    const silent = await loopbackServer(() => {});
    const alice = receiver({ neighbours: [silent] });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const timedOut = async (path: string) => {
      const answer = alice.mentioned({ source: silent.url + path, target: FEED });
      await expect.poll(() => silent.requests.at(-1)).toBe(path);
      await vi.advanceTimersByTimeAsync(PATIENT_MS);
      return (await answer).status;
    };
    expect(await timedOut("/1")).toBe(202);
    expect((await alice.mentioned({ source: `${silent.url}/2`, target: FEED })).status).toBe(202);
    expect(silent.requests).toEqual(["/1"]);
    alice.clock.time += 3600_000;
    expect(await timedOut("/3")).toBe(202);
    expect(silent.requests).toEqual(["/1", "/3"]);
  });

  it("202, then 429 too-many-pending", async () => {
    const bob = await feedServer({});
    bob.status = 500;
    const alice = receiver({ neighbours: [bob], mentions: { limits: { pendingPerHost: 2 } } });
    const answers = [];
    for (const n of [1, 2, 3]) answers.push(await alice.mentioned({ source: `${bob.url}/${n}`, target: FEED }));
    expect(answers).toMatchObject([{ status: 202 }, { status: 202 }, { status: 429, code: "too-many-pending" }]);
  });
});

describe("a mention that is refused", () => {
  it.each([
    ["no-such-twt", "2026-11-19T18:40:03Z", FEED],
    ["no-such-mention", "2026-11-19T18:40:05Z", FEED],
    ["not-our-target", AT, "https://carol.example/twtxt.txt"],
  ])("400 %s", async (code, timestamp, target) => {
    const bob = await feedServer({ [AT]: HELLO, "2026-11-19T18:40:05Z": "hello @alice" });
    const alice = receiver({ neighbours: [bob] });
    expect(await alice.mentioned({ source: bob.twt(timestamp), target })).toMatchObject({ status: 400, code });
    expect(await alice.store.keys("mentions/events/")).toEqual([]);
  });

  it("400 address-refused: a source on a private network is not requested", async () => {
    const bob = await feedServer({ [AT]: HELLO });
    const alice = receiver();
    expect(await alice.mentioned({ source: bob.twt(AT), target: FEED })).toMatchObject({
      status: 400,
      code: "address-refused",
    });
    expect(bob.requests).toEqual([]);
  });

  it("400 blocked: without a request to the source", async () => {
    const { bob, send } = await aliceAndBob({ mentions: { block: ["127.0.0.1"] } });
    expect(await send()).toMatchObject({ status: 400, code: "blocked" });
    expect(bob.requests).toEqual([]);
  });

  it("200: the source is where a redirect leads", async () => {
    const bob = await loopbackServer((request, response) => {
      response.writeHead(request.url === "/self" ? 200 : 302, { location: "/self", "content-type": "text/html" });
      response.end(`<a href="${PAGE}">x</a>`);
    });
    const alice = receiver({ neighbours: [bob] });
    expect(await alice.mentioned({ source: `${bob.url}/r`, target: PAGE })).toMatchObject({ status: 200 });
    expect(await alice.mentions()).toMatchObject([{ source: `${bob.url}/self` }]);
  });

  it.each([
    [
      "nested microformats",
      `<div class=h-entry><a href="${PAGE}">x</a>${"<div class='u-author h-card p-name e-content h-entry'>x".repeat(100)}`,
    ],
    [
      "a long base",
      `<base href="http://h/${"a".repeat(500_000)}">${"<a href=x>".repeat(50_000)}<a href="${PAGE}">x</a>`,
    ],
  ])("200 or 400 within the time limit: %s", async (_, page) => {
    const bob = await loopbackServer((__, response) => {
      response.writeHead(200, { "content-type": "text/html" }).end(page);
    });
    const alice = receiver({ neighbours: [bob] });
    expect([200, 400]).toContain((await alice.mentioned({ source: `${bob.url}/p`, target: PAGE })).status);
  });

  it("200 within the time limit: a line of a megabyte of backticks", async () => {
    const bob = await feedServer({ [AT]: `${HELLO} ${"` ".repeat(500_000)}` });
    const alice = receiver({ neighbours: [bob] });
    expect(await alice.mentioned({ source: bob.twt(AT), target: FEED })).toMatchObject({ status: 200 });
  });

  it("400 blocked: after a redirect", async () => {
    const bob = await feedServer({ [AT]: HELLO });
    const short = await loopbackServer((_, response) => response.writeHead(302, { location: bob.feedUrl }).end());
    const alice = receiver({ neighbours: [bob, short], mentions: { block: [bob.host] } });
    const source = `${short.url}/b#:~:text=${AT}`;
    expect(await alice.mentioned({ source, target: FEED })).toMatchObject({ status: 400, code: "blocked" });
    expect(await alice.mentions()).toEqual([]);
  });
});

describe("the endpoint", () => {
  const ask = (method: string) => receiver().answer(new Request("https://alice.example/webmention", { method }));

  it("explains itself to GET and HEAD, with a form to send a mention by hand", async () => {
    const page = await ask("GET");
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(await page.text()).toMatch(
      /<form class="twtxt-form" method="post">[\s\S]*name="source"[\s\S]*name="target"/,
    );
    const head = await ask("HEAD");
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });

  it("OPTIONS 204 and other methods 405, both with Allow", async () => {
    const options = await ask("OPTIONS");
    expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS, POST"]);
    for (const method of ["PUT", "DELETE", "PATCH"]) {
      const answer = await ask(method);
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS, POST"]);
      expect(await answer.json()).toMatchObject({ code: "method-not-allowed" });
    }
  });

  it("415 and 413 as problem+json", async () => {
    const post = (headers: Record<string, string>, body: string) =>
      receiver().answer(new Request("https://alice.example/webmention", { method: "POST", headers, body }));
    expect((await post({ "content-type": "application/json" }, "{}")).status).toBe(415);
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect((await post(form, `source=${"x".repeat(9000)}`)).status).toBe(413);
  });
});

describe("a store that fails", () => {
  it.each(["before", "after"] as const)(
    "503 with Retry-After for a failure %s the write; the sender's retry is stored once",
    async (when) => {
      const store = faultyStore(memoryStore());
      const { alice, send } = await aliceAndBob({ store });
      store.fail({ when, operation: "put", key: "mentions/events/" });
      const answer = await send();
      expect(answer).toMatchObject({ status: 503, code: "store-failed" });
      expect(answer.text).not.toContain("events");
      expect(alice.log).toHaveLength(1);

      store.repair();
      expect(await send()).toMatchObject({ status: 200 });
      expect(await alice.mentions()).toHaveLength(1);
    },
  );

  it.each([
    ["202, since limits need not be exact", "get", 202],
    ["503", "keys", 503],
  ] as const)("%s: %s fails", async (_, operation, status) => {
    const bob = await feedServer({});
    const store = faultyStore(memoryStore());
    const alice = receiver({ neighbours: [bob], store });
    // The list of blocked sources, which must be exact, is known for a minute.
    await alice.mentioned({ source: bob.twt(AT), target: FEED });
    bob.status = 500;
    store.fail({ when: "before", operation });
    expect(await alice.mentioned({ source: bob.twt(AT), target: FEED })).toMatchObject({ status });
    store.repair();
    expect(await alice.mentions()).toEqual([]);
  });
});

describe("removing a mention", () => {
  it("503 if the removal cannot be stored, and the mention stays until the sender tries again", async () => {
    const store = faultyStore(memoryStore());
    const { alice, bob, send } = await aliceAndBob({ store });
    await send();
    bob.twts = { "2026-11-19T18:40:03Z": "Another one." };
    store.fail({ when: "before", operation: "put", key: "mentions/events/" });
    expect(await send()).toMatchObject({ status: 503, code: "store-failed" });
    store.repair();
    expect(await alice.mentions()).toHaveLength(1);

    expect(await send()).toMatchObject({ status: 200 });
    expect(await alice.mentions()).toEqual([]);
  });

  it.each([
    [403, 400, 1],
    [404, 200, 0],
  ])("asks where a former redirect led: with %i from there, the answer is %i", async (status, answer, left) => {
    let isGone = false;
    const bob = await loopbackServer(({ url }, response) => {
      if (isGone) response.writeHead(url === "/short" ? 404 : status).end();
      else if (url === "/short") response.writeHead(302, { location: "/twtxt.txt" }).end();
      else response.end(`# nick = bob\n\n${AT}\t${HELLO}\n`);
    });
    const alice = receiver({ neighbours: [bob] });
    const form = { source: `${bob.url}/short#:~:text=${AT}`, target: FEED };
    expect(await alice.mentioned(form)).toMatchObject({ status: 200 });
    isGone = true;
    expect(await alice.mentioned(form)).toMatchObject({ status: answer });
    expect(await alice.mentions()).toHaveLength(left);
  });
});
