import type { RequestListener } from "node:http";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { discoveryPaths } from "../../plugin/keys/address.js";
import { loopbackServer } from "../helpers/loopback.js";
import { deadUrl } from "../helpers/ports.js";
import {
  answer,
  checkedSite,
  checkFeed,
  containing,
  doctor,
  PLAIN,
  posts,
  report,
  sourceFolder,
} from "./checked-site.js";
import { itRefusesUsage } from "./wrong-usage.js";

describe("a healthy site", () => {
  it("exit 0: the front page links to the feed, there is nothing to fix, and the rate limit is tested", async () => {
    const site = await checkedSite({ perMinute: 60 });
    const { folder } = sourceFolder(site);
    const { exitCode, stdout, stderr } = await doctor([site.url], { hosts: [site], folder });
    expect(stdout).not.toContain("fix ");
    expect([exitCode, stderr]).toEqual([0, "Nothing to fix, 2 notes.\n"]);
    const lines = [
      `ok    ${site.url}/ names the feed ${site.feedUrl}`,
      `ok    ${site.feedUrl} is a feed with 2 twts`,
      "ok    1 archive found, with 2 older twts",
      `ok    Senders find where mentions go, in the feed and its Link header: ${site.url}/webmention`,
      `ok    ${site.url}/webmention refuses an invalid mention (400)`,
      `ok    ${site.url}/mentions.json lists the mentions`,
      `ok    Senders of private messages find the key of alice@${site.host} (4 of 4 places)`,
      `ok    ${site.url}/webmention stops a flood of mentions from one sender (rate limit)`,
    ];
    for (const line of lines) expect(stdout).toContain(`${line}\n`);
    expect(posts(site)).toHaveLength(60);
  });

  it("lists the variables that cannot be checked from outside, and notes that there is no token", async () => {
    const { exitCode, notes } = await checkFeed({});
    expect([exitCode, notes]).toEqual([
      0,
      containing("TWTXT_MENTIONS_TOKEN", "TWTXT_SMTP_URL, TWTXT_MAIL_TO", "add --flood"),
    ]);
    for (const variable of ["TWTXT_WEBHOOK_URL", "TWTXT_BUILD_HOOK_URL"]) expect(notes[1]).toContain(variable);
    const { oks } = await checkFeed({ environment: { TWTXT_MENTIONS_TOKEN: "0123456789abcdef0123456789abcdef" } });
    expect(oks).toContainEqual(expect.stringMatching(/mentions\.txt, the private feed .* requires its token$/));
  });

  it("without a URL, checks the site of the folder, even on loopback", async () => {
    const site = await checkedSite();
    const { exitCode, oks } = await report([], { folder: sourceFolder(site).folder });
    expect([exitCode, oks[0]]).toEqual([0, `${site.feedUrl} is a feed with 2 twts`]);
  });

  it("finds the key of a user whose name is not the nick", async () => {
    const site = await checkedSite({ options: () => ({ user: "al" }) });
    const sources = sourceFolder(site, "al");
    expect((await report([site.feedUrl], { hosts: [site] })).notes).toContainEqual(
      expect.stringContaining(`No one can send private messages to alice@${site.host}`),
    );
    const found = `Senders of private messages find the key of al@${site.host} (4 of 4 places)`;
    const byOption = await report([site.feedUrl, "--address", `al@${site.host}`], { hosts: [site] });
    expect(byOption.oks).toContain(found);
    expect((await report([], { hosts: [site], folder: sources.folder })).oks).toContain(found);
  });
});

