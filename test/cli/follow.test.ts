// test/cli/follow.test.ts: the commands `eleventy-twtxt follow` and `unfollow`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Machine } from "../../plugin/author/machine.js";
import { loadSite } from "../../plugin/author/site.js";
import { follow as followFeed } from "../../plugin/author/timeline/followed-feeds.js";
import { loopbackServer } from "../helpers/loopback.js";
import { COMPILED } from "../helpers/paths.js";
import { post, site } from "../helpers/site.js";
import { blog, command } from "./helpers.js";

const BOB = { nick: "bob", url: "https://bob.example/twtxt.txt" };
const CAROL = { nick: "carol", url: "https://carol.example/tw.txt" };
const FILE = "_data/follow.json";
const NEXT = "Your next build adds it.\n";

/** A site whose last build had Carol in the option `follow`. */
function following(files: Record<string, string> = {}) {
  return blog({ follow: [CAROL], followed: { file: FILE, option: [CAROL] } }, files);
}

async function feedServer(feed: string) {
  const server = await loopbackServer((_, response) => response.end(feed));
  return { ...server, feed: `${server.url}/twtxt.txt`, allowed: ["--allow-private-host", server.host] };
}

function feedsOf(host: string) {
  return Array.from({ length: 20 }, (_, n) => ({ nick: `${host}${n}`, url: `https://${host}.example/${n}.txt` }));
}

const NO_HOSTS = { "allow-private-host": [] };

function machineAt(folder: string): Machine {
  return { folder, environment: {}, now: Date.now, say: () => {}, ended: () => new Promise(() => {}) };
}

/** A separate process that follows these feeds one after the other when `run` is called. */
async function follower(folder: string, feeds: readonly (typeof BOB)[]) {
  const script = `
    import { once } from "node:events";
    import { loadSite } from ${JSON.stringify(join(COMPILED, "author/site.js"))};
    import { follow } from ${JSON.stringify(join(COMPILED, "author/timeline/followed-feeds.js"))};
    const site = await loadSite({ folder: ${JSON.stringify(folder)} });
    process.stdout.write("ready");
    await once(process.stdin, "data");
    for (const feed of ${JSON.stringify(feeds)}) await follow(feed, site, { "allow-private-host": [] });
    process.stdin.destroy();`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "exit").then(([exitCode]) => exitCode);
  await once(child.stdout, "data");
  return {
    run() {
      child.stdin.write("go");
      return ended;
    },
  };
}

