// plugin/eleventy/output/publish.ts: writes the data that the host of a built site needs.
import { readdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { mentionsOptions } from "../../options/mentions.js";
import { timelineOptions } from "../../options/timeline.js";
import { readAliases } from "../../site/aliases.js";
import { HOST_FILE, PUBLISHED_FOLDER, type PublishedSite, type SitePages } from "../../site/site.js";
import { replaceFile } from "../../store/disk.js";
import { MAX_LINKS } from "../../text/post-links.js";
import type { BuiltSite } from "../built-site.js";
import type { CollectionItem } from "../eleventy.js";
import { answeredHash, newestOwnTwts } from "../mentions/conversations.js";
import type { PageTitles } from "../mentions/page-titles.js";
import type { CopiesOfPosts } from "../posts/copies.js";
import { readSyndication } from "../posts/syndication.js";
import type { SiteFile } from "./write-files.js";

/** The path at which the build writes the page, to take it out of the site at its end. */
export const ENDPOINT_PAGE = "/twtxt-endpoint-answer/";

/** Longer titles are left out, in UTF-16 units: the functions of a host load all of them at each start. */
const MAX_TITLE = 300;

/** URLs of HTML pages. A path without an extension is one, too. */
const HTML = /(\/|\.html?|\/[^./]+)$/;

/** What the host needs, beside the posts and pages of the build. */
interface Needs {
  /** The paths of the pages that cannot have a link to the endpoint. */
  withoutHead: readonly string[];
  /** The page in which the endpoint answers people; absent for none. */
  endpointPage: string | undefined;
  /** Hashes take as long as the rest of the plugin's work, and a static host does not need them. */
  needsHashes: boolean;
  needsLinks: boolean;
  copies: CopiesOfPosts;
}

/** Lists the pages and twts of a build that can be mentioned, and the deleted ones. */
export function sitePages(built: BuiltSite, needs: Needs): SitePages {
  const { twts, deleted } = built;
  const { endpointPage, needsHashes, needsLinks, copies } = needs;
  const [paths = [], withoutHead = []] = [built.paths, needs.withoutHead].map((all) =>
    all.filter((path) => path !== ENDPOINT_PAGE),
  );
  const { settings, urls } = twts.site;
  const gone = new Set(deleted.map(({ page }) => page));
  const aliases = readAliases(mentionsOptions(settings).aliases, urls.feedUrl());
  const takesComments = urls.has("comments");
  const closed = takesComments
    ? twts.schedule.dated.flatMap(({ post }) =>
        post.data.comments === false && post.url ? [urls.absolute(post.url)] : [],
      )
    : [];
  const hasTimeline = needsHashes && timelineOptions(settings) !== null;
  const pages = paths.filter((path) => HTML.test(path) && !gone.has(path)).map((path) => urls.absolute(path));
  return {
    ...(hasTimeline && { own: newestOwnTwts(twts) }),
    feeds: [urls.feedUrl(), ...aliases.feeds],
    ...(aliases.origins.length > 0 && { origins: aliases.origins }),
    pages,
    ...(needsHashes && { titles: readTitles(pages, built.titles) }),
    twts: twts.all().map((published) => {
      const { post, twt } = published;
      const hashes = needsHashes ? [...Object.values(twts.toHashes(twt)), ...twts.aliasHashes(twt)] : [];
      const page = post.url ? urls.absolute(post.url) : null;
      const syndication = needsHashes ? readSyndication(post) : [];
      const links = needsLinks ? { links: twts.listLinks(post).slice(0, MAX_LINKS) } : {};
      const copy = copies.get(post);
      const lang = takesComments ? readLanguage(post) : undefined;
      const facts = { timestamp: twt.timestamp, hashes, page, replyTo: answeredHash(published) };
      const isForeign = lang !== undefined && lang !== (settings.lang ?? "en");
      return {
        ...facts,
        ...links,
        ...(isForeign && { lang }),
        ...(syndication.length > 0 && { syndication }),
        ...(copy && { copy }),
      };
    }),
    ...(closed.length > 0 && { closed }),
    ...(withoutHead.length > 0 && { withoutHead: withoutHead.map((path) => urls.absolute(path)) }),
    ...(endpointPage !== undefined && { endpointPage }),
    deleted: deleted.map(({ page, replyTo }) => ({ page: urls.absolute(page), replyTo })),
  };
}

/** @returns `undefined` if only its layout has it */
function readLanguage({ page, data }: CollectionItem): string | undefined {
  return [page?.lang, data.lang].find((lang): lang is string => typeof lang === "string" && lang !== "");
}

function readTitles(pages: readonly string[], titles: PageTitles): Record<string, string> {
  return Object.fromEntries(
    pages.flatMap((page) => {
      const title = titles.get(page)?.() ?? null;
      return title === null || title.length > MAX_TITLE ? [] : [[page, title]];
    }),
  );
}

/**
 * Writes the files for `eleventy-twtxt serve` and `send`. Not for development builds, which may contain drafts.
 *
 * @param files - the feed, its archives and the discovery documents
 */
export async function publish(root: string, site: PublishedSite, files: readonly SiteFile[]): Promise<void> {
  await replaceFolder(join(root, PUBLISHED_FOLDER), files);
  // Last, because `eleventy-twtxt serve` watches this file.
  await replaceFile(join(root, HOST_FILE), `${JSON.stringify(site)}\n`);
}

/** Writes the files, each atomically, and removes all others. */
async function replaceFolder(folder: string, files: readonly SiteFile[]): Promise<void> {
  await Promise.all(files.map(({ path, content }) => replaceFile(join(folder, path), content)));
  const current = new Set(files.map(({ path }) => join(folder, path)));
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const stale = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => !current.has(file));
  await Promise.all(stale.map((file) => rm(file, { force: true })));
}

/** Takes the page out of the built site. @returns `undefined` for a site without a layout for it */
export async function takeEndpointPage(output: string): Promise<string | undefined> {
  const file = join(output, ENDPOINT_PAGE, "index.html");
  const html = await readFile(file, "utf8").catch(() => undefined);
  if (html !== undefined) await rm(dirname(file), { recursive: true });
  return html;
}
