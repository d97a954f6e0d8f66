import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { PATIENT_MS } from "../../helpers/longest.js";
import { loopbackServer, strayed } from "../../helpers/loopback.js";
import { linkingWorld, linkingWorldWithBob } from "./linking.js";
import { DAY, DAYS_6, DAYS_8, MINUTE, type Neighbour, neighbour, outcomes, TODAY } from "./outgoing.js";

afterEach(() => expect(strayed).toEqual([]));

const LATER = "2026-11-20T08:30:00Z";

const targetsOf = ({ posts }: Neighbour) => posts.map(({ target }) => target);

describe("a link in a new post", () => {
  it.each(["HTML", "Link header"] as const)(
    "is sent once as a classic Webmention to an endpoint from %s, and an unchanged site requests nothing",
    async (method) => {
      const bob = await neighbour("bob", method);
      const home = await linkingWorld([bob]);
      const link = `${bob.url}${method === "HTML" ? "/posts/hens/" : "/twtxt.txt"}#eggs`;
      home.deploy({ [TODAY]: [link] });

      const report = await home.send();
      expect(report.mentions).toMatchObject([{ outcome: "sent", isLink: true, nick: null, target: link, method }]);
      expect(bob.posts).toMatchObject([{ source: home.findPage(TODAY), target: link }]);

      const requests = bob.requests.length;
      home.clock.time += DAY;
      expect(await home.send()).toMatchObject({ mentions: [], troubles: [] });
      expect(bob.requests).toHaveLength(requests);
    },
  );

  it("is requested once if its page has no endpoint, even when its post changes", async () => {
    const bob = await neighbour("bob", null);
    const home = await linkingWorld([bob]);
    const links = Array.from({ length: 20 }, (_, at) => `${bob.url}/posts/${at}/`);
    home.deploy({ [TODAY]: links });
    expect(outcomes(await home.send())).toEqual(links.map(() => "new no-endpoint"));
    expect(bob.requests).toHaveLength(20);

    home.clock.time += 10 * DAY;
    home.deploy({ [TODAY]: [...links, `${bob.url}/posts/new/`] });
    expect(outcomes(await home.send())).toEqual(["new no-endpoint"]);
    expect(bob.requests.slice(20)).toEqual(["/posts/new/"]);
  });

  it("is not sent to the endpoint in a feed's header, which is for mentions", async () => {
    const bob = await neighbour("bob", "feed field");
    const home = await linkingWorld([bob]);
    home.deploy({ [TODAY]: [bob.feedUrl] });
    expect((await home.send()).mentions).toMatchObject([
      { outcome: "no-endpoint", why: "its author is notified of mentions, not of links" },
    ]);
    expect(bob.posts).toEqual([]);
  });

  it("is sent only with the page as source: an endpoint that refuses it gets no reference", async () => {
    const { bob, home } = await linkingWorldWithBob();
    bob.answer = () => ({ status: 400 });
    home.deploy({ [TODAY]: [`${bob.url}/`] });
    expect(outcomes(await home.send())).toEqual(["new failed 400"]);
    expect(bob.posts).toMatchObject([{ source: home.findPage(TODAY) }]);
  });

  it("is sent one at a time to a host, at most 50 links per post", async () => {
    const bob = await neighbour("bob", "HTML");
    let open = 0;
    bob.answer = async (_post, response) => {
      open += 1;
      expect(open).toBe(1);
      response.on("close", () => {
        open -= 1;
      });
      return { status: 202 };
    };
    const home = await linkingWorld([bob]);
    home.deploy({ [TODAY]: Array.from({ length: 50 }, (_, at) => `${bob.url}/posts/${at}/`) });
    expect(outcomes(await home.send())).toEqual(Array(50).fill("new sent 202"));
  });

  it("is retried later if its endpoint is down", async () => {
    const { bob, home } = await linkingWorldWithBob();
    bob.answer = () => ({ status: 503 });
    home.deploy({ [TODAY]: [`${bob.url}/`] });
    expect((await home.send()).mentions).toMatchObject([{ outcome: "retry", isLink: true }]);
    expect((await home.send()).mentions).toMatchObject([{ outcome: "waiting", isLink: true }]);
    bob.answer = () => ({ status: 202 });
    home.clock.time += 60 * MINUTE;
    expect((await home.send()).mentions).toMatchObject([{ outcome: "sent", isLink: true }]);
    expect(bob.posts).toHaveLength(2);
  });

  it("is retried immediately, with all eight attempts, if the clock was months ahead when it failed", async () => {
    const { bob, home } = await linkingWorldWithBob();
    bob.answer = () => ({ status: 503 });
    home.deploy({ [DAYS_6]: [] });
    await home.send();
    home.deploy({ [DAYS_6]: [], [TODAY]: [`${bob.url}/`] });
    const { time } = home.clock;
    home.clock.time += 90 * DAY;
    expect((await home.send()).mentions).toMatchObject([{ outcome: "retry" }]);
    home.clock.time = time;
    const [mention] = (await home.send()).mentions;
    expect(mention).toMatchObject({ outcome: "retry", status: 503 });
    expect(Date.parse(mention?.next ?? "")).toBeLessThan(time + DAY);
    expect((await home.send()).mentions).toMatchObject([{ outcome: "waiting" }]);
    expect(bob.posts).toHaveLength(2);
  });
});

