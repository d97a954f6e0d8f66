import { afterEach, describe, expect, it } from "vitest";
import { signRequest } from "../../../plugin/http/sign-request.js";
import { notePostedCopy } from "../../../plugin/mentions/networks/network-records.js";
import { nextReading } from "../../../plugin/mentions/networks/read-threads.js";
import type { PublicMention } from "../../../plugin/site/mention-list.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import { fakeBluesky } from "../../helpers/fake-bluesky.js";
import { fakeMastodon } from "../../helpers/fake-mastodon.js";
import { SOME_HOSTILE_TEXTS } from "../../helpers/hostile-texts.js";
import { identityOf } from "../../helpers/identity.js";
import { strayed } from "../../helpers/loopback.js";
import { elementsOf, notAllowed } from "../../helpers/markup.js";
import { names } from "../../helpers/names.js";
import { PAGE, PAGES, type ReceiverOptions, receiver, TWT } from "../../helpers/receiver.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const ALICE = identityOf(1);

afterEach(() => expect(strayed).toEqual([]));

/** Stores a mention that another service received. */
async function importMention(site: ReturnType<typeof receiver>, change: { source: string; url: string }) {
  const mention = {
    ...{ target: PAGE, type: "reply", text: "lovely", published: null },
    author: { name: "bob", url: "https://bob.example/", photo: null },
    ...change,
  };
  const url = "https://alice.example/api/v1/mentions/import";
  const body = Buffer.from(JSON.stringify({ mentions: [mention] }));
  const headers = signRequest({ method: "POST", url, headers: {}, body }, ALICE, site.clock.time);
  const answer = await site.answer(new Request(url, { method: "POST", headers, body }));
  expect(answer.status).toBe(200);
}

/** The mentions of the post, also those that are not on the first page. */
async function listAll(answer: ReturnType<typeof receiver>["answer"]): Promise<PublicMention[]> {
  const found: PublicMention[] = [];
  for (let after: string | null = ""; after !== null; ) {
    const parameters = new URLSearchParams({ target: PAGE, limit: "100", ...(after !== "" && { after }) });
    const list = await answer(new Request(`https://alice.example/mentions.json?${parameters}`));
    const { mentions, next } = Object(await list.json());
    found.push(...mentions);
    after = next;
  }
  return found;
}

/** Alice's site, whose post has a copy on Mastodon, with an answer by bob. */
async function alice(options: ReceiverOptions = {}) {
  const server = await fakeMastodon();
  const copy = server.addStatus(server.addAccount("alice"), "<p>Quinces</p>");
  const bob = server.addAccount("bob@bob.example", { display_name: "Bob :verified:" });
  const answer = server.addStatus(
    bob,
    `<p><span class="h-card"><a href="${server.url}/@alice">@alice</a></span> lovely</p>`,
    {
      in_reply_to_id: copy.id,
    },
  );
  const pages = { ...PAGES, twts: [{ ...TWT, syndication: [copy.url] }] };
  const site = receiver({ pages, neighbours: [server], ...options });
  return { ...site, request: site.answer, server, copy, bob, answer, pages };
}

