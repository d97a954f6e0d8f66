import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { parseFeed } from "../../../plugin/feed/feed.js";
import { adjustForPeers } from "../../../plugin/feed/peers.js";
import { toInstant } from "../../../plugin/feed/timestamp.js";
import { formatNotices, mentionsFeed } from "../../../plugin/mentions/inform/mentions-feed.js";
import type { StoredMention } from "../../../plugin/mentions/mention.js";
import { anyCharacter } from "../../helpers/any-character.js";
import { hostAt } from "../../helpers/endpoints.js";
import { runs } from "../../helpers/runs.js";
import { listOf, storedMention } from "../../helpers/stored-mentions.js";

const TOKEN = "0123456789abcdef0123456789abcdef";
const URL_OF_FEED = "https://alice.example/mentions.txt";
const LS = "\u2028";
/** Python's line breaks. */
const ANY_LINE_END = /\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]/;

let stored: StoredMention[];
let asked: number;
let log: string[];

beforeEach(() => {
  stored = [];
  asked = 0;
  log = [];
});

function handlerOf(token: string | undefined = TOKEN) {
  const list = listOf(stored);
  const handler = mentionsFeed({
    list: (query) => {
      asked += 1;
      return list(query);
    },
    token,
    nick: "alice",
    url: URL_OF_FEED,
    log: (line) => log.push(line),
  });
  return hostAt("https://alice.example", { mentionsFeed: handler }, (line) => expect.fail(line));
}

async function ask(query = "", init: RequestInit = {}, handler = handlerOf()) {
  const response = await handler(new Request(`${URL_OF_FEED}${query}`, init));
  return { status: response.status, header: (name: string) => response.headers.get(name), text: await response.text() };
}

const basic = (user: string, password: string, scheme = "Basic") => ({
  headers: { authorization: `${scheme} ${Buffer.from(`${user}:${password}`).toString("base64")}` },
});

const feedOf = (mentions: readonly StoredMention[]) => formatNotices({ nick: "alice", url: URL_OF_FEED }, mentions);
const twtsOf = (mentions: readonly StoredMention[]) => parseFeed(feedOf(mentions)).twts;
const textOf = (...mentions: StoredMention[]) => twtsOf(mentions)[0]?.text ?? "";

