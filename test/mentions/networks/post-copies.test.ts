import { readFileSync } from "node:fs";
import sharp from "sharp";
import { afterEach, describe, expect, it } from "vitest";
import { TwtxtError } from "../../../plugin/errors.js";
import type { Ask } from "../../../plugin/http/guard.js";
import { openAccounts } from "../../../plugin/mentions/networks/accounts.js";
import { readFaults, readPostedCopies } from "../../../plugin/mentions/networks/network-records.js";
import { LedgerList } from "../../../plugin/mentions/send/ledger.js";
import type { SendReport } from "../../../plugin/mentions/send/send.js";
import { shrinkPicture } from "../../../plugin/pictures/shrink-picture.js";
import type { CopyFacts as Facts, SitePages } from "../../../plugin/site/site.js";
import { writeJson } from "../../../plugin/store/json.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import type { Store } from "../../../plugin/store/store.js";
import { loopbackServer, strayed } from "../../helpers/loopback.js";
import { postingBluesky } from "../../helpers/posting-bluesky.js";
import { postingMastodon } from "../../helpers/posting-mastodon.js";
import { PAGE, PAGES, type ReceiverOptions, receiver, TWT } from "../../helpers/receiver.js";
import { buildSite, post } from "../../helpers/site.js";
import { DAY, DAYS_6, DAYS_8, MINUTE, outcomes, TODAY, world } from "../send/outgoing.js";

afterEach(() => expect(strayed).toEqual([]));

/** How many kills are tried on each network. With 100, a run is killed after each request and each write. */
const KILLS = Number(process.env.KILLS ?? 8);

/** Alice's blog with an account on Mastodon, and on Bluesky. */
async function blog(store: Store = memoryStore()) {
  const [mastodon, bluesky] = [await postingMastodon(), await postingBluesky()];
  const home = await world([mastodon, bluesky], { store });
  const facts = new Map<string, { page: string; copy: Partial<Facts> }>();
  const deleted: string[] = [];
  const page = (name: string) => `${home.alice.url}/posts/${name}/`;
  const write = (timestamp: string, text: string, name: string, copy: Partial<Facts> = {}) => {
    home.alice.twts[timestamp] = `${text} ${page(name)}`;
    facts.set(timestamp, { page: page(name), copy });
  };
  const send = (more: Parameters<typeof home.send>[0] = {}, ask: Ask = home.ask) =>
    home.send({
      ask,
      copies: {
        accounts: openAccounts(
          { ...mastodon.environment, ...bluesky.environment },
          { ask, now: () => home.clock.time, sleep: async () => {} },
        ),
        twts: [...facts].map(([timestamp, { page, copy }]) => ({
          ...{ timestamp, hashes: [], page, replyTo: null },
          copy: { networks: ["mastodon"], ...copy },
        })),
        deleted: deleted.map((page) => ({ page, replyTo: null })),
      },
      ...more,
    });
  const sendWith = (other: Store) => send({ store: other });
  return { ...home, mastodon, bluesky, facts, deleted, page, write, send, sendWith };
}

const copiesIn = ({ mentions, ...report }: SendReport) =>
  outcomes({ ...report, mentions: mentions.filter(({ network }) => network) });

describe("a new post in the live feed", () => {
  it("is posted once, with its text, language, content warning and permalink, and its copy is known", async () => {
    const { mastodon, write, send, page, store } = await blog();
    write(TODAY, "Quince jelly: Ten jars & @<bob https://bob.example/twtxt.txt>", "quinces", {
      lang: "de",
      warning: "Food",
    });
    const report = await send();
    expect(copiesIn(report)).toEqual(["new sent"]);
    const [status] = mastodon.posted();
    expect(status).toMatchObject({
      text: `Quince jelly: Ten jars & bob ${page("quinces")}`,
      language: "de",
      spoiler_text: "Food",
      sensitive: true,
    });
    expect(report.mentions[0]).toMatchObject({
      network: "mastodon",
      target: `${mastodon.url}/`,
      endpoint: status?.url,
    });
    expect(await readPostedCopies(store)).toMatchObject({ [page("quinces")]: [{ url: status?.url, id: status?.id }] });
    expect(copiesIn(await send())).toEqual([]);
    expect(mastodon.writes).toHaveLength(1);
  });

  it("is not posted if it is a week old, in a dry run, not live, or without a network", async () => {
    const { mastodon, write, send, facts, page } = await blog();
    write(DAYS_8, "Old", "old");
    write(TODAY, "Mine", "mine", { networks: [] });
    // A draft, or a post of a build that is not deployed yet.
    facts.set("2026-11-20T08:30:00Z", { page: page("draft"), copy: {} });
    write(DAYS_6, "Young", "young");
    expect(outcomes(await send({ isDryRun: true }))).toEqual(["new would be sent"]);
    expect(mastodon.writes).toEqual([]);
    await send();
    expect(mastodon.posted().map(({ text }) => String(text).slice(0, 5))).toEqual(["Young"]);
  });

  it("is cut at a word at the limit of the server, with its permalink whole", async () => {
    const { mastodon, write, send, page } = await blog();
    mastodon.maxCharacters = 60;
    write(TODAY, "Ten jars of jelly from the old tree behind the house of my neighbors, who came to help", "quinces");
    await send();
    expect(mastodon.posted().map(({ text }) => text)).toEqual([
      `Ten jars of jelly from the old tree… ${page("quinces")}`,
    ]);
  });
});

