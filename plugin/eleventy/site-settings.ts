// plugin/eleventy/site-settings.ts: what the commands need to know of a site, so that nobody configures anything twice.
import { basename, dirname, extname, relative } from "node:path";
import type { Settings } from "../options.js";
import type { CollectionItem } from "./eleventy.js";
import { isDateOnly } from "./post-date.js";
import type { Schedule } from "./posts.js";

/** Where the build writes it, from the project's root. Public settings only. */
export const SETTINGS_FILE = ".eleventy-twtxt/settings.json";

/** The content of `.eleventy-twtxt/settings.json`. Files are named from the project's root. */
export interface SiteSettings {
  version: 3;
  url: string;
  feedUrl: string;
  nick: string;
  timeZone: string;
  follow: Settings["follow"];
  host: NonNullable<Settings["host"]>;
  /** The folder of the site's sources. */
  input: string;
  /** The folder of the built site. */
  output: string;
  /** Whether the last build was one of `--serve` or `--watch`. */
  isDevelopment: boolean;
  webmention: string | null;
  /** The first author's address, as it is or would be with a key; `null` where the nick cannot be part of one. */
  address: string | null;
  /** Who has an address here. The endpoint is that of the inbox; `null` where nobody can write to. */
  authors: { address: string; key: string; endpoint: string | null }[];
  /** Where the authors keep blobs, where the public ones are, and how many bytes one may have; `null` for a site without. */
  blobs: { api: string; shared: string; maxBytes: number } | null;
  notes: {
    /** The folders of the notes, the newest note's first; of the posts where there are no notes. */
    folders: string[];
    /** Whether the site has a note. */
    hasAny: boolean;
    /** The newest note, or post where there are no notes: a model for a new note in the same folder. */
    like: string | null;
    /** The tags that all notes share; before the first note, the collection that it must be in. */
    tags: string[];
    /** The layout of the newest note or post, from its folder's data too. */
    layout: string | null;
  };
  /** Posts without a time of their own, with the one that the feed gives them; `null` where it can give none. */
  unstamped: {
    file: string;
    timestamp: string | null;
    /** The time that the post names, where another post has that second in the feed. */
    shared?: string | undefined;
  }[];
}

/** What a build leaves for the commands. */
export function siteSettings(
  settings: Settings,
  build: {
    feedUrl: string;
    endpoint: string | null;
    authors: SiteSettings["authors"];
    blobs: SiteSettings["blobs"];
    host: SiteSettings["host"];
    input: string;
    output: string;
    isDevelopment: boolean;
    schedule: Schedule;
  },
): SiteSettings {
  const { url, nick, timeZone, follow, address } = settings;
  return {
    version: 3,
    url,
    feedUrl: build.feedUrl,
    nick,
    timeZone,
    follow,
    host: build.host,
    input: build.input,
    output: build.output,
    isDevelopment: build.isDevelopment,
    webmention: build.endpoint,
    address,
    authors: build.authors,
    blobs: build.blobs,
    notes: notesOf(build.schedule, settings.collection, build.input),
    unstamped: unstamped(build.schedule),
  };
}

function notesOf({ dated }: Schedule, collection: Settings["collection"], input: string): SiteSettings["notes"] {
  const posts = dated.map(({ post }) => post).filter(({ inputPath }) => inputPath.endsWith(".md"));
  const notes = posts.filter(({ data }) => !data.title);
  const models = (notes.length > 0 ? notes : posts).toReversed();
  const [model] = models;
  const first = typeof collection === "string" ? [collection] : Array.isArray(collection) ? collection.slice(0, 1) : [];
  return {
    folders: [...new Set(models.map((post) => folderOfPosts(post, input)))],
    hasAny: notes.length > 0,
    like: model?.inputPath ?? null,
    tags:
      notes.length > 0 ? notes.map(tagsOf).reduce((shared, tags) => shared.filter((tag) => tags.includes(tag))) : first,
    layout: typeof model?.data.layout === "string" ? model.data.layout : null,
  };
}

/** The folder of a post; the one above it where the post has a folder of its own: `quinces/quinces.md`, `quinces/index.md`. */
function folderOfPosts({ inputPath }: CollectionItem, input: string): string {
  const folder = dirname(inputPath);
  const name = withoutDate(basename(inputPath, extname(inputPath)));
  const hasOwnFolder = name === "index" || name === withoutDate(basename(folder));
  return hasOwnFolder && relative(input, folder) !== "" ? dirname(folder) : folder;
}

function withoutDate(name: string): string {
  return name.replace(/^\d{4}-\d{2}-\d{2}-/, "");
}

function tagsOf({ data }: CollectionItem): string[] {
  return [...new Set([data.tags].flat().filter((tag) => typeof tag === "string"))];
}

function unstamped({ dated, undated, moved }: Schedule): SiteSettings["unstamped"] {
  const shared = new Map(moved.map(({ post, from }) => [post, from]));
  // A template that makes several posts is listed with all of them, because one date in it would move them all.
  const files = new Set(moved.map(({ post }) => post.inputPath));
  return [
    ...dated
      .filter(({ post }) => isDateOnly(post.date.getTime()) || files.has(post.inputPath))
      .map(({ post, timestamp }) => {
        const from = shared.get(post);
        return { file: post.inputPath, timestamp, ...(from !== undefined && { shared: from }) };
      }),
    ...undated.map((post) => ({ file: post.inputPath, timestamp: null })),
  ];
}
