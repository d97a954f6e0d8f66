import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CollectionItem } from "../../plugin/eleventy/eleventy.js";
import { feedFiles } from "../../plugin/eleventy/output/feed-files.js";
import { requirePermalink } from "../../plugin/eleventy/posts/post-date.js";
import { type Schedule, schedulePosts } from "../../plugin/eleventy/posts/posts.js";
import { twtHash } from "../../plugin/feed/hash.js";
import type { Twt } from "../../plugin/feed/twt.js";
import { checkOptions } from "../../plugin/options.js";
import { runs } from "../helpers/runs.js";

const FEED_URL = "https://alice.example/twtxt.txt";
const NOW = Date.parse("2026-11-20T12:00:00Z");
const DAY = 86_400_000;
const FIRST_DAY = Date.parse("2018-01-01T00:00:00Z");
const DAYS = 6 * 365 + 1;
const POSTS = 500;

/** The source of a post. */
interface Draft {
  slug: string;
  date: number;
  words: string;
}

/** The feed of a blog: its twts by permalink, and its files. */
interface Feed {
  schedule: Schedule;
  twts: Map<string, Twt>;
  files: Map<string, string>;
}

type Change =
  | { kind: "add"; date: number; words: string }
  | { kind: "edit"; at: number; words: string }
  | { kind: "remove"; at: number }
  | { kind: "redate"; at: number; date: number };

const aDay = fc.nat(DAYS - 1).map((day) => FIRST_DAY + day * DAY);
/** Half of the posts have no time. Some of the others share a second. */
const aDate = fc.oneof(
  { weight: 5, arbitrary: aDay },
  { weight: 4, arbitrary: fc.tuple(aDay, fc.nat(DAY / 1000 - 1)).map(([day, second]) => day + second * 1000) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.nat(9), fc.nat(3))
      .map(([day, second]) => FIRST_DAY + day * 200 * DAY + 36e6 + second * 1000),
  },
);
const someWords = fc
  .string({ minLength: 1, maxLength: 30, unit: "grapheme" })
  .map((words) => `${words.replace(/\s/g, "")}.`);
const aBlog = fc
  .array(fc.record({ date: aDate, words: someWords }), { minLength: POSTS, maxLength: POSTS })
  .map(asBlog);
const aChange: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ kind: fc.constant("add" as const), date: aDate, words: someWords }),
  fc.record({ kind: fc.constant("edit" as const), at: fc.nat(), words: someWords }),
  fc.record({ kind: fc.constant("remove" as const), at: fc.nat() }),
  fc.record({ kind: fc.constant("redate" as const), at: fc.nat(), date: aDate }),
);

/** At most three posts without a time have the same day. */
function asBlog(drafts: { date: number; words: string }[]): Draft[] {
  const perDay = new Map<number, number>();
  return drafts.map(({ date, words }, i) => {
    const count = (perDay.get(date) ?? 0) + 1;
    perDay.set(date, count);
    return { slug: `p${i}`, words, date: date % DAY === 0 && count > 3 ? date + 45_296_000 + i * 1000 : date };
  });
}

function changed(blog: readonly Draft[], change: Change, i: number): { blog: Draft[]; slug: string } {
  if (change.kind === "add") {
    const slug = `new${i}`;
    return { blog: [{ slug, date: change.date, words: change.words }, ...blog], slug };
  }
  const at = change.at % blog.length;
  const old = blog[at];
  if (!old) throw new Error("The blog has no posts.");
  const replacement = { remove: [], edit: [{ ...old, ...change }], redate: [{ ...old, ...change }] }[change.kind];
  return { blog: blog.toSpliced(at, 1, ...replacement), slug: old.slug };
}

function feedOf(blog: readonly Draft[], timeZone: string): Feed {
  const settings = checkOptions({ url: "https://alice.example", nick: "alice", timeZone });
  const schedule = schedulePosts(blog.map(itemOf), settings, NOW);
  const words = new Map(blog.map((draft) => [urlOf(draft.slug), draft.words]));
  const twts = schedule.dated.map(({ post, timestamp }) => {
    const url = requirePermalink(post);
    return [url, { timestamp, text: `${words.get(url)} https://alice.example${url}` }] as const;
  });
  const files = feedFiles(
    twts.map(([, twt]) => twt),
    settings,
    { feedUrl: () => FEED_URL, endpoint: () => null },
  );
  return { schedule, twts: new Map(twts), files: new Map(files.map(({ path, content }) => [path, content])) };
}

function itemOf({ slug, date }: Draft): CollectionItem {
  const moment = new Date(date);
  return { url: urlOf(slug), inputPath: `./${slug}.md`, date: moment, data: { date: moment }, templateContent: "" };
}

function urlOf(slug: string): string {
  return `/${slug}/`;
}

/** The posts that moved to another second with a warning. */
function movedIn({ schedule }: Feed): Set<string> {
  return new Set(schedule.moved.map(({ post }) => requirePermalink(post)));
}