it("people stay names, which link to the account that their feed names, and no one is mentioned on the network", async () => {
  const { mastodon, write, send, page, alice } = await blog();
  const links = ["Blog https://bob.example/", "Mastodon http://insecure.example/@bob"];
  const accounts = ["Bluesky https://bsky.app/profile/bob.example", "mastodon https://social.example/@bob"];
  alice.answers["/bob.txt"] = (response) =>
    void response.end(
      `${[...links, ...accounts].map((link) => `# link = ${link}\n`).join("")}\n2026-11-19T08:00:00Z\thello\n`,
    );
  alice.answers["/carol.txt"] = (response) =>
    void response.end(`# link = ${accounts[0]}\n\n2026-11-19T08:00:00Z\thello\n`);
  const people = ["bob", "carol", "dave"].map((name) => `@<${name} ${alice.url}/${name}.txt>`);
  write(TODAY, `${people.join(", ")}, @erin, @erin@social.example, (@erin) and erin@example.com:`, "quinces");
  await send();
  const [text = ""] = mastodon.posted().map((status) => String(status.text));
  expect(text.replaceAll("\u2060", "")).toBe(
    `bob (https://social.example/@bob), carol (https://bsky.app/profile/bob.example), dave, @erin, @erin@social.example, (@erin) and erin@example.com: ${page("quinces")}`,
  );
  // Mastodon's Account::MENTION_RE
  expect(text.match(/(?<![=/\p{L}\p{N}_])@[a-z0-9_]+/giu)).toBe(null);
});