describe("a post with a copy on Mastodon", () => {
  it("shows the answers to the copy, nested, with their authors, and the likes and reposts", async () => {
    const { services, mentions, server, copy, bob, answer, log } = await alice();
    const carol = server.addAccount("carol", { display_name: "" });
    server.addStatus(carol, "<p>yes!</p>", { in_reply_to_id: answer.id, created_at: "2026-11-20T08:30:00.000Z" });
    server.favourites.set(copy.id, [bob, carol]);
    server.reblogs.set(copy.id, [bob]);
    await services.runScheduled();
    const found = await mentions(PAGE);
    expect(found.filter(({ type }) => type === "reply").reverse()).toMatchObject([
      {
        source: answer.url,
        target: PAGE,
        author: { name: "Bob", url: "https://bob.example/@bob", photo: "https://bob.example/avatars/bob.png" },
        text: "@alice lovely",
        html: `<p><a href="${server.url}/@alice" rel="nofollow ugc noopener" dir="auto">@alice</a> lovely</p>`,
        published: "2026-11-20T08:00:00Z",
        replyTo: PAGE,
      },
      { author: { name: "carol" }, text: "yes!", replyTo: answer.url },
    ]);
    expect(
      found
        .filter(({ type }) => type !== "reply")
        .map(({ type, source }) => [type, source])
        .sort(),
    ).toEqual([
      ["like", `${server.url}/@carol#like`],
      ["like", "https://bob.example/@bob#like"],
      ["repost", "https://bob.example/@bob#repost"],
    ]);
    expect(log.filter((line) => /answers/i.test(line))).toEqual([
      `Answers to ${PAGE} at ${copy.url}: 5 new or changed, 0 removed.`,
    ]);
  });

  it("follows edits, and removes what is gone in two readings an hour apart", async () => {
    const { services, mentions, server, copy, bob, answer, clock } = await alice();
    server.favourites.set(copy.id, [bob]);
    await services.runScheduled();
    answer.content = "<p>lovely indeed</p>";
    clock.time += HOUR;
    await services.readThreads();
    expect((await mentions(PAGE)).map(({ text }) => text)).toContain("lovely indeed");
    server.statuses.delete(answer.id);
    server.favourites.delete(copy.id);
    clock.time += HOUR;
    await services.runScheduled();
    expect(await mentions(PAGE)).toHaveLength(2);
    clock.time += HOUR;
    await services.runScheduled();
    expect(await mentions(PAGE)).toEqual([]);
  });

  it("never shows private answers and hidden profiles, nor names them; unlisted ones by the option", async () => {
    const world = { environment: {} as Record<string, string> };
    const { services, mentions, server, copy, bob, pages } = await alice(world);
    const answers = (visibility: string) =>
      server.addStatus(bob, `<p>${visibility}</p>`, { in_reply_to_id: copy.id, visibility });
    const [secret] = ["private", "direct", "unlisted", "local"].map(answers);
    const below = { in_reply_to_id: secret?.id ?? "" };
    server.addStatus(bob, "<p>public below a private one</p>", below);
    for (const change of [
      { noindex: true },
      { note: '<p><a href="https://x">#<span>nobot</span></a></p>' },
      { suspended: true },
    ]) {
      const hidden = server.addAccount(`hidden${Object.keys(change)}`, change);
      server.addStatus(hidden, "<p>hidden</p>", { in_reply_to_id: copy.id });
      server.favourites.set(copy.id, [...(server.favourites.get(copy.id) ?? []), hidden]);
    }
    // With a token, the server sends private answers, too.
    Object.assign(world.environment, { TWTXT_MASTODON_URL: server.url, TWTXT_MASTODON_TOKEN: "read" });
    await services.runScheduled();
    const found = await mentions(PAGE);
    expect(found.map(({ text }) => text).sort()).toEqual(["@alice lovely", "public below a private one"]);
    expect(JSON.stringify(found)).not.toContain(secret?.id);
    expect(new Set(server.tokens)).toEqual(new Set(["read"]));
    const open = receiver({ pages, neighbours: [server], mentions: { unlisted: true } });
    await open.services.runScheduled();
    expect((await open.mentions(PAGE)).map(({ text }) => text)).toContain("unlisted");
  });

  it("holds, blocks and allows accounts; the limit of a day is that of an account, not of its server", async () => {
    const { services, mentions, server, copy, pages } = await alice({
      mentions: { block: ["bob.example"], limits: { shownPerHost: 1 } },
    });
    const answer = (name: string) =>
      server.addStatus(server.addAccount(name), `<p>${name}</p>`, { in_reply_to_id: copy.id });
    const [carol, dave] = ["carol", "dave"].map(answer);
    server.addStatus(carol?.account ?? server.addAccount("x"), "<p>again</p>", {
      in_reply_to_id: copy.id,
      created_at: "2026-11-20T08:40:00.000Z",
    });
    await services.runScheduled();
    expect((await mentions(PAGE)).map(({ text }) => text).sort()).toEqual(["carol", "dave"]);

    const strict = receiver({
      pages,
      neighbours: [server],
      mentions: { moderate: true, allow: [dave?.account.url ?? ""] },
    });
    await strict.services.runScheduled();
    expect((await strict.mentions(PAGE)).map(({ text }) => text)).toEqual(["dave"]);
  });

  it("reads the thread of a copy that it has posted, whatever the form of its URL", async () => {
    const server = await fakeMastodon();
    const copy = server.addStatus(server.addAccount("alice"), "<p>Quinces</p>", { url: `${server.url}/alice/p/1.5` });
    server.addStatus(server.addAccount("bob"), "<p>lovely</p>", { in_reply_to_id: copy.id });
    const store = memoryStore();
    const posted = { network: "mastodon", url: copy.url, server: server.url, id: copy.id } as const;
    await notePostedCopy(store, "mastodon", [PAGE], posted);
    const pages = { ...PAGES, twts: [{ ...TWT, copy: { networks: ["mastodon" as const] } }] };
    const { services, mentions } = receiver({ pages, store, neighbours: [server] });
    await services.runScheduled();
    expect((await mentions(PAGE)).map(({ text }) => text)).toEqual(["lovely"]);
  });

  it("keeps a reply whose page does not link to the post, when someone sends it as a mention", async () => {
    const server = await fakeMastodon();
    const copy = server.addStatus(server.addAccount("alice"), "<p>Quinces</p>");
    server.addStatus(server.addAccount("bob"), "<p>lovely</p>", { in_reply_to_id: copy.id });
    const site = receiver({ pages: { ...PAGES, twts: [{ ...TWT, syndication: [copy.url] }] }, neighbours: [server] });
    await site.services.runScheduled();
    const [{ source = "" } = {}] = await site.mentions(PAGE);
    expect((await site.mentioned({ source, target: PAGE })).status).toBe(400);
    expect(await site.mentions(PAGE)).toHaveLength(1);
  });

  it("keeps an answer when someone else claims its URL, in the same thread or in that of another copy", async () => {
    const { server, copy, pages, answer } = await alice();
    const other = await fakeMastodon();
    const otherCopy = other.addStatus(other.addAccount("alice"), "<p>Quinces</p>");
    const twts = [{ ...TWT, syndication: [copy.url, otherCopy.url] }];
    const { services, mentions, clock } = receiver({ pages: { ...pages, twts }, neighbours: [server, other] });
    await services.runScheduled();
    const eve = server.addAccount("eve@eve.example");
    const created_at = "2026-11-20T08:30:00.000Z";
    server.addStatus(eve, "<p>forged</p>", { in_reply_to_id: copy.id, url: answer.url, created_at });
    other.addStatus(answer.account, "<p>forged, too</p>", {
      ...{ in_reply_to_id: otherCopy.id, uri: answer.uri, url: answer.url },
    });
    clock.time += HOUR;
    await services.runScheduled();
    const found = (await mentions(PAGE)).map(({ text, source }) => [text, new URL(source).host]).sort();
    expect(found).toEqual([
      ["@alice lovely", "bob.example"],
      ["forged", "eve.example"],
    ]);
  });

  it("shows an answer once that Bridgy sent before", async () => {
    const { services, mentions, answer, store, pages, server } = await alice();
    const before = receiver({ key: ALICE.publicKey, pages: { ...pages, twts: [TWT] }, store, neighbours: [server] });
    await importMention(before, { source: "https://brid.gy/comment/1", url: answer.url });
    await services.runScheduled();
    expect((await mentions(PAGE)).map(({ source }) => source)).toEqual(["https://brid.gy/comment/1"]);
  });

  it("nests what answers the copy of another post of the site below that post", async () => {
    const other = "https://alice.example/posts/hens/";
    const { services, mentions, server, pages, bob, answer } = await alice();
    const own = server.addStatus(server.addAccount("alice"), "<p>thanks</p>", { in_reply_to_id: answer.id });
    server.addStatus(bob, "<p>welcome</p>", { in_reply_to_id: own.id });
    pages.pages.push(other);
    pages.twts.push({ ...TWT, page: other, hashes: ["zzzzzzz"], syndication: [own.url] });
    await services.runScheduled();
    const found = await mentions();
    expect(found.map(({ text }) => text)).not.toContain("thanks");
    expect(found.find(({ text }) => text === "welcome")?.replyTo).toBe(other);
  });

  it("shows hostile texts, names and URLs as text alone", async () => {
    // Without a token, the server sends 60 replies.
    const environment: Record<string, string> = { TWTXT_MASTODON_TOKEN: "read" };
    const { services, request, server, copy } = await alice({ environment });
    environment.TWTXT_MASTODON_URL = server.url;
    for (const id of server.statuses.keys()) if (id !== copy.id) server.statuses.delete(id);
    for (const [n, text] of SOME_HOSTILE_TEXTS.entries()) {
      const eve = server.addAccount(`eve${n}`, {
        display_name: text,
        note: text,
        avatar: text,
        ...(n % 3 === 0 && { url: text }),
      });
      server.addStatus(eve, text, { in_reply_to_id: copy.id, spoiler_text: text, ...(n % 3 === 1 && { url: text }) });
      server.addStatus(eve, text, {
        in_reply_to_id: copy.id,
        [["account", "created_at", "visibility", "id"][n % 4] ?? ""]: text,
      });
    }
    server.favourites.set(copy.id, [server.addAccount("eve", { url: "javascript:alert(1)" })]);
    await services.runScheduled();
    const found = await listAll(request);
    expect(found.length).toBeGreaterThan(60);
    expectSafe(found);
  });
});

