// plugin/eleventy/build-report.ts: what the author is told after a build.

import { normalize, sep } from "node:path";
import type { Settings } from "../options.js";
import { PATHS } from "../site/routes.js";
import { PREVIEW_FOLDER } from "../site/site.js";
import type { Collections } from "./eleventy.js";
import { itemsOf } from "./posts.js";
import type { TwtsFromPosts } from "./twts-from-posts.js";

/** How many of a kind are named before the rest is summed up. */
const NAMED = 5;
const NAMED_IN_SUMMARY = 3;
const NAMED_COLLECTIONS = 10;

/**
 * The warnings of a build, a sentence each.
 *
 * @param configured - the names of the collections that the configuration makes; the others come from tags
 */
export function warningsOf(twts: TwtsFromPosts, collections: Collections, configured: ReadonlySet<string>): string[] {
  const { dated, undated, moved, held } = twts.schedule;
  const hasNone = dated.length + undated.length + held.length === 0;
  const pages = Array.isArray(collections.all) ? collections.all.length : 0;
  return [
    ...(hasNone && twts.empty.length === 0
      ? [`The function in the option "collection" chooses none of the ${pages} pages in collections.all.`]
      : []),
    ...twts.empty.map(
      (name) =>
        `The collection "${name}" is empty or missing. ${describeCollections(collections, configured)} Name the right one with the option "collection".`,
    ),
    ...about(
      undated,
      (files, count) =>
        `${count} whose date is missing or changes by itself (Last Modified, git Created), and so without a twt: ${files}. Write a date into the front matter, or let "npx eleventy-twtxt stamp" do it.`,
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
          `${post.inputPath} and ${other.inputPath} have the same second, ${from}. The former moved on to the next free one; give it a time of its own, or let "npx eleventy-twtxt stamp" do it.`,
      ),
    ),
    ...about(
      twts.cut,
      (files, count) =>
        `${count} longer than a line of a feed may be, and so cut: ${files}. The permalink stands behind the cut.`,
    ),
    ...about(
      twts.invisible,
      (files, count) =>
        `${count} whose text has no visible character: ${files}. Readers see an empty twt: write some words, or twt: false to leave it out.`,
    ),
    ...about(
      twts.repliesWithoutFeed,
      (files, count) =>
        `${count} with a replyTo that names no feed, so that nobody is notified: ${files}. Write replyTo: "<hash> <feed url>".`,
    ),
  ];
}

/** @param reason - completes a sentence after "because" */
export function noteOnHost(host: NonNullable<Settings["host"]>, reason: string): string {
  const files = host === "static" ? " (files alone)" : "";
  return `Built for the host "${host}"${files}, because ${reason}. To choose it yourself, give the plugin the option host: "netlify", "node" or "static".`;
}

/** Why nothing comes of what should show mentions, on a host of files alone. */
export function noteOnStaticHost(featuresInUse: readonly string[]): string {
  return `Nothing comes of ${featuresInUse.join(" and ")}, since the host of this site is "static": files alone receive no mentions. If Netlify or a server of your own serves it, give the plugin the option host: "netlify" or host: "node". If not, mentions: false ends this note.`;
}

/**
 * For builds of `--serve` and `--watch`.
 *
 * @param output - the folder of the built site, as `./_site/`
 */
export function noteOnDevelopmentBuild(output: string): string {
  const start = "This is a development build: nothing of it is sent.";
  if (normalize(`${output}/`) === `${PREVIEW_FOLDER}${sep}`) return start;
  return `${start} ${output} may show drafts now: before you publish it, build the site: npx @11ty/eleventy`;
}

/** @param files - what a real build removed */
export function warningOnPreviewFiles(files: readonly string[]): string[] {
  if (files.length === 0) return [];
  const more = files.length > 3 ? `, and ${files.length - 3} more` : "";
  return [`Removed what only a preview had written, such as drafts: ${files.slice(0, 3).join(", ")}${more}.`];
}

/** For authors with a key whom nobody can write to. */
export function noteOnInboxes(addresses: readonly string[]): string {
  return `Nobody can write to ${addresses.join(" and ")} in private, since nothing here can receive it. If Netlify or a server of your own serves the site, give the plugin the option host: "netlify" or host: "node"; if an inbox is elsewhere, name it with endpoint. If not, inbox: false ends this note.`;
}

/** For authors of a site with blobs that has nowhere to keep them. */
export function noteOnBlobs(): string {
  return `No blobs are kept here, since nothing here can receive them. If Netlify or a server of your own serves the site, give the plugin the option host: "netlify" or host: "node", and leave functions: false out. If not, blobs: false ends this note.`;
}