describe("never twice", () => {
  /** Stops a run after this step, so before the next one, as a kill does. */
  async function killedRun(network: "mastodon" | "bluesky", at: number) {
    const inner = memoryStore();
    let step = 0;
    let isKilled = false;
    const through = async <T>(work: () => Promise<T>): Promise<T> => {
      step += 1;
      if (isKilled) throw new TwtxtError("store-failed", "killed");
      const result = await work();
      isKilled ||= step >= at;
      if (isKilled) throw new TwtxtError("store-failed", "killed");
      return result;
    };
    const store: Store = {
      ...inner,
      get: (key) => through(() => inner.get(key)),
      put: (key, bytes, condition) => through(() => inner.put(key, bytes, condition)),
      delete: (key) => through(() => inner.delete(key)),
      keys: (prefix) => through(() => inner.keys(prefix)),
    };
    const home = await blog(store);
    home.write(TODAY, "Ten jars", "quinces", { networks: [network] });
    const ask: Ask = (url, request) => through(() => home.ask(url, request));
    await home.send({}, ask).catch(() => {});
    const steps = step;
    // Another process, after the lease of the killed one.
    home.clock.time += 2 * MINUTE;
    const report = await home.sendWith(inner);
    return { steps, troubles: report.troubles, writes: home[network].writes.length };
  }

  it.each(["mastodon", "bluesky"] as const)("after a kill between any two requests or writes: %s", async (network) => {
    const { steps } = await killedRun(network, Number.POSITIVE_INFINITY);
    expect(steps).toBeGreaterThan(15);
    const kills = Math.min(KILLS, steps);
    for (let kill = 1; kill <= kills; kill += 1) {
      const at = Math.round((kill * steps) / kills);
      const { troubles, writes } = await killedRun(network, at);
      expect([at, troubles, writes]).toEqual([at, [], 1]);
    }
  });

  it("by two processes at a time", async () => {
    const { mastodon, write, send } = await blog();
    write(TODAY, "Ten jars", "quinces");
    await Promise.allSettled([send(), send()]);
    await send();
    expect(mastodon.writes).toHaveLength(1);
  });

  it.each([
    ["", (content: string) => content],
    [" on a server that makes no links", (content: string) => content.replace(/<[^>]*>/g, "")],
  ])(
    "after the store was lost, restored from a backup, or belongs to another host: the copy is found by its permalink%s",
    async (_, show) => {
      const first = await blog();
      first.write(TODAY, "Ten jars", "quinces");
      await first.send();
      for (const status of first.mastodon.posted()) status.content = show(status.content);
      for (let i = 0; i < 130; i += 1) first.mastodon.addStatus(first.mastodon.me, "<p>Something else</p>");
      first.mastodon.keys.clear();
      const lost = memoryStore();
      expect(copiesIn(await first.sendWith(lost))).toEqual(["new sent"]);
      expect(first.mastodon.writes).toHaveLength(1);
      expect(await readPostedCopies(lost)).toEqual(await readPostedCopies(first.store));
      first.clock.time += 8 * DAY;
      expect(copiesIn(await first.sendWith(memoryStore()))).toEqual([]);
    },
  );

  it.each([
    ["of the same second", TODAY],
    ["and another time of the day, as a date without a time gets", "2026-11-20T00:41:07Z"],
  ])("after the permalink was changed, %s: the copy is edited", async (_, timestamp) => {
    const { mastodon, write, send, page, alice, facts, store } = await blog();
    write(TODAY, "Ten jars", "quinces");
    await send();
    delete alice.twts[TODAY];
    facts.clear();
    write(timestamp, "Ten jars", "quince-jelly");
    expect(copiesIn(await send())).toEqual(["changed sent"]);
    expect(mastodon.posted().map(({ text }) => text)).toEqual([`Ten jars ${page("quince-jelly")}`]);
    expect(Object.keys(await readPostedCopies(store))).toEqual([page("quince-jelly")]);
    expect(copiesIn(await send())).toEqual([]);
  });
});

