// plugin/eleventy/posts/posts.ts: selection of posts, and their timestamps in the feed.
import { authorError } from "../../errors.js";
import { formatTimestamp } from "../../feed/timestamp.js";
import { compareTexts } from "../../groups.js";
import type { Settings } from "../../options.js";
import type { CollectionItem, Collections } from "../eleventy.js";
import { postClock, requirePermalink } from "./post-date.js";

export interface DatedPost {
  post: CollectionItem;
  timestamp: string;
}

/** The posts of a site in the order of the feed, and those that are left out. */
export interface Schedule {
  dated: DatedPost[];
  /** Posts without a stable date, which get no twt. */
  undated: CollectionItem[];
  /** Posts dated in the future, which get no twt yet. */
  held: DatedPost[];
  /** Posts that are at a later second, because another post has theirs. */
  moved: { post: CollectionItem; from: string; other: CollectionItem }[];
}

/**
 * Selects the posts by the option `collection`, each once.
 *
 * @returns the posts, and the named collections that are missing or empty
 */
export function choosePosts(
  collections: Collections,
  choice: Settings["collection"],
): { posts: CollectionItem[]; empty: string[] } {
  if (typeof choice === "function") return { posts: toItems(collections.all).filter(createFilter(choice)), empty: [] };

  const names = typeof choice === "string" ? [choice] : choice;
  const posts = new Map(
    names.flatMap((name) => toItems(collections[name]).map((post) => [requirePermalink(post), post])),
  );
  return { posts: [...posts.values()], empty: names.filter((name) => toItems(collections[name]).length === 0) };
}

/**
 * Gives each post a second of its own.
 *
 * @param now - milliseconds since 1970; later posts are held back
 * @see PROTOCOL 1.2
 */
export function schedulePosts(
  posts: readonly CollectionItem[],
  settings: Pick<Settings, "timeZone">,
  now: number,
): Schedule {
  const timeOf = postClock(settings.timeZone);
  const timed = posts.map((post) => ({ post, time: timeOf(post) }));
  const wanted = timed
    .filter((entry): entry is { post: CollectionItem; time: number } => entry.time !== null)
    .sort((a, b) => a.time - b.time || compareTexts(requirePermalink(a.post), requirePermalink(b.post)));

  const isFuture = ({ time }: { time: number }) => time > now;
  const { dated, moved } = assignSeconds(wanted.filter((entry) => !isFuture(entry)));
  return {
    dated,
    moved,
    undated: timed.filter(({ time }) => time === null).map(({ post }) => post),
    held: wanted.filter(isFuture).map(({ post, time }) => ({ post, timestamp: formatTimestamp(time) })),
  };
}

/** The first post of a second keeps it. The others move to the next free second. */
function assignSeconds(wanted: { post: CollectionItem; time: number }[]): Pick<Schedule, "dated" | "moved"> {
  const owners = new Map<number, CollectionItem>();
  for (const { post, time } of wanted) if (!owners.has(time)) owners.set(time, post);

  const moved: Schedule["moved"] = [];
  const taken = new Map(owners);
  const nextFree = new Map<number, number>();
  for (const { post, time } of wanted) {
    const other = owners.get(time) ?? post;
    if (other === post) continue;
    let free = nextFree.get(time) ?? time;
    while (taken.has(free)) free += 1000;
    nextFree.set(time, free + 1000);
    taken.set(free, post);
    moved.push({ post, from: formatTimestamp(time), other });
  }
  const dated = [...taken]
    .sort(([a], [b]) => a - b)
    .map(([time, post]) => ({ post, timestamp: formatTimestamp(time) }));
  return { dated, moved };
}

/** Refuses async functions: a promise is truthy, so every page of the site would be published. */
function createFilter(choice: (post: CollectionItem) => unknown): (post: CollectionItem) => boolean {
  return (post) => {
    const answer = choice(post);
    if (typeof Object(answer).then !== "function") return Boolean(answer);
    throw authorError(
      "bad-option",
      "options.collection: expected a synchronous function, got one that returns a promise.",
    );
  };
}

/** The items of a collection; empty if it is not a list, because a site's own collections can have any type. */
export function toItems(collection: unknown): CollectionItem[] {
  return Array.isArray(collection) ? collection.filter((item) => typeof item?.inputPath === "string") : [];
}