describe("eleventy-twtxt follow", () => {
  it("reads the nick from the feed, creates the file, and the next build follows the feed", async () => {
    const bob = await feedServer("# nick = bob\n2026-01-02T03:04:05Z\thello\n");
    const files = {
      "posts/posts.json": `{ "tags": "posts" }`,
      "posts/a.md": post({ date: "2024-01-01T00:00:01Z" }, "to @bob"),
    };
    const { folder } = await site({ files });
    const outcome = await command(folder, ["follow", bob.feed, ...bob.allowed]);
    expect(outcome).toEqual({ exitCode: 0, stdout: "", stderr: `Following @bob, ${bob.feed}. ${NEXT}` });
    expect(bob.requests).toEqual(["/twtxt.txt"]);

    const built = await site({ files: { [FILE]: blogFile(folder), ...files } });
    expect(built.feed().header.follow).toEqual([`bob ${bob.feed}`]);
    expect(built.texts()).toEqual([`to @<bob ${bob.feed}>`]);
  });

  it.each([
    ["names it", '<link rel="alternate" type="text/plain" href="tw.txt">', "/tw.txt"],
    ["does not name it, at its usual path", "<p>Bob's blog", "/twtxt.txt"],
  ])("finds the feed of a front page that %s", async (_, html, place) => {
    const server = await loopbackServer((request, response) => {
      if (request.url === place) return response.end("# nick = bob\n");
      response.writeHead(request.url === "/" ? 200 : 404, { "content-type": "text/html" }).end(html);
    });
    const { folder, read } = following();
    const { stderr } = await command(folder, ["follow", `${server.url}/`, "--allow-private-host", server.host]);
    expect(stderr).toBe(`Following @bob, ${server.url}${place}. ${NEXT}`);
    expect(JSON.parse(read(FILE))).toEqual([{ nick: "bob", url: server.url + place }]);
  });

  it("preserves the order and other fields of the file", async () => {
    const before = `[\n  {\n    "url": "${BOB.url}",\n    "nick": "bob",\n    "since": 2020\n  }\n]\n`;
    const { folder, read } = following({ [FILE]: before });
    await command(folder, ["follow", "gemini://dave.example/tw.txt", "--nick", "dave"]);
    expect(read(FILE)).toBe(
      before.replace("\n]", ',\n  {\n    "nick": "dave",\n    "url": "gemini://dave.example/tw.txt"\n  }\n]'),
    );
  });

  it("follows no feed twice, whether it is in the option or in the file", async () => {
    const { folder, read } = following({ [FILE]: JSON.stringify([BOB]) });
    for (const { nick, url } of [BOB, CAROL]) {
      const { exitCode, stderr } = await command(folder, ["follow", url.replace("https", "HTTP")]);
      expect([exitCode, stderr]).toEqual([0, `You already follow @${nick}, ${url}.\n`]);
    }
    expect(read(FILE)).toBe(JSON.stringify([BOB]));
  });

  it("uses the host as the nick of a feed without a usable one", async () => {
    const server = await feedServer("# nick = the bob\n2026-01-02T03:04:05Z\thello\n");
    const { folder, read } = following();
    await command(folder, ["follow", server.feed, ...server.allowed]);
    expect(JSON.parse(read(FILE))).toEqual([{ nick: `127.0.0.1-${server.port}`, url: server.feed }]);
  });

  it.each([
    [
      "a page",
      "<html>",
      (url: string) =>
        `${url} is not a feed. No feed was found there. Ask the author for its URL, such as https://bob.example/twtxt.txt`,
    ],
    [
      "a nick that is taken",
      "# nick = carol\n",
      (url: string) =>
        `You already follow another @carol, ${CAROL.url}. Choose a nick for the new one: eleventy-twtxt follow ${url} --nick carol2`,
    ],
  ])("says what to do, and writes nothing: %s", async (_, feed, sentence) => {
    const server = await feedServer(feed);
    const { folder } = following();
    const { exitCode, stderr } = await command(folder, ["follow", server.feed, ...server.allowed]);
    expect(exitCode).toBeGreaterThan(0);
    expect(stderr).toBe(`eleventy-twtxt: ${sentence(server.feed)}\n`);
    expect(existsSync(join(folder, FILE))).toBe(false);
  });

  it.each([
    ["your own feed", ["https://alice.example/twtxt.txt"], "is your own feed"],
    ["a nick with a space", [BOB.url, "--nick", "the bob"], '"the bob" cannot be a nick'],
    ["a fragment", [`${BOB.url}#x`, "--nick", "bob"], "expected the URL of a feed without"],
    ["a private address", ["http://127.0.0.1:8089/twtxt.txt"], "--allow-private-host 127.0.0.1:8089"],
  ])("refuses %s", async (_, args, sentence) => {
    const { folder } = following();
    const { exitCode, stderr } = await command(folder, ["follow", ...args]);
    expect(exitCode).toBeGreaterThan(0);
    expect(stderr).toContain(sentence);
    expect(existsSync(join(folder, FILE))).toBe(false);
  });

  it("loses no change if two processes follow feeds at the same time", async () => {
    const { folder, read } = following();
    const there = await follower(folder, feedsOf("there"));
    const site = await loadSite(machineAt(folder));
    const ended = there.run();
    for (const feed of feedsOf("here")) await followFeed(feed, site, NO_HOSTS);
    expect(await ended).toBe(0);
    expect(JSON.parse(read(FILE)).map(({ nick }: typeof BOB) => nick)).toEqual(
      expect.arrayContaining([...feedsOf("here"), ...feedsOf("there")].map(({ nick }) => nick)),
    );
  });

  it("changes no file that is not a list of feeds, and names the position of the error", async () => {
    const { folder, read } = following({ [FILE]: '[{ "nick": "bob" }]' });
    const { exitCode, stderr } = await command(folder, ["follow", BOB.url, "--nick", "bob"]);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^eleventy-twtxt: _data\/follow\.json\[0\]\.url: expected an object such as/);
    expect(read(FILE)).toBe('[{ "nick": "bob" }]');
  });

  it("lists the feeds of the option and those that are in the file now", async () => {
    const { folder } = following({ [FILE]: JSON.stringify([BOB]) });
    expect(await command(folder, ["follow"])).toEqual({
      exitCode: 0,
      stdout: `@carol  ${CAROL.url}   in the option follow\n@bob    ${BOB.url}\n`,
      stderr: "2 feeds.\n",
    });
    const { stdout } = await command(folder, ["follow", "--json"]);
    expect(JSON.parse(stdout)).toEqual([
      { ...CAROL, isInOption: true },
      { ...BOB, isInOption: false },
    ]);
  });
});

describe("eleventy-twtxt unfollow", () => {
  it.each([["bob"], ["@bob"], [BOB.url], ["http://bob.example:80/twtxt.txt"]])(
    "removes a feed from the file: %s",
    async (wanted) => {
      const { folder, read } = following({
        [FILE]: JSON.stringify([
          { ...BOB, since: 2020 },
          { nick: "d", url: "https://d.example/" },
        ]),
      });
      const { exitCode, stderr } = await command(folder, ["unfollow", wanted]);
      expect([exitCode, stderr]).toEqual([0, `No longer following @bob, ${BOB.url}. Your next build removes it.\n`]);
      expect(JSON.parse(read(FILE))).toEqual([{ nick: "d", url: "https://d.example/" }]);
    },
  );

  it("names the entry of a feed in the configuration file, and edits no code", async () => {
    const { folder } = following();
    const { exitCode, stderr } = await command(folder, ["unfollow", "carol"]);
    expect(exitCode).toBe(2);
    expect(stderr).toBe(
      `eleventy-twtxt: ${CAROL.url} is in the option "follow" of your configuration file, which only you can edit. Remove { nick: "carol", ... } there.\n`,
    );
  });

  it("1: the site does not follow the feed", async () => {
    const { folder } = following();
    expect(await command(folder, ["unfollow", "dave"])).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: "You do not follow dave.\n",
    });
  });
});

function blogFile(folder: string): string {
  return readFileSync(join(folder, FILE), "utf8");
}