describe("a copy", () => {
  it("is edited with its post, unless the author has deleted it", async () => {
    const { mastodon, write, send } = await blog();
    write(TODAY, "Ten jars", "quinces");
    await send();
    write(TODAY, "Eleven jars", "quinces");
    expect(copiesIn(await send())).toEqual(["changed sent"]);
    expect(mastodon.posted().map(({ text }) => String(text).split(" h")[0])).toEqual(["Eleven jars"]);
    mastodon.statuses.clear();
    write(TODAY, "Twelve jars", "quinces");
    expect(copiesIn(await send())).toEqual(["changed sent"]);
    expect(mastodon.posted()).toEqual([]);
  });

  it("is edited with its post also in an archive of the feed, from where nothing else is posted", async () => {
    const { mastodon, write, send, alice, page, facts, ask } = await blog();
    write(TODAY, "Ten jars", "quinces");
    await send();
    alice.archives["1.txt"] = { [TODAY]: `Eleven jars ${page("quinces")}`, [DAYS_6]: `Hens ${page("hens")}` };
    write(DAYS_6, "Hens", "hens");
    alice.twts = {};
    expect(copiesIn(await send())).toEqual(["changed sent"]);
    expect(mastodon.posted().map(({ text }) => text)).toEqual([`Eleven jars ${page("quinces")}`]);
    expect(copiesIn(await send())).toEqual([]);
    // No archive is read for a post that is no longer on the site.
    facts.clear();
    const asked: string[] = [];
    await send({}, (url, request) => {
      asked.push(new URL(url).pathname);
      return ask(url, request);
    });
    expect(asked).toEqual(["/twtxt.txt"]);
  });

  it("stays if its post leaves the feed, and is deleted with a deleted post", async () => {
    const { mastodon, write, send, alice, facts, deleted, page, store } = await blog();
    write(TODAY, "Ten jars", "quinces");
    await send();
    alice.twts = {};
    facts.clear();
    write(DAYS_6, "Another", "another", { networks: [] });
    expect(copiesIn(await send())).toEqual([]);
    expect(mastodon.posted()).toHaveLength(1);
    deleted.push(page("quinces"));
    expect(copiesIn(await send())).toEqual(["gone sent"]);
    expect(mastodon.posted()).toEqual([]);
    expect(copiesIn(await send())).toEqual([]);
    expect(await readPostedCopies(store)).toEqual({});
    expect(await new LedgerList(store, alice.feedUrl).count()).toEqual({ withdrawn: 1 });
  });

  it("at a former server of the author is neither edited nor deleted: its ID means another status at the new one", async () => {
    const { mastodon, write, send, deleted, page, store } = await blog();
    write(TODAY, "Ten jars", "quinces");
    await send();
    const { [page("quinces")]: [copy] = [] } = await readPostedCopies(store);
    const former = { [page("quinces")]: [{ ...copy, server: "https://former.example" }] };
    await writeJson(store, "networks/copies", former);
    write(TODAY, "Eleven jars", "quinces");
    expect(copiesIn(await send())).toEqual(["changed sent"]);
    deleted.push(page("quinces"));
    await send();
    expect(mastodon.posted().map(({ text }) => String(text).split(" h")[0])).toEqual(["Ten jars"]);
  });

  it("has a page on the web, whatever the server says", async () => {
    const { mastodon, write, send, page, store } = await blog();
    mastodon.me.url = "javascript:alert(1)//";
    write(TODAY, "Ten jars", "quinces");
    await send();
    const [status] = mastodon.posted();
    const url = `${mastodon.url}/web/statuses/${status?.id}`;
    expect(await readPostedCopies(store)).toMatchObject({ [page("quinces")]: [{ url }] });
  });

  it("has up to four pictures of the site without metadata, with their alternative texts, and replies to a status of its network", async () => {
    const { mastodon, write, send, alice } = await blog();
    const picture = readFileSync(new URL("../../pictures/files/phone.jpg", import.meta.url));
    alice.answers["/a.jpg"] = (response) => void response.end(picture);
    const bob = mastodon.addAccount("bob@bob.example");
    const status = mastodon.addStatus(bob, "<p>lovely</p>");
    const pictures = ["/a.jpg", "/missing.jpg"].map((path) => ({ url: alice.url + path, alt: "Ten jars" }));
    write(TODAY, "Thanks", "thanks", { pictures, replyTo: status.url });
    write(DAYS_6, "Lovely", "elsewhere", { replyTo: "https://bsky.app/profile/carol.example/post/3lbqxyzabc2d" });
    expect(copiesIn(await send())).toEqual(["new sent"]);
    const [posted] = mastodon.posted();
    expect(posted).toMatchObject({
      in_reply_to_id: status.id,
      text: expect.stringMatching(/^@bob@bob.example Thanks /),
    });
    const [media, ...others] = mastodon.media.values();
    expect([media?.description, media?.mimeType, others]).toEqual(["Ten jars", "image/jpeg", []]);
    expect(media?.bytes.length).toBeLessThan(picture.length);
  });

  it("has a picture that is too large as a smaller one; one that is no picture is left out, which the report says", async () => {
    const { mastodon, write, send, alice } = await blog();
    const noise = { type: "gaussian", mean: 128, sigma: 30 } as const;
    const create = { width: 300, height: 200, channels: 3, background: "white", noise } as const;
    const exif = { IFD0: { Copyright: "Alice" } };
    const photo = await sharp({ create }).withMetadata({ exif, orientation: 6 }).png().toBuffer();
    alice.answers["/large.png"] = (response) => void response.end(photo);
    alice.answers["/drawing.svg"] = (response) => void response.end("<svg/>");
    mastodon.maxPictureBytes = 30_000;
    const pictures = ["/large.png", "/drawing.svg"].map((path) => ({ url: alice.url + path, alt: "Ten jars" }));
    write(TODAY, "Jars", "jars", { pictures });
    const { mentions } = await send();
    const [media, ...others] = mastodon.media.values();
    expect([media?.mimeType, media?.description, others]).toEqual(["image/jpeg", "Ten jars", []]);
    expect(media?.bytes.length).toBeLessThan(30_000);
    expect(await sharp(media?.bytes).metadata()).not.toHaveProperty("exif");
    expect(mentions).toMatchObject([
      { outcome: "sent", why: expect.stringMatching(/^without a picture: .*drawing.svg is an SVG drawing/) },
    ]);
  });

  it("is posted without a picture that its server refuses, which the report says", async () => {
    const { mastodon, bluesky, write, send, alice } = await blog();
    const picture = readFileSync(new URL("../../pictures/files/phone.jpg", import.meta.url));
    alice.answers["/a.jpg"] = (response) => void response.end(picture);
    mastodon.handlers.unshift((request, response) => {
      if (request.url !== "/api/v2/media") return false;
      response.writeHead(422).end('{"error":"Validation failed: File dimensions are not supported"}');
      return true;
    });
    bluesky.refusesPictures = true;
    const networks: Facts["networks"] = ["mastodon", "bluesky"];
    write(TODAY, "Jars", "jars", { networks, pictures: [{ url: `${alice.url}/a.jpg`, alt: "Ten jars" }] });
    const { mentions } = await send();
    expect(mentions.map(({ outcome, why }) => [outcome, why?.split(" answers ")[1]])).toEqual([
      ["sent", '422, "Validation failed: File dimensions are not supported".'],
      ["sent", '400, "InvalidMimeType".'],
    ]);
    expect([mastodon.posted().length, bluesky.records.size, mastodon.media.size]).toEqual([1, 1, 0]);
  });

  it("has no picture that is too large if sharp is not installed, and the remedy is named", async () => {
    const picture = { bytes: new Uint8Array(1_000_001), type: "image/png", extension: ".png" } as const;
    const name = "https://alice.example/a.png";
    const none = async () => null;
    await expect(shrinkPicture(picture, 1_000_000, name, none)).rejects.toThrow(
      `${name} has more than 1 MB. Install sharp, which makes larger pictures smaller: npm install sharp`,
    );
    await expect(shrinkPicture(picture, 1_000_000, name)).rejects.toThrow("It is damaged");
  });
});

