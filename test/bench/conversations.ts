// test/bench/conversations.ts: mentions in the pages of a build, the tree of replies, and the sizes of the files for pages.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import type { PublicMention } from "../../plugin/site/mention-list.js";
import { permalinkOf, wordsFrom } from "./blog.js";
import { type BuildSetup, compareBuilds, startSite, type Variant, withPlugin } from "./build.js";
import { weighReplies } from "./page-weight.js";
import { added, median, type Part, range, ratio, time } from "./table.js";

const POSTS = 1000;
/** The mentions of the most mentioned post, as a share of all. */
const LARGEST = 0.1;
/** The plugin's default number of mentions on a page of the list of all mentions. */
const LISTED = 100;

/** Files for pages, and the limit of each in bytes, compressed. */
const ASSETS = [
  { file: "twtxt-mentions.js", what: "Component", limit: 10_000 },
  { file: "twtxt.css", what: "Stylesheet", limit: 4000 },
  { file: "twtxt-contact.js", what: "Contact form", limit: 1500 },
  { file: "twtxt-contact-conversation.js", what: "Contact form, when a reader uses it", limit: 33_500 },
];

/** Builds a blog with and without mentions in turn. @param count - the number of mentions */
export async function measureMentionBuilds(count: number, setup: BuildSetup): Promise<Part> {
  const sites = await Promise.all([startSite(() => []), startSite((url) => mentionsOf(url, count))]);
  try {
    const [none, many] = sites.map(({ url }, i) => {
      const name = i === 0 ? "without mentions" : `with ${count.toLocaleString("en")} mentions`;
      return withMentions(name, setup.plugin, url, i > 0);
    }) as [Variant, Variant];
    const variants = [none, withEmptyPages(none, Math.ceil(count / LISTED)), many];
    return await compareBuilds({ posts: POSTS, isTitled: true }, variants, {
      ...setup,
      about: " that list their mentions",
      aim: { what: "CPU that mentions add", aim: "below 10 %", reached: ({ cpu }) => added(cpu) },
    });
  } finally {
    for (const { end } of sites) end();
  }
}

function withMentions(name: string, plugin: string, url: string, hasAny: boolean): Variant {
  // A build that cannot read the list warns, and would be measured without mentions.
  const proof = { writes: "mentions/index.html", contains: hasAny ? "h-cite" : "twtxt-none" };
  return { ...withPlugin(plugin, url), name, ...proof, listsMentions: true };
}

/** Eleventy's own cost for as many pages as list all mentions. */
function withEmptyPages(variant: Variant, count: number): Variant {
  const data = `{
    further: Array(${count}).fill(0),
    pagination: { data: "further", size: 1 },
    eleventyExcludeFromCollections: true,
    permalink: ({ pagination }) => "/further/" + pagination.pageNumber + "/",
  }`;
  return {
    ...variant,
    name: `${variant.name}, with ${count.toLocaleString("en")} empty pages`,
    config: `${variant.config} config.addTemplate("further.11ty.js", () => "empty", ${data});`,
    writes: `further/${count - 1}/index.html`,
    contains: "",
  };
}

/** Mentions of the posts of a site, newest first: one post has a tenth of them, most have few. A third are replies in trees. */
export function mentionsOf(site: string, count: number): PublicMention[] {
  const sizes = sizesOf(count);
  const posts = sizes.flatMap((size, post) => Array.from({ length: size }, (_, i) => mention(site, post, i)));
  return posts.sort((a, b) => (a.received < b.received ? 1 : -1));
}

/** The numbers of mentions of the posts. */
function sizesOf(count: number): number[] {
  const largest = Math.round(count * LARGEST);
  const weights = Array.from({ length: POSTS - 1 }, (_, i) => 1 / (i + 2));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const sizes = [largest, ...weights.map((weight) => Math.floor(((count - largest) * weight) / total))];
  const left = count - sizes.reduce((sum, size) => sum + size, 0);
  return sizes.map((size, i) => size + (i > 0 && i <= left ? 1 : 0));
}