describe("a page that is mentioned and linked", () => {
  it("gets one mention, even when the mention becomes a link or the link a mention", async () => {
    const { bob, home } = await linkingWorldWithBob();
    home.alice.twts = { [TODAY]: `@<bob ${bob.url}/>` };
    home.deploy({ [TODAY]: [`${bob.url}/`] });
    expect((await home.send()).mentions).toMatchObject([{ outcome: "sent", isLink: false, kind: "new" }]);

    home.alice.twts = { [TODAY]: "no mention" };
    expect((await home.send()).mentions).toMatchObject([{ outcome: "sent", isLink: true, kind: "changed" }]);
    home.alice.twts = { [TODAY]: `again @<bob ${bob.url}/>` };
    expect((await home.send()).mentions).toMatchObject([{ outcome: "sent", isLink: false, kind: "changed" }]);
    expect(bob.posts).toHaveLength(3);
    expect((await home.send()).mentions).toEqual([]);
  });
});

describe("a changed post", () => {
  it("sends only its new links and, once, its removed links", async () => {
    const { bob, home } = await linkingWorldWithBob();
    const [hens, eggs, figs] = ["hens", "eggs", "figs"].map((name) => `${bob.url}/posts/${name}/`) as [
      string,
      string,
      string,
    ];
    home.deploy({ [TODAY]: [hens, eggs] });
    await home.send();
    home.alice.twts[TODAY] = "another text";
    home.deploy({ [TODAY]: [`${hens}#comb`, figs] });
    expect(outcomes(await home.send()).sort()).toEqual(["gone sent 202", "new sent 202"]);
    expect(targetsOf(bob).slice(2).sort()).toEqual([eggs, figs]);
    expect((await home.send()).mentions).toEqual([]);
    expect(bob.posts).toHaveLength(4);
  });

  it("that was deleted sends each of its links once more", async () => {
    const { bob, home } = await linkingWorldWithBob();
    home.deploy({ [DAYS_6]: [], [TODAY]: [`${bob.url}/`] });
    await home.send();
    home.deploy({ [DAYS_6]: [] });
    expect(outcomes(await home.send())).toEqual(["gone sent 202"]);
    expect(bob.posts[1]).toEqual(bob.posts[0]);
    expect((await home.send()).mentions).toEqual([]);
  });

  it("that gets `twt: false` sends each of its links once more, without waiting for its page to lose them", async () => {
    const { bob, home } = await linkingWorldWithBob();
    home.deploy({ [DAYS_6]: [], [TODAY]: [`${bob.url}/`] });
    await home.send();
    home.deploy({ [DAYS_6]: [], [TODAY]: [`${bob.url}/`] }, [TODAY]);
    expect(outcomes(await home.send())).toEqual(["gone sent 202"]);
    expect(bob.posts[1]).toEqual(bob.posts[0]);
    expect((await home.send()).mentions).toEqual([]);
  });

  it("waits for the deploy: new and removed links are not sent until the live page matches", async () => {
    const { bob, home } = await linkingWorldWithBob();
    const [hens, eggs] = [`${bob.url}/posts/hens/`, `${bob.url}/posts/eggs/`];
    home.deploy({ [TODAY]: [hens] });
    await home.send();
    home.build({ [TODAY]: [eggs] });
    const page = home.findPage(TODAY);
    const { mentions } = await home.send();
    expect(mentions.map(({ outcome, why }) => `${outcome}: ${why}`).sort()).toEqual([
      `retry: ${page} does not have this link`,
      `retry: ${page} still has this link`,
    ]);
    expect(targetsOf(bob)).toEqual([hens]);

    home.deploy({ [TODAY]: [eggs] });
    home.clock.time += 60 * MINUTE;
    expect(outcomes(await home.send()).sort()).toEqual(["gone sent 202", "new sent 202"]);
    expect((await home.send()).mentions).toEqual([]);
  });

  it("that is missing from the build loses no link", async () => {
    const { bob, home } = await linkingWorldWithBob();
    home.deploy({ [TODAY]: [`${bob.url}/`] });
    await home.send();
    home.build({});
    expect((await home.send()).mentions).toEqual([]);
    expect((await home.send({ links: undefined })).mentions).toEqual([]);
    expect(bob.posts).toHaveLength(1);
  });
});

