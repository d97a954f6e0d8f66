// plugin/options.ts: options of the plugin, and their validation.
import * as v from "valibot";
import { authorError, type TwtxtError } from "./errors.js";
import { type FieldName, faultOfFieldValue } from "./feed/header.js";
import { isMentionUrl } from "./feed/mention.js";
import { parseAddress, USER } from "./keys/address.js";
import { BLOBS } from "./options/blobs.js";
import { FEDIVERSE } from "./options/fediverse.js";
import { FOLLOW } from "./options/follow.js";
import { AUTHORS, GUESTS, INBOX, inboxUrl, publicKey, user } from "./options/inbox.js";
import { MENTIONS } from "./options/mentions.js";
import { formatIssue, type KnownOptions, show } from "./options/messages.js";
import { SYNDICATE } from "./options/syndicate.js";
import { TIMELINE } from "./options/timeline.js";
import { isOrigin, layout, NICK, nick, offOr, onOr, SITE_PATH, text, webUrl, yesNo } from "./options/value-types.js";
import { canParseUrl } from "./url.js";

/** A collection item of Eleventy; see its documentation, "Collection item data structure". */
export interface Post {
  url: string | false;
  inputPath: string;
  date: Date;
  /** The number of this page of a paginated template, from 0. */
  pageNumber?: number;
  data: Record<string, unknown>;
  page?: { url: string | false; inputPath: string; date: Date };
  rawInput?: string;
  templateContent: string;
}

/** The second argument of the option `text`. */
export interface DefaultText {
  /** The text that the post has without the option; computed when it is read. */
  readonly text: string;
  /** The absolute URL of the post's page; `null` for a post without a page. */
  permalink: string | null;
}

/** Descriptions of the two required options for error messages. */
const REQUIRED = {
  url: 'the origin of the site, an absolute https URL without a path, such as "https://alice.example"',
  nick: NICK,
};

const linkUrl = text(
  (value) => (isMentionUrl(value) || (value.startsWith("mailto:") && canParseUrl(value))) && !/[#\s]/.test(value),
  'an absolute URL without "#", such as "https://alice.example/about/" or "mailto:alice@alice.example"',
);
const fieldText = (field: FieldName, example: string) =>
  text(
    (value) => faultOfFieldValue(field, value) === null,
    `one line of text without "#" or a field such as "nick = ", for example "${example}"`,
  );

const LINK = '{ text: "Home", url: "https://alice.example" }';
const COLLECTION = 'the name of a collection such as "posts", a list of names, or a function';
const SECONDS = "a whole number of seconds, such as 3600";
const collectionName = v.pipe(v.string(COLLECTION), v.nonEmpty(COLLECTION));

/** Every option with its type and its default. What each does is said in the README and in the documents that it names. */
export const OPTIONS = v.strictObject({
  url: text(isOrigin, REQUIRED.url),
  nick,
  path: v.optional(
    text(
      (value) => SITE_PATH.test(value) && !/\/\.+(\/|$)|^\/_(headers|redirects)$/.test(value),
      'a path from the root of the site, such as "/twtxt.txt"',
    ),
    "/twtxt.txt",
  ),
  collection: v.optional(
    v.union(
      [
        collectionName,
        v.pipe(v.array(collectionName), v.nonEmpty(COLLECTION)),
        v.custom<(post: Post) => boolean>(isFunction),
      ],
      COLLECTION,
    ),
    "posts",
  ),
  text: v.optional(
    v.custom<(post: Post, standard: DefaultText) => string | null | undefined>(
      isFunction,
      "a function that returns the text of a post, such as (post) => post.data.title",
    ),
  ),
  timeZone: v.optional(text(isTimeZone, 'the IANA name of a time zone, such as "Europe/Berlin"'), "UTC"),
  follow: v.optional(FOLLOW, []),
  styles: v.optional(yesNo, true),
  layout: v.optional(v.union([v.literal(false), layout], 'the name of a layout, such as "base.njk", or false')),
  data: v.optional(v.record(v.string(), v.unknown(), 'an object such as { section: "social" }'), {}),
  avatar: v.optional(webUrl("https://alice.example/avatar.png")),
  description: v.optional(fieldText("description", "Notes about bread and bicycles.")),
  lang: v.optional(text((value) => /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/.test(value), 'a language tag, such as "en"')),
  link: v.optional(
    v.array(
      v.pipe(
        v.strictObject({ text: fieldText("link", "Home"), url: linkUrl }, `an object such as ${LINK}`),
        v.check(({ text, url }) => faultOfFieldValue("link", `${text} ${url}`) === null, `an object such as ${LINK}`),
      ),
      `a list such as [${LINK}]`,
    ),
    [],
  ),
  refresh: v.optional(v.pipe(v.number(SECONDS), v.safeInteger(SECONDS), v.minValue(1, SECONDS))),
  webmention: v.optional(webUrl("https://alice.example/webmention")),
  mentions: v.optional(offOr(MENTIONS), {}),
  timeline: v.optional(onOr(TIMELINE), false),
  functions: v.optional(yesNo, true),
  head: v.optional(yesNo, true),
  address: v.optional(
    text((value) => parseAddress(value) === value, 'an address in lower case, such as "alice@alice.example"'),
  ),
  user: v.optional(user),
  key: v.optional(publicKey),
  endpoint: v.optional(inboxUrl),
  authors: v.optional(AUTHORS, []),
  inbox: v.optional(offOr(INBOX), {}),
  blobs: v.optional(onOr(BLOBS), false),
  syndicate: v.optional(SYNDICATE, []),
  fediverse: v.optional(FEDIVERSE),
  host: v.optional(
    v.picklist(
      ["netlify", "node", "static"],
      '"netlify", "node" (a server of your own) or "static" (any other host, such as Vercel, Cloudflare Pages or GitHub Pages)',
    ),
  ),
});

/** The options as a site writes them. */
export type TwtxtOptions = v.InferInput<typeof OPTIONS>;

type CompleteOptions = v.InferOutput<typeof OPTIONS>;

/** An author of the blog with an address. */
export type Author = CompleteOptions["authors"][number];

/** The valid options with defaults. All authors are in one list. */
export type Settings = Omit<CompleteOptions, "address" | "user" | "key" | "endpoint"> & {
  /** The first author's address, also without a key; `null` if the nick cannot be part of an address. */
  address: string | null;
};

/** The names of the options, by the path of their object: a misspelled name gets the nearest one as a suggestion. */
const KNOWN: KnownOptions = new Map([
  ["", Object.keys(OPTIONS.entries)],
  ["mentions", Object.keys(MENTIONS.entries)],
  ...(["words", "rebuild", "limits"] as const).map(
    (part) => [`mentions.${part}`, Object.keys(MENTIONS.entries[part].wrapped.entries)] as const,
  ),
  ["inbox", Object.keys(INBOX.entries)],
  ["inbox.guests", Object.keys(GUESTS.entries)],
  ["blobs", Object.keys(BLOBS.entries)],
  ["timeline", Object.keys(TIMELINE.entries)],
]);

/**
 * Checks the options of a site and fills in the defaults.
 *
 * @param options - the options in the site's configuration
 * @throws TwtxtError `bad-option`, naming the option, what was expected and what was received
 */
export function checkOptions(options: unknown): Settings {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw badOption(
      `options: expected at least url and nick, such as { url: "https://alice.example", nick: "alice" }, got ${show(options ?? undefined)}.`,
    );
  }
  const result = v.safeParse(OPTIONS, options);
  if (!result.success) throw badOption(formatIssue(result.issues, KNOWN, REQUIRED));

  const { address: _, user: __, key, endpoint, authors, ...settings } = result.output;
  const url = new URL(settings.url).origin;
  const address = toAddress(result.output);
  const first = key === undefined ? withoutKey(result.output) : [{ user: toUser(result.output), key, endpoint }];
  const twice = authors.find(({ user }) => user === first[0]?.user);
  if (twice) {
    throw badOption(`options.authors: "${twice.user}" is already the author of options.key. Remove one of the two.`);
  }
  const all = [...first, ...authors];
  if (settings.blobs !== false && all.length === 0) throw keyNeeded("blobs", address);
  return { ...settings, url, address, authors: all };
}

