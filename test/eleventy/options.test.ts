import { describe, expect, it } from "vitest";
import { TwtxtError } from "../../plugin/errors.js";
import { checkOptions, OPTIONS } from "../../plugin/options.js";
import { buildSite } from "../helpers/site.js";

const TWO = { url: "https://alice.example", nick: "alice" };
const KEY = `kex1${"q".repeat(58)}`;
const INBOX = "https://alice.example/inbox/alice";

const URL_WANTED = 'the origin of the site, an absolute https URL without a path, such as "https://alice.example"';
const NICK_WANTED = 'a nick without spaces and without @ # ! : < > ( ) [ ] \' " `, such as "alice"';
const PATH_WANTED = 'a path from the root of the site, such as "/twtxt.txt"';
const COLLECTION_WANTED = 'the name of a collection such as "posts", a list of names, or a function';
const ZONE_WANTED = 'the IANA name of a time zone, such as "Europe/Berlin"';
const FEEDS_WANTED = 'a list such as [{ nick: "bob", url: "https://bob.example/twtxt.txt" }]';
const FEED_WANTED = 'an object such as { nick: "bob", url: "https://bob.example/twtxt.txt" }';
const MENTION_WANTED = 'an absolute URL without ) > # ` and spaces, such as "https://bob.example/twtxt.txt"';
const AVATAR_WANTED = 'an absolute https URL without "#", such as "https://alice.example/avatar.png"';
const LINK_URL_WANTED =
  'an absolute URL without "#", such as "https://alice.example/about/" or "mailto:alice@alice.example"';
const ENDPOINT_WANTED = 'an absolute https URL without "#", such as "https://alice.example/webmention"';
const LINE_WANTED =
  'one line of text without "#" or a field such as "nick = ", for example "Notes about bread and bicycles."';
const LINK_WANTED = 'an object such as { text: "Home", url: "https://alice.example" }';
const SECONDS_WANTED = "a whole number of seconds, such as 3600";
const KEY_WANTED = 'a public key of 62 lower-case characters that starts with "kex1"';
const USER_WANTED = 'up to 64 of a-z 0-9 . _ -, the first a letter or digit, such as "alice"';

/** The error message about these options, without the package's name; `null` for valid options. */
function complaint(options: unknown): string | null {
  try {
    checkOptions(options);
    return null;
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    expect(error.code).toBe("bad-option");
    expect(error.message).toMatch(/^\[eleventy-plugin-twtxt\] /);
    return error.message.slice("[eleventy-plugin-twtxt] ".length);
  }
}

/** The defaults of the option `mentions`. */
const MENTIONS = {
  path: "/webmention",
  pages: "/mentions/",
  perPage: 100,
  words: {},
  headingLevel: 2,
  form: true,
  avatars: false,
  links: true,
  unlisted: false,
  aliases: [],
  moderate: false,
  allow: [],
  block: [],
  digestHours: 24,
  everyHours: 1,
  rebuild: { perDay: 1, perMonth: 5 },
  limits: { slowHostPause: 3600, verificationSeconds: 1000, pending: 500, pendingPerHost: 20, shownPerHost: 10 },
};

