// plugin/options.ts: what a site may configure, and the one place where it is checked.
import leven from "leven";
import * as v from "valibot";
import { authorError, type TwtxtError } from "./errors.js";
import { type FieldName, faultOfFieldValue } from "./feed/header.js";
import { isMentionUrl, isNick } from "./feed/mention.js";
import { USER } from "./keys/address.js";

/** A collection item as Eleventy hands it out; see its documentation, "Collection item data structure". */
export interface Post {
  url: string | false;
  inputPath: string;
  date: Date;
  /** Which page of a paginated template this is. */
  pageNumber?: number;
  data: Record<string, unknown>;
  page?: { url: string | false; inputPath: string; date: Date };
  rawInput?: string;
  templateContent: string;
}

const FEED_PATH = /^(\/[A-Za-z0-9._~-]+)+$/;
const KEX = /^kex1[02-9ac-hj-np-z]{58}$/;

/** The two options that every site has, and what they are. */
const NEEDED = {
  url: 'the origin of the site, an absolute https URL without a path, such as "https://alice.example"',
  nick: 'a nick without spaces and without @ # ! : < > ( ) [ ] \' " `, such as "alice"',
};

const nick = text(isNick, NEEDED.nick);
const mentionUrl = text(
  (value) => isMentionUrl(value) && !value.includes("#"),
  'an absolute URL without ) > # ` and spaces, such as "https://bob.example/twtxt.txt"',
);
const webUrl = text(isWebUrl, 'an absolute https URL without "#", such as "https://alice.example/avatar.png"');
const endpointUrl = text(isWebUrl, 'an absolute https URL without "#", such as "https://alice.example/webmention"');
const linkUrl = text(
  (value) => (isMentionUrl(value) || (value.startsWith("mailto:") && URL.canParse(value))) && !/[#\s]/.test(value),
  'an absolute URL without "#", such as "https://alice.example/about/" or "mailto:alice@alice.example"',
);
const fieldText = (field: FieldName) =>
  text(
    (value) => faultOfFieldValue(field, value) === null,
    'one line of text without "#" and without another field\'s "name = "',
  );

const LINK = 'an object such as { text: "Home", url: "https://alice.example" }';
const COLLECTION = 'the name of a collection, a list of names, or a function, such as "posts"';
const collectionName = v.pipe(v.string(COLLECTION), v.nonEmpty(COLLECTION));

const MENTIONS_FORM = 'false, or an object such as { moderate: true, block: ["spam.example"] }';
const SOURCES = 'a list of hosts, "host:port"s and feeds, such as ["spam.example", "https://bob.example/twtxt.txt"]';
const sources = v.optional(
  v.array(text(isSource, 'a host, a "host:port" or a feed, such as "spam.example"'), SOURCES),
  [],
);
const sitePath = (example: string) =>
  text(
    (value) => FEED_PATH.test(value.replace(/\/$/, "")) && !/\/\.+(\/|$)/.test(value),
    `a path from the root of the site, such as "${example}"`,
  );
const amount = (least: number, most: number, standard: number) => {
  const expected = `a whole number from ${least} to ${most}, such as ${standard}`;
  return v.optional(
    v.pipe(v.number(expected), v.safeInteger(expected), v.minValue(least, expected), v.maxValue(most, expected)),
    standard,
  );
};

const LAYOUT = 'the name of a layout, such as "base.njk"';

const WORDS_FORM = 'an object such as { title: "Erwähnungen" }';
const WORDS = 'a text such as "Erwähnungen"';
const words = (description: string, standard: string) =>
  v.optional(about(description, v.pipe(v.string(WORDS), v.nonEmpty(WORDS))), standard);

/** What the option `mentions` may hold. */
export const MENTIONS = v.strictObject(
  {
    path: v.optional(about("Where mentions are received.", sitePath("/webmention")), "/webmention"),
    pages: v.optional(
      about(
        "Where the pages that list them begin; `false` for none.",
        v.union([v.literal(false), sitePath("/mentions/")], 'false, or a path such as "/mentions/"'),
      ),
      "/mentions/",
    ),
    layout: v.optional(
      about(
        "A layout of your site for these pages, such as `base.njk`; without one they are plain pages of their own.",
        v.pipe(v.string(LAYOUT), v.nonEmpty(LAYOUT)),
      ),
    ),
    perPage: about("How many stand on one of these pages.", amount(1, 500, 50)),
    words: v.optional(
      v.strictObject(
        {
          title: words("What these pages are called.", "Mentions"),
          newer: words("Leads to the page before.", "Newer"),
          older: words("Leads to the next page.", "Older"),
          mention: words("What stands behind a name.", "mentioned this"),
          reply: words("The same for a reply,", "replied"),
          like: words("for a like,", "likes this"),
          repost: words("for a repost,", "reposted this"),
          bookmark: words("and for a bookmark.", "bookmarked this"),
        },
        WORDS_FORM,
      ),
      {},
    ),
    avatars: v.optional(
      about(
        "Whether the build fetches the pictures of those who mention you and serves them itself.",
        v.boolean("true or false"),
      ),
      false,
    ),
    aliases: about(
      "Other URLs of your feed by which people may still mention you.",
      v.optional(v.array(mentionUrl, 'a list such as ["https://old.example/twtxt.txt"]'), []),
    ),
    moderate: v.optional(
      about(
        "Whether a mention waits until you have approved it, unless `allow` has its source.",
        v.boolean("true or false"),
      ),
      false,
    ),
    allow: about("Sources that are always shown.", sources),
    block: about("Sources that are refused.", sources),
    digestHours: about("At most one mail in so many hours.", amount(1, 720, 24)),
    everyHours: about("How often the scheduled function runs.", amount(1, 24, 1)),
    rebuild: v.optional(
      v.strictObject(
        {
          perDay: about(
            "How often in 24 hours a new mention may rebuild the site, where there is a build hook.",
            amount(0, 24, 1),
          ),
          perMonth: about("How often in 31 days; a deploy costs 15 credits.", amount(0, 500, 5)),
        },
        MENTIONS_FORM,
      ),
      {},
    ),
    limits: v.optional(
      v.strictObject(
        {
          slowHostPause: about(
            "Seconds during which a source that was too slow is not asked again.",
            amount(0, 86_400, 3600),
          ),
          verificationSeconds: about("Seconds a day that may be spent on verifying.", amount(1, 86_400, 1000)),
          pending: about("How many may wait for their verification.", amount(1, 10_000, 500)),
          pendingPerHost: about("How many of one host may.", amount(1, 1000, 20)),
          shownPerHost: about(
            "How many of one host are shown a day before the rest waits for you.",
            amount(0, 10_000, 10),
          ),
        },
        MENTIONS_FORM,
      ),
      {},
    ),
  },
  MENTIONS_FORM,
);

/** Every option with its type, its default and its sentence in the README. */
export const OPTIONS = v.strictObject({
  url: about(
    "The origin of the site, without a path: Eleventy's own `pathPrefix` is added. It is part of the feed's identity, so choose it once.",
    text(isOrigin, NEEDED.url),
  ),
  nick: about("Your name in the feed.", nick),
  path: v.optional(
    about(
      "Where the feed is written. Archives stand beside it.",
      text(
        (value) => FEED_PATH.test(value) && !/\/\.+(\/|$)|^\/_(headers|redirects)$/.test(value),
        'a path from the root of the site, such as "/twtxt.txt"',
      ),
    ),
    "/twtxt.txt",
  ),
  collection: v.optional(
    about(
      "Which posts: a collection, several, or a function that is given each item of `collections.all` and answers whether it is a post.",
      v.union(
        [
          collectionName,
          v.pipe(v.array(collectionName), v.nonEmpty(COLLECTION)),
          v.custom<(post: Post) => boolean>(isFunction),
        ],
        COLLECTION,
      ),
    ),
    "posts",
  ),
  text: v.optional(
    about(
      "A function that is given a post and returns its text in the feed, or `undefined` for the default text.",
      v.custom<(post: Post) => string | null | undefined>(isFunction, "a function from a post to its text"),
    ),
  ),
  timeZone: v.optional(
    about(
      "Where a date without a time begins: an IANA name.",
      text(isTimeZone, 'the IANA name of a time zone, such as "Europe/Berlin"'),
    ),
    "UTC",
  ),
  follow: v.optional(
    about(
      "Feeds that you follow, as `{ nick, url }`: in the feed's header, for the short form `@nick`, and as `twtxt.follow` in templates.",
      v.pipe(
        v.array(
          v.strictObject(
            { nick, url: mentionUrl },
            'an object such as { nick: "bob", url: "https://bob.example/twtxt.txt" }',
          ),
          'a list such as [{ nick: "bob", url: "https://bob.example/twtxt.txt" }]',
        ),
        v.check((feeds) => new Set(feeds.map(({ nick }) => nick)).size === feeds.length, "each nick once"),
      ),
    ),
    [],
  ),
  avatar: v.optional(about("The URL of your picture.", webUrl)),
  description: v.optional(about("One line about you.", fieldText("description"))),
  lang: v.optional(
    about(
      "The language of the feed.",
      text((value) => /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/.test(value), 'a language tag such as "en"'),
    ),
  ),
  link: v.optional(
    about(
      "Further links of the header, as `{ text, url }`.",
      v.array(
        v.pipe(
          v.strictObject({ text: fieldText("link"), url: linkUrl }, LINK),
          v.check(({ text, url }) => faultOfFieldValue("link", `${text} ${url}`) === null, LINK),
        ),
        'a list such as [{ text: "Home", url: "https://alice.example" }]',
      ),
    ),
    [],
  ),
  refresh: v.optional(
    about(
      "How many seconds readers should wait between two looks at the feed.",
      v.pipe(
        v.number("a whole number of seconds such as 3600"),
        v.safeInteger("a whole number of seconds such as 3600"),
        v.minValue(1, "a whole number of seconds such as 3600"),
      ),
    ),
  ),
  webmention: v.optional(
    about("The endpoint that receives your mentions, where somebody else's service does it.", endpointUrl),
  ),
  mentions: v.optional(
    about(
      "How mentions of you are received and shown, as an object; `false` for not at all. They need a `host` with functions; see [docs/mentions.md](docs/mentions.md#options).",
      v.lazy((input) => (input === false ? v.literal(false) : MENTIONS)),
    ),
    {},
  ),
  functions: v.optional(
    about(
      "Whether the build writes the functions that send and receive mentions, on a `host` that runs them.",
      v.boolean("true or false"),
    ),
    true,
  ),
  head: v.optional(
    about(
      "Whether pages get the `<link>`s of the feed and the endpoint; if not, place the shortcode `twtxtHead` yourself.",
      v.boolean("true or false"),
    ),
    true,
  ),
  key: v.optional(
    about(
      "Your public key, by which you manage your mentions. With `endpoint` too, the build writes the documents by which others find your inbox.",
      text((value) => KEX.test(value), 'a public key of 62 lower-case characters that starts with "kex1"'),
    ),
  ),
  endpoint: v.optional(about("The URL of your inbox for private messages; goes with `key`.", endpointUrl)),
  user: v.optional(
    about(
      "The part of your address before the `@`. Default: the nick in lower case.",
      text((value) => USER.test(value), 'up to 64 of a-z 0-9 . _ -, the first a letter or digit, such as "alice"'),
    ),
  ),
  host: v.optional(
    about(
      'What serves the site: `"netlify"`, `"node"` or `"static"`. Default: `"netlify"` on a build of Netlify\'s or beside a `netlify.toml`, else `"static"`.',
      v.picklist(["netlify", "node", "static"], '"netlify", "node" or "static"'),
    ),
  ),
});

/** The options as a site writes them. */
export type TwtxtOptions = v.InferInput<typeof OPTIONS>;

/** The options, checked and complete. */
export type Settings = v.InferOutput<typeof OPTIONS> & { user: string };

/**
 * Checks the options of a site and fills in the defaults.
 *
 * @param options - what stands in the site's configuration
 * @throws TwtxtError `bad-option`, naming the option, what was expected and what was received
 */
export function checkOptions(options: unknown): Settings {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw badOption(
      `options: expected two at least, such as { url: "https://alice.example", nick: "alice" }, got ${show(options ?? undefined)}.`,
    );
  }
  const result = v.safeParse(OPTIONS, options, { abortEarly: true });
  if (!result.success) throw badOption(describe(result.issues[0]));

  const settings = result.output;
  if (settings.endpoint && !settings.key) {
    throw badOption(
      "options.key: expected your public key, since options.endpoint is set; without it nobody can write to that inbox.",
    );
  }
  const user = settings.user ?? settings.nick.toLowerCase();
  if (settings.key && !USER.test(user)) {
    throw badOption(
      `options.user: expected up to 64 of a-z 0-9 . _ - for your address, since the nick "${settings.nick}" cannot stand there.`,
    );
  }
  return { ...settings, url: new URL(settings.url).origin, user };
}