/** @throws TwtxtError `bad-option` for options that have no meaning without a key */
function withoutKey(options: CompleteOptions): [] {
  const name = (["address", "endpoint"] as const).find((name) => options[name] !== undefined);
  if (name === undefined) return [];
  throw keyNeeded(name, toAddress(options));
}

function keyNeeded(option: string, address: string | null): TwtxtError {
  return badOption(
    `options.key: expected your public key, because options.${option} is set. To create one, run: npx eleventy-twtxt keys create ${address ?? "ADDRESS"}`,
  );
}

function toAddress({ url, nick, address, user }: CompleteOptions): string | null {
  const name = address?.split("@")[0] ?? user ?? nick.toLowerCase();
  return USER.test(name) ? `${name}@${new URL(url).host}` : null;
}

function toUser({ url, nick, address, user }: CompleteOptions): string {
  const { host } = new URL(url);
  const [named, domain] = address?.split("@") ?? [];
  if (address !== undefined && domain !== host) {
    throw badOption(
      `options.address: expected an address at the domain of the site, such as "${named}@${host}", got "${address}".`,
    );
  }
  if (user !== undefined && named !== undefined && user !== named) {
    throw badOption(
      `options.user: expected "${named}", as in options.address, got "${user}". Remove one of the two options.`,
    );
  }
  const name = named ?? user ?? nick.toLowerCase();
  if (USER.test(name)) return name;
  throw badOption(
    `options.address: expected an address such as "me@${host}", because the nick "${nick}" cannot be part of one. Before the "@", write up to 64 of a-z 0-9 . _ -`,
  );
}

function badOption(message: string): TwtxtError {
  return authorError("bad-option", message);
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

/** Whether this is the IANA name of a time zone. */
export function isTimeZone(value: string): boolean {
  try {
    // A formatter costs more than the rest of the settings.
    return value === "UTC" || Boolean(new Intl.DateTimeFormat("en", { timeZone: value }));
  } catch {
    return false;
  }
}