describe("the rate limit", () => {
  it("is not tested on another author's site, which gets three invalid mentions", async () => {
    const { site } = await checkFeed({});
    expect(posts(site)).toHaveLength(3);
  });

  it("is not tested from the folder of another site", async () => {
    const [site, mine] = [await checkedSite(), await checkedSite()];
    const { notes } = await report([site.feedUrl], { hosts: [site, mine], folder: sourceFolder(mine).folder });
    expect(notes).toContainEqual(
      expect.stringMatching(/not known to be yours, so its rate limit was not tested\. If it is, add --flood/),
    );
    expect([posts(site).length, posts(mine).length]).toEqual([3, 0]);
  });

  it("is recognized at a site of two machines, each of which counts alone", async () => {
    let received = 0;
    const site = await checkedSite({
      handlers: () => ({
        "/webmention": (request, response) => {
          if (request.method === "POST") received += 1;
          const ofMachine = Math.ceil(received / 2);
          answer(request.method === "POST" ? (ofMachine > 60 ? 429 : 400) : 200)(request, response);
        },
      }),
    });
    const { oks } = await report([site.feedUrl, "--flood"], { hosts: [site] });
    expect(oks).toContainEqual(expect.stringContaining("stops a flood of mentions from one sender (rate limit)"));
  });

  it("fix: 130 invalid mentions are processed, and the advice names machines that count alone", async () => {
    const site = await checkedSite({ perMinute: 0 });
    const { exitCode, fixes } = await report([site.feedUrl, "--flood"], { hosts: [site] });
    expect([exitCode, fixes]).toEqual([1, containing("130 invalid mentions in a row were processed")]);
    expect(posts(site)).toHaveLength(133);
  });

  it("is recognized in the next check, which says when to check again", async () => {
    const site = await checkedSite();
    const { folder } = sourceFolder(site);
    const first = await report([], { hosts: [site], folder });
    expect([first.exitCode, first.notes.join()]).toEqual([0, expect.not.stringContaining("(429)")]);
    const second = await report([], { hosts: [site], folder });
    expect([second.exitCode, second.notes]).toEqual([
      0,
      expect.arrayContaining([
        expect.stringMatching(
          /\/webmention refuses requests from this machine for now \(429\).* An earlier check .*Check again in \d+ seconds\.$/,
        ),
      ]),
    ]);
  });

  it("is never tested on a host other than the feed's", async () => {
    const service = await loopbackServer(answer(400));
    const site = await checkedSite({ options: () => ({ webmention: `${service.url}/alice` }) });
    const { exitCode, notes } = await report([site.feedUrl, "--flood"], {
      hosts: [site, service],
      folder: sourceFolder(site).folder,
    });
    expect([exitCode, service.requests]).toEqual([0, ["/alice", "/alice"]]);
    expect(notes).toContainEqual(
      expect.stringContaining("The endpoint is not on the host of the feed, so its rate limit was not tested."),
    );
  });

  it("is not tested at the target of a redirect", async () => {
    const service = await loopbackServer(answer(400));
    const site = await checkedSite({
      handlers: () => ({
        "/webmention": (request, response) =>
          answer(request.method === "POST" ? 307 : 200, { location: service.url })(request, response),
      }),
    });
    const { notes } = await report([site.feedUrl, "--flood"], { hosts: [site, service] });
    expect(notes).toContainEqual(
      expect.stringMatching(/^The endpoint redirects, so its rate limit was not tested\. Name the URL/),
    );
    expect(service.requests).toHaveLength(2);
  });

  it("fix: the endpoint fails", async () => {
    let count = 0;
    const site = await checkedSite({
      handlers: () => ({ "/webmention": (request, response) => answer(++count > 10 ? 500 : 400)(request, response) }),
    });
    const { fixes } = await report([site.feedUrl, "--flood"], { hosts: [site] });
    expect(fixes).toEqual(containing("After 8 invalid mentions the endpoint answers 500."));
    expect(count).toBe(11);
  });
});