/** When a thread is read, from the posting of its copy on, by a run each `minutes`. */
function readingTimes(minutes: number, until: number): number[] {
  const times: number[] = [];
  for (let time = 0; time < until; time += minutes * MINUTE) {
    const read = times.at(-1);
    const next = read === undefined ? 0 : nextReading({ published: 0, read });
    if (next !== null && next <= time) times.push(time);
  }
  return times;
}

describe("the schedule of a thread", () => {
  it("is 15, 30 and 60 minutes, each hour for two days, each day for 30, each week for a year", () => {
    expect(readingTimes(15, 3 * HOUR).map((time) => time / MINUTE)).toEqual([0, 15, 30, 60, 120]);
    const perDay = (from: number, until: number) =>
      readingTimes(60, until).filter((time) => time >= from).length / ((until - from) / DAY);
    expect([perDay(DAY, 2 * DAY), perDay(3 * DAY, 30 * DAY), perDay(30 * DAY, 365 * DAY) * 7]).toEqual([
      24,
      expect.closeTo(1, 1),
      expect.closeTo(1, 1),
    ]);
    expect(readingTimes(24 * 60, 3 * 365 * DAY).at(-1)).toBeLessThan(372 * DAY);
    // docs/mentions.md, "costs of threads"
    expect(readingTimes(60, 30 * DAY)).toHaveLength(76);
    expect(readingTimes(60, 366 * DAY)).toHaveLength(76 + 48);
  });

  it("is kept by runs, also for a copy that an old post gets today", async () => {
    const { services, server, clock } = await alice();
    const count = async (time: number) => {
      clock.time += time;
      const before = server.requests.length;
      await services.runScheduled();
      return server.requests.length - before;
    };
    expect([await count(0), await count(30 * MINUTE), await count(30 * MINUTE - 1000)]).toEqual([2, 0, 2]);
    clock.time += 3 * DAY;
    expect([await count(0), await count(HOUR), await count(DAY)]).toEqual([2, 0, 2]);
    clock.time += 370 * DAY;
    expect([await count(0), await count(7 * DAY)]).toEqual([2, 0]);
  });

  it("is overtaken by the author, who has the threads of the last 30 days read now", async () => {
    const { request, server, clock, services } = await alice({ key: ALICE.publicKey });
    const verify = async () => {
      const url = "https://alice.example/api/v1/mentions/verify";
      const headers = signRequest({ method: "POST", url, headers: {} }, ALICE, clock.time);
      return (await request(new Request(url, { method: "POST", headers }))).json();
    };
    await services.runScheduled();
    expect(await verify()).toEqual({ kept: 0, dropped: 0, waiting: 0, threads: 1 });
    expect(server.requests).toHaveLength(4);
    clock.time += 31 * DAY;
    await services.runScheduled();
    expect(await verify()).toEqual({ kept: 0, dropped: 0, waiting: 0 });
  });
});

