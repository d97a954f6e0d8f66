// plugin/eleventy/build-report.ts: warnings and notes of a build.

import { normalize, sep } from "node:path";
import type { Settings } from "../options.js";
import { PATHS } from "../site/routes.js";
import { PREVIEW_FOLDER } from "../site/site.js";
import type { Collections } from "./eleventy.js";
import { itemsOf } from "./posts.js";
import type { TwtsFromPosts } from "./twts-from-posts.js";

/** How many files of a kind are named; the rest is only counted. */
const NAMED = 5;
const NAMED_IN_SUMMARY = 3;
const NAMED_COLLECTIONS = 10;

/**
 * The warnings about posts, one text each.
 *
 * @param configured - the collections that the configuration adds; the others come from tags
 */
export function warningsOf(twts: TwtsFromPosts, collections: Collections, configured: ReadonlySet<string>): string[] {
  const { dated, undated, moved, held } = twts.schedule;
  const hasNone = dated.length + undated.length + held.length === 0;
  const pages = Array.isArray(collections.all) ? collections.all.length : 0;
  return [
    ...(hasNone && twts.empty.length === 0
      ? [`The function in the option "collection" selects none of the ${pages} pages in collections.all.`]
      : []),
    ...twts.empty.map(
      (name) =>
        `The collection "${name}" is empty or missing. ${describeCollections(collections, configured)} Set the option "collection" to the right one.`,
    ),
    ...about(
      undated,
      (files, count) =>
        `${count} left out of the feed, because the date is missing or changes by itself (Last Modified, git Created): ${files}. Add a date to the front matter, or run: npx eleventy-twtxt stamp`,
    ),
    ...named(
      held.map(
        ({ post, timestamp }) =>
          `${post.inputPath} is dated in the future. It appears with the first build after ${timestamp}.`,
      ),
    ),
    ...named(
      moved.map(
        ({ post, from, other }) =>
          `${post.inputPath} and ${other.inputPath} have the same time, ${from}. The feed lists the first one at the next free second. Give it a different time, or run: npx eleventy-twtxt stamp`,
      ),
    ),
    ...about(
      twts.cut,
      (files, count) =>
        `${count} shortened in the feed, because a line must be shorter than 64 KiB: ${files}. The text ends with a link to the post.`,
    ),
    ...about(
      twts.invisible,
      (files, count) =>
        `${count} without a visible character: ${files}. Readers see an empty twt. Add some text, or leave the post out with twt: false.`,
    ),
    ...about(
      twts.repliesWithoutFeed,
      (files, count) =>
        `${count} with a replyTo without the URL of a feed, so the author is not notified: ${files}. Write replyTo: "<hash> <feed url>".`,
    ),
  ];
}

/** @param reason - completes a sentence after "because" */
export function noteOnHost(host: NonNullable<Settings["host"]>, reason: string): string {
  const files = host === "static" ? " (only files)" : "";
  return `Built for the host "${host}"${files}, because ${reason}. To choose another, set the option host to "netlify", "node" or "static".`;
}

/** For a site that uses mentions on a static host. */
export function noteOnStaticHost(features: readonly string[]): string {
  return `No effect: ${features.join(" and ")}. The host of this site is "static", which cannot receive mentions. If Netlify or your own server serves the site, set the option host: "netlify" or host: "node". Otherwise turn off this note with mentions: false.`;
}

/**
 * For builds of `--serve` and `--watch`.
 *
 * @param output - the folder of the built site, as `./_site/`
 */
export function noteOnDevelopmentBuild(output: string): string {
  const start = "This is a development build: it sends nothing.";
  if (normalize(`${output}/`) === `${PREVIEW_FOLDER}${sep}`) return start;
  return `${start} ${output} may now contain drafts. Before you publish it, build the site: npx @11ty/eleventy`;
}

/** @param files - what a real build removed */
export function warningOnPreviewFiles(files: readonly string[]): string[] {
  if (files.length === 0) return [];
  const more = files.length > 3 ? `, and ${files.length - 3} more` : "";
  return [`Removed files that a preview had left, such as drafts: ${files.slice(0, 3).join(", ")}${more}.`];
}

/** For authors with a key but without an inbox. */
export function noteOnInboxes(addresses: readonly string[]): string {
  return `No inbox for ${addresses.join(" and ")}: this host cannot receive private messages. If Netlify or your own server serves the site, set the option host: "netlify" or host: "node". If the inbox is at another site, set endpoint. Otherwise turn off this note with inbox: false.`;
}

/** For a site with blobs on a host that cannot store them. */
export function noteOnBlobs(): string {
  return `No blobs are stored: this host cannot receive them. If Netlify or your own server serves the site, set the option host: "netlify" or host: "node", and do not set functions: false. Otherwise turn off this note with blobs: false.`;
}

/** @param files - pages with links to blobs, if the option `blobs` is off */
export function warningOnBlobs(files: readonly string[]): string[] {
  return about(
    files.map((inputPath) => ({ inputPath })),
    (named) =>
      `Broken link "blob:...", because this site stores no blobs: ${named}. Set the option blobs: true, or change the link.`,
  );
}

