// plugin/site/site.ts: files that a build leaves for the host and the commands. They contain no secrets. PROTOCOL 7
import * as v from "valibot";
import { toInstant } from "../feed/timestamp.js";
import { MENTIONS } from "../options/mentions.js";
import { NETWORKS } from "../options/syndicate.js";
import { isTimeZone } from "../options.js";
import { BASE_NAMES } from "./routes.js";
import { PLAIN_TWT } from "./timeline.js";

/** File with the {@link SiteSettings} of the last build, from the project's root. */
export const SETTINGS_FILE = ".eleventy-twtxt/settings.json";
/** File with the {@link PublishedSite} of the last real build. `eleventy-twtxt serve` watches it. */
export const HOST_FILE = ".eleventy-twtxt/host.json";
/** The feed, its archives and the discovery documents of the last real build, at their paths. */
export const PUBLISHED_FOLDER = ".eleventy-twtxt/published";
/** Folder with a file for each running `eleventy-twtxt serve`. */
export const SERVING_FOLDER = ".eleventy-twtxt/serving";
/** Output folder of previews while `eleventy-twtxt serve` is running. Builds read no templates there. */
export const PREVIEW_FOLDER = "_preview";

/** Version of both files. Readers refuse other versions. */
export const SETTINGS_VERSION = 10;

const TIMESTAMP = v.pipe(
  v.string(),
  v.check((timestamp) => toInstant(timestamp) === timestamp),
);

const FEED = v.object({ nick: v.string(), url: v.string() });

/** Settings for the host. URLs are absolute, with the path prefix. */
const HOST_SETTINGS = v.object({
  version: v.literal(SETTINGS_VERSION),
  host: v.picklist(["netlify", "node", "static"]),
  /** The folder of the built site, from the project's root. */
  output: v.string(),
  /** The origin of the site. */
  url: v.string(),
  feedUrl: v.string(),
  /** The endpoint for mentions in the feed's header; `null` for none. */
  endpoint: v.nullable(v.string()),
  nick: v.string(),
  /** The language of the options, such as `de`; absent for English. */
  lang: v.exactOptional(v.string()),
  /** Authors, who can manage mentions with signed requests. The key is `kex1...`; the endpoint is the inbox, `null` for none. */
  authors: v.array(
    v.object({ user: v.string(), address: v.string(), key: v.string(), endpoint: v.nullable(v.string()) }),
  ),
  /** Whether the site receives its mentions itself; `false` if the options name another service or turn them off. */
  isReceiver: v.boolean(),
  /** Whether the host runs the endpoints; `false` for a static host. */
  hasEndpoints: v.boolean(),
  urls: v.object({
    ...v.entriesFromList(BASE_NAMES, v.string()),
    /** The first of the site's own pages that list mentions; `null` for a site without. */
    mentionsPage: v.nullable(v.string()),
  }),
  /** `null` for a site without a timeline. */
  timeline: v.nullable(v.object({ follow: v.array(FEED) })),
  /** `null` for a site without inboxes. */
  inbox: v.nullable(
    v.object({
      /** The authors with an inbox at this site. */
      users: v.array(v.string()),
      messages: v.number(),
      megabytes: v.number(),
      /** 0 for no limit. */
      retentionDays: v.number(),
      /** `null` for the default of the host. */
      subscribe: v.nullable(v.boolean()),
      /** Limits of what the authors write to one guest; `null` for a site without guests. */
      guests: v.nullable(v.object({ messages: v.number(), days: v.number(), mail: v.exactOptional(v.boolean()) })),
      /** The page on which guests read their messages; absent for none. */
      contactPage: v.exactOptional(v.string()),
    }),
  ),
  /** The account that the handle of the site leads to, `@user@server`, or `bridgy`; absent for none. */
  fediverse: v.exactOptional(v.string()),
  /** `null` for a site without blobs. */
  blobs: v.nullable(
    v.object({
      /** Keys, `kex1...`. */
      owners: v.array(v.string()),
      /**
       * All keys of the first author, the newest first, if there are former ones: a shared URL with one of them is answered
       * with a blob of any of them.
       */
      sameOwner: v.optional(v.array(v.string())),
      /** Limits of each owner. */
      count: v.number(),
      bytes: v.number(),
      /** Limit of one blob. */
      maxBytes: v.number(),
    }),
  ),
  mentions: v.omit(MENTIONS, ["path", "pages", "layout", "perPage", "headingLevel", "form", "avatars"]),
});