/** @param files - with links to blobs, at a site that keeps none */
export function warningOnBlobs(files: readonly string[]): string[] {
  return about(
    files.map((inputPath) => ({ inputPath })),
    (named) =>
      `A link "blob:..." leads nowhere while this site keeps no blobs: ${named}. Give the plugin the option blobs: true, or write another link.`,
  );
}

/** @param files - with links to blobs, where nothing keeps blobs on this host */
export function warningOnBlobsElsewhere(files: readonly string[]): string[] {
  return about(
    files.map((inputPath) => ({ inputPath })),
    (named) => `A link "blob:..." leads nowhere, since this host keeps no blobs: ${named}.`,
  );
}

/** @param withoutKey - links such as `blob:a b`, with their pages */
export function warningsOnBlobLinks(withoutKey: readonly { link: string; files: ReadonlySet<string> }[]): string[] {
  return named(
    withoutKey.map(
      ({ link, files: [file] }) =>
        `${file}: "${link}" names no blob, so the link leads nowhere. Write blob: and a key as "npx eleventy-twtxt blob list" shows it, of A-Z a-z 0-9 . _ -.`,
    ),
  );
}

/** @param missing - blobs that pages link, and the site does not hand out */
export function warningsOnMissingBlobs(missing: readonly { key: string; files: ReadonlySet<string> }[]): string[] {
  return named(
    missing.map(
      ({ key, files: [file] }) =>
        `${file}: blob:${key} leads nowhere, since your site has no public blob of this key. Look for it with "npx eleventy-twtxt blob list". If it is private, type: npx eleventy-twtxt blob share ${key}. If it is not there: npx eleventy-twtxt blob put FILE --public --key ${key}`,
    ),
  );
}

/** @param pages - where a site keeps its shared blobs */
export function warningOnHidden(pages: readonly { inputPath: string }[]): string[] {
  return about(
    pages,
    (named) =>
      `A page at ${PATHS.shared}/ or below it is out of reach, since shared blobs are there: ${named}. Give it another permalink.`,
  );
}

/** @param unknown - what looks like a mention and names no feed, with the posts that it is in */
export function warningOnMentions(unknown: readonly { mention: string; files: readonly string[] }[]): string[] {
  const [first] = unknown;
  if (!first) return [];
  const listed = unknown.slice(0, NAMED).map(({ mention, files: [file, ...others] }) => {
    return `${mention} (${file}${others.length > 0 ? ` and ${posts(others.length)} more` : ""})`;
  });
  const more = unknown.length > NAMED ? ` and ${unknown.length - NAMED} more` : "";
  const nick = /^@<?([^\s>]+)/.exec(first.mention)?.[1];
  return [
    `No one is notified of ${listed.join(", ")}${more}: the build knows no feed for it. Write @<${nick} https://${nick}.example/twtxt.txt> with the right URL, or add { nick: "${nick}", url: "..." } to the option "follow" and write @${nick}. What is no mention is written \\@${nick}.`,
  ];
}

/** One line: what was written. */
export function summaryOf(twts: TwtsFromPosts, feed: { path: string; twts: number; archives: number }): string {
  const archives = feed.archives === 0 ? "" : feed.archives === 1 ? " and 1 archive" : ` and ${feed.archives} archives`;
  const silent = about(
    twts.silent,
    (files, count) =>
      ` ${count} with nothing to say left out: ${files}. Give each a title, a text or a picture (photo), or end this note with twt: false in the front matter.`,
    NAMED_IN_SUMMARY,
  );
  return `Wrote ${feed.path} (${feed.twts} ${feed.twts === 1 ? "twt" : "twts"})${archives}.${silent.join("")}`;
}

function describeCollections(collections: Collections, configured: ReadonlySet<string>): string {
  const known = Object.entries(collections)
    .map(([name, items]) => ({ name, count: itemsOf(items).length, isList: Array.isArray(items) }))
    .map((one) => ({ ...one, likelihood: likelihoodOf(one, configured) }))
    .sort((a, b) => b.likelihood - a.likelihood || b.count - a.count);
  if (known.length === 0) return "There is no other.";
  const names = known.map(({ name, count, isList }) => `${name} (${isList ? count : "no list"})`);
  return `There are: ${listed(names, NAMED_COLLECTIONS)}.`;
}

/** A collection of posts is more often made by the configuration than by a tag, and is hardly ever that of all pages. */
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
  return more > 0 ? [...sentences.slice(0, NAMED), `So it is with ${more} more.`] : sentences;
}

function posts(count: number): string {
  return count === 1 ? "1 post" : `${count} posts`;
}