describe("a network that refuses", () => {
  it("a revoked token is tried again, said once, and forgotten when the network accepts another one", async () => {
    const { mastodon, write, send, store, clock } = await blog();
    write(TODAY, "Ten jars", "quinces");
    write(DAYS_6, "More", "more");
    mastodon.token = "another";
    expect(copiesIn(await send())).toEqual(["new retry 401", "new retry 401"]);
    expect(mastodon.tokens).toHaveLength(1);
    expect(await readFaults(store)).toEqual({ mastodon: expect.stringContaining("The access token is invalid") });
    mastodon.token = "secret-token";
    clock.time += DAY;
    expect(copiesIn(await send())).toEqual(["new sent", "new sent"]);
    expect(await readFaults(store)).toEqual({});
  });

  it("a token and repeats it does not bring it into the reasons that are kept", async () => {
    const { mastodon, write, send, store } = await blog();
    write(TODAY, "Ten jars", "quinces");
    mastodon.fault = { status: 401, body: JSON.stringify({ error: "Bearer secret-token is revoked" }) };
    const { mentions } = await send();
    expect(mentions).toMatchObject([{ why: expect.stringContaining('"Bearer … is revoked"') }]);
    expect(JSON.stringify(await readFaults(store))).not.toContain("secret-token");
  });

  it("an account that has moved is tried again for three days, and its copies are given up then", async () => {
    const { mastodon, write, send, store, clock } = await blog();
    write(TODAY, "Ten jars", "quinces");
    // Mastodon's require_user!, for an account that is not functional
    mastodon.fault = { status: 403, body: '{"error":"Your login is currently disabled"}' };
    expect(copiesIn(await send())).toEqual(["new retry 403"]);
    expect(await readFaults(store)).toEqual({ mastodon: expect.stringContaining("Your login is currently disabled") });
    clock.time += 4 * DAY;
    expect(copiesIn(await send())).toEqual(["new failed 403"]);
    const asked = mastodon.requests.length;
    expect(copiesIn(await send())).toEqual([]);
    expect([mastodon.requests.length, mastodon.writes]).toEqual([asked, []]);
  });

  it("a server that is gone for a week is asked a few times, and gets the posts after that week alone", async () => {
    const { mastodon, write, send, clock } = await blog();
    write(TODAY, "Ten jars", "quinces");
    mastodon.fault = { status: 502 };
    for (let hours = 0; hours < 7 * 24; hours += 6) {
      await send();
      clock.time += DAY / 4;
    }
    expect(mastodon.requests.length).toBeLessThan(15);
    mastodon.fault = null;
    write(new Date(clock.time).toISOString().replace(".000Z", "Z"), "Hens", "hens");
    expect(copiesIn(await send())).toEqual(["new sent"]);
    expect(mastodon.posted().map(({ text }) => String(text).slice(0, 4))).toEqual(["Hens"]);
  });

  it.each([
    [
      "429 with a time",
      { status: 429, headers: { "x-ratelimit-reset": "2026-11-20T11:00:00.000Z" } },
      "2026-11-20T11:00",
    ],
    ["429 without one", { status: 429 }, "2026-11-20T09:10"],
    ["500", { status: 500, body: "<html>" }, "2026-11-20T09:10"],
    ["JSON of another shape", { status: 200, body: '{"id":{"id":7}}' }, "2026-11-20T09:10"],
    ["JSON nested beyond the stack", { status: 200, body: "[".repeat(100_000) }, "2026-11-20T09:10"],
  ])("%s: is asked again later", async (_, fault, next) => {
    const { mastodon, write, send, clock } = await blog();
    write(TODAY, "Ten jars", "quinces");
    mastodon.fault = fault;
    const { mentions } = await send();
    expect(mentions).toMatchObject([{ outcome: "retry", next: expect.stringContaining(next) }]);
    mastodon.fault = null;
    expect(copiesIn(await send())).toEqual(["new waiting"]);
    clock.time += DAY;
    expect(copiesIn(await send())).toEqual(["new sent"]);
    expect(mastodon.writes).toHaveLength(1);
  });
});

