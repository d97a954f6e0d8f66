// plugin/eleventy/build-report.ts: warnings and notes of a build.
import { normalize, sep } from "node:path";
import { BRIDGY } from "../options/fediverse.js";
import { mentionsOptions } from "../options/mentions.js";
import type { Settings } from "../options.js";
import { PATHS } from "../site/routes.js";
import { PREVIEW_FOLDER } from "../site/site.js";
import { MAX_LINKS } from "../text/post-links.js";
import { canParseUrl, isLoopback } from "../url.js";
import type { Collections } from "./eleventy.js";
import { type Findings, listed, posts, sentenceAbout, shorten } from "./findings.js";
import { toItems } from "./posts/posts.js";
import type { TwtsFromPosts } from "./posts/twts-from-posts.js";
import type { SiteParts } from "./site-parts.js";
import type { SiteUrls } from "./site-urls.js";

const NAMED_IN_SUMMARY = 3;
const NAMED_COLLECTIONS = 10;

/** A visible character. U+2800, the empty Braille pattern, is invisible. */
const VISIBLE = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Advice for a site whose host was not recognized. */
const OTHER_HOST = 'If Netlify or your own server serves the site, set the option host: "netlify" or host: "node"';

/**
 * A warning about a site that has moved to another domain and does not name the earlier one.
 *
 * @param earlier - the option `url` of the last build, and origins that mentions of the site have; others are ignored
 */
export function warningOnMove(settings: Settings, earlier: readonly unknown[]): string | null {
  const known = [settings.url, ...mentionsOptions(settings).aliases].map((url) => new URL(url).origin);
  const origins = earlier.flatMap((url) => (typeof url === "string" && canParseUrl(url) ? [new URL(url)] : []));
  const isLocal = isLoopback(new URL(settings.url).hostname);
  const moved = origins.find(({ origin, hostname }) => !known.includes(origin) && isLoopback(hostname) === isLocal);
  if (!moved || isLocal || settings.mentions === false) return null;
  const { origin } = moved;
  return `The site was at ${origin} and is now at ${settings.url}. To keep the mentions of its pages, and the answers to its twts, add mentions: { aliases: [${JSON.stringify(origin)}] } to the options. See "Moving" in the documentation: docs/moving.md.`;
}

/**
 * Warnings about the posts of the feed.
 *
 * @param configured - the collections that the configuration adds; the others come from tags
 */
export function warningsOnPosts(
  twts: TwtsFromPosts,
  collections: Collections,
  configured: ReadonlySet<string>,
): string[] {
  const { undated, moved, held } = twts.schedule;
  return [
    ...warningsOnCollections(twts, collections, configured),
    ...sentenceAbout(
      undated,
      `{count} left out of the feed, because the date is missing or changes by itself (Last Modified, git Created): {files}. Add a date to the front matter, or run: npx eleventy-twtxt stamp`,
    ),
    ...shorten(
      held.map(
        ({ post, timestamp }) =>
          `${post.inputPath} is dated in the future. It appears in the feed with the first build after ${timestamp}.`,
      ),
    ),
    ...shorten(
      moved.map(
        ({ post, from, other }) =>
          `${post.inputPath} and ${other.inputPath} have the same time, ${from}. The feed lists the first one at the next free second. Give it a different time, or run: npx eleventy-twtxt stamp`,
      ),
    ),
    ...sentenceAbout(
      twts.postsWhere(({ isCut }) => isCut),
      `{count} shortened in the feed, because a line must be shorter than 64 KiB: {files}. The text ends with a link to the post.`,
    ),
    ...sentenceAbout(
      twts.postsWhere(({ links }) => links.length > MAX_LINKS),
      `{count} with more than ${MAX_LINKS} links to other sites: {files}. Mentions are sent to the first ${MAX_LINKS} of them.`,
    ),
    ...sentenceAbout(
      twts.postsWhere(({ text }) => text !== "" && !VISIBLE.test(text)),
      `{count} without a visible character: {files}. Readers see an empty twt. Add some text, or leave the post out with twt: false.`,
    ),
    ...sentenceAbout(
      twts.postsWhere(({ isReplyWithoutFeed }) => isReplyWithoutFeed),
      `{count} with a replyTo without the URL of a feed, so the author is not notified: {files}. Write replyTo: "<hash> <feed url>".`,
    ),
  ];
}

