// test/cli/followers.test.ts: the command `eleventy-twtxt followers`.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Followers, readFollowers } from "../../plugin/host/followers.js";
import { writeJson } from "../../plugin/store/json.js";
import { memoryStore } from "../../plugin/store/memory.js";
import { command } from "./helpers.js";
import { serve, site } from "./server.js";

const BOB = "twtxt/1.3.1 (+https://bob.example/twtxt.txt; @bob)";
const OWN = "eleventy-plugin-twtxt/0.1.0 (+https://alice.example/twtxt.txt; @alice)";
const ADDRESS = "203.0.113.7";
const AT = "2026-10-01T00:00:00Z";
const POD = "yarnd/0.15 (~https://yarn.example/whoFollows?token=1; contact=https://yarn.example/support)";

function logLine(path: string, userAgent: string, { day = 10, status = 200 } = {}): string {
  return `203.0.113.7 - - [${String(day).padStart(2, "0")}/Oct/2026:13:55:36 +0000] "GET ${path} HTTP/1.1" ${status} 2326 "-" "${userAgent}"`;
}

describe("eleventy-twtxt followers", () => {
  it("lists the readers of the feed that serve serves, also after a restart, without their IP addresses and the site itself", async () => {
    const alice = site();
    for (const [path, userAgent] of [
      ["/twtxt.txt", BOB],
      ["/twtxt.txt", OWN],
      ["/twtxt.txt", "Mozilla/5.0"],
      ["/posts/quinces/", POD],
    ] as const) {
      const server = await serve(alice);
      await (await fetch(server.url + path, { headers: { "user-agent": userAgent } })).arrayBuffer();
      expect(await server.end()).toBe(0);
    }
    const { stdout, stderr, exitCode } = await command(alice.folder, ["followers"]);
    expect([exitCode, stderr]).toEqual([0, "1 follower.\n"]);
    expect(stdout).toMatch(/^bob {2}https:\/\/bob\.example\/twtxt\.txt {2}\d{4}-\d\d-\d\d {2}twtxt\/1\.3\.1\n$/);
    expect(stdout).not.toContain("127.0.0.1");
  });

  it("are stored later if the store fails or new ones arrive during a save", async () => {
    const store = memoryStore();
    let isDown = true;
    const followers = await Followers.open(
      { ...store, put: (...put) => (isDown ? Promise.reject(new Error("full")) : store.put(...put)) },
      () => 0,
    );
    followers.note(BOB, ADDRESS);
    await expect(followers.save()).rejects.toThrow("full");
    isDown = false;
    const saving = followers.save();
    followers.note(POD, ADDRESS);
    await saving;
    await followers.save();
    expect((await readFollowers(store)).map(({ client }) => client).sort()).toEqual(["twtxt/1.3.1", "yarnd/0.15"]);
  });

  it("keeps the followers of several days when 3,000 forged User-Agents arrive each day", async () => {
    const store = memoryStore();
    const days = ["2026-10-01", "2026-10-02", "2026-10-03", "2026-10-04"].map((day) => Date.parse(day));
    const bob = { nick: "bob", url: "https://bob.example/twtxt.txt", client: "twtxt/1.3.1" };
    await writeJson(store, "followers", { followers: [{ ...bob, firstSeen: AT, lastSeen: AT }] });
    for (const now of days) {
      const followers = await Followers.open(store, () => now);
      if (now === days[1]) followers.note(BOB, ADDRESS);
      for (let n = 0; n < 3000; n += 1) {
        followers.note(`twtxt/1 (+https://forged${n}.example/${now}; @x${n})`, `10.0.${n >> 8}.${n % 256}`);
        if (n % 1000 === 999) await followers.save();
      }
    }
    const stored = await readFollowers(store);
    expect(stored).toHaveLength(1000);
    expect(stored.find(({ nick }) => nick === "bob")).toMatchObject({ firstSeen: "2026-10-01T00:00:00Z" });
  });

  it("notes known followers and new ones of other networks while one network floods it, and none in private networks", async () => {
    const store = memoryStore();
    const bob = { nick: "bob", url: "https://bob.example/twtxt.txt", client: "twtxt/1.3.1" };
    await writeJson(store, "followers", { followers: [{ ...bob, firstSeen: AT, lastSeen: AT }] });
    const followers = await Followers.open(store, () => Date.parse("2026-10-02"));
    for (let n = 0; n < 3000; n += 1) {
      followers.note(`twtxt/1 (+https://forged${n}.example/; @x${n})`, `2001:db8:1:${n % 300}`);
    }
    followers.note(BOB, "2001:db8:1:0");
    followers.note(POD, ADDRESS);
    for (const host of ["127.0.0.1", "[::1]", "192.168.0.2:8080", "localhost", "nas", "nas.local", "2130706433"]) {
      followers.note(`twtxt/1 (+http://${host}/; @eve)`, "198.51.100.1");
    }
    await followers.save();
    const stored = await readFollowers(store);
    expect(stored.find(({ nick }) => nick === "bob")?.lastSeen).toBe("2026-10-02T00:00:00Z");
    expect(stored.map(({ nick }) => nick)).toContain(null);
    expect(stored.map(({ nick }) => nick)).not.toContain("eve");
    expect(stored).toHaveLength(302);
  });

  it("does not list private addresses that access logs name", async () => {
    const alice = site();
    const ofLoopback = BOB.replace("bob.example", "127.0.0.1");
    alice.write("access.log", [logLine("/twtxt.txt", ofLoopback), logLine("/twtxt.txt", BOB)].join("\n"));
    const { stdout, stderr } = await command(alice.folder, ["followers", "access.log"]);
    expect([stdout.includes("127.0.0.1"), stderr]).toEqual([false, "1 follower.\n"]);
  });

  it("lists the followers in access logs, the most recent first", async () => {
    const alice = site();
    alice.write(
      "access.log",
      [
        logLine("/twtxt.txt", BOB),
        logLine("/twtxt-2025.txt", POD, { day: 12 }),
        logLine("/twtxt.txt", OWN),
        "no log",
      ].join("\n"),
    );
    alice.write(
      "older.log",
      [logLine("/twtxt.txt", BOB, { day: 2 }), logLine("/other.txt", POD, { day: 20 })].join("\r\n"),
    );
    const { stdout, exitCode } = await command(alice.folder, ["followers", "--json", "access.log", "older.log"]);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual([
      {
        nick: null,
        url: "https://yarn.example/whoFollows?token=1",
        client: "yarnd/0.15",
        firstSeen: "2026-10-12T13:55:36Z",
        lastSeen: "2026-10-12T13:55:36Z",
      },
      {
        nick: "bob",
        url: "https://bob.example/twtxt.txt",
        client: "twtxt/1.3.1",
        firstSeen: "2026-10-02T13:55:36Z",
        lastSeen: "2026-10-10T13:55:36Z",
      },
    ]);
  });

  it("ignores requests that were refused", async () => {
    const alice = site();
    alice.write("access.log", logLine("/twtxt.txt", BOB, { status: 403 }));
    expect((await command(alice.folder, ["followers", "access.log"])).stderr).toBe("0 followers.\n");
  });

  it("says which log is missing, and what to type", async () => {
    const { folder } = site();
    const { exitCode, stderr } = await command(folder, ["followers", "missing.log"]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      `There is no file ${join(folder, "missing.log")}. Name an access log of your web server: `,
    );
    expect(stderr).toMatch(/eleventy-twtxt followers \/var\/log\/nginx\/access\.log\n$/);
  });

  it("says which log cannot be read", async () => {
    const { exitCode, stderr } = await command(site().folder, ["followers", "."]);
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/directory/)]);
  });
});