describe("a malicious server", () => {
  const trickle: RequestListener = (request, response) => {
    response.writeHead(200, PLAIN);
    const timer = setInterval(() => response.write("x"), 100);
    request.on("close", () => clearInterval(timer));
  };
  const flood: RequestListener = (_, response) => {
    response.writeHead(200, PLAIN);
    const more = () => {
      while (!response.destroyed && response.write("x".repeat(65_536)));
    };
    response.on("drain", more);
    more();
  };
  it("never responds, or sends an endless response slowly: one finding, and no further checks", async () => {
    const servers = await Promise.all([loopbackServer(() => {}), loopbackServer(trickle)]);
    const { setTimeout: startTimer } = globalThis;
    const startShortTimer = (work: () => void, milliseconds = 0) => startTimer(work, milliseconds / 20);
    vi.spyOn(globalThis, "setTimeout").mockImplementation(startShortTimer as typeof setTimeout);
    onTestFinished(() => void vi.restoreAllMocks());
    const reports = await Promise.all(
      servers.map((server) => report([`${server.url}/twtxt.txt`], { hosts: [server] })),
    );
    for (const { exitCode, fixes } of reports) expect([exitCode, fixes]).toEqual([1, containing("is too slow")]);
    for (const { requests } of servers) expect(requests.length).toBeLessThan(8);
  });

  it.each<[string, RequestListener, string]>([
    ["sends an endless body", flood, "is larger than 8 MiB, or endless"],
    [
      "redirects endlessly",
      (request, response) => void response.writeHead(302, { location: `${request.url}x` }).end(),
      "redirects more than 5 times",
    ],
    [
      "redirects to a private network",
      (_, response) => void response.writeHead(302, { location: "http://10.0.0.1/" }).end(),
      "its address is not public. Only public servers are contacted. To allow one in your own network, add --allow-private-host 10.0.0.1:80",
    ],
    [
      "sends invalid gzip data",
      (_, response) => void response.writeHead(200, { ...PLAIN, "content-encoding": "gzip" }).end("x"),
      "cannot be decompressed",
    ],
    ["closes the connection", (request) => void request.socket.destroy(), "gives no readable answer (ECONNRESET)"],
  ])("%s: one finding, and no further checks", async (_, listener, fix) => {
    const server = await loopbackServer(listener);
    const { exitCode, fixes } = await report([`${server.url}/twtxt.txt`], { hosts: [server] });
    expect([exitCode, fixes]).toEqual([1, containing(fix)]);
    expect(server.requests.length).toBeLessThan(8);
  });

  it("is offline: one finding", async () => {
    const url = await deadUrl();
    expect(await report([url], { hosts: [new URL(url)] })).toMatchObject({
      exitCode: 1,
      fixes: containing(`Nothing answers at ${url}`),
    });
  });

  it("is in a private network: one finding, and no connection", async () => {
    const server = await loopbackServer(answer(200));
    expect(await report([server.url], {})).toMatchObject({
      exitCode: 1,
      fixes: containing("its address is not public"),
    });
    expect(server.requests).toEqual([]);
  });

  it("cannot control the terminal, or add lines to the output", async () => {
    const site = await checkedSite({
      feed: (text) => text.replace("= alice", "= al\u001b[2Jice\u009b\u202e\u2028ok    x"),
      handlers: (url) => ({
        [discoveryPaths(`eve@${new URL(url).host}`)[0] ?? ""]: answer(
          200,
          { "content-type": "a/\u009bb" },
          JSON.stringify({ endpoint: "\nok    all is well", key: "\r\nok" }),
        ),
      }),
    });
    const args = [site.feedUrl, "--address", `eve@${site.host}`];
    const { stdout } = await doctor(args, { hosts: [site] });
    expect(stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]|^ok {4}(x|all is well)/m);
    expect(stdout).toContain('"al\\u{1b}[2Jice\\u{9b}\\u{202e}\\u{2028}ok    x"');
    expect(stdout).toContain('"\\u{a}ok    all is well"');
    expect((await report(args, { hosts: [site] })).fixes.join()).toContain("al\\u{1b}[2J");
  });

  it("has endless archives: the first 500 are checked", async () => {
    const site = await checkedSite({
      feed: (text) => text.replace("twtxt-2023.txt", "a0.txt"),
      handlers: () =>
        new Proxy(
          {},
          {
            get: (_, path) =>
              /^\/a\d+\.txt$/.test(String(path))
                ? answer(
                    200,
                    PLAIN,
                    `# nick = alice\n# prev = abcdefg a${Number(String(path).slice(2, -4)) + 1}.txt\n\n`,
                  )
                : undefined,
          },
        ),
    });
    const { exitCode, notes } = await report([site.feedUrl], { hosts: [site] });
    expect([exitCode, notes[0]]).toEqual([1, expect.stringContaining("Only the first 500 archives were checked.")]);
  });
});

describe("the arguments", () => {
  itRefusesUsage("doctor", [
    [[], "expected a URL, since there is no built site in this folder"],
    [["alice.example"], 'expected a URL such as "https://alice.example/twtxt.txt", got "alice.example"'],
    [["ftp://alice.example"], "expected a URL such as"],
    [
      ["https://a.example", "https://b.example"],
      'expected a URL such as "https://alice.example/twtxt.txt", got 2 arguments.',
    ],
    [["https://a.example", "--address", "alice"], "expected an address such as alice@alice.example"],
    [
      ["https://a.example", "--allow-private-host", "127.0.0.1:1,127.0.0.1:2"],
      '--allow-private-host: "127.0.0.1:1,127.0.0.1:2": repeat the option for each value.',
    ],
    [["https://a.example", "--allow-private-host", "here"], "--allow-private-host: expected a host and a port"],
    [["https://a.example", "--allow-private-host", "here:0"], "--allow-private-host: expected a host and a port"],
    [["https://a.example", "--allow-private-host", "here:65536"], "--allow-private-host: expected a host and a port"],
  ]);

  it("exit 1: the named settings do not exist", async () => {
    const { exitCode, stderr } = await doctor(["https://a.example", "--settings", "no.json"]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("There is no no.json")]);
  });
});
