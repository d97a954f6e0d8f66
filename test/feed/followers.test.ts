// test/feed/followers.test.ts: followers from User-Agents and access logs.
import { describe, expect, test } from "vitest";
import { FollowerList, parseFollower, parseLogLine } from "../../plugin/feed/followers.js";

describe("a User-Agent", () => {
  test.each([
    [
      "twtxt/1.3.1 (+https://bob.example/twtxt.txt; @bob)",
      { nick: "bob", url: "https://bob.example/twtxt.txt", client: "twtxt/1.3.1" },
    ],
    [
      "yarnd/0.15@abc (+https://yarn.example/user/bob/twtxt.txt; @bob) Go-http-client/1.1",
      { nick: "bob", client: "yarnd/0.15@abc" },
    ],
    [
      "yarnd/0.15 (~https://yarn.example/whoFollows?token=a1; contact=https://yarn.example/support)",
      { nick: null, url: "https://yarn.example/whoFollows?token=a1" },
    ],
  ])("names a follower: %s", (userAgent, follower) => {
    expect(parseFollower(userAgent)).toMatchObject(follower);
  });

  test.each([
    "Mozilla/5.0 (X11; Linux x86_64)",
    "Googlebot/2.1 (+http://www.google.com/bot.html)",
    "twtxt/1 (+javascript:alert(1); @bob)",
    "twtxt/1 (+https://bob.example/twtxt.txt; @<b>)",
    "twtxt/1 (+https://[bob/twtxt.txt; @bob)",
    "twtxt/1 (+https://bob:secret@bob.example/twtxt.txt; @bob)",
    "twtxt/1 (+https://token@bob.example/twtxt.txt; @bob)",
    `twtxt/1 (+https://bob.example/${"x".repeat(1000)}; @bob)`,
    "",
  ])("names no follower: %s", (userAgent) => {
    expect(parseFollower(userAgent)).toBeNull();
  });
});

describe("a line of an access log", () => {
  const line =
    '203.0.113.7 - - [10/Oct/2026:13:55:36 -0700] "GET /twtxt.txt HTTP/1.1" 200 2326 "-" "twtxt/1.3.1 (+https://bob.example/twtxt.txt; @bob)"';

  test("has the path, status, time in UTC and User-Agent", () => {
    expect(parseLogLine(line)).toEqual({
      path: "/twtxt.txt",
      status: 200,
      userAgent: "twtxt/1.3.1 (+https://bob.example/twtxt.txt; @bob)",
      time: "2026-10-10T20:55:36Z",
    });
  });

  test.each([
    ["an empty line", ""],
    ["not a log line", "hello"],
    ["another method", line.replace("GET", "POST")],
    ["an impossible date", line.replace("10/Oct", "32/Oct")],
    ["another format", line.replace(/"[^"]*"$/, "")],
    ["a month in another language", line.replace("Oct", "Okt")],
  ])("is ignored: %s", (_, other) => {
    expect(parseLogLine(other)).toBeNull();
  });

  test("may have quotes in the User-Agent", () => {
    expect(parseLogLine(line.replace("twtxt/1.3.1", 'a\\"b'))?.userAgent).toMatch(/^a"b \(/);
  });

  test("takes linear time, even if it is unterminated", () => {
    expect(parseLogLine(`${line.slice(0, -1)}${'\\"'.repeat(100_000)}`)).toBeNull();
    for (const part of [
      "[",
      "x",
      ' "',
      "[10/Oct/2026:13:55:36 -0700] ",
      '[10/Oct/2026:13:55:36 -0700] "GET x',
      '\\" "',
    ])
      expect(parseLogLine(`a b ${part.repeat(100_000)}`)).toBeNull();
    const request = line.slice(0, line.indexOf("/twtxt.txt"));
    for (const part of ["x", "x ", "\t"]) expect(parseLogLine(request + part.repeat(100_000))).toBeNull();
  });
});

test("each follower is listed once, most recently seen first", () => {
  const followers = new FollowerList([
    {
      nick: "carol",
      url: "https://carol.example/t",
      client: "a/1",
      firstSeen: "2026-01-02T00:00:00Z",
      lastSeen: "2026-01-02T00:00:00Z",
    },
  ]);
  const bob = (version: number) => ({ nick: "bob", url: "https://bob.example/t", client: `twtxt/${version}` });
  followers.add(bob(1), "2026-01-01T00:00:00Z");
  followers.add(bob(3), "2026-01-03T00:00:00Z");
  followers.add(bob(2), "2026-01-02T00:00:00Z");
  expect(followers.list(10).map(({ nick, client, lastSeen }) => `${nick} ${client} ${lastSeen}`)).toEqual([
    "bob twtxt/3 2026-01-03T00:00:00Z",
    "carol a/1 2026-01-02T00:00:00Z",
  ]);
  expect(followers.list(1)).toHaveLength(1);
});

test("those who were seen on several days stay, however many others follow", () => {
  const followers = new FollowerList();
  const seen = (name: string, day: number, second = 0) =>
    followers.add(
      { nick: name, url: `https://${name}.example/t`, client: "twtxt/1" },
      `2026-01-${String(day).padStart(2, "0")}T00:00:${String(second).padStart(2, "0")}Z`,
    );
  for (const day of [1, 2]) for (const name of ["bob", "carol"]) seen(name, day);
  seen("dave", 2);
  for (let n = 0; n < 10_000; n += 1) seen(`forged${n}`, 3, n % 60);
  const names = followers.list(1000).map(({ nick }) => nick);
  expect(names).toHaveLength(1000);
  expect(names.slice(-2).sort()).toEqual(["bob", "carol"]);
  expect(names).not.toContain("dave");

  for (let n = 0; n < 10_000; n += 1) seen(`forged${n}`, 4);
  expect(
    followers
      .list(2)
      .map(({ nick }) => nick)
      .sort(),
  ).toEqual(["bob", "carol"]);
});