function mention(site: string, post: number, i: number): PublicMention {
  const seed = post * 10_000 + i;
  const words = wordsFrom(seed + 1);
  const type = i % 3 === 0 ? "reply" : i % 6 === 1 ? "like" : i % 12 === 2 ? "repost" : "mention";
  const bob = `https://bob${seed % 400}.example`;
  const at = new Date(Date.parse("2025-01-01T00:00:00Z") + (i * POSTS + post) * 1000).toISOString();
  // A reply answers the one at half its number, so that trees are both wide and deep.
  const parent = i > 0 && type === "reply" ? Math.floor(i / 6) * 3 : null;
  return {
    source: `${bob}/twtxt.txt#:~:text=${at.slice(0, 19)}Z`,
    target: `${site}${permalinkOf(post, POSTS)}`,
    under: null,
    type,
    author: { name: `bob${seed % 400}`, url: `${bob}/twtxt.txt`, photo: null },
    text: `${words(12)} ${bob}/about ${words(3)}\n${words(8)}`,
    html: `<p>${words(12)} <a href="${bob}/about" rel="nofollow ugc noopener">${bob}/about</a> <code>${words(3)}</code><br>${words(8)}</p>`,
    hash: hashOf(post, i),
    hashV1: hashOf(post, i).slice(-7),
    replyTo: parent === null ? null : hashOf(post, parent),
    published: `${at.slice(0, 19)}Z`,
    received: at,
  };
}

function hashOf(post: number, i: number): string {
  return `${post.toString(36)}x${i.toString(36)}`.padStart(12, "a");
}

type Tree = typeof import("../../plugin/site/conversation.js");

/** The time to build the tree of replies. @param entry - the URL of the package's compiled main entry */
export async function measureTree(entry: string, runs: number): Promise<Part> {
  const { mentionEntry, toThreads }: Tree = await import(new URL("site/conversation.js", entry).href);
  const sizes = [100, 1_000, 10_000];
  const all = sizes.map((size) => Array.from({ length: size }, (_, i) => mentionEntry(mention("", 0, i * 3))));
  const times: number[][] = all.map(() => []);
  const warmUps = 20;
  for (let run = -warmUps; run < runs; run += 1) {
    for (const [i, entries] of all.entries()) {
      const start = performance.now();
      toThreads(entries);
      if (run >= 0) times[i]?.push(performance.now() - start);
    }
  }
  const each = times.map((series, i) => median(series) / (sizes[i] ?? Number.NaN));
  return {
    title: `The tree of a conversation, median of ${runs}`,
    rows: [
      ["replies", "time", "min to max", "for each reply", "ratio"],
      ...sizes.map((size, i) => [
        size.toLocaleString("en"),
        time(median(times[i] ?? [])),
        range(times[i] ?? []),
        `${((each[i] ?? Number.NaN) * 1000).toFixed(2)} µs`,
        ratio(each[i] ?? Number.NaN, each[0] ?? Number.NaN),
      ]),
    ],
    aims: [
      {
        what: "Time for each of 10,000 replies, compared with 1,000",
        aim: "linear: about 1 x",
        reached: ratio(each[2] ?? Number.NaN, each[1] ?? Number.NaN),
      },
    ],
    figures: { sizes, times },
  };
}

/** The compressed files that pages load, and the HTML of replies. @param entry - the URL of the package's compiled main entry */
export function measureAssets(entry: string): Part {
  const assets = ASSETS.map(({ file, what, limit }) => {
    const content = readFileSync(new URL(`browser/${file}`, entry));
    return { file, what, limit, bytes: content.length, compressed: gzipSync(content, { level: 9 }).length };
  });
  const kilobytes = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`;
  const replies = weighReplies();
  return {
    title: "Files that pages load, and the HTML of replies",
    rows: [
      ["", "size", "gzip"],
      ...assets.map(({ file, bytes, compressed }) => [file, kilobytes(bytes), kilobytes(compressed)]),
      ...replies.map(({ name, bytes, compressed }) => [name, `${bytes} B`, `${compressed} B`]),
    ],
    aims: assets.map(({ what, limit, compressed }) => ({
      what: `${what}, compressed`,
      aim: `below ${kilobytes(limit)}`,
      reached: kilobytes(compressed),
    })),
    figures: { assets, replies },
  };
}