function describe(issue: v.InferIssue<typeof OPTIONS>): string {
  const path = (issue.path ?? []) as { key: unknown; input: unknown }[];
  const name = ["options", ...path.map(({ key }) => key)].join(".").replace(/\.(\d+)/g, "[$1]");
  if (issue.type === "strict_object" && issue.expected === "never") {
    const key = String(path.at(-1)?.key);
    const known = Object.keys(path.length === 1 ? OPTIONS.entries : (path.at(-1)?.input as object));
    const nearest = path.length === 1 ? known.toSorted((a, b) => leven(key, a) - leven(key, b))[0] : undefined;
    return `${name}: there is no such option.${nearest ? ` Did you mean "${nearest}"?` : ""}`;
  }
  const expected =
    issue.type === "strict_object" && path.length === 1 && issue.expected !== "Object"
      ? NEEDED[path[0]?.key === "nick" ? "nick" : "url"]
      : issue.message;
  return `${name}: expected ${expected}, got ${show(issue.input)}.`;
}

function show(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "function") return "a function";
  const json = JSON.stringify(value) ?? String(value);
  return json.length > 200 ? `${json.slice(0, 200)}…` : json;
}

function badOption(message: string): TwtxtError {
  return authorError("bad-option", message);
}

function text(isRight: (value: string) => boolean, expected: string) {
  return v.pipe(v.string(expected), v.check(isRight, expected));
}