describe("the options", () => {
  it("have two required members, and defaults that are safe to publish", () => {
    expect(checkOptions(TWO)).toEqual({
      url: "https://alice.example",
      nick: "alice",
      path: "/twtxt.txt",
      collection: "posts",
      syndicate: [],
      timeZone: "UTC",
      follow: [],
      data: {},
      link: [],
      mentions: MENTIONS,
      functions: true,
      head: true,
      styles: true,
      address: "alice@alice.example",
      authors: [],
      inbox: {
        path: "/inbox",
        messages: 1000,
        megabytes: 64,
        retentionDays: 0,
        guests: { messages: 100, days: 90, mail: false },
        page: "/contact/",
        words: {},
      },
      blobs: false,
      timeline: false,
    });
  });

  it("can all be set", () => {
    const all = {
      url: "https://alice.example",
      nick: "Älice-1",
      path: "/feeds/alice.txt",
      collection: ["posts", "notes"],
      text: () => undefined,
      timeZone: "Australia/Sydney",
      follow: [{ nick: "bob", url: "gemini://bob.example/twtxt.txt" }],
      layout: "base.njk",
      data: { section: "social" },
      avatar: "https://alice.example/me.png",
      description: "Notes on plain text",
      lang: "en-AU",
      link: [{ text: "Home", url: "https://alice.example/?a=b" }],
      refresh: 3600,
      webmention: "https://alice.example/webmention?x=1&y=2",
      mentions: {
        ...MENTIONS,
        path: "/hook",
        pages: "/about/mentions/",
        aliases: ["https://old.example/twtxt.txt"],
        moderate: true,
        allow: ["bob.example", "https://carol.example/twtxt.txt"],
        block: ["spam.example:8443", "[2001:db8::1]"],
      },
      functions: false,
      head: false,
      styles: false,
      address: "me@alice.example",
      user: "me",
      key: KEY,
      endpoint: INBOX,
      authors: [{ user: "bob", key: KEY }],
      inbox: {
        path: "/letters",
        messages: 10,
        megabytes: 1,
        retentionDays: 30,
        subscribe: true,
        guests: { messages: 10, days: 30, mail: false },
        page: "/write/",
        words: { send: "Absenden" },
        layout: "base.njk",
      },
      blobs: { count: 10, megabytes: 20, maxMegabytes: 30, owners: [KEY], formerKeys: [] },
      timeline: { path: "/reading/", perPage: 20, layout: "base.njk" },
      syndicate: ["mastodon" as const],
      fediverse: "@alice@mastodon.example",
      host: "netlify" as const,
    };
    expect(Object.keys(all).toSorted()).toEqual(Object.keys(OPTIONS.entries).toSorted());
    const { address, user, key, endpoint, ...others } = all;
    expect(checkOptions(all)).toEqual({ ...others, address, authors: [{ user, key, endpoint }, ...all.authors] });
  });

  it.each([
    "https://alice.example/",
    "https://alice.example:8443",
    "https://ALICE.example",
    "http://localhost:8080",
    "http://127.0.0.1:8080",
    "http://[::1]",
  ])("accept the origin %s", (url) => {
    expect(checkOptions({ ...TWO, url }).url).toBe(new URL(url).origin);
  });

  it("use the nick in lower case as the user of the address, unless user or address is set", () => {
    const users = (options: object) => checkOptions({ ...TWO, nick: "Alice", key: KEY, ...options }).authors;
    expect(users({ endpoint: INBOX })).toEqual([{ user: "alice", key: KEY, endpoint: INBOX }]);
    expect(users({ address: "me@alice.example" })).toEqual([{ user: "me", key: KEY }]);
    expect(users({ user: "me" })).toEqual([{ user: "me", key: KEY }]);
    expect(users({ authors: [{ user: "bob", key: KEY }] }).map(({ user }) => user)).toEqual(["alice", "bob"]);
  });
});