function warningsOnCollections(
  { schedule: { dated, undated, held }, empty }: TwtsFromPosts,
  collections: Collections,
  configured: ReadonlySet<string>,
): string[] {
  if (empty.length === 0 && dated.length + undated.length + held.length === 0) {
    const pages = Array.isArray(collections.all) ? collections.all.length : 0;
    return [`The function in the option "collection" selects none of the ${pages} pages in collections.all.`];
  }
  return empty.map(
    (name) =>
      `The collection "${name}" is empty or missing. ${describeCollections(collections, configured)} Set the option "collection" to the right one.`,
  );
}

function describeCollections(collections: Collections, configured: ReadonlySet<string>): string {
  const known = Object.entries(collections)
    .map(([name, items]) => ({ name, count: toItems(items).length, isList: Array.isArray(items) }))
    .map((one) => ({ ...one, likelihood: rateLikelihood(one, configured) }))
    .sort((a, b) => b.likelihood - a.likelihood || b.count - a.count);
  if (known.length === 0) return "The site has no collections.";
  const names = known.map(({ name, count, isList }) => `${name} (${isList ? count : "not a list"})`);
  return `Collections: ${listed(names, NAMED_COLLECTIONS)}.`;
}

/** Collections of posts are more often added by the configuration than by a tag, and hardly ever contain all pages. */
function rateLikelihood({ name, count }: { name: string; count: number }, configured: ReadonlySet<string>): number {
  if (name === "all") return 0;
  if (count === 0) return 1;
  return configured.has(name) ? 3 : 2;
}

/** A warning about texts that look like mentions but name no known feed, and the posts that have them. */
export function warningsOnMentions(found: ReturnType<Findings["take"]>): string[] {
  const [first] = found;
  if (!first) return [];
  const names = found.map(
    ({ text, files: [file, ...others] }) =>
      `${text} (${file}${others.length > 0 ? ` and ${posts(others.length)} more` : ""})`,
  );
  const nick = /^@<?([^\s>]+)/.exec(first.text)?.[1];
  return [
    `No one is notified of ${listed(names)}: the feed is unknown. Write @<${nick} https://${nick}.example/twtxt.txt> with the right URL, or follow the feed (npx eleventy-twtxt follow URL) and write @${nick}. If it is not a mention, write \\@${nick}.`,
  ];
}

/** A warning about discovery documents below a path prefix, where they are not looked for. PROTOCOL 3.1 */
export function warningsOnDocuments(
  documents: readonly { path: string }[],
  urls: Pick<SiteUrls, "href" | "has" | "settings">,
): string[] {
  if (documents.length === 0 || urls.href("/") === "/") return [];
  const paths = documents.map(({ path }) => path).join(", ");
  const [whose, solution] = urls.has("guests")
    ? [
        "your address and of guests",
        "Forward requests for /.well-known/msg/ and /.well-known/salty/ there to this site.",
      ]
    : ["your address", `Serve ${paths} from the root.`];
  return [
    `The documents of ${whose} must be at the root of ${new URL(urls.settings.url).host}, but this site has a path prefix. ${solution}`,
  ];
}

/** A warning about pages at the paths of public blobs. */
export function warningsOnHiddenPages(collections: Collections): string[] {
  const hidden = toItems(collections.all).filter(
    ({ url }) => typeof url === "string" && url.startsWith(`${PATHS.shared}/`),
  );
  return sentenceAbout(
    hidden,
    `Pages below ${PATHS.shared}/ cannot be reached, because public blobs are served there: {files}. Give them another permalink.`,
  );
}

/** @param files - the files of previews that a real build removed */
export function warningsOnPreviewFiles(files: readonly string[]): string[] {
  if (files.length === 0) return [];
  return [`Removed files that a preview had left, such as drafts: ${listed(files, 3)}.`];
}