describe("the first run with links", () => {
  it("of a new site sends the links of the last week", async () => {
    const { bob, home } = await linkingWorldWithBob();
    home.deploy({ [DAYS_8]: [`${bob.url}/posts/old/`], [DAYS_6]: [`${bob.url}/posts/new/`] });
    expect(await home.send()).toMatchObject({ leftAlone: 1 });
    expect(targetsOf(bob)).toEqual([`${bob.url}/posts/new/`]);
    expect(await home.send()).toMatchObject({ mentions: [], leftAlone: null });
  });

  it("after an upgrade sends no links of earlier posts, and later those of new posts and new links", async () => {
    const { bob, home } = await linkingWorldWithBob();
    const [old, own, added, recent] = ["old", "own", "added", "recent"].map((name) => `${bob.url}/posts/${name}/`) as [
      string,
      string,
      string,
      string,
    ];
    home.alice.twts = { [DAYS_8]: "hi", [TODAY]: `hi @<bob ${bob.url}/>` };
    home.deploy({ [DAYS_8]: [old], [TODAY]: [own, `${bob.url}/`] });
    // The earlier version does not support links.
    await home.send({ links: undefined });
    expect(targetsOf(bob)).toEqual([`${bob.url}/`]);
    const requests = bob.requests.length;

    expect(await home.send()).toMatchObject({ mentions: [], leftAlone: 2 });
    home.clock.time += DAY;
    expect(await home.send()).toMatchObject({ mentions: [], leftAlone: null });
    expect(bob.requests).toHaveLength(requests);

    home.deploy({ [DAYS_8]: [old, added], [TODAY]: [own], [LATER]: [recent] });
    expect((await home.send()).mentions.map(({ target }) => target).sort()).toEqual([added, recent]);
    expect(targetsOf(bob).slice(1).sort()).toEqual([added, recent]);
  });

  it("sends no links of posts whose mentions an earlier version sent with --backfill", async () => {
    const { bob, home } = await linkingWorldWithBob();
    home.alice.twts = { [DAYS_8]: `hi @<bob ${bob.url}/>` };
    home.deploy({ [DAYS_8]: [`${bob.url}/posts/old/`] });
    await home.send({ links: undefined, backfill: 1 });
    expect(targetsOf(bob)).toEqual([`${bob.url}/`]);
    expect((await home.send()).mentions).toEqual([]);
    await home.send({ backfill: 1 });
    expect(targetsOf(bob)).toEqual([`${bob.url}/`, `${bob.url}/posts/old/`]);
  });

  it("leaves the links of a post to --backfill, which sends them", async () => {
    const { bob, home } = await linkingWorldWithBob();
    home.deploy({ "2026-11-10T09:00:00Z": [`${bob.url}/posts/older/`], [DAYS_8]: [`${bob.url}/posts/old/`] });
    await home.send();
    expect(bob.posts).toEqual([]);
    await home.send({ backfill: 1 });
    expect(targetsOf(bob)).toEqual([`${bob.url}/posts/old/`]);
  });
});

