// plugin/eleventy/host-settings.ts: what a build leaves for whoever serves the site and tells of its mentions.
import { twtHashes } from "../feed/hash.js";
import type { Settings } from "../options.js";
import { permalinkOf } from "./post-date.js";
import {
  authorsHere,
  BLOBS_PATH,
  type InboxOptions,
  inboxOptions,
  inboxPath,
  type MentionsOptions,
  maxBlobBytes,
  mentionsOptions,
  SHARED_PATH,
} from "./served-options.js";
import type { SiteUrls } from "./site-urls.js";
import type { TwtsFromPosts } from "./twts-from-posts.js";

/** Where a real build writes them, from the project's root. Nothing in them is secret. */
export const HOST_FILE = ".eleventy-twtxt/host.json";
export const PAGES_FILE = ".eleventy-twtxt/pages.json";
/** The feed, its archives and the discovery documents of the last real build, at their paths. */
export const PUBLISHED_FOLDER = ".eleventy-twtxt/published";
/** Where a running `eleventy-twtxt serve` notes that it shows the output folder of the last real build. */
export const SERVING_FOLDER = ".eleventy-twtxt/serving";
/** The output folder for previews beside `eleventy-twtxt serve`. No build reads templates there. */
export const PREVIEW_FOLDER = "_preview";

type Host = NonNullable<Settings["host"]>;

/** Pages of HTML by their URL; a page that has no extension is taken for one. */
const HTML = /(\/|\.html?|\/[^./]+)$/;

/** The settings of a site that its host needs. All of them are public. PROTOCOL 7 */
export interface HostSettings {
  version: 4;
  host: Host;
  /** The folder of the built site, from the project's root. */
  output: string;
  /** The origin of the site. */
  url: string;
  feedUrl: string;
  /** The endpoint for mentions that the feed names; `null` for none. */
  endpoint: string | null;
  nick: string;
  /** Whose signed requests manage the mentions; each key is `kex1...`. */
  authors: { user: string; key: string }[];
  /** Whether the site wants its mentions here: not where the options name another service, or none. */
  isReceiver: boolean;
  /** Where the host answers: absolute URLs with the path prefix. */
  urls: {
    /** Where mentions are received. */
    webmention: string;
    mentionsJson: string;
    mentionsFeed: string;
    mentionsApi: string;
    /** Where the site's own pages list them; `null` for a site without. */
    mentionsPage: string | null;
    /** Where inboxes are: that of an author is below it. */
    inbox: string;
    /** Where owners keep blobs, and where the public ones are: that of an owner is below it. */
    blobs: string;
    shared: string;
  };
  /** The inboxes that are here; `null` for none. */
  inbox:
    | (Pick<InboxOptions, "messages" | "megabytes" | "retentionDays"> & {
        /** Those of the authors whose inbox is here. */
        users: string[];
        /** `null` for what suits the host. */
        subscribe: boolean | null;
      })
    | null;
  /** The blobs that are kept here; `null` for none. */
  blobs: {
    /** Whose: each key is `kex1...`. */
    owners: string[];
    /** Of each owner. */
    count: number;
    bytes: number;
    /** Of one blob. */
    maxBytes: number;
  } | null;
  mentions: Omit<MentionsOptions, "path" | "pages" | "layout" | "perPage" | "words" | "avatars">;
}

/**
 * What of the site can be mentioned. On a host that receives nothing, nobody asks for hashes, and they take as long as
 * all the rest that the plugin does.
 */
export interface SitePages {
  /** The feed's URL, and after it those of the option `mentions.aliases`. */
  feeds: string[];
  /** Every page of HTML, as an absolute URL. */
  pages: string[];
  /** The twts of the feed, oldest first, each with both forms of its hash and the page of its post. */
  twts: { timestamp: string; hashes: string[]; page: string | null }[];
}

/** The settings, made of the options. */
export function hostSettings(
  settings: Settings,
  urls: Pick<SiteUrls, "feedUrl" | "absolute" | "endpoint">,
  { host, output }: { host: Host; output: string },
): HostSettings {
  const { path, pages, layout, perPage, words, avatars, ...mentions } = mentionsOptions(settings);
  return {
    version: 4,
    host,
    output,
    url: settings.url,
    feedUrl: urls.feedUrl(),
    endpoint: urls.endpoint(),
    nick: settings.nick,
    authors: settings.authors.map(({ user, key }) => ({ user, key })),
    isReceiver: settings.mentions !== false && settings.webmention === undefined,
    urls: {
      webmention: urls.absolute(path),
      mentionsJson: urls.absolute("/mentions.json"),
      mentionsFeed: urls.absolute("/mentions.txt"),
      mentionsApi: urls.absolute("/api/v1/mentions"),
      mentionsPage: settings.mentions && pages ? urls.absolute(pages) : null,
      inbox: urls.absolute(inboxPath(settings)),
      blobs: urls.absolute(BLOBS_PATH),
      shared: urls.absolute(SHARED_PATH),
    },
    inbox: inboxesOf(settings),
    blobs: blobsOf(settings, host),
    mentions,
  };
}

function inboxesOf(settings: Settings): HostSettings["inbox"] {
  const users = authorsHere(settings).map(({ user }) => user);
  if (users.length === 0) return null;
  const { messages, megabytes, retentionDays, subscribe = null } = inboxOptions(settings);
  return { users, messages, megabytes, retentionDays, subscribe };
}

function blobsOf({ blobs, authors }: Settings, host: Host): HostSettings["blobs"] {
  if (!blobs) return null;
  const owners = [...new Set([...authors.map(({ key }) => key), ...blobs.owners])];
  return { owners, count: blobs.count, bytes: blobs.megabytes * 2 ** 20, maxBytes: maxBlobBytes(blobs, host) };
}

/**
 * Lists the pages and twts of a build.
 *
 * @param site - with the paths of all templates, as Eleventy's `eleventy.contentMap` has them
 */
export function sitePages(
  site: {
    settings: Settings;
    urls: Pick<SiteUrls, "feedUrl" | "absolute">;
    paths: readonly string[];
    host: Host;
  },
  twts: Pick<TwtsFromPosts, "schedule" | "twtOf">,
): SitePages {
  const { settings, urls, paths, host } = site;
  return {
    feeds: [urls.feedUrl(), ...mentionsOptions(settings).aliases],
    pages: paths.filter((path) => HTML.test(path)).map((path) => urls.absolute(path)),
    twts: twts.schedule.dated.flatMap(({ post }) => {
      const twt = twts.twtOf(permalinkOf(post));
      const page = post.url ? urls.absolute(post.url) : null;
      return twt
        ? [
            {
              timestamp: twt.timestamp,
              hashes: host === "static" ? [] : Object.values(twtHashes(urls.feedUrl(), twt)),
              page,
            },
          ]
        : [];
    }),
  };
}