/** A note for builds of `--serve` and `--watch`. @param output - the folder of the built site, such as `./_site/` */
export function noteOnDevelopmentBuild(output: string): string {
  const start = "This is a development build: it sends nothing.";
  if (normalize(`${output}/`) === `${PREVIEW_FOLDER}${sep}`) return start;
  return `${start} ${output} may now contain drafts. Before you publish it, build the site: npx @11ty/eleventy`;
}

/** @param reason - completes a sentence after "because" */
export function noteOnHost(host: NonNullable<Settings["host"]>, reason: string): string {
  const files = host === "static" ? " (only files)" : "";
  return `Built for the host "${host}"${files}, because ${reason}. To choose another, set the option host to "netlify", "node" or "static".`;
}

export function noteOnOwnPage(url: string, { noun, tool, option }: Record<"noun" | "tool" | "option", string>): string {
  return `${url} is a page of your site, so the plugin's ${noun} is left out. To show its content there, use ${tool}; to build it elsewhere, set the option "${option}" to another path.`;
}

/** A note about pages of the plugin that do not look like those of the site. @returns `null` if there are none */
export function noteOnPlainPages(urls: readonly string[], layout: string | null): string | null {
  if (layout === null) return null;
  const [are, them, they] = urls.length === 1 ? ["is a plain page", "it", "it"] : ["are plain pages", "them", "they"];
  return `${listed(urls)} ${are}. To give ${them} the look of your site, add the option layout: ${JSON.stringify(layout)}, which most of your pages use; layout: false means that ${they} stay${urls.length === 1 ? "s" : ""} plain.`;
}

export function notesOnOptions({ settings, urls, mentions, environment }: SiteParts): string[] {
  const host = environment.host.name;
  const features = host === "static" && !settings.webmention ? mentions.featuresInUse() : [];
  const closed = settings.inbox === false ? [] : urls.inboxes().filter(({ endpoint }) => endpoint === null);
  const { comments } = mentionsOptions(settings);
  const notes = [
    features.length > 0 &&
      `No effect: ${features.join(" and ")}. The host of this site is "static", which cannot receive mentions. ${OTHER_HOST}. Otherwise turn off this note with mentions: false.`,
    closed.length > 0 &&
      `No inbox for ${closed.map(({ address }) => address).join(" and ")}: this host cannot receive private messages. ${OTHER_HOST}. If the inbox is at another site, set endpoint. Otherwise turn off this note with inbox: false.`,
    settings.blobs !== false &&
      !urls.has("blobs") &&
      `No blobs are stored: this host cannot receive them. ${OTHER_HOST}, and do not set functions: false. Otherwise turn off this note with blobs: false.`,
    comments !== undefined &&
      comments !== false &&
      !urls.has("comments") &&
      'No effect: the option "mentions.comments". Comments need a key (npx eleventy-twtxt keys create) and a host that receives mentions.',
    comments === undefined &&
      urls.has("mentions") &&
      settings.authors.length > 0 &&
      "Readers without a site can comment under your posts, with your approval: add mentions: { comments: true }, or comments: false to turn off this note.",
    settings.fediverse === BRIDGY &&
      !urls.hasFunctions() &&
      `No effect: fediverse: "${BRIDGY}". This host cannot redirect. Redirect /.well-known/webfinger and /.well-known/host-meta to the same paths at https://fed.brid.gy yourself, with their queries.`,
    settings.timeline !== false &&
      settings.follow.length === 0 &&
      'No effect: the option "timeline". The site follows no feeds. Follow one: npx eleventy-twtxt follow https://bob.example/twtxt.txt',
  ];
  return notes.filter((note) => note !== false);
}

export function formatSummary(twts: TwtsFromPosts, feed: { path: string; twts: number; archives: number }): string {
  const archives = feed.archives === 0 ? "" : feed.archives === 1 ? " and 1 archive" : ` and ${feed.archives} archives`;
  const silent = sentenceAbout(
    twts.postsWhere(({ text }) => text === ""),
    ` {count} without content left out: {files}. Add a title, a text or a picture (photo), or set twt: false in the front matter to turn off this note.`,
    NAMED_IN_SUMMARY,
  );
  return `Wrote ${feed.path} (${feed.twts} ${feed.twts === 1 ? "twt" : "twts"})${archives}.${silent.join("")}`;
}