describe("a site with `links: false`", () => {
  it("requests nothing for links, even when posts with sent links are deleted", async () => {
    const { bob, home } = await linkingWorldWithBob();
    home.deploy({ [DAYS_6]: [], [TODAY]: [`${bob.url}/`] });
    await home.send();
    const requests = bob.requests.length;
    home.mentions.links = false;
    home.deploy({ [DAYS_6]: [], [LATER]: [`${bob.url}/posts/hens/`] });
    expect((await home.send()).mentions).toEqual([]);
    expect(bob.requests).toHaveLength(requests);
  });

  it("sends no links of posts from that time after links are turned on again", async () => {
    const { bob, home } = await linkingWorldWithBob();
    home.deploy({ [DAYS_6]: [`${bob.url}/posts/1/`] });
    await home.send();
    home.mentions.links = false;
    home.deploy({ [DAYS_6]: [`${bob.url}/posts/1/`], [TODAY]: [`${bob.url}/posts/2/`] });
    await home.send();
    delete home.mentions.links;
    expect((await home.send()).mentions).toEqual([]);
    home.deploy({ [DAYS_6]: [], [TODAY]: [`${bob.url}/posts/2/`], [LATER]: [`${bob.url}/posts/3/`] });
    await home.send();
    expect(targetsOf(bob).sort()).toEqual(["1", "1", "3"].map((name) => `${bob.url}/posts/${name}/`));
  });
});

describe("a blocked host", () => {
  it("gets no request for new links or for links sent before it was blocked", async () => {
    const { bob, home } = await linkingWorldWithBob();
    home.deploy({ [TODAY]: [`${bob.url}/posts/hens/`] });
    await home.send();
    const requests = bob.requests.length;
    home.mentions.block = [bob.host];
    home.deploy({ [TODAY]: [], [LATER]: [`${bob.url}/posts/eggs/`] });
    const { mentions } = await home.send();
    expect(mentions.map(({ kind, outcome, why }) => `${kind} ${outcome} ${why}`).sort()).toEqual([
      "gone no-endpoint blocked by the option mentions.block",
      "new no-endpoint blocked by the option mentions.block",
    ]);
    expect((await home.send()).mentions).toEqual([]);
    expect(bob.requests).toHaveLength(requests);
  });
});

describe("a hostile target", () => {
  it("that is endless, in a redirect loop or on this machine is final, and other links are sent", async () => {
    const bob = await neighbour("bob", "HTML");
    const secret = await neighbour("secret", "HTML");
    const eve = await loopbackServer((request, response) => {
      if (request.url === "/loop") return response.writeHead(302, { location: "/loop" }).end();
      if (request.url === "/inside") return response.writeHead(302, { location: `${secret.url}/` }).end();
      response.writeHead(200, { "content-type": "text/html" });
      const more = () => {
        while (!response.destroyed && response.write("<p>word</p>\n".repeat(10_000)));
      };
      response.on("drain", more);
      more();
    });
    const home = await linkingWorld([bob, eve]);
    const links = ["/endless", "/loop", "/inside"].map((path) => eve.url + path);
    home.deploy({ [TODAY]: [...links, `${secret.url}/`, "http://10.0.0.1/x", `${bob.url}/`] });
    const { mentions } = await home.send();
    expect(Object.fromEntries(mentions.map(({ target, outcome }) => [target, outcome]))).toEqual({
      [`${eve.url}/endless`]: "no-endpoint",
      [`${eve.url}/loop`]: "failed",
      [`${eve.url}/inside`]: "not-asked",
      [`${secret.url}/`]: "not-asked",
      "http://10.0.0.1/x": "not-asked",
      [`${bob.url}/`]: "sent",
    });
    expect(secret.requests).toEqual([]);
    expect((await home.send()).mentions).toEqual([]);
  });

  it("that never responds is requested once in a run, and at most eight times", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const eve = await loopbackServer(() => void vi.advanceTimersByTime(PATIENT_MS));
    const home = await linkingWorld([eve]);
    home.deploy({ [TODAY]: [`${eve.url}/1`, `${eve.url}/2`] });
    expect(outcomes(await home.send())).toEqual(["new retry", "new retry"]);
    expect(eve.requests).toHaveLength(1);
    for (let run = 0; run < 20; run += 1) {
      home.clock.time += 12 * 60 * MINUTE;
      await home.send();
    }
    expect(eve.requests.length).toBeLessThanOrEqual(16);
    expect((await home.send()).mentions).toEqual([]);
  });
});

describe("a dry run", () => {
  it("lists links, and sends and stores nothing", async () => {
    const { bob, home } = await linkingWorldWithBob();
    home.deploy({ [TODAY]: [`${bob.url}/`] });
    const { mentions } = await home.send({ isDryRun: true });
    expect(mentions).toMatchObject([{ isLink: true, outcome: "would be sent", endpoint: bob.endpoint }]);
    expect(bob.posts).toEqual([]);
    expect(await home.store.keys("")).toEqual([]);
  });
});