describe("a server of a network", () => {
  it("is not asked beyond its limit, and again when the limit counts anew", async () => {
    const { services, server, clock, pages } = await alice();
    const reset = (seconds: number) => new Date(clock.time + seconds * 1000).toISOString();
    server.headers = { "x-ratelimit-limit": "300", "x-ratelimit-remaining": "5", "x-ratelimit-reset": reset(250) };
    pages.twts.push({ ...TWT, page: "https://alice.example/", syndication: [`${server.url}/@alice/1`] });
    await services.runScheduled();
    expect(server.requests).toHaveLength(1);
    clock.time += 249_000;
    await services.runScheduled();
    expect(server.requests).toHaveLength(1);
    clock.time += 1000;
    server.headers = {};
    await services.runScheduled();
    expect(server.requests).toHaveLength(4);
  });

  it.each([
    ["429 with Retry-After", { status: 429, headers: { "retry-after": "600" } }, 600],
    [
      "429 with a reset in seconds since 1970",
      { status: 429, headers: { "ratelimit-reset": String(Date.parse("2026-11-20T10:10:00Z") / 1000) } },
      600,
    ],
    ["429 without a time", { status: 429 }, 3300],
    ["503", { status: 503 }, 3300],
    ["a page instead of JSON", { status: 200, body: "<html>" }, 3300],
    ["JSON of another shape", { status: 200, body: '{"id":7}' }, 3300],
    ["JSON nested beyond the stack", { status: 200, body: "[".repeat(100_000) }, 3300],
  ])("is left alone after %s, and nothing is removed", async (_, fault, seconds) => {
    const { services, server, mentions, clock } = await alice();
    await services.runScheduled();
    clock.time += HOUR;
    const now = clock.time;
    Object.assign(server, { fault });
    await services.runScheduled();
    const asked = server.requests.length;
    clock.time = now + (seconds - 1) * 1000;
    await services.runScheduled();
    expect(server.requests).toHaveLength(asked);
    clock.time = now + seconds * 1000;
    server.fault = null;
    await services.runScheduled();
    expect(server.requests.length).toBeGreaterThan(asked);
    expect(await mentions(PAGE)).toHaveLength(1);
  });

  it("is asked a few times while it is gone for a week, which is logged once", async () => {
    const { services, server, mentions, clock, log } = await alice();
    await services.runScheduled();
    server.fault = { status: 502 };
    const before = server.requests.length;
    for (let hours = 0; hours < 7 * 24; hours += 1) {
      clock.time += HOUR;
      await services.readThreads();
    }
    expect(server.requests.length - before).toBeLessThan(15);
    expect(log.filter((line) => line.includes("502"))).toHaveLength(1);
    server.fault = null;
    clock.time += DAY;
    await services.readThreads();
    expect(await mentions(PAGE)).toHaveLength(1);
  });

  it("gets the author's token only if it is hers; a revoked one is left out", async () => {
    const stranger = await fakeMastodon();
    const environment: Record<string, string> = { TWTXT_MASTODON_TOKEN: "revoked" };
    const { server, pages } = await alice({ environment });
    environment.TWTXT_MASTODON_URL = server.url;
    const copy = stranger.addStatus(stranger.addAccount("alice"), "<p>Quinces</p>");
    const site = receiver({
      environment,
      neighbours: [server, stranger],
      pages: { ...pages, twts: [{ ...TWT, syndication: [...(pages.twts[0]?.syndication ?? []), copy.url] }] },
    });
    await site.services.runScheduled();
    expect(stranger.tokens).toEqual([undefined, undefined]);
    expect(server.tokens).toEqual(["revoked", undefined, undefined]);
    expect(await site.mentions(PAGE)).toHaveLength(1);
  });

  it("whose ID belongs to the status of someone else is not read, which is logged once", async () => {
    const { services, server, copy, pages, mentions, clock, log } = await alice();
    pages.twts[0]?.syndication?.splice(0, 1, `${server.url}/@carol/${copy.id}`);
    await services.runScheduled();
    clock.time += HOUR;
    await services.runScheduled();
    expect(await mentions(PAGE)).toEqual([]);
    expect(log.filter((line) => line.includes("has the ID of another status"))).toHaveLength(1);
  });

  it("that no longer has the copy, or has made it private, keeps what was answered", async () => {
    const { services, server, copy, mentions, clock, log } = await alice();
    await services.runScheduled();
    copy.visibility = "private";
    for (const time of [HOUR, HOUR, HOUR]) {
      clock.time += time;
      await services.runScheduled();
    }
    expect(await mentions(PAGE)).toHaveLength(1);
    expect(server.requests).toHaveLength(5);
    expect(log.filter((line) => line.includes("is gone, or is not public"))).toHaveLength(1);
  });

  it("with 600 replies to a copy gives the newest 500", async () => {
    const environment: Record<string, string> = { TWTXT_MASTODON_TOKEN: "read" };
    const { services, server, copy, bob, clock, mentions, log } = await alice({
      environment,
      mentions: { allow: ["bob.example"] },
    });
    environment.TWTXT_MASTODON_URL = server.url;
    for (let n = 0; n < 600; n += 1) {
      const created_at = new Date(clock.time - n * 1000).toISOString();
      server.addStatus(bob, `<p>${n}</p>`, { in_reply_to_id: copy.id, created_at });
    }
    await services.runScheduled();
    expect((await mentions(PAGE)).slice(0, 3).map(({ text }) => text)).toEqual(["0", "1", "2"]);
    expect(log).toContain(`Answers to ${PAGE} at ${copy.url}: 500 new or changed, 0 removed.`);
  });

  it("whose answers take a parser hours is read at once", async () => {
    const { services, server, copy, bob, mentions } = await alice();
    server.favourites.set(copy.id, [bob]);
    server.headers = { link: "<".repeat(4_000) + "?".repeat(8_000) };
    const eve = server.addAccount("eve", { note: "<".repeat(1_000_000) });
    server.addStatus(eve, `<p>early</p>${"<b></b>".repeat(10_000)}late`, { in_reply_to_id: copy.id });
    await services.runScheduled();
    expect((await mentions(PAGE)).map(({ text }) => text).sort()).toEqual(["", "@alice lovely", "early"]);
  });

  it("that answers more values than any thread has is left alone", async () => {
    const { services, server, mentions, log } = await alice();
    server.handlers.push((request, response) => {
      if (!request.url?.endsWith("/context")) return false;
      response.end(`{"descendants":[${"{},".repeat(1_000_000)}{}]}`);
      return true;
    });
    await services.runScheduled();
    expect(log.filter((line) => line.includes("more than 1000000 values"))).toHaveLength(1);
    expect(await mentions(PAGE)).toEqual([]);
  });

  it("gets no request after the time of a run, and the rest in the next one", async () => {
    const { services, server, clock, pages, mentions } = await alice();
    server.onRequest = () => {
      clock.time += 30_000;
    };
    await services.runScheduled();
    expect(server.requests).toHaveLength(1);
    server.onRequest = () => {};
    await services.runScheduled();
    expect(server.requests).toHaveLength(3);
    expect(await mentions(pages.twts[0]?.page ?? "")).toHaveLength(1);
  });
});