const SITE_SETTINGS = v.object({
  ...HOST_SETTINGS.entries,
  timeZone: v.pipe(v.string(), v.check(isTimeZone)),
  /** The feeds that the site follows: those in the option `follow`, then those in the file. */
  follow: v.array(FEED),
  followed: v.object({
    /** The file of followed feeds, which need not exist. */
    file: v.string(),
    /** The feeds in the option. */
    option: v.array(FEED),
  }),
  /** The networks on which posts get copies; absent for none. */
  syndicate: v.exactOptional(v.array(v.picklist(NETWORKS))),
  /** The folder of the site's sources. */
  input: v.string(),
  /** Whether the last build was one of `--serve` or `--watch`. */
  isDevelopment: v.boolean(),
  /** The address of the first author, even without a key; `null` if the nick cannot be part of an address. */
  address: v.nullable(v.string()),
  notes: v.object({
    /** The folders of the notes, or of the posts if there are no notes; the folder of the newest first. */
    folders: v.array(v.string()),
    /** Whether the site has a note. */
    hasAny: v.boolean(),
    /** The newest note, or post if there are no notes: the model for a new note in the same folder. */
    like: v.nullable(v.string()),
    /** The tags that all notes share; before the first note, the tag of the posts' collection. */
    tags: v.array(v.string()),
    /** The layout of the newest note or post, also from its data cascade. */
    layout: v.nullable(v.string()),
  }),
  /** Posts without a unique time. */
  unstamped: v.array(
    v.object({
      file: v.string(),
      /** Its time in the feed; `null` if it is not in the feed. */
      timestamp: v.nullable(TIMESTAMP),
      /** The time in the post, if another post has the same second in the feed. */
      shared: v.optional(TIMESTAMP),
    }),
  ),
});

const DELETED_PAGE = v.object({
  /** The URL of the page. */
  page: v.string(),
  /** The hash of the twt that the post replied to; `null` for none. */
  replyTo: v.nullable(v.string()),
});

/** What copies of a post on other networks have. */
const COPY_FACTS = v.object({
  networks: v.array(v.picklist(NETWORKS)),
  lang: v.optional(v.string()),
  warning: v.optional(v.string()),
  title: v.optional(v.string()),
  description: v.optional(v.string()),
  pictures: v.optional(v.array(v.object({ url: v.string(), alt: v.string() }))),
  /** The URL of the status that the post replies to. */
  replyTo: v.optional(v.string()),
});
export type CopyFacts = v.InferOutput<typeof COPY_FACTS>;

const SITE_PAGES = v.object({
  /** The URL of the feed, then its other URLs. */
  feeds: v.array(v.string()),
  /** Origins of earlier domains of the site. */
  origins: v.optional(v.array(v.string())),
  /** Every page of HTML, as an absolute URL. */
  pages: v.array(v.string()),
  /** The titles of pages by URL, or the first words of notes; absent for a host that lists no mentions. */
  titles: v.optional(v.record(v.string(), v.string())),
  /** The twts of the feed, oldest first, with both forms of the hash and the post's page. No hashes for a static host. */
  twts: v.array(
    v.object({
      timestamp: v.string(),
      hashes: v.array(v.string()),
      page: v.nullable(v.string()),
      /** The hash of the twt that it replies to. */
      replyTo: v.optional(v.nullable(v.string()), null),
      /** The language of the post, for a host with comments; absent for that of the options. */
      lang: v.exactOptional(v.string()),
      /** Absent for a post without copies on other networks. */
      copy: v.exactOptional(COPY_FACTS),
      /** The links to other sites in the post's body; missing if its links are not sent. */
      links: v.optional(v.array(v.string())),
      /** The URLs of the post's copies on other networks; absent for none. */
      syndication: v.exactOptional(v.array(v.string())),
    }),
  ),
  /** The pages of deleted posts, which are answered with 410. */
  deleted: v.optional(v.array(DELETED_PAGE)),
  /** The posts that take no comments, by their front matter; absent for none. */
  closed: v.optional(v.array(v.string())),
  /** The pages that name the endpoint for mentions in a `Link` header, because they have no `</head>` for a `<link>`. */
  withoutHead: v.optional(v.array(v.string())),
  /** A page in the site's layout for the endpoint's answers to people, with a `div.twtxt-answer`; absent for none. */
  endpointPage: v.optional(v.string()),
  /** The newest twts of the feed with their texts; absent for a site without a timeline. */
  own: v.optional(v.array(PLAIN_TWT)),
});

const PUBLISHED_SITE = v.object({ settings: HOST_SETTINGS, pages: SITE_PAGES });

/** The part of the settings that the host of a site needs. */
export type HostSettings = v.InferOutput<typeof HOST_SETTINGS>;

/** All settings of a site, for the commands. Files are named from the project's root. */
export type SiteSettings = v.InferOutput<typeof SITE_SETTINGS>;

export type DeletedPage = v.InferOutput<typeof DELETED_PAGE>;

/** The pages and twts of a site that can be mentioned. */
export type SitePages = v.InferOutput<typeof SITE_PAGES>;

export type PublishedSite = v.InferOutput<typeof PUBLISHED_SITE>;

export function hostSettings(settings: SiteSettings): HostSettings {
  return v.parse(HOST_SETTINGS, settings);
}

/** @throws Error for a file that was not written by this version */
export function parseSiteSettings(json: string): SiteSettings {
  return v.parse(SITE_SETTINGS, JSON.parse(json));
}

/** @throws Error for a file that was not written by this version */
export function parsePublishedSite(json: string): PublishedSite {
  return v.parse(PUBLISHED_SITE, JSON.parse(json));
}
