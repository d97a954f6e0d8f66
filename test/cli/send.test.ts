import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import * as v from "valibot";
import { afterEach, describe, expect, it } from "vitest";
import { readJson } from "../../plugin/store/json.js";
import { SqliteStore } from "../../plugin/store/sqlite.js";
import { hostFile } from "../helpers/built-site.js";
import type { LoopbackServer } from "../helpers/loopback.js";
import { COMMAND, LOOPBACK_ONLY } from "../helpers/paths.js";
import { PAGES, settingsOf } from "../helpers/receiver.js";
import { type Alice, alice, type Neighbour, neighbour } from "../mentions/send/outgoing.js";
import { type Blog, blog, type Outcome, testTerminal } from "./helpers.js";
import { runCommandLine } from "./run-command-line.js";
import { itRefusesUsage } from "./wrong-usage.js";

const running: ChildProcess[] = [];
const NOW = "2026-11-20T10:00:00Z";
const BOBS = "2026-11-20T09:30:00Z";

afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
});

/** Runs `eleventy-twtxt send ARGS` in this process, with a fixed clock. */
async function send(folder: string, args: string[], now = NOW, isSeen = false): Promise<Outcome> {
  const terminal = testTerminal(folder, now, null, isSeen);
  const exitCode = await runCommandLine(["send", ...args], terminal);
  return { exitCode, stdout: terminal.stdout.join("\n"), stderr: terminal.stderr.join("\n") };
}

/** Runs it in a separate process, which can connect only to this machine. */
function sendProcess(folder: string, args: string[]): ChildProcess {
  const words = ["--import", LOOPBACK_ONLY, COMMAND, "send", ...args];
  const child = spawn(process.execPath, words, { cwd: folder, stdio: "ignore" });
  running.push(child);
  return child;
}

function allowing(servers: readonly LoopbackServer[]): string[] {
  return servers.flatMap(({ host }) => ["--allow-private-host", host]);
}

/** Alice's site after a build, with a feed on loopback. */
function siteOf(made: Alice, host: "static" | "netlify" | "node" = "static", links: string[] = []): Blog {
  const page = links.length > 0 ? `${made.url}/a/` : "https://alice.example/a/";
  const pages = {
    ...PAGES,
    feeds: [made.feedUrl],
    twts: [{ timestamp: BOBS, hashes: ["abcdefg"], page, replyTo: null, links }],
  };
  const settings = settingsOf({ feedUrl: made.feedUrl });
  const hasEndpoints = host !== "static";
  return blog(
    { host },
    { "package.json": "{}", ...hostFile({ settings: { ...settings, host, hasEndpoints }, pages }) },
  );
}

async function home() {
  const made = await alice();
  const bob = await neighbour("bob");
  const carol = await neighbour("carol", null);
  made.twts = { [BOBS]: `hi ${bob.mention} and ${carol.mention}` };
  return { made, bob, carol, site: siteOf(made), allowed: allowing([made, bob, carol]) };
}

