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
const HOST_WANTED = 'a host, a "host:port" or a feed, such as "spam.example"';
const SECONDS_WANTED = "a whole number of seconds, such as 3600";
const KEY_WANTED =
  'a public key of 62 lower-case characters that starts with "kex1" (create one: npx eleventy-twtxt keys create)';
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
  const wrong: [path: string, value: unknown, wanted: string][] = [
    ["url", "alice.example", URL_WANTED],
    ["url", "http://alice.example", URL_WANTED],
    ["url", "https://alice.example/blog/", URL_WANTED],
    ["url", "https://alice.example/?a", URL_WANTED],
    ["url", "https://alice@alice.example", URL_WANTED],
    ["url", 42, URL_WANTED],
    ["url", undefined, URL_WANTED],
    // Characters that are valid in a host but not in the URL of a feed.
    ...[
      "https://a&b.example",
      "https://a)b.example",
      "https://a+b.example",
      "https://a`b.example",
      "https:alice.example",
    ].map((url): [string, unknown, string] => ["url", url, URL_WANTED]),
    ["webmention", "https:wm", ENDPOINT_WANTED],
    ["webmention", "https://u:p@a.example/wm", ENDPOINT_WANTED],
    ["follow[0].url", [{ nick: "eve", url: "javascript://x/%0aalert(1)" }], MENTION_WANTED],
    ["follow[0].nick", [{ nick: "e\u0001ve", url: "https://e.example/" }], NICK_WANTED],
    [
      "follow",
      [
        { nick: "bob", url: "https://b.example/" },
        { nick: "bob", url: "https://c.example/" },
      ],
      "a list with each nick only once",
    ],
    ["link[0]", [{ text: "x prev =", url: "https://a.example/" }], LINK_WANTED],
    ["path", "/_headers", PATH_WANTED],
    ["nick", "alice smith", NICK_WANTED],
    ["nick", "@alice", NICK_WANTED],
    ["nick", "", NICK_WANTED],
    ["nick", undefined, NICK_WANTED],
    ["path", "twtxt.txt", PATH_WANTED],
    ["path", "/", PATH_WANTED],
    ["path", "/a/../b.txt", PATH_WANTED],
    ["path", "/a/..", PATH_WANTED],
    ["path", "/a+b.txt", PATH_WANTED],
    ["path", "/a%20b.txt", PATH_WANTED],
    ["path", "https://alice.example/twtxt.txt", PATH_WANTED],
    ["collection", "", COLLECTION_WANTED],
    ["collection", [], COLLECTION_WANTED],
    ["collection", { posts: true }, COLLECTION_WANTED],
    ["text", "title", "a function that returns the text of a post, such as (post) => post.data.title"],
    ["timeZone", "Berlin", ZONE_WANTED],
    ["timeZone", "", ZONE_WANTED],
    ["follow", { bob: "https://bob.example/twtxt.txt" }, FEEDS_WANTED],
    ["follow[0]", ["https://bob.example/twtxt.txt"], FEED_WANTED],
    ["follow[0].nick", [{ nick: "b b", url: "https://bob.example/twtxt.txt" }], NICK_WANTED],
    ["follow[0].url", [{ nick: "bob", url: "bob.example" }], MENTION_WANTED],
    ["follow[0].url", [{ nick: "bob", url: "https://bob.example/(a)" }], MENTION_WANTED],
    ["follow[0].url", [{ nick: "bob", url: "https://bob.example/#a" }], MENTION_WANTED],
    ["styles", "no", "true or false"],
    ["layout", true, 'the name of a layout, such as "base.njk", or false'],
    ["data", "social", 'an object such as { section: "social" }'],
    ["avatar", "/me.png", AVATAR_WANTED],
    ["description", "One\nTwo", LINE_WANTED],
    ["description", "#1 blog", LINE_WANTED],
    ["description", "my url = x", LINE_WANTED],
    ["description", " ", LINE_WANTED],
    ["lang", "English!", 'a language tag, such as "en"'],
    ["link", "https://alice.example", 'a list such as [{ text: "Home", url: "https://alice.example" }]'],
    ["link[0]", [null], LINK_WANTED],
    [
      "link[0].text",
      [{ text: "#", url: "https://alice.example" }],
      LINE_WANTED.replace("Notes about bread and bicycles.", "Home"),
    ],
    ["link[0].url", [{ text: "Home", url: "/" }], LINK_URL_WANTED],
    ["refresh", "3600", SECONDS_WANTED],
    ["refresh", 0, SECONDS_WANTED],
    ["refresh", 1.5, SECONDS_WANTED],
    ["webmention", "/webmention", ENDPOINT_WANTED],
    ["webmention", "https://alice.example/webmention#a", ENDPOINT_WANTED],
    ["webmention", "http://alice.example/webmention", ENDPOINT_WANTED],
    ["head", "no", "true or false"],
    ["key", "kex1abc", KEY_WANTED],
    ["key", KEY.toUpperCase(), KEY_WANTED],
    ["endpoint", "inbox", ENDPOINT_WANTED.replace("webmention", "inbox/alice")],
    ["address", "Alice@alice.example", 'an address in lower case, such as "alice@alice.example"'],
    ["authors[0].key", [{ user: "bob" }], 'an object such as { user: "bob", key: "kex1..." }'],
    ["inbox.guests", { guests: true }, "false, or an object such as { days: 30 }"],
    ["inbox.guests.days", { guests: { days: 0 } }, "a whole number from 1 to 3650, such as 90"],
    ["inbox", true, "false, or an object such as { messages: 500 }"],
    ["blobs", "yes", "true, false, or an object such as { megabytes: 1000 }"],
    ["timeline", "yes", 'true, false, or an object such as { path: "/timeline/" }'],
    ["user", "Alice", USER_WANTED],
    ["mentions", true, 'false, or an object such as { moderate: true, block: ["spam.example"] }'],
    ["functions", "no", "true or false"],
    ["syndicate[0]", ["twitter"], 'a list such as ["mastodon", "bluesky"]'],
    ["fediverse", "alice@mastodon.example", 'a handle such as "@alice@mastodon.example", or "bridgy"'],
    [
      "host",
      "vercel",
      '"netlify", "node" (a server of your own) or "static" (any other host, such as Vercel, Cloudflare Pages or GitHub Pages)',
    ],
    ["blobs.maxMegabytes", { maxMegabytes: 0 }, "a whole number from 1 to 10000, such as 100"],
    ["blobs.count", { count: 1.5 }, "a whole number from 1 to 100000, such as 1000"],
    ["blobs.owners", { owners: KEY }, 'a list of public keys such as ["kex1..."]'],
    ["blobs.owners[0]", { owners: ["bob"] }, KEY_WANTED],
    ["blobs", null, "true, false, or an object such as { megabytes: 1000 }"],
    ["mentions.block[0]", { block: ["a b"] }, HOST_WANTED],
    ["mentions.block[0]", { block: ["https://spam.example"] }, HOST_WANTED],
    ["mentions.path", { path: "webmention" }, PATH_WANTED.replace("twtxt.txt", "webmention")],
    ["mentions.pages", { pages: true }, 'false, or a path such as "/mentions/"'],
    ["mentions.perPage", { perPage: 0 }, "a whole number from 1 to 500, such as 100"],
    ["mentions.everyHours", { everyHours: 1.5 }, "a whole number from 1 to 24, such as 1"],
    ["mentions.limits.pending", { limits: { pending: "many" } }, "a whole number from 1 to 10000, such as 500"],
    ["mentions.rebuild.perDay", { rebuild: { perDay: -1 } }, "a whole number from 0 to 24, such as 1"],
  ];

  it.each(wrong)("%s: %j", (path, value, wanted) => {
    const [option = "", ...names] = path.split(/[.[\]]+/).filter(Boolean);
    const actual = names.reduce((found, name) => Object(found)[name], value);
    expect(complaint({ ...TWO, key: KEY, [option]: value })).toBe(
      `options.${path}: expected ${wanted}, got ${JSON.stringify(actual) ?? "nothing"}.`,
    );
  });

  it("exists for every option", () => {
    expect(new Set(wrong.map(([path]) => /^\w+/.exec(path)?.[0]))).toEqual(new Set(Object.keys(OPTIONS.entries)));
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

  it("mentions.allow as one host", () => {
    expect(complaint({ ...TWO, mentions: { allow: "bob.example" } })).toMatch(
      /^options\.mentions\.allow: expected a list of hosts.*, got "bob\.example"\.$/,
    );
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
    ["owners", "blobs.owners"],
    ["blob", "blobs"],
    ["moderate", "mentions.moderate"],
    ["blobs.maxMegabyte", "blobs.maxMegabytes"],
    ["mentions.blok", "mentions.block"],
    ["mentions.avatar", "avatar"],
    ["mentions.limits.pendin", "mentions.limits.pending"],
  ])("%s: %s", (unknown, known) => {
    const options = unknown.split(".").reduceRight<unknown>((value, name) => ({ [name]: value }), "x");
    expect(complaint({ ...TWO, ...Object(options) })).toBe(
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
