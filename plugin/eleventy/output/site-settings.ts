// plugin/eleventy/output/site-settings.ts: the settings of a site, from its options and its build.
import { basename, dirname, extname, relative } from "node:path";
import { isDateOnly } from "../../feed/timestamp.js";
import { maxBlobBytes } from "../../options/blobs.js";
import { inboxOptions } from "../../options/inbox.js";
import { mentionsOptions, sendsLinks } from "../../options/mentions.js";
import { timelineOptions } from "../../options/timeline.js";
import type { Settings } from "../../options.js";
import type { Bases } from "../../site/routes.js";
import { SETTINGS_VERSION, type SiteSettings } from "../../site/site.js";
import type { BuildEnvironment } from "../build-environment.js";
import type { CollectionItem } from "../eleventy.js";
import type { Schedule } from "../posts/posts.js";
import { authorsHere, type SiteUrls } from "../site-urls.js";

type Build = Pick<SiteSettings, "host" | "input" | "output" | "isDevelopment"> &
  Pick<BuildEnvironment, "followed"> & { schedule: Schedule };

export function siteSettings(settings: Settings, urls: SiteUrls, build: Build): SiteSettings {
  const { path, pages, layout, perPage, headingLevel, form, avatars, ...mentions } = mentionsOptions(settings);
  const { host, input, output, isDevelopment, schedule, followed } = build;
  const absolute = Object.entries(urls.bases).map(([name, base]) => [name, urls.absolute(base)] as const);
  return {
    version: SETTINGS_VERSION,
    host,
    input,
    output,
    isDevelopment,
    url: settings.url,
    feedUrl: urls.feedUrl(),
    endpoint: urls.endpoint(),
    nick: settings.nick,
    ...(settings.lang !== undefined && { lang: settings.lang }),
    ...(settings.fediverse !== undefined && { fediverse: settings.fediverse }),
    ...(settings.syndicate.length > 0 && { syndicate: settings.syndicate }),
    timeZone: settings.timeZone,
    follow: settings.follow,
    followed: { file: followed.file, option: [...followed.option] },
    address: settings.address,
    authors: [...urls.inboxes()],
    isReceiver: settings.mentions !== false && settings.webmention === undefined,
    hasEndpoints: urls.hasFunctions(),
    urls: {
      ...(Object.fromEntries(absolute) as Bases),
      mentionsPage: settings.mentions && pages ? urls.absolute(pages) : null,
    },
    timeline: timelineOptions(settings) && { follow: urls.feedsOfTimeline() },
    inbox: inboxLimits(settings, urls),
    blobs: toBlobs(settings, host),
    mentions: { ...mentions, links: sendsLinks(settings) },
    notes: toNotes(schedule, settings.collection, input),
    unstamped: unstamped(schedule),
  };
}

function inboxLimits(settings: Settings, urls: Pick<SiteUrls, "absolute">): SiteSettings["inbox"] {
  const users = authorsHere(settings).map(({ user }) => user);
  if (users.length === 0) return null;
  const { messages, megabytes, retentionDays, subscribe = null, guests, page } = inboxOptions(settings);
  const limits = { users, messages, megabytes, retentionDays, subscribe, guests: guests || null };
  return { ...limits, ...(limits.guests?.mail && page !== false && { contactPage: urls.absolute(page) }) };
}

function toBlobs({ blobs, authors }: Settings, host: SiteSettings["host"]): SiteSettings["blobs"] {
  if (!blobs) return null;
  const { formerKeys } = blobs;
  const sameOwner = [...authors.slice(0, 1).map(({ key }) => key), ...formerKeys.toReversed()];
  const owners = [...new Set([...authors.map(({ key }) => key), ...formerKeys, ...blobs.owners])];
  return {
    ...{ owners, ...(formerKeys.length > 0 && { sameOwner }) },
    ...{ count: blobs.count, bytes: blobs.megabytes * 2 ** 20, maxBytes: maxBlobBytes(blobs, host) },
  };
}

function toNotes({ dated }: Schedule, collection: Settings["collection"], input: string): SiteSettings["notes"] {
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
      notes.length > 0
        ? notes.map(readTags).reduce((shared, tags) => shared.filter((tag) => tags.includes(tag)))
        : first,
    layout: typeof model?.data.layout === "string" ? model.data.layout : null,
  };
}

/** The folder of posts that contains a post, also if the post has its own folder: `quinces/quinces.md`, `quinces/index.md`. */
function folderOfPosts({ inputPath }: CollectionItem, input: string): string {
  const folder = dirname(inputPath);
  const name = withoutDate(basename(inputPath, extname(inputPath)));
  const hasOwnFolder = name === "index" || name === withoutDate(basename(folder));
  return hasOwnFolder && relative(input, folder) !== "" ? dirname(folder) : folder;
}

function withoutDate(name: string): string {
  return name.replace(/^\d{4}-\d{2}-\d{2}-/, "");
}

function readTags({ data }: CollectionItem): string[] {
  return [...new Set([data.tags].flat().filter((tag) => typeof tag === "string"))];
}

function unstamped({ dated, undated, moved }: Schedule): SiteSettings["unstamped"] {
  const shared = new Map(moved.map(({ post, from }) => [post, from]));
  // All posts of a paginated template are listed, because a date in it would move all of them.
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