describe("eleventy-twtxt send", () => {
  it("reports each mention when it is sent, then prints all of them, and records them in the data folder", async () => {
    const { made, bob, carol, site, allowed } = await home();
    const first = await send(site.folder, allowed);
    const sent = `sent to ${bob.endpoint} (named in the feed)`;
    const unsent = "no endpoint in the feed, its headers or its site";
    expect(first.exitCode).toBe(0);
    expect(first.stdout.split("\n").sort()).toEqual([
      `${BOBS}  @bob    ${bob.feedUrl.padEnd(carol.feedUrl.length)}  ${sent}`,
      `${BOBS}  @carol  ${carol.feedUrl.padEnd(bob.feedUrl.length)}  ${unsent}`,
    ]);
    const lines = first.stderr.split("\n");
    expect(lines.slice(0, 2).sort()).toEqual([
      `${BOBS}  @bob  ${bob.feedUrl}  ${sent}`,
      `${BOBS}  @carol  ${carol.feedUrl}  ${unsent}`,
    ]);
    expect(lines.slice(2)).toEqual(["1 sent, 1 without an endpoint."]);
    expect(bob.posts).toMatchObject([{ source: made.twt(BOBS), target: bob.feedUrl }]);
    expect(site.list(".local/share/eleventy-twtxt/sites/alice.example/store")).toContain("store.db");

    expect(await send(site.folder, allowed)).toEqual({ exitCode: 0, stdout: "", stderr: "Nothing to send." });
    expect(bob.posts).toHaveLength(1);
  });

  it("prints each mention once on a terminal, and the count after every tenth", async () => {
    const { bob, site, allowed } = await home();
    const { stdout, stderr } = await send(site.folder, allowed, NOW, true);
    expect(stdout.split("\n")).toHaveLength(2);
    expect(stderr).toBe("1 sent, 1 without an endpoint.");
    expect(bob.posts).toHaveLength(1);

    const { folder, args } = await fortyMentions();
    const many = await send(folder, args, new Date().toISOString(), true);
    expect(many.stdout.split("\n")).toHaveLength(40);
    expect(many.stderr.split("\n")).toEqual(["10 so far.", "20 so far.", "30 so far.", "40 so far.", "40 sent."]);
  });

  it("does not connect to a private network, and names the option that allows it", async () => {
    const { made, bob, site } = await home();
    const { exitCode, stdout, stderr } = await send(site.folder, allowing([made]));
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/ http\S+ is not requested: its address is not public$/m);
    const [, hint = ""] =
      /^Only public servers are contacted. To allow one in your own network, add (.*)$/m.exec(stderr) ?? [];
    expect(hint.split(/ (?=--)/)).toContain(`--allow-private-host ${new URL(bob.feedUrl).host}`);
    expect(bob.posts).toEqual([]);
  });

  it("sends the page of the build if the endpoint requires one", async () => {
    const made = await alice();
    const bob = await neighbour("bob", "HTML");
    made.twts = { [BOBS]: bob.mention };
    await send(siteOf(made).folder, allowing([made, bob]));
    expect(bob.posts).toMatchObject([{ source: "https://alice.example/a/" }]);
  });

  it("with --dry-run lists the mentions and their endpoints, and sends and writes nothing", async () => {
    const { bob, carol, site, allowed } = await home();
    const { exitCode, stdout, stderr } = await send(site.folder, ["--dry-run", ...allowed]);
    expect(exitCode).toBe(0);
    expect(stdout.split("\n").sort()).toEqual([
      expect.stringMatching(
        `^${BOBS}  @bob    ${bob.feedUrl} +would be sent to .*webmention\\S+ \\(named in the feed\\)$`,
      ),
      expect.stringMatching(`^${BOBS}  @carol  ${carol.feedUrl} +no endpoint in the feed`),
    ]);
    expect(stderr).toBe("1 to send, 1 without an endpoint. Nothing was sent.");
    expect(bob.posts).toEqual([]);
    expect(site.list(".")).not.toContain(".local");
  });

  it("with --json prints only the same data", async () => {
    const { bob, site, allowed } = await home();
    const { stdout, stderr } = await send(site.folder, ["--json", ...allowed]);
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({ leftAlone: 0, troubles: [] });
    expect(report.mentions).toContainEqual({
      kind: "new",
      timestamp: BOBS,
      nick: "bob",
      isLink: false,
      target: bob.feedUrl,
      endpoint: bob.endpoint,
      method: "feed field",
      outcome: "sent",
      status: 202,
      why: null,
      next: null,
    });
    expect(stderr).toBe("1 sent, 1 without an endpoint.");
  });

  it("exits with 1 if a mention fails permanently, and with 0 if it will be retried", async () => {
    const { made, bob, site, allowed } = await home();
    bob.answer = () => ({ status: 500 });
    const later = await send(site.folder, allowed);
    expect(later).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("1 to be retried") });
    expect(later.stdout).toContain("it answers 500; next attempt after 2026-11-20T10:");
    expect((await send(site.folder, allowed)).stdout).toContain("  next attempt after 2026-11-20T10:");

    bob.answer = () => ({ status: 400 });
    const failed = await send(site.folder, allowed, "2026-11-20T12:00:00Z");
    expect(failed).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("1 failed") });
    expect(failed.stdout).toContain(`failed at ${bob.endpoint} (named in the feed): it answers 400`);

    made.answers["/twtxt.txt"] = (response) => response.writeHead(404).end();
    expect(await send(site.folder, allowed)).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: `eleventy-twtxt: ${made.feedUrl} answers 404. Nothing was sent. Check that the site is deployed, then try again.`,
    });
  });

  it("with --now retries waiting mentions at once, and does not count this as an attempt", async () => {
    const { made, bob, site, allowed } = await home();
    made.twts = { [BOBS]: bob.mention };
    bob.answer = () => ({ status: 500 });
    await send(site.folder, allowed);
    for (let time = 0; time < 2; time += 1) await send(site.folder, ["--now", ...allowed], "2026-11-20T10:01:00Z");
    expect(bob.posts).toHaveLength(3);
    const { mentions } = JSON.parse((await send(site.folder, ["--list", "--json"])).stdout);
    expect(mentions).toMatchObject([{ outcome: "waiting", attempts: 1, why: "it answers 500" }]);
    expect(Date.parse(mentions[0].next)).toBeLessThan(Date.parse("2026-11-20T10:15:00Z"));

    bob.answer = () => ({ status: 202 });
    const now = await send(site.folder, ["--now", ...allowed], "2026-11-20T10:02:00Z");
    expect(now).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/1 sent\.$/) });
    expect((await send(site.folder, ["--now", ...allowed])).stderr).toBe("Nothing to send.");
    expect(bob.posts).toHaveLength(4);
  });

  it("with --now leaves a mention waiting whose private address is not allowed, since `serve` may allow it", async () => {
    const { made, bob, site, allowed } = await home();
    made.twts = { [BOBS]: bob.mention };
    bob.answer = () => ({ status: 503 });
    await send(site.folder, allowed);
    const listed = async () => (await send(site.folder, ["--list"])).stdout;
    const before = await listed();
    expect(before).toContain("waiting, 1 attempt");

    const own = ["--allow-private-host", made.host];
    const { stdout, stderr } = await send(site.folder, ["--now", ...own], "2026-11-20T10:01:00Z");
    expect(stdout).toMatch(/ is not requested: its address is not public; next attempt after 2026-11-20T10:\d\dZ$/m);
    expect(stderr).toMatch(/1 not requested\.$/);
    expect(await listed()).toBe(before);
  });

  it("with --list shows sent, waiting and failed mentions with reasons, without any request", async () => {
    const { made, bob, carol, site, allowed } = await home();
    expect(await send(site.folder, ["--list"])).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: "No mentions were sent yet.",
    });
    const [dora, emil] = [await neighbour("dora"), await neighbour("emil")];
    made.twts = { [BOBS]: [bob, carol, dora, emil].map(({ mention }) => mention).join(" ") };
    dora.answer = () => ({ status: 503 });
    emil.answer = () => ({ status: 400, headers: { "content-type": "text/plain" }, body: "No such twt" });
    await send(site.folder, [...allowed, ...allowing([dora, emil])]);
    const requestCounts = () => [made, bob, carol, dora, emil].map((server) => server.requests.length);
    const before = requestCounts();

    const { exitCode, stdout, stderr } = await send(site.folder, ["--list"]);
    expect(exitCode).toBe(0);
    const lineOf = (nick: string) => stdout.split("\n").find((line) => line.includes(`@${nick}`));
    expect(lineOf("bob")).toMatch(new RegExp(`^${BOBS}  @bob    ${bob.feedUrl} +sent 2026-11-20T10:00Z to http`));
    expect(lineOf("carol")).toContain("  no endpoint in the feed");
    expect(lineOf("dora")).toMatch(
      /waiting, 1 attempt at http\S+: it answers 503; next attempt after 2026-11-20T10:\d\dZ$/,
    );
    expect(lineOf("emil")).toMatch(/failed 2026-11-20T10:00Z at http\S+: it answers 400, "No such twt"$/);
    expect(stderr).toBe(
      "1 sent, 1 waiting, 1 failed, 1 without an endpoint. To try what waits at once: eleventy-twtxt send --now",
    );
    expect(requestCounts()).toEqual(before);
  });

  it("with --list shows the newest 50, and with --all all of them", async () => {
    const { made, bob, site, allowed } = await home();
    const minute = (at: number) => `2026-11-20T08:${String(at).padStart(2, "0")}:00Z`;
    made.twts = Object.fromEntries(Array.from({ length: 51 }, (_, at) => [minute(at), bob.mention]));
    await send(site.folder, allowed);
    const { stdout, stderr } = await send(site.folder, ["--list"]);
    expect(stdout.split("\n").map((line) => line.slice(0, 20))).toEqual(
      Array.from({ length: 50 }, (_, at) => minute(50 - at)),
    );
    expect(stderr).toBe("51 sent, the newest 50 listed. All: eleventy-twtxt send --list --all.");
    const all = await send(site.folder, ["--list", "--all"]);
    expect(all.stdout.split("\n")).toHaveLength(51);
    expect(all.stderr).toBe("51 sent.");
  });

  it("marks links as such: with --dry-run, when they are sent, and with --list", async () => {
    const made = await alice();
    const bob = await neighbour("bob", "HTML");
    made.twts = { [BOBS]: "hi" };
    const [hens, none] = [`${bob.url}/posts/hens/`, `${bob.url}/none`];
    made.answers["/a/"] = (response) => response.setHeader("content-type", "text/html").end(`<a href="${hens}">h</a>`);
    const site = siteOf(made, "static", [hens, none]);
    const allowed = allowing([made, bob]);

    const dry = await send(site.folder, ["--dry-run", ...allowed]);
    expect(dry.stdout.split("\n")).toEqual([
      `${BOBS}  link  ${none.padEnd(hens.length)}  no endpoint: nothing is there (404)`,
      `${BOBS}  link  ${hens}  would be sent to ${bob.endpoint} (named in the page)`,
    ]);
    expect(dry.stderr).toBe("1 to send, 1 without an endpoint. Nothing was sent.");
    expect(bob.posts).toEqual([]);

    const sent = await send(site.folder, allowed);
    expect(sent.stdout).toContain(`${BOBS}  link  ${hens}  sent to ${bob.endpoint} (named in the page)`);
    expect(bob.posts).toMatchObject([{ source: `${made.url}/a/`, target: hens }]);
    const listed = await send(site.folder, ["--list"]);
    expect(listed.stdout).toContain(`${BOBS}  link  ${hens}  sent 2026-11-20T10:00Z to ${bob.endpoint}`);
    expect((await send(site.folder, allowed)).stderr).toBe("Nothing to send.");
  });

  it("says how many mentions the first run skips; --backfill N sends the newest N", async () => {
    const { made, bob, site, allowed } = await home();
    made.twts = { "2026-10-01T10:00:00Z": bob.mention, "2026-10-02T10:00:00Z": bob.mention };
    expect((await send(site.folder, allowed)).stderr).toBe(
      "2 older mentions skipped: --backfill N sends the newest N twts.\nNothing to send.",
    );
    await send(site.folder, ["--backfill", "1", ...allowed]);
    expect(bob.posts.map(({ source }) => source)).toEqual([made.twt("2026-10-02T10:00:00Z")]);
  });

  it("sends for another feed without a site", async () => {
    const { made, bob, allowed } = await home();
    const { folder } = blog(null, { "package.json": "{}" });
    const args = ["--feed", made.feedUrl, "--store", "kept", ...allowed];
    expect((await send(folder, args)).exitCode).toBe(0);
    expect((await send(folder, args)).stderr).toBe("Nothing to send.");
    expect(bob.posts).toHaveLength(1);
  });

  itRefusesUsage("send", [
    [["--bakfill", "3"], 'there is no option "--bakfill". Did you mean "--backfill"?'],
    [["--backfill", "few"], '--backfill: expected a number from 0 to 999999, got "few".'],
    [["now"], 'expected no arguments, got "now".'],
    [["--all"], "--all lists, so it needs --list."],
    [["--list", "--now", "--feed", "https://alice.example/twtxt.txt", "--store", "kept"], "--list sends nothing."],
    [["--feed", "alice.example"], '--feed: expected a URL such as "https://alice.example/twtxt.txt"'],
    [["--feed", "https://alice.example/twtxt.txt"], "name a folder with --store"],
  ]);

  it("lists what this machine knows, with one sentence about the missing key", async () => {
    const { made, allowed } = await home();
    const { folder } = siteOf(made, "node");
    await send(folder, allowed);
    const listed = await send(folder, ["--list"]);
    expect(listed).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("sent 20") });
    expect(listed.stderr).toBe(
      "This is what this machine knows, since your site answers only to your key:\n1 sent, 1 without an endpoint.",
    );
  });

  it("does not send for a site on Netlify, whose functions send, unless --store is given", async () => {
    const { made, bob, allowed } = await home();
    const { folder } = siteOf(made, "netlify");
    expect(await send(folder, allowed)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("on Netlify your site sends its mentions itself"),
    });
    expect(await send(folder, ["--list"])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(
        /Only your site knows what it has sent, and it could not be asked\. The site has no key\./,
      ),
    });
    expect(bob.posts).toEqual([]);
    expect((await send(folder, ["--store", "kept", ...allowed])).exitCode).toBe(0);
    expect(bob.posts).toHaveLength(1);
  });
});