/** @param files - pages with links to blobs, if the host cannot store blobs */
export function warningOnBlobsElsewhere(files: readonly string[]): string[] {
  return about(
    files.map((inputPath) => ({ inputPath })),
    (named) => `Broken link "blob:...", because this host stores no blobs: ${named}.`,
  );
}

/** @param withoutKey - links such as `blob:a b`, with their pages */
export function warningsOnBlobLinks(withoutKey: readonly { link: string; files: ReadonlySet<string> }[]): string[] {
  return named(
    withoutKey.map(
      ({ link, files: [file] }) =>
        `${file}: broken link "${link}". Write blob: and a key of A-Z a-z 0-9 . _ - as "npx eleventy-twtxt blob list" shows it.`,
    ),
  );
}

/** @param missing - linked blobs that are not public or do not exist */
export function warningsOnMissingBlobs(missing: readonly { key: string; files: ReadonlySet<string> }[]): string[] {
  return named(
    missing.map(
      ({ key, files: [file] }) =>
        `${file}: broken link blob:${key}, because your site has no public blob with this key. See "npx eleventy-twtxt blob list". If the blob is private, run: npx eleventy-twtxt blob share ${key}. If it is missing: npx eleventy-twtxt blob put FILE --public --key ${key}`,
    ),
  );
}

/** @param pages - pages at the paths of public blobs */
export function warningOnHidden(pages: readonly { inputPath: string }[]): string[] {
  return about(
    pages,
    (named) =>
      `Pages below ${PATHS.shared}/ cannot be reached, because public blobs are served there: ${named}. Give them another permalink.`,
  );
}

/** @param unknown - texts that look like mentions but name no known feed, with their posts */
export function warningOnMentions(unknown: readonly { mention: string; files: readonly string[] }[]): string[] {
  const [first] = unknown;
  if (!first) return [];
  const listed = unknown.slice(0, NAMED).map(({ mention, files: [file, ...others] }) => {
    return `${mention} (${file}${others.length > 0 ? ` and ${posts(others.length)} more` : ""})`;
  });
  const more = unknown.length > NAMED ? ` and ${unknown.length - NAMED} more` : "";
  const nick = /^@<?([^\s>]+)/.exec(first.mention)?.[1];
  return [
    `No one is notified of ${listed.join(", ")}${more}: the feed is unknown. Write @<${nick} https://${nick}.example/twtxt.txt> with the right URL, or add { nick: "${nick}", url: "..." } to the option "follow" and write @${nick}. If it is not a mention, write \\@${nick}.`,
  ];
}

/** The summary of a build in one line. */
export function summaryOf(twts: TwtsFromPosts, feed: { path: string; twts: number; archives: number }): string {
  const archives = feed.archives === 0 ? "" : feed.archives === 1 ? " and 1 archive" : ` and ${feed.archives} archives`;
  const silent = about(
    twts.silent,
    (files, count) =>
      ` ${count} without content left out: ${files}. Add a title, a text or a picture (photo), or set twt: false in the front matter to turn off this note.`,
    NAMED_IN_SUMMARY,
  );
  return `Wrote ${feed.path} (${feed.twts} ${feed.twts === 1 ? "twt" : "twts"})${archives}.${silent.join("")}`;
}

function describeCollections(collections: Collections, configured: ReadonlySet<string>): string {
  const known = Object.entries(collections)
    .map(([name, items]) => ({ name, count: itemsOf(items).length, isList: Array.isArray(items) }))
    .map((one) => ({ ...one, likelihood: likelihoodOf(one, configured) }))
    .sort((a, b) => b.likelihood - a.likelihood || b.count - a.count);
  if (known.length === 0) return "The site has no collections.";
  const names = known.map(({ name, count, isList }) => `${name} (${isList ? count : "not a list"})`);
  return `Collections: ${listed(names, NAMED_COLLECTIONS)}.`;
}

/** Collections of posts are more often added by the configuration than by a tag, and hardly ever contain all pages. */
function likelihoodOf({ name, count }: { name: string; count: number }, configured: ReadonlySet<string>): number {
  if (name === "all") return 0;
  if (count === 0) return 1;
  return configured.has(name) ? 3 : 2;
}

function about(
  found: readonly { inputPath: string }[],
  say: (files: string, count: string) => string,
  limit = NAMED,
): string[] {
  if (found.length === 0) return [];
  const files = [...new Set(found.map(({ inputPath }) => inputPath))];
  return [say(listed(files, limit), posts(files.length))];
}

function listed(names: readonly string[], limit: number): string {
  const more = names.length - limit;
  return names.slice(0, limit).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

function named(sentences: string[]): string[] {
  const more = sentences.length - NAMED;
  return more > 0 ? [...sentences.slice(0, NAMED), `And ${more} more.`] : sentences;
}

function posts(count: number): string {
  return count === 1 ? "1 post" : `${count} posts`;
}