describe("the error for an invalid option contains its name, the expected value and the actual value", () => {
  const wrong: [option: string, value: unknown, message: string][] = [
    ["url", "alice.example", `options.url: expected ${URL_WANTED}, got "alice.example".`],
    ["url", "http://alice.example", `options.url: expected ${URL_WANTED}, got "http://alice.example".`],
    ["url", "https://alice.example/blog/", `options.url: expected ${URL_WANTED}, got "https://alice.example/blog/".`],
    ["url", "https://alice.example/?a", `options.url: expected ${URL_WANTED}, got "https://alice.example/?a".`],
    ["url", "https://alice@alice.example", `options.url: expected ${URL_WANTED}, got "https://alice@alice.example".`],
    ["url", 42, `options.url: expected ${URL_WANTED}, got 42.`],
    ["url", undefined, `options.url: expected ${URL_WANTED}, got nothing.`],
    // Characters that are valid in a host but not in the URL of a feed.
    ...[
      "https://a&b.example",
      "https://a)b.example",
      "https://a+b.example",
      "https://a`b.example",
      "https:alice.example",
    ].map((url): [string, unknown, string] => ["url", url, `options.url: expected ${URL_WANTED}, got "${url}".`]),
    ["webmention", "https:wm", `options.webmention: expected ${ENDPOINT_WANTED}, got "https:wm".`],
    [
      "webmention",
      "https://u:p@a.example/wm",
      `options.webmention: expected ${ENDPOINT_WANTED}, got "https://u:p@a.example/wm".`,
    ],
    [
      "follow",
      [{ nick: "eve", url: "javascript://x/%0aalert(1)" }],
      `options.follow[0].url: expected ${MENTION_WANTED}, got "javascript://x/%0aalert(1)".`,
    ],
    [
      "follow",
      [{ nick: "e\u0001ve", url: "https://e.example/" }],
      `options.follow[0].nick: expected ${NICK_WANTED}, got "e\\u0001ve".`,
    ],
    [
      "follow",
      [
        { nick: "bob", url: "https://b.example/" },
        { nick: "bob", url: "https://c.example/" },
      ],
      'options.follow: expected a list with each nick only once, got [{"nick":"bob","url":"https://b.example/"},{"nick":"bob","url":"https://c.example/"}].',
    ],
    [
      "link",
      [{ text: "x prev =", url: "https://a.example/" }],
      `options.link[0]: expected ${LINK_WANTED}, got {"text":"x prev =","url":"https://a.example/"}.`,
    ],
    ["path", "/_headers", `options.path: expected ${PATH_WANTED}, got "/_headers".`],
    ["nick", "alice smith", `options.nick: expected ${NICK_WANTED}, got "alice smith".`],
    ["nick", "@alice", `options.nick: expected ${NICK_WANTED}, got "@alice".`],
    ["nick", "", `options.nick: expected ${NICK_WANTED}, got "".`],
    ["nick", undefined, `options.nick: expected ${NICK_WANTED}, got nothing.`],
    ["path", "twtxt.txt", `options.path: expected ${PATH_WANTED}, got "twtxt.txt".`],
    ["path", "/", `options.path: expected ${PATH_WANTED}, got "/".`],
    ["path", "/a/../b.txt", `options.path: expected ${PATH_WANTED}, got "/a/../b.txt".`],
    ["path", "/a/..", `options.path: expected ${PATH_WANTED}, got "/a/..".`],
    ["path", "/a+b.txt", `options.path: expected ${PATH_WANTED}, got "/a+b.txt".`],
    ["path", "/a%20b.txt", `options.path: expected ${PATH_WANTED}, got "/a%20b.txt".`],
    [
      "path",
      "https://alice.example/twtxt.txt",
      `options.path: expected ${PATH_WANTED}, got "https://alice.example/twtxt.txt".`,
    ],
    ["collection", "", `options.collection: expected ${COLLECTION_WANTED}, got "".`],
    ["collection", [], `options.collection: expected ${COLLECTION_WANTED}, got [].`],
    ["collection", { posts: true }, `options.collection: expected ${COLLECTION_WANTED}, got {"posts":true}.`],
    [
      "text",
      "title",
      'options.text: expected a function that returns the text of a post, such as (post) => post.data.title, got "title".',
    ],
    ["timeZone", "Berlin", `options.timeZone: expected ${ZONE_WANTED}, got "Berlin".`],
    ["timeZone", "", `options.timeZone: expected ${ZONE_WANTED}, got "".`],
    [
      "follow",
      { bob: "https://bob.example/twtxt.txt" },
      `options.follow: expected ${FEEDS_WANTED}, got {"bob":"https://bob.example/twtxt.txt"}.`,
    ],
    [
      "follow",
      ["https://bob.example/twtxt.txt"],
      `options.follow[0]: expected ${FEED_WANTED}, got "https://bob.example/twtxt.txt".`,
    ],
    [
      "follow",
      [{ nick: "b b", url: "https://bob.example/twtxt.txt" }],
      `options.follow[0].nick: expected ${NICK_WANTED}, got "b b".`,
    ],
    [
      "follow",
      [{ nick: "bob", url: "bob.example" }],
      `options.follow[0].url: expected ${MENTION_WANTED}, got "bob.example".`,
    ],
    [
      "follow",
      [{ nick: "bob", url: "https://bob.example/(a)" }],
      `options.follow[0].url: expected ${MENTION_WANTED}, got "https://bob.example/(a)".`,
    ],
    [
      "follow",
      [{ nick: "bob", url: "https://bob.example/#a" }],
      `options.follow[0].url: expected ${MENTION_WANTED}, got "https://bob.example/#a".`,
    ],
    ["styles", "no", `options.styles: expected true or false, got "no".`],
    ["layout", true, `options.layout: expected the name of a layout, such as "base.njk", or false, got true.`],
    ["data", "social", `options.data: expected an object such as { section: "social" }, got "social".`],
    ["avatar", "/me.png", `options.avatar: expected ${AVATAR_WANTED}, got "/me.png".`],
    ["description", "One\nTwo", `options.description: expected ${LINE_WANTED}, got "One\\nTwo".`],
    ["description", "#1 blog", `options.description: expected ${LINE_WANTED}, got "#1 blog".`],
    ["description", "my url = x", `options.description: expected ${LINE_WANTED}, got "my url = x".`],
    ["description", " ", `options.description: expected ${LINE_WANTED}, got " ".`],
    ["lang", "English!", 'options.lang: expected a language tag, such as "en", got "English!".'],
    [
      "link",
      "https://alice.example",
      'options.link: expected a list such as [{ text: "Home", url: "https://alice.example" }], got "https://alice.example".',
    ],
    ["link", [null], `options.link[0]: expected ${LINK_WANTED}, got null.`],
    [
      "link",
      [{ text: "#", url: "https://alice.example" }],
      `options.link[0].text: expected ${LINE_WANTED.replace("Notes about bread and bicycles.", "Home")}, got "#".`,
    ],
    ["link", [{ text: "Home", url: "/" }], `options.link[0].url: expected ${LINK_URL_WANTED}, got "/".`],
    ["refresh", "3600", `options.refresh: expected ${SECONDS_WANTED}, got "3600".`],
    ["refresh", 0, `options.refresh: expected ${SECONDS_WANTED}, got 0.`],
    ["refresh", 1.5, `options.refresh: expected ${SECONDS_WANTED}, got 1.5.`],
    ["webmention", "/webmention", `options.webmention: expected ${ENDPOINT_WANTED}, got "/webmention".`],
    [
      "webmention",
      "https://alice.example/webmention#a",
      `options.webmention: expected ${ENDPOINT_WANTED}, got "https://alice.example/webmention#a".`,
    ],
    [
      "webmention",
      "http://alice.example/webmention",
      `options.webmention: expected ${ENDPOINT_WANTED}, got "http://alice.example/webmention".`,
    ],
    ["head", "no", 'options.head: expected true or false, got "no".'],
    ["key", "kex1abc", `options.key: expected ${KEY_WANTED}, got "kex1abc".`],
    ["key", KEY.toUpperCase(), `options.key: expected ${KEY_WANTED}, got "${KEY.toUpperCase()}".`],
    [
      "endpoint",
      "inbox",
      `options.endpoint: expected ${ENDPOINT_WANTED.replace("webmention", "inbox/alice")}, got "inbox".`,
    ],
    [
      "address",
      "Alice@alice.example",
      'options.address: expected an address in lower case, such as "alice@alice.example", got "Alice@alice.example".',
    ],
    [
      "authors",
      [{ user: "bob" }],
      'options.authors[0].key: expected an object such as { user: "bob", key: "kex1..." }, got nothing.',
    ],
    ["inbox", { guests: true }, "options.inbox.guests: expected false, or an object such as { days: 30 }, got true."],
    [
      "inbox",
      { guests: { days: 0 } },
      "options.inbox.guests.days: expected a whole number from 1 to 3650, such as 90, got 0.",
    ],
    ["inbox", true, "options.inbox: expected false, or an object such as { messages: 500 }, got true."],
    ["blobs", "yes", 'options.blobs: expected true, false, or an object such as { megabytes: 1000 }, got "yes".'],
    [
      "timeline",
      "yes",
      'options.timeline: expected true, false, or an object such as { path: "/timeline/" }, got "yes".',
    ],
    ["user", "Alice", `options.user: expected ${USER_WANTED}, got "Alice".`],
    [
      "mentions",
      true,
      'options.mentions: expected false, or an object such as { moderate: true, block: ["spam.example"] }, got true.',
    ],
    ["functions", "no", 'options.functions: expected true or false, got "no".'],
    ["syndicate", ["twitter"], 'options.syndicate[0]: expected a list such as ["mastodon", "bluesky"], got "twitter".'],
    [
      "fediverse",
      "alice@mastodon.example",
      'options.fediverse: expected a handle such as "@alice@mastodon.example", or "bridgy", got "alice@mastodon.example".',
    ],
    [
      "host",
      "vercel",
      'options.host: expected "netlify", "node" (a server of your own) or "static" (any other host, such as Vercel, Cloudflare Pages or GitHub Pages), got "vercel".',
    ],
  ];

  it.each(wrong)("%s: %j", (option, value, message) => {
    expect(complaint({ ...TWO, [option]: value })).toBe(message);
  });

  it("exists for every option", () => {
    expect(new Set(wrong.map(([option]) => option))).toEqual(new Set(Object.keys(OPTIONS.entries)));
  });

  it("no options at all", () => {
    const message =
      'options: expected at least url and nick, such as { url: "https://alice.example", nick: "alice" }, got nothing.';
    expect(complaint(undefined)).toBe(message);
    expect(complaint(null)).toBe(message);
  });

  it("a misspelt required option is named before the missing one", () => {
    expect(complaint({ url: TWO.url, nik: "alice" })).toBe(
      'options.nik: there is no such option. Did you mean "nick"?',
    );
  });

  it("an option in the wrong object", () => {
    expect(complaint({ ...TWO, moderate: true })).toBe(
      'options.moderate: there is no such option. Did you mean "mentions.moderate"?',
    );
  });

  it("an address at another site, or an author who is listed twice", () => {
    const key = { ...TWO, key: KEY };
    expect(complaint({ ...key, address: "alice@bob.example" })).toBe(
      'options.address: expected an address at the domain of the site, such as "alice@alice.example", got "alice@bob.example".',
    );
    expect(complaint({ ...key, address: "alice@alice.example", user: "bob" })).toContain('expected "alice", as in');
    expect(complaint({ ...key, authors: [{ user: "alice", key: KEY }] })).toContain(
      'options.authors: "alice" is already the author of options.key. Remove one of the two.',
    );
    expect(complaint({ ...TWO, address: "alice@alice.example" })).toContain("keys create");
  });

  it("options that are not an object", () => {
    expect(complaint("https://alice.example")).toMatch(/^options: expected .*, got "https:\/\/alice\.example"\.$/);
    expect(complaint("https://alice.example")).not.toContain("Object");
  });

  it("a missing option", () => {
    expect(complaint({})).toBe(`options.url: expected ${URL_WANTED}, got nothing.`);
    expect(complaint({ nick: "alice" })).toBe(`options.url: expected ${URL_WANTED}, got nothing.`);
    expect(complaint({ url: "https://alice.example" })).toBe(`options.nick: expected ${NICK_WANTED}, got nothing.`);
    expect(complaint({ ...TWO, follow: [{ nick: "bob" }] })).toMatch(
      /^options\.follow\[0\]\.url: expected .*, got nothing\.$/,
    );
  });

  it("a name in a list of collections", () => {
    expect(complaint({ ...TWO, collection: ["posts", 1] })).toMatch(
      /^options\.collection(\[1\])?: expected the name of a collection such as "posts", a list of names, or a function, got (1|\["posts",1\])\.$/,
    );
  });

  it("an inbox without a key", () => {
    expect(complaint({ ...TWO, key: KEY })).toBeNull();
    expect(complaint({ ...TWO, endpoint: INBOX })).toBe(
      "options.key: expected your public key, because options.endpoint is set. To create one, run: npx eleventy-twtxt keys create alice@alice.example",
    );
  });

  it("blobs set to true have the default limits", () => {
    const standard = { count: 1000, megabytes: 1000, maxMegabytes: 100, owners: [], formerKeys: [] };
    const blobs = (value: unknown) => checkOptions({ ...TWO, key: KEY, blobs: value }).blobs;
    expect(blobs(true)).toEqual(standard);
    expect(blobs({})).toEqual(standard);
    expect(blobs({ maxMegabytes: 7 })).toEqual({ ...standard, maxMegabytes: 7 });
    expect(blobs(false)).toBe(false);
  });

  it("blobs without a key", () => {
    const message =
      "options.key: expected your public key, because options.blobs is set. To create one, run: npx eleventy-twtxt keys create alice@alice.example";
    expect(complaint({ ...TWO, blobs: true })).toBe(message);
    expect(complaint({ ...TWO, blobs: { owners: [KEY] } })).toBe(message);
    expect(complaint({ ...TWO, blobs: false })).toBeNull();
    expect(complaint({ ...TWO, blobs: true, authors: [{ user: "bob", key: KEY }] })).toBeNull();
  });

  it.each([
    [
      { blobs: { maxMegabyte: 1 } },
      'options.blobs.maxMegabyte: there is no such option. Did you mean "blobs.maxMegabytes"?',
    ],
    [{ owners: [KEY] }, 'options.owners: there is no such option. Did you mean "blobs.owners"?'],
    [{ blob: true }, 'options.blob: there is no such option. Did you mean "blobs"?'],
    [
      { blobs: { maxMegabytes: 0 } },
      "options.blobs.maxMegabytes: expected a whole number from 1 to 10000, such as 100, got 0.",
    ],
    [
      { blobs: { count: 1.5 } },
      "options.blobs.count: expected a whole number from 1 to 100000, such as 1000, got 1.5.",
    ],
    [
      { blobs: { owners: KEY } },
      `options.blobs.owners: expected a list of public keys such as ["kex1..."], got "${KEY}".`,
    ],
    [{ blobs: { owners: ["bob"] } }, `options.blobs.owners[0]: expected ${KEY_WANTED}, got "bob".`],
    [{ blobs: null }, "options.blobs: expected true, false, or an object such as { megabytes: 1000 }, got null."],
  ])("invalid options of blobs: %j", (options, message) => {
    expect(complaint({ ...TWO, key: KEY, ...options })).toBe(message);
  });

  it.each([
    [{ blok: [] }, 'options.mentions.blok: there is no such option. Did you mean "mentions.block"?'],
    [{ avatar: "x" }, 'options.mentions.avatar: there is no such option. Did you mean "avatar"?'],
    [
      { block: ["a b"] },
      'options.mentions.block[0]: expected a host, a "host:port" or a feed, such as "spam.example", got "a b".',
    ],
    [
      { block: ["https://spam.example"] },
      'options.mentions.block[0]: expected a host, a "host:port" or a feed, such as "spam.example", got "https://spam.example".',
    ],
    [{ allow: "bob.example" }, /^options\.mentions\.allow: expected a list of hosts.*, got "bob\.example"\.$/],
    [
      { path: "webmention" },
      'options.mentions.path: expected a path from the root of the site, such as "/webmention", got "webmention".',
    ],
    [{ pages: true }, 'options.mentions.pages: expected false, or a path such as "/mentions/", got true.'],
    [{ perPage: 0 }, "options.mentions.perPage: expected a whole number from 1 to 500, such as 100, got 0."],
    [{ everyHours: 1.5 }, "options.mentions.everyHours: expected a whole number from 1 to 24, such as 1, got 1.5."],
    [
      { limits: { pending: "many" } },
      'options.mentions.limits.pending: expected a whole number from 1 to 10000, such as 500, got "many".',
    ],
    [
      { limits: { pendin: 1 } },
      'options.mentions.limits.pendin: there is no such option. Did you mean "mentions.limits.pending"?',
    ],
    [
      { rebuild: { perDay: -1 } },
      "options.mentions.rebuild.perDay: expected a whole number from 0 to 24, such as 1, got -1.",
    ],
  ])("invalid options of mentions: %j", (mentions, message) => {
    const found = complaint({ ...TWO, mentions });
    if (typeof message === "string") expect(found).toBe(message);
    else expect(found).toMatch(message);
  });

  it("mentions have the protocol's default limits", () => {
    const { mentions } = checkOptions({ ...TWO, mentions: { limits: { pending: 7 } } });
    expect(mentions).toMatchObject({
      limits: { slowHostPause: 3600, verificationSeconds: 1000, pending: 7, pendingPerHost: 20, shownPerHost: 10 },
    });
    expect(checkOptions({ ...TWO, mentions: false }).mentions).toBe(false);
  });

  it("a nick that cannot be part of an address", () => {
    expect(complaint({ ...TWO, nick: "Älice", key: KEY, endpoint: INBOX })).toBe(
      'options.address: expected an address such as "me@alice.example", because the nick "Älice" cannot be part of one. Before the "@", write up to 64 of a-z 0-9 . _ -',
    );
    expect(complaint({ ...TWO, nick: "Älice" })).toBeNull();
  });

  it("a long value, which is shortened", () => {
    expect(complaint({ ...TWO, nick: `${"a ".repeat(1000)}` })).toBe(
      `options.nick: expected ${NICK_WANTED}, got "${"a ".repeat(100).slice(0, 199)}….`,
    );
  });

  it("a function in place of another type", () => {
    expect(complaint({ ...TWO, nick: () => "alice" })).toBe(`options.nick: expected ${NICK_WANTED}, got a function.`);
  });
});