function about<const S extends v.GenericSchema>(description: string, schema: S) {
  return v.pipe(schema, v.description(description));
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

function isOrigin(value: string): boolean {
  if (!isSafeUrl(value) || /[?#@]/.test(value)) return false;
  const { pathname, host } = new URL(value);
  return pathname === "/" && /^(\[[0-9a-f:]+\]|[a-z0-9.-]+)(:\d+)?$/.test(host);
}

/** A host, `host:port`, or the URL of a feed or page. */
function isSource(value: string): boolean {
  return /^https?:\/\//.test(value)
    ? isMentionUrl(value)
    : /^(\[[0-9a-f:]+\]|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(:\d{1,5})?$/.test(value);
}

function isWebUrl(value: string): boolean {
  return isSafeUrl(value) && !/[\s#<>"`\x00-\x1f\x7f-\x9f]/.test(value);
}

/** https, or http on a loopback host for trying out. */
function isSafeUrl(value: string): boolean {
  if (!/^https?:\/\/[^/\\]/.test(value) || !URL.canParse(value) || !value.isWellFormed()) return false;
  const { protocol, hostname, username, password } = new URL(value);
  if (username !== "" || password !== "") return false;
  return protocol === "https:" || (protocol === "http:" && /^(localhost|\[::1\]|127(\.\d+){3})$/.test(hostname));
}

/** Whether this is the IANA name of a time zone. */
export function isTimeZone(value: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: value });
    return true;
  } catch {
    return false;
  }
}
