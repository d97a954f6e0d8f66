import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { type Ask, createGuard } from "../../../plugin/http/guard.js";
import { loopbackRoute, loopbackServer, strayed } from "../../helpers/loopback.js";
import { FEED, receiver } from "../../helpers/receiver.js";
import {
  badAnswer,
  DAY,
  DAYS_6,
  DAYS_8,
  MINUTE,
  neighbour,
  outcomes,
  PAGE,
  TODAY,
  world,
  worldWithBob,
} from "./outgoing.js";

afterEach(() => expect(strayed).toEqual([]));

describe("a new twt", () => {
  it("is sent once to each feed that it mentions, even several times, and never again", async () => {
    const bob = await neighbour("bob");
    const carol = await neighbour("carol");
    const home = await world([bob, carol]);
    home.alice.twts = {
      [TODAY]: `hi ${bob.mention} and ${carol.mention}, yes ${bob.mention} and @<b ${bob.feedUrl}#x>`,
    };

    const report = await home.send();
    expect(outcomes(report)).toEqual(["new sent 202", "new sent 202"]);
    expect(report.troubles).toEqual([]);
    const source = home.alice.twt(TODAY);
    expect(bob.posts).toMatchObject([{ source, target: bob.feedUrl }]);
    expect(carol.posts).toMatchObject([{ source, target: carol.feedUrl }]);

    expect((await home.send()).mentions).toEqual([]);
    expect(bob.posts.length + carol.posts.length).toBe(2);
  });

  it("is posted as a form, encoded once, to the endpoint with its query", async () => {
    const { bob, home } = await worldWithBob();
    home.alice.twts = { [TODAY]: `hi ${bob.mention}` };
    await home.send();

    const [post] = bob.posts;
    expect(post?.type).toBe("application/x-www-form-urlencoded");
    expect(post?.path).toBe("/webmention?to=bob&x=%20");
    expect(post?.body).toBe(
      `source=${encodeURIComponent(home.alice.twt(TODAY)).replaceAll("~", "%7E")}&target=${encodeURIComponent(bob.feedUrl)}`,
    );
    expect(decodeURIComponent(post?.body.split("&")[0] ?? "")).toMatch(/#:~:text=2026-11-20T08:00:00Z$/);
  });

  it("has as target the mention's URL, byte for byte, without its fragment", async () => {
    const { bob, home } = await worldWithBob();
    const odd = `${bob.url.replace("http:", "HTTP:")}/./twtxt.txt`;
    home.alice.twts = { [TODAY]: `@<bob ${odd}#:~:text=2026-01-02T03:04:05Z>` };
    await home.send();
    expect(bob.posts).toMatchObject([{ target: odd }]);
  });

  it.each([
    ["feed field", "a reference"],
    ["Link header", "the page"],
    ["HTML", "the page"],
  ] as const)("goes to an endpoint of a %s as %s", async (method, form) => {
    const { bob, home } = await worldWithBob(method);
    home.alice.twts = { [TODAY]: bob.mention };
    const report = await home.send();
    expect(report.mentions).toMatchObject([{ outcome: "sent", endpoint: bob.endpoint, method }]);
    expect(bob.posts.map(({ source }) => source)).toEqual([form === "the page" ? PAGE : home.alice.twt(TODAY)]);
  });

  it("is sent to the endpoint of a page that it mentions", async () => {
    const { bob, home } = await worldWithBob("HTML");
    home.alice.twts = { [TODAY]: `@<bob ${bob.url}/> hello` };
    await home.send();
    expect(bob.posts).toMatchObject([{ source: PAGE, target: `${bob.url}/` }]);
  });

  it("is sent as a reference to any endpoint if it has no page", async () => {
    const { bob, home } = await worldWithBob("Link header");
    bob.answer = () => ({ status: 400 });
    home.alice.twts = { [TODAY]: bob.mention };
    expect(outcomes(await home.send({ findPage: () => null }))).toEqual(["new failed 400"]);
    expect(bob.posts.map(({ source }) => source)).toEqual([home.alice.twt(TODAY)]);
  });

  it("is not sent for a link, a reply by hash, a bare nick, a follow field, code or a mention of the site itself or of a guest of it", async () => {
    const { bob, home } = await worldWithBob();
    home.alice.answers["/twtxt.txt"] = (response) =>
      response.end(
        [
          `# url = ${home.alice.feedUrl}`,
          "# url = https://alice.example/other.txt",
          `# follow = bob ${bob.feedUrl}`,
          "",
          `${TODAY}\t(#abcdefghijkl) @bob quite so`,
          `2026-11-20T08:00:01Z\tmyself @<alice ${home.alice.feedUrl}> @<a https://alice.example/other.txt> @<o https://old.example/a.txt>`,
          `2026-11-20T08:00:03Z\t[hens](${bob.url}/posts/hens/) ${bob.url}/posts/eggs/ [bob](${bob.feedUrl})`,
          `2026-11-20T08:00:04Z\t(#abcdefghijkl) @<Dana ${home.alice.url}/guests/anon-0123456789abcdef.txt> thanks`,
          `2026-11-20T08:00:02Z\tas code \`${bob.mention}\``,
          "",
        ].join("\n"),
      );
    const report = await home.send({
      aliases: ["https://old.example/a.txt"],
      guestFeeds: `${home.alice.url}/guests`,
    });
    expect(report).toMatchObject({ mentions: [], troubles: [] });
    expect(bob.requests).toEqual([]);
  });

  it("is reported if there is no endpoint, and not looked up again", async () => {
    const { bob, home } = await worldWithBob(null);
    home.alice.twts = { [TODAY]: bob.mention };
    expect((await home.send()).mentions).toMatchObject([
      { outcome: "no-endpoint", endpoint: null, why: "no endpoint in the feed, its headers or its site" },
    ]);
    const requests = bob.requests.length;
    expect((await home.send()).mentions).toEqual([]);
    expect(bob.requests).toHaveLength(requests);
    expect(bob.posts).toEqual([]);
  });

  it("does not end the run if a mention leads to a private address or is of no feed", async () => {
    const { bob, home } = await worldWithBob();
    home.alice.twts = {
      [TODAY]: `@<b http://10.0.0.1/x> @<c ftp://c.example/x> ${bob.mention}`,
    };
    const report = await home.send();
    expect(outcomes(report).sort()).toEqual(["new no-endpoint", "new not-asked", "new sent 202"]);
    expect(report.mentions).toContainEqual(
      expect.objectContaining({
        target: "ftp://c.example/x",
        why: "feeds are read over http, https, gemini and gopher only, not ftp://",
      }),
    );
    expect(bob.posts).toHaveLength(1);
    expect((await home.send()).mentions).toEqual([]);
  });

  it("is tried again at an address that was refused once another private host is allowed, and by no other run", async () => {
    const home = await world([]);
    home.alice.twts = { [TODAY]: "@<b http://10.0.0.1/x>" };
    const sendWith = async (...allowedHosts: string[]) => outcomes(await home.send({ allowedHosts }));
    expect(await sendWith(home.alice.host)).toEqual(["new not-asked"]);
    expect(await sendWith(home.alice.host)).toEqual([]);
    expect(await sendWith(home.alice.host, "10.0.0.1:80")).toEqual(["new not-asked"]);
    expect(await sendWith(home.alice.host, "10.0.0.1:80")).toEqual([]);
    expect(await sendWith(home.alice.host)).toEqual([]);
    expect(await sendWith("10.0.0.1:80", home.alice.host)).toEqual(["new not-asked"]);
  });
});

describe("the plugin's own endpoint", () => {
  it.each([
    ["# webmention = https://alice.example/webmention\n", {}, "a reference"],
    ["", { link: '<https://alice.example/webmention>; rel="webmention"' }, "a page"],
  ])("with %j and %j verifies a mention with %s as source", async (field, headers, form) => {
    const alice = await loopbackServer(async (request, response) => {
      if (request.method === "GET") return response.writeHead(200, headers).end(`# nick = alice\n${field}\n`);
      const { status } = await her.mentioned(await text(request));
      return response.writeHead(status).end();
    });
    const home = await world([alice]);
    const her = receiver({ neighbours: [home.alice] });
    home.alice.twts = { [TODAY]: `hi @<alice ${FEED}>, good morning` };
    home.alice.answers["/post/"] = (response) =>
      response.setHeader("content-type", "text/html").end(`<p>hi <a href="${FEED}">alice</a>, good morning</p>`);

    const guarded = createGuard({
      userAgent: "test/1",
      allowPrivateHosts: [alice.host, home.alice.host],
      route: loopbackRoute,
    });
    const ask: Ask = async (url, request) => {
      const response = await guarded(url.replace("https://alice.example", alice.url), request);
      return { ...response, url };
    };
    const report = await home.send({ ask, findPage: () => `${home.alice.url}/post/` });
    expect(outcomes(report)).toEqual(["new sent 200"]);
    const source = form === "a page" ? `${home.alice.url}/post/` : home.alice.twt(TODAY);
    expect(await her.mentions()).toMatchObject([{ source, target: FEED }]);
  });
});

describe("a feed that is not live", () => {
  it.each(["404", "500", "a page", "an empty body", "a redirect loop", "a broken connection"])(
    "with %s sends nothing, records nothing and reports what to do",
    async (kind) => {
      const { bob, home } = await worldWithBob();
      home.alice.twts = { [TODAY]: bob.mention };
      await home.send();
      const keys = (await home.store.keys("sent/")).sort();
      home.alice.answers["/twtxt.txt"] = (response) => badAnswer(kind, response);
      await expect(home.send()).rejects.toMatchObject({
        code: "feed-not-live",
        message: expect.stringMatching(/Nothing was sent. Check that the site is deployed, then try again\.$/),
      });
      expect((await home.store.keys("sent/")).sort()).toEqual(keys);
      expect(bob.posts).toHaveLength(1);

      home.alice.answers = {};
      expect((await home.send()).mentions).toEqual([]);
    },
  );
});

describe("a dry run", () => {
  it("reports targets, endpoints and methods, and sends and writes nothing", async () => {
    const bob = await neighbour();
    const carol = await neighbour("carol", null);
    const home = await world([bob, carol]);
    home.alice.twts = { [DAYS_8]: bob.mention, [TODAY]: `${bob.mention} ${carol.mention}` };
    const report = await home.send({ isDryRun: true });
    expect(report.leftAlone).toBe(1);
    expect(report.mentions).toHaveLength(2);
    expect(report.mentions).toContainEqual(
      expect.objectContaining({ outcome: "would be sent", endpoint: bob.endpoint, method: "feed field" }),
    );
    expect(report.mentions).toContainEqual(expect.objectContaining({ outcome: "no-endpoint", endpoint: null }));
    expect(bob.posts).toEqual([]);
    expect(await home.store.keys("")).toEqual([]);
  });
});

describe("a found endpoint", () => {
  it.each([
    [{}, 0],
    [{ "cache-control": "max-age=3600" }, 60 * MINUTE],
    [{ "cache-control": "max-age=9999999" }, DAY],
    [{ "cache-control": "no-cache, max-age=3600" }, 0],
  ])("with %j is used for all mentions of a run, and in later runs for %i ms", async (headers, lifetime) => {
    const { bob, home } = await worldWithBob();
    bob.headers = headers;
    const looks = () => bob.requests.filter((path) => path === "/twtxt.txt").length;
    const tell = async (timestamp: string) => {
      home.alice.twts[timestamp] = bob.mention;
      expect(outcomes(await home.send())).toContain("new sent 202");
    };
    home.alice.twts = { [DAYS_6]: bob.mention };
    await tell(TODAY);
    expect(bob.posts).toHaveLength(2);
    expect(looks()).toBe(1);

    home.clock.time += Math.max(lifetime - 1, 0);
    await tell("2026-11-20T08:00:01Z");
    expect(looks()).toBe(lifetime > 0 ? 1 : 2);
    home.clock.time += 1;
    await tell("2026-11-20T08:00:02Z");
    expect(looks()).toBe(lifetime > 0 ? 2 : 3);
  });
});