/** Alice's site, whose post has a copy on Bluesky. */
async function aliceOnBluesky() {
  const view = await fakeBluesky();
  const author = view.addActor("alice.example");
  const copy = view.addPost(author, "Quinces");
  const url = `https://bsky.app/profile/alice.example/post/${copy.uri.split("/").at(-1)}`;
  const pages = { ...PAGES, twts: [{ ...TWT, syndication: [url] }] };
  const site = receiver({
    pages,
    hosts: { "public.api.bsky.app": view },
    lookup: names({ "public.api.bsky.app": ["192.0.2.1"] }),
  });
  return { ...site, view, copy, author };
}

describe("a post with a copy on Bluesky", () => {
  it("shows the answers, nested, with their links, and the likes and reposts", async () => {
    const { services, answer: request, view, copy } = await aliceOnBluesky();
    const bob = view.addActor("bob.bsky.social", { displayName: "Bob" });
    const carol = view.addActor("handle.invalid", { displayName: "" });
    const text = "🍐 see bob.example\n@carol";
    const at = (word: string) => {
      const byteStart = Buffer.byteLength(text.slice(0, text.indexOf(word)));
      return { byteStart, byteEnd: byteStart + Buffer.byteLength(word) };
    };
    const link = { $type: "app.bsky.richtext.facet#link", uri: "https://bob.example/pears" };
    const person = { $type: "app.bsky.richtext.facet#mention", did: carol.did };
    const facets = [
      { index: at("@carol"), features: [person] },
      { index: at("bob.example"), features: [link] },
      { index: { byteStart: 4, byteEnd: 999 }, features: [link] },
    ];
    const answer = view.addPost(bob, text, { parent: copy, record: { facets } });
    view.addPost(carol, "yes!", { parent: answer, record: { createdAt: "2026-11-20T08:30:00Z" } });
    view.likes.set(
      copy.uri,
      Array.from({ length: 90 }, (_, n) => view.addActor(`fan${n}.bsky.social`)),
    );
    view.reposts.set(copy.uri, [bob]);
    await services.runScheduled();
    const found = await listAll(request);
    const source = (post: typeof answer) =>
      `https://bsky.app/profile/${post.author.did}/post/${post.uri.split("/").at(-1)}`;
    const rel = 'rel="nofollow ugc noopener"';
    expect(found.filter(({ type }) => type === "reply").reverse()).toMatchObject([
      {
        source: source(answer),
        author: { name: "Bob", url: "https://bsky.app/profile/bob.bsky.social", photo: bob.avatar },
        text,
        html: `<p>🍐 see <a href="https://bob.example/pears" ${rel}>bob.example</a><br><a href="https://bsky.app/profile/${carol.did}" ${rel} dir="auto">@carol</a></p>`,
        published: "2026-11-20T08:00:00Z",
        replyTo: PAGE,
      },
      { author: { name: "handle.invalid", url: `https://bsky.app/profile/${carol.did}` }, replyTo: source(answer) },
    ]);
    expect(found.filter(({ type }) => type === "like")).toHaveLength(90);
    expect(found.filter(({ type }) => type === "repost")).toMatchObject([
      { source: `https://bsky.app/profile/bob.bsky.social#repost` },
    ]);
  });

  it("leaves out accounts that are for people with an account only, and replies that its author has hidden", async () => {
    const { services, mentions, view, copy } = await aliceOnBluesky();
    const label = { val: "!no-unauthenticated", src: "did:plc:x", uri: "at://x", cts: "2026-11-20T08:00:00Z" };
    const shy = view.addActor("shy.bsky.social", { labels: [label] });
    const bob = view.addActor("bob.bsky.social");
    const quiet = view.addPost(shy, "quiet", { parent: copy });
    view.addPost(bob, "below", { parent: quiet });
    view.hidden.push(view.addPost(bob, "rude", { parent: copy }).uri);
    view.likes.set(copy.uri, [shy]);
    await services.runScheduled();
    const found = await mentions(PAGE);
    expect(found).toMatchObject([{ text: "below", replyTo: PAGE }]);
    expect(JSON.stringify(found)).not.toContain(shy.did);
  });

  it("follows edits and deletions, and keeps the answers if the copy is gone", async () => {
    const { services, mentions, view, copy, clock, log } = await aliceOnBluesky();
    const bob = view.addActor("bob.bsky.social");
    const [kept, gone] = ["kept", "gone"].map((text) => view.addPost(bob, text, { parent: copy }));
    const run = async () => {
      clock.time += HOUR;
      await services.runScheduled();
      return (await mentions(PAGE)).map(({ text }) => text).sort();
    };
    expect(await run()).toEqual(["gone", "kept"]);
    view.posts = view.posts.filter((each) => each !== gone);
    if (kept) kept.record.text = "changed";
    expect(await run()).toEqual(["changed", "gone"]);
    expect(await run()).toEqual(["changed"]);
    view.posts = [];
    expect([await run(), await run()]).toEqual([["changed"], ["changed"]]);
    expect(log.filter((line) => line.includes("is gone, or is not public"))).toHaveLength(1);
  });

  it("shows hostile texts, names and facets as text alone", async () => {
    const { services, answer, view, copy } = await aliceOnBluesky();
    for (const [n, text] of SOME_HOSTILE_TEXTS.entries()) {
      const eve = view.addActor(n % 2 === 0 ? `eve${n}.bsky.social` : text, { displayName: text, avatar: text });
      const facets = [{ index: { byteStart: 0, byteEnd: 3 }, features: [{ uri: text }, { did: text }] }, text];
      view.addPost(eve, text, { parent: copy, record: { facets } });
    }
    await services.runScheduled();
    const found = await listAll(answer);
    expect(found.length).toBeGreaterThan(60);
    expectSafe(found);
  });
});

/** Expects that these mentions have no other markup and URLs than those of the sanitizer. */
function expectSafe(mentions: readonly PublicMention[]): void {
  const page = { html: [], head: [], body: [] };
  const blocks = { p: ["dir"], pre: ["dir"], blockquote: ["dir"], ul: ["dir"], ol: ["dir"], li: ["dir"] };
  const marks = { a: ["href", "rel", "dir"], code: [], em: [], strong: [], br: [] };
  for (const { html, author, source } of mentions) {
    const elements = elementsOf(html ?? "");
    expect(notAllowed(elements, { ...page, ...blocks, ...marks })).toEqual([]);
    const urls = [author.url, author.photo, source, ...elements.map(({ attributes }) => attributes.href)];
    expect(urls.filter((url) => url != null && !/^https?:\/\//.test(url))).toEqual([]);
  }
}