describe("the error for an unknown option suggests a similar name", () => {
  it.each([
    ["collections", "collection"],
    ["timezone", "timeZone"],
    ["Url", "url"],
    ["follows", "follow"],
    ["webmentions", "webmention"],
    ["langs", "lang"],
    ["texts", "text"],
  ])("%s: %s", (unknown, known) => {
    expect(complaint({ ...TWO, [unknown]: "x" })).toBe(
      `options.${unknown}: there is no such option. Did you mean "${known}"?`,
    );
  });

  it("even if a required option is missing", () => {
    expect(complaint({ URL: "https://alice.example", nick: "alice" })).toMatch(
      /^options\.(URL: there is no such option\. Did you mean "url"\?|url: expected )/,
    );
  });

  it("even within a list", () => {
    expect(complaint({ ...TWO, follow: [{ nick: "bob", url: "https://bob.example/twtxt.txt", uri: "x" }] })).toBe(
      "options.follow[0].uri: there is no such option.",
    );
  });
});

describe("an invalid option", () => {
  it("stops the build", async () => {
    const built = await buildSite({ files: { "a.md": "a" }, options: `{ nick: "alice smith" }` });
    expect(built.exitCode).toBe(1);
    expect(built.log).toContain(`[eleventy-plugin-twtxt] options.nick: expected ${NICK_WANTED}, got "alice smith".`);
    expect(built.has("twtxt.txt")).toBe(false);
  });
});

describe("a path prefix", () => {
  it.each(["/my blog/", "/a+b/", "/100%25/", "/a&b/", "/(x)/"])(
    "that would break the feed's address stops the build: %s",
    async (pathPrefix) => {
      const built = await buildSite({
        files: { "a.md": "Hi" },
        config: `return { pathPrefix: ${JSON.stringify(pathPrefix)} };`,
      });
      expect(built.exitCode).toBe(1);
      expect(built.log).toContain(
        'pathPrefix: expected a path of letters, digits and . _ ~ -, such as "/blog/", because it is part of the feed\'s URL',
      );
      expect(built.has("twtxt.txt")).toBe(false);
    },
  );
});