/** Forty mentions to five hosts. */
async function fortyMentions() {
  const made = await alice();
  const bobs = await Promise.all(["a", "b", "c", "d", "e"].map((nick) => neighbour(nick)));
  const mentions = bobs.map(({ mention }) => mention).join(" ");
  made.twts = Object.fromEntries(
    Array.from({ length: 8 }, (_, at) => [
      new Date(Date.now() - at * 60_000).toISOString().replace(/\.\d+/, ""),
      mentions,
    ]),
  );
  const { folder } = blog(null, { "package.json": "{}" });
  const args = ["--feed", made.feedUrl, "--store", "kept", ...allowing([made, ...bobs])];
  const arrived = () => bobs.flatMap(({ posts }) => posts).map(({ source, target }) => `${source} ${target}`);
  const expected = Object.keys(made.twts).flatMap((at) => bobs.map(({ feedUrl }) => `${made.twt(at)} ${feedUrl}`));
  return { made, bobs, folder, args, arrived, expected: expected.sort() };
}

/** The mentions that the ledger records as sent, as `source target`. */
async function confirmed(folder: string, { twt }: Alice): Promise<string[]> {
  const store = new SqliteStore(join(folder, "kept"));
  const keys = (await store.keys("sent/")).filter((key) => /\/done\/.*-s$/.test(key));
  const Details = v.object({ timestamp: v.string(), target: v.string() });
  const records = await Promise.all(keys.map((key) => readJson(store, key, Details)));
  return records.flatMap((record) => (record ? [`${twt(record.value.timestamp)} ${record.value.target}`] : []));
}