/** Whether all seconds between two posts are taken, so that one can move the other. */
function isNextTo(url: string, other: string, { twts }: Feed): boolean {
  const taken = new Set([...twts.values()].map(({ timestamp }) => Date.parse(timestamp)));
  const [from = 0, to = 0] = [url, other]
    .map((each) => Date.parse(twts.get(each)?.timestamp ?? ""))
    .toSorted((a, b) => a - b);
  if (Number.isNaN(from + to) || to - from > 60_000) return false;
  for (let second = from; second <= to; second += 1000) if (!taken.has(second)) return false;
  return true;
}

/** The year of an archive, from its path. */
function periodOf(path: string): string {
  return /-(\d{4})\.txt$/.exec(path)?.[1] ?? "";
}

function withoutPrev(file: string | undefined): string | undefined {
  return file?.replace(/^# prev = .*\n/m, "");
}

function prevOf(file: string | undefined): string | undefined {
  return /^# prev = (.*)$/m.exec(file ?? "")?.[1];
}

function lastTwt(file: string): Twt {
  const [timestamp = "", ...text] = file.trimEnd().split("\n").at(-1)?.split("\t") ?? [];
  return { timestamp, text: text.join("\t") };
}

/** Checks the parts that must not change when one post changes. */
function expectSame(before: Feed, after: Feed, slug: string): void {
  const url = urlOf(slug);
  const warned = new Set([...movedIn(before), ...movedIn(after)]);
  const years = new Set([before, after].flatMap((feed) => feed.twts.get(url)?.timestamp.slice(0, 4) ?? []));

  for (const [other, twt] of after.twts) {
    const was = before.twts.get(other);
    if (other === url || (was?.timestamp === twt.timestamp && was.text === twt.text)) continue;
    expect(warned, `${other} moved without a warning`).toContain(other);
    expect(was?.text).toBe(twt.text);
    expect(isNextTo(other, url, before) || isNextTo(other, url, after), `${other} moved and is far from ${url}`).toBe(
      true,
    );
    for (const feed of [before, after]) years.add(feed.twts.get(other)?.timestamp.slice(0, 4) ?? "");
  }
  const others = (feed: Feed) => [...feed.twts.keys()].filter((each) => each !== url).toSorted();
  expect(others(after)).toEqual(others(before));

  for (const [path, content] of after.files) {
    const was = before.files.get(path);
    if (path === "/twtxt.txt" || was === undefined || years.has(periodOf(path))) continue;
    expect(withoutPrev(content), path).toBe(withoutPrev(was));
    // `prev` has the hash of the last twt in the previous archive, which may have changed.
    if (content !== was) expectOtherEnd(before, after, path);
  }
}

/** Checks that `prev` differs only because its archive ends with a different twt. */
function expectOtherEnd(before: Feed, after: Feed, path: string): void {
  const [was, is] = [before, after].map(({ files }) => {
    const [hash = "", name = ""] = prevOf(files.get(path))?.split(" ") ?? [];
    const last = lastTwt(files.get(`/${name}`) ?? "");
    expect(hash).toBe(twtHash(FEED_URL, last));
    return { name, last };
  });
  expect(is?.name).toBe(was?.name);
  expect(is?.last).not.toEqual(was?.last);
}

describe("a post that is added, edited or removed", () => {
  it.each(["UTC", "Australia/Sydney", "America/Los_Angeles"])(
    "changes no other line and no archive of another year: %s",
    (timeZone) => {
      fc.assert(
        fc.property(aBlog, fc.array(aChange, { minLength: 8, maxLength: 8 }), (start, changes) => {
          let blog = start;
          let feed = feedOf(blog, timeZone);
          expect(feed.twts.size).toBe(POSTS);
          for (const [i, change] of changes.entries()) {
            const next = changed(blog, change, i);
            const after = feedOf(next.blog, timeZone);
            expectSame(feed, after, next.slug);
            blog = next.blog;
            feed = after;
          }
        }),
        { seed: 20261120, numRuns: runs(4), endOnFailure: true },
      );
    },
  );

  it("results in the same feed for any order of posts", () => {
    fc.assert(
      fc.property(aBlog, (blog) => {
        expect(feedOf(blog.toReversed(), "UTC").files).toEqual(feedOf(blog, "UTC").files);
      }),
      { seed: 20261120, numRuns: runs(3) },
    );
  });

  it("changes no closed archive if it is the first of a new year, which closes another one", () => {
    const blog = fc.sample(aBlog, { seed: 20261120, numRuns: 1 })[0] ?? [];
    const before = feedOf(blog, "UTC");
    const after = feedOf([...blog, { slug: "new", date: Date.parse("2024-01-01T10:00:00Z"), words: "New." }], "UTC");
    expect([...before.files.keys()].toSorted()).toEqual([
      "/twtxt-2018.txt",
      "/twtxt-2019.txt",
      "/twtxt-2020.txt",
      "/twtxt-2021.txt",
      "/twtxt.txt",
    ]);
    expect([...after.files.keys()].toSorted()).toEqual([
      "/twtxt-2018.txt",
      "/twtxt-2019.txt",
      "/twtxt-2020.txt",
      "/twtxt-2021.txt",
      "/twtxt-2022.txt",
      "/twtxt.txt",
    ]);
    for (const [path, content] of before.files) if (path !== "/twtxt.txt") expect(after.files.get(path)).toBe(content);
  });
});