describe("access to mentions.txt", () => {
  it.each([
    ["HTTP Basic with the token as password", "", basic("alice", TOKEN)],
    ["HTTP Basic with any user", "", basic("", TOKEN)],
    ["HTTP Basic in lowercase", "", basic("x", TOKEN, "basic")],
    ["the parameter", `?token=${TOKEN}`, {}],
    ["the parameter, with HTTP Basic credentials of a proxy", `?token=${TOKEN}`, basic("proxy", "other")],
  ])("200: %s", async (_name, query, init) => {
    stored = [storedMention()];
    const { status, text } = await ask(query, init);
    expect(status).toBe(200);
    expect(parseFeed(text).twts).toHaveLength(1);
  });

  it.each([
    ["no token", "", {}],
    ["another password", "", basic("alice", `${TOKEN}0`)],
    ["the token as user name", "", basic(TOKEN, "")],
    ["an empty parameter", "?token=", {}],
    ["a part of the token", `?token=${TOKEN.slice(0, -1)}`, {}],
    ["the token in uppercase", `?token=${TOKEN.toUpperCase()}`, {}],
    ["invalid Base64", "", { headers: { authorization: "Basic \u00e4" } }],
    ["another scheme", "", { headers: { authorization: `Bearer ${TOKEN}` } }],
  ])("401 bad-token: %s; the store is not read", async (_name, query, init) => {
    stored = [storedMention()];
    const { status, header, text } = await ask(query, init);
    expect(status).toBe(401);
    expect(JSON.parse(text)).toMatchObject({ code: "bad-token" });
    expect(header("www-authenticate")).toMatch(/^Basic realm="/);
    expect(header("cache-control")).toBe("private, no-store");
    expect(header("referrer-policy")).toBe("no-referrer");
    expect(asked).toBe(0);
  });

  it("404: no token is configured", async () => {
    const handler = mentionsFeed({
      list: listOf(stored),
      token: undefined,
      nick: "alice",
      url: URL_OF_FEED,
      log: (l) => log.push(l),
    });
    const host = hostAt("https://alice.example", { mentionsFeed: handler }, (line) => expect.fail(line));
    const { status, text } = await ask("?token=undefined", {}, host);
    expect(status).toBe(404);
    expect(JSON.parse(text)).toMatchObject({ code: "not-found" });
    expect(log).toEqual([]);
  });

  it.each([
    ["", "empty"],
    ["hunter2", "short"],
    ["abcdefghijklmnopqrstu", "21 letters"],
    ["0123456789abcdef0123456789abcde", "31 hex digits"],
    ["correct horse battery staple!", "words"],
    ["abcdefghijklmnopqrstuv+/", "characters with a meaning in URLs"],
  ])("404: the unsafe token %j (%s) causes one log line with advice, without the token", async (weak) => {
    const handler = handlerOf(weak);
    expect((await ask(`?token=${encodeURIComponent(weak)}`, {}, handler)).status).toBe(404);
    expect((await ask("", basic("alice", weak), handler)).status).toBe(404);
    expect(log).toHaveLength(1);
    expect(log[0]).toMatch(/TWTXT_MENTIONS_TOKEN: expected .*openssl rand -hex 16/);
    if (weak) expect(log[0]).not.toContain(weak);
    expect(asked).toBe(0);
  });

  it("200: 22 letters suffice if not all are hex digits", async () => {
    const token = "Zyxwvutsrqponmlkjihg_-";
    expect((await ask(`?token=${token}`, {}, handlerOf(token))).status).toBe(200);
  });

  it("is neither cached nor sent as referrer, and HEAD is like GET", async () => {
    stored = [storedMention()];
    const [get, head] = [
      await ask("", basic("alice", TOKEN)),
      await ask("", { ...basic("alice", TOKEN), method: "HEAD" }),
    ];
    for (const { status, header } of [get, head]) {
      expect(status).toBe(200);
      expect(header("content-type")).toBe("text/plain; charset=utf-8");
      expect(header("cache-control")).toBe("private, no-store");
      expect(header("referrer-policy")).toBe("no-referrer");
    }
    expect(head.text).toBe("");
    expect(get.text).not.toContain(TOKEN);
  });

  it("405 for other methods", async () => {
    const { status, header } = await ask(`?token=${TOKEN}`, { method: "POST" });
    expect(status).toBe(405);
    expect(header("allow")).toBe("GET, HEAD");
  });
});

describe("a notice", () => {
  it("has time, author, the text as written, and the source", () => {
    const mention = storedMention({ text: "hello @<alice https://alice.example/twtxt.txt>,\n\nyours are ripe" });
    expect(feedOf([mention])).toBe(
      `# nick = alice-mentions
# url = https://alice.example/mentions.txt
# description = Mentions of alice. Keep the URL of this feed secret.

2026-01-02T03:04:06Z\tbob mentioned you:${LS}> hello @<alice https://alice.example/twtxt.txt>,${LS}>${LS}> yours are ripe${LS}https://bob.example/twtxt.txt#:~:text=2026-01-02T03:04:05Z
`,
    );
    expect(twtsOf([mention])[0]?.mentions).toEqual([{ nick: "alice", url: "https://alice.example/twtxt.txt" }]);
  });

  it("of a page without a text has its name and URL", () => {
    const identity = "https://carol.example/likes/1/";
    const like = storedMention({ type: "like", text: "", identity, timestamp: null, instant: null });
    expect(textOf({ ...like, author: { name: "Carol (she/her)", url: identity, photo: null } })).toBe(
      `Carol (she/her) mentioned you:${LS}https://carol.example/likes/1/`,
    );
  });

  it("marks held mentions, and is omitted for rejected ones", () => {
    const texts = twtsOf([
      storedMention({ state: "held", received: "2026-01-02T03:04:06.000Z" }),
      storedMention({ state: "rejected", received: "2026-01-02T03:04:07.000Z" }),
    ]).map(({ text }) => text.split(LS)[0]);
    expect(texts).toEqual(["bob mentioned you (held):"]);
  });

  it.each([
    ["a mention", "@<eve https://eve.example/twtxt.txt>"],
    ["a mention without a nick", "@<https://eve.example/twtxt.txt>"],
    ["a subject", "(#abcdefg) eve"],
    ["a subject with a URL", "(#<abcdefg https://eve.example/>) eve"],
    ["a tag", "#<spam https://eve.example/>"],
    ["a link", "[eve](https://eve.example/)"],
    ["a picture", "![eve](https://eve.example/pixel.png)"],
    ["an unclosed code span", "`eve"],
    ["line ends", `eve${LS}2026-01-01T00:00:00Z\tforged\r\n2026-01-01T00:00:00Z\tforged`],
    ["a direction override", "\u202eeve\u2066"],
    ["direction marks", "\u200fe\u061cv\u200ee"],
    ["invisible characters", "e\u00adv\u200be\u2060\ufeff"],
  ])("has a name without markup or line ends: %s", (_name, name) => {
    const mention = storedMention({ author: { name, url: "https://eve.example/", photo: null } });
    const twts = twtsOf([mention]);
    expect(twts).toHaveLength(1);
    expect(twts[0]).toMatchObject({ subject: null, mentions: [{ nick: "alice" }] });
    const [first = "", second] = twts[0]?.text.split(LS) ?? [];
    expect(first).toContain("eve");
    expect(first).toMatch(/ mentioned you:$/);
    expect(first).not.toMatch(/[<>[\]#`\u202a-\u202e\u2066-\u2069]/);
    expect(second).toBe("> hello @<alice https://alice.example/twtxt.txt>");
  });

  it.each(["", " \t ", "\u200b\u00ad", "\u3164\u2800\u115f", "<>[]", "\u202e", "\u200e"])(
    "has the host if the name has no visible characters: %j",
    (name) => {
      expect(textOf(storedMention({ author: { name, url: "https://bob.example/", photo: null } }))).toMatch(
        /^bob\.example mentioned you:/,
      );
    },
  );

  it.each([
    ["Bob, via brid.gy", "Bob, via brid.gy, via bob.example"],
    ["127.0.0.1:47111", "127.0.0.1:47111, via bob.example"],
    ["bob.example", "bob.example"],
    ["Dr. Bob", "Dr. Bob"],
  ])("has the host if the name names another host: %s", (name, shown) => {
    const mention = storedMention({ author: { name, url: "https://bob.example/", photo: null } });
    expect(textOf(mention).split(LS)[0]).toBe(`${shown} mentioned you:`);
  });

  it("keeps joiners and combining characters in names", () => {
    for (const name of ["\u0645\u06cc\u200c\u062e", "\u{1f468}\u200d\u{1f373}", "e\u0301ve"]) {
      const mention = storedMention({ author: { name, url: "https://eve.example/", photo: null } });
      expect(textOf(mention).split(LS)[0]).toBe(`${name}, via bob.example mentioned you:`);
    }
  });

  it("truncates a long name between two characters", () => {
    const name = "\u{1f344}".repeat(500);
    const [first] = textOf(storedMention({ author: { name, url: "https://bob.example/", photo: null } })).split(LS);
    expect(first).toBe(`${"\u{1f344}".repeat(79)}… mentioned you:`);
  });

  it("keeps 500 emoji, and removes control characters and direction overrides", () => {
    const emoji = "\u{1f344}".repeat(250);
    expect(textOf(storedMention({ text: emoji })).split(LS)[1]).toBe(`> ${emoji}`);
    expect(textOf(storedMention({ text: "a\x00b\x1b[31mc\u202ed\u2067e\ud800f" })).split(LS)[1]).toBe(
      "> ab[31mcde\ufffdf",
    );
  });

  it("quotes each line of the text, for any definition of a line break", () => {
    const forged = "2026-01-01T00:00:00Z\tforged";
    const text = ["a", LS, "\u2029", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\r", "\r\n", "\n"].join(forged);
    const lines = textOf(storedMention({ text })).split(ANY_LINE_END);
    expect(lines).toHaveLength(14);
    for (const line of lines.slice(1, -1)) expect(line).toMatch(/^>/);
  });
});

describe("a client that truncates a twt at its first line separator", () => {
  const as = (agent: string) => ask(`?token=${TOKEN}`, { headers: { "user-agent": agent } });

  it.each(["twtxt/1.3.1", "twtxt/1.2.0 (+https://alice.example/twtxt.txt; @alice)"])(
    "gets each notice in one line: %s",
    async (agent) => {
      stored = [storedMention({ text: "hello @<alice https://alice.example/twtxt.txt>\nand bye" })];
      const { text } = await as(agent);
      // That client splits a feed by Python's splitlines().
      const twts = text.split(ANY_LINE_END).filter((line) => /^\d/.test(line));
      expect(twts).toEqual([
        "2026-01-02T03:04:06Z\tbob mentioned you: > hello @<alice https://alice.example/twtxt.txt> > and bye https://bob.example/twtxt.txt#:~:text=2026-01-02T03:04:05Z",
      ]);
    },
  );

  it.each(["yarnd/0.15 (+https://a.example/twtxt.txt; @a)", "twtxt-el/1.0", "x twtxt/1.3.1", ""])(
    "does not include %j, which gets the original lines",
    async (agent) => {
      stored = [storedMention()];
      expect((await as(agent)).text).toContain(`bob mentioned you:${LS}> hello`);
    },
  );
});

describe("the times of notices", () => {
  const at = (time: string, id: string, change: Partial<StoredMention> = {}) =>
    storedMention({ received: `2026-01-02T03:04:${time}Z`, id: id.repeat(32), text: id, ...change });
  const blocksOf = (mentions: readonly StoredMention[]) =>
    twtsOf(mentions).map(({ timestamp, text }) => [timestamp.slice(-3, -1), text.match(/(?<=> )\w+/g)?.join(" ")]);

  it("are those of the mentions, to the second; mentions of one second share a notice, in order", () => {
    const mentions = [at("07.000", "d"), at("06.900", "a"), at("06.100", "b"), at("09.999", "e"), at("06.500", "c")];
    expect(blocksOf(mentions)).toEqual([
      ["06", "b c a"],
      ["07", "d"],
      ["09", "e"],
    ]);
    expect(textOf(...mentions)).toBe(
      ["b", "c", "a"]
        .map((id) => `bob mentioned you:${LS}> ${id}${LS}https://bob.example/twtxt.txt#:~:text=2026-01-02T03:04:05Z`)
        .join(LS + LS),
    );
  });

  it("do not change with later mentions, or when the author rejects one", () => {
    const mentions = [at("06.100", "a"), at("06.200", "b"), at("07.000", "c")];
    expect(blocksOf(mentions)).toEqual([
      ["06", "a b"],
      ["07", "c"],
    ]);
    expect(blocksOf([...mentions, at("07.001", "d"), at("08.000", "e")])).toEqual([
      ["06", "a b"],
      ["07", "c d"],
      ["08", "e"],
    ]);
    expect(blocksOf(mentions.with(0, at("06.100", "a", { state: "rejected" })))).toEqual([
      ["06", "b"],
      ["07", "c"],
    ]);
  });

  it("are never ahead of the mentions, even after 25 a second for four minutes", async () => {
    const start = Date.parse("2026-01-02T03:04:06Z");
    stored = Array.from({ length: 25 * 240 }, (_, n) =>
      storedMention({ received: new Date(start + n * 40).toISOString(), text: `${n}` }),
    );
    const { twts } = parseFeed((await ask(`?token=${TOKEN}`)).text);
    const last = stored.at(-1)?.received.slice(0, 19);
    expect(twts.at(-1)?.timestamp).toBe(`${last}Z`);
    expect(twts.map(({ text }) => text.match(/mentioned you/g)?.length)).toEqual(Array(40).fill(25));
    for (const { timestamp, text } of twts) {
      const first = Number(/> (\d+)/.exec(text)?.[1]);
      expect(timestamp).toBe(`${stored[first]?.received.slice(0, 19)}Z`);
    }
  });

  it("do not change when old mentions exceed the limit of 1,000, which splits no second", () => {
    const all = Array.from({ length: 1500 }, (_, n) =>
      storedMention({ received: new Date(1_767_323_046_000 + Math.floor(n / 3) * 1000 + (n % 3)).toISOString() }),
    );
    const before = twtsOf(all.slice(0, 1400));
    const after = twtsOf(all);
    expect(after).toHaveLength(333);
    expect(after.slice(0, -34)).toEqual(before.slice(33, -1));
    expect(new Set(after.map(({ text }) => text.match(/mentioned you/g)?.length))).toEqual(new Set([3]));
  });

  it("keep a line below 64 KiB if many mentions share a second, and count the rest", () => {
    const evil = "[a](".repeat(125);
    const second = Array.from({ length: 200 }, (_, n) => at(`06.${String(n).padStart(3, "0")}`, "a", { text: evil }));
    const file = feedOf(second);
    const text = twtsOf(second)[0]?.text ?? "";
    const listed = text.match(/bob mentioned you/g)?.length ?? 0;
    expect(Buffer.byteLength(file)).toBeLessThan(64 * 1024);
    expect(listed).toBeGreaterThan(40);
    expect(text.endsWith(`${LS}${LS}And ${200 - listed} more. To list them: eleventy-twtxt mentions`)).toBe(true);
  });
});

describe("arbitrary mentions", () => {
  const piece = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 20 }),
    fc.constantFrom(
      "\n",
      "\r",
      LS,
      "\u2029",
      "\v",
      "\f",
      "\x85",
      "\x1c",
      "\x1d",
      "\x1e",
      "\t",
      "(",
      "[",
      "`",
      "```",
      "\\",
    ),
    fc.constantFrom(
      "2026-01-01T00:00:00Z\tforged",
      "2026-01-01T00:00:00+01:00\tforged",
      "# url = https://eve.example/",
    ),
    fc.constantFrom(
      "@<eve https://eve.example/>",
      "(#abcdefg)",
      "[a](https://eve.example/ 'b",
      "@eve@eve.example",
      "\ud800",
    ),
  );
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join("").slice(0, 500));
  const mention = fc
    .record({
      text,
      name: text,
      isPage: fc.boolean(),
      milliseconds: fc.integer({ min: 0, max: 20_000 }),
      state: fc.constantFrom("shown" as const, "held" as const),
    })
    .map(({ text, name, isPage, milliseconds, state }) =>
      storedMention({
        text,
        state,
        author: { name, url: "https://bob.example/", photo: null },
        received: new Date(1_767_323_046_000 + milliseconds).toISOString(),
        ...(isPage && { timestamp: null, instant: null }),
      }),
    );
  const mentions = fc.uniqueArray(mention, { selector: ({ id }) => id, maxLength: 8 });

  it("become one twt per second, for the plugin's parser and for one with Python's line breaks", () => {
    fc.assert(
      fc.property(mentions, (all) => {
        const file = feedOf(all);
        const { twts, skippedLines, fields } = parseFeed(file);
        const seconds = new Set(all.map(({ received }) => received.slice(0, 19))).size;
        expect(twts).toHaveLength(seconds);
        expect(skippedLines).toBe(0);
        expect(Object.keys(fields)).toEqual(["nick", "url", "description"]);
        expect(new Set(twts.map(({ instant }) => instant)).size).toBe(seconds);
        expect(file.match(/ mentioned you(?: \(held\))?:\u2028/g) ?? []).toHaveLength(all.length);
        expect(twts.every(({ subject }) => subject === null)).toBe(true);
        expect(twts.map(({ text }) => adjustForPeers(text))).toEqual(twts.map(({ text }) => text));

        const elsewhere = file.split(ANY_LINE_END).filter((line) => toInstant(line.split("\t")[0] ?? "") !== null);
        expect(elsewhere).toHaveLength(seconds);
        expect(file.replace(/\t/g, "")).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2029]/);
        expect(file.match(/\t/g) ?? []).toHaveLength(seconds);
      }),
      { numRuns: runs(200) },
    );
  });
});
