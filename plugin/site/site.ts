// plugin/site/site.ts: what a build leaves of the site for its host and for the commands. Nothing in it is secret. PROTOCOL 7
import * as v from "valibot";
import { toInstant } from "../feed/timestamp.js";
import { MENTIONS } from "../options/mentions.js";
import { isTimeZone } from "../options.js";

/** Where each build writes {@link SiteSettings}, from the project's root. */
export const SETTINGS_FILE = ".eleventy-twtxt/settings.json";
/** Where a real build writes a {@link PublishedSite}. `eleventy-twtxt serve` watches this file. */
export const HOST_FILE = ".eleventy-twtxt/host.json";
/** The feed, its archives and the discovery documents of the last real build, at their paths. */
export const PUBLISHED_FOLDER = ".eleventy-twtxt/published";
/** Where a running `eleventy-twtxt serve` notes that it shows the output folder of the last real build. */
export const SERVING_FOLDER = ".eleventy-twtxt/serving";
/** The output folder for previews beside `eleventy-twtxt serve`. No build reads templates there. */
export const PREVIEW_FOLDER = "_preview";

/** Of both files. A reader refuses another version. */
export const SETTINGS_VERSION = 5;

const TIMESTAMP = v.pipe(
  v.string(),
  v.check((timestamp) => toInstant(timestamp) === timestamp),
);

/** What the host of a site needs to know. URLs are absolute, with the path prefix. */
const HOST_SETTINGS = v.object({
  version: v.literal(SETTINGS_VERSION),
  host: v.picklist(["netlify", "node", "static"]),
  /** The folder of the built site, from the project's root. */
  output: v.string(),
  /** The origin of the site. */
  url: v.string(),
  feedUrl: v.string(),
  /** The endpoint for mentions that the feed names; `null` for none. */
  endpoint: v.nullable(v.string()),
  nick: v.string(),
  /** Who manages the mentions by signed requests. The key is `kex1...`; the endpoint is the inbox, `null` for none. */
  authors: v.array(
    v.object({ user: v.string(), address: v.string(), key: v.string(), endpoint: v.nullable(v.string()) }),
  ),
  /** Whether the site receives its mentions itself: `false` where the options name another service, or none. */
  isReceiver: v.boolean(),
  /** Whether the host runs the endpoints: `false` for a host of files alone. */
  hasEndpoints: v.boolean(),
  urls: v.object({
    webmention: v.string(),
    mentionsJson: v.string(),
    mentionsFeed: v.string(),
    mentionsApi: v.string(),
    inbox: v.string(),
    blobs: v.string(),
    shared: v.string(),
    /** The first of the site's own pages that list mentions; `null` for a site without. */
    mentionsPage: v.nullable(v.string()),
  }),
  /** `null` for a site without inboxes. */
  inbox: v.nullable(
    v.object({
      /** The authors whose inbox is here. */
      users: v.array(v.string()),
      messages: v.number(),
      megabytes: v.number(),
      /** 0 for no limit. */
      retentionDays: v.number(),
      /** `null` for the default of the host. */
      subscribe: v.nullable(v.boolean()),
    }),
  ),
  /** `null` for a site without blobs. */
  blobs: v.nullable(
    v.object({
      /** Keys, `kex1...`. */
      owners: v.array(v.string()),
      /** Limits of each owner. */
      count: v.number(),
      bytes: v.number(),
      /** Limit of one blob. */
      maxBytes: v.number(),
    }),
  ),
  mentions: v.omit(MENTIONS, ["path", "pages", "layout", "perPage", "words", "avatars"]),
});

const SITE_SETTINGS = v.object({
  ...HOST_SETTINGS.entries,
  timeZone: v.pipe(v.string(), v.check(isTimeZone)),
  follow: v.array(v.object({ nick: v.string(), url: v.string() })),
  /** The folder of the site's sources. */
  input: v.string(),
  /** Whether the last build was one of `--serve` or `--watch`. */
  isDevelopment: v.boolean(),
  /** The address of the first author, as it is or would be with a key; `null` where the nick cannot be part of one. */
  address: v.nullable(v.string()),
  notes: v.object({
    /** The folders of the notes, that of the newest note first; of the posts for a site without notes. */
    folders: v.array(v.string()),
    /** Whether the site has a note. */
    hasAny: v.boolean(),
    /** The newest note, or post for a site without notes: the model for a new note in the same folder. */
    like: v.nullable(v.string()),
    /** The tags that all notes share; before the first note, the collection that it must be in. */
    tags: v.array(v.string()),
    /** The layout of the newest note or post, from its folder's data too. */
    layout: v.nullable(v.string()),
  }),
  /** Posts without a time of their own. */
  unstamped: v.array(
    v.object({
      file: v.string(),
      /** The time that the feed gives it; `null` for a post that is not in the feed. */
      timestamp: v.nullable(TIMESTAMP),
      /** The time that the post names, where another post has that second in the feed. */
      shared: v.optional(TIMESTAMP),
    }),
  ),
});

const SITE_PAGES = v.object({
  /** The URL of the feed, then those of the option `mentions.aliases`. */
  feeds: v.array(v.string()),
  /** Every page of HTML, as an absolute URL. */
  pages: v.array(v.string()),
  /** The twts of the feed, oldest first, with both forms of the hash and the page of the post. No hashes for a host that receives nothing. */
  twts: v.array(v.object({ timestamp: v.string(), hashes: v.array(v.string()), page: v.nullable(v.string()) })),
});

const PUBLISHED_SITE = v.object({ settings: HOST_SETTINGS, pages: SITE_PAGES });

/** The part of the settings that the host of a site needs. */
export type HostSettings = v.InferOutput<typeof HOST_SETTINGS>;

/** All settings of a site, for the commands. Files are named from the project's root. */
export type SiteSettings = v.InferOutput<typeof SITE_SETTINGS>;

/** What of a site can be mentioned. */
export type SitePages = v.InferOutput<typeof SITE_PAGES>;

/** What a real build hands over to the host. */
export type PublishedSite = v.InferOutput<typeof PUBLISHED_SITE>;

/** The settings as the host gets them. */
export function hostSettings(settings: SiteSettings): HostSettings {
  return v.parse(HOST_SETTINGS, settings);
}

/** @throws Error for what is not what a build of this version leaves */
export function parseSiteSettings(json: string): SiteSettings {
  return v.parse(SITE_SETTINGS, JSON.parse(json));
}

/** @throws Error for what is not what a build of this version leaves */
export function parsePublishedSite(json: string): PublishedSite {
  return v.parse(PUBLISHED_SITE, JSON.parse(json));
}
