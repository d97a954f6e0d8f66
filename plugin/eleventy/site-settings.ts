// plugin/eleventy/site-settings.ts: what the commands need to know of a site, so that nobody configures anything twice.
import { dirname } from "node:path";
import type { Settings } from "../options.js";
import type { CollectionItem } from "./eleventy.js";
import { isDateOnly } from "./post-date.js";
import type { Schedule } from "./posts.js";

/** Where the build writes it, from the project's root. Public settings only. */
export const SETTINGS_FILE = ".eleventy-twtxt/settings.json";

/** The content of `.eleventy-twtxt/settings.json`. Files are named from the project's root. */
export interface SiteSettings {
  version: 1;
  url: string;
  feedUrl: string;
  nick: string;
  timeZone: string;
  follow: Settings["follow"];
  host: NonNullable<Settings["host"]>;
  /** The folder of the built site. */
  output: string;
  webmention: string | null;
  address: string | null;
  key: string | null;
  endpoint: string | null;
  notes: {
    /** Where a new note goes. */
    folder: string;
    /** A post whose tags and layout a new note takes over; `null` where there is none yet. */
    like: string | null;
    /** The collection that a new note must be in. */
    tag: string | null;
  };
  /** Posts without a time of their own, with the one that the feed gives them; `null` where it can give none. */
  unstamped: { file: string; timestamp: string | null }[];
}

/** What a build leaves for the commands. */
export function siteSettings(
  settings: Settings & { host: SiteSettings["host"] },
  build: { feedUrl: string; input: string; output: string; schedule: Schedule },
): SiteSettings {
  const { url, nick, timeZone, follow, host, collection } = settings;
  const dated = build.schedule.dated.map(({ post }) => post);
  const model = dated.findLast(isNote) ?? dated.findLast(isMarkdown) ?? null;
  const names = typeof collection === "string" ? [collection] : Array.isArray(collection) ? collection : [];
  return {
    version: 1,
    url,
    feedUrl: build.feedUrl,
    nick,
    timeZone,
    follow,
    host,
    output: build.output,
    webmention: settings.webmention ?? null,
    address: settings.key ? `${settings.user}@${new URL(url).host}` : null,
    key: settings.key ?? null,
    endpoint: settings.endpoint ?? null,
    notes: { folder: model ? dirname(model.inputPath) : build.input, like: model?.inputPath ?? null, tag: names[0] ?? null },
    unstamped: unstamped(build.schedule),
  };
}

function unstamped({ dated, undated }: Schedule): SiteSettings["unstamped"] {
  return [
    ...dated
      .filter(({ post }) => isDateOnly(post.date.getTime()))
      .map(({ post, timestamp }) => ({ file: post.inputPath, timestamp })),
    ...undated.map((post) => ({ file: post.inputPath, timestamp: null })),
  ];
}

function isMarkdown(post: CollectionItem): boolean {
  return post.inputPath.endsWith(".md");
}

function isNote(post: CollectionItem): boolean {
  return isMarkdown(post) && !post.data["title"];
}