describe("a deployed site", () => {
  async function deployed(options: ReceiverOptions = {}) {
    const mastodon = await postingMastodon();
    const feed = await loopbackServer((_, response) =>
      response.end(`# nick = alice\n# url = https://alice.example/twtxt.txt\n\n${TODAY}\tJelly: ${PAGE}\n`),
    );
    const pages: SitePages = { ...PAGES, twts: [{ ...TWT, timestamp: TODAY, copy: { networks: ["mastodon"] } }] };
    const parts = { pages, feedUrl: `${feed.url}/twtxt.txt`, neighbours: [mastodon, feed] };
    return { mastodon, pages, site: receiver({ ...parts, environment: mastodon.environment, ...options }) };
  }

  it("posts a copy, tells the next build, and shows the answers to it under the post", async () => {
    const { mastodon, site, pages } = await deployed();
    await site.services.afterDeploy();
    const [copy] = mastodon.posted();
    expect(copy?.text).toBe(`Jelly: ${PAGE}`);
    expect(site.log).toContain(`Copy of your post of ${TODAY} for Mastodon: sent to ${copy?.url}`);
    expect(site.purged).toContain("twtxt-mentions");
    const list = await site.answer(new Request("https://alice.example/mentions.json"));
    expect(await list.json()).toEqual({ mentions: [], next: null, syndication: { [PAGE]: [copy?.url] } });

    const bob = mastodon.addAccount("bob@bob.example");
    mastodon.addStatus(bob, "<p>lovely</p>", { in_reply_to_id: copy?.id ?? "" });
    site.clock.time += 20 * MINUTE;
    await site.services.runScheduled();
    expect(await site.mentions(pages.twts[0]?.page ?? "")).toMatchObject([{ type: "reply", text: "lovely" }]);
    expect(mastodon.writes).toHaveLength(1);
  });

  it.each([
    ["a preview, or a deploy preview", { isLive: false }],
    ["a site without accounts", { environment: {} }],
  ])("posts nothing: %s", async (_, options) => {
    const { mastodon, site } = await deployed(options);
    await site.services.afterDeploy();
    await site.services.runScheduled();
    expect([mastodon.requests, mastodon.writes]).toEqual([[], []]);
  });
});

it("a build links a post to the copies that the site lists", async () => {
  const files = {
    "_includes/post.njk": "<html><head></head><body>{{ content | safe }}{% twtxtSyndication %}</body></html>",
    "posts/jelly.md": post({ date: "2026-01-02", tags: "posts", layout: "post.njk", title: "Jelly" }),
  };
  const url = "https://mastodon.example/@alice/1";
  let list = "";
  const home = await loopbackServer((_, response) => response.end(list));
  list = JSON.stringify({ mentions: [], next: null, syndication: { [`${home.url}/posts/jelly/`]: [url] } });
  const built = await buildSite({ files, options: `{ url: "${home.url}", host: "node" }` });
  const page = built.read("posts/jelly/index.html");
  expect(page).toContain(`<link rel="syndication" href="${url}">`);
  expect(page).toContain(`class="u-syndication" rel="syndication" href="${url}"`);
  expect(JSON.parse(built.read("mentions/mentions.json")).syndication).toEqual({ [`${home.url}/posts/jelly/`]: [url] });
});