/** Calls `kill` at the Nth POST request, instead of the response or right after it. @param at - N */
function killAt(at: number, isAnswered: boolean, bobs: Neighbour[], kill: () => void): void {
  let posts = 0;
  for (const bob of bobs) {
    bob.answer = (_, response) => {
      posts += 1;
      if (posts !== at) return { status: 202 };
      if (isAnswered) response.writeHead(202).end(kill);
      else kill();
      return undefined;
    };
  }
}

describe("a command that is killed while it sends forty mentions", () => {
  it.each([7, 16])(
    "at POST request %i leaves the remaining mentions to the next run, which repeats no confirmed one",
    async (at) => {
      const { made, bobs, folder, args, arrived, expected } = await fortyMentions();
      const child = sendProcess(folder, args);
      killAt(at, at % 2 === 0, bobs, () => child.kill("SIGKILL"));
      expect(await once(child, "close")).toEqual([null, "SIGKILL"]);

      const before = arrived();
      const confirmedBefore = await confirmed(folder, made);
      expect(before.length).toBeGreaterThanOrEqual(at);
      expect(new Set(before).size).toBe(before.length);
      expect(before).toEqual(expect.arrayContaining(confirmedBefore));
      expect(before.length - confirmedBefore.length).toBeLessThanOrEqual(bobs.length);

      for (const bob of bobs) bob.answer = () => ({ status: 202 });
      // By then, the lease of the killed process has ended for every clock.
      const next = await send(folder, args, new Date(Date.now() + 600_000).toISOString());
      expect(next.exitCode).toBe(0);
      expect([...new Set(arrived())].sort()).toEqual(expected);
      const again = arrived()
        .slice()
        .sort()
        .filter((one, index, list) => one === list[index - 1]);
      expect(again.filter((one) => confirmedBefore.includes(one))).toEqual([]);
      expect(again).toHaveLength(before.length - confirmedBefore.length);
      expect((await confirmed(folder, made)).sort()).toEqual(expected);
    },
  );
});

describe("two concurrent commands", () => {
  it("send each mention once: one waits until the other ends", async () => {
    const { bobs, folder, args, arrived, expected } = await fortyMentions();
    const [bob] = bobs;
    const open: (() => void)[] = [];
    if (bob) bob.answer = () => new Promise((answer) => void open.push(() => answer({ status: 202 })));
    const runs = [1, 2].map(async () => {
      const said: string[] = [];
      const say = (line: string) => {
        said.push(line);
        if (!line.includes("Waiting for another run to end")) return;
        if (bob) bob.answer = () => ({ status: 202 });
        for (const answer of open) answer();
      };
      const terminal = { ...testTerminal(folder, new Date().toISOString()), say };
      expect(await runCommandLine(["send", ...args], terminal)).toBe(0);
      return said;
    });
    const lines = (await Promise.all(runs)).sort((a, b) => a.length - b.length);
    expect(lines[0]).toEqual(["Waiting for another run to end. It is sending, or was killed.", "Nothing to send."]);
    expect(lines[1]?.at(-1)).toBe("40 sent.");
    expect(arrived().sort()).toEqual(expected);
  });
});
